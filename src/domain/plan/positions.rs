//! Where the steps of a plan are, by number and by id, without searching it for each.

use std::{collections::HashMap, ops::Deref, sync::OnceLock};

use crate::domain::{Plan, StepId, StepRef};

/// Where the steps of a plan are. Where two steps have the same number or id, the last one counts.
#[derive(Debug)]
pub(crate) struct StepPositions<P> {
    pub(crate) plan: P,
    /// Made when it is first asked for.
    by_number: OnceLock<HashMap<u32, usize>>,
    /// The places of the steps that have an id, in the order of the ids.
    by_id: OnceLock<Vec<usize>>,
}

impl<P: Deref<Target = Plan>> StepPositions<P> {
    /// Looks at nothing yet.
    pub(crate) fn new(plan: P) -> Self {
        Self { plan, by_number: OnceLock::new(), by_id: OnceLock::new() }
    }

    /// Where in the plan's list a step is.
    pub(crate) fn find(&self, step: &StepRef) -> Option<usize> {
        match step {
            StepRef::Number(number) => self.by_number(*number),
            StepRef::Id(id) => self.by_id(id.as_str()),
            StepRef::Label(label) => {
                let by_id = self.by_id(label);
                by_id.or_else(|| self.plan.steps.iter().position(|found| found.is(step)))
            }
        }
    }

    fn by_number(&self, number: u32) -> Option<usize> {
        let steps = || self.plan.steps.iter().enumerate();
        let all = || steps().map(|(at, step)| (step.number, at)).collect();
        self.by_number.get_or_init(all).get(&number).copied()
    }

    fn by_id(&self, wanted: &str) -> Option<usize> {
        let id = |at: usize| self.plan.steps[at].id.as_ref().map(StepId::as_str);
        let places = self.by_id.get_or_init(|| {
            let mut places: Vec<usize> = (0..self.plan.steps.len()).collect();
            places.retain(|at| id(*at).is_some());
            places.sort_by_key(|at| id(*at));
            places
        });
        let end = places.partition_point(|at| id(*at) <= Some(wanted));
        let last = *places.get(end.checked_sub(1)?)?;
        (id(last) == Some(wanted)).then_some(last)
    }
}
