//! Logs by hand, and text by hand in our logs.

use super::*;

const BY_HAND: &str = "# Execution History: Goal

## Step Execution Log

### Step 1 Execution - 2024-01-15T10:30:00Z
- **component_used**: fetcher
- **actual_cost**: $0.02
- **actual_time**: 12s
- **errors**: none

### Step 2 Execution - 2024-01-15 10:31
- status: failed
- **real_inputs**:
  - url: x

## Training Data Collection
- **conversation_trace**: none
";

#[test]
fn text_by_hand_is_not_damage() {
    let result = check(BY_HAND);
    assert!(result.is_intact());
    assert_eq!((result.entries, result.unsigned), (0, 2));
    assert!(check("").is_intact());
    assert!(check("\u{feff}").is_intact());
}

#[test]
fn a_log_that_is_not_the_last_section_is_continued_once() {
    let mut log = Log::starting_with(BY_HAND);
    assert!(!log.facts.last_section_is_log);
    log.add("Step 3 Execution", &[("status", "COMPLETED")]);
    log.add("Step 4 Execution", &[("status", "COMPLETED")]);
    assert!(log.text.contains("none\n\n## Step Execution Log (continued)\n\n### Step 3"));
    assert_eq!(log.text.matches("(continued)").count(), 1);
    assert!(check(&log.text).is_intact());
    assert_eq!(all_entries(&log.text).len(), 4);
}

#[test]
fn a_file_without_any_log_gets_one() {
    for text in ["", "# Notes\n", "no heading", "Appendix\n--------\n\ntext"] {
        let mut log = Log::starting_with(text);
        log.add("Note", &[]);
        assert!(log.text.contains("\n## Step Execution Log\n\n### Note\n"), "{}", log.text);
        assert!(check(&log.text).is_intact());
    }
}

#[test]
fn an_underlined_heading_is_a_section_too() {
    let mut log = Log::starting_with("Execution Log\n---\n");
    assert!(log.facts.last_section_is_log);
    assert_eq!(log.facts.log_heading("\n"), None);
    log = Log::starting_with("# Execution Log\n\nAppendix\n---\n");
    assert!(!log.facts.last_section_is_log);
    log = Log::starting_with("# Execution Log\n\n- Appendix\n---\n\n---\n");
    assert!(log.facts.last_section_is_log);
}

#[test]
fn text_between_entries_is_not_damage() {
    let log = Log::of(3);
    let (head, entries) = log.parts();
    let text = [
        &head,
        "\nintro\n",
        &entries[0],
        "remark\n\n### Thoughts\n- x: y\n",
        &entries[1],
        "\n### By hand - 2026-01-01 10:00\n- a: b\n",
        &entries[2],
    ]
    .concat();
    let result = check(&text);
    assert!(result.is_intact(), "{:?}", result.problems);
    assert_eq!((result.entries, result.unsigned), (3, 1));
    assert_eq!(scan_facts(&text).heads, [log.ids[2]]);
}

#[test]
fn a_quotation_in_a_fence_is_text() {
    let log = Log::of(2);
    let (head, entries) = log.parts();
    for fence in ["````", "~~~"] {
        let quote =
            format!("\n{fence}markdown\n{}\n### Quoted - 2026-01-01 10:00\n{fence}\n", entries[0]);
        for text in
            [[head.as_str(), &quote, &entries[0], &entries[1]].concat(), log.text.clone() + &quote]
        {
            let result = check(&text);
            assert!(result.is_intact(), "{fence} {:?}", result.problems);
            assert_eq!((result.entries, result.unsigned), (2, 0));
            assert_eq!(scan_facts(&text).counts.entries, 2);
        }
    }
}

#[test]
fn a_malformed_trailer_in_a_fence_is_text() {
    let log = Log::of(2);
    let text = log.text.clone() + "\n```\n<!-- statedir entry=x -->\n```\n";
    assert!(check(&text).is_intact());
    let text = log.text + "\n<!-- statedir entry=x -->\n";
    assert_eq!(kinds(&check(&text)), [ProblemKind::Malformed]);
}

