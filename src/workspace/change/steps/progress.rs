//! What follows for the whole plan when a step changes: status, current step, counts.

use std::collections::BTreeMap;

use crate::{
    domain::{
        ErrorCode, Plan, PlanRole, StateFile, Step, StepCost, StepId, StepRole as Role, Subject,
        Variables, step_at_hand,
    },
    text::markdown::Edit,
    workspace::{
        Draft, Error, ErrorKind,
        change::{
            review::open_review,
            steps::{gate, unknown_status},
        },
    },
};

/// One edit of plan.md and variables.json that keeps them in agreement.
pub(in crate::workspace::change) struct Progress<'d, 'e, 'p> {
    draft: &'d mut Draft<'e>,
    plan: &'p Plan,
    edit: Edit<'p>,
    statuses: BTreeMap<usize, String>,
    plan_status: Option<String>,
    /// Steps added (+) or removed (−) by this very edit.
    pub(in crate::workspace::change) added: Option<(u32, String)>,
    pub(in crate::workspace::change) removed: Option<usize>,
    /// What a gate asks before the plan can be completed.
    question: Option<String>,
}

/// More for variables.json, besides the counts.
pub(in crate::workspace::change) enum Extra<'a> {
    /// Named results of a step.
    Outputs(&'a str, Vec<(String, serde_json::Value)>),
    /// What an attempt cost.
    Cost(StepCost),
}

impl<'d, 'e, 'p> Progress<'d, 'e, 'p> {
    pub(in crate::workspace::change) fn new(
        draft: &'d mut Draft<'e>,
        plan: &'p Plan,
    ) -> Result<Self, Error> {
        Ok(Self {
            draft,
            plan,
            edit: plan.document.edit(),
            statuses: BTreeMap::new(),
            plan_status: None,
            added: None,
            removed: None,
            question: None,
        })
    }

