//! One edit of plan.md and variables.json that keeps them consistent when steps change.

use std::collections::BTreeMap;

use crate::{
    domain::{
        ErrorCode, Plan, PlanRole, StateFile, Step, StepCost, StepId, StepRef, StepRole as Role,
        StepUpdate, Workflow, current_step_number, plan::dependencies,
    },
    text::markdown::Edit,
    workspace::{
        Draft, Error, ErrorKind,
        change::{
            review::open_review,
            steps::gate::{self, Passage, Spent},
        },
    },
};

/// One edit of plan.md and variables.json that keeps them in agreement.
pub(in crate::workspace::change) struct PlanProgress<'d, 'e, 'p> {
    draft: &'d mut Draft<'e>,
    plan: &'p Plan,
    edit: Edit<'p>,
    /// What changes in each step, by its offset.
    updates: BTreeMap<usize, StepUpdate>,
    plan_status: Option<String>,
    /// Steps added by this very edit, with their statuses.
    pub(in crate::workspace::change) added: Vec<(u32, String)>,
    /// The step removed by it.
    pub(in crate::workspace::change) removed: Option<usize>,
    /// The plan's transition, if gates apply to it.
    gated: Option<GatedTransition>,
    /// What is not in the history yet, for the conditions of gates.
    pub(in crate::workspace::change) spent: Spent,
}

/// A transition of the plan that gates may hold back.
#[derive(Clone, Copy, PartialEq)]
enum GatedTransition {
    /// Work begins; a gate refuses it.
    Begins,
    /// All steps are finished; a gate opens a review.
    Ends,
}

/// Further changes of variables.json.
pub(in crate::workspace::change) enum Extra<'a> {
    /// Named results of a step.
    Outputs(&'a str, Vec<(String, serde_json::Value)>),
    /// What an attempt cost.
    Cost(StepCost),
}

impl<'d, 'e, 'p> PlanProgress<'d, 'e, 'p> {
    pub(in crate::workspace::change) fn new(
        draft: &'d mut Draft<'e>,
        plan: &'p Plan,
    ) -> Result<Self, Error> {
        Ok(Self {
            draft,
            plan,
            edit: plan.document.edit(),
            updates: BTreeMap::new(),
            plan_status: None,
            added: Vec::new(),
            removed: None,
            gated: None,
            spent: Spent::default(),
        })
    }