#[test]
fn a_fence_that_was_left_open_is_closed_before_an_entry() {
    for (text, close) in
        [("# Log\n\n~~~~\ncode", "~~~~"), ("# Log\n```sh\n", "```"), ("# Log\n<!-- note\n", "-->")]
    {
        let mut log = Log::starting_with(text);
        log.add("Note", &[("text", "a\n```\nb")]);
        assert!(log.text.starts_with(&format!("{text}\n{close}\n\n### Note")), "{}", log.text);
        assert!(check(&log.text).is_intact());
        assert_eq!(scan_facts(&log.text), log.facts);
    }
    let log = Log::starting_with("# Log\n- a\n  ```\n  code\n");
    assert_eq!(log.facts.log_heading("\n"), None);
}

#[test]
fn an_open_fence_above_a_log_hides_no_entry() {
    let mut log = Log::new();
    log.add("Note 1", &[("a", "plain")]);
    log.add("Note 2", &[("a", "x\n```\ny\n````\nz"), ("b", "1\n2"), ("c", "```\n")]);
    log.add("Note 3", &[("a", "x\ny")]);
    log.add("Note 4", &[("a", "plain")]);
    for fence in ["```", "````", "`````", "~~~", "<!--"] {
        let text = log.text.replacen(
            "## Step",
            &format!("### By hand - 10:30\n- a: b\n\n{fence}\n## Step"),
            1,
        );
        let result = check_with(&text, &log.ids);
        assert!(result.is_intact(), "{fence} {:?}", result.problems);
        assert_eq!((result.entries, result.unsigned), (4, 1), "{fence}");
        let entries = all_entries(&text);
        assert_eq!(entries[0].fields, [("a".to_owned(), "b".to_owned())], "{fence}");
        assert_eq!(entries[2].fields[0].1, "x\n```\ny\n````\nz", "{fence}");
    }
}

#[test]
fn so_much_in_one_fence_is_not_a_quotation() {
    let mut log = Log::new();
    let value = "x".repeat(1 << 20);
    for _ in 0..6 {
        log.add("Note", &[("value", &value)]);
    }
    let text = log.text.replacen("## Step", "```\n## Step", 1) + "```\n";
    assert_eq!(check(&text).entries, 6);
}

#[test]
fn bytes_that_are_not_text_do_no_harm() {
    let mut bytes = b"# Log\n\n### Odd \xff - 10:30\n- **a\xfe**: \xfd\n\0\r\r\n".to_vec();
    bytes.extend_from_slice(Log::of(1).text.as_bytes());
    let result = verify(bytes.as_slice(), &[], &mut |_| {}).unwrap();
    assert!(result.is_intact());
    assert_eq!((result.entries, result.unsigned), (1, 1));
    assert_eq!(search(bytes.as_slice(), "odd", 9).unwrap().total, 1);
}

#[test]
fn entries_by_date_are_listed_and_searched() {
    let text = "# History\n\n- 2024-01-15: Began with the parser\n  It was slow.\n- 2024-01-16 10:30 Made it fast\n\n\
                ## 2024-01-17\n- measured the lexer\n- no date here\n\n### 2024-01-18: Shipped\nTo everybody.\n\n\
                ## Notes\n- later: 2024\n```\n- 2024-01-19: quoted\n```\n";
    let listed: Vec<(String, Option<String>)> =
        all_entries(text).into_iter().map(|entry| (entry.title, entry.time)).collect();
    let entry = |title: &str, time: &str| (title.to_owned(), Some(time.to_owned()));
    assert_eq!(
        listed,
        [
            entry("Began with the parser", "2024-01-15"),
            entry("Made it fast", "2024-01-16 10:30"),
            entry("measured the lexer", "2024-01-17"),
            entry("Shipped", "2024-01-18"),
        ]
    );
    for (word, title) in [("slow", "Began with the parser"), ("everybody", "Shipped")] {
        let found = search(text.as_bytes(), word, 9).unwrap();
        assert_eq!(found.entries.len(), 1, "{word}");
        assert_eq!((found.entries[0].title.as_str(), found.entries[0].id), (title, None));
    }
    let mut log = Log::starting_with(text);
    log.add("Step 3 Execution", &[("status", "COMPLETED"), ("notes", "- 2024-01-20: a field")]);
    let result = check(&log.text);
    assert!(result.is_intact(), "{:?}", result.problems);
    assert_eq!((result.entries, result.unsigned), (1, 4));
    assert_eq!(scan_facts(&log.text), log.facts);
}
