//! Reading `workflow.yaml`: its shape, its limits, and what a workflow must have to make sense.

mod validate;

use std::borrow::Cow;

use serde::Deserialize;
use thiserror::Error;

use self::validate::validate;
use crate::domain::{
    AtLimit, Gate, LifecycleSubject, Modifier, ModifierKind, PlanRole, Route, SettingGroup,
    StepRole, Workflow, lifecycle::Status, parse_duration_ms,
};
use crate::text::yaml;

/// A workflow file larger than this is refused unread.
const MAX_BYTES: usize = 64 * 1024;
const MAX_NAME: usize = 64;
/// Why a workflow file was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum WorkflowError {
    /// Larger than any workflow needs to be.
    #[error("the workflow has {bytes} bytes; at most {MAX_BYTES} are read")]
    TooLarge {
        /// How large it is.
        bytes: usize,
    },
    /// Not YAML, or not of the shape of a workflow.
    #[error("{message}")]
    Yaml {
        /// What is wrong, with the line and column if they are known.
        message: String,
        /// The line, from one.
        line: Option<usize>,
    },
    /// Readable, but not a workflow that could work.
    #[error("{0}")]
    Invalid(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: Option<u32>,
    plan: Option<Vec<Status<PlanRole>>>,
    step: Option<Vec<Status<StepRole>>>,
    retry_limit: Option<u32>,
    at_limit: Option<String>,
    require_outputs: Option<bool>,
    stale_after: Option<String>,
    self_review: Option<SelfReview>,
    auto_complete: Option<bool>,
    checkboxes: Option<bool>,
    group: Option<String>,
    merge_queue: Option<Vec<String>>,
    gates: Option<Vec<GateEntry>>,
    modifiers: Option<Vec<ModifierEntry>>,
}

/// Whether whoever opened a review may decide it.
#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum SelfReview {
    Refused,
    Allowed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GateEntry {
    name: String,
    subject: Option<LifecycleSubject>,
    step: Option<String>,
    to: String,
    when: Option<String>,
    #[serde(default)]
    reject: Vec<Route>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModifierEntry {
    name: String,
    kind: ModifierKind,
    #[serde(default)]
    group: SettingGroup,
    #[serde(default)]
    values: Vec<String>,
    default: Option<String>,
}

/// Reads a workflow file; the built-in one if there is none or it cannot be used.
pub(crate) fn parse_or_builtin(bytes: Option<&[u8]>) -> Cow<'static, Workflow> {
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let own = text.and_then(|text| parse(text).ok());
    own.map_or_else(|| Cow::Borrowed(Workflow::builtin()), Cow::Owned)
}

/// Reads a `workflow.yaml`; sections left out are those of the default.
///
/// # Errors
/// It is too large, is not YAML of that shape, or makes no sense.
pub(crate) fn parse(yaml: &str) -> Result<Workflow, WorkflowError> {
    if yaml.len() > MAX_BYTES {
        return Err(WorkflowError::TooLarge { bytes: yaml.len() });
    }
    if let Some(line) = yaml::too_deep(yaml) {
        let message = format!("lists and maps are nested too deep at line {line}");
        return Err(WorkflowError::Yaml { message, line: Some(line) });
    }
    let file: File = serde_yaml::from_str(yaml).map_err(|error| WorkflowError::Yaml {
        line: error.location().map(|place| place.line()),
        message: error.to_string(),
    })?;
    match file.version {
        Some(1) => {}
        Some(other) => {
            return invalid(format!("version {other} is not known; write `version: 1`"));
        }
        None => return invalid("it has no version; write `version: 1` at its top"),
    }
    let standard = Workflow::builtin();
    let modifiers = file.modifiers.map(|entries| entries.into_iter().map(modifier).collect());
    let stale_after_ms = match &file.stale_after {
        None => standard.stale_after_ms,
        Some(text) => match parse_duration_ms(text) {
            Some(ms) if ms > 0 => ms,
            _ => return invalid(format!("`stale_after` is `{text}`, not a time such as 30m")),
        },
    };
    let at_limit = match file.at_limit.as_deref().map(str::trim) {
        None => standard.at_limit.clone(),
        Some("review") => AtLimit::Review,
        Some(status) => AtLimit::Status(status.to_owned()),
    };
    let mut workflow = Workflow {
        plan: file.plan.unwrap_or_else(|| standard.plan.clone()),
        step: file.step.unwrap_or_else(|| standard.step.clone()),
        retry_limit: file.retry_limit.unwrap_or(standard.retry_limit),
        at_limit,
        require_outputs: file.require_outputs.unwrap_or(standard.require_outputs),
        stale_after_ms,
        self_review: file.self_review == Some(SelfReview::Allowed),
        auto_complete: file.auto_complete.unwrap_or(standard.auto_complete),
        checkboxes: file.checkboxes.unwrap_or(standard.checkboxes),
        group: file.group,
        merge_queue: file.merge_queue.unwrap_or_default(),
        gates: standard.gates.clone(),
        modifiers: modifiers.unwrap_or_else(|| standard.modifiers.clone()),
    };
    if let Some(entries) = file.gates {
        let gates: Result<_, _> = entries.into_iter().map(|entry| gate(entry, &workflow)).collect();
        workflow.gates = gates?;
    }
    validate(workflow)
}

