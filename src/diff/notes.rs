//! A summary of what happened between two versions of a state, for whoever reviews it.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::{
    compare,
    summary::{SummaryLine, lines},
};
use crate::{
    domain::{
        Context, Decision, FilesByName, Plan, Review, StateFile, Step, StepRole, Workflow,
        outline::{Outline, Pairing},
    },
    graph::{Graph, mermaid},
    history::{Entry, EntryKind, each_entry},
    text::display::one_line,
    text::markdown::Document,
};

/// How much of one kind is listed.
const MOST: usize = 30;
/// How many characters of a text are shown.
const WIDTH: usize = 160;

/// What happened from `before` to `after`, as markdown.
///
/// Texts of the state are shown as plain words: nothing in them becomes a heading, a link, a
/// mention or HTML. What cannot be read is left out and named. `workflow` is the one of `after`.
pub(crate) fn review_notes(
    (from, to): (&str, &str),
    before: &FilesByName,
    after: &FilesByName,
    workflow: &Workflow,
) -> String {
    let (old, new) = (plan(before), plan(after));
    let mut out = String::new();
    let title = new.as_ref().map_or("state", |plan| plan.title.as_str());
    let _ =
        writeln!(out, "# {}\n\nState from {} to {}.\n", inline(title), inline(from), inline(to));
    let entries = added_entries(before, after);
    if let Some(new) = &new {
        overview(&mut out, old.as_ref(), new, workflow);
        section(&mut out, "Steps", &steps(old.as_ref(), new, &entries, workflow));
    } else {
        out.push_str("plan.md is missing or cannot be read.\n\n");
    }
    let (findings, mut decisions) = learned(before, after);
    decisions.extend(decided(old.as_ref(), new.as_ref()));
    section(&mut out, "Findings", &findings);
    section(&mut out, "Decisions", &decisions);
    section(&mut out, "Failures", &failures(&entries));
    section(&mut out, "Rules fired", &rules_fired(&entries));
    let open = new.iter().flat_map(Plan::open_reviews);
    let open: Vec<String> = open.map(|r| format!("{}: {}", r.id, inline(&r.text))).collect();
    section(&mut out, "Open reviews", &open);
    section(&mut out, "Constraints and variables", &settings(before, after));
    let is_same = before.get(StateFile::Plan.name()) == after.get(StateFile::Plan.name());
    if let Some(new) = new.filter(|new| !new.steps.is_empty() && !is_same) {
        let graph = Graph::new(&new, workflow, "group", |_| None);
        let _ = write!(out, "## Plan\n\n```mermaid\n{}```\n", mermaid(&graph));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "## {title}\n");
    for line in lines.iter().take(MOST) {
        let _ = writeln!(out, "- {line}");
    }
    if lines.len() > MOST {
        let _ = writeln!(out, "- and {} more", lines.len() - MOST);
    }
    out.push('\n');
}

fn overview(out: &mut String, old: Option<&Plan>, new: &Plan, workflow: &Workflow) {
    let status = |plan: &Plan| plan.metadata.status.clone().unwrap_or_else(|| "?".to_owned());
    let now = inline(&status(new));
    let status = match old.map(status).filter(|old| inline(old) != now) {
        Some(old) => format!("{} → {now}", inline(&old)),
        None => now,
    };
    let done = |step: &&Step| workflow.role_of(step) == Some(StepRole::Done);
    let finished = new.steps.iter().filter(done).count();
    let _ = writeln!(out, "Plan {status}, {finished} of {} steps completed.\n", new.steps.len());
}

