//! What is written reads back, whatever it is.

use proptest::prelude::*;

use super::*;
use crate::text::markdown::{Document, ItemId};

fn read_back(title: &str, fields: &[(&str, &str)], newline: &str) {
    let entry = new_entry(title, fields);
    let rendered = render(&entry, 5, &[], newline).unwrap();
    let found = all_entries(&rendered.text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].title, entry.title);
    assert_eq!(found[0].time.as_ref(), Some(&entry.time));
    let mut fields = entry.fields.clone();
    let has_quiet_line = rendered.text.lines().nth(2).is_some_and(|line| line.starts_with("*20"));
    if has_quiet_line {
        journal::sort(&mut fields);
    }
    assert_eq!(found[0].fields, fields);
    assert_eq!(found[0].id, Some(rendered.id));
    assert!(found[0].verified);
    assert!(check(&rendered.text).is_intact());
    let below = read_as_markdown(&rendered.text);
    // All of them in their order, but for those that can stand, and do, in the lines above.
    let stands_above = |field: &(String, String)| {
        has_quiet_line && journal::places().any(|place| place == field.0) && !below.contains(field)
    };
    fields.retain(|field| !stands_above(field));
    assert_eq!(below, fields);
}

/// The fields of the last section, as the markdown layer understands them.
fn read_as_markdown(text: &str) -> Vec<(String, String)> {
    let document = Document::parse(text).unwrap();
    let section = document.sections().last().unwrap();
    assert_eq!(document.section(section).level, 3);
    let field = |id: &ItemId| (document.item(*id).key.clone().unwrap(), document.value(*id));
    document.items(section).iter().map(field).collect()
}

#[test]
fn an_entry_looks_as_documented() {
    let fields = [
        ("step", "k3f9"),
        ("title", "Fetch the pages"),
        ("status", "COMPLETED"),
        ("attempt", "1"),
        ("actor", "ada"),
        ("tool_used", "WebFetch"),
        ("real_outputs", "{\"pages\":7}"),
        ("actual_cost", "$0.02"),
        ("actual_time", "12s"),
        ("state_changes", "step 3 RUNNING → COMPLETED"),
    ];
    let first = render(&new_entry("Step 3 Execution", &fields), 0, &[], "\n").unwrap();
    let expected = format!(
        "\n### ✓ Step 3: Fetch the pages (12s, $0.02)\n\
         *2026-11-16 08:00:00 UTC · ada · tool WebFetch · id k3f9*\n\
         - **real_outputs**: {{\"pages\":7}}\n\
         <!-- {} -->\n",
        first.id
    );
    assert_eq!(first.text, expected);
    let next = render(&new_entry("Paused", &[("notes", "lunch")]), 0, &[first.id], "\n").unwrap();
    let expected = format!(
        "\n### Paused: lunch\n*2026-11-16 08:00:00 UTC*\n<!-- {} after {} -->\n",
        next.id, first.id
    );
    assert_eq!(next.text, expected);
}

#[test]
fn awkward_values_read_back() {
    let trailer = render(&new_entry("x", &[]), 1, &[], "\n").unwrap().text;
    let values = [
        "",
        " ",
        "a ",
        "\ta",
        "\"",
        "\"a\"",
        "'a'",
        "\"a",
        "-->",
        "a -->",
        "a <!-- b -->",
        "<!-- b -->",
        "<!--",
        "a\nb",
        "\n",
        "\n\n",
        "a\n",
        "\na",
        "a\r\nb",
        "a\rb",
        "```",
        "```\n```",
        "````text\nx",
        "~~~\n",
        "  ```\n",
        "### x - y",
        "\n### x - y\n",
        "- **a**: b",
        "x\n- **a**: b",
        "# h\n## h\n### h - 10:00",
        "---",
        "===",
        "> q",
        "שלום \u{202e}abc",
        "\u{a0}x\u{a0}",
        "\u{85}",
        "\u{2028}",
        "\u{7f}\u{1b}[0m",
        "\u{feff}x",
        "a\\",
        "\\n",
        "[a]: b",
        "{{x}}",
        "&amp;",
        "*x*",
        "a: b",
        "：",
        "1. x",
        "- x",
        "+",
        "|a|b|",
        "\ttab\n\ttab",
        "    code\n  less",
        &trailer,
    ];
    for value in values {
        for newline in ["\n", "\r\n"] {
            read_back("Note", &[("before", "1"), ("value", value), ("after", "2")], newline);
            read_back("Note", &[("value", value)], newline);
        }
    }
}

