//! When rules fire, what they set off, and how it is explained.

use crate::{
    domain::{FactValue, Facts, Workflow},
    rules::{Action, RuleOutcome, Truth, WrittenRule, apply, explain, explain::WhyNot, fire},
};

use super::rule;

fn entries(texts: &[&str]) -> Vec<WrittenRule> {
    texts.iter().map(|text| WrittenRule::parse(text, Workflow::builtin())).collect()
}

fn run(texts: &[&str], before: &Facts, after: &Facts) -> RuleOutcome {
    fire(&entries(texts), before, after, Workflow::builtin())
}

fn facts() -> Facts {
    Facts::new()
        .with("cost", FactValue::Money(100_000))
        .with("budget", FactValue::Money(500_000))
        .with("consecutive_failures", FactValue::Number(0.0))
        .with("priority", FactValue::text("quality"))
        .with("error_tolerance", FactValue::text("moderate"))
        .with("user_sentiment", FactValue::text("neutral"))
        .with("max_web_requests", FactValue::Number(5.0))
}

fn number(n: f64) -> FactValue {
    FactValue::Number(n)
}

fn text(text: &str) -> FactValue {
    FactValue::text(text)
}

fn changed(outcome: &RuleOutcome) -> Vec<(&str, String)> {
    outcome.changes.iter().map(|c| (c.modifier.as_str(), c.after.to_plain())).collect()
}

#[test]
fn a_rule_fires_when_its_condition_becomes_true_and_not_while_it_stays_true() {
    let rules = ["If 2+ consecutive steps fail → set priority to cost_efficiency"];
    let failures = |n| facts().with("consecutive_failures", number(n));
    let fired = |before, after| !run(&rules, &failures(before), &failures(after)).trace.is_empty();
    assert!(!fired(0.0, 1.0));
    assert!(fired(1.0, 2.0));
    assert!(!fired(2.0, 3.0));
    assert!(!fired(3.0, 0.0));
    assert!(fired(0.0, 2.0));
}

#[test]
fn an_override_by_a_person_is_not_overridden_back() {
    let rules = ["If cost exceeds 80% of budget → set priority to cost_efficiency"];
    let dear = facts().with("cost", FactValue::Money(450_000));
    let outcome = run(&rules, &facts(), &dear);
    assert_eq!(changed(&outcome), [("priority", "cost_efficiency".to_owned())]);
    // The person sets it back; the cost grows on.
    let dearer = facts().with("cost", FactValue::Money(460_000));
    assert_eq!(run(&rules, &dear, &dearer), RuleOutcome::default());
}

#[test]
fn the_trace_shows_the_values_seen_and_the_change() {
    let source = "If cost exceeds 80% of budget → set priority to \"cost_efficiency\"";
    let outcome = run(&[source], &facts(), &facts().with("cost", FactValue::Money(410_000)));
    assert_eq!(
        outcome.trace[0].to_string(),
        "rule 1: If cost exceeds 80% of budget → set priority to \"cost_efficiency\" \
         (cost = $0.41, budget = $0.50); priority: \"quality\" → \"cost_efficiency\""
    );
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!(json["trace"][0]["seen"][0]["value"], "$0.41");
    assert_eq!(json["changes"][0]["after"], "cost_efficiency");
}

#[test]
fn events_make_event_conditions_true_every_time() {
    let rules = ["If a step fails → checkpoint", "On positive feedback → raise user_sentiment"];
    let failed = facts().with("event.type", text("step_failed"));
    assert_eq!(run(&rules, &facts(), &failed).checkpoints.len(), 1);
    let praised =
        facts().with("event.type", text("feedback")).with("event.sentiment", text("Positive"));
    let outcome = run(&rules, &facts(), &praised);
    assert_eq!(changed(&outcome), [("user_sentiment", "pleased".to_owned())]);
    let criticised = praised.with("event.sentiment", text("negative"));
    assert_eq!(run(&rules, &facts(), &criticised), RuleOutcome::default());
}

