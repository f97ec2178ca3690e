//! Every way to tamper with a log is found.

use super::super::{trailer::control::without_digests, verify::MAX_PROBLEMS};
use super::*;

#[test]
fn a_log_as_it_was_written_is_intact() {
    let log = Log::of(5);
    let result = check_with(&log.text, &log.ids);
    assert!(result.is_intact(), "{:?}", result.problems);
    assert_eq!(result.entries, 5);
    assert_eq!(result.heads, [log.ids[4]]);
    assert_eq!(result.unsigned, 0);
}

#[test]
fn a_change_of_any_byte_of_an_entry_is_found() {
    any_change_is_found(&Log::of(3));
    any_change_is_found(&Log::of_older(3));
}

fn any_change_is_found(log: &Log) {
    let (head, entries) = log.parts();
    let start = head.len() + entries[0].len() + 1;
    let end = start + entries[1].len() - 2;
    let bytes = log.text.as_bytes();
    for at in start..end {
        for new in [bytes[at] ^ 1, b'\n', b' ', b'#'] {
            if new == bytes[at] {
                continue;
            }
            let mut changed = bytes.to_vec();
            changed[at] = new;
            let result = verify(changed.as_slice(), &[], &mut |_| {}).unwrap();
            assert!(!result.is_intact(), "byte {at} `{}`", char::from(bytes[at]));
        }
    }
}

#[test]
fn nul_bytes_are_found_wherever_they_are() {
    let log = Log::of(3);
    let (head, entries) = log.parts();
    let lost = "\0".repeat(300);
    for at in [0, head.len(), head.len() + entries[0].len(), log.text.len()] {
        let mut text = log.text.clone();
        text.insert_str(at, &lost);
        let result = check_with(&text, &log.ids);
        let problem = result.problems.iter().find(|problem| problem.message.contains("NUL"));
        assert!(problem.is_some_and(|problem| problem.line.is_some()), "{at}: {result:?}");
    }
}

#[test]
fn removing_any_byte_of_an_entry_is_found() {
    for log in [Log::of(3), Log::of_older(3)] {
        let (head, entries) = log.parts();
        let start = head.len() + entries[0].len() + 1;
        for at in start..start + entries[1].len() - 2 {
            let mut changed = log.text.clone().into_bytes();
            changed.remove(at);
            let result = verify(changed.as_slice(), &[], &mut |_| {}).unwrap();
            assert!(!result.is_intact(), "byte {at}");
        }
    }
}

#[test]
fn older_entries_and_new_ones_prove_one_another() {
    let mut log = Log::of_older(3);
    log.add("Step 4 Execution", &[("status", "COMPLETED")]);
    log.add("Note", &[("notes", "said")]);
    let (head, entries) = log.parts();
    assert!(entries[2].contains("sha256=") && !entries[3].contains("sha256="));
    let result = check_with(&log.text, &log.ids);
    assert!(result.is_intact(), "{:?}", result.problems);
    assert_eq!((result.entries, result.heads), (5, vec![log.ids[4]]));
    for at in 0..4 {
        let mut without = entries.clone();
        without.remove(at);
        let result = check(&(head.clone() + &without.concat()));
        assert_eq!(kinds(&result), [ProblemKind::Missing { named_by: log.ids[at + 1] }], "{at}");
    }
    let changed = log.text.replacen("first", "worst", 1);
    assert_eq!(kinds(&check(&changed)), [ProblemKind::Changed]);
}

#[test]
fn a_changed_entry_is_named_with_its_place() {
    let log = Log::of(3);
    let changed = log.text.replacen("first", "worst", 2).replacen("worst", "first", 1);
    let result = check(&changed);
    assert_eq!(kinds(&result), [ProblemKind::Changed]);
    assert_eq!(result.problems[0].entry, Some(log.ids[1]));
    let offset = usize::try_from(result.problems[0].offset.unwrap()).unwrap();
    assert!(changed[offset..].starts_with("### Step 2 Execution"));
    let line = changed[..offset].matches('\n').count() as u64 + 1;
    assert_eq!(result.problems[0].line, Some(line));
}

#[test]
fn without_the_digests_a_change_is_missed() {
    let log = Log::of(3);
    let changed = log.text.replacen("first", "worst", 1);
    assert!(!check(&changed).is_intact());
    assert!(without_digests(|| check(&changed)).is_intact());
}