    pub(in crate::workspace::change) fn edit(&mut self) -> &mut Edit<'p> {
        &mut self.edit
    }

    /// Whether new steps are boxes.
    pub(in crate::workspace::change) fn has_boxes(&self) -> bool {
        self.draft.workflow().has_boxes()
    }

    /// The pending update of a step.
    pub(in crate::workspace::change) fn step(&mut self, step: &Step) -> &mut StepUpdate {
        self.updates.entry(step.offset).or_default()
    }

    /// Sets fields of a step and gives it an id if it has none.
    pub(in crate::workspace::change) fn set_fields(
        &mut self,
        step: &Step,
        fields: &[(&str, &str)],
    ) -> StepId {
        let update = self.step(step);
        fields.iter().for_each(|(key, value)| update.set(key, value));
        self.identify(step)
    }

    /// Sets the status of a step and gives it an id if it has none.
    pub(in crate::workspace::change) fn set_status(&mut self, step: &Step, status: &str) -> StepId {
        self.set_fields(step, &[("status", status)])
    }

    /// Resets a step: no claim, no result. An interrupted attempt does not count as a failure.
    pub(in crate::workspace::change) fn reopen(&mut self, step: &Step, open: &str) -> StepId {
        let failures = self.draft.workflow().failures_of(step);
        let id = self.set_status(step, open);
        let update = self.step(step);
        ["claimed_by", "started_at", "result"].into_iter().for_each(|key| update.clear(key));
        // Without this field every attempt would count as a failure.
        if step.failures.is_none() && failures != step.attempts {
            update.set("failures", &failures.to_string());
        }
        id
    }

    /// Writes the number of failures if the new role would imply another one.
    pub(in crate::workspace::change) fn keep_failures(&mut self, step: &Step, to: Option<Role>) {
        let failures = self.draft.workflow().failures_of(step);
        if step.failures.is_none() && Workflow::counted_failures(step, to) != failures {
            self.step(step).set("failures", &failures.to_string());
        }
    }

    /// The step's id; a new one is written if it has none.
    pub(in crate::workspace::change) fn identify(&mut self, step: &Step) -> StepId {
        if let Some(id) = &step.id {
            return id.clone();
        }
        let known = self.updates.get(&step.offset).and_then(|update| update.get("id"));
        if let Some(id) = known.and_then(StepId::parse) {
            return id;
        }
        let id = self.new_id();
        self.step(step).set("id", id.as_str());
        id
    }

    /// The steps as a list of dependencies, with the numbers and titles they have afterwards.
    pub(in crate::workspace::change) fn list(&self, steps: &[&Step]) -> String {
        dependencies::write(steps.iter().map(|step| self.name(step)))
    }

    /// The number and the title that a step has afterwards.
    pub(in crate::workspace::change) fn name<'s>(&'s self, step: &'s Step) -> (u32, &'s str) {
        let update = self.updates.get(&step.offset);
        update.map_or((step.number, step.title()), |update| update.name(step))
    }

    /// An id that no step has.
    pub(in crate::workspace::change) fn new_id(&self) -> StepId {
        StepId::generate(self.draft.env.random(), |text| self.is_taken(text))
    }

    /// Whether a step has that id.
    pub(in crate::workspace::change) fn has_id(&self, id: &StepId) -> bool {
        self.is_taken(id.as_str())
    }

    fn is_taken(&self, text: &str) -> bool {
        let written = self.plan.steps.iter().filter_map(|step| step.id.as_ref());
        let given = self.updates.values().filter_map(|update| update.get("id"));
        written.map(StepId::as_str).chain(given).any(|id| id == text)
    }

    /// Sets the plan's status without asking.
    pub(in crate::workspace::change) fn set_plan_status(&mut self, status: &str) {
        self.plan_status = Some(status.to_owned());
    }

    /// Work begins: the plan must be able to be active.
    pub(in crate::workspace::change) fn begin_plan(&mut self) -> Result<(), Error> {
        let from = self.plan_status();
        let workflow = self.draft.workflow();
        match workflow.plan_role(&from) {
            Some(PlanRole::Active) => return Ok(()),
            Some(PlanRole::Paused) => {
                let why = self.plan.metadata.paused_because();
                let why = why.and_then(|why| why.lines().next()).map(|why| format!(": {why}"));
                return Err(Error::refused_with(
                    ErrorCode::Paused,
                    format!("the plan is paused{}", why.unwrap_or_default()),
                    "`statedir resume` continues it",
                ));
            }
            _ => {}
        }
        let to = workflow.plan_towards(&from, PlanRole::Active).to_owned();
        workflow.check_plan(&from, &to).map_err(Error::plan_transition)?;
        (self.plan_status, self.gated) = (Some(to), Some(GatedTransition::Begins));
        Ok(())
    }

    /// Begins the plan if it is still in planning.
    pub(in crate::workspace::change) fn leave_planning(&mut self) -> Result<(), Error> {
        let role = self.draft.workflow().plan_role(&self.plan_status());
        if role == Some(PlanRole::Planning) { self.begin_plan() } else { Ok(()) }
    }

    /// Makes a finished plan active again.
    pub(in crate::workspace::change) fn reopen_plan(&mut self) -> Result<(), Error> {
        let from = self.plan_status();
        let role = self.draft.workflow().plan_role(&from);
        if matches!(role, Some(PlanRole::Succeeded | PlanRole::Failed)) {
            self.begin_plan()?;
        }
        Ok(())
    }

    /// Completes the plan if all steps are finished and the workflow allows it; returns whether it did.
    pub(in crate::workspace::change) fn complete_plan(&mut self) -> Result<bool, Error> {
        let finished = {
            let workflow = self.draft.workflow();
            let done = |status: &str| workflow.step_role(status).is_some_and(Role::is_finished);
            workflow.auto_complete() && self.all_statuses().all(|status| status.is_some_and(done))
        };
        let from = self.plan_status();
        let workflow = self.draft.workflow();
        if finished && workflow.plan_role(&from) == Some(PlanRole::Active) {
            let to = workflow.plan_towards(&from, PlanRole::Succeeded).to_owned();
            let allowed = workflow.check_plan(&from, &to).is_ok();
            let reviewed = self.plan.open_reviews().next().is_none();
            if !allowed || !reviewed {
                return Ok(false);
            }
            (self.plan_status, self.gated) = (Some(to), Some(GatedTransition::Ends));
            return Ok(true);
        }
        Ok(false)
    }

    /// Writes plan.md and variables.json.
    pub(in crate::workspace::change) fn finish(
        mut self,
        extras: &[Extra<'_>],
    ) -> Result<Option<String>, Error> {
        self.write_steps()?;
        let current = self.current_step();
        let total = self.plan.steps.len() + self.added.len() - usize::from(self.removed.is_some());
        let (now, text) = (self.draft.env.now(), current.to_string());
        let gated = self.gated.filter(|_| !self.draft.workflow().gates().is_empty());
        let held = self.plan_status.take_if(|_| gated == Some(GatedTransition::Ends));
        if let Some(status) = &self.plan_status {
            let ended = ended_at(self.draft, status);
            self.plan.set_plan_status(&mut self.edit, status, ended.as_deref())?;
        }
        let copies = [("current_step", text.as_str()), ("last_updated", now.as_str())];
        self.plan.update_copies(&mut self.edit, &copies)?;
        let edited = Plan::finish(self.edit)?;
        self.draft.put(StateFile::Plan, edited);

        let variables = self.draft.variables()?;
        let mut puts = variables.step_data(current, total);
        for extra in extras {
            match extra {
                Extra::Outputs(id, outputs) => puts.extend(variables.outputs(id, outputs)),
                Extra::Cost(cost) => puts.extend(variables.cost(cost)),
            }
        }
        self.draft.put_variables(variables.put_all(&puts)?);
        match (&self.plan_status, held) {
            (Some(to), _) if gated == Some(GatedTransition::Begins) => {
                gate::check(self.draft, &Passage::of_plan(to))?;
            }
            (_, Some(to)) if end_plan(self.draft, &to, self.spent)? => {
                self.plan_status = Some(to);
            }
            _ => {}
        }
        Ok(self.plan_status)
    }

    /// Writes the updates of the steps, and of the dependencies on renamed steps.
    fn write_steps(&mut self) -> Result<(), Error> {
        let plan = self.plan;
        let is_updated = |step: &&Step| self.updates.contains_key(&step.offset);
        let updated: Vec<&Step> = plan.steps.iter().filter(is_updated).collect();
        for step in &updated {
            let role = self.role(step);
            let was_done = self.draft.workflow().role_of(step) == Some(Role::Done);
            let now = self.draft.env.now();
            let update = self.step(step);
            update.set_role(role);
            match role == Some(Role::Done) {
                _ if update.get("status").is_none() => {}
                true if !was_done => update.set("completed_at", &now),
                false if step.completed_at.is_some() => update.clear("completed_at"),
                _ => {}
            }
        }
        let is_renamed = |step: &&Step| self.name(step) != (step.number, step.title());
        if updated.iter().any(is_renamed) {
            let steps = plan.step_index();
            let renamed = |wanted: &StepRef| {
                let (number, title) = self.name(steps.get(wanted)?);
                Some((number, title.to_owned()))
            };
            let lists = plan.renamed_dependencies(&renamed);
            for (step, list) in lists {
                let role = self.role(step);
                let update = self.updates.entry(step.offset).or_default();
                if update.get("depends_on").is_none() && Some(step.offset) != self.removed {
                    update.set("depends_on", &list);
                    update.set_role(role);
                }
            }
        }
        for step in &self.plan.steps {
            if let Some(update) = self.updates.get(&step.offset) {
                self.plan.update_step(&mut self.edit, step, update)?;
            }
        }
        Ok(())
    }

    fn plan_status(&self) -> String {
        self.plan_status.clone().unwrap_or_else(|| plan_status(self.draft, self.plan))
    }

    fn all_statuses(&self) -> impl Iterator<Item = Option<&str>> {
        self.plan
            .steps
            .iter()
            .filter(|step| Some(step.offset) != self.removed)
            .map(|step| self.status(step))
            .chain(self.added.iter().map(|(_, status)| Some(status.as_str())))
    }

    /// The new role of a step.
    fn role(&self, step: &Step) -> Option<Role> {
        self.status(step).and_then(|status| self.draft.workflow().step_role(status))
    }

    fn status<'s>(&'s self, step: &'s Step) -> Option<&'s str> {
        let written = self.updates.get(&step.offset).and_then(|update| update.get("status"));
        let marked =
            || self.draft.workflow().step_with_role(step.heading.mark.unwrap_or(Role::Open));
        Some(written.or(step.status()).unwrap_or_else(marked))
    }

    /// The number of the current step afterwards.
    fn current_step(&self) -> u32 {
        let workflow = self.draft.workflow();
        let roles = workflow.roles_of(&self.plan.steps);
        let mut numbered: Vec<(u32, Option<Role>)> = Vec::with_capacity(roles.len());
        for (step, role) in self.plan.steps.iter().zip(roles) {
            if Some(step.offset) == self.removed {
                continue;
            }
            numbered.push(match self.updates.get(&step.offset) {
                Some(update) => (update.name(step).0, workflow.role_of_status(self.status(step))),
                None => (step.number, role),
            });
        }
        numbered.extend(self.added.iter().map(|(n, s)| (*n, workflow.step_role(s))));
        current_step_number(&numbered)
    }
}