#[test]
fn what_a_rule_sets_can_fire_the_next() {
    let rules = [
        "If error_tolerance is strict → require human review because errors count now",
        "If priority is cost_efficiency → set error_tolerance to strict",
        "If cost > 80% of budget → set priority to cost_efficiency",
    ];
    let outcome = run(&rules, &facts(), &facts().with("cost", FactValue::Money(450_000)));
    let order: Vec<_> = outcome.trace.iter().map(|line| (line.rule, line.caused_by)).collect();
    assert_eq!(order, [(2, None), (1, Some(2)), (0, Some(1))]);
    assert_eq!(outcome.reviews[0].text.as_deref(), Some("because errors count now"));
    assert!(outcome.cycles.is_empty());
}

#[test]
fn a_cycle_ends_and_is_named_whatever_the_order_of_the_document() {
    let there = "If priority is quality → set priority to cost_efficiency";
    let back = "If priority is cost_efficiency → set priority to quality";
    let before = facts().with("priority", text("comprehensiveness"));
    let outcome = run(&[there, back], &before, &facts());
    assert_eq!(outcome.trace.len(), 2);
    assert_eq!(outcome.cycles[0].rules, [0, 1]);
    let outcome = run(&[back, there], &before, &facts());
    assert_eq!(outcome.trace.len(), 2);
    assert_eq!(outcome.cycles[0].rules, [1, 0]);
    assert_eq!(outcome.trace[1].changes[0].overridden_by, Some(1));
}

#[test]
fn a_chain_is_not_taken_for_a_cycle() {
    let rules = [
        "If priority is cost_efficiency → set active_persona to concise_assistant",
        "If cost > $0.30 → set priority to cost_efficiency, active_persona to detailed_analyst",
    ];
    let outcome = run(&rules, &facts(), &facts().with("cost", FactValue::Money(400_000)));
    assert!(outcome.cycles.is_empty());
    // The later rule of the document decides, though the earlier one fired last.
    assert!(changed(&outcome).contains(&("active_persona", "detailed_analyst".to_owned())));
    assert_eq!(outcome.trace[1].changes[0].overridden_by, Some(1));
}

#[test]
fn the_later_of_two_rules_wins_and_the_trace_says_so() {
    let rules = [
        "If cost > $0.30 → set priority to cost_efficiency",
        "If cost > $0.20 → set priority to comprehensiveness",
    ];
    let outcome = run(&rules, &facts(), &facts().with("cost", FactValue::Money(400_000)));
    assert_eq!(changed(&outcome), [("priority", "comprehensiveness".to_owned())]);
    assert_eq!(outcome.trace[0].changes[0].overridden_by, Some(1));
    assert_eq!(outcome.trace[1].changes[0].overridden_by, None);
    assert!(outcome.trace[0].to_string().ends_with("overridden by rule 2"));
}

#[test]
fn setting_a_value_to_what_it_was_changes_nothing() {
    let outcome = run(
        &["If cost > $0.30 → set priority to quality"],
        &facts(),
        &facts().with("cost", FactValue::Money(400_000)),
    );
    assert_eq!(outcome.trace.len(), 1);
    assert!(outcome.changes.is_empty());
}

#[test]
fn scales_end_and_quantities_stay_above_zero() {
    let mut known = facts();
    let actions = "lower user_sentiment by 9, raise error_tolerance, reduce max_web_requests by 7";
    let outcome = apply(
        &Action::parse_all(actions, Workflow::builtin()).unwrap(),
        &mut known,
        Workflow::builtin(),
    );
    assert_eq!(
        changed(&outcome),
        [
            ("user_sentiment", "frustrated".to_owned()),
            ("error_tolerance", "flexible".to_owned()),
            ("max_web_requests", "0".to_owned()),
        ]
    );
    // A modifier without a value is at its default or in the middle; what is unlimited stays so.
    let actions = Action::parse_all(
        "double max_execution_time, raise error_tolerance, lower user_sentiment",
        Workflow::builtin(),
    )
    .unwrap();
    let outcome = apply(&actions, &mut Facts::new(), Workflow::builtin());
    assert_eq!(
        changed(&outcome),
        [("error_tolerance", "flexible".to_owned()), ("user_sentiment", "impatient".to_owned())]
    );
}

