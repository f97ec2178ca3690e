//! Lines under *Active Directives*: plain ones, ones that expire, and ones with a condition.

use super::{Rule, RuleError};
use crate::{
    domain::{Workflow, constraints::lifetime::Lifetime},
    rules::parse::grammar,
};

/// A directive as written, and what the engine makes of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Directive {
    /// Holds until it is removed.
    Plain,
    /// Holds for this many more steps.
    Expiring {
        /// How many.
        steps: u32,
    },
    /// Acts when its condition becomes true.
    Conditional(Box<Rule>),
    /// Has a condition that is not understood; it still is advice for the agent.
    NotUnderstood(RuleError),
}

impl Directive {
    /// Reads a directive with the modifiers and statuses of `workflow`.
    pub(crate) fn parse(text: &str, workflow: &Workflow) -> Self {
        if grammar::opens_condition(text) {
            return match grammar::rule(text, workflow) {
                Ok(rule) => Self::Conditional(Box::new(rule)),
                Err(error) => Self::NotUnderstood(error),
            };
        }
        match Lifetime::parse(text) {
            Some(lifetime) => Self::Expiring { steps: lifetime.steps() },
            None => Self::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Directive {
        Directive::parse(text, Workflow::builtin())
    }

    #[test]
    fn the_directives_of_the_template_are_distinguished() {
        let expiring = "For the next 2 steps, prioritize tools with lower latency";
        assert_eq!(parse(expiring), Directive::Expiring { steps: 2 });
        for plain in [
            "Do not generate any new components unless explicitly approved",
            "Provide brief, bulleted summaries instead of long paragraphs",
        ] {
            assert_eq!(parse(plain), Directive::Plain, "{plain}");
        }
        let text = "If sentiment drops to \"frustrated\", immediately seek human guidance";
        let Directive::Conditional(rule) = parse(text) else { panic!("{text}") };
        let canonical = "if user_sentiment = \"frustrated\" → require human review";
        assert_eq!(rule.to_string(), canonical);
    }

    #[test]
    fn a_lifetime_may_stand_at_the_end_and_limits_anything() {
        assert_eq!(parse("Be brief for the next three steps."), Directive::Expiring { steps: 3 });
        assert_eq!(parse("For the next step: ask a human"), Directive::Expiring { steps: 1 });
        assert_eq!(parse("Wait for 2 steps of the dance"), Directive::Plain);
    }

    #[test]
    fn a_condition_in_plain_words_is_reported() {
        assert!(matches!(parse("If unsure, ask a human"), Directive::NotUnderstood(_)));
    }
}