fn steps(old: Option<&Plan>, new: &Plan, entries: &[Entry], workflow: &Workflow) -> Vec<String> {
    let nothing = Plan::empty();
    let old = old.unwrap_or(&nothing);
    let outline = |plan| Outline::read(StateFile::Plan, plan);
    let (before, after) = (outline(&old.document), outline(&new.document));
    let pairs = Pairing::of(&before, &after).steps(&before, &after);
    let partners: HashMap<usize, usize> = pairs.iter().map(|(from, to)| (*to, *from)).collect();
    let kept: HashSet<usize> = pairs.into_iter().map(|(from, _)| from).collect();
    let name = |step: &Step| format!("{} {}", step.name(), inline(&step.title));
    let open = workflow.step_with_role(StepRole::Open);
    let status = |step: &Step| inline(workflow.status_of(step).unwrap_or(open));
    let mut lines = Vec::new();
    let (known, now) = (&old.steps, &new.steps);
    for (to, step) in now.iter().enumerate() {
        let mut parts = Vec::new();
        match partners.get(&to).map(|from| &known[*from]) {
            None => parts.push(format!("added, {}", status(step))),
            Some(other) => {
                if status(other) != status(step) {
                    parts.push(format!("{} → {}", status(other), status(step)));
                }
                if other.title != step.title {
                    parts.push(format!("was called {}", inline(&other.title)));
                }
                if step.attempts > other.attempts.max(1) {
                    parts.push(format!("{} attempts", step.attempts));
                }
            }
        }
        let before =
            partners.get(&to).and_then(|from| known[*from].details().description.as_deref());
        let mut notes: Vec<String> = Vec::new();
        notes.extend(
            step.details().description.as_deref().filter(|now| Some(*now) != before).map(inline),
        );
        if let Some(id) = &step.id {
            if !parts.is_empty() {
                parts.extend(result(id.as_str(), entries));
            }
            notes.extend(remarks(id.as_str(), entries));
        }
        if !parts.is_empty() || !notes.is_empty() {
            let parts =
                if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
            let notes: String = notes.iter().map(|text| format!("\n  - {text}")).collect();
            lines.push(format!("{}{parts}{notes}", name(step)));
        }
    }
    let gone = known.iter().enumerate().filter(|(from, _)| !kept.contains(from));
    lines.extend(gone.map(|(_, step)| format!("{}: removed", name(step))));
    lines
}

