//! Adaptation: every change is an event, and rules react to it within the same operation.

mod additions;
mod behaviour;
mod effects;
mod event;
mod facts;
mod limits;
mod lookup;

use std::rc::Rc;

use serde_json::{Value, json};

pub(crate) use self::event::Event;
pub(crate) use self::facts::{facts, facts_for};
pub use self::limits::LimitUse;
pub(super) use self::{
    additions::{InOperation, add_in_a_row},
    facts::limit_facts,
    limits::{limits, limits_time},
};
use super::{Answer, Change, Draft, Error};
use crate::{
    domain::{Constraints, FactValue, Workflow},
    rules::{Directive, RuleOutcome, WrittenRule, fire},
};

/// The facts before a change, and the rules that refer to them.
pub(super) struct Watch {
    rules: Rc<Vec<WrittenRule>>,
    before: facts::Before,
    /// The task type before the change.
    task_type: Option<String>,
}

impl Watch {
    /// Collects the facts before `change`; `None` if no rule can be affected.
    pub(super) fn begin(draft: &mut Draft<'_>, change: &Change) -> Result<Option<Self>, Error> {
        if !is_concerned(draft, change) {
            return Ok(None);
        }
        // Without readable constraints there are no rules; `check` reports the file.
        let Ok(constraints) = draft.constraints() else { return Ok(None) };
        let rules = rules(draft, &constraints);
        let before = facts::Before::now(draft, &constraints, &rules)?;
        let task_type = match change {
            Change::PlanSet { .. } => draft.plan()?.metadata.task_type().map(str::to_owned),
            _ => None,
        };
        Ok(Some(Self { rules, before, task_type }))
    }

    /// Collects the facts after the change and carries out the rules that fire.
    pub(super) fn finish(
        self,
        draft: &mut Draft<'_>,
        change: &Change,
        mut answer: Answer,
    ) -> Result<Answer, Error> {
        let event = Event::of(change, &answer);
        behaviour::apply_for_task(draft, change, self.task_type.as_deref(), &mut answer)?;
        effects::count_down(draft, &event)?;
        let constraints = draft.constraints()?;
        let mut after = self.before.then(draft, &constraints, &self.rules)?;
        event.add_to(&mut after);
        let outcome = fire(&self.rules, &self.before.facts, &after, draft.workflow());
        let crossed = limits::crossed(&self.before.facts, &after);
        report(draft, &self.rules, &constraints, &outcome);
        effects::carry_out(draft, &self.rules, &event, &outcome, &mut answer)?;
        for limit in crossed {
            self.cross(draft, &limit, &mut answer)?;
        }
        limits::note_tool(draft, change, &constraints, &answer);
        Ok(answer)
    }

    /// Handles the events of exceeded limits.
    fn cross(
        &self,
        draft: &mut Draft<'_>,
        limit: &LimitUse,
        answer: &mut Answer,
    ) -> Result<(), Error> {
        draft.notices.push(format!("{limit:#}"));
        let list = answer.data.entry("limits_exceeded").or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.push(limit.to_json());
        }
        let event = limit.event();
        let constraints = draft.constraints()?;
        let before = facts(draft, &constraints, &self.rules)?;
        let mut after = before.clone();
        event.add_to(&mut after);
        let outcome = fire(&self.rules, &before, &after, draft.workflow());
        let fields = vec![
            ("kind".to_owned(), "adaptation".to_owned()),
            ("event".to_owned(), event.kind.clone()),
            ("values".to_owned(), format!("{limit:#}")),
        ];
        draft.log("Limit Exceeded", fields)?;
        effects::carry_out(draft, &self.rules, &event, &outcome, answer)
    }
}

/// The rules of the constraints that they were read from.
pub(super) type KnownRules = Option<(Rc<Constraints>, Rc<Vec<WrittenRule>>)>;

/// The rules in force: those under *Adaptation Rules*, then directives with a condition. Several changes
/// read them once.
pub(super) fn rules(draft: &Draft<'_>, constraints: &Rc<Constraints>) -> Rc<Vec<WrittenRule>> {
    let mut known = draft.rules.borrow_mut();
    if let Some((_, rules)) = known.as_ref().filter(|(of, _)| Rc::ptr_eq(of, constraints)) {
        return Rc::clone(rules);
    }
    let rules = Rc::new(rules_of(constraints, draft.workflow()));
    *known = Some((Rc::clone(constraints), Rc::clone(&rules)));
    rules
}

/// The same for a given workflow.
pub(super) fn rules_of(constraints: &Constraints, workflow: &Workflow) -> Vec<WrittenRule> {
    let mut rules: Vec<WrittenRule> =
        constraints.rules.iter().map(|rule| WrittenRule::parse(&rule.text, workflow)).collect();
    for directive in &constraints.directives {
        if let Directive::Conditional(rule) = Directive::parse(&directive.text, workflow) {
            rules.push(WrittenRule { source: directive.text.clone(), parsed: Ok(*rule) });
        }
    }
    rules
}

/// Whether a change can make a condition true at all: most `var set` cannot, and then nothing
/// needs to be read.
fn is_concerned(draft: &Draft<'_>, change: &Change) -> bool {
    match change {
        Change::VarSet { .. }
        | Change::VarUnset { .. }
        | Change::VarAppend { .. }
        | Change::VarMerge { .. }
        | Change::VarPatch { .. } => draft.mentions_variables() || draft.watches_time(),
        Change::CheckpointCreate { .. } => false,
        Change::TurnAdd(turn) => turn.sentiment().is_some() || draft.watches_time(),
        Change::ContextAdd(_)
        | Change::ContextSet(_)
        | Change::RuleAdd { .. }
        | Change::RuleRemove { .. }
        | Change::ReviewOpen { .. }
        | Change::ReviewDecide { .. } => draft.watches_time(),
        _ => true,
    }
}

/// Says once what could not be understood, and which rules go round in circles.
fn report(
    draft: &mut Draft<'_>,
    rules: &[WrittenRule],
    constraints: &Constraints,
    outcome: &RuleOutcome,
) {
    let workflow = draft.workflow();
    let missed = outcome.not_understood.iter();
    let is_prose = |rule: usize| rules.get(rule).is_some_and(|entry| entry.is_prose(workflow));
    let missed: Vec<_> = missed.filter(|missed| !is_prose(missed.rule)).collect();
    if let Some(first) = missed.first() {
        let place = constraints.rules.get(first.rule).map(|rule| constraints.place(rule.item));
        let place = place.map(|place| format!("constraints.md:{place}: ")).unwrap_or_default();
        let number = first.rule + 1;
        let more = match missed.len() - 1 {
            0 => String::new(),
            more => format!(" ({more} more: `statedir rule check`)"),
        };
        draft
            .notices
            .push(format!("{place}rule {number} is not understood: {}{more}", first.error));
    }
    for cycle in &outcome.cycles {
        let names: Vec<String> = cycle.rules.iter().map(|rule| (rule + 1).to_string()).collect();
        let text = format!("rules {} trigger each other; each fired once", names.join(" → "));
        draft.notices.push(text);
    }
    debug_assert!(outcome.trace.iter().all(|line| line.rule < rules.len()));
}

/// A fact's value for people.
pub(super) fn shown(value: &FactValue) -> String {
    match value {
        FactValue::Missing => "not set".to_owned(),
        value => value.to_string(),
    }
}
