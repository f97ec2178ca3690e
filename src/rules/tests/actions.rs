//! Actions in many words, and what each does.

use super::{effects, rule, table};
use crate::rules::Action;

#[test]
fn each_clause_has_its_effect() {
    for (expected, clause) in table(include_str!("../../../tests/rules/actions.txt")) {
        assert_eq!(effects(clause), expected, "{clause}");
    }
    assert_eq!(effects("wait  for\n 2 minutes"), "advise \"wait for 2 minutes\"");
}

#[test]
fn the_behaviours_of_the_template_are_understood() {
    for (text, expected) in [
        (
            "Increase error_tolerance to \"strict\", require human review",
            "set error_tolerance to \"strict\", require human review",
        ),
        (
            "Set active_persona to \"proactive_collaborator\"",
            "set active_persona to \"proactive_collaborator\"",
        ),
        ("Set priority to \"comprehensiveness\"", "set priority to \"comprehensiveness\""),
    ] {
        assert_eq!(effects(text), expected);
    }
}

#[test]
fn a_workflow_of_ones_own_brings_its_own_words() {
    let yaml = "version: 1\nmodifiers:\n  - {name: tone, kind: ordered, values: [dry, warm]}\n";
    let flow = crate::rules::parse_workflow(yaml).unwrap();
    let own = crate::rules::Rule::parse_with("If tone is dry → raise tone", &flow).unwrap();
    assert_eq!(own.to_string(), "if tone = \"dry\" → raise tone by 1");
    let error = Action::parse_all("set priority to quality", &flow).unwrap_err();
    assert_eq!(error.message, "`priority` is not a modifier");
    // A title that speaks of a modifier which is not there is not understood.
    assert!(crate::rules::Rule::parse_with("**Time Pressure** → pause", &flow).is_err());
}

#[test]
fn a_rule_knows_the_facts_it_looks_at() {
    let rule = rule("If cost > 80% of budget and variables.a.b is set → pause");
    assert_eq!(rule.facts(), ["budget", "cost", "variables.a.b"]);
}
