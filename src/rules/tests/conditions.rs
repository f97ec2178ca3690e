//! Conditions in many words, and the one meaning each has.

use super::{meaning, rule};

#[test]
fn each_sentence_has_its_meaning() {
    let table: &[(&str, &[&str])] = &[
        (
            "consecutive_failures >= 2",
            &[
                "2+ consecutive steps fail",
                "2 consecutive steps fail",
                "two or more consecutive failures",
                "Two Consecutive Step Failures",
                "at least 2 consecutive failures",
                "there have been two failures in a row",
                "2 or more steps fail in a row",
                "2 steps in a row fail",
                "a step fails twice in a row",
                "steps fail 2 times in a row",
                "repeated failures",
                "consecutive failures ≥ 2",
                "the number of consecutive failures reaches 2",
                "consecutive-failures is at least two",
                "2 <= consecutive_failures",
                "CONSECUTIVE_FAILURES >= 2",
            ],
        ),
        (
            "consecutive_failures > 2",
            &[
                "more than 2 consecutive steps fail",
                "over two failures in a row",
                "> 2 consecutive failures",
                "consecutive failures exceed 2",
            ],
        ),
        (
            "failed_steps > 3",
            &[
                "more than 3 steps failed",
                "more than three steps have failed",
                "failed steps are above 3",
                "there are more than 3 failed steps",
            ],
        ),
        (
            "failed_steps > 50% of total_steps",
            &[
                "more than half of the steps fail",
                "more than 50% of steps failed",
                "failed_steps > 50% of total steps",
            ],
        ),
        (
            "cost > 80% of budget",
            &[
                "cost exceeds 80% of budget",
                "the cost exceeds 80 % of the budget",
                "total cost is more than 80 percent of the budget",
                "spending goes over eighty percent of budget",
                "80% of budget < cost",
                "less than 20% of the budget is left",
                "the remaining budget is below 20%",
                "remaining budget falls below 20%",
                "budget left < 20%",
                "we spend more than 80% of the budget",
                "we have spent more than 80% of the budget",
                "cost ＞ 80% of budget",
                "budget pressure",
            ],
        ),
        (
            "cost > $0.50",
            &[
                "cost > $0.50",
                "cost > 0.5",
                "cost > 0.50 USD",
                "cost exceeds 50 cents",
                "more than $0.50 has been spent",
                "cost above '$0.50'",
            ],
        ),
        (
            "cost > budget",
            &["over budget", "the budget is exceeded", "Cost Overrun", "cost > budget"],
        ),
        (
            "execution_time > 200s",
            &[
                "execution time > 200s",
                "execution_time > 200",
                "execution time exceeds 200 seconds",
                "the execution time is longer than 3m20s",
                "elapsed time is over 3 min 20 sec",
                "more than 200 seconds have passed",
                "execution takes longer than 200 s",
                "execution time > 200000ms",
            ],
        ),
        (
            "execution_time >= 5400s",
            &[
                "execution time reaches 1.5 hours",
                "time ≥ 1h 30m",
                "time is at least 1 hour and 30 minutes",
            ],
        ),
        ("execution_time >= 60s", &["execution time is at least a minute", "1 minute has passed"]),
        (
            "user_sentiment = \"frustrated\"",
            &[
                "the user is frustrated",
                "user becomes frustrated",
                "user expresses frustration",
                "user_sentiment is \"frustrated\"",
                "sentiment drops to \"frustrated\"",
                "the user's sentiment drops to 'frustrated'",
                "sentiment == frustrated",
                "user sentiment changes to “frustrated”",
                "sentiment is below impatient",
            ],
        ),
        (
            "user_sentiment in (\"frustrated\", \"impatient\")",
            &[
                "the user is frustrated or impatient",
                "sentiment drops to impatient",
                "sentiment is at most \"impatient\"",
                "sentiment is one of (frustrated, impatient)",
                "user_sentiment in [\"frustrated\", \"impatient\"]",
            ],
        ),
        (
            "user_sentiment != \"pleased\"",
            &[
                "the user is not pleased",
                "sentiment isn't pleased",
                "sentiment ≠ \"pleased\"",
                "user_sentiment is no longer pleased",
            ],
        ),
        (
            "event.type = \"feedback\" and event.sentiment in \
             (\"positive\", \"pleased\", \"happy\", \"satisfied\")",
            &[
                "user provides positive feedback",
                "the user gives positive feedback",
                "positive feedback is received",
                "feedback is positive",
                "Positive Feedback",
            ],
        ),
        (
            "event.type = \"step_failed\"",
            &[
                "a step fails",
                "any step fails",
                "the step has failed",
                "step_failed",
                "event is step_failed",
                "event.type is 'step_failed'",
                "step_failed happens",
            ],
        ),
        (
            "step_failures >= 3",
            &[
                "a step fails 3 times",
                "step fails 3+ times",
                "a step fails three or more times",
                "3 attempts",
                "3 failed attempts",
                "3+ attempts are made",
            ],
        ),
        (
            "cost >= 80% of budget",
            &[
                "20% of the budget is left",
                "at most 20% of the budget remains",
                "remaining budget drops to 20%",
            ],
        ),
        (
            "event.error contains \"timeout\"",
            &["an error mentions \"timeout\"", "the error message contains 'timeout'"],
        ),
        ("failures > 3", &["failures exceed 3", "the failure count is above 3"]),
        ("failures >= 3", &["3 failures", "3 errors occur", "three or more failures"]),
        ("event.type = \"step_skipped\"", &["a step is skipped"]),
        ("event.type = \"deployed\"", &["event deployed occurs", "a deployed event arrives"]),
        (
            "progress >= 100%",
            &["all steps complete", "all of the steps are done", "every step completed"],
        ),
        (
            "progress >= 50%",
            &["progress reaches 50%", "progress is at least 50", "progress ≥ half"],
        ),
        (
            "plan_status = \"PAUSED\"",
            &["the plan is paused", "execution is paused", "status is PAUSED"],
        ),
        ("plan_status = \"COMPLETED_FAILURE\"", &["the plan fails", "the plan is failed"]),
        ("plan_status in (\"PAUSED\", \"IN_PROGRESS\")", &["the plan is paused or in progress"]),
        (
            "priority = \"cost_efficiency\"",
            &[
                "priority is cost efficiency",
                "priority equals Cost-Efficiency",
                "priority becomes `cost_efficiency`",
            ],
        ),
        (
            "human_review_trigger_level in (\"medium\", \"high\")",
            &["human_review_trigger_level > low", "human review trigger level is at least medium"],
        ),
        ("web_requests > max_web_requests", &["web requests exceed max_web_requests"]),
        (
            "file_operations > 15",
            &["more than 15 file operations are made", "file ops exceed fifteen"],
        ),
        ("task_type in (\"legal\", \"medical\")", &["task type is legal or medical"]),
        ("variables.A.b = true", &["variables.A.b", "vars.A.b is true", "Variables.A.b == TRUE"]),
        ("variables.n > 1000", &["variables.n > 1,000", "variables.n exceeds thousand"]),
        ("not (variables.x is set)", &["variables.x is missing", "variables.x is not set"]),
        ("variables.x is set", &["variables.x exists", "variables.x is known"]),
        ("preferred_tools contains \"WebFetch\"", &["preferred tools include WebFetch"]),
        (
            "not (event.error contains \"disk full\")",
            &["event.error does not contain \"disk full\""],
        ),
        ("attempts >= 2 and attempts <= 4", &["attempts are between 2 and 4"]),
        ("cost > $1.00 and cost < $2.00", &["cost > $1 and < $2", "cost > 1, and cost < 2"]),
        (
            "(cost > $1.00 and attempts > 2) or failed_steps = 0",
            &[
                "cost > $1 and attempts > 2 or no steps failed",
                "(cost > $1 && attempts > 2) || failed_steps == 0",
            ],
        ),
        (
            "cost > $1.00 and (attempts > 2 or failed_steps = 0)",
            &["cost > $1 and (attempts > 2 or failed_steps is zero)"],
        ),
        ("not (cost > $1.00) and attempts > 2", &["not (cost > $1) and attempts > 2"]),
        (
            "cost <= $1.00",
            &["cost doesn't exceed $1", "cost is not more than $1", "cost is up to $1"],
        ),
    ];
    for (expected, sentences) in table {
        for sentence in *sentences {
            assert_eq!(meaning(sentence), *expected, "{sentence}");
        }
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