#[test]
fn an_entry_that_was_changed_and_signed_again_is_found() {
    let log = Log::of(3);
    let (head, mut entries) = log.parts();
    let mut forged = new_entry("Step 2 Execution", &[("status", "FAILED")]);
    let millis = log.ids[1].0.millis();
    entries[1] = render(&forged, millis, &[log.ids[0]], "\n").unwrap().text;
    let result = check(&(head.clone() + &entries.concat()));
    assert_eq!(kinds(&result), [ProblemKind::Missing { named_by: log.ids[2] }]);
    assert_eq!(result.problems[0].entry, Some(log.ids[1]));

    forged.title = "Step 3 Execution".to_owned();
    let (_, mut entries) = log.parts();
    entries[2] = render(&forged, log.ids[2].0.millis(), &[log.ids[1]], "\n").unwrap().text;
    let result = check_with(&(head + &entries.concat()), &[log.ids[2]]);
    assert_eq!(kinds(&result), [ProblemKind::CutTail]);
}

#[test]
fn a_removed_entry_is_found() {
    let log = Log::of(4);
    let (head, mut entries) = log.parts();
    entries.remove(1);
    let result = check(&(head + &entries.concat()));
    assert_eq!(kinds(&result), [ProblemKind::Missing { named_by: log.ids[2] }]);
    assert_eq!(result.problems[0].entry, Some(log.ids[1]));
    assert_eq!(result.heads, [log.ids[0], log.ids[3]]);
}

#[test]
fn a_removed_first_entry_is_found() {
    let log = Log::of(3);
    let (head, mut entries) = log.parts();
    entries.remove(0);
    assert_eq!(
        kinds(&check(&(head + &entries.concat()))),
        [ProblemKind::Missing { named_by: log.ids[1] }]
    );
}

#[test]
fn swapped_entries_are_found() {
    for (a, b) in [(0, 1), (1, 2), (0, 3), (2, 3)] {
        let log = Log::of(4);
        let (head, mut entries) = log.parts();
        entries.swap(a, b);
        let result = check(&(head + &entries.concat()));
        assert!(kinds(&result).contains(&ProblemKind::Reordered), "{a} {b}");
        assert!(kinds(&result).iter().all(|kind| *kind == ProblemKind::Reordered), "{a} {b}");
        assert_eq!(result.heads, [log.ids[3]]);
    }
}

#[test]
fn a_duplicated_entry_is_found() {
    let log = Log::of(3);
    let (head, mut entries) = log.parts();
    entries.push(entries[0].clone());
    let result = check(&(head + &entries.concat()));
    assert_eq!(kinds(&result), [ProblemKind::Duplicate]);
    assert_eq!(result.problems[0].entry, Some(log.ids[0]));
    assert_eq!(result.heads, [log.ids[2]]);
}

#[test]
fn a_cut_tail_is_found_by_its_anchor() {
    let log = Log::of(3);
    let (head, mut entries) = log.parts();
    entries.pop();
    let cut = head + &entries.concat();
    assert!(check(&cut).is_intact());
    let result = check_with(&cut, &[log.ids[2]]);
    assert_eq!(kinds(&result), [ProblemKind::CutTail]);
    assert_eq!(result.problems[0].entry, Some(log.ids[2]));
    assert!(check_with(&log.text, &log.ids).is_intact());
}

#[test]
fn a_file_that_ends_inside_a_trailer_is_cut() {
    for log in [Log::of(2), Log::of_older(2)] {
        let start = log.text.rfind("<!-- ").unwrap();
        for end in start + 6..log.text.len() - 2 {
            let result = check(&log.text[..end]);
            assert_eq!(kinds(&result), [ProblemKind::CutTail], "{}", &log.text[start..end]);
        }
        assert!(check(log.text.trim_end()).is_intact());
    }
}

#[test]
fn every_truncation_is_found_by_the_anchors() {
    let log = Log::of(2);
    for end in (0..log.text.len() - 1).filter(|end| log.text.is_char_boundary(*end)) {
        assert!(!check_with(&log.text[..end], &log.ids).is_intact(), "{end}");
    }
}

