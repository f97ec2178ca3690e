//! What variables.json repeats of the plan.

use crate::text::markdown::Document;

use crate::domain::{Plan, Variables};

/// The variables with `step_data` as the plan has it; as they were where they have none or where
/// either cannot be read.
pub(crate) fn agree_with_plan(variables: Vec<u8>, plan: Vec<u8>) -> Vec<u8> {
    let agreed = || {
        let plan = Plan::read(Document::from_bytes(plan).ok()?);
        let read = Variables::parse(variables.clone()).ok()?;
        let current: u32 = plan.metadata.current_step.as_deref()?.trim().parse().ok()?;
        read.current_step().and(read.total_steps())?;
        let puts = read.step_data(current, plan.steps.len());
        Some(read.put_all(&puts).ok()?.document.into_source().into_bytes())
    };
    agreed().unwrap_or(variables)
}
