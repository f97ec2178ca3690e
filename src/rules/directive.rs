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
    /// Acts when its condition becomes true, while its lifetime lasts.
    Conditional(Box<Rule>),
    /// Has a condition that is not understood; it still is advice for the agent.
    NotUnderstood(RuleError),
}

impl Directive {
    /// Reads a directive with the modifiers and statuses of `workflow`.
    pub(crate) fn parse(text: &str, workflow: &Workflow) -> Self {
        let lifetime = Self::lifetime(text);
        let limited = lifetime.as_ref().and_then(Lifetime::limited).unwrap_or(text);
        if grammar::opens_condition(limited) {
            let start = text.len() - limited.len();
            return match grammar::rule(limited, workflow) {
                Ok(rule) => Self::Conditional(Box::new(rule)),
                Err(error) => Self::NotUnderstood(error.moved_by(start)),
            };
        }
        match lifetime {
            Some(lifetime) => Self::Expiring { steps: lifetime.steps() },
            None => Self::Plain,
        }
    }

    /// For how many more steps a directive holds, with or without a condition. A lifetime behind a
    /// condition is that of what the directive does.
    pub(crate) fn lifetime(text: &str) -> Option<Lifetime<'_>> {
        Lifetime::parse(text).filter(|_| !grammar::opens_condition(text))
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
    fn a_condition_may_have_a_lifetime() {
        let rule = |text: &str| match parse(text) {
            Directive::Conditional(rule) => rule.to_string(),
            other => panic!("{text}: {other:?}"),
        };
        let bare = rule("If cost > $1, pause");
        let steps = |text| Directive::lifetime(text).map(|lifetime| lifetime.steps());
        for text in [
            "For the next 2 steps, If cost > $1, pause",
            "For the next 2 steps if cost > $1, pause",
            "**For the next 2 steps**: if cost > $1, pause",
        ] {
            assert_eq!((rule(text), steps(text)), (bare.clone(), Some(2)), "{text}");
        }
        let inner = "If a step fails, add directive \"be brief\" for the next 2 steps";
        assert_eq!(steps(inner), None, "the condition itself stays");
        let text = "For the next 2 steps, if unsure, ask a human";
        let Directive::NotUnderstood(error) = parse(text) else { panic!("{text}") };
        let Directive::NotUnderstood(bare) = parse("if unsure, ask a human") else { panic!() };
        assert_eq!(text[error.span], "if unsure, ask a human"[bare.span]);
        assert_eq!(steps(text), Some(2));
    }

    #[test]
    fn a_condition_in_plain_words_is_reported() {
        assert!(matches!(parse("If unsure, ask a human"), Directive::NotUnderstood(_)));
    }
}
