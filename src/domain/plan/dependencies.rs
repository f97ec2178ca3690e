//! The list of steps that a step depends on: `1 Collect benchmarks, 3 Measure`.
//!
//! If number and title disagree, because steps were inserted or moved by hand, the title decides if
//! only one step has it. Numbers alone, ranges (`1-3`) and ids are understood, too, and stay as written.

use std::ops::Range;

use serde_json::Value;

pub(crate) use super::labels::{StepLabel, StepLabels};
use crate::domain::{ModelError, StepId, StepRef};

/// The most steps that a range in a file stands for: a plan full of long ones would need memory by the
/// square of its size.
const MOST_OF_RANGE: usize = 100;

/// One step of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The step: by id if it was found by its title, else as written.
    pub(crate) step: StepRef,
    /// Where its number is in the list; steps of one range share it.
    number: Option<Range<usize>>,
    /// Where its title is in the list, with its quotes.
    title: Option<Range<usize>>,
    /// The number and the title, if no step has both.
    pub(crate) disagrees: Option<(u32, String)>,
}

impl Dependency {
    /// Whether it is written with its title.
    pub(crate) fn is_titled(&self) -> bool {
        self.title.is_some()
    }
}

/// Reads a list.
///
/// # Errors
/// An entry is not a step.
pub(crate) fn parse(list: &str, steps: &StepLabels<'_>) -> Result<Vec<Dependency>, ModelError> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < list.len() {
        let end = entry(list, at, steps, &mut found)?;
        at = end + list[end..].chars().next().map_or(1, char::len_utf8);
    }
    Ok(found)
}

/// A list in which every step has its number and title.
pub(crate) fn write<'s>(steps: impl IntoIterator<Item = (u32, &'s str)>) -> String {
    let one = |(number, title): (u32, &str)| match title {
        "" => number.to_string(),
        title => format!("{number} {}", quoted(title)),
    };
    steps.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The list with numbers and titles replaced as in `renamed`.
pub(crate) fn rename(
    list: &str,
    found: &[Dependency],
    renamed: impl Fn(&StepRef) -> Option<(u32, String)>,
) -> String {
    let mut out = String::with_capacity(list.len());
    let mut at = 0;
    for group in found.chunk_by(|one, next| one.number.is_some() && one.number == next.number) {
        let [dependency] = group else {
            if let (Some(changed), Some(span)) = (renamed_range(group, &renamed), &group[0].number)
            {
                out.push_str(&list[at..span.start]);
                out.push_str(&changed);
                at = span.end;
            }
            continue;
        };
        let Some((number, title)) = renamed(&dependency.step) else { continue };
        if let Some(span) = &dependency.number {
            out.push_str(&list[at..span.start]);
            out.push_str(&number.to_string());
            at = span.end;
        }
        if let Some(span) = &dependency.title {
            out.push_str(&list[at..span.start]);
            out.push_str(&quoted(&title));
            at = span.end;
        }
    }
    out.push_str(&list[at..]);
    out
}

/// The list with ids where it has numbers, as far as `id_of` knows them.
pub(crate) fn with_ids(
    list: &str,
    found: &[Dependency],
    id_of: impl Fn(u32) -> Option<String>,
) -> String {
    let mut out = String::with_capacity(list.len());
    let mut at = 0;
    for group in found.chunk_by(|one, next| one.number.is_some() && one.number == next.number) {
        let numbers = group.iter().filter_map(|of| match of.step {
            StepRef::Number(number) => Some((id_of(number), number)),
            _ => None,
        });
        let numbers: Vec<(Option<String>, u32)> = numbers.collect();
        let Some(span) = &group[0].number else { continue };
        if numbers.iter().any(|(id, _)| id.is_some()) {
            let names = numbers.into_iter().map(|(id, number)| id.unwrap_or(number.to_string()));
            out.push_str(&list[at..span.start]);
            out.push_str(&names.collect::<Vec<_>>().join(", "));
            at = span.end;
        }
    }
    out.push_str(&list[at..]);
    out
}

/// A range whose steps are renumbered; `None` if it stays as it is.
fn renamed_range(
    group: &[Dependency],
    renamed: impl Fn(&StepRef) -> Option<(u32, String)>,
) -> Option<String> {
    let is_same = |of: &Dependency| {
        renamed(&of.step).is_none_or(|(number, _)| of.step == StepRef::Number(number))
    };
    if group.iter().all(is_same) {
        return None;
    }
    let number = |of: &Dependency| match (renamed(&of.step), &of.step) {
        (Some((number, _)), _) => Some(number),
        (None, StepRef::Number(number)) => Some(*number),
        (None, _) => None,
    };
    let mut numbers: Vec<u32> = group.iter().filter_map(number).collect();
    numbers.sort_unstable();
    let runs = numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next));
    let run = |run: &[u32]| match run {
        [first, .., last] => format!("{first}-{last}"),
        run => run.iter().map(u32::to_string).collect(),
    };
    Some(runs.map(run).collect::<Vec<_>>().join(", "))
}

