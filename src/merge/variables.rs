//! variables.json key by key, arrays by element.

use similar::{MergeResolution, TextMerge};

use crate::text::json::{JsonDocument, JsonError, Literal, Path};

use super::MergeError;
use super::conflict::KEY;
use crate::domain::StateFile;
use crate::domain::quantity::exact::{add_changes, same, sum};

const TRACKING: &str = "cost_tracking";

/// Merges variables.json; what stays equal keeps the text of our side.
pub(super) fn merge(
    base: Option<&[u8]>,
    ours: &[u8],
    theirs: &[u8],
) -> Result<Vec<u8>, MergeError> {
    let read = |side: &'static str, bytes: &[u8]| {
        let document = JsonDocument::from_bytes(bytes.to_vec());
        document.map_err(|error| refused(side, &error))
    };
    let our = read("our side", ours)?;
    let their = read("their side", theirs)?.literal();
    let base = base.and_then(|bytes| read("the base", bytes).ok());
    let base = base.map_or_else(|| Literal::Object(Vec::new()), |document| document.literal());
    let mut merged = value(&Path::root(), Some(&base), &our.literal(), &their);
    total_costs(&mut merged, &base, &our.literal(), &their);
    let mut edit = our.edit();
    let written = edit.set_text(&Path::root(), &merged.to_text());
    written.map_err(|error| refused("our side", &error))?;
    Ok(edit.finish().document.into_source().into_bytes())
}

fn refused(side: &'static str, error: &JsonError) -> MergeError {
    MergeError { file: StateFile::Variables, side, message: error.to_string() }
}

/// The merged value of something that both sides have.
fn value(path: &Path, base: Option<&Literal>, ours: &Literal, theirs: &Literal) -> Literal {
    if let Some(counted) = merge_counter(path, base, ours, theirs) {
        return counted;
    }
    match base {
        Some(base) if is_same(base, ours) => return theirs.clone(),
        Some(base) if is_same(base, theirs) => return ours.clone(),
        Some(Literal::Object(base)) if !is_conflict(ours, theirs) => {
            // Also when both are the same now: there may be counters in them.
            if let (Literal::Object(our), Literal::Object(their)) = (ours, theirs) {
                return Literal::Object(members(path, base, our, their));
            }
        }
        _ => {}
    }
    if is_same(ours, theirs) {
        return ours.clone();
    }
    match (base, ours, theirs) {
        (_, Literal::Object(our), Literal::Object(their)) if !is_conflict(ours, theirs) => {
            Literal::Object(members(path, &Vec::new(), our, their))
        }
        (base, Literal::Array(our), Literal::Array(their)) => {
            let none = Vec::new();
            let known = match base {
                Some(Literal::Array(items)) => items,
                _ => &none,
            };
            match items(path, known, our, their) {
                Some(items) => Literal::Array(items),
                None => conflict(base, Some(ours), Some(theirs)),
            }
        }
        _ => conflict(base, Some(ours), Some(theirs)),
    }
}

fn is_conflict(ours: &Literal, theirs: &Literal) -> bool {
    ours.get(KEY).is_some() || theirs.get(KEY).is_some()
}

type Members = Vec<(String, Literal)>;

