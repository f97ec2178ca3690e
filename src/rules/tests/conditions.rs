//! Conditions in many words, and the one meaning each has.

use super::{meaning, rule, table};

#[test]
fn each_sentence_has_its_meaning() {
    for (expected, sentence) in table(include_str!("../../../tests/rules/conditions.txt")) {
        assert_eq!(meaning(sentence), expected, "{sentence}");
    }
}

#[test]
fn arrows_and_openers_are_free() {
    let expected = "if cost > $1.00 → pause";
    for text in [
        "If cost > $1 → pause",
        "if cost > $1 -> pause",
        "IF cost > $1 => PAUSE",
        "When cost > $1 then pause",
        "whenever cost > $1, then pause",
        "Once cost > $1, pause.",
        "As soon as cost > $1: pause",
        "cost > $1 → pause",
        "cost > $1: pause",
        "- If cost > $1 ⇒ pause",
        "1. If cost > $1 --> pause!",
        "If **cost** > `$1` → **pause**",
        "Pause if cost > $1",
        "pause the plan whenever cost > $1.",
        "if cost>$1->pause",
        "If cost > $1\n   → pause",
    ] {
        assert_eq!(rule(text).to_string(), expected, "{text}");
    }
    assert_eq!(rule("Unless cost > $1 → pause").to_string(), "if not (cost > $1.00) → pause");
}

#[test]
fn titles_name_a_rule_or_are_its_condition() {
    for (text, expected) in [
        ("**Cost Overrun** → pause", "**Cost Overrun**: if cost > budget → pause"),
        ("**Cost Overrun:** pause", "**Cost Overrun**: if cost > budget → pause"),
        ("**Cost Overrun**: pause", "**Cost Overrun**: if cost > budget → pause"),
        ("cost overrun → pause", "if cost > budget → pause"),
        ("**Guard**: if cost > $1 → pause", "**Guard**: if cost > $1.00 → pause"),
        ("**Guard:** cost > $1 → pause", "**Guard**: if cost > $1.00 → pause"),
        ("**My guard** if cost > $1, pause", "**My guard**: if cost > $1.00 → pause"),
        ("My guard: if cost > $1, pause", "**My guard**: if cost > $1.00 → pause"),
        (
            "**2+ consecutive failures** → pause",
            "**2+ consecutive failures**: if consecutive_failures >= 2 → pause",
        ),
    ] {
        assert_eq!(rule(text).to_string(), expected, "{text}");
    }
}
