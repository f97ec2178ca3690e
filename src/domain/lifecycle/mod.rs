//! The workflow: which statuses exist, what they mean, and which may follow which.

mod builtin;
pub(in crate::domain) mod gate;

use std::{fmt, sync::OnceLock};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    AtLimit, Gate, Metadata, Modifier, Step, constraints::modifier::backticked, nearest::same_name,
};

/// What a status of a plan means, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanRole {
    /// Not begun.
    Planning,
    /// Being worked on.
    Active,
    /// Waiting to be resumed.
    Paused,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
}

/// What a status of a step means, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepRole {
    /// Not begun.
    Open,
    /// Being worked on.
    Active,
    /// Neither being worked on nor finished: verified, merging, blocked.
    Waiting,
    /// Ended well.
    Done,
    /// Ended badly.
    Failed,
    /// Left out.
    Skipped,
}

/// What has a lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LifecycleSubject {
    /// The plan as a whole.
    Plan,
    Step,
}

impl fmt::Display for LifecycleSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plan => "plan",
            Self::Step => "step",
        })
    }
}

/// A transition that the workflow does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
pub struct IllegalTransition {
    /// What was to change.
    pub subject: LifecycleSubject,
    /// The status it has.
    pub from: String,
    /// The requested status.
    pub to: String,
    /// The allowed statuses.
    pub allowed: Vec<String>,
    /// Which of `from` and `to` is unknown, if one is; `allowed` then lists all statuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

impl IllegalTransition {
    /// The same message as [`fmt::Display`], about the step or plan called `name`.
    pub fn about(&self, name: &str) -> String {
        let Self { from, to, unknown, .. } = self;
        match unknown {
            Some(_) => format!("cannot change {name}: {self}"),
            None => {
                format!("cannot set {name} to `{to}`: it is `{from}`; allowed: {}", self.allowed())
            }
        }
    }

    fn allowed(&self) -> String {
        if self.allowed.is_empty() { "nothing".to_owned() } else { backticked(&self.allowed) }
    }
}

impl fmt::Display for IllegalTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, from, to, unknown, .. } = self;
        let allowed = self.allowed();
        match unknown {
            Some(unknown) => {
                write!(f, "`{unknown}` is not a status of a {subject}; known: {allowed}")
            }
            None => write!(f, "a {subject} cannot go from `{from}` to `{to}`; allowed: {allowed}"),
        }
    }
}

/// Statuses, transitions, limits, gates and modifiers of one kind of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workflow {
    pub(crate) plan: Vec<Status<PlanRole>>,
    pub(crate) step: Vec<Status<StepRole>>,
    pub(crate) retry_limit: u32,
    pub(crate) at_limit: AtLimit,
    pub(crate) require_outputs: bool,
    pub(crate) stale_after_ms: u64,
    pub(crate) self_review: bool,
    pub(crate) auto_complete: bool,
    pub(crate) checkboxes: bool,
    pub(crate) group: Option<String>,
    pub(crate) merge_queue: Vec<String>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) modifiers: Vec<Modifier>,
}

/// One status with what it means and what may follow.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Status<R> {
    #[serde(rename = "status")]
    pub name: String,
    pub role: R,
    pub next: Vec<String>,
    #[serde(default)]
    pub aliases: Vec<String>,
}