fn members(path: &Path, base: &Members, ours: &Members, theirs: &Members) -> Members {
    let find = |members: &Members, key: &str| -> Option<Literal> {
        members.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
    };
    let mut keys: Vec<&String> = ours.iter().map(|(key, _)| key).collect();
    keys.extend(theirs.iter().map(|(key, _)| key).filter(|key| find(ours, key).is_none()));
    let mut merged = Vec::with_capacity(keys.len());
    for key in keys {
        let (known, our, their) = (find(base, key), find(ours, key), find(theirs, key));
        let value = match (&known, &our, &their) {
            (known, Some(our), Some(their)) => {
                Some(value(&path.join(key), known.as_ref(), our, their))
            }
            (None, Some(only), None) | (None, None, Some(only)) => Some(only.clone()),
            // Removed on one side: gone, unless the other changed it.
            (Some(known), Some(left), None) | (Some(known), None, Some(left)) => {
                let changed = !is_same(known, left);
                changed.then(|| conflict(Some(known), our.as_ref(), their.as_ref()))
            }
            (_, None, None) => None,
        };
        merged.extend(value.map(|value| (key.clone(), value)));
    }
    // As a step puts its results in, so that merging by lines gives the same.
    let is_sorted = |members: &Members| members.is_sorted_by(|one, other| one.0 <= other.0);
    let is_outputs = path.segments().iter().map(String::as_str).eq(["step_data", "outputs"]);
    if is_outputs && is_sorted(ours) && is_sorted(theirs) {
        merged.sort_by(|one, other| one.0.cmp(&other.0));
    }
    merged
}

/// Arrays line up by equal elements: what each side added is in, in an order that does not depend
/// on which side is which. `None` when both changed the same elements in ways that do not fit.
fn items(
    path: &Path,
    base: &[Literal],
    ours: &[Literal],
    theirs: &[Literal],
) -> Option<Vec<Literal>> {
    if base.len() == ours.len() && ours.len() == theirs.len() {
        let merged = base.iter().zip(ours).zip(theirs).enumerate();
        let one = |(at, ((base, our), their)): (usize, ((&Literal, &Literal), &Literal))| {
            value(&path.join(at.to_string()), Some(base), our, their)
        };
        return Some(merged.map(one).collect());
    }
    let lines = |items: &[Literal]| -> String {
        items.iter().map(|item| item.to_value().to_string() + "\n").collect()
    };
    let (base_lines, our_lines, their_lines) = (lines(base), lines(ours), lines(theirs));
    let merge =
        TextMerge::from_lines(base_lines.as_str(), our_lines.as_str(), their_lines.as_str());
    let mut out = Vec::new();
    for region in merge.regions() {
        let (our, their) = (&ours[region.ours_range()], &theirs[region.theirs_range()]);
        match region.resolution() {
            MergeResolution::Theirs => out.extend_from_slice(their),
            MergeResolution::Conflict if region.base_range().is_empty() => {
                out.extend(union_of_additions(our, their));
            }
            MergeResolution::Conflict => {
                let known = &base[region.base_range()];
                let begins = |side: &[Literal]| {
                    side.len() >= known.len() && known.iter().zip(side).all(|(a, b)| is_same(a, b))
                };
                if begins(our) && begins(their) {
                    out.extend_from_slice(known);
                    out.extend(union_of_additions(&our[known.len()..], &their[known.len()..]));
                } else if our.len() == known.len() && their.len() == known.len() {
                    let at = out.len();
                    let parts = known.iter().zip(our).zip(their).enumerate();
                    out.extend(parts.map(|(i, ((base, our), their))| {
                        value(&path.join((at + i).to_string()), Some(base), our, their)
                    }));
                } else {
                    return None;
                }
            }
            _ => out.extend_from_slice(our),
        }
    }
    Some(out)
}

/// What both sides added in one place; what both added alike is there once.
fn union_of_additions(ours: &[Literal], theirs: &[Literal]) -> Vec<Literal> {
    let alike = ours.iter().zip(theirs).take_while(|(our, their)| is_same(our, their)).count();
    let (shared, our) = ours.split_at(alike);
    let their = theirs.split_at(alike).1;
    let text = |items: &[Literal]| -> Vec<String> {
        items.iter().map(|item| item.to_value().to_string()).collect()
    };
    let (first, second) = if text(our) <= text(their) { (our, their) } else { (their, our) };
    let listed = text(first);
    let new = second.iter().filter(|item| !listed.contains(&item.to_value().to_string()));
    shared.iter().chain(first).cloned().chain(new.cloned()).collect()
}

