//! What a person sees of the execution at one glance.

use std::collections::BTreeMap;

use super::{Error, Status, StepLine, Workspace, change::attempts_allowed_by};
use crate::{domain::StepRole, domain::parse_duration_ms};

/// From how many of the newest entries it is taken how long a step took.
const COVERED: usize = 100;

/// The status, and the steps with their age.
#[derive(Clone, Debug)]
pub struct Screen {
    /// The summary.
    pub status: Status,
    /// Milliseconds since the execution began.
    pub age_ms: Option<u64>,
    /// All steps in order.
    pub steps: Vec<ScreenStep>,
}

/// A step with its age.
#[derive(Clone, Debug)]
pub struct ScreenStep {
    /// The step.
    pub line: StepLine,
    /// Milliseconds since it was started last.
    pub age_ms: Option<u64>,
    /// How long its newest attempt took, if a recent entry says so.
    pub took_ms: Option<u64>,
    /// How often it may be attempted.
    pub attempts_allowed: u32,
    /// Whether it is running.
    pub running: bool,
    /// Whether it has failed.
    pub failed: bool,
    /// Whether it is done or left out.
    pub finished: bool,
}

impl Workspace {
    /// The status with the steps and their age.
    ///
    /// # Errors
    /// The plan or the lifecycle cannot be read.
    pub fn screen(&self) -> Result<Screen, Error> {
        let snapshot = self.read()?;
        let (plan, workflow) = (snapshot.plan()?, snapshot.workflow()?);
        let status = snapshot.sum_up(&plan, &workflow);
        let entries = snapshot.recent_entries(COVERED, 16 << 10).unwrap_or_default();
        let mut took: BTreeMap<&str, u64> = BTreeMap::new();
        for entry in &entries {
            let time = entry.field("actual_time").and_then(parse_duration_ms);
            if let (Some(step), Some(time)) = (entry.field("step"), time) {
                took.insert(step, time);
            }
        }
        let mut steps = Vec::with_capacity(plan.steps.len());
        for (line, step) in snapshot.step_lines()?.into_iter().zip(&plan.steps) {
            let role = workflow.step_role(&line.status);
            let finished = role.is_some_and(StepRole::is_finished);
            let age = line.started_at.as_deref().and_then(|time| self.env.since(time));
            steps.push(ScreenStep {
                age_ms: age,
                took_ms: line
                    .id
                    .as_deref()
                    .filter(|_| !matches!(role, Some(StepRole::Active | StepRole::Open)))
                    .and_then(|id| took.get(id).copied()),
                attempts_allowed: attempts_allowed_by(&workflow, &plan, step),
                running: role == Some(StepRole::Active),
                failed: role == Some(StepRole::Failed),
                finished,
                line,
            });
        }
        let began = plan.metadata.start_time.as_deref();
        Ok(Screen { status, age_ms: began.and_then(|time| self.env.since(time)), steps })
    }
}