/// Reads the entry that begins at `at` and returns its end.
fn entry(
    list: &str,
    at: usize,
    steps: &StepLabels<'_>,
    found: &mut Vec<Dependency>,
) -> Result<usize, ModelError> {
    let rest = &list[at..];
    let open = rest.trim_start_matches([' ', '[', '`', '#']);
    let open = ["Steps ", "Step ", "steps ", "step "]
        .into_iter()
        .find_map(|word| open.strip_prefix(word))
        .unwrap_or(open)
        .trim_start_matches([' ', '#']);
    let after = open.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &open[..open.len() - after.len()];
    let title = after.trim_start_matches([' ', ':', '.']);
    // `2.1` is not a whole number.
    let is_decimal =
        after.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if let (Ok(number), true) = (digits.parse::<u32>(), title.len() < after.len())
        && !is_decimal
        && let Some(width) = title_width(title, number, steps)
    {
        let (start, from) = (list.len() - open.len(), list.len() - title.len());
        let said = unquoted(&title[..width]);
        let (step, is_known) = by_title(number, &said, steps);
        found.push(Dependency {
            step,
            number: Some(start..start + digits.len()),
            title: Some(from..from + width),
            disagrees: (!is_known).then_some((number, said)),
        });
        return Ok(from + width);
    }
    let end = at + rest.find([',', '\n']).unwrap_or(rest.len());
    let whole = list[at..end].trim();
    let is_title = !whole.is_empty() && !steps.is_empty() && StepRef::parse(whole).is_err();
    let mut same = is_title.then(|| steps.titled(whole)).into_iter().flatten();
    if let (Some(step), None) = (same.next(), same.next()) {
        let start = at + rest.len() - rest.trim_start().len();
        let title = Some(start..start + whole.len());
        found.push(Dependency { step: reference(step), number: None, title, disagrees: None });
        return Ok(end);
    }
    words(list, at..end, steps, found)?;
    Ok(end)
}

/// Numbers, ranges and ids without titles, with commas or spaces between them.
fn words(
    list: &str,
    span: Range<usize>,
    steps: &StepLabels<'_>,
    found: &mut Vec<Dependency>,
) -> Result<(), ModelError> {
    let mut at = span.start;
    for word in list[span].split(' ') {
        let start = at;
        at += word.len() + 1;
        let bare = word.trim_matches(['"', '\'', ' ', '`', '[', ']']);
        let is_filler =
            matches!(bare.to_ascii_lowercase().as_str(), "" | "step" | "steps" | "none" | "-");
        if is_filler {
            continue;
        }
        let step = StepRef::parse(bare)?;
        // What it means must not depend on which steps there are, but for one of that very name.
        if let Some(range) = step.range().filter(|_| !steps.is_empty() && !is_id(&step, steps))
            && range.size_hint().0 <= MOST_OF_RANGE
        {
            let from = start + word.find(bare).unwrap_or_default();
            let number = Some(from..from + bare.len());
            found.extend(range.map(|of| Dependency {
                step: StepRef::Number(of),
                number: number.clone(),
                title: None,
                disagrees: None,
            }));
            continue;
        }
        let digits = bare.trim_start_matches('#');
        let number = matches!(step, StepRef::Number(_)).then(|| {
            let from = start + word.find(digits).unwrap_or_default();
            from..from + digits.len()
        });
        found.push(Dependency { step, number, title: None, disagrees: None });
    }
    Ok(())
}