fn is_same(one: &Literal, other: &Literal) -> bool {
    one == other || one.to_value() == other.to_value()
}

fn conflict(base: Option<&Literal>, ours: Option<&Literal>, theirs: Option<&Literal>) -> Literal {
    let sides = [("base", base), ("ours", ours), ("theirs", theirs)];
    let sides = sides.into_iter().filter_map(|(name, side)| Some((name.to_owned(), side?.clone())));
    Literal::Object(vec![(KEY.to_owned(), Literal::Object(sides.collect()))])
}

/// Counters and costs: what each side added counts.
fn merge_counter(
    path: &Path,
    base: Option<&Literal>,
    ours: &Literal,
    theirs: &Literal,
) -> Option<Literal> {
    let (our, their) = (ours.as_number()?, theirs.as_number()?);
    let segments: Vec<&str> = path.segments().iter().map(String::as_str).collect();
    let known = base.map_or(Some("0"), Literal::as_number)?;
    if base.is_none() && same(our, their) {
        return None;
    }
    if let ["step_data", "current_step"] = segments.as_slice() {
        // The next change works it out from the plan.
        let further = same(our, known) || !same(their, known) && is_less(our, their);
        return Some(if further { theirs.clone() } else { ours.clone() });
    }
    if !is_counter(&segments) || same(our, known) || same(their, known) {
        return None;
    }
    add_changes(known, our, their).map(Literal::Scalar)
}

fn is_less(one: &str, other: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().unwrap_or_default();
    number(one) < number(other)
}

/// Whether a number counts something up: by its place, or by what it is called.
fn is_counter(path: &[&str]) -> bool {
    let Some((name, above)) = path.split_last() else { return false };
    let name = name.to_ascii_lowercase();
    let is_word = |word: &str| {
        matches!(
            word,
            "count"
                | "counts"
                | "counter"
                | "counters"
                | "total"
                | "totals"
                | "cost"
                | "costs"
                | "attempts"
                | "retries"
        )
    };
    *path == ["step_data", "total_steps"]
        || above.first() == Some(&TRACKING) && !above.contains(&"step_costs")
        || above.iter().any(|word| matches!(*word, "counters" | "counts" | "costs"))
        || name.split('_').next().is_some_and(is_word)
        || name.rsplit('_').next().is_some_and(is_word)
}

/// The total of all costs follows their list where it did so on both sides: a cost that both sides
/// have is counted once.
fn total_costs(merged: &mut Literal, base: &Literal, ours: &Literal, theirs: &Literal) {
    let total = |value: &Literal| -> Option<String> {
        Some(value.get(TRACKING)?.get("total_cost")?.as_number()?.to_owned())
    };
    let listed = |value: &Literal| -> Option<String> {
        let Some(Literal::Array(costs)) = value.get(TRACKING)?.get("step_costs") else {
            return None;
        };
        sum(costs.iter().map(|cost| cost.get("cost").and_then(Literal::as_number).unwrap_or("0")))
    };
    let rest = |value: &Literal| add_changes(&listed(value)?, &total(value)?, "0");
    let known = rest(base).unwrap_or_else(|| "0".to_owned());
    let follows = |value: &Literal| rest(value).is_some_and(|rest| same(&rest, &known));
    if !follows(ours) || !follows(theirs) {
        return;
    }
    let Some(sum) = listed(merged).and_then(|listed| add_changes("0", &listed, &known)) else {
        return;
    };
    if total(merged).is_some_and(|total| same(&total, &sum)) {
        return;
    }
    let Literal::Object(members) = merged else { return };
    let tracking = members.iter_mut().find(|(key, _)| key == TRACKING);
    let Some((_, Literal::Object(tracking))) = tracking else { return };
    if let Some((_, total)) = tracking.iter_mut().find(|(key, _)| key == "total_cost") {
        *total = Literal::Scalar(sum);
    }
}
