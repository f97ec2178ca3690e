//! A corpus of lines that people write, with what each of them must mean.

use crate::{
    domain::Workflow,
    rules::{Action, Directive, WrittenRule},
};

const CORPUS: &str = include_str!("../../../tests/rules/readings.txt");

/// The lines with their expected reading and their list.
fn corpus() -> Vec<(&'static str, &'static str, &'static str)> {
    let lines = CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = |line: &'static str| {
        let (reading, rest) = line.split_once(" | ").unwrap();
        let (list, text) = rest.split_once(" | ").unwrap();
        (reading.trim(), list.trim(), text.trim())
    };
    lines.map(parts).collect()
}

fn of_actions(actions: &[Action]) -> &'static str {
    let is_text =
        |action: &Action| matches!(action, Action::Advice { .. } | Action::Directive { .. });
    if actions.iter().all(is_text) { "advice" } else { "executes" }
}

/// What a line means to the engine.
fn reading(list: &str, text: &str) -> &'static str {
    let workflow = Workflow::builtin();
    match list {
        "rule" => WrittenRule::parse(text, workflow)
            .parsed
            .map_or("prose", |rule| of_actions(&rule.actions)),
        "directive" => match Directive::parse(text, workflow) {
            Directive::Conditional(rule) => of_actions(&rule.actions),
            _ => "prose",
        },
        // A behaviour that is not an action is passed on with the others.
        "behaviour" => Action::parse_all(text, Workflow::builtin())
            .map_or("advice", |actions| of_actions(&actions)),
        other => panic!("{other} is no list"),
    }
}

/// A reader that loses conditions: every part between commas and full stops for itself.
fn hasty(text: &str) -> &'static str {
    let parts = text.split([',', '.', ';', ':', '→']).flat_map(|part| part.split(" and "));
    let words = |part: &str| {
        let verbs = ["pause", "escalate", "checkpoint", "ask a human", "require human review"];
        let part = part.trim().to_lowercase();
        verbs.iter().any(|verb| part.starts_with(verb))
    };
    let executes = |part: &str| {
        words(part)
            || Action::parse_all(part, Workflow::builtin())
                .is_ok_and(|found| of_actions(&found) == "executes")
    };
    if parts.into_iter().any(executes) { "executes" } else { "advice" }
}

#[test]
fn every_line_of_the_corpus_means_what_it_should() {
    let corpus = corpus();
    assert!(corpus.len() >= 300, "{}", corpus.len());
    let wrong: Vec<String> = corpus
        .iter()
        .filter(|(expected, list, text)| reading(list, text) != *expected)
        .map(|(expected, list, text)| {
            format!("{} instead of {expected}: {list}: {text}", reading(list, text))
        })
        .collect();
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_reader_that_loses_conditions_is_found_out() {
    let caught = corpus()
        .iter()
        .filter(|(expected, _, text)| *expected != "executes" && hasty(text) == "executes")
        .count();
    assert!(caught >= 150, "only {caught} lines would tell");
}

#[test]
fn what_is_not_executed_is_kept_word_for_word() {
    for (expected, list, text) in corpus() {
        if (expected, list) == ("advice", "behaviour")
            && let Ok(actions) = Action::parse_all(text, Workflow::builtin())
        {
            let [Action::Advice { text: kept, .. }] = actions.as_slice() else { continue };
            assert_eq!(kept.trim_end_matches('.'), text.trim_end_matches('.'));
        }
    }
}
