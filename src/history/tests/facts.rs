//! Facts are the same whether they are kept up to date or scanned anew.

use proptest::prelude::*;

use super::*;

#[test]
fn facts_count_what_the_entries_say() {
    let mut log = Log::new();
    log.add(
        "Step 1 Execution",
        &[
            ("status", "COMPLETED"),
            ("actual_cost", "$0.02"),
            ("actual_time", "1m 30s"),
            ("tool_used", "WebFetch"),
        ],
    );
    log.add(
        "Step 2 Execution",
        &[
            ("status", "FAILED"),
            ("actual_cost", "0.5 USD"),
            ("actual_time", "1500ms"),
            ("tool_used", "Write"),
        ],
    );
    log.add(
        "Step 2 Execution",
        &[("status", "failed"), ("file_operations", "3"), ("tool_used", "Write")],
    );
    log.add(
        "Step 3 Execution",
        &[("status", "SKIPPED"), ("web_requests", "2"), ("mode", "SIMULATION")],
    );
    log.add("Turn 1", &[("status", "COMPLETED"), ("actual_cost", "lots")]);
    log.add("Checked it", &[("kind", "review")]);
    let facts = &log.facts;
    assert_eq!((facts.counts.entries, facts.unsigned), (6, 0));
    assert_eq!((facts.counts.completed, facts.counts.failed, facts.counts.skipped), (1, 2, 1));
    assert_eq!(facts.counts.consecutive_failures, 2);
    assert_eq!(facts.counts.cost_micros, 520_000);
    assert_eq!(facts.counts.time_ms, 91_500);
    assert_eq!((facts.counts.file_operations, facts.counts.web_requests), (4, 3));
    assert_eq!(
        (facts.counts.steps, facts.counts.turns, facts.counts.reviews, facts.counts.notes),
        (4, 1, 1, 0)
    );
    assert_eq!(facts.counts.simulated, 1);
    assert_eq!(facts.valid_len, log.text.len() as u64);
    assert_eq!(*facts, scan_facts(&log.text));
    log.add("Step 2 Execution", &[("status", "COMPLETED")]);
    assert_eq!(log.facts.counts.consecutive_failures, 0);
}

#[test]
fn a_value_that_looks_like_fields_counts_nothing() {
    let mut log = Log::new();
    log.add(
        "Note",
        &[(
            "notes",
            "x\n- **actual_cost**: $5\n### Step 1 Execution - 10:30\n- **status**: FAILED",
        )],
    );
    assert_eq!(log.facts.counts.cost_micros, 0);
    assert_eq!(
        (log.facts.counts.notes, log.facts.counts.steps, log.facts.counts.failed),
        (1, 0, 0)
    );
}

#[test]
fn sums_of_absurd_amounts_do_not_overflow() {
    let mut log = Log::new();
    for _ in 0..3 {
        log.add(
            "Note",
            &[
                ("actual_cost", "$9000000000000"),
                ("actual_time", "200000000000d"),
                ("file_operations", "18446744073709551615"),
            ],
        );
    }
    assert_eq!(log.facts.counts.cost_micros, i64::MAX);
    assert_eq!(log.facts.counts.time_ms, u64::MAX);
    assert_eq!(log.facts.counts.file_operations, u64::MAX);
}

#[test]
fn facts_survive_their_cache() {
    let mut log = Log::starting_with("# Log\n```\nopen");
    let text = serde_json::to_string(&log.facts).unwrap();
    assert_eq!(serde_json::from_str::<HistoryFacts>(&text).unwrap(), log.facts);
    log.add("Note", &[]);
    let text = serde_json::to_string(&log.facts).unwrap();
    assert_eq!(serde_json::from_str::<HistoryFacts>(&text).unwrap(), log.facts);
}

#[test]
fn what_could_change_the_text_above_is_not_a_continuation() {
    let log = Log::of(1);
    for appended in [
        "- **more**: x\n",
        "\n- **more**: x\n",
        "\ntext",
        "x\n### a - 10:30\n",
        "\n```\n\n### a - 10:30\n",
    ] {
        let mut facts = log.facts.clone();
        assert!(
            matches!(facts.update(appended), Err(HistoryError::NoContinuation)),
            "{appended:?}"
        );
        assert_eq!(facts, log.facts);
    }
    let mut facts = log.facts.clone();
    facts.update("").unwrap();
    assert_eq!(facts, log.facts);
}

fn texts_by_hand() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "# Title\n",
        "## Step Execution Log\n",
        "## Other\n",
        "### Step 1 Execution - 10:30\n",
        "### x\n",
        "- status: FAILED\n",
        "- **actual_cost**: $1\n",
        "- **a**:\n",
        "  ```\n",
        "```\n",
        "````\n",
        "~~~\n",
        "text\n",
        "---\n",
        "\n",
        "<!--\n",
        "-->\n",
        "<!-- statedir \n",
        "<!-- 01M7KWGDRP5DCZP62ET8P3YDJ8 x\n",
        "*2026-01-01 · ada* — said\n",
        "### ✗ Step 2: b (5m): c\n",
        "<!-- statedir entry=x -->\n",
        "  - b: c\n",
        "    ```\n",
        "1. x\n",
        "Log\n",
    ]);
    let last = prop::sample::select(vec![
        "", "text", "<!-- st", "<!-- 01M7", "<!-- statedir x", "```", "- status: FAILED", "  ```",
        "---", "x\r",
    ]);
    (prop::collection::vec(line, 0..12), last).prop_map(|(lines, last)| lines.concat() + last)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn kept_facts_equal_scanned_facts(
        text in texts_by_hand(),
        entries in prop::collection::vec(prop::collection::vec("a|x\ny|```\n|~~~\n\n````|\"|<!--\n-->", 0..3), 1..4),
    ) {
        let mut log = Log::starting_with(&text);
        let before = log.facts.clone();
        for values in &entries {
            let fields: Vec<(&str, &str)> = values.iter().map(|value| ("status", value.as_str())).collect();
            log.add("Step 1 Execution", &fields);
            prop_assert_eq!(&log.facts, &scan_facts(&log.text), "{}", &log.text);
        }
        let signed = |facts: &HistoryFacts| facts.counts.entries - facts.unsigned;
        prop_assert_eq!(signed(&log.facts), signed(&before) + entries.len() as u64);
        let result = check_with(&log.text, &log.ids);
        prop_assert_eq!(result.entries, signed(&log.facts));
        prop_assert_eq!(&result.heads, &log.facts.heads);
        prop_assert!(!kinds(&result).contains(&ProblemKind::Changed), "{:?}\n{}", result.problems, &log.text);
        prop_assert_eq!(result.unsigned, log.facts.unsigned);
    }
}
