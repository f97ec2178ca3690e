//! What the rule language promises, as tables and properties.

mod actions;
mod conditions;
mod corpus;
mod firing;
mod idioms;
mod properties;
mod refusals;

use super::{Action, Condition, Rule};
use crate::domain::Workflow;

fn meaning(condition: &str) -> String {
    match Condition::parse(condition, Workflow::builtin()) {
        Ok(parsed) => parsed.to_string(),
        Err(error) => panic!("{condition}: {error}"),
    }
}

fn effects(actions: &str) -> String {
    match Action::parse_all(actions, Workflow::builtin()) {
        Ok(parsed) => {
            let printed: Vec<_> = parsed.iter().map(Action::to_string).collect();
            printed.join(", ")
        }
        Err(error) => panic!("{actions}: {error}"),
    }
}

fn rule(text: &str) -> Rule {
    Rule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// What is expected is at the beginning of a line; each line below it, indented, says it in words.
fn table(text: &str) -> Vec<(&str, &str)> {
    let mut expected = "";
    let mut pairs = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("    ") {
            Some(words) => pairs.push((expected, words)),
            None => expected = line,
        }
    }
    assert!(!pairs.is_empty());
    pairs
}