fn modifier(entry: ModifierEntry) -> Modifier {
    let ModifierEntry { name, kind, group, values, default } = entry;
    Modifier { name, kind, group, values, default }
}

/// What moves follows from the step or the status, where that belongs to one of both alone.
fn gate(entry: GateEntry, workflow: &Workflow) -> Result<Gate, WorkflowError> {
    let GateEntry { name, subject, step, to, when, reject } = entry;
    let is_of = (workflow.plan_status(&to).is_some(), workflow.step_status(&to).is_some());
    let subject = match (subject, &step, is_of) {
        (Some(LifecycleSubject::Plan), Some(_), _) => {
            return invalid(format!(
                "the gate `{name}` names a step, so its `subject` cannot be `plan`"
            ));
        }
        (Some(subject), ..) => subject,
        (None, Some(_), _) | (None, None, (false, true)) => LifecycleSubject::Step,
        (None, None, (true, true)) => {
            return invalid(format!(
                "the gate `{name}`: a plan and a step can be `{to}`; say `subject: plan` or \
                 `subject: step`"
            ));
        }
        (None, None, _) => LifecycleSubject::Plan,
    };
    Ok(Gate { name, subject, step, to, when, reject })
}

fn invalid<T>(message: impl Into<String>) -> Result<T, WorkflowError> {
    Err(WorkflowError::Invalid(message.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: &str = include_str!("../../../templates/default/workflow.yaml");

    #[test]
    fn the_built_in_workflow_is_the_one_in_the_default_template() {
        assert_eq!(&parse(DEFAULT).unwrap(), Workflow::builtin());
    }

    #[test]
    fn sections_left_out_are_those_of_the_default() {
        let flow = parse("version: 1\nretry_limit: 5\n").unwrap();
        assert_eq!(flow.retry_limit(), 5);
        assert_eq!(flow.modifiers(), Workflow::builtin().modifiers());
    }

    #[test]
    fn a_value_can_be_added_to_a_modifier() {
        let yaml = DEFAULT.replace("cost_efficiency, quality]", "cost_efficiency, quality, fun]");
        let flow = parse(&yaml).unwrap();
        assert!(flow.modifier("priority").unwrap().read("fun").is_ok());
    }

    #[test]
    fn gates_may_name_a_status_by_its_alias() {
        let yaml = "version: 1\ngates: [{name: go, subject: plan, to: running}]";
        let flow = parse(yaml).unwrap();
        assert_eq!(flow.gates_before(LifecycleSubject::Plan, "IN_PROGRESS").count(), 1);
        assert_eq!(flow.gates_before(LifecycleSubject::Step, "RUNNING").count(), 0);
    }

    #[test]
    fn a_group_is_named_by_a_field_of_steps() {
        assert_eq!(parse("version: 1\ngroup: Layer").unwrap().group(), Some("layer"));
        assert_eq!(parse("version: 1").unwrap().group(), None);
        assert!(parse("version: 1\ngroup: 'a b'").is_err());
    }

    #[test]
    fn a_merge_queue_leads_to_the_end_by_moves_that_are_allowed() {
        let execute = include_str!("../../../templates/execute/workflow.yaml");
        assert_eq!(parse(execute).unwrap().merge_queue(), ["verified", "merging"]);
        for (from, to, reason) in [
            ("[verified, merging]", "[merging, verified, verifying]", "does not follow"),
            (
                "[verified, merging]",
                "[verified]",
                "no status with the role `done` follows `verified`",
            ),
            (
                "next: [completed, verified,",
                "next: [verified,",
                "no status with the role `done` follows `merging`",
            ),
        ] {
            assert!(execute.contains(from), "{from}");
            let error = parse(&execute.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn what_could_not_work_is_refused_with_a_reason() {
        for (change, reason) in [
            (("version: 1", "version: 2"), "version 2 is not known"),
            (("version: 1", ""), "write `version: 1` at its top"),
            (("retry_limit: 3", "retry_limt: 3"), "retry_limt"),
            (("retry_limit: 3", "retry_limit: 0"), "between 1 and 100"),
            (("next: [RUNNING, SKIPPED]", "next: [RUNING]"), "did you mean `RUNNING`?"),
            (("aliases: [ON_HOLD]", "aliases: [DONE]"), "`DONE` names two statuses of a plan"),
            (("role: paused", "role: active"), "no status of a plan has the role `paused`"),
            (("role: planning", "role: frozen"), "frozen"),
            (("gates: []", "gates: [{name: x, subject: plan, to: NOPE}]"), "leads to `NOPE`"),
            (
                (
                    "gates: []",
                    "gates: [{name: x, subject: step, to: COMPLETED, when: 'reason is \"late\"'}]",
                ),
                "which `reject` can ask for",
            ),
            (("gates: []", "merge_queue: [COMPLETED]"), "does not have the role `waiting`"),
            (("gates: []", "group: 'a b'"), "cannot name the field of a group"),
            (("name: priority", "name: priorité"), "letters from a to z"),
            (
                ("gates: []", "gates: [{name: x, subject: plan, to: PAUSED, when: 'cosst > 1'}]"),
                "did you mean `cost`?",
            ),
            (
                (
                    "gates: []",
                    "gates: [{name: x, step: A, to: DONE, reject: [{reset: A}, {reset: B}]}]",
                ),
                "the way back to `A` always applies; put it last",
            ),
            (("at_limit: review", "at_limit: NOPE"), "neither `review` nor a status"),
            (("at_limit: review", "at_limit: COMPLETED"), "does not have the role `failed`"),
            (("- name: priority", "- name: cost"), "`cost` is a fact"),
            (("- name: priority", "- name: user_sentiment"), "appears twice"),
            (("default: moderate", "default: calm"), "`calm` is not a value of `error_tolerance`"),
            (("values: [low, medium, high]", "values: []"), "needs `values`"),
            (("kind: list", "kind: list\n    values: [a]"), "has no `values`"),
            (("values: [low, medium", "values: [\"a\\nb\", medium"), "cannot name a value"),
        ] {
            let yaml = DEFAULT.replace(change.0, change.1);
            assert_ne!(yaml, DEFAULT, "{change:?}");
            let error = parse(&yaml).unwrap_err().to_string();
            assert!(error.contains(reason), "{error} should contain {reason}");
        }
    }

    #[test]
    fn a_huge_or_explosive_file_is_refused() {
        let huge = " ".repeat(MAX_BYTES + 1);
        assert_eq!(parse(&huge), Err(WorkflowError::TooLarge { bytes: MAX_BYTES + 1 }));
        let mut bomb = String::from("a: &a [x, x]\n");
        for (this, last) in ('b'..='z').zip('a'..) {
            bomb += &format!("{this}: &{this} [*{last}, *{last}, *{last}, *{last}]\n");
        }
        assert!(parse(&bomb).is_err());
        assert!(parse("").is_err());
        assert!(parse("version: 1\n---\nversion: 1").is_err());
        assert!(parse("").is_err(), "a file that lost its bytes is not the built-in lifecycle");
    }

    #[test]
    fn what_is_nested_too_deep_is_refused_before_it_takes_long() {
        for opened in ["[", "{a: ", "- ", "? ", "[{", "\n["] {
            let yaml = format!("version: 1\nplan:\n {}", opened.repeat(60_000 / opened.len()));
            let start = std::time::Instant::now();
            let refusal = parse(&yaml).unwrap_err().to_string();
            assert!(refusal.contains("too deep at line"), "{opened}: {refusal}");
            assert!(start.elapsed().as_secs() < 5, "{opened}: {:?}", start.elapsed());
        }
        // Control: as many lists beside each other as a workflow has are read.
        let gates = "{".repeat(900);
        assert!(parse(&format!("version: 1 # {gates}\n")).is_ok());
    }
}
