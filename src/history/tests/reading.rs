//! The newest entries and the search.

use std::io::{Cursor, Read, Seek, SeekFrom};

use super::*;

/// Counts the bytes that are read.
struct Counting<'a> {
    inner: Cursor<&'a [u8]>,
    read: u64,
}

impl Read for Counting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read += count as u64;
        Ok(count)
    }
}

impl Seek for Counting<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.inner.seek(to)
    }
}

fn last(text: &str, limit: usize) -> (Vec<Entry>, u64) {
    let mut reader = Counting { inner: Cursor::new(text.as_bytes()), read: 0 };
    let entries = last_entries(&mut reader, limit).unwrap();
    (entries, reader.read)
}

fn without_lines(entries: &[Entry]) -> Vec<Entry> {
    entries.iter().cloned().map(|entry| Entry { line: None, ..entry }).collect()
}

#[test]
fn the_last_entries_are_read_from_the_end() {
    let log = Log::of(6000);
    assert!(log.text.len() > 1 << 20);
    let all = all_entries(&log.text);
    let (entries, read) = last(&log.text, 3);
    assert_eq!(entries, without_lines(&all[5997..]));
    assert!(read <= 64 << 10, "{read}");
    let (entries, read) = last(&log.text, 500);
    assert_eq!(entries, without_lines(&all[5500..]));
    assert!(read < log.text.len() as u64, "{read}");
    assert_eq!(without_lines(&last(&log.text, 9999).0), without_lines(&all));
    assert_eq!(last(&log.text, 0).0, []);
    assert_eq!(last("", 3).0, []);
}

#[test]
fn a_short_log_gives_lines_too() {
    let log = Log::of(3);
    let (entries, _) = last(&log.text, 2);
    assert_eq!(entries, all_entries(&log.text)[1..]);
    let line = usize::try_from(entries[0].line.unwrap()).unwrap();
    assert_eq!(log.text.lines().nth(line - 1), Some("### Step 2 Execution"));
    let offset = usize::try_from(entries[0].offset).unwrap();
    assert!(log.text[offset..].starts_with("### Step 2"));
}

#[test]
fn entries_by_hand_are_among_the_last() {
    let mut log = Log::of(2000);
    log.text.push_str("\n### By hand - 10:30\n- a: b\n\n```\n### Quoted - 10:31\n```\n");
    let (entries, read) = last(&log.text, 2);
    assert_eq!(entries[1].title, "By hand");
    assert_eq!((entries[1].id, entries[1].verified), (None, false));
    assert_eq!(entries[0].title, "Step 2000 Execution");
    assert!(read <= 64 << 10);
}

#[test]
fn a_large_log_by_hand_is_not_read_whole() {
    let entry =
        "### Step 1 Execution - 10:30\n- **status**: COMPLETED\n\n```\n### no - 10:30\n```\n";
    let text = "# Log\n".to_owned() + &entry.repeat(60_000);
    assert!(text.len() > 4 << 20);
    let (entries, read) = last(&text, 2);
    assert_eq!(entries.len(), 2);
    assert!(entries.iter().all(|entry| entry.title == "Step 1 Execution"));
    assert!(read < 3 << 20, "{read}");
}

#[test]
fn a_signed_entry_behind_a_large_log_by_hand_is_cheap() {
    let by_hand = "### By hand - 10:30\n- **notes**: a line of some length for the size of it\n\n";
    let mut log = Log::of(1);
    log.text.push_str(&by_hand.repeat(500_000));
    log.add("Signed", &[]);
    assert!(log.text.len() > 32 << 20);
    let (entries, read) = last(&log.text, 3);
    let titles: Vec<&str> = entries.iter().map(|entry| entry.title.as_str()).collect();
    assert_eq!(titles, ["By hand", "By hand", "Signed"]);
    assert!(read < 24 << 20, "{read}");
}

#[test]
fn an_entry_larger_than_a_window_is_found() {
    let mut log = Log::of(3);
    let value = "line\n".repeat(100_000);
    log.add("Large", &[("value", &value)]);
    for limit in 1..=4 {
        let (entries, _) = last(&log.text, limit);
        assert_eq!(entries.len(), limit);
        assert_eq!(entries[limit - 1].fields[0].1, value);
        assert!(entries.iter().all(|entry| entry.verified));
    }
}

#[test]
fn a_window_that_starts_inside_a_fence_is_not_misread() {
    let mut log = Log::new();
    log.text.push_str("\n```\n");
    log.text.push_str(&"### Quoted - 10:30\n".repeat(10_000));
    log.text.push_str("```\n");
    log.add("Note 1", &[("a", "x\ny")]);
    log.text.push_str("\n```\n### Quoted - 10:30\n```\n");
    log.add("Note 2", &[]);
    let titles: Vec<String> = last(&log.text, 5).0.into_iter().map(|entry| entry.title).collect();
    assert_eq!(titles, ["Note 1", "Note 2"]);
}

#[test]
fn the_last_entries_can_be_chosen() {
    let mut log = Log::of(500);
    log.add("Turn 1", &[]);
    let mut log = {
        log.facts = scan_facts(&log.text);
        log
    };
    for _ in 0..500 {
        log.add("Note", &[("mode", "SIMULATION")]);
    }
    let reader = Cursor::new(log.text.as_bytes());
    let turns = last_entries_where(reader, 1, |entry| entry.kind == EntryKind::Turn).unwrap();
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].title, "Turn 1");
    let reader = Cursor::new(log.text.as_bytes());
    let real = last_entries_where(reader, 2, |entry| !entry.simulation).unwrap();
    assert_eq!(real[1].title, "Turn 1");
    assert_eq!(real[0].step_number(), Some(500));
}

#[test]
fn a_changed_entry_is_read_and_not_verified() {
    let log = Log::of(2);
    let text = log.text.replacen("COMPLETED", "FAILED", 1);
    let entries = all_entries(&text);
    assert_eq!((entries[0].verified, entries[1].verified), (false, true));
    assert_eq!(entries[0].field("STATUS"), Some("FAILED"));
}

#[test]
fn a_search_looks_into_titles_and_values_in_any_case() {
    let mut log = Log::of(5);
    log.add("SearchResult the Needle", &[]);
    log.add("Note", &[("notes", "a needle\nin a \"haystack\"")]);
    let found = search(log.text.as_bytes(), "NEEDLE", 10).unwrap();
    assert_eq!((found.total, found.entries.len()), (2, 2));
    let found = search(log.text.as_bytes(), "needle", 1).unwrap();
    assert_eq!((found.total, found.entries[0].title.as_str()), (2, "Note"));
    assert_eq!(search(log.text.as_bytes(), "needle\nin a \"hay", 10).unwrap().total, 1);
    assert_eq!(search(log.text.as_bytes(), "sha256", 10).unwrap().total, 0);
    assert_eq!(search(log.text.as_bytes(), "step 3", 10).unwrap().total, 1);
    assert_eq!(search(log.text.as_bytes(), &log.ids[0].to_string(), 10).unwrap().total, 1);
}

#[test]
fn an_entry_is_serialised_with_words() {
    let log = Log::of(1);
    let json = serde_json::to_value(&all_entries(&log.text)[0]).unwrap();
    assert_eq!(json["kind"], "step");
    assert_eq!(json["id"], log.ids[0].to_string());
    assert_eq!(json["fields"][0][1], "COMPLETED");
}