/// Gives a step without an id the one that a review about it names.
pub(in crate::workspace) fn identify(
    draft: &mut Draft<'_>,
    number: u32,
    id: &StepId,
) -> Result<(), Error> {
    let plan = draft.plan()?;
    let step = plan.steps.iter().find(|step| step.number == number && step.id.is_none());
    if let Some(step) = step {
        let mut progress = PlanProgress::new(draft, &plan)?;
        progress.step(step).set("id", id.as_str());
        progress.finish(&[])?;
    }
    Ok(())
}

/// The time at which a plan ends with this status; `None` if it does not end.
pub(in crate::workspace::change) fn ended_at(draft: &Draft<'_>, status: &str) -> Option<String> {
    let role = draft.workflow().plan_role(status);
    matches!(role, Some(PlanRole::Succeeded | PlanRole::Failed)).then(|| draft.env.now())
}

/// Gives the plan its final status, or opens the review of a gate; returns whether it ended.
fn end_plan(draft: &mut Draft<'_>, to: &str, spent: Spent) -> Result<bool, Error> {
    let ended = draft.attempt(|draft| {
        let plan = draft.plan()?;
        let mut edit = plan.document.edit();
        plan.set_plan_status(&mut edit, to, ended_at(draft, to).as_deref())?;
        draft.put(StateFile::Plan, Plan::finish(edit)?);
        gate::check(draft, &Passage { spent, ..Passage::of_plan(to) })
    });
    let Err(error) = ended else { return Ok(true) };
    match error.into_kind() {
        ErrorKind::NeedsReview { question, waiting, .. } => {
            let id = open_review(draft, &question, waiting.as_deref())?;
            draft.notices.push(format!("review {id} is open: {question}"));
            Ok(false)
        }
        ErrorKind::Refused { code: ErrorCode::ReviewOpen, .. } => Ok(false),
        other => Err(other.into()),
    }
}

/// The plan's status in the spelling of the workflow; an unknown one counts as planning.
pub(in crate::workspace::change) fn plan_status(draft: &Draft<'_>, plan: &Plan) -> String {
    let workflow = draft.workflow();
    let known = plan.metadata.status.as_deref().and_then(|text| workflow.plan_status(text));
    known.unwrap_or_else(|| workflow.plan_with_role(PlanRole::Planning)).to_owned()
}

/// A step's status in the spelling of the workflow; an unknown one counts as open.
pub(in crate::workspace::change) fn status_of(draft: &Draft<'_>, step: &Step) -> String {
    let workflow = draft.workflow();
    let known = match step.status() {
        Some(written) => workflow.step_status(written),
        None => step.heading.mark.map(|role| workflow.step_with_role(role)),
    };
    known.unwrap_or_else(|| workflow.step_with_role(Role::Open)).to_owned()
}
