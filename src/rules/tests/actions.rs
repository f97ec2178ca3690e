//! Actions in many words, and what each does.

use super::{effects, rule};
use crate::rules::Action;

#[test]
fn each_clause_has_its_effect() {
    let table: &[(&str, &[&str])] = &[
        (
            "set priority to \"quality\"",
            &[
                "set priority to \"quality\"",
                "Set priority=\"quality\"",
                "set the priority to quality",
                "priority = quality",
                "priority := 'quality'",
                "priority: quality",
                "change priority to quality",
                "switch the priority to “quality”",
                "SET PRIORITY TO QUALITY.",
                "immediately set `priority` to `quality`",
                "increase priority to quality",
                "reset priority",
                "reset the priority to its default",
            ],
        ),
        (
            "set human_review_trigger_level to \"low\", set error_tolerance to \"strict\"",
            &[
                "Set human_review_trigger_level=\"low\", error_tolerance=\"strict\"",
                "set human_review_trigger_level to low and error_tolerance to strict",
                "set human review trigger level to low; set error tolerance to strict",
                "set human_review_trigger_level to low, and then set error_tolerance to strict",
                "set human-review-trigger-level to low. Set error-tolerance to strict.",
            ],
        ),
        (
            "set error_tolerance to \"strict\", require human review",
            &["Increase error_tolerance to \"strict\", require human review"],
        ),
        (
            "set priority to \"speed_and_clarity\", pause",
            &["set priority to speed and clarity and pause"],
        ),
        (
            "raise error_tolerance by 1",
            &[
                "raise error_tolerance",
                "increase error tolerance by one",
                "bump up the error_tolerance by a notch",
                "raise error_tolerance one level",
            ],
        ),
        ("lower error_tolerance by 2", &["reduce error_tolerance by two levels"]),
        (
            "set max_web_requests to 3",
            &["limit max_web_requests to 3", "cap max web requests at 3"],
        ),
        ("raise max_web_requests by 5", &["increase max_web_requests by 5"]),
        ("lower max_cost_per_task by 10%", &["reduce max cost per task by 10 percent"]),
        ("raise max_execution_time by 60s", &["increase max_execution_time by a minute"]),
        ("lower max_cost_per_task by $0.10", &["lower max_cost_per_task by 10 cents"]),
        ("set max_execution_time to 300s", &["set max_execution_time to 5 minutes"]),
        (
            "set max_cost_per_task to $1.50",
            &["set max_cost_per_task to 1.5", "max_cost_per_task=$1.50"],
        ),
        (
            "set preferred_tools to [\"Read\", \"Grep\"]",
            &[
                "set preferred_tools to [\"Read\", \"Grep\"]",
                "set preferred_tools to \"Read\", \"Grep\"",
                "set preferred_tools to \"Read\" and \"Grep\"",
                "set preferred tools to [Read, Grep]",
            ],
        ),
        (
            "require human review",
            &[
                "require human review",
                "requires a human review",
                "seek human guidance",
                "immediately seek human guidance",
                "ask a human",
                "escalate",
                "escalate to a human",
                "request human approval",
                "open a review",
            ],
        ),
        (
            "require human review: \"before merging\", pause",
            &["require human review before merging, pause"],
        ),
        (
            "require human review: \"costs\"",
            &["require human review: costs", "escalate: \"costs\""],
        ),
        ("pause", &["pause", "Pause execution", "pause the plan", "suspend the plan"]),
        ("pause: \"because the budget is gone\"", &["pause because the budget is gone"]),
        ("checkpoint", &["checkpoint", "create a checkpoint", "save a checkpoint now"]),
        ("checkpoint \"v1\"", &["checkpoint \"v1\"", "create a checkpoint named v1"]),
        (
            "add directive \"be brief\" for the next 2 steps",
            &[
                "add directive \"be brief\" for the next 2 steps",
                "add the directive \"be brief\" for 2 steps",
                "for the next two steps, add directive \"be brief\"",
                "add directive: be brief for the next 2 steps",
            ],
        ),
        ("advise \"be brief\" for the next 1 step", &["for the next step, be brief"]),
        (
            "advise \"prefer lower-cost tools\"",
            &["prefer lower-cost tools", "advise \"prefer lower-cost tools\""],
        ),
        ("advise \"Prefer A, B and C.\"", &["Prefer A, B and C."]),
        (
            "advise \"use fewer tools\" for the next 3 steps, pause",
            &[
                "use fewer tools for the next 3 steps and pause",
                "for the next 3 steps, use fewer tools; pause",
            ],
        ),
        ("advise \"consider raising error_tolerance\"", &["consider raising error_tolerance"]),
        (
            "advise \"reduce logging, slow down\", checkpoint",
            &["reduce logging, slow down, checkpoint"],
        ),
        ("advise \"set up a call\"", &["set up a call"]),
        ("advise \"say \\\"it's late\\\"\", pause", &["say \"it's late\", then pause"]),
        ("advise \"wait for 2 minutes\"", &["wait  for\n 2 minutes"]),
    ];
    for (expected, clauses) in table {
        for clause in *clauses {
            assert_eq!(effects(clause), *expected, "{clause}");
        }
    }
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
    let error = Action::parse_all_with("set priority to quality", &flow).unwrap_err();
    assert_eq!(error.message, "`priority` is not a modifier");
    // A title that speaks of a modifier which is not there is not understood.
    assert!(crate::rules::Rule::parse_with("**Time Pressure** → pause", &flow).is_err());
}

#[test]
fn a_rule_knows_the_facts_it_looks_at() {
    let rule = rule("If cost > 80% of budget and variables.a.b is set → pause");
    assert_eq!(rule.facts(), ["budget", "cost", "variables.a.b"]);
}