/// What the newest execution of a step took and brought.
fn result(id: &str, entries: &[Entry]) -> Option<String> {
    let is_own = |entry: &&Entry| entry.field("step") == Some(id) && entry.outcome().is_some();
    let newest = entries.iter().rev().find(is_own)?;
    let spent = ["actual_time", "actual_cost"].into_iter().filter_map(|key| newest.field(key));
    let outputs = newest.field("real_outputs").map(outputs);
    let values: Vec<String> = spent.map(inline).chain(outputs).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// Named results as plan.md shows them: `rows=7, file=out/a.csv`.
fn outputs(json: &str) -> String {
    let Ok(serde_json::Value::Object(outputs)) = serde_json::from_str(json) else {
        return inline(json);
    };
    let text = |(name, value): (&String, &serde_json::Value)| match value.as_str() {
        Some(text) => inline(&format!("{name}={text}")),
        None => inline(&format!("{name}={value}")),
    };
    outputs.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// What was noted about a step on the way.
fn remarks(id: &str, entries: &[Entry]) -> Vec<String> {
    let own = entries.iter().filter(|entry| entry.field("step") == Some(id));
    let noted = own.filter_map(|entry| {
        // An entry of one's own about the step says it in its heading.
        let is_free = entry.kind == EntryKind::Note && entry.outcome().is_none();
        let title = is_free.then(|| inline(&entry.title));
        let note = entry.field("notes").map(inline);
        match (title, note) {
            (Some(title), Some(note)) => Some(format!("{title}: {note}")),
            (title, note) => title.or(note),
        }
    });
    noted.collect()
}

/// What was written into the context: findings, and what is about decisions.
fn learned(before: &FilesByName, after: &FilesByName) -> (Vec<String>, Vec<String>) {
    let texts = |files: &FilesByName| -> Vec<(bool, String, String)> {
        let Some(document) = document(files, StateFile::Context) else { return Vec::new() };
        let context = Context::read(document);
        let mut texts = Vec::new();
        for section in &context.sections {
            let is_about = |name: &String| {
                let name = name.to_ascii_lowercase();
                name.contains("decision") || name.contains("rationale")
            };
            let is_decision = section.path.iter().chain([&section.title]).any(is_about);
            for text in context.texts(section.section) {
                texts.push((is_decision, section.title.clone(), text));
            }
        }
        texts
    };
    let known: HashSet<String> = texts(before).into_iter().map(|(_, _, text)| text).collect();
    let (mut findings, mut decisions) = (Vec::new(), Vec::new());
    for (is_decision, title, text) in texts(after) {
        if known.contains(&text) {
            continue;
        }
        let words = inline(text.trim_start_matches(['-', '*', '+', ' ']));
        match (is_decision, title == Context::DEFAULT_SECTION) {
            (true, _) => decisions.push(words),
            (false, true) => findings.push(words),
            (false, false) => findings.push(format!("{}: {words}", inline(&title))),
        }
    }
    (findings, decisions)
}

/// What people decided.
fn decided(old: Option<&Plan>, new: Option<&Plan>) -> Vec<String> {
    let decision = |plan: Option<&Plan>, id: &str| {
        plan?.reviews.iter().find(|review| review.id == id).map(|review| review.decision)
    };
    let is_new = |review: &&Review| {
        review.decision != Decision::Open && decision(old, &review.id) != Some(review.decision)
    };
    let reviews = new.iter().flat_map(|plan| &plan.reviews).filter(is_new);
    reviews.map(|review| format!("review {}: {}", review.id, inline(&review.text))).collect()
}

/// What failed, and why.
fn failures(entries: &[Entry]) -> Vec<String> {
    let line = |entry: &Entry| {
        let number = entry.step_number().map(|number| format!("step {number}"));
        let title = entry.field("title").map(inline).unwrap_or_default();
        let attempt = entry.field("attempt").map(|text| format!(", attempt {}", inline(text)));
        let error = entry.error().map_or_else(|| "no reason given".to_owned(), inline);
        let name = format!("{} {title}", number.unwrap_or_else(|| inline(&entry.title)));
        format!("{}{}: {error}", name.trim_end(), attempt.unwrap_or_default())
    };
    entries.iter().filter(|entry| entry.is_failure()).map(line).collect()
}

fn rules_fired(entries: &[Entry]) -> Vec<String> {
    let line = |entry: &Entry| {
        let rule = ["rule", "values", "event"].into_iter().find_map(|key| entry.field(key));
        let reason = rule.map(|rule| format!(" ({})", inline(rule))).unwrap_or_default();
        match entry.field("state_changes") {
            Some(changes) => format!("{}{reason}", inline(changes)),
            None => format!("{}{reason}", inline(&entry.title)),
        }
    };
    entries.iter().filter(|entry| entry.kind == EntryKind::Adaptation).map(line).collect()
}

/// What was set, without what follows from the steps.
fn settings(before: &FilesByName, after: &FilesByName) -> Vec<String> {
    let mut all = Vec::new();
    for file in [StateFile::Plan, StateFile::Variables, StateFile::Constraints] {
        let side = |files: &'_ FilesByName| files.get(file.name()).cloned();
        all.extend(compare(file, side(before).as_deref(), side(after).as_deref()));
    }
    let is_set =
        |line: &SummaryLine| matches!(line.file, StateFile::Constraints | StateFile::Variables);
    let is_counter = |line: &SummaryLine| is_derived(&line.text);
    let lines = lines(&all).into_iter().filter(|line| is_set(line) && !is_counter(line));
    lines.map(|line| inline(&line.text)).collect()
}

/// Whether a line of the variables is about something that other files say.
fn is_derived(line: &str) -> bool {
    ["variables.step_data.", "variables.cost_tracking."].iter().any(|start| line.starts_with(start))
}

fn added_entries(before: &FilesByName, after: &FilesByName) -> Vec<Entry> {
    let read = |files: &FilesByName| -> Vec<Entry> {
        let mut entries = Vec::new();
        let bytes = files.get(StateFile::History.name()).map(Vec::as_slice).unwrap_or_default();
        // Reading from memory cannot fail.
        let _ = each_entry(bytes, |entry| entries.push(entry));
        entries
    };
    let name = |entry: &Entry| match entry.id {
        Some(id) => id.to_string(),
        None => format!("{} {:?}", entry.title, entry.time),
    };
    let known: HashSet<String> = read(before).iter().map(name).collect();
    read(after).into_iter().filter(|entry| !known.contains(&name(entry))).collect()
}

fn plan(files: &FilesByName) -> Option<Plan> {
    document(files, StateFile::Plan).map(Plan::read)
}

fn document(files: &FilesByName, file: StateFile) -> Option<Document> {
    Document::from_bytes(files.get(file.name())?.clone()).ok()
}

/// A text as words on one line, in which nothing means anything to markdown or to a forge.
fn inline(text: &str) -> String {
    let words: Vec<char> = one_line(text).chars().collect();
    let mut out = String::new();
    for (at, c) in words.iter().copied().enumerate() {
        if at == WIDTH {
            out.push('…');
            break;
        }
        let is_inside = |at: usize| words.get(at).is_some_and(|c| c.is_ascii_alphanumeric());
        match c {
            // Within a word it emphasises nothing: test_login_twice.
            '_' if at > 0 && is_inside(at - 1) && is_inside(at + 1) => out.push(c),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '~' | '&' => {
                out.push('\\');
                out.push(c);
            }
            '@' => out.push_str("&#64;"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(pairs: &[(StateFile, &str)]) -> FilesByName {
        let pair =
            |(file, text): &(StateFile, &str)| (file.name().to_owned(), text.as_bytes().to_vec());
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn moved_steps_are_reported_and_hostile_text_is_plain_words() {
        let old = "# Execution Plan: T\n\n## Metadata\n- **status**: IN_PROGRESS\n\n## Steps\n\n### Step 1: One\n- **id**: aaaa\n- **status**: PENDING\n";
        let new = old.replace("PENDING", "COMPLETED").replace(": One", ": <img src=x> @all")
            + "\nAsk ada first.\n\n## Reviews\n- [ ] r1: Ship?\n";
        let before = files(&[
            (StateFile::Plan, old),
            (StateFile::Context, "# C\n\n## Decision Rationale\nold\n"),
            (StateFile::Variables, "{\"step_data\":{\"current_step\":1}}"),
        ]);
        let after = files(&[
            (StateFile::Plan, &new),
            (
                StateFile::Context,
                "# C\n\n## Key Findings\nIt is slow. <!-- step 1, 2026-01-15 -->\n\n\
                 ### Later\nstill slow\n\n## Decision Rationale\nold\n\n- took A\n",
            ),
            (
                StateFile::History,
                "# H\n\n## Log\n\n### ✗ Step 1: One (5m): boom\n*2026-01-15 · ada · id aaaa*\n\
                 - **real_outputs**: {\"rows\":7,\"file\":\"out/a.csv\"}\n\
                 - **notes**: the index was *cold*\n\n\
                 ### Adaptation - 2026-01-15\n- **rule**: 1: If x → y\n- **state_changes**: a → b\n",
            ),
            (StateFile::Variables, "{\"a\":1,\"step_data\":{\"current_step\":2}}"),
        ]);
        let notes = review_notes(("a", "b"), &before, &after, Workflow::builtin());
        assert!(
            notes.contains(
                "- step 1 (aaaa) \\<img src=x\\> &#64;all: PENDING → COMPLETED, was called One, 5m, rows=7, \
                 file=out/a.csv\n  - Ask ada first.\n  - the index was \\*cold\\*\n"
            ),
            "{notes}"
        );
        assert!(
            notes.contains("## Findings\n\n- It is slow.\n- Later: still slow\n\n## Decisions\n"),
            "{notes}"
        );
        assert!(notes.contains("## Decisions\n\n- took A\n\n## Failures\n"), "{notes}");
        assert!(notes.contains("## Failures\n\n- step 1 One, attempt 1: boom\n"), "{notes}");
        assert!(notes.contains("## Rules fired\n\n- a → b (1: If x → y)\n"), "{notes}");
        assert!(
            notes.contains("## Constraints and variables\n\n- variables.a: 1 added\n"),
            "{notes}"
        );
        assert!(!notes.contains("current"), "{notes}");
        assert!(notes.contains("## Open reviews\n\n- r1: Ship?\n"), "{notes}");
        assert_eq!(inline("IN_PROGRESS _x_ a__b"), "IN_PROGRESS \\_x\\_ a\\_\\_b");
        let same = review_notes(("a", "a"), &before, &before, Workflow::builtin());
        assert!(!same.contains("## "), "{same}");
    }
}