impl Workflow {
    /// The default workflow, the one `templates/default/workflow.yaml` describes.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Workflow> = OnceLock::new();
        BUILTIN.get_or_init(builtin::workflow)
    }

    /// The plan status that `text` names, directly or by alias; letter case, spaces and hyphens do not
    /// matter.
    pub fn plan_status(&self, text: &str) -> Option<&str> {
        find(&self.plan, text).map(|status| status.name.as_str())
    }

    /// The step status that `text` names, directly or by alias; letter case, spaces and hyphens do not
    /// matter.
    pub fn step_status(&self, text: &str) -> Option<&str> {
        find(&self.step, text).map(|status| status.name.as_str())
    }

    /// Every plan status, the initial one first.
    pub fn plan_statuses(&self) -> impl Iterator<Item = &str> {
        self.plan.iter().map(|status| status.name.as_str())
    }

    /// Every step status, the initial one first.
    pub fn step_statuses(&self) -> impl Iterator<Item = &str> {
        self.step.iter().map(|status| status.name.as_str())
    }

    /// Whether a plan may go from one status to another.
    pub fn check_plan(&self, from: &str, to: &str) -> Result<(), IllegalTransition> {
        check(LifecycleSubject::Plan, &self.plan, from, to)
    }

    /// Whether a step may go from one status to another.
    pub fn check_step(&self, from: &str, to: &str) -> Result<(), IllegalTransition> {
        check(LifecycleSubject::Step, &self.step, from, to)
    }

    /// What a plan status means; `None` if it is not one.
    pub fn plan_role(&self, status: &str) -> Option<PlanRole> {
        find(&self.plan, status).map(|status| status.role)
    }

    /// What a step status means; `None` if it is not one.
    pub fn step_role(&self, status: &str) -> Option<StepRole> {
        find(&self.step, status).map(|status| status.role)
    }

    /// What the status of a step means; without a status, its mark decides, or it is open.
    pub fn role_of(&self, step: &Step) -> Option<StepRole> {
        let marked = step.heading.mark.filter(|_| step.status().is_none());
        marked.or_else(|| self.role_of_status(step.status()))
    }

    /// The same for all steps of a plan, in order. Neighbours mostly have the same status, which is
    /// looked up once for all of them.
    pub(crate) fn roles_of(&self, steps: &[Step]) -> Vec<Option<StepRole>> {
        let mut last: Option<(&str, Option<StepRole>)> = None;
        let role = |step| {
            let Some(status) = Step::status(step) else { return self.role_of(step) };
            let known = last.filter(|(text, _)| *text == status).map(|(_, role)| role);
            let role = known.unwrap_or_else(|| self.role_of_status(Some(status)));
            last = Some((status, role));
            role
        };
        steps.iter().map(role).collect()
    }

    /// The status of a step as written; one without a status has the one that its mark or box means.
    pub(crate) fn status_of<'s>(&'s self, step: &'s Step) -> Option<&'s str> {
        let marked = || {
            step.heading.mark.map(|role| match role {
                // A skipped box stays skipped even if the workflow has no such status.
                StepRole::Skipped if !self.has_step_role(role) => "skipped",
                role => self.step_with_role(role),
            })
        };
        step.status().or_else(marked)
    }

    /// What a status of a step means; without a known one the step has not begun.
    pub fn role_of_status(&self, status: Option<&str>) -> Option<StepRole> {
        known_or(StepRole::Open, status, |status| self.step_role(status))
    }

    /// What the status of a plan means; without a known one it has not begun.
    pub fn role_of_plan(&self, metadata: &Metadata) -> Option<PlanRole> {
        known_or(PlanRole::Planning, metadata.status.as_deref(), |status| self.plan_role(status))
    }

    /// The first plan status with this meaning.
    pub fn plan_with_role(&self, role: PlanRole) -> &str {
        with_role(&self.plan, role)
    }

    /// The first step status with this meaning.
    pub fn step_with_role(&self, role: StepRole) -> &str {
        with_role(&self.step, role)
    }

    /// The status with this meaning to change a plan to: one that may follow `from`, else the first.
    pub(crate) fn plan_towards(&self, from: &str, role: PlanRole) -> &str {
        towards(&self.plan, from, role)
    }

    /// The status with this meaning to change a step to: one that may follow `from`, else the first.
    pub(crate) fn step_towards(&self, from: &str, role: StepRole) -> &str {
        towards(&self.step, from, role)
    }

    /// The statuses that may follow a step status.
    pub fn step_moves(&self, from: &str) -> &[String] {
        find(&self.step, from).map_or(&[], |status| &status.next)
    }

    /// The first of several moves that a step needs from a status until it is done; `None` if one move
    /// is enough.
    pub(crate) fn missing_move(&self, from: &str) -> Option<&str> {
        let next = |status: &'_ Status<StepRole>| -> Vec<&Status<StepRole>> {
            status.next.iter().filter_map(|name| find(&self.step, name)).collect()
        };
        // Reachable statuses, each with the first move towards it.
        let first = next(find(&self.step, from)?).into_iter();
        let mut ways: Vec<_> = first.map(|status| (status, status.name.as_str())).collect();
        let mut at = 0;
        while let Some((status, begins_with)) = ways.get(at).copied() {
            at += 1;
            match status.role {
                StepRole::Done => return (status.name != begins_with).then_some(begins_with),
                StepRole::Active | StepRole::Waiting => {
                    let new = next(status).into_iter().filter(|next| next.name != from);
                    ways.extend(new.map(|next| (next, begins_with)));
                    if at > self.step.len() * self.step.len() {
                        return None;
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Whether a status of a step has this meaning.
    pub fn has_step_role(&self, role: StepRole) -> bool {
        self.step.iter().any(|status| status.role == role)
    }

    /// How often a step may be attempted before a person is asked.
    pub fn retry_limit(&self) -> u32 {
        self.retry_limit
    }

    /// What happens to a step that has failed as often as it may.
    pub fn at_limit(&self) -> &AtLimit {
        &self.at_limit
    }

    /// Whether a step can be done only with all its expected outputs.
    pub fn requires_outputs(&self) -> bool {
        self.require_outputs
    }

    /// How often a step has failed; if it does not say, every attempt that ended without success.
    pub(crate) fn failures_of(&self, step: &Step) -> u32 {
        Self::failures_in_role(step, self.role_of(step))
    }

    /// The same for a step whose role is known.
    pub(crate) fn failures_in_role(step: &Step, role: Option<StepRole>) -> u32 {
        step.failures.unwrap_or_else(|| Self::counted_failures(step, role))
    }

    /// How often a step in that role has failed if every attempt that ended without success has.
    pub(crate) fn counted_failures(step: &Step, role: Option<StepRole>) -> u32 {
        match role {
            Some(StepRole::Active | StepRole::Waiting | StepRole::Done) => {
                step.attempts.saturating_sub(1)
            }
            _ => step.attempts,
        }
    }

    /// After how many milliseconds without activity a step counts as abandoned, unless there is other
    /// evidence.
    pub fn stale_after_ms(&self) -> u64 {
        self.stale_after_ms
    }

    /// Whether whoever opened a review may decide it.
    pub fn allows_self_review(&self) -> bool {
        self.self_review
    }

    /// Whether a plan succeeds by itself when its last step is done.
    pub fn auto_complete(&self) -> bool {
        self.auto_complete
    }

    /// The field whose value says which group a step belongs to, such as `layer`; one group is
    /// finished before the next begins.
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// Every transition that needs approval.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The gates in front of a status, named or by alias.
    pub fn gates_before(&self, subject: LifecycleSubject, to: &str) -> impl Iterator<Item = &Gate> {
        let to = match subject {
            LifecycleSubject::Plan => self.plan_status(to),
            LifecycleSubject::Step => self.step_status(to),
        };
        self.gates
            .iter()
            .filter(move |gate| gate.subject == subject && Some(gate.to.as_str()) == to)
    }

    /// Every modifier, in the order of the file.
    pub fn modifiers(&self) -> &[Modifier] {
        &self.modifiers
    }

    /// The modifier of this name, whatever its letter case, spaces and hyphens.
    pub fn modifier(&self, name: &str) -> Option<&Modifier> {
        self.modifiers.iter().find(|modifier| same_name(&modifier.name, name))
    }
}

/// The number of the current step, from numbers and roles: the first active one, else the first open
/// or failed one, else the first waiting one, else the last.
pub(crate) fn current_step_number(steps: &[(u32, Option<StepRole>)]) -> u32 {
    let lowest = |wanted: &[StepRole]| {
        let fits = steps.iter().filter(|(_, role)| role.is_some_and(|role| wanted.contains(&role)));
        fits.map(|(number, _)| *number).min()
    };
    lowest(&[StepRole::Active])
        .or_else(|| lowest(&[StepRole::Open, StepRole::Failed]))
        .or_else(|| lowest(&[StepRole::Waiting]))
        .or_else(|| steps.iter().map(|(number, _)| *number).max())
        .unwrap_or(0)
}

fn find<'a, R>(statuses: &'a [Status<R>], text: &str) -> Option<&'a Status<R>> {
    let text = text.trim();
    // The usual spelling first, because every step of a plan is looked up several times.
    if let Some(exact) = statuses.iter().find(|status| status.name == text) {
        return Some(exact);
    }
    let same = statuses.iter().find(|status| same_name(&status.name, text));
    let is_alias = |status: &&Status<R>| status.aliases.iter().any(|alias| same_name(alias, text));
    let found = same.or_else(|| statuses.iter().find(is_alias));
    // `PENDING` in backticks, **done**, ✅ Complete: only the word counts.
    let is_decoration = |c: char| match c.is_ascii() {
        true => matches!(c, '`' | '*' | '_' | ' '),
        false => !c.is_alphanumeric(),
    };
    let bare = text.trim_matches(is_decoration);
    match found {
        None if bare.len() < text.len() && !bare.is_empty() => find(statuses, bare),
        found => found,
    }
}

/// What a status means; `None` for conflict markers of a merge.
fn known_or<R>(first: R, status: Option<&str>, role: impl Fn(&str) -> Option<R>) -> Option<R> {
    let Some(status) = status else { return Some(first) };
    role(status).or_else(|| (!status.contains("<<<<<<<")).then_some(first))
}

// The reader of the file makes sure that every role has a status and that the lists are not empty.
fn with_role<R: PartialEq>(statuses: &[Status<R>], role: R) -> &str {
    let found = statuses.iter().find(|status| status.role == role).or(statuses.first());
    found.map_or("", |status| status.name.as_str())
}

fn towards<'a, R: Copy + PartialEq>(statuses: &'a [Status<R>], from: &str, role: R) -> &'a str {
    let source = find(statuses, from);
    let follows = |status: &&Status<R>| {
        status.role == role && source.is_some_and(|source| source.next.contains(&status.name))
    };
    statuses.iter().find(follows).map_or_else(|| with_role(statuses, role), |status| &status.name)
}

fn check<R>(
    subject: LifecycleSubject,
    statuses: &[Status<R>],
    from: &str,
    to: &str,
) -> Result<(), IllegalTransition> {
    let unknown = |text: &str| IllegalTransition {
        subject,
        from: from.to_owned(),
        to: to.to_owned(),
        allowed: statuses.iter().map(|status| status.name.clone()).collect(),
        unknown: Some(text.to_owned()),
    };
    let source = find(statuses, from).ok_or_else(|| unknown(from))?;
    let target = find(statuses, to).ok_or_else(|| unknown(to))?;
    if source.next.contains(&target.name) {
        return Ok(());
    }
    Err(IllegalTransition {
        subject,
        from: source.name.clone(),
        to: target.name.clone(),
        allowed: source.next.clone(),
        unknown: None,
    })
}

#[cfg(test)]
mod tests;
