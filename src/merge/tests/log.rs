//! Histories: no entry is lost, changed or put in the wrong place.

use proptest::prelude::*;

use super::merged;
use crate::domain::StateFile;
use crate::history::{EntryId, HistoryFacts, NewEntry, render, verify};

const HEAD: &str = "# Execution History: T\n\nIt grows.\n\n## Step Execution Log\n";

/// Appends an entry that follows all heads, as a command does.
fn append(log: &mut String, title: &str, millis: u64) -> EntryId {
    let facts = HistoryFacts::scan(log.as_bytes(), &mut |_| {}).unwrap();
    let entry = NewEntry {
        title: title.to_owned(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        fields: vec![("notes".to_owned(), "### Step 9\n- text".to_owned())],
    };
    let newline = if log.contains("\r\n") { "\r\n" } else { "\n" };
    let rendered = render(&entry, millis, &facts.heads, newline).unwrap();
    log.push_str(&rendered.text);
    rendered.id
}

fn check(log: &str) -> (u64, Vec<EntryId>) {
    let found = verify(log.as_bytes(), &[], &mut |_| {}).unwrap();
    assert!(found.is_intact(), "{:?}\n{log}", found.problems);
    (found.entries, found.heads)
}

#[test]
fn entries_are_united_and_the_next_names_both_heads() {
    let mut base = HEAD.to_owned();
    append(&mut base, "Base", 1);
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    append(&mut ours, "Ours 1", 2);
    let our_head = append(&mut ours, "Ours 2", 5);
    let their_head = append(&mut theirs, "Theirs 1", 3);
    let (mut text, conflicts) = merged(StateFile::History, &base, &ours, &theirs);
    assert!(conflicts.is_empty());
    assert_eq!(check(&text), (4, vec![their_head, our_head]));
    let next = append(&mut text, "Next", 9);
    assert_eq!(check(&text), (5, vec![next]));
}

#[test]
fn entries_by_hand_are_united_by_what_they_say() {
    let hand = |text: &str| {
        format!("\n### Step 1 Execution - 2026-01-01T00:00:00Z\n- **notes**: {text}\n")
    };
    let base = HEAD.to_owned() + &hand("base");
    let ours = base.clone() + &hand("same") + &hand("ours");
    let theirs = base.clone() + &hand("same") + &hand("theirs");
    let (text, _) = merged(StateFile::History, &base, &ours, &theirs);
    for (word, count) in [("base", 1), ("same", 1), ("ours", 1), ("theirs", 1)] {
        assert_eq!(text.matches(&format!("notes**: {word}\n")).count(), count, "{text}");
    }
}

#[test]
fn an_entry_that_was_written_twice_by_hand_stays_twice() {
    let hand = "\n### Step 1 Execution - 2026-01-01T00:00:00Z\n- **notes**: again\n";
    let base = HEAD.to_owned() + hand;
    let (text, _) = merged(
        StateFile::History,
        &base,
        &(base.clone() + hand),
        &base.replace("It grows", "Grows"),
    );
    assert_eq!(text.matches("again").count(), 2, "{text}");
}

#[test]
fn an_entry_removed_on_one_side_stays_and_a_damaged_one_is_replaced() {
    let mut base = HEAD.to_owned();
    append(&mut base, "One", 1);
    append(&mut base, "Two", 2);
    let cut = base[base.find("\n### Two").unwrap()..].to_owned();
    let mut theirs = base.clone();
    append(&mut theirs, "Three", 3);
    let (text, _) = merged(StateFile::History, &base, &base.replace(&cut, ""), &theirs);
    assert_eq!(check(&text).0, 3);
    let forged = base.replace("### One", "### Changed");
    let (text, _) = merged(StateFile::History, &base, &forged, &theirs);
    assert_eq!(check(&text).0, 3, "{text}");
}

#[test]
fn the_control_sees_a_lost_and_a_torn_entry() {
    let mut base = HEAD.to_owned();
    append(&mut base, "One", 1);
    let mut theirs = base.clone();
    append(&mut theirs, "Two", 2);
    append(&mut theirs, "Three", 3);
    let cut =
        theirs[theirs.find("\n### Two").unwrap()..theirs.find("\n### Three").unwrap()].to_owned();
    let found = verify(theirs.replace(&cut, "").as_bytes(), &[], &mut |_| {}).unwrap();
    assert!(!found.is_intact());
    let found = verify(theirs.replace("### Two", "### Too").as_bytes(), &[], &mut |_| {}).unwrap();
    assert!(!found.is_intact());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_web_of_merges_verifies_and_loses_nothing(
        moves in prop::collection::vec((0usize..3, 0usize..3, any::<bool>(), 1u64..50), 1..14),
        crlf in any::<bool>(),
    ) {
        let head = if crlf { HEAD.replace('\n', "\r\n") } else { HEAD.to_owned() };
        let mut branches = [head.clone(), head.clone(), head.clone()];
        let mut ids: Vec<Vec<EntryId>> = vec![Vec::new(); 3];
        for (number, (one, other, is_merge, millis)) in moves.into_iter().enumerate() {
            if is_merge && one != other {
                // The oldest common base, as a criss-cross gives.
                let (text, conflicts) = merged(StateFile::History, &head, &branches[one], &branches[other]);
                prop_assert!(conflicts.is_empty());
                branches[one] = text;
                let new: Vec<EntryId> = ids[other].iter().filter(|id| !ids[one].contains(id)).copied().collect();
                ids[one].extend(new);
            } else {
                let id = append(&mut branches[one], &format!("Entry {number}"), millis);
                ids[one].push(id);
            }
            let (count, _) = check(&branches[one]);
            prop_assert_eq!(count as usize, ids[one].len());
            prop_assert_eq!(branches[one].contains("\r\n"), crlf);
        }
    }
}
