//! Modifiers: the settings of constraints.md that rules may change, with their allowed values.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::SettingGroup;
use crate::domain::{FactValue, nearest::nearest, nearest::same_name};

/// What values a modifier takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModifierKind {
    /// One of its values, which go from the lowest to the highest.
    Ordered,
    /// One of its values, in no order.
    Enum,
    /// A number that is not negative.
    Number,
    /// An amount of money.
    Money,
    Duration,
    Percent,
    /// Any text of one line.
    Text,
    /// A list of texts.
    List,
}

/// One modifier: its name, the values it takes and the one it starts with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Modifier {
    pub(crate) name: String,
    pub(crate) kind: ModifierKind,
    pub(crate) group: SettingGroup,
    pub(crate) values: Vec<String>,
    pub(crate) default: Option<String>,
}

/// Why a value was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
pub enum ValueError {
    /// Not one of the allowed values.
    #[error("`{value}` is not a value of `{modifier}`; allowed: {}", backticked(.allowed))]
    NotAllowed {
        modifier: String,
        value: String,
        /// What may be given.
        allowed: Vec<String>,
        /// The allowed value that was probably meant.
        nearest: Option<String>,
    },
    /// Not the right kind of value.
    #[error("`{modifier}` takes {expected}, not `{value}`")]
    WrongKind {
        modifier: String,
        value: String,
        /// What it takes, with an example.
        expected: &'static str,
    },
}

impl ValueError {
    /// The allowed value that was probably meant.
    pub fn nearest(&self) -> Option<&str> {
        match self {
            Self::NotAllowed { nearest, .. } => nearest.as_deref(),
            Self::WrongKind { .. } => None,
        }
    }

    /// How to make the value allowed, if that is a matter of configuration.
    pub fn how_to_allow(&self) -> Option<String> {
        match self {
            Self::NotAllowed { modifier, value, .. } => Some(format!(
                "to allow `{value}`, add it to the values of `{modifier}` in workflow.yaml"
            )),
            Self::WrongKind { .. } => None,
        }
    }
}

impl Modifier {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What values it takes.
    pub fn kind(&self) -> ModifierKind {
        self.kind
    }

    /// The list of constraints.md it is in.
    pub fn group(&self) -> SettingGroup {
        self.group
    }

    /// The allowed values, lowest first if they have an order; empty if any value of the kind goes.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The value it starts with, as written in the file.
    pub fn default(&self) -> Option<&str> {
        self.default.as_deref()
    }

    /// The allowed value that `text` names, whatever its letter case, spaces and hyphens.
    pub fn value_named(&self, text: &str) -> Option<&str> {
        self.values.iter().map(String::as_str).find(|value| same_name(value, text))
    }

    /// The position of a value on an ordered scale, from zero.
    pub fn rank(&self, text: &str) -> Option<usize> {
        if self.kind != ModifierKind::Ordered {
            return None;
        }
        self.values.iter().position(|value| same_name(value, text))
    }

    /// Whether it limits something: a number, an amount, a duration or a share.
    pub fn is_limit(&self) -> bool {
        use ModifierKind::{Duration, Money, Number, Percent};
        matches!(self.kind, Number | Money | Duration | Percent)
    }

