//! What a field becomes that both sides changed.

use similar::{MergeResolution, TextMerge};

use super::identity::Place;
use super::tree::{Kind, Node};
use crate::domain::StateFile;
use crate::domain::quantity::exact::add_changes;

/// The value of a part that both sides have, or `None` for a conflict.
pub(super) fn settle(
    place: Place<'_>,
    base: Option<&Node>,
    ours: &Node,
    theirs: &Node,
) -> Option<String> {
    let (our, their) = (ours.value.as_str(), theirs.value.as_str());
    let known = base.map(|node| node.value.as_str());
    let name = ours.folded().filter(|_| ours.kind == Kind::Item).unwrap_or_default();
    let is_plan = place.file == StateFile::Plan;
    if is_plan && name == "attempts" && known != Some(our) && known != Some(their) {
        // Equal attempts on both sides are two attempts.
        return add_changes(known.unwrap_or("0"), our, their).or_else(|| equal(our, their));
    }
    if let Some(value) = equal(our, their) {
        return Some(value);
    }
    match known {
        Some(base) if equal(base, our).is_some() => return Some(their.to_owned()),
        Some(base) if equal(base, their).is_some() => return Some(our.to_owned()),
        _ => {}
    }
    match name.as_str() {
        "last_updated" | "started_at" | "finished_at" if is_plan => {
            let later = if our.trim() >= their.trim() { our } else { their };
            return Some(later.to_owned());
        }
        // Worked out from the steps afterwards.
        "current_step" if is_plan => return Some(our.max(their).to_owned()),
        // Two names for a step that had none: either will do, as long as it is one.
        "id" if is_plan && known.is_none_or(|base| base.trim().is_empty()) => {
            return Some(our.min(their).to_owned());
        }
        _ => {}
    }
    if place.is_list_of_sentences()
        && let Some(value) = counted_down(known, our, their)
    {
        return Some(value);
    }
    lists(&name, known.unwrap_or_default(), our, their)
        .or_else(|| lines(known?, our, their).filter(|_| ours.kind != Kind::Root))
}

/// The value, if both are the same but for quotes and white space around them.
fn equal(one: &str, other: &str) -> Option<String> {
    let plain = |text: &str| -> String {
        let text = text.trim();
        let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        inner.filter(|inner| !inner.contains(['"', '\\'])).unwrap_or(text).to_owned()
    };
    (plain(one) == plain(other)).then(|| one.max(other).to_owned())
}

/// A directive whose steps were counted down on both sides.
fn counted_down(base: Option<&str>, ours: &str, theirs: &str) -> Option<String> {
    let (base, ours, theirs) = (lifetime(base?)?, lifetime(ours)?, lifetime(theirs)?);
    if base.0 != ours.0 || base.0 != theirs.0 {
        return None;
    }
    let left = (ours.1 + theirs.1).saturating_sub(base.1).max(1);
    let noun = if left == 1 { "step" } else { "steps" };
    Some(format!("{}{left} {noun}{}", base.0.0, base.0.1))
}

/// Whether the only change is a directive that has fewer steps left.
pub(super) fn only_counted_down(place: Place<'_>, base: &Node, left: &Node) -> bool {
    let lives = (lifetime(&base.value), lifetime(&left.value));
    place.is_list_of_sentences() && matches!(lives, (Some(a), Some(b)) if a.0 == b.0 && b.1 < a.1)
}

/// What stands before and behind `N steps` in `for the next N steps`, and N.
fn lifetime(text: &str) -> Option<((String, String), u32)> {
    let next = text.to_ascii_lowercase().find("next ")? + "next ".len();
    let rest = text.get(next..)?;
    let width = rest.find(' ')?;
    let count = match rest[..width].to_ascii_lowercase().as_str() {
        "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        digits => digits.parse().ok()?,
    };
    let after = rest[width..].trim_start().strip_prefix("step")?;
    let after = after.strip_prefix('s').unwrap_or(after);
    Some(((text[..next].to_owned(), after.to_owned()), count))
}

/// Lists such as `[a, b]`: what either side added is in, what either took away is out.
fn lists(name: &str, base: &str, ours: &str, theirs: &str) -> Option<String> {
    let is_list = |text: &str| text.trim().starts_with('[') && text.trim().ends_with(']');
    let by_name = matches!(name, "depends_on" | "preferred_tools");
    let all = [base, ours, theirs];
    if !by_name && !all.iter().all(|text| is_list(text) || text.trim().is_empty()) {
        return None;
    }
    let items = |text: &str| -> Option<Vec<String>> {
        let text = text.trim();
        if let Ok(values) = serde_json::from_str::<Vec<serde_json::Value>>(text) {
            return Some(values.iter().map(ToString::to_string).collect());
        }
        let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let words = inner.split(',').map(|word| word.trim().to_owned());
        let words: Vec<String> = words.filter(|word| !word.is_empty() && word != "none").collect();
        words.iter().all(|word| !word.contains(['"', '[', ']', '\n'])).then_some(words)
    };
    let (base, our, their) = (items(base)?, items(ours)?, items(theirs)?);
    let kept = base.iter().filter(|item| our.contains(item) && their.contains(item));
    let added = |side: &[String]| -> Vec<String> {
        side.iter().filter(|item| !base.contains(item)).cloned().collect()
    };
    let (mut first, mut second) = (added(&our), added(&their));
    if second < first {
        std::mem::swap(&mut first, &mut second);
    }
    let second = second.into_iter().filter(|item| !first.contains(item)).collect::<Vec<_>>();
    let merged: Vec<String> = kept.cloned().chain(first).chain(second).collect();
    let text = merged.join(", ");
    Some(if is_list(ours) || is_list(theirs) { format!("[{text}]") } else { text })
}

/// A text of several lines in which the sides changed different ones.
fn lines(base: &str, ours: &str, theirs: &str) -> Option<String> {
    if !base.contains('\n') && !ours.contains('\n') && !theirs.contains('\n') {
        return None;
    }
    merge_lines(base, ours, theirs)
}

/// The text with the changed lines of both sides, unless they changed the same ones.
pub(super) fn merge_lines(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let merge = TextMerge::from_lines(base, ours, theirs);
    let mut out = String::new();
    for region in merge.regions() {
        let (range, ours) = match region.resolution() {
            MergeResolution::Conflict => return None,
            MergeResolution::Theirs => (region.theirs_range(), false),
            _ => (region.ours_range(), true),
        };
        for at in range {
            let line = if ours { merge.ours_line(at) } else { merge.theirs_line(at) };
            out.push_str(line.unwrap_or_default());
        }
    }
    Some(out)
}
