//! The notation for people: what it says, and that it never says anything but what was given.

use proptest::prelude::*;

use super::*;

/// The fields of an execution, as the workspace gives them, with these among them.
fn execution(changed: &[(&str, &str)]) -> Vec<(String, String)> {
    let usual = [
        ("step", "k3f9"),
        ("title", "Write a compatibility shim"),
        ("status", "FAILED"),
        ("attempt", "2"),
        ("actor", "ada"),
        ("component_used", "shim"),
        ("actual_cost", "$0.02"),
        ("actual_time", "15m"),
        ("errors", "mypy: 12 errors"),
        ("error_class", "execution_error"),
        ("state_changes", "step 4 RUNNING → FAILED"),
    ];
    let mut fields: Vec<(String, String)> = Vec::new();
    for (key, value) in usual.iter().chain(changed) {
        fields.retain(|(name, _)| name != key);
        if !value.is_empty() {
            fields.push(((*key).to_owned(), (*value).to_owned()));
        }
    }
    fields
}

fn entry(title: &str, fields: Vec<(String, String)>) -> NewEntry {
    NewEntry { title: title.to_owned(), time: "2026-11-16T08:00:00Z".to_owned(), fields }
}

/// The lines between the blank line and the trailer, after reading them back.
fn lines(entry: &NewEntry) -> Vec<String> {
    let rendered = render(entry, 5, &[], "\n").unwrap();
    let read = all_entries(&rendered.text).pop().unwrap();
    let mut fields = entry.fields.clone();
    journal::sort(&mut fields);
    assert!(read.fields == fields || read.fields == entry.fields, "{:?}", read.fields);
    assert_eq!((&read.title, read.time.as_ref()), (&entry.title, Some(&entry.time)));
    let lines: Vec<String> = rendered.text.lines().map(str::to_owned).collect();
    lines[1..lines.len() - 1].to_vec()
}

fn of_execution(changed: &[(&str, &str)]) -> Vec<String> {
    lines(&entry("Step 4 Execution", execution(changed)))
}

const FAILED: &str = "### ✗ Step 4: Write a compatibility shim (15m, $0.02): mypy: 12 errors";
const QUIET: &str = "*2026-11-16 08:00:00 UTC · ada · attempt 2 · component shim · class execution_error · id k3f9*";

#[test]
fn an_execution_is_reported_in_two_lines() {
    assert_eq!(of_execution(&[]), [FAILED, QUIET]);
    let noted = format!("{QUIET} — the stubs are too old");
    assert_eq!(of_execution(&[("notes", "the stubs are too old")]), [FAILED, &noted]);
}

#[test]
fn only_what_changed_beside_the_step_is_listed() {
    let changes = "step 4 RUNNING → FAILED; plan A → B; context.md Key Findings";
    let lines = of_execution(&[("state_changes", changes)]);
    assert_eq!(lines[2], "- **state_changes**: plan A → B; context.md Key Findings");
}

#[test]
fn a_skipped_step_has_no_attempt_and_another_move_is_reported() {
    let skipped = [("status", "SKIPPED"), ("attempt", ""), ("errors", ""), ("error_class", "")];
    let from = |from: &str| format!("step 4 {from} → SKIPPED");
    let usual = of_execution(&[&skipped[..], &[("state_changes", &from("PENDING"))]].concat());
    let byline = "*2026-11-16 08:00:00 UTC · ada · component shim · id k3f9*";
    assert_eq!(usual, ["### – Step 4: Write a compatibility shim (15m, $0.02)", byline]);
    let other = of_execution(&[&skipped[..], &[("state_changes", &from("RUNNING"))]].concat());
    assert!(other[1].contains(" · RUNNING → SKIPPED · "), "{}", other[1]);
}

#[test]
fn the_words_of_another_lifecycle_are_kept() {
    let lines = of_execution(&[
        ("status", "KAPUTT"),
        ("outcome", "failed"),
        ("state_changes", "step 4 LÄUFT → KAPUTT"),
    ]);
    assert_eq!(lines[0], FAILED);
    assert!(lines[1].contains(" · LÄUFT → KAPUTT · "), "{}", lines[1]);
    assert_eq!(lines.len(), 2);
}

