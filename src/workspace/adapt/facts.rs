//! Collects the facts that rules refer to from the files of a state.

use std::rc::Rc;

use super::super::{Draft, Error, Readiness, draft::CountedAt};
use super::lookup;
use crate::{
    domain::{Constraints, FactValue, Facts, Money, Step, StepRole, Variables, Workflow},
    history::Counts,
    rules::{Condition, WrittenRule, variables_of},
};

/// The facts before a change, and the variables they were taken from.
pub(super) struct Before {
    pub(super) facts: Facts,
    variables: Option<Rc<Variables>>,
}

impl Before {
    /// Collects the facts as they are now.
    pub(super) fn now(
        draft: &mut Draft<'_>,
        constraints: &Constraints,
        rules: &[WrittenRule],
    ) -> Result<Self, Error> {
        let facts = collect(draft, constraints, &variables_of(rules), None, CountedAt::LastChange)?;
        draft.time_has_passed = true;
        Ok(Self { facts, variables: draft.variables().ok() })
    }

    /// Collects the facts after the change. Unchanged variables are not looked up again.
    pub(super) fn then(
        &self,
        draft: &mut Draft<'_>,
        constraints: &Constraints,
        rules: &[WrittenRule],
    ) -> Result<Facts, Error> {
        collect(draft, constraints, &variables_of(rules), Some(self), CountedAt::Now)
    }

    fn is_about(&self, variables: &Rc<Variables>) -> bool {
        self.variables.as_ref().is_some_and(|known| Rc::ptr_eq(known, variables))
    }
}

/// Collects the facts that a condition refers to.
pub(crate) fn facts_for(draft: &mut Draft<'_>, condition: &Condition) -> Result<Facts, Error> {
    let constraints = draft.constraints()?;
    let mut names = Vec::new();
    condition.visit_facts(&mut |name| {
        if name.starts_with("variables.") {
            names.push(name);
        }
    });
    collect(draft, &constraints, &names, None, CountedAt::Now)
}

/// Collects the facts; of the variables, only those that a rule refers to.
pub(crate) fn facts(
    draft: &mut Draft<'_>,
    constraints: &Constraints,
    rules: &[WrittenRule],
) -> Result<Facts, Error> {
    collect(draft, constraints, &variables_of(rules), None, CountedAt::Now)
}

fn collect(
    draft: &mut Draft<'_>,
    constraints: &Constraints,
    variable_names: &[&str],
    before: Option<&Before>,
    when: CountedAt,
) -> Result<Facts, Error> {
    let mut facts = Facts::new();
    let plan = draft.plan()?;
    let workflow = draft.workflow();
    let readiness = Readiness::new(&plan, workflow);
    let (roles, steps) = (readiness.roles(), readiness.counts());
    let count = |count: usize| FactValue::number(count as f64);
    facts.insert("completed_steps", count(steps.done));
    facts.insert("skipped_steps", count(steps.skipped));
    facts.insert("failed_steps", count(steps.failed));
    facts.insert("total_steps", count(steps.total));
    if steps.total > 0 {
        // Exact, unlike the rounded percentage for people, because rules compare with it.
        let percent = steps.finished() as f64 * 100.0 / steps.total as f64;
        facts.insert("progress", FactValue::Percent(percent));
    }
    if let Some(step) = plan.steps.iter().find(|step| step.number == steps.current_step) {
        facts.insert("attempts", FactValue::number(f64::from(step.attempts)));
    }
    let failures = |(step, role): (&Step, &Option<StepRole>)| match role {
        Some(StepRole::Done | StepRole::Skipped) | None => 0,
        role => Workflow::failures_in_role(step, *role),
    };
    let most = plan.steps.iter().zip(roles).map(failures).max().unwrap_or(0);
    facts.insert("step_failures", FactValue::number(f64::from(most)));
    if let Some(status) =
        plan.metadata.status.as_deref().and_then(|text| workflow.plan_status(text))
    {
        facts.insert("plan_status", FactValue::text(status));
    }
    if let Some(task) = plan.metadata.task_type() {
        facts.insert("task_type", FactValue::text(task));
    }
    add_settings(&mut facts, constraints, workflow);
    let mut cost = draft.facts()?.history.counts.cost_micros;
    if let Ok(variables) = draft.variables() {
        cost = variables.total_cost().map_or(cost, |total| total.0);
        match before.filter(|before| before.is_about(&variables)) {
            Some(before) => lookup::copy(&before.facts, &mut facts),
            None => lookup::add(&variables, variable_names, &mut facts),
        }
    }
    facts.insert("cost", FactValue::Money(cost));
    let mut counts = draft.facts()?.history.counts;
    counts.time_ms = counts.time_ms.saturating_add(draft.running_ms(&plan, roles, when));
    add_history(&mut facts, &counts);
    Ok(facts)
}

/// The facts for limits: settings, the cost, and counts of the history.
pub(in super::super) fn limit_facts(
    constraints: &Constraints,
    workflow: &Workflow,
    cost: Money,
    history: &Counts,
) -> Facts {
    let mut facts = Facts::new();
    add_settings(&mut facts, constraints, workflow);
    add_history(&mut facts, history);
    facts.insert("cost", FactValue::Money(cost.0));
    facts
}

fn add_settings(facts: &mut Facts, constraints: &Constraints, workflow: &Workflow) {
    for setting in &constraints.settings {
        let Some(text) = &setting.value else { continue };
        let modifier = workflow.modifier(&setting.name);
        let value = modifier.and_then(|modifier| modifier.read(text).ok());
        let name = modifier.map_or(setting.name.as_str(), |modifier| modifier.name());
        facts.insert(name, value.unwrap_or_else(|| FactValue::text(text.clone())));
    }
    let budget = facts.get("max_cost_per_task").clone();
    facts.insert("budget", budget);
}

fn add_history(facts: &mut Facts, history: &Counts) {
    let count = |count: u64| FactValue::number(count as f64);
    facts.insert("failures", count(history.failed));
    facts.insert("consecutive_failures", count(history.consecutive_failures));
    let time = i64::try_from(history.time_ms).unwrap_or(i64::MAX);
    facts.insert("execution_time", FactValue::Duration(time));
    facts.insert("file_operations", count(history.file_operations));
    facts.insert("web_requests", count(history.web_requests));
}