fn is_id(step: &StepRef, steps: &StepLabels<'_>) -> bool {
    matches!(step, StepRef::Id(id) if steps.has_id(id.as_str()))
}

/// The length in bytes of the title at the beginning of `text`; `None` if there is no title.
fn title_width(text: &str, number: u32, steps: &StepLabels<'_>) -> Option<usize> {
    let ends = |rest: &str| {
        let rest = rest.trim_start_matches([' ', ']', '`']);
        rest.is_empty() || rest.starts_with([',', '\n'])
    };
    if text.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let is_text = values.next().is_some_and(|value| value.is_ok());
        return Some(values.byte_offset()).filter(|width| is_text && ends(&text[*width..]));
    }
    // Usually the number is right.
    let likely = steps.likely(number).filter(|step| text.starts_with(step.title));
    if let Some(step) =
        likely.filter(|step| !step.title.is_empty() && ends(&text[step.title.len()..]))
    {
        return Some(step.title.len());
    }
    if let Some(width) = known_width(text, number, steps) {
        return Some(width);
    }
    let cut = text.find([',', '\n']).unwrap_or(text.len());
    let title = text[..cut].trim_end_matches([' ', ']', '`']);
    let is_step = |word: &str| {
        let word = word.trim_matches(['"', '\'', '`', '[', ']']);
        word.trim_start_matches('#').parse::<u32>().is_ok()
            || steps.has_id(word)
            || matches!(word.to_ascii_lowercase().as_str(), "" | "step" | "steps")
    };
    (!title.is_empty() && !title.split(' ').all(is_step)).then_some(title.len())
}

/// The length of the longest title of a step at the beginning of `text`, where nothing but the next
/// entry follows it; one of the step with that number comes first.
fn known_width(text: &str, number: u32, steps: &StepLabels<'_>) -> Option<usize> {
    let most = steps.longest_title();
    let ends = text.match_indices([',', '\n']).map(|(at, _)| at).chain([text.len()]);
    let mut longest = None;
    for end in ends {
        let least = text[..end].trim_end_matches([' ', ']', '`']).len();
        if least > most {
            break;
        }
        // What is trimmed may also be the end of the title.
        for width in (least.max(1)..=end.min(most)).filter(|width| text.is_char_boundary(*width)) {
            let found = steps.titled(&text[..width]).map(|step| (step.number == number, width));
            longest = longest.max(found.max());
        }
    }
    longest.map(|(_, width)| width)
}

/// The step with that number and title, else the only one with that title, else that with the number;
/// and whether the title was found.
fn by_title(number: u32, title: &str, steps: &StepLabels<'_>) -> (StepRef, bool) {
    if let Some(step) = steps.likely(number).filter(|step| step.title == title) {
        return (reference(step), true);
    }
    let titled: Vec<&StepLabel<'_>> = steps.titled(title).collect();
    let both = titled.iter().find(|step| step.number == number);
    let only = titled.first().filter(|_| titled.len() == 1);
    match both.or(only) {
        Some(step) => (reference(step), true),
        None => (by_number(StepRef::Number(number), steps), false),
    }
}

/// A number that means one step is replaced by its id, if it has one.
fn by_number(step: StepRef, steps: &StepLabels<'_>) -> StepRef {
    let StepRef::Number(number) = step else { return step };
    let mut same = steps.numbered(number);
    match (same.next(), same.next()) {
        (Some(only), None) => reference(only),
        _ => step,
    }
}

