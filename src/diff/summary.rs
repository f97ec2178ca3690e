//! Differences in words, a line each.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{
    difference::{Difference, StepName, Subject, Verb},
    excerpt::{display_pair, display_value, excerpt, excerpts, quoted},
    fold::{Folded, fold},
};
use crate::{
    domain::{SettingGroup, StateFile},
    text::display,
};

/// How many characters of a value are shown.
const WIDTH: usize = 60;

/// One line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SummaryLine {
    /// The file it is about.
    pub file: StateFile,
    /// Whether something came, went or changed.
    pub verb: Verb,
    /// What it says.
    pub text: String,
}

/// The differences in words, in their order; long values are shortened, what is alike is counted,
/// and a step that moved on is one line. Every line names its file and can be read alone.
pub(crate) fn summary(differences: &[Difference]) -> Vec<String> {
    lines(differences).into_iter().map(|line| line.text).collect()
}

/// The same with what each line is about.
pub(crate) fn lines(differences: &[Difference]) -> Vec<SummaryLine> {
    let mut lines = Vec::new();
    let Folded { differences, more } = fold(differences);
    let differences = differences.as_slice();
    let mut at = 0;
    let runs = renumbered(differences);
    let names = Names::of(differences);
    while let Some(first) = differences.get(at) {
        let group =
            differences[at..].iter().take_while(|next| share_line(first, next)).count().max(1);
        let text = match (&first.subject, runs.get(&at)) {
            (Subject::StepNumber { .. }, Some(Some(run))) => Some(run.clone()),
            (Subject::StepNumber { .. }, Some(None)) => None,
            _ => Some(line(&differences[at..at + group], &names)),
        };
        let text = text.map(|text| text + more.get(&at).map_or("", String::as_str));
        let verb = first.verb();
        let alike = differences[at..at + group].iter().all(|other| other.verb() == verb);
        let verb = if alike { verb } else { Verb::Changed };
        lines.extend(text.map(|text| SummaryLine { file: first.file, verb, text }));
        at += group;
    }
    lines
}

/// Whether two differences share a line.
fn share_line(first: &Difference, next: &Difference) -> bool {
    if first.file != next.file {
        return false;
    }
    match (&first.subject, &next.subject) {
        (Subject::Item { section: one }, Subject::Item { section: other }) => one == other,
        (Subject::StepText { step: one }, Subject::StepText { step: other }) => one == other,
        (Subject::Entry { .. }, Subject::Entry { .. }) => first.verb() == next.verb(),
        _ => false,
    }
}

/// Neighbours that were all renumbered by the same amount: the text at the first of them, none at
/// the others. A step that stands alone is not in the map.
fn renumbered(differences: &[Difference]) -> HashMap<usize, Option<String>> {
    let numbers = |difference: &Difference| {
        let Subject::StepNumber { .. } = difference.subject else { return None };
        Some((difference.before.as_ref()?.as_u64()?, difference.after.as_ref()?.as_u64()?))
    };
    let mut runs: Vec<Vec<(usize, u64, u64)>> = Vec::new();
    for (at, difference) in differences.iter().enumerate() {
        let Some((old, new)) = numbers(difference) else { continue };
        let last = runs.last().and_then(|run| run.last());
        if last.is_some_and(|(_, before, after)| before + 1 == old && after + 1 == new) {
            runs.last_mut().into_iter().for_each(|run| run.push((at, old, new)));
        } else {
            runs.push(vec![(at, old, new)]);
        }
    }
    let mut found = HashMap::new();
    for run in runs.into_iter().filter(|run| run.len() > 1) {
        if let [(at, old, new), .., (_, last_old, last_new)] = run.as_slice() {
            let text = format!("steps {old}–{last_old}: renumbered {new}–{last_new}");
            found.insert(*at, Some(text));
            found.extend(run[1..].iter().map(|(at, _, _)| (*at, None)));
        }
    }
    found
}

/// The sections that the differences are about, by their last heading.
struct Names<'d>(HashMap<&'d str, HashSet<&'d [String]>>);

impl<'d> Names<'d> {
    fn of(differences: &'d [Difference]) -> Self {
        let mut names: HashMap<&str, HashSet<&[String]>> = HashMap::new();
        for difference in differences {
            if let Subject::Item { section }
            | Subject::Order { section }
            | Subject::SectionField { section, .. } = &difference.subject
                && let Some(last) = section.last()
            {
                names.entry(last).or_default().insert(section);
            }
        }
        Self(names)
    }

    /// The last heading; the whole path where that would mean two sections.
    fn of_section(&self, section: &[String]) -> String {
        let last = section.last().map(String::as_str).unwrap_or_default();
        let several = self.0.get(last).is_some_and(|paths| paths.len() > 1);
        excerpt(if several { section.join(" / ") } else { last.to_owned() }.as_str(), 2 * WIDTH)
    }
}

