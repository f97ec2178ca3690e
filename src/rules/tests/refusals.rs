//! What is not understood is refused, with the place and the nearest thing that would be.

use crate::{
    domain::Workflow,
    rules::{Action, Rule, is_meant_as_rule},
};

/// A rule, the part of it that is to blame, and what was probably meant.
type Case = (&'static str, &'static str, Option<&'static str>);

const CASES: &[Case] = &[
    ("If cosst exceeds $5 → pause", "cosst", Some("cost")),
    ("If consecutive_failurs > 2 → pause", "consecutive_failurs", Some("consecutive_failures")),
    ("If the moon is full → pause", "moon", None),
    ("If a stp fails → pause", "a stp fails", Some("a step fails")),
    (
        "If user provides no positive feedback → pause",
        "user provides no positive feedback",
        Some("user provides positive feedback"),
    ),
    ("If cost exceeds 80% → pause", "80%", Some("80% of budget")),
    ("If cost exceeds 200s → pause", "200s", None),
    ("If cost exceeds €5 → pause", "€5", None),
    ("If cost exceeds $5k → pause", "k", None),
    ("If cost exceeds execution_time → pause", "execution_time", None),
    ("If cost > 80% of bugdet → pause", "bugdet", Some("budget")),
    ("If execution time > $5 → pause", "$5", None),
    ("If progress > 0.5 → pause", "0.5", None),
    ("If attempts > many → pause", "many", None),
    ("If priority is \"qualty\" → pause", "\"qualty\"", Some("quality")),
    ("If priority > quality → pause", "> quality", None),
    ("If error_tolerance > flexible → pause", "> flexible", None),
    ("If priority is not \"quality\" or \"x\" → pause", "\"x\"", None),
    ("If variables.x is alpha beta → pause", "alpha beta", None),
    ("If cost => 5 -> pause", "cost", Some(">=")),
    ("If cost → pause", "cost", None),
    ("If cost exceeds → pause", "→", None),
    ("If → pause", "→", None),
    ("If cost > $5 and → pause", "→", None),
    ("If (cost > $5 → pause", "(", None),
    ("If cost > $5) → pause", ")", None),
    ("If cost > $5, attempts > 2 → pause", ",", None),
    ("If cost > $5, attempts > 2 then pause", ",", None),
    ("cost > $5, pause", ",", None),
    ("If cost > $5", "", None),
    ("If cost > $5 →", "", None),
    ("If cost > $5 for 2 steps → pause", "for 2 steps", None),
    ("If priority is \"quality → pause", "\"quality → pause", None),
    ("**Cost Overran** → pause", "Overran", Some("cost overrun")),
    ("**Bad Weather** → pause", "Bad Weather", None),
    ("**Bad Weather**: pause", "Bad Weather", None),
    ("Set priority to quality", "Set priority to quality", None),
    ("Prefer cheap tools if cost > $1", "Prefer cheap tools", None),
    ("If cost > $5 → set prioritty to quality", "prioritty", Some("priority")),
    ("If cost > $5 → set mood to quality", "mood", None),
    ("If cost > $5 → pritority = quality", "pritority", Some("priority")),
    ("If cost > $5 → set priority to qualty", "qualty", Some("quality")),
    ("If cost > $5 → set priority to quality or nothing", "or", None),
    ("If cost > $5 → set priority to quality now or never", "now", None),
    ("If cost > $5 → set priority", "", None),
    ("If cost > $5 → set", "", None),
    ("If cost > $5 → priority", "priority", None),
    ("If cost > $5 → set priority to quality, comprehensiveness", "comprehensiveness", None),
    ("If cost > $5 → set max_web_requests to few", "few", None),
    ("If cost > $5 → set max_web_requests to -3", "-3", None),
    ("If cost > $5 → set max_cost_per_task to 5 minutes", "5 minutes", None),
    ("If cost > $5 → set preferred_tools to [\"a\", \"b\"", "[", None),
    ("If cost > $5 → increase priority", "priority", None),
    ("If cost > $5 → increase max_web_requests", "max_web_requests", None),
    ("If cost > $5 → reduce error_tolerence", "error_tolerence", Some("error_tolerance")),
    ("If cost > $5 → raise error_tolerance by 0", "by 0", None),
    (
        "If cost > $5 → sett priority to quality",
        "sett priority to quality",
        Some("set priority to …"),
    ),
    ("If cost > $5 → puase", "puase", Some("pause")),
    ("If cost > $5 → chekpoint", "chekpoint", Some("checkpoint")),
    ("If cost > $5 → require human revew", "require human revew", Some("require human review")),
    ("If cost > $5 → requier human review", "requier human review", Some("require human review")),
    (
        "If cost > $5 → add \"Grep\" to preferred_tools",
        "add \"Grep\" to preferred_tools",
        Some("set preferred_tools to [\"…\"]"),
    ),
    ("If cost > $5 → stop", "stop", Some("pause")),
    ("If cost > $5 → pause briefly", "briefly", None),
    ("If cost > $5 → pause for review", "pause for review", Some("pause, require human review")),
    ("If cost > $5 → pause, otherwise continue", "otherwise", None),
    ("If cost > $5 → be brief, else pause", "else", None),
    ("If cost > $5 → if attempts > 2 pause", "if", None),
    ("If cost > $5 → set priority to quality if attempts > 2", "if attempts > 2", None),
    ("If cost > $5 → set priority → quality", "→", None),
    ("If cost > $5 → be brief → pause", "→", None),
    ("If cost > $5 → do not pause and checkpoint", "do not pause", None),
    ("If cost > $5 → pause and", "", None),
    ("If cost > $5 → 42", "42", None),
    ("If cost > $5 → add directive", "", None),
    ("If cost > $5 → for the next 2 steps, set priority to quality", "for the next 2 steps", None),
    ("If cost > $5 → require human review for the next 2 steps", "for the next 2 steps", None),
    (
        "If cost > $5 → for the next 2 steps, for the next 3 steps, be brief",
        "for the next 2 steps",
        None,
    ),
    ("If cost > $5 → for the next 0 steps, be brief", "the next 0 steps", None),
    ("If cost > $5 → \"be brief\"", "\"be brief\"", Some("advise \"be brief\"")),
    ("", "", None),
    ("→", "→", None),
];

#[test]
fn each_refusal_points_at_the_place_and_the_nearest_thing() {
    let mut wrong = Vec::new();
    for (text, blamed, nearest) in CASES {
        match Rule::parse(text) {
            Ok(rule) => wrong.push(format!("{text} was read as {rule}")),
            Err(error) => {
                let place = text.get(error.span.clone());
                if (place, error.nearest.as_deref()) != (Some(*blamed), *nearest) {
                    wrong.push(format!("{text} at {place:?}: {error}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nesting_and_length_have_limits() {
    let deep = format!("If {}cost > $1{} → pause", "(".repeat(5000), ")".repeat(5000));
    assert!(Rule::parse(&deep).unwrap_err().message.contains("not read"));
    let deep = format!("If {}cost > $1{} → pause", "(".repeat(500), ")".repeat(500));
    assert_eq!(Rule::parse(&deep).unwrap_err().message, "this is nested too deeply");
    let many = format!("If {}cost > $1 → pause", "not ".repeat(1000));
    assert_eq!(Rule::parse(&many).unwrap_err().message, "this is nested too deeply");
    let wide = format!("If {}cost > $1 → pause", "cost > $1 or ".repeat(500));
    assert!(Rule::parse(&wide).is_ok());
    let huge = "If cost > 99999999999999999999999 → pause";
    assert!(Rule::parse(huge).is_err());
}

#[test]
fn actions_on_their_own_are_as_strict() {
    for text in ["", ",", "if unsure, ask a human", "set nothing to x", "pause pause"] {
        assert!(Action::parse_all(text, Workflow::builtin()).is_err(), "{text}");
    }
}

#[test]
fn then_before_an_action_shows_that_a_rule_was_meant() {
    let is_meant = |text| is_meant_as_rule(text, Workflow::builtin());
    for text in [
        "If cost > $1 then pause else checkpoint",
        "When the build is red, then require human review",
        "Unless told otherwise then escalate",
    ] {
        assert!(Rule::parse(text).is_err() && is_meant(text), "{text}");
    }
    for text in ["If you break it, then you fix it", "Test first, then pause", "If so, pause"] {
        assert!(!is_meant(text), "{text}");
    }
}