    pub(in crate::workspace::change) fn edit(&mut self) -> &mut Edit<'p> {
        &mut self.edit
    }

    /// Remembers the new status of a step for what follows from it.
    pub(in crate::workspace::change) fn set_status(&mut self, step: &Step, status: &str) {
        self.statuses.insert(step.offset, status.to_owned());
    }

    /// Sets fields of a step and gives it an id if it has none.
    pub(in crate::workspace::change) fn set_fields(
        &mut self,
        step: &Step,
        fields: &[(&str, &str)],
    ) -> Result<StepId, Error> {
        self.plan.set_step(&mut self.edit, step, fields)?;
        self.identify(step)
    }

    /// The step's id; a new one is written if it has none.
    pub(in crate::workspace::change) fn identify(&mut self, step: &Step) -> Result<StepId, Error> {
        if let Some(id) = &step.id {
            return Ok(id.clone());
        }
        let id = self.new_id();
        self.plan.set_step(&mut self.edit, step, &[("id", id.as_str())])?;
        Ok(id)
    }

    /// An id that no step has.
    pub(in crate::workspace::change) fn new_id(&self) -> StepId {
        let steps = &self.plan.steps;
        let taken =
            |text: &str| steps.iter().any(|s| s.id.as_ref().is_some_and(|id| id.as_str() == text));
        StepId::generate(self.draft.env.random(), taken)
    }

    /// Sets the plan's status without asking.
    pub(in crate::workspace::change) fn set_plan_status(&mut self, status: &str) {
        self.plan_status = Some(status.to_owned());
    }

    /// Work begins: the plan must be able to be active.
    pub(in crate::workspace::change) fn begin_plan(&mut self) -> Result<(), Error> {
        let from = self.plan_status()?;
        let workflow = self.draft.workflow();
        match workflow.plan_role(&from) {
            Some(PlanRole::Active) => return Ok(()),
            Some(PlanRole::Paused) => {
                return Err(Error::refused_with(
                    ErrorCode::Paused,
                    "the plan is paused",
                    "`statedir resume` continues it",
                ));
            }
            _ => {}
        }
        let to = workflow.plan_with_role(PlanRole::Active).to_owned();
        workflow.check_plan(&from, &to).map_err(Error::plan_transition)?;
        gate::check(self.draft, self.plan, Subject::Plan, &to, None)?;
        self.plan_status = Some(to);
        Ok(())
    }

    /// There is work again: a finished plan goes back to being active.
    pub(in crate::workspace::change) fn reopen_plan(&mut self) -> Result<(), Error> {
        let from = self.plan_status()?;
        let role = self.draft.workflow().plan_role(&from);
        if matches!(role, Some(PlanRole::Succeeded | PlanRole::Failed)) {
            self.begin_plan()?;
        }
        Ok(())
    }

    /// Completes the plan when nothing is left to do and the lifecycle says so.
    pub(in crate::workspace::change) fn complete_plan(&mut self) -> Result<(), Error> {
        let finished = {
            let workflow = self.draft.workflow();
            let done = |status: &str| workflow.step_role(status).is_some_and(Role::is_finished);
            workflow.auto_complete() && self.all_statuses().all(|status| status.is_some_and(done))
        };
        let from = self.plan_status()?;
        let workflow = self.draft.workflow();
        if finished && workflow.plan_role(&from) == Some(PlanRole::Active) {
            let to = workflow.plan_with_role(PlanRole::Succeeded).to_owned();
            let allowed = workflow.check_plan(&from, &to).is_ok();
            let reviewed = self.plan.open_reviews().next().is_none();
            if !allowed || !reviewed {
                return Ok(());
            }
            match gate::check(self.draft, self.plan, Subject::Plan, &to, None) {
                Ok(()) => self.plan_status = Some(to),
                Err(error) => {
                    if let ErrorKind::NeedsReview { question } = error.into_kind() {
                        self.question = Some(question);
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes plan.md and variables.json.
    pub(in crate::workspace::change) fn finish(
        mut self,
        extras: &[Extra<'_>],
    ) -> Result<Option<String>, Error> {
        let current = self.current_step();
        let total = self.plan.steps.len() + usize::from(self.added.is_some())
            - usize::from(self.removed.is_some());
        let (now, text) = (self.draft.env.now(), current.to_string());
        let mut fields = vec![("current_step", text.as_str()), ("last_updated", now.as_str())];
        if let Some(status) = &self.plan_status {
            fields.insert(0, ("status", status.as_str()));
        }
        self.plan.set_metadata(&mut self.edit, &fields)?;
        let edited = Plan::finish(self.edit)?;
        self.draft.put(StateFile::Plan, edited);

        let variables = self.draft.variables()?;
        let mut puts = variables.step_data(current, total);
        for extra in extras {
            match extra {
                Extra::Outputs(id, outputs) => puts.extend(Variables::outputs(id, outputs)),
                Extra::Cost(cost) => puts.extend(variables.cost(cost)),
            }
        }
        self.draft.put_variables(variables.put_all(&puts)?);
        if let Some(question) = &self.question {
            open_review(self.draft, question)?;
        }
        Ok(self.plan_status)
    }

    fn plan_status(&self) -> Result<String, Error> {
        if let Some(status) = &self.plan_status {
            return Ok(status.clone());
        }
        plan_status(self.draft, self.plan)
    }

    fn all_statuses(&self) -> impl Iterator<Item = Option<&str>> {
        self.plan
            .steps
            .iter()
            .filter(|step| Some(step.offset) != self.removed)
            .map(|step| self.status(step))
            .chain(self.added.iter().map(|(_, status)| Some(status.as_str())))
    }

    fn status<'s>(&'s self, step: &'s Step) -> Option<&'s str> {
        let written = self.statuses.get(&step.offset).map(String::as_str);
        let open = || self.draft.workflow().step_with_role(Role::Open);
        Some(written.or(step.status.as_deref()).unwrap_or_else(open))
    }

    /// The running step; else the first that is open or failed; else the last.
    fn current_step(&self) -> u32 {
        let workflow = self.draft.workflow();
        let mut numbered: Vec<(u32, Option<Role>)> = Vec::new();
        let shift = self.removed.and_then(|offset| {
            self.plan.steps.iter().find(|step| step.offset == offset).map(|step| step.number)
        });
        for step in &self.plan.steps {
            if Some(step.offset) == self.removed {
                continue;
            }
            let role = self.status(step).and_then(|status| workflow.step_role(status));
            let after_removed = shift.is_some_and(|number| step.number > number);
            let after_added = self.added.as_ref().is_some_and(|(number, _)| step.number >= *number);
            let number = step.number + u32::from(after_added) - u32::from(after_removed);
            numbered.push((number, role));
        }
        numbered.extend(self.added.iter().map(|(n, s)| (*n, workflow.step_role(s))));
        step_at_hand(&numbered)
    }
}

/// The plan's status in the lifecycle's spelling.
pub(in crate::workspace::change) fn plan_status(
    draft: &Draft<'_>,
    plan: &Plan,
) -> Result<String, Error> {
    let written = plan.metadata.status.as_deref();
    if let Some(status) = written.and_then(|text| draft.workflow().plan_status(text)) {
        return Ok(status.to_owned());
    }
    let Some(text) = written else {
        return Ok(draft.workflow().plan_with_role(PlanRole::Planning).to_owned());
    };
    let message = format!("the plan has an unknown status, `{text}`");
    let problem = crate::domain::Problem::error(ErrorCode::UnknownStatus, StateFile::Plan, message)
        .at(plan.metadata_place("status"))
        .hint(draft.workflow().plan_status_hint());
    Err(crate::domain::ModelError::Problem(Box::new(problem)).into())
}

/// A step's status in the lifecycle's spelling.
pub(in crate::workspace::change) fn status_of(
    draft: &Draft<'_>,
    step: &Step,
) -> Result<String, Error> {
    // A step without a status has not begun.
    let Some(written) = step.status.as_deref() else {
        return Ok(draft.workflow().step_with_role(Role::Open).to_owned());
    };
    match draft.workflow().step_status(written) {
        Some(status) => Ok(status.to_owned()),
        None => {
            let plan = draft.plan()?;
            Err(unknown_status(draft, &plan, step, written))
        }
    }
}
