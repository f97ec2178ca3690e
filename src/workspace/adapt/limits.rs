//! Resource limits: exceeding one is an event.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use super::super::{Answer, Change, Draft};
use super::Event;
use crate::domain::{Constraints, FactValue, Facts};

/// Facts, each with the setting that limits it.
const WATCHED: [(&str, &str); 4] = [
    ("cost", "max_cost_per_task"),
    ("execution_time", "max_execution_time"),
    ("file_operations", "max_file_operations"),
    ("web_requests", "max_web_requests"),
];

/// How much of a limit is used.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LimitUse {
    /// What is measured, such as `web_requests`.
    pub fact: &'static str,
    /// The setting that limits it.
    pub limit: &'static str,
    /// How much is used.
    pub used: FactValue,
    /// How much may be used.
    pub at_most: FactValue,
    /// Whether it is more than that.
    pub exceeded: bool,
}

impl LimitUse {
    /// The event that crossing it is.
    pub(super) fn event(&self) -> Event {
        let mut payload = serde_json::Map::new();
        payload.insert("limit".to_owned(), json!(self.limit));
        payload.insert("fact".to_owned(), json!(self.fact));
        payload.insert("value".to_owned(), json!(self.used.to_string()));
        Event { kind: "limit_exceeded".to_owned(), payload }
    }

    /// That it is exceeded, in as few words as possible.
    pub(crate) fn in_short(&self) -> String {
        format!("{} is exceeded: {:#} of {:#}", self.limit, self.used, self.at_most)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "limit": self.limit, "fact": self.fact, "value": self.used, "at_most": self.at_most })
    }
}

/// That it is exceeded; with `{:#}` as people read it.
impl fmt::Display for LimitUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fact, limit, used, at_most, .. } = self;
        write!(f, "{limit} is exceeded: {fact} = ")?;
        used.fmt(f)?;
        f.write_str(", at most ")?;
        at_most.fmt(f)
    }
}

/// What is used of the limits that are set.
pub(in super::super) fn limits(facts: &Facts) -> Vec<LimitUse> {
    let set = WATCHED.iter().filter(|(_, limit)| !facts.get(limit).is_missing());
    let used = |(fact, limit): &(&'static str, &'static str)| LimitUse {
        fact,
        limit,
        used: facts.get(fact).clone(),
        at_most: facts.get(limit).clone(),
        exceeded: is_over(facts, fact, limit),
    };
    set.map(used).collect()
}

/// The limits that the change crossed.
pub(super) fn crossed(before: &Facts, after: &Facts) -> Vec<LimitUse> {
    let is_new = |limit: &LimitUse| limit.exceeded && !is_over(before, limit.fact, limit.limit);
    limits(after).into_iter().filter(is_new).collect()
}

fn is_over(facts: &Facts, fact: &str, limit: &str) -> bool {
    facts.get(fact).compare(facts.get(limit)) == Some(std::cmp::Ordering::Greater)
}

/// Says when a tool was used that is not among the preferred ones.
pub(super) fn note_tool(
    draft: &mut Draft<'_>,
    change: &Change,
    constraints: &Constraints,
    answer: &Answer,
) {
    let Change::StepDone(result) = change else { return };
    let mapped = answer.data.get("step").and_then(|step| step["tool_mapping"].as_str());
    let Some(tool) = result.tool.as_deref().or(mapped) else { return };
    let Some(modifier) = draft.workflow().modifier("preferred_tools") else { return };
    let preferred = constraints.value("preferred_tools").and_then(|text| modifier.read(text).ok());
    let Some(FactValue::List(tools)) = preferred else { return };
    if !tools.is_empty() && !tools.iter().any(|known| known.eq_ignore_ascii_case(tool)) {
        draft
            .notices
            .push(format!("`{tool}` is not one of the preferred tools: {}", tools.join(", ")));
    }
}

/// Whether a line of constraints.md may be about an amount of time. A limit that is not set is not,
/// nor is a rule that compares with it.
pub(in crate::workspace) fn limits_time(constraints: &str) -> bool {
    const LIMIT: &str = "max_execution_time";
    let is_about_time = |line: &str| {
        let line = line.to_ascii_lowercase();
        let is_condition = line.contains("if ") || line.contains('→') || line.contains("->");
        let names_time =
            ["time", "second", "minute", "hour"].iter().any(|word| line.contains(word));
        names_time && (!is_condition || !line.contains(LIMIT))
    };
    let has_amount = |line: &&str| line.bytes().any(|byte| byte.is_ascii_digit());
    constraints.lines().filter(has_amount).any(is_about_time)
}
