//! What an execution has used, and how much it may use.

use super::{super::adapt, Sources};
use crate::domain::{Money, Variables};
use adapt::LimitUse;

/// Costs, and what is used of every limit that is set.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Spending {
    /// What was spent, as variables.json says, or the history where that does not keep it.
    pub total_cost: Money,
    /// What may be spent.
    pub budget: Option<Money>,
    /// File operations, including those that no entry of the history reports yet.
    pub file_operations: u64,
    /// Web requests, counted in the same way.
    pub web_requests: u64,
    /// What is used of every limit that is set.
    pub limits: Vec<LimitUse>,
}

impl Spending {
    pub(super) fn new(sources: &Sources<'_>) -> Self {
        let by_entries = Money(sources.history.cost_micros);
        let total_cost = sources.variables.and_then(Variables::total_cost).unwrap_or(by_entries);
        let used = sources.pending.added_to(sources.history);
        let limits = sources.constraints.map(|constraints| {
            adapt::limits(&adapt::limit_facts(constraints, sources.workflow, total_cost, &used))
        });
        let budget = sources.constraints.and_then(|read| read.value("max_cost_per_task"));
        Self {
            total_cost,
            budget: budget.and_then(Money::parse),
            file_operations: used.file_operations,
            web_requests: used.web_requests,
            limits: limits.unwrap_or_default(),
        }
    }

    /// The limits that are exceeded.
    pub fn exceeded(&self) -> impl Iterator<Item = &LimitUse> {
        self.limits.iter().filter(|limit| limit.exceeded)
    }
}