#[test]
fn a_long_error_begins_in_the_heading_and_is_complete_below() {
    let error = "first line\nsecond line";
    let lines = of_execution(&[("errors", error)]);
    assert!(lines[0].ends_with(" (15m, $0.02): first line…"), "{}", lines[0]);
    assert_eq!(
        lines[2..],
        ["- **errors**:", "  ```text", "  first line", "  second line", "  ```"]
    );
    let error = "word ".repeat(60).trim().to_owned();
    let lines = of_execution(&[("errors", &error)]);
    assert!(lines[0].chars().count() < 150, "{}", lines[0]);
    assert_eq!(lines[2], format!("- **errors**: {error}"));
}

#[test]
fn a_title_that_would_be_misread_stays_whole() {
    for title in [
        "Wait (5m)", "Wait (5m): then go", "Pay ($3, 5m): done", "Fix (again): it", "(5m)",
        "a: b (5m", "x ✗ Step 3: y", "ends in #", "#", " blank", "two\nlines", "a\u{7}b",
    ] {
        of_execution(&[("title", title)]);
    }
}

#[test]
fn behind_text_from_right_to_left_the_heading_ends() {
    let lines = of_execution(&[("title", "כתוב שכבת תאימות"), ("errors", "שגיאה")]);
    assert_eq!(lines[0], "### ✗ Step 4: כתוב שכבת תאימות");
    assert!(lines[1].contains(" · took 15m · cost $0.02 · "), "{}", lines[1]);
    assert_eq!(lines[2], "- **errors**: שגיאה");
}

#[test]
fn other_entries_say_in_the_heading_what_they_are_about() {
    let owned = |fields: &[(&str, &str)]| -> Vec<(String, String)> {
        fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);
    let table: [Row<'_>; 6] = [
        (
            "Adaptation",
            &[
                ("kind", "adaptation"),
                ("rule", "4: If x → y"),
                ("event", "step_failed"),
                ("values", "x = 4m"),
                ("state_changes", "a → b"),
            ],
            &[
                "### Adaptation: a → b",
                "*2026-11-16 08:00:00 UTC · event step_failed · seen x = 4m*",
                "- **rule**: 4: If x → y",
            ],
        ),
        (
            "Review r1 Approved",
            &[
                ("kind", "review"),
                ("review", "r1"),
                ("decision", "approved"),
                ("question", "Ship?"),
                ("actor", "bob"),
                ("reason", "looks right"),
            ],
            &[
                "### Review r1 Approved: looks right",
                "*2026-11-16 08:00:00 UTC · bob*",
                "- **question**: Ship?",
            ],
        ),
        (
            "Paused",
            &[("state_changes", "plan A → B"), ("notes", "waiting: for ops"), ("actor", "ada")],
            &[
                "### Paused: waiting: for ops",
                "*2026-11-16 08:00:00 UTC · ada · changed plan A → B*",
            ],
        ),
        ("Paused", &[], &["### Paused", "*2026-11-16 08:00:00 UTC*"]),
        // These say less, or other things, than such a heading would.
        ("Adaptation", &[("state_changes", "a → b")], &["### Adaptation - 2026-11-16T08:00:00Z"]),
        ("Paused: why", &[], &["### Paused: why - 2026-11-16T08:00:00Z"]),
    ];
    for (title, fields, expected) in table {
        let lines = lines(&entry(title, owned(fields)));
        assert_eq!(lines[..expected.len()], *expected, "{title}");
    }
}