fn line(group: &[Difference], names: &Names<'_>) -> String {
    let Some(first) = group.first() else { return String::new() };
    let (before, after) = (first.before.as_ref(), first.after.as_ref());
    let change = |label: &str| changed(label, before, after);
    let file = first.file;
    let stem = file.name().split('.').next().unwrap_or_default();
    match &first.subject {
        Subject::File => {
            let verb = if after.is_some() { "added" } else { "removed" };
            let bytes = after.or(before).and_then(Value::as_u64).unwrap_or_default();
            format!("{file}: {verb} ({bytes} bytes)")
        }
        Subject::Layout { detail } => format!("{file}: {detail}"),
        Subject::Text { why } => {
            format!("{file}: {} ({})", line_counts(first), excerpt(why, 2 * WIDTH))
        }
        Subject::Plan { field } => format!("plan: {}", change(field)),
        Subject::Step { step } => {
            let verb = if after.is_some() { "added" } else { "removed" };
            let status = after.or(before).and_then(Value::as_str).unwrap_or_default();
            let status = if status.is_empty() { String::new() } else { format!(", {status}") };
            format!("{}: {verb}{}", name(step), excerpt(&status, WIDTH))
        }
        Subject::StepPlace { step } => {
            format!("{}: moved from place {} to {}", name(step), position(before), position(after))
        }
        Subject::StepNumber { step } => format!("{}: {}", name(step), change("number")),
        // A step that was typed has no status before it begins.
        Subject::StepField { step, field } if field == "status" && before.is_none() => {
            let status = after.and_then(Value::as_str).unwrap_or_default();
            format!("{}: {}", name(step), excerpt(status, WIDTH))
        }
        Subject::StepField { step, field } => {
            let label = if field == "status" { "" } else { field };
            format!("{}: {}", name(step), change(label))
        }
        Subject::StepText { step } => format!("{}: text: {}", name(step), items(group)),
        Subject::Review { id, text } => {
            format!("review {}: {} ({})", short_text(id), change(""), quoted(text, WIDTH))
        }
        Subject::ReviewText { id } => format!("review {}: {}", short_text(id), change("text")),
        Subject::Setting { group: SettingGroup::Modifier, name } => {
            format!("constraints: {}", change(name))
        }
        Subject::Setting { name, .. } => {
            format!("constraints: {}", change(&format!("limit {name}")))
        }
        Subject::Directive => format!("constraints: {}", bullet("directive", first)),
        Subject::Lifetime { text } => {
            let (old, new) = (position(before), position(after));
            format!("constraints: directive {}: {old} → {new} steps left", quoted(text, WIDTH))
        }
        Subject::Rule => format!("constraints: {}", bullet("rule", first)),
        Subject::Behaviour { task_type } => {
            format!("constraints: {}", change(&format!("behaviour {task_type}")))
        }
        Subject::Section { section } => {
            let verb = if after.is_some() { "added" } else { "removed" };
            let text = after.or(before).and_then(Value::as_str).unwrap_or_default();
            let content =
                if text.is_empty() { String::new() } else { format!(": {}", quoted(text, WIDTH)) };
            format!("{stem}: section {} {verb}{content}", quoted(&section.join(" / "), WIDTH))
        }
        Subject::SectionTitle => format!("{stem}: {}", change("heading")),
        Subject::SectionField { section, field } => {
            format!("{stem}: {}: {}", names.of_section(section), change(field))
        }
        Subject::Item { section } => {
            format!("{stem}: {}: {}", names.of_section(section), items(group))
        }
        Subject::Order { section } if section.is_empty() && file == StateFile::History => {
            format!("{stem}: entries in another order")
        }
        Subject::Order { section } if section.is_empty() => {
            format!("{stem}: sections in another order")
        }
        Subject::Order { section } => {
            format!("{stem}: {}: in another order", names.of_section(section))
        }
        Subject::Variable { path } => {
            format!("{}: {}", variable(path), changed_value(before, after))
        }
        Subject::ArrayEnd { path } => {
            let (verb, list) =
                if after.is_some() { ("appended", after) } else { ("removed at the end", before) };
            let values = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let texts =
                values.iter().map(|value| quote_if_ambiguous(value, display_value(value, WIDTH)));
            let texts: Vec<String> = texts.collect();
            let listed = excerpts(texts.iter().map(String::as_str), 2 * WIDTH);
            format!("{}: {} {verb}: {listed}", variable(path), values.len())
        }
        Subject::Entry { .. } => format!("history: {}", entries(first, group)),
        Subject::HistoryLength => {
            let (old, new) = (position(before), position(after));
            format!("history.md: {old} → {new} bytes, not comparable entry by entry")
        }
    }
}

fn entries(first: &Difference, group: &[Difference]) -> String {
    let title = |difference: &Difference| match &difference.subject {
        Subject::Entry { headline, .. } => excerpt(headline, WIDTH),
        _ => String::new(),
    };
    let titles: Vec<String> = group.iter().map(title).collect();
    let entries = display::counted(group.len(), "entry", "entries");
    let verb = verb_word(first.verb());
    let listed = excerpts(titles.iter().map(String::as_str), 2 * WIDTH);
    format!("{entries} {verb}: {listed}")
}