#[test]
fn an_edited_trailer_is_found() {
    let (log, older) = (Log::of(3), Log::of_older(3));
    let second = log.ids[1].to_string();
    let of_older = older.ids[1].to_string();
    let other = EntryId(Ulid::new(1, [7; 10])).to_string();
    let edits = [
        log.text.replacen(&format!("<!-- {second}"), &format!("<!-- {other}"), 1),
        log.text.replacen(&format!(" after {second}"), "", 1),
        log.text.replacen(&format!("after {second}"), &format!("after {}", log.ids[0]), 1),
        log.text.replacen(" after ", " before ", 1),
        log.text.replacen(" -->", "", 1),
        log.text.replacen("<!-- 0", "<!--  0", 1),
        log.text.replacen("<!-- 0", "<!--0", 1),
        log.text.replacen("<!-- 0", " <!-- 0", 1),
        log.text.replacen("<!-- 0", "x\n<!-- 0", 1),
        older.text.replacen(&format!("entry={of_older}"), &format!("entry={other}"), 1),
        older.text.replacen(&format!("after={of_older}"), "after=-", 1),
        older.text.replacen(&format!("after={of_older}"), &format!("after={}", older.ids[0]), 1),
        older.text.replacen("lines=", "lines=1", 1),
        older.text.replacen(" sha256=", " sha1=", 1),
        older.text.replacen("<!-- statedir entry", "<!-- statedir  entry", 1),
        older.text.replacen("<!-- statedir entry", "<!--statedir entry", 1),
        older.text.replacen("<!-- statedir entry", " <!-- statedir entry", 1),
        older.text.replacen("<!-- statedir entry", "x\n<!-- statedir entry", 1),
    ];
    for edited in edits {
        assert!(edited != log.text && edited != older.text);
        assert!(!check(&edited).is_intact(), "{edited}");
    }
}

#[test]
fn hiding_entries_in_a_fence_or_a_comment_is_found() {
    let log = Log::of(3);
    let (head, entries) = log.parts();
    for (open, close) in [("\n```\n", "\n```\n"), ("\n~~~~\n", "~~~~\n"), ("\n<!--\n", "\n-->\n")] {
        let text = [&head, open, &entries[0], &entries[1], close, &entries[2]].concat();
        let result = check(&text);
        assert!(result.entries == 3 || !result.is_intact(), "{open}");
        let text = [&head, open, &entries[0], &entries[1], &entries[2]].concat();
        let result = check(&text);
        assert!(result.is_intact(), "{open} {:?}", result.problems);
        assert_eq!(result.entries, 3, "{open}");
    }
}

#[test]
fn a_block_opened_inside_an_entry_hides_nothing() {
    let log = Log::of(3);
    for line in ["```\n", "~~~\n", "<!--\n", "<details>\n", "  ```\n", "- ```\n"] {
        let text = log
            .text
            .replacen("- **errors**", &format!("{line}- **errors**"), 2)
            .replacen(line, "", 1);
        let result = check(&text);
        assert_eq!(result.entries, 3, "{line}");
        assert_eq!(kinds(&result), [ProblemKind::Changed], "{line}");
        assert_eq!(result.problems[0].entry, Some(log.ids[1]), "{line}");
    }
}

#[test]
fn problems_are_capped_and_counted() {
    let log = Log::of(150);
    let result = check(&log.text.replace("COMPLETED", "FAILED"));
    assert_eq!(result.problems.len(), MAX_PROBLEMS);
    assert_eq!(result.problem_count, 150);
}

#[test]
fn two_branches_unite_without_an_edit() {
    let base = Log::of(2);
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    let a1 = ours.add("Note a1", &[]);
    let a2 = ours.add("Note a2", &[]);
    let b1 = theirs.add("Note b1", &[]);
    let common = base.text.len();
    for united in [
        base.text.clone() + &ours.text[common..] + &theirs.text[common..],
        base.text.clone() + &theirs.text[common..] + &ours.text[common..],
    ] {
        let mut heads = vec![a2, b1];
        heads.sort();
        let result = check_with(&united, &[a1, a2, b1]);
        assert!(result.is_intact(), "{:?}", result.problems);
        assert_eq!(result.heads, heads);
        let mut log = Log::starting_with(&united);
        assert_eq!(log.facts.heads, heads);
        let joined = log.add("Note joined", &[]);
        let result = check(&log.text);
        assert!(result.is_intact());
        assert_eq!(result.heads, [joined]);
        assert_eq!(all_entries(&log.text).pop().unwrap().after, heads);
    }
}

#[test]
fn entries_of_two_branches_that_git_interleaved_are_found() {
    let base = Log::of(1);
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    ours.add("Note a", &[("x", "1"), ("y", "1")]);
    theirs.add("Note b", &[("x", "2"), ("y", "2")]);
    let (ours, theirs) = (&ours.text[base.text.len()..], &theirs.text[base.text.len()..]);
    let mixed: String = ours
        .split_inclusive('\n')
        .zip(theirs.split_inclusive('\n'))
        .map(|(a, b)| [a, b].concat())
        .collect();
    assert!(!check(&(base.text + &mixed)).is_intact());
}
