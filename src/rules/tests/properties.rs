//! Properties: no text breaks the parser, and the canonical form reads back as the same rule.

use proptest::{collection::vec, option, prelude::*, sample::select};

use crate::{
    domain::{FactValue, Facts, Workflow},
    rules::{Action, Condition, Directive, Op, Operand, Rule, WrittenRule, fire},
};

fn op() -> impl Strategy<Value = Op> {
    select(vec![Op::Above, Op::AtLeast, Op::Below, Op::AtMost, Op::Equal, Op::NotEqual])
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-1000i32..1000).prop_map(f64::from),
        (0i32..100_000).prop_map(|n| f64::from(n) / 64.0)
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,8}", "\\PC{1,20}", "[\"'\\\\ \n\r\ta*`→“”]{1,12}"]
        .prop_filter("texts that trim away are refused", |text| !text.trim().is_empty())
}

fn comparison() -> impl Strategy<Value = Condition> {
    let count = (select(vec!["attempts", "failed_steps", "max_web_requests"]), op(), number())
        .prop_map(|(fact, op, n)| compare(fact, op, Operand::Value(FactValue::Number(n))));
    let money = (op(), -10_000_000i64..10_000_000)
        .prop_map(|(op, n)| compare("cost", op, Operand::Value(FactValue::Money(n))));
    let time = (op(), -1_000_000i64..10_000_000)
        .prop_map(|(op, n)| compare("execution_time", op, Operand::Value(FactValue::Duration(n))));
    let share = (op(), number()).prop_map(|(op, percent)| {
        compare("cost", op, Operand::Share { percent, of: "budget".to_owned() })
    });
    let fact = op()
        .prop_map(|op| compare("web_requests", op, Operand::Fact("max_web_requests".to_owned())));
    let text = (select(vec!["task_type", "event.type", "variables.a.b"]), words(), any::<bool>())
        .prop_map(|(fact, text, same)| {
            let op = if same { Op::Equal } else { Op::NotEqual };
            compare(fact, op, Operand::Value(FactValue::Text(text)))
        });
    let among = vec(words(), 2..4)
        .prop_filter("the parser drops repetitions", |all| {
            all.iter().enumerate().all(|(i, value)| !all[..i].contains(value))
        })
        .prop_map(|values| Condition::In { fact: "event.x".to_owned(), values });
    let contains =
        words().prop_map(|text| Condition::Contains { fact: "event.error".to_owned(), text });
    let known = Just(Condition::Known { fact: "variables.x".to_owned() });
    let flag = any::<bool>()
        .prop_map(|flag| compare("variables.f", Op::Equal, Operand::Value(FactValue::Bool(flag))));
    prop_oneof![count, money, time, share, fact, text, among, contains, known, flag]
}

fn compare(fact: &str, op: Op, with: Operand) -> Condition {
    Condition::Compare { fact: fact.to_owned(), op, with }
}

fn condition() -> impl Strategy<Value = Condition> {
    comparison().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(Condition::all),
            vec(inner.clone(), 2..4).prop_map(Condition::any),
            inner.prop_map(Condition::negate),
        ]
    })
}

fn action() -> impl Strategy<Value = Action> {
    let steps = || option::of(1u32..10_000);
    let set = select(vec!["quality", "cost_efficiency"]).prop_map(|value| Action::Set {
        modifier: "priority".to_owned(),
        value: FactValue::text(value),
    });
    let list = vec(words(), 0..4).prop_map(|items| Action::Set {
        modifier: "preferred_tools".to_owned(),
        value: FactValue::List(items),
    });
    let shift = prop_oneof![-1000i32..0, 1i32..1000]
        .prop_map(|steps| Action::Shift { modifier: "error_tolerance".to_owned(), steps });
    let adjust = prop_oneof![-1_000_000i64..0, 1i64..1_000_000].prop_map(|n| Action::Adjust {
        modifier: "max_cost_per_task".to_owned(),
        by: FactValue::Money(n),
    });
    prop_oneof![
        set,
        list,
        shift,
        adjust,
        (words(), steps()).prop_map(|(text, steps)| Action::Directive { text, steps }),
        (words(), steps()).prop_map(|(text, steps)| Action::Advice { text, steps }),
        option::of(words()).prop_map(|reason| Action::Review { reason }),
        option::of(words()).prop_map(|reason| Action::Pause { reason }),
        option::of(words()).prop_map(|name| Action::Checkpoint { name }),
    ]
}

/// Sentences made of the words of the language, which get further into the grammar than noise.
fn almost_a_rule() -> impl Strategy<Value = String> {
    let pieces = vec![
        "If", "cost", "exceeds", "80%", "of", "budget", "→", "set", "priority", "to",
        "\"quality\"", "and", "or", "not", "(", ")", ",", ";", ".", ":", "2+", "consecutive",
        "steps", "fail", "a", "step", "user", "is", "frustrated", "for", "the", "next", "2",
        "pause", "raise", "error_tolerance", "by", "one", "=", ">", "->", "**", "`", "'", "advise",
        "\"x\"", "in", "[", "]", "between", "variables.a", "event.type", "half", "$5", "s",
        "minutes", "then", "unless", "no", "more", "than", "human", "review", "require",
        "directive", "add", "checkpoint", "é→",
    ];
    vec(select(pieces), 0..16).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_form_reads_back_as_the_same_rule(
        label in option::of("[A-Z][a-z]{1,8}( [a-z0-9]{1,6}){0,2}"),
        condition in condition(),
        actions in vec(action(), 1..4),
    ) {
        let rule = Rule { label, condition, actions };
        let printed = rule.to_string();
        prop_assert_eq!(Rule::parse(&printed), Ok(rule), "{}", printed);
    }

    #[test]
    fn no_text_breaks_the_parser(text in "\\PC*|[\\s\\S]{0,200}") {
        let _ = Rule::parse(&text);
        let _ = Action::parse_all(&text, Workflow::builtin());
        let _ = Directive::parse(&text, Workflow::builtin());
        let _ = Condition::parse(&text, Workflow::builtin());
    }

    #[test]
    fn what_is_understood_means_what_it_prints(text in almost_a_rule()) {
        match Rule::parse(&text) {
            Ok(rule) => {
                let printed = rule.to_string();
                prop_assert_eq!(Rule::parse(&printed), Ok(rule), "{} printed {}", text, printed);
            }
            Err(error) => {
                prop_assert!(text.get(error.span.clone()).is_some(), "{}: {:?}", text, error);
                prop_assert!(!error.message.is_empty());
            }
        }
    }

    #[test]
    fn firing_ends_and_is_repeatable(rules in vec((condition(), vec(action(), 1..3)), 1..12)) {
        let entries: Vec<WrittenRule> = rules
            .into_iter()
            .map(|(condition, actions)| {
                let rule = Rule { label: None, condition, actions };
                WrittenRule { source: rule.to_string(), parsed: Ok(rule) }
            })
            .collect();
        let after = Facts::new()
            .with("cost", FactValue::Money(1_000_000))
            .with("attempts", FactValue::Number(2.0))
            .with("event.type", FactValue::text("a"));
        let once = fire(&entries, &Facts::new(), &after, Workflow::builtin());
        prop_assert!(once.trace.len() <= entries.len());
        prop_assert_eq!(once, fire(&entries, &Facts::new(), &after, Workflow::builtin()));
    }
}
