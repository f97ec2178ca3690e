use proptest::prelude::*;
use serde_json::Value;

use crate::{
    diff::{Difference, canonical, compare, summary},
    domain::StateFile,
};

/// Lines that a state file may hold, and some that it should not.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "# Execution Plan: X",
            "## Metadata",
            "## Steps",
            "## Reviews",
            "### Key Findings",
            "### Step 1: A",
            "### Step 2: B",
            "### Step 3: A",
            "- **id**: k3f9",
            "- **id**: b7xq",
            "- **status**: PENDING",
            "- **status**: DONE",
            "- **inputs**:",
            "  - **q**: 1",
            "  - bare",
            "- [ ] r1: ok?",
            "- [x] r1: ok? — approved by ada",
            "## Active Directives",
            "## Adaptation Rules",
            "## Behavioral Modifiers",
            "- **priority**: \"a\"",
            "- For the next 2 steps, be brief",
            "- For the next 1 step, be brief",
            "- If cost > 1 → pause",
            "text",
            "",
            "```",
            "<!-- note -->",
            "---",
            "> quote",
            "#### Sub",
            "- **status**: PENDING <!-- c -->",
            "  more of it",
            "\ttab",
            "### Step 1 Execution - 2026-01-15T09:00:00Z",
            "- **errors**: none",
            "\u{202e}rtl",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,12}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    let ends = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r"]);
    prop::collection::vec((line(), ends), 0..25)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

/// Two texts that mostly have their lines in common.
fn versions() -> impl Strategy<Value = (String, String)> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, line()), 0..5);
    (text(), edits).prop_map(|(before, edits)| {
        let mut lines: Vec<String> = before.split_inclusive('\n').map(str::to_owned).collect();
        for (at, kind, line) in edits {
            let at = at.index(lines.len() + 1);
            match kind {
                0 => lines.insert(at, line + "\n"),
                1 if at < lines.len() => drop(lines.remove(at)),
                2 if at < lines.len() => lines[at] = line + "\n",
                3 if at + 1 < lines.len() => lines.swap(at, at + 1),
                _ => {}
            }
        }
        (before, lines.concat())
    })
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        (0..4i64).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-d]", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// What a difference is about and its two sides, without what names it on one side only.
fn shape(difference: &Difference, mirrored: bool) -> String {
    let mut subject = serde_json::to_value(&difference.subject).unwrap();
    if let Some(members) = subject.as_object_mut() {
        for name in ["step", "text", "section", "why", "time"] {
            members.remove(name);
        }
    }
    let (mut before, mut after) = (&difference.before, &difference.after);
    if mirrored {
        std::mem::swap(&mut before, &mut after);
    }
    format!("{subject} {before:?} {after:?}")
}

fn shapes(differences: &[Difference], mirrored: bool) -> Vec<String> {
    let mut all: Vec<String> = differences.iter().map(|d| shape(d, mirrored)).collect();
    all.sort();
    all
}

const FILES: [StateFile; 6] = [
    StateFile::Plan,
    StateFile::Context,
    StateFile::Constraints,
    StateFile::Variables,
    StateFile::History,
    StateFile::Workflow,
];

fn hold(file: StateFile, before: &[u8], after: &[u8]) -> Result<(), TestCaseError> {
    let forth = compare(file, Some(before), Some(after));
    prop_assert_eq!(forth.is_empty(), before == after, "{}", file);
    prop_assert!(compare(file, Some(before), Some(before)).is_empty());
    let back = compare(file, Some(after), Some(before));
    prop_assert_eq!(shapes(&forth, false), shapes(&back, true), "{}", file);
    let summarised = summary(&forth);
    prop_assert_eq!(summarised.is_empty(), forth.is_empty());
    prop_assert!(
        summarised.iter().all(|line| !line.contains(['\n', '\r', '\u{1b}'])),
        "{:?}",
        summarised
    );
    let view = canonical(file, before);
    prop_assert_eq!(&view, &canonical(file, before));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn bytes_that_differ_are_reported_in_both_directions((before, after) in versions()) {
        for file in FILES {
            hold(file, before.as_bytes(), after.as_bytes())?;
        }
    }

    #[test]
    fn any_two_texts_are_reported(before in text(), after in text()) {
        for file in FILES {
            hold(file, before.as_bytes(), after.as_bytes())?;
        }
    }

    #[test]
    fn any_two_values_are_reported(before in json(), after in json(), pretty: bool) {
        let before = before.to_string();
        let after = if pretty { format!("{after:#}") } else { after.to_string() };
        hold(StateFile::Variables, before.as_bytes(), after.as_bytes())?;
        let differences = compare(StateFile::Variables, Some(before.as_bytes()), Some(after.as_bytes()));
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let layout = |d: &Difference| matches!(d.subject, crate::diff::Subject::Layout { .. });
        prop_assert_eq!(parsed(&before) == parsed(&after), differences.iter().all(layout));
    }

    #[test]
    fn any_bytes_are_reported(before in prop::collection::vec(any::<u8>(), 0..40),
                          after in prop::collection::vec(any::<u8>(), 0..40)) {
        for file in FILES {
            hold(file, &before, &after)?;
        }
    }
}

#[test]
fn a_comparison_that_only_looks_at_meaning_would_be_caught() {
    // The control: without the words about layout, these two would look the same.
    let (before, after) = ("# C\n\n- a\n", "# C\n- a\n");
    let found = compare(StateFile::Context, Some(before.as_bytes()), Some(after.as_bytes()));
    let layout = |d: &Difference| matches!(d.subject, crate::diff::Subject::Layout { .. });
    assert!(!found.is_empty() && found.iter().all(layout));
}

#[test]
fn an_item_that_became_a_review_is_reported_in_both_directions() {
    let before = "## Active Directives\n- [x] r1: ok? — approved by ada\n# Execution Plan: X\n";
    let after = "## Reviews\n- [x] r1: ok? — approved by ada\n0\n# Execution Plan: X\n";
    for file in FILES {
        hold(file, before.as_bytes(), after.as_bytes()).unwrap();
    }
    for (before, after) in [(before, after), (after, before)] {
        let found = compare(StateFile::Plan, Some(before.as_bytes()), Some(after.as_bytes()));
        let summarised = |kind: &str| found.iter().any(|d| shape(d, false).contains(kind));
        for kind in ["\"section_field\"", "\"review\"", "\"section_title\""] {
            assert!(summarised(kind), "{kind} in {found:?}");
        }
    }
}
