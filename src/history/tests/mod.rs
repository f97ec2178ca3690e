//! The log as a whole: writing, proving, reading and counting.

mod damage;
mod facts;
mod foreign;
mod notation;
mod reading;
mod round_trip;
mod size;

use super::*;

/// A log in memory, which grows as the file would.
#[derive(Clone)]
struct Log {
    text: String,
    facts: HistoryFacts,
    newline: &'static str,
    millis: u64,
    ids: Vec<EntryId>,
}

impl Log {
    fn new() -> Self {
        Self::starting_with("# Execution History: Goal\n\n## Step Execution Log\n")
    }

    fn starting_with(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let facts = scan_facts(text);
        Self { text: text.to_owned(), facts, newline, millis: 1_794_816_000_000, ids: Vec::new() }
    }

    /// A log with so many step entries, one after another.
    fn of(entries: u64) -> Self {
        let mut log = Self::new();
        for number in 1..=entries {
            let title = format!("Step {number} Execution");
            log.add(
                &title,
                &[("status", "COMPLETED"), ("notes", "first\nsecond"), ("errors", "none")],
            );
        }
        log
    }

    /// The same as an older version wrote it.
    fn of_older(entries: u64) -> Self {
        let mut log = Self::new();
        for number in 1..=entries {
            let title = format!("Step {number} Execution");
            let fields = [("status", "COMPLETED"), ("notes", "first\nsecond"), ("errors", "none")];
            log.millis += 1000;
            let after = &log.facts.heads;
            let rendered = render::render_older(&new_entry(&title, &fields), log.millis, after);
            log.append(&rendered);
        }
        log
    }

    fn add(&mut self, title: &str, fields: &[(&str, &str)]) -> EntryId {
        let entry = new_entry(title, fields);
        self.millis += 1000;
        let rendered = render(&entry, self.millis, &self.facts.heads, self.newline).unwrap();
        self.append(&rendered)
    }

    fn append(&mut self, rendered: &render::Rendered) -> EntryId {
        let mut appended = self.facts.log_heading(self.newline).unwrap_or_default();
        appended.push_str(&rendered.text);
        self.facts.update(&appended).unwrap();
        self.text.push_str(&appended);
        self.ids.push(rendered.id);
        rendered.id
    }

    /// The text of each entry with its trailer, and the text before the first.
    fn parts(&self) -> (String, Vec<String>) {
        let mut rest = self.text.as_str();
        let first = rest.find("\n### ").unwrap_or(rest.len());
        let head = rest[..first].to_owned();
        rest = &rest[first..];
        let mut entries = Vec::new();
        while let Some(at) = rest.find("\n<!-- ").map(|at| at + 1) {
            let end = at + rest[at..].find('\n').unwrap() + 1;
            entries.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        (head, entries)
    }
}

fn new_entry(title: &str, fields: &[(&str, &str)]) -> NewEntry {
    let fields = fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    NewEntry {
        title: title.to_owned(),
        time: "2026-11-16T08:00:00Z".to_owned(),
        fields: fields.collect(),
    }
}

fn scan_facts(text: &str) -> HistoryFacts {
    HistoryFacts::scan(text.as_bytes(), &mut |_| {}).unwrap()
}

fn check(text: &str) -> Verification {
    check_with(text, &[])
}

fn check_with(text: &str, anchors: &[EntryId]) -> Verification {
    verify(text.as_bytes(), anchors, &mut |_| {}).unwrap()
}

fn kinds(verification: &Verification) -> Vec<ProblemKind> {
    verification.problems.iter().map(|problem| problem.kind).collect()
}

fn all_entries(text: &str) -> Vec<Entry> {
    search(text.as_bytes(), "", usize::MAX).unwrap().entries
}