#[test]
fn awkward_titles_read_back() {
    for title in [
        "a - b",
        "-",
        "- -",
        "###",
        "# x #",
        "<!-- statedir entry=",
        "-->",
        "*x*",
        "`x",
        "שלום",
        "a\u{202e}b",
        "\\",
        "10:30 - 10:31",
    ] {
        read_back(title, &[("a", "b")], "\n");
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let refused = |title: &str, key: &str, value: &str| {
        render(&new_entry(title, &[(key, value)]), 0, &[], "\n").unwrap_err()
    };
    assert!(matches!(refused("a\nb", "k", "v"), HistoryError::Heading { part: "title", .. }));
    assert!(matches!(refused("a", "k", "v\0"), HistoryError::Field { .. }));
    for key in ["", "a\nb", "**", "a**b", " a"] {
        let error = refused("a", key, "v");
        assert!(
            matches!(error, HistoryError::Field { .. } | HistoryError::NotReadBack { .. }),
            "{key:?} {error}"
        );
    }
    assert!(matches!(
        refused("a", "k", &"x".repeat(MAX_ENTRY_BYTES)),
        HistoryError::TooLarge { .. }
    ));
}

#[test]
fn an_entry_names_only_so_many_heads_and_the_next_names_the_others() {
    let roots: Vec<EntryId> = (0..100).map(|n| EntryId(Ulid::new(n, [1; 10]))).collect();
    let rendered = render(&new_entry("a", &[]), 500, &roots, "\n").unwrap();
    assert_eq!(all_entries(&rendered.text)[0].after, roots[..MAX_PARENTS]);
}

#[test]
fn the_order_of_heads_does_not_matter() {
    let (a, b) = (EntryId(Ulid::new(1, [1; 10])), EntryId(Ulid::new(2, [1; 10])));
    let entry = new_entry("a", &[]);
    assert_eq!(
        render(&entry, 5, &[a, b], "\n").unwrap(),
        render(&entry, 5, &[b, a, b], "\n").unwrap()
    );
}

#[test]
fn converting_all_line_ends_keeps_the_proof() {
    let mut log = Log::of(3);
    log.add("Note", &[("text", "a\r\nb\n\nc"), ("more", "x\ny")]);
    let converted = log.text.replace('\n', "\r\n");
    let result = check_with(&converted, &log.ids);
    assert!(result.is_intact(), "{:?}", result.problems);
    assert_eq!(result.heads, [log.ids[3]]);
    assert_eq!(all_entries(&converted)[3].fields, all_entries(&log.text)[3].fields);
    let mut log = Log::starting_with(&converted);
    log.add("Note", &[("text", "a\nb")]);
    assert_eq!(log.text.replace("\r\n", "").matches(['\r', '\n']).count(), 0);
    assert!(check(&log.text).is_intact());
    assert!(check(&log.text.replace("\r\n", "\n")).is_intact());
}

proptest! {
    #[test]
    fn arbitrary_values_read_back(
        values in prop::collection::vec("(?s)[^\0]{0,30}|[-`~#\n \"'<>*:a\r\t!]{0,12}", 0..4),
        crlf: bool,
    ) {
        let fields: Vec<(&str, &str)> = values.iter().map(|value| ("key", value.as_str())).collect();
        read_back("Note", &fields, if crlf { "\r\n" } else { "\n" });
    }

    #[test]
    fn arbitrary_titles_and_keys_read_back_or_are_refused(title in ".{0,20}", key in "(?s).{0,10}", time in ".{1,10}") {
        let entry = NewEntry { title, time, fields: vec![(key, "v".to_owned())] };
        if let Ok(rendered) = render(&entry, 5, &[], "\n") {
            let found = all_entries(&rendered.text);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].fields, &entry.fields);
            prop_assert_eq!(&found[0].title, &entry.title);
            prop_assert_eq!(found[0].time.as_ref(), Some(&entry.time));
        }
    }

    #[test]
    fn no_file_makes_a_reader_panic(text in "(?s)[-`~#\n <>!:*a1statedir=]{0,300}|(### a - 10:00\n|```\n|<!-- statedir |<!-- 01M7KWGDRP|\\*2026 · a\\*|### ✗ Step 1: a \\(5m\\)|<!--|-->\n|  ```\n|- a\n|text\n|---\n){0,30}") {
        let _ = check(&text);
        let _ = all_entries(&text);
        let _ = last_entries(std::io::Cursor::new(&text), 3).unwrap();
    }
}