#[test]
fn directives_reviews_pauses_and_checkpoints_are_handed_on() {
    let outcome = run(
        &[
            "If cost > $0.30 → prefer cheap tools for the next 2 steps, add directive \"x\", pause, checkpoint \"c\"",
        ],
        &facts(),
        &facts().with("cost", FactValue::Money(400_000)),
    );
    let directives: Vec<_> =
        outcome.directives.iter().map(|d| (d.text.as_str(), d.steps, d.advice)).collect();
    assert_eq!(directives, [("prefer cheap tools", Some(2), true), ("x", None, false)]);
    assert_eq!(outcome.pause.map(|pause| pause.rule), Some(0));
    assert_eq!(outcome.checkpoints[0].text.as_deref(), Some("c"));
}

#[test]
fn a_rule_that_is_not_understood_is_reported_and_the_others_fire() {
    let rules = ["If the moon is full → pause", "If cost > $0.30 → pause"];
    let outcome = run(&rules, &facts(), &facts().with("cost", FactValue::Money(400_000)));
    assert_eq!(outcome.not_understood[0].rule, 0);
    assert_eq!(outcome.trace[0].rule, 1);
}

#[test]
fn what_is_missing_is_unknown_and_named() {
    let rule = rule("If not (variables.x > 3) → pause");
    let explanation = explain(&rule, &facts(), &facts());
    assert_eq!(explanation.after.truth, Truth::Unknown);
    assert_eq!(explanation.why_not, Some(WhyNot::Unknown));
    let printed = explanation.to_string();
    assert!(printed.ends_with("does not fire: `variables.x` is not known"), "{printed}");
    let odd = facts().with("variables.x", text("many"));
    let printed = explain(&rule, &facts(), &odd).to_string();
    assert!(printed.ends_with("the values cannot be compared"), "{printed}");
}

#[test]
fn one_decisive_part_outweighs_an_unknown_one() {
    let any = rule("If variables.x > 3 or cost > $0.05 → pause");
    assert_eq!(any.condition.eval(&facts()).truth, Truth::True);
    let all = rule("If variables.x > 3 and cost > $5 → pause");
    assert_eq!(all.condition.eval(&facts()).truth, Truth::False);
}

#[test]
fn explanations_say_why_a_rule_fires_or_not() {
    let rule = rule("If cost exceeds 80% of budget → pause");
    let dear = facts().with("cost", FactValue::Money(410_000));
    assert_eq!(
        explain(&rule, &facts(), &dear).to_string(),
        "means: if cost > 80% of budget → pause\n\
         before: false with cost = $0.10, budget = $0.50\n\
         after: true with cost = $0.41, budget = $0.50\n\
         fires: the condition became true"
    );
    assert_eq!(explain(&rule, &dear, &dear).why_not, Some(WhyNot::TrueBefore));
    assert_eq!(explain(&rule, &dear, &facts()).why_not, Some(WhyNot::NotTrue));
    // Exactly 80% is not more than 80%.
    let exact = facts().with("cost", FactValue::Money(400_000));
    assert!(!explain(&rule, &facts(), &exact).fires);
}

#[test]
fn variables_are_compared_as_what_they_are() {
    let json = serde_json::json!({"n": 5, "s": "5", "t": "Yes", "flag": true, "list": ["a", 1]});
    let mut known = Facts::new();
    for (name, value) in json.as_object().unwrap() {
        known.insert(format!("variables.{name}"), FactValue::from_json(value));
    }
    for condition in [
        "variables.n = 5",
        "variables.s > 4",
        "variables.n is \"5\"",
        "variables.t is yes",
        "variables.flag",
        "variables.flag is not false",
        "variables.list contains \"1\"",
        "variables.n >= variables.s",
        "variables.gone is missing",
    ] {
        assert!(rule(&format!("If {condition} → pause")).condition.holds(&known), "{condition}");
    }
    for condition in ["variables.n = 6", "variables.t is no", "variables.list contains b"] {
        assert!(!rule(&format!("If {condition} → pause")).condition.holds(&known), "{condition}");
    }
}
