//! The outcome of an event: changes, requests, and the trace that explains them.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::{Action, ObservedFact, RuleError};
use crate::domain::FactValue;

/// The outcome of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RuleOutcome {
    /// Modifiers that have another value now, each once, in the order of their first change.
    pub changes: Vec<ModifierChange>,
    /// Directives to add.
    pub directives: Vec<NewDirective>,
    /// Reviews to open: the rule and its reason, if it gives one.
    pub reviews: Vec<RuleRequest>,
    /// The first rule that pauses the plan.
    pub pause: Option<RuleRequest>,
    /// Checkpoints to save: the rule and the name, if it gives one.
    pub checkpoints: Vec<RuleRequest>,
    /// Every rule that fired, in the order of firing.
    pub trace: Vec<TraceLine>,
    /// Rules that would set each other off without end.
    pub cycles: Vec<Cycle>,
    /// Rules that were not understood and so could not fire.
    pub not_understood: Vec<NotUnderstood>,
}

/// A modifier and how it changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModifierChange {
    pub modifier: String,
    pub before: FactValue,
    /// What it is now.
    pub after: FactValue,
    /// The index of the rule that decided it.
    pub rule: usize,
}

/// A directive that a rule adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewDirective {
    /// The index of the rule.
    pub rule: usize,
    /// Its text, word for word.
    pub text: String,
    /// For how many steps it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Whether it was prose rather than `add directive`.
    pub advice: bool,
}

/// A review, a pause or a checkpoint that a rule asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleRequest {
    /// The index of the rule.
    pub rule: usize,
    /// The reason, or the name of the checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// One rule that fired.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceLine {
    /// The index of the rule.
    pub rule: usize,
    /// The rule as written.
    pub text: String,
    /// The values that its condition saw.
    pub seen: Vec<ObservedFact>,
    /// What it changed, or would have changed if no later rule had decided otherwise.
    pub changes: Vec<RuleChange>,
    /// The index of the rule whose change set it off; `None` if the event did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caused_by: Option<usize>,
}

/// What one rule did to one modifier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleChange {
    pub modifier: String,
    pub before: FactValue,
    /// What the rule made of it.
    pub after: FactValue,
    /// The index of the later rule that set the same modifier and so decided it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden_by: Option<usize>,
}

/// Rules that set each other off: each one the next, and the last one the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cycle {
    /// The indices of the rules.
    pub rules: Vec<usize>,
}

/// A rule that was not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotUnderstood {
    /// The index of the rule.
    pub rule: usize,
    /// The rule as written.
    pub text: String,
    /// Why.
    pub error: RuleError,
}

impl RuleOutcome {
    /// Takes note of an action that changes no modifier.
    pub(super) fn request(&mut self, action: &Action, rule: usize) {
        let directive = |text: &String, steps: &Option<u32>, advice| NewDirective {
            rule,
            text: text.clone(),
            steps: *steps,
            advice,
        };
        match action {
            Action::Directive { text, steps } => {
                self.directives.push(directive(text, steps, false));
            }
            Action::Advice { text, steps } => self.directives.push(directive(text, steps, true)),
            Action::Review { reason } => {
                self.reviews.push(RuleRequest { rule, text: reason.clone() });
            }
            Action::Pause { reason } => {
                let request = RuleRequest { rule, text: reason.clone() };
                self.pause.get_or_insert(request);
            }
            Action::Checkpoint { name } => {
                self.checkpoints.push(RuleRequest { rule, text: name.clone() });
            }
            Action::Set { .. } | Action::Shift { .. } | Action::Adjust { .. } => {}
        }
    }
}

impl Display for TraceLine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}: {}", self.rule + 1, self.text)?;
        for (i, seen) in self.seen.iter().enumerate() {
            write!(f, "{}{seen}", if i == 0 { " (" } else { ", " })?;
        }
        if !self.seen.is_empty() {
            f.write_str(")")?;
        }
        for change in &self.changes {
            let RuleChange { modifier, before, after, overridden_by } = change;
            write!(f, "; {modifier}: {before} → {after}")?;
            if let Some(rule) = overridden_by {
                write!(f, ", overridden by rule {}", rule + 1)?;
            }
        }
        Ok(())
    }
}
