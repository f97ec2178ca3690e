//! Merging two long histories against reading them.
//!
//! `cargo bench --bench merge` prints the ratio, measured side by side in one run.

mod common;

use std::time::{Duration, Instant};

use common::{alternate, is_wanted, report, title};
use statedir::{
    StateFile,
    internals::{HistoryFacts, NewEntry, Workflow, merge, render},
};

const ENTRIES: u64 = 100_000;

fn main() {
    if !is_wanted() {
        return;
    }
    title();
    let head = "# Execution History: T\n\n## Step Execution Log\n".to_owned();
    let shared = grown(&head, 0, ENTRIES / 2);
    for (name, base, share) in [("half shared", &shared, ENTRIES / 2), ("nothing shared", &head, 0)]
    {
        let ours = grown(base, share, ENTRIES - share);
        let theirs = grown(base, share + 1_000_000, ENTRIES - share);
        let merging = || {
            let began = Instant::now();
            let merged = merge(
                StateFile::History,
                Some(base.as_bytes()),
                Some(ours.as_bytes()),
                Some(theirs.as_bytes()),
                Workflow::builtin(),
            );
            assert!(merged.is_ok_and(|merged| merged.is_some()));
            began.elapsed()
        };
        let reading = || read(&ours) + read(&theirs);
        let pair = alternate(5, merging, reading);
        report(&format!("merge / read 2 × 100,000 entries, {name}"), pair, 3.0);
    }
}

fn read(log: &str) -> Duration {
    let began = Instant::now();
    let facts = HistoryFacts::scan(log.as_bytes(), &mut |_| {}).expect("a history");
    assert_eq!(facts.counts.entries, ENTRIES);
    began.elapsed()
}

/// A log with so many more entries, each of which follows the one before.
fn grown(log: &str, first: u64, count: u64) -> String {
    let mut text = log.to_owned();
    let mut after = HistoryFacts::scan(log.as_bytes(), &mut |_| {}).expect("a history").heads;
    for number in first..first + count {
        let fields = [("step", "k3f9"), ("status", "COMPLETED"), ("notes", "one of many")];
        let entry = NewEntry {
            title: format!("Step {} Execution", number % 9 + 1),
            time: "2026-01-31T12:00:00Z".to_owned(),
            fields: fields.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(),
        };
        let rendered = render(&entry, number, &after, "\n").expect("an entry");
        text.push_str(&rendered.text);
        after = vec![rendered.id];
    }
    text
}