    /// What the file says while it has no value.
    pub fn unset_text(&self) -> &'static str {
        if self.is_limit() { UNLIMITED } else { NOT_SET }
    }

    /// The value from which it is raised or lowered while it has none: its default, or the middle
    /// of an ordered scale.
    pub fn starting_rank(&self) -> Option<usize> {
        let default = self.default.as_deref().and_then(|default| self.rank(default));
        let middle = (self.kind == ModifierKind::Ordered).then_some(self.values.len() / 2);
        default.or(middle)
    }

    /// Reads a value as written in the file or given by a person; `Missing` for `unlimited`.
    pub fn read(&self, text: &str) -> Result<FactValue, ValueError> {
        let text = text.trim();
        match self.kind {
            ModifierKind::Ordered | ModifierKind::Enum => self
                .value_named(unquoted(text))
                .map(FactValue::text)
                .ok_or_else(|| self.not_allowed(unquoted(text))),
            ModifierKind::Text => {
                let text = unquoted(text);
                if text.is_empty() || text.contains(char::is_control) {
                    return Err(self.wrong_kind(text));
                }
                Ok(FactValue::text(text))
            }
            ModifierKind::List => read_list(text).ok_or_else(|| self.wrong_kind(text)),
            _ if is_unlimited(unquoted(text)) => Ok(FactValue::Missing),
            _ => FactValue::parse_quantity(unquoted(text))
                .and_then(|value| self.coerce(&value))
                .ok_or_else(|| self.wrong_kind(text)),
        }
    }

    /// The value in the unit of this modifier: a plain number becomes dollars, seconds or percent.
    /// `None` if it is of another kind, not allowed, or negative.
    pub fn coerce(&self, value: &FactValue) -> Option<FactValue> {
        use crate::domain::quantity::{duration, money};
        let value = match (self.kind, value) {
            (ModifierKind::Ordered | ModifierKind::Enum, FactValue::Text(text)) => {
                FactValue::text(self.value_named(text)?)
            }
            (ModifierKind::Money, FactValue::Number(n)) => money(*n)?,
            (ModifierKind::Duration, FactValue::Number(n)) => duration(n * 1000.0)?,
            (ModifierKind::Percent, FactValue::Number(n)) => FactValue::Percent(*n),
            (ModifierKind::Number, FactValue::Number(_))
            | (ModifierKind::Money, FactValue::Money(_))
            | (ModifierKind::Duration, FactValue::Duration(_))
            | (ModifierKind::Percent, FactValue::Percent(_))
            | (ModifierKind::Text, FactValue::Text(_))
            | (ModifierKind::List, FactValue::List(_)) => value.clone(),
            (ModifierKind::List, FactValue::Text(text)) => FactValue::List(vec![text.clone()]),
            _ => return None,
        };
        let negative = match &value {
            FactValue::Number(n) | FactValue::Percent(n) => *n < 0.0,
            FactValue::Money(n) | FactValue::Duration(n) => *n < 0,
            _ => false,
        };
        (!negative).then_some(value)
    }

    /// What it takes, as words for a message.
    pub fn expected(&self) -> &'static str {
        match self.kind {
            ModifierKind::Ordered | ModifierKind::Enum => "one of its values",
            ModifierKind::Number => "a number such as `20`",
            ModifierKind::Money => "an amount such as `$0.50`",
            ModifierKind::Duration => "a duration such as `300 seconds`",
            ModifierKind::Percent => "a percentage such as `80%`",
            ModifierKind::Text => "a text of one line",
            ModifierKind::List => r#"a list such as `["Read", "Write"]`"#,
        }
    }

    pub(crate) fn not_allowed(&self, value: &str) -> ValueError {
        ValueError::NotAllowed {
            modifier: self.name.clone(),
            value: value.to_owned(),
            allowed: self.values.clone(),
            nearest: nearest(value, self.values.iter().map(String::as_str)).map(str::to_owned),
        }
    }

    fn wrong_kind(&self, value: &str) -> ValueError {
        ValueError::WrongKind {
            modifier: self.name.clone(),
            value: value.to_owned(),
            expected: self.expected(),
        }
    }
}

/// What the file says of a modifier that has no value.
pub(crate) const NOT_SET: &str = "not set";
/// What the file says of a limit that has no value.
pub(crate) const UNLIMITED: &str = "unlimited";

/// Whether a text says that a modifier has no value.
pub(crate) fn is_not_set(text: &str) -> bool {
    same_name(text.trim(), NOT_SET)
}

