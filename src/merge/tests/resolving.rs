//! Conflicts can be listed and resolved, one by one or together.

use super::merged;
use crate::domain::StateFile;
use crate::merge::{Side, choose_side, conflicts, may_conflict};

const BASE: &str = "\
# T

## Steps

### Step 1: One
- **id**: aaaa
- **status**: PENDING
- **note**: x

### Step 2: Two
- **id**: bbbb
- **note**: y
";

fn resolved(text: &str, field: &str, side: Side) -> String {
    let (bytes, count) = choose_side(StateFile::Plan, text.as_bytes(), field, side).unwrap();
    assert!(count > 0);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn taking_a_side_gives_that_side() {
    let ours = BASE.replace("PENDING", "RUNNING").replace(": x", ": ours \"quoted\"");
    let theirs = BASE.replace("PENDING", "FAILED").replace(": x", ": theirs <!-- no -->");
    let (text, found) = merged(StateFile::Plan, BASE, &ours, &theirs);
    let fields: Vec<&str> = found.iter().map(|conflict| conflict.field.as_str()).collect();
    assert_eq!(fields, ["plan.aaaa.status", "plan.aaaa.note"]);
    assert!(may_conflict(text.as_bytes()));
    assert_eq!(resolved(&text, "plan", Side::Ours), ours);
    assert_eq!(resolved(&text, "plan.aaaa", Side::Theirs), theirs);
    assert_eq!(resolved(&text, "plan", Side::Base), BASE);
    let half = resolved(&text, "plan.aaaa.note", Side::Theirs);
    assert_eq!(conflicts(StateFile::Plan, half.as_bytes()).len(), 1);
    assert!(choose_side(StateFile::Plan, text.as_bytes(), "plan.bbbb", Side::Ours).is_err());
}

#[test]
fn a_marker_is_seen_wherever_it_begins() {
    let around = "text <b> ".repeat(100);
    // A bracket in front would make six of them seven.
    for before in (0..600).filter(|before| !around[..*before].ends_with('<')) {
        let text = format!("{}<<<<<<< ours\n", &around[..before]);
        assert!(may_conflict(text.as_bytes()), "{before}");
        assert!(!may_conflict(text.replace("<<<<<<< ", "<<<<<< ").as_bytes()), "{before}");
    }
}

#[test]
fn a_removed_section_or_field_can_be_resolved_either_way() {
    let ours = BASE[..BASE.find("\n### Step 2").unwrap()].replace("- **note**: x\n", "");
    let theirs = BASE.replace(": x", ": changed").replace(": y", ": changed");
    let (text, found) = merged(StateFile::Plan, BASE, &ours, &theirs);
    assert_eq!(found.len(), 2, "{text}");
    assert_eq!(resolved(&text, "plan", Side::Theirs), theirs);
    assert_eq!(resolved(&text, "plan", Side::Ours).trim_end(), ours.trim_end());
}

#[test]
fn json_conflicts_are_resolved_with_the_spelling_of_the_side() {
    let base = "{\n  \"a\": 1.0,\n  \"b\": {\"c\": [1]}\n}\n";
    let ours = base.replace("1.0", "2.00").replace("[1]", "\"x\"");
    let theirs = base.replace("1.0", "3.50").replace("{\"c\": [1]}", "{}");
    let (text, found) = merged(StateFile::Variables, base, &ours, &theirs);
    assert_eq!(
        found.iter().map(|c| c.field.as_str()).collect::<Vec<_>>(),
        ["variables.a", "variables.b.c"]
    );
    let (bytes, count) =
        choose_side(StateFile::Variables, text.as_bytes(), "variables", Side::Ours).unwrap();
    assert_eq!((String::from_utf8(bytes).unwrap(), count), (ours, 2));
    let (bytes, _) =
        choose_side(StateFile::Variables, text.as_bytes(), "variables", Side::Theirs).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(value, serde_json::json!({"a": 3.5, "b": {}}));
}

#[test]
fn text_that_talks_about_markers_is_not_a_conflict() {
    let text = "# T\n\nA `<<<<<<< ours ` in a sentence.\n\n~~~\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n~~~\n";
    assert!(conflicts(StateFile::Context, text.as_bytes()).is_empty());
    let raw = "# T\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n";
    assert_eq!(conflicts(StateFile::Context, raw.as_bytes())[0].field, "context");
    let (bytes, _) =
        choose_side(StateFile::Context, raw.as_bytes(), "context", Side::Theirs).unwrap();
    assert_eq!(bytes, b"# T\n\nb\n");
}

#[test]
fn a_base_that_git_left_markers_in_can_be_merged() {
    let side = |value: &str| format!("{{\n  \"a\": 1,\n  \"b\": {value}\n}}\n");
    let base = "{\n  \"a\": 1,\n<<<<<<< x\n  \"b\": 2\n=======\n  \"b\": 3\n>>>>>>> y\n}\n";
    let (text, found) = merged(StateFile::Variables, base, &side("2"), &side("4"));
    assert!(found.is_empty(), "{text}");
    assert_eq!(text, side("4"));
    let (_, found) = merged(StateFile::Variables, "no json", &side("2"), &side("4"));
    assert_eq!(found.len(), 1);
}