fn reference(step: &StepLabel<'_>) -> StepRef {
    let id = step.id.and_then(StepId::parse);
    id.map_or(StepRef::Number(step.number), StepRef::Id)
}

/// A title that would not read back as it is, in quotes.
fn quoted(title: &str) -> String {
    let is_word = |word: &str| word.trim_start_matches('#').parse::<u32>().is_ok();
    let is_plain = !title.contains([',', '"', '[', ']', '`', '\n', '<', '&', '\\', '*', '_'])
        && !title.starts_with([':', '.', ' '])
        && !title.ends_with(' ')
        && !title.split(' ').all(is_word);
    if is_plain { title.to_owned() } else { Value::from(title).to_string() }
}

fn unquoted(text: &str) -> String {
    match text.starts_with('"') {
        true => serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STEPS: [StepLabel<'_>; 4] = [
        StepLabel { number: 1, id: Some("k3f9"), title: "Collect benchmarks" },
        StepLabel { number: 2, id: Some("b7xd"), title: "Read, and compare" },
        StepLabel { number: 3, id: Some("m2qp"), title: "Measure" },
        StepLabel { number: 4, id: None, title: "2 more" },
    ];

    fn steps() -> StepLabels<'static> {
        Vec::from(STEPS).into()
    }

    fn read(list: &str) -> Vec<String> {
        let found = parse(list, &steps()).unwrap();
        found.iter().map(|found| found.step.to_string()).collect()
    }

    #[test]
    fn steps_are_named_by_number_and_title() {
        assert_eq!(read("1 Collect benchmarks, 3 Measure"), ["k3f9", "m2qp"]);
        assert_eq!(read("2 Read, and compare, 1"), ["b7xd", "1"]);
        assert_eq!(read("2 \"Read, and compare\", 3 Measure"), ["b7xd", "m2qp"]);
        assert_eq!(read("Step 3: Measure"), ["m2qp"]);
        assert_eq!(read("4 2 more"), ["4"]);
        assert_eq!(read("Collect benchmarks"), ["k3f9"]);
    }

    #[test]
    fn numbers_and_ids_alone_are_understood() {
        assert_eq!(read("[1, k3f9] , Step 4"), ["1", "k3f9", "4"]);
        assert_eq!(read("1 2 #3"), ["1", "2", "3"]);
        assert_eq!(read("[\"1\",\"3\"]"), ["1", "3"]);
        assert_eq!(read("none"), Vec::<String>::new());
        assert_eq!(read("9, zzzz"), ["9", "zzzz"]);
        assert!(parse("1, ???", &steps()).is_err());
    }

    #[test]
    fn a_range_is_its_steps_unless_a_step_is_called_so() {
        assert_eq!(read("1-3, k3f9"), ["1", "2", "3", "k3f9"]);
        assert_eq!(read("[1–2, 4..5]"), ["1", "2", "4", "5"]);
        assert_eq!(read("Steps 2-3"), ["2", "3"]);
        assert_eq!(read("3-3"), ["3"]);
        // Not a range, or one that nobody means.
        for list in ["3-1", "1-2-3", "1-4000000000", "login/17-01"] {
            assert_eq!(read(list), [list]);
        }
        let named = [StepLabel { number: 1, id: Some("17-01"), title: "Log in" }, STEPS[1]];
        let found = parse("17-01, 1-2", &Vec::from(named).into()).unwrap();
        let found: Vec<String> = found.iter().map(|found| found.step.to_string()).collect();
        assert_eq!(found, ["17-01", "1", "2"]);
    }

    #[test]
    fn ids_take_the_place_of_numbers() {
        let with_ids = |list: &str| {
            let id_of = |number: u32| STEPS.get(number as usize - 1)?.id.map(str::to_owned);
            with_ids(list, &parse(list, &steps()).unwrap(), id_of)
        };
        assert_eq!(with_ids("[1,\"3\"], Step 2, m2qp"), "[k3f9,\"m2qp\"], Step b7xd, m2qp");
        assert_eq!(with_ids("1 2"), "k3f9 b7xd");
        assert_eq!(with_ids("2-4, 9"), "b7xd, m2qp, 4, 9");
        assert_eq!(with_ids("none"), "none");
    }

    #[test]
    fn a_range_follows_its_steps() {
        let renamed = |list: &str, moved: &[(u32, u32)]| {
            let found = parse(list, &steps()).unwrap();
            rename(list, &found, |step| {
                let moved = moved.iter().find(|(from, _)| *step == StepRef::Number(*from));
                moved.map(|(_, to)| (*to, String::new()))
            })
        };
        assert_eq!(renamed("1..3", &[]), "1..3");
        assert_eq!(renamed("1..3", &[(1, 1)]), "1..3");
        assert_eq!(renamed("[1–3], 4", &[(1, 2), (2, 3), (3, 4), (4, 5)]), "[2-4], 5");
        assert_eq!(renamed("Steps 1-3", &[(3, 4), (4, 5)]), "Steps 1-2, 4");
        assert_eq!(renamed("1-3", &[(2, 7)]), "1, 3, 7");
    }

    #[test]
    fn the_title_decides_where_only_one_step_has_it() {
        assert_eq!(read("2 Measure"), ["m2qp"]);
        let found = parse("3 Gauge", &steps()).unwrap();
        assert_eq!(found[0].step.to_string(), "m2qp");
        assert_eq!(found[0].disagrees, Some((3, "Gauge".to_owned())));
    }

    #[test]
    fn numbers_and_titles_follow_and_the_form_stays() {
        let renamed = |list: &str| {
            let found = parse(list, &steps()).unwrap();
            rename(list, &found, |step| match step.to_string().as_str() {
                "k3f9" | "1" => Some((2, "Gather, all".to_owned())),
                "m2qp" | "3" => Some((4, "Measure".to_owned())),
                _ => None,
            })
        };
        assert_eq!(renamed("1 Collect benchmarks, 3 Measure"), "2 \"Gather, all\", 4 Measure");
        assert_eq!(renamed("[1,\"3\"], Step 2, m2qp, #3"), "[2,\"4\"], Step 2, m2qp, #4");
        assert_eq!(renamed("none"), "none");
    }

    #[test]
    fn lists_of_a_long_plan_whose_numbers_are_all_out_of_date_are_read_by_their_titles() {
        let titles: Vec<String> = (1..=10_000).map(|number| format!("Task {number}")).collect();
        let numbered = titles.iter().zip(2..);
        let labels: Vec<StepLabel<'_>> =
            numbered.map(|(title, number)| StepLabel { number, id: None, title }).collect();
        let labels = StepLabels::from(labels);
        for number in 1..10_000 {
            let found = parse(&format!("{number} Task {number}"), &labels).unwrap();
            assert_eq!(found[0].step, StepRef::Number(number + 1));
        }
    }

    proptest! {
        #[test]
        fn any_titles_read_back(titles in prop::collection::vec("[a-z0-9,\" .:#\\[\\]-]{1,10}", 1..5)) {
            let titles: Vec<String> = titles.iter().map(|title| title.trim().to_owned()).collect();
            prop_assume!(titles.iter().all(|title| !title.is_empty()));
            let ids: Vec<String> = (0..titles.len()).map(|at| format!("k{at}")).collect();
            let steps: Vec<StepLabel<'_>> = titles.iter().zip(&ids).zip(1..).map(|((title, id), number)| {
                StepLabel { number, id: Some(id), title }
            }).collect();
            let list = write(steps.iter().map(|step| (step.number, step.title)));
            let found = parse(&list, &steps.into()).unwrap();
            let read: Vec<String> = found.iter().map(|found| found.step.to_string()).collect();
            prop_assert_eq!(read, ids, "{}", list);
            prop_assert!(found.iter().all(|found| found.disagrees.is_none()));
        }
    }
}