/// Whether a text says that there is no limit.
pub(crate) fn is_unlimited(text: &str) -> bool {
    [UNLIMITED, "no limit", "none", NOT_SET].iter().any(|word| same_name(word, text.trim()))
}

/// The names in backticks, separated by commas.
pub(crate) fn backticked<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    names.join(", ")
}

pub(super) fn unquoted(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

fn read_list(text: &str) -> Option<FactValue> {
    if text.starts_with('[') {
        let items: Vec<String> = serde_json::from_str(text).ok()?;
        return Some(FactValue::List(items));
    }
    let items = text.split(',').map(|item| unquoted(item.trim()).to_owned());
    let items: Vec<String> = items.filter(|item| !item.is_empty()).collect();
    (!items.is_empty()).then_some(FactValue::List(items))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Workflow;

    fn modifier(name: &str) -> &'static Modifier {
        Workflow::builtin().modifier(name).unwrap()
    }

    #[test]
    fn values_are_found_whatever_their_case_and_separators() {
        let priority = modifier("priority");
        for text in ["cost_efficiency", "Cost Efficiency", "COST-EFFICIENCY", "\"cost_efficiency\""]
        {
            assert_eq!(priority.read(text), Ok(FactValue::text("cost_efficiency")), "{text}");
        }
    }

    #[test]
    fn an_unknown_value_is_refused_with_the_nearest_and_the_way_to_allow_it() {
        let error = modifier("error_tolerance").read("strickt").unwrap_err();
        assert_eq!(error.nearest(), Some("strict"));
        assert_eq!(
            error.to_string(),
            "`strickt` is not a value of `error_tolerance`; allowed: `strict`, `moderate`, `flexible`"
        );
        assert!(error.how_to_allow().unwrap().contains("workflow.yaml"));
    }

    #[test]
    fn quantities_take_the_unit_of_the_modifier() {
        assert_eq!(modifier("max_cost_per_task").read("0.50"), Ok(FactValue::Money(500_000)));
        assert_eq!(modifier("max_execution_time").read("5 min"), Ok(FactValue::Duration(300_000)));
        assert_eq!(modifier("max_web_requests").read("5"), Ok(FactValue::Number(5.0)));
        for (name, text) in [
            ("max_cost_per_task", "5 minutes"),
            ("max_cost_per_task", "-1"),
            ("max_web_requests", "few"),
            ("max_execution_time", "$3"),
        ] {
            assert!(modifier(name).read(text).is_err(), "{name} = {text}");
        }
    }

    #[test]
    fn a_limit_may_be_unlimited_and_nothing_else_may() {
        for text in ["unlimited", "Unlimited", "no limit", "none", "not set", "\"unlimited\""] {
            assert_eq!(modifier("max_web_requests").read(text), Ok(FactValue::Missing), "{text}");
            assert!(modifier("priority").read(text).is_err(), "{text}");
        }
        assert_eq!(modifier("max_cost_per_task").unset_text(), "unlimited");
        assert_eq!(modifier("active_persona").unset_text(), "not set");
        assert!(modifier("max_web_requests").read("limited").is_err());
    }

    #[test]
    fn what_is_not_set_is_raised_and_lowered_from_the_middle() {
        let at = |name: &str| modifier(name).starting_rank().map(|at| &modifier(name).values[at]);
        assert_eq!(at("user_sentiment").unwrap(), "neutral");
        assert_eq!(at("error_tolerance").unwrap(), "moderate");
        assert_eq!(at("priority"), None);
    }

    #[test]
    fn a_list_is_read_as_json_or_separated_by_commas() {
        let expected = FactValue::List(vec!["Read".into(), "Write".into()]);
        let tools = modifier("preferred_tools");
        assert_eq!(tools.read(r#"["Read", "Write"]"#), Ok(expected.clone()));
        assert_eq!(tools.read("Read, Write"), Ok(expected));
        assert!(tools.read("[1, 2").is_err());
    }
}