/// `2 added: "…", 1 changed`.
fn items(group: &[Difference]) -> String {
    let mut parts = Vec::new();
    for verb in [Verb::Added, Verb::Changed, Verb::Removed] {
        let some: Vec<&Difference> = group.iter().filter(|other| other.verb() == verb).collect();
        if some.is_empty() {
            continue;
        }
        let text = |value: &Option<Value>| {
            value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let quotes: Vec<String> = match (verb, some.as_slice()) {
            (Verb::Changed, [one]) => vec![changed("", one.before.as_ref(), one.after.as_ref())],
            (Verb::Removed, some) => some.iter().map(|d| quoted(&text(&d.before), WIDTH)).collect(),
            (_, some) => some.iter().map(|d| quoted(&text(&d.after), WIDTH)).collect(),
        };
        let listed = excerpts(quotes.iter().map(String::as_str), 3 * WIDTH);
        parts.push(format!("{} {}: {listed}", some.len(), verb_word(verb)));
    }
    parts.join("; ")
}

fn bullet(noun: &str, difference: &Difference) -> String {
    let (before, after) = (difference.before.as_ref(), difference.after.as_ref());
    let text = |value: Option<&Value>| {
        quoted(value.and_then(Value::as_str).unwrap_or_default(), 2 * WIDTH)
    };
    match difference.verb() {
        Verb::Added => format!("{noun} added: {}", text(after)),
        Verb::Removed => format!("{noun} removed: {}", text(before)),
        Verb::Changed => {
            let nothing = Value::Null;
            let sides = (before.unwrap_or(&nothing), after.unwrap_or(&nothing));
            let (before, after) = display_pair(sides.0, sides.1, 2 * WIDTH);
            format!("{noun} changed: {before} → {after}")
        }
    }
}

/// `label before → after`, or what came or went.
fn changed(label: &str, before: Option<&Value>, after: Option<&Value>) -> String {
    let label = if label.is_empty() { String::new() } else { format!("{} ", short_text(label)) };
    match (before, after) {
        (None, Some(after)) => format!("{label}{} added", display_value(after, WIDTH)),
        (Some(before), None) => format!("{label}{} removed", display_value(before, WIDTH)),
        (Some(before), Some(after)) => {
            let (before, after) = display_pair(before, after, WIDTH);
            format!("{label}{before} → {after}")
        }
        (None, None) => format!("{label}changed"),
    }
}

/// What happened to a value that has a type.
fn changed_value(before: Option<&Value>, after: Option<&Value>) -> String {
    match (before, after) {
        (None, Some(after)) => {
            format!("{} added", quote_if_ambiguous(after, display_value(after, WIDTH)))
        }
        (Some(before), None) => {
            format!("{} removed", quote_if_ambiguous(before, display_value(before, WIDTH)))
        }
        (Some(before), Some(after)) => {
            let (old, new) = display_pair(before, after, WIDTH);
            // Two numbers that differ in their text alone come as text, too.
            if before.is_string() && after.is_string() {
                return format!("{old} → {new}");
            }
            format!("{} → {}", quote_if_ambiguous(before, old), quote_if_ambiguous(after, new))
        }
        (None, None) => "changed".to_owned(),
    }
}

/// Puts text in quotes that would be taken for a number without them.
fn quote_if_ambiguous(value: &Value, shown: String) -> String {
    match value {
        Value::String(text)
            if !shown.starts_with('"') && serde_json::from_str::<Value>(text).is_ok() =>
        {
            quoted(text, WIDTH)
        }
        _ => shown,
    }
}

fn line_counts(difference: &Difference) -> String {
    let count = |value: &Option<Value>| value.as_ref().and_then(Value::as_u64).unwrap_or_default();
    match (count(&difference.after), count(&difference.before)) {
        (0, 0) => "lines in another order".to_owned(),
        (1, gone) => format!("1 line added, {gone} removed"),
        (came, gone) => format!("{came} lines added, {gone} removed"),
    }
}

fn verb_word(verb: Verb) -> &'static str {
    match verb {
        Verb::Added => "added",
        Verb::Removed => "removed",
        Verb::Changed => "changed",
    }
}

/// `step 3 (k3f9) Collect data`.
fn name(step: &StepName) -> String {
    let id = step.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
    let title = excerpt(&step.title, WIDTH);
    let space = if title.is_empty() { "" } else { " " };
    format!("step {}{id}{space}{title}", step.number)
}

fn position(value: Option<&Value>) -> String {
    value.map_or_else(|| "?".to_owned(), ToString::to_string)
}

fn short_text(text: &str) -> String {
    excerpt(text, WIDTH)
}

fn variable(path: &str) -> String {
    let dot = if path.is_empty() || path.starts_with(['[', '/']) { "" } else { "." };
    format!("variables{dot}{}", excerpt(path, 2 * WIDTH))
}
