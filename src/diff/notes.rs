//! A summary of what happened between two versions of a state, for whoever reviews it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use super::{compare, summary};
use crate::{
    domain::{
        Context, Decision, Money, Plan, StateFile, Step, StepRole, Variables, Workflow,
        outline::{Outline, Pairing},
    },
    history::{Entry, EntryKind, each_entry},
    text::markdown::Document,
};

/// How much of one kind is listed.
const MOST: usize = 30;
/// How many characters of a text are shown.
const WIDTH: usize = 160;

/// The bytes of the state files, by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// What happened from `before` to `after`, as markdown.
///
/// Texts of the state are shown as plain words: nothing in them becomes a heading, a link, a
/// mention or HTML. What cannot be read is left out and named. `workflow` is the one of `after`.
pub(crate) fn review_notes(
    (from, to): (&str, &str),
    before: &Files,
    after: &Files,
    workflow: &Workflow,
) -> String {
    let (old, new) = (plan(before), plan(after));
    let mut out = String::new();
    let title = new.as_ref().map_or("state", |plan| plan.title.as_str());
    let _ =
        writeln!(out, "# {}\n\nState from {} to {}.\n", inline(title), inline(from), inline(to));
    if let Some(new) = &new {
        overview(&mut out, old.as_ref(), new, workflow);
        section(&mut out, "Steps", &steps(old.as_ref(), new));
    } else {
        out.push_str("plan.md is missing or cannot be read.\n\n");
    }
    let entries = added_entries(before, after);
    section(&mut out, "Decisions", &decisions(before, after, old.as_ref(), new.as_ref()));
    section(&mut out, "Rules fired", &entries_of(&entries, EntryKind::Adaptation));
    section(&mut out, "Cost", &costs(before, after, &entries));
    let open = new.iter().flat_map(Plan::open_reviews);
    let open: Vec<String> = open.map(|r| format!("{}: {}", r.id, inline(&r.text))).collect();
    section(&mut out, "Open reviews", &open);
    let other = |file: StateFile| {
        let side = |files: &'_ Files| files.get(file.name()).cloned();
        let (old, new) = (side(before), side(after));
        summary(&compare(file, old.as_deref(), new.as_deref()))
    };
    let other: Vec<String> = [StateFile::Constraints, StateFile::Variables]
        .into_iter()
        .flat_map(other)
        .map(|line| inline(&line))
        .collect();
    section(&mut out, "Constraints and variables", &other);
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

fn steps(old: Option<&Plan>, new: &Plan) -> Vec<String> {
    let nothing = Plan::empty();
    let old = old.unwrap_or(&nothing);
    let outline = |plan| Outline::read(StateFile::Plan, plan);
    let (before, after) = (outline(&old.document), outline(&new.document));
    let pairs = Pairing::of(&before, &after).steps(&before, &after);
    let partners: HashMap<usize, usize> = pairs.iter().map(|(from, to)| (*to, *from)).collect();
    let kept: HashSet<usize> = pairs.into_iter().map(|(from, _)| from).collect();
    let name = |step: &Step| format!("{} {}", step.name(), inline(&step.title));
    let status = |step: &Step| inline(step.status.as_deref().unwrap_or("?"));
    let mut lines = Vec::new();
    for (to, step) in new.steps.iter().enumerate() {
        let Some(other) = partners.get(&to).map(|from| &old.steps[*from]) else {
            lines.push(format!("{}: added, {}", name(step), status(step)));
            continue;
        };
        let mut parts = Vec::new();
        if status(other) != status(step) {
            parts.push(format!("{} → {}", status(other), status(step)));
        }
        if other.title != step.title {
            parts.push(format!("was called {}", inline(&other.title)));
        }
        if step.attempts > other.attempts.max(1) {
            parts.push(format!("{} attempts", step.attempts));
        }
        if !parts.is_empty() {
            lines.push(format!("{}: {}", name(step), parts.join(", ")));
        }
    }
    let gone = old.steps.iter().enumerate().filter(|(from, _)| !kept.contains(from));
    lines.extend(gone.map(|(_, step)| format!("{}: removed", name(step))));
    lines
}

/// What was written about decisions, and what people decided.
fn decisions(before: &Files, after: &Files, old: Option<&Plan>, new: Option<&Plan>) -> Vec<String> {
    let texts = |files: &Files| -> Vec<String> {
        let Some(document) = document(files, StateFile::Context) else { return Vec::new() };
        let context = Context::read(document);
        let about = context.sections.iter().filter(|section| {
            let name = section.title.to_ascii_lowercase();
            name.contains("decision") || name.contains("rationale")
        });
        let document = &context.document;
        let parts = about.flat_map(|section| document.parts(section.section));
        parts.map(|part| document.source()[part.span].to_owned()).collect()
    };
    let known: HashSet<String> = texts(before).into_iter().collect();
    let mut lines: Vec<String> = texts(after)
        .into_iter()
        .filter(|text| !known.contains(text))
        .map(|text| inline(text.trim_start_matches(['-', '*', '+', ' '])))
        .collect();
    let decision = |plan: Option<&Plan>, id: &str| {
        plan?.reviews.iter().find(|review| review.id == id).map(|review| review.decision)
    };
    for review in new.iter().flat_map(|plan| &plan.reviews) {
        let is_new = decision(old, &review.id) != Some(review.decision);
        if review.decision != Decision::Open && is_new {
            lines.push(format!("review {}: {}", review.id, inline(&review.text)));
        }
    }
    lines
}

fn entries_of(entries: &[Entry], kind: EntryKind) -> Vec<String> {
    let line = |entry: &Entry| {
        let wanted = ["rule", "trigger", "notes", "state_changes", "change", "changes"];
        let values: Vec<String> = entry
            .fields
            .iter()
            .filter(|(key, _)| wanted.contains(&key.as_str()))
            .map(|(_, value)| inline(value))
            .collect();
        let rest =
            if values.is_empty() { String::new() } else { format!(": {}", values.join("; ")) };
        format!("{}{rest}", inline(&entry.title))
    };
    entries.iter().filter(|entry| entry.kind == kind).map(line).collect()
}

fn costs(before: &Files, after: &Files, entries: &[Entry]) -> Vec<String> {
    let total = |files: &Files| {
        let bytes = files.get(StateFile::Variables.name())?.clone();
        Some(Variables::parse(bytes).ok()?.total_cost())
    };
    let (old, new) = (total(before).unwrap_or_default(), total(after).unwrap_or_default());
    let mut lines = Vec::new();
    if old != new {
        lines.push(format!("total {old} → {new}"));
    }
    for entry in entries {
        let field = |key: &str| entry.fields.iter().find(|(name, _)| name == key).map(|(_, v)| v);
        let Some(cost) = field("actual_cost")
            .filter(|cost| Money::parse(cost).is_some_and(|m| m != Money::default()))
        else {
            continue;
        };
        lines.push(format!("{}: {}", inline(&entry.title), inline(cost)));
    }
    lines
}

fn added_entries(before: &Files, after: &Files) -> Vec<Entry> {
    let read = |files: &Files| -> Vec<Entry> {
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

fn plan(files: &Files) -> Option<Plan> {
    document(files, StateFile::Plan).map(Plan::read)
}

fn document(files: &Files, file: StateFile) -> Option<Document> {
    Document::from_bytes(files.get(file.name())?.clone()).ok()
}

/// A text as words on one line, in which nothing means anything to markdown or to a forge.
fn inline(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    for (at, c) in words.chars().enumerate() {
        if at == WIDTH {
            out.push('…');
            break;
        }
        match c {
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

    fn files(pairs: &[(StateFile, &str)]) -> Files {
        let pair =
            |(file, text): &(StateFile, &str)| (file.name().to_owned(), text.as_bytes().to_vec());
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn what_moved_is_told_and_what_is_hostile_is_words() {
        let old = "# Execution Plan: T\n\n## Metadata\n- **status**: IN_PROGRESS\n\n## Steps\n\n### Step 1: One\n- **id**: aaaa\n- **status**: PENDING\n";
        let new = old.replace("PENDING", "COMPLETED").replace(": One", ": <img src=x> @all")
            + "\n## Reviews\n- [ ] r1: Ship?\n";
        let before = files(&[
            (StateFile::Plan, old),
            (StateFile::Context, "# C\n\n## Decision Rationale\nold\n"),
        ]);
        let after = files(&[
            (StateFile::Plan, &new),
            (StateFile::Context, "# C\n\n## Decision Rationale\nold\n\n- took A\n"),
        ]);
        let notes = review_notes(("a", "b"), &before, &after, Workflow::builtin());
        assert!(
            notes.contains(
                "- step 1 (aaaa) \\<img src=x\\> &#64;all: PENDING → COMPLETED, was called One\n"
            ),
            "{notes}"
        );
        assert!(notes.contains("## Decisions\n\n- took A\n"), "{notes}");
        assert!(notes.contains("## Open reviews\n\n- r1: Ship?\n"), "{notes}");
        let same = review_notes(("a", "a"), &before, &before, Workflow::builtin());
        assert!(!same.contains("## "), "{same}");
    }
}