#[test]
fn facts_are_the_same_in_either_notation() {
    let entries = [
        entry("Step 4 Execution", execution(&[])),
        entry("Step 4 Execution", execution(&[("tool_used", "WebFetch"), ("mode", "SIMULATION")])),
        entry(
            "Undo",
            vec![
                ("kind".to_owned(), "restore".to_owned()),
                ("command".to_owned(), "step fail 4".to_owned()),
                ("taken_back".to_owned(), "{\"failed\":1,\"time_ms\":900000}".to_owned()),
                ("consecutive_failures".to_owned(), "1".to_owned()),
            ],
        ),
    ];
    let log = |render: &dyn Fn(&NewEntry, &[EntryId]) -> render::Rendered| {
        let mut log = Log::new();
        for entry in &entries {
            let rendered = render(entry, &log.facts.heads);
            log.append(&rendered);
        }
        assert_eq!(log.facts, scan_facts(&log.text));
        log
    };
    let new = log(&|entry, after| render(entry, 5, after, "\n").unwrap());
    let old = log(&|entry, after| render::render_older(entry, 5, after));
    assert_eq!(new.facts.counts, old.facts.counts);
    assert_eq!((new.facts.counts.failed, new.facts.counts.restores), (1, 1));
    assert!(new.text.len() * 5 < old.text.len() * 3, "{} {}", new.text.len(), old.text.len());
    for (new, old) in all_entries(&new.text).iter().zip(all_entries(&old.text)) {
        let mut fields = old.fields.clone();
        journal::sort(&mut fields);
        assert_eq!((&new.title, &new.time, new.kind), (&old.title, &old.time, old.kind));
        assert_eq!((&new.fields, new.simulation), (&fields, old.simulation));
    }
    for needle in ["Step 4 Execution", "RUNNING → FAILED", "08:00:00Z", "kind", "attempt"] {
        let found = |text: &str| search(text.as_bytes(), needle, 9).unwrap().total;
        assert_eq!(found(&new.text), found(&old.text), "{needle}");
    }
}

#[test]
fn whatever_can_leave_its_field_has_a_place_in_the_order() {
    let places: Vec<&str> = journal::places().collect();
    assert!(places.len() > 25);
    for key in places {
        assert!(journal::has_rank(key), "{key}");
    }
}

/// Text of the kind that is likely to be taken for something else.
fn awkward() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "Step 4",
        "✗ ",
        "✓",
        " – ",
        ": ",
        ":",
        " (",
        ")",
        "(5m)",
        " (15m, $0.02)",
        "$0.02",
        "5m",
        ", ",
        "·",
        " · ",
        "*",
        "`",
        "…",
        " → ",
        "→",
        "#",
        " #",
        "attempt 2",
        "id x",
        "took 5m",
        "; ",
        "step 4 ",
        "RUNNING → FAILED",
        "COMPLETED",
        " — ",
        "—",
        "\n",
        "\"",
        "-->",
        "<!-- ",
        "- **errors**: x",
        "שלום",
        "\u{202e}",
        "2026-11-16 08:00:00 UTC",
        " ",
        "Paused",
        "x",
    ]);
    prop::collection::vec(piece, 1..5).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn an_execution_reads_back_whatever_it_says(
        title in awkward(),
        error in awkward(),
        actor in awkward(),
        note in awkward(),
        changes in awkward(),
        outputs in awkward(),
        status in prop::sample::select(vec!["COMPLETED", "FAILED", "SKIPPED", "KAPUTT"]),
        from in prop::sample::select(vec!["RUNNING", "PENDING", "LÄUFT"]),
        attempt in prop::sample::select(vec!["", "1", "2"]),
        left_out in 0..8usize,
    ) {
        let changes = format!("step 4 {from} → {status}; {changes}");
        let mut fields = execution(&[
            ("title", &title), ("errors", &error), ("actor", &actor), ("notes", &note),
            ("state_changes", &changes), ("real_outputs", &outputs), ("status", status),
            ("attempt", attempt),
        ]);
        if status == "KAPUTT" {
            fields.push(("outcome".to_owned(), "failed".to_owned()));
        }
        if left_out < fields.len() {
            fields.remove(left_out);
        }
        lines(&entry("Step 4 Execution", fields));
    }

    #[test]
    fn other_entries_read_back_whatever_they_say(
        title in prop::sample::select(vec![
            "Paused", "Adaptation", "Review r1 Opened", "Undo", "Turn 3", "Event x", "Note",
            "Recovery: retry", "Checkpoint", "Step 3 Reset", "✗ Step 4", "✓ Step 4: x (5m)",
        ]),
        suffix in prop::option::of(awkward()),
        values in prop::collection::vec((prop::sample::select(vec![
            "kind", "notes", "actor", "review", "decision", "event", "command", "name", "step",
            "state_changes", "status", "intent", "attempt", "x", "title",
        ]), awkward()), 0..6),
    ) {
        let title = [title, suffix.as_deref().unwrap_or_default()].concat();
        let fields = values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let entry = entry(&title, fields);
        if heading_is_possible(&title) {
            lines(&entry);
        }
    }
}

fn heading_is_possible(title: &str) -> bool {
    title.trim() == title && !title.contains('\n')
}
