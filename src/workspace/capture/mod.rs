//! An agent's own planning tool becomes steps: its list is followed, one operation for each event.
//!
//! The list is kept in `.statedir/sessions/`, with the step that each task has. A clone has no such
//! file: there tasks and steps are matched by their words. Only what the client changed is carried
//! over, so that what was done to the plan in another way is not turned back.

mod comparison;
mod step_changes;
mod task_list;

use std::{cell::RefCell, collections::BTreeMap};

pub(crate) use self::{
    comparison::ListComparison,
    task_list::{ClientTask, TaskChange, TaskEvent, clean_line},
};
use self::{
    step_changes::step_changes,
    task_list::{TaskList, TrackedTask, Unsure},
};
use super::{Change, Draft, Error, StepShape, Workspace, masked, transact::external_edit};
use crate::{
    domain::{Plan, Step, StepId, StepRef, StepRole as Role, Workflow},
    store::OperationSummary,
};

/// The kind of the operations.
const CAPTURE: &str = "capture";
/// How many changes may be refused before the rest is left for the next event.
const MOST_REFUSED: usize = 5;
/// How many operations are looked at for a change that may not have been made.
const MOST_LOOKED_BACK: usize = 200;
/// The longest note, in characters.
const LONGEST_NOTE: usize = 400;

/// The outcome of an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured {
    /// What was not carried over, and why.
    pub refused: Vec<String>,
    /// Open steps that a list written anew lacks: number and title.
    pub lacking: Vec<(u32, String)>,
    /// The keys of tasks that were changed, and that no event told of before.
    pub unknown: Vec<String>,
}

impl Workspace {
    /// Carries over what an agent did with its list.
    ///
    /// Steps that somebody else holds stay as they are, and so do those that a person left out or
    /// took away. A change that is refused does not keep the others from being made.
    pub(crate) fn capture(&self, session: &str, events: &[TaskEvent]) -> Result<Captured, Error> {
        let mut refused: BTreeMap<usize, String> = BTreeMap::new();
        loop {
            let failed = RefCell::new(None);
            let mut captured = Captured::default();
            let done = self.change(CAPTURE, |draft| {
                external_edit::follow_up(draft);
                captured = self.follow(draft, session, events, &refused, &failed)?;
                Ok(Vec::new())
            });
            match (done, failed.into_inner()) {
                (Ok(_), _) => {
                    captured.refused.extend(refused.into_values());
                    return Ok(captured);
                }
                (Err(error), Some(task))
                    if refused.len() < MOST_REFUSED && error.exit_code() == 1 =>
                {
                    refused.insert(task, error.to_string());
                }
                (Err(error), _) => return Err(error),
            }
        }
    }

    /// Notes that a session begins anew: what its next list lacks was forgotten, not dropped.
    pub(crate) fn begin_list_anew(&self, session: &str) {
        let mut list = self.task_list(session);
        if !list.tasks.is_empty() && !list.began_anew {
            list.began_anew = true;
            self.keep_list(&list);
        }
    }

    /// Keeps what the agent said when it stopped, for the task that it worked on last.
    pub(crate) fn keep_last_words(&self, session: &str, words: &str) {
        let mut list = self.task_list(session);
        let is = |role: Role| move |task: &&mut TrackedTask| task.role == role;
        let active = list.tasks.iter().any(|task| task.role == Role::Active);
        let wanted = if active { Role::Active } else { Role::Done };
        let Some(task) = list.tasks.iter_mut().rev().find(is(wanted)) else { return };
        let note = clean_line(&masked(words), LONGEST_NOTE);
        if !note.is_empty() && task.note.as_ref() != Some(&note) {
            task.note = Some(note);
            self.keep_list(&list);
        }
    }

    /// Finds out whether changes were made that a list has and the plan has not: if they were,
    /// somebody turned them back, and if not, they are still to be made. Whether there were any.
    fn settle(&self, list: &mut TaskList) -> bool {
        let unsure = |task: &TrackedTask| task.unsure.is_some();
        let (true, Some(from)) = (list.tasks.iter().any(unsure), &list.changed_from) else {
            return false;
        };
        let ours = |op: &OperationSummary| op.kind == CAPTURE && op.actor == self.env.actor();
        let last = self.store.operations(Some(MOST_LOOKED_BACK)).unwrap_or_default();
        let was_made = last.iter().take_while(|op| op.id.as_str() != from).any(ours);
        for task in &mut list.tasks {
            if let Some(Unsure { was }) = task.unsure.take()
                && !was_made
            {
                task.agreed = was;
            }
        }
        true
    }

    fn task_list(&self, session: &str) -> TaskList {
        let known = self.store.task_list(session).and_then(|bytes| TaskList::parse(&bytes));
        known.unwrap_or_else(|| TaskList { session: session.to_owned(), ..TaskList::default() })
    }

    /// What is lost with it is which task a step was: then the words tell.
    fn keep_list(&self, list: &TaskList) {
        if let (false, Ok(bytes)) = (self.options.dry_run, serde_json::to_vec(list)) {
            let _ = self.store.keep_task_list(&list.session, &bytes);
        }
    }

    fn follow(
        &self,
        draft: &mut Draft<'_>,
        session: &str,
        events: &[TaskEvent],
        refused: &BTreeMap<usize, String>,
        failed: &RefCell<Option<usize>>,
    ) -> Result<Captured, Error> {
        let mut list = self.task_list(session);
        let plan = draft.plan()?;
        let revision = draft.view().revision.as_str().to_owned();
        if list.changed_from.as_ref() == Some(&revision) {
            forget_uncommitted(&mut list, &plan);
        }
        agree(&mut list, &plan, draft.workflow());
        let is_settled = self.settle(&mut list);
        let (known, is_first) = (list.clone(), list.tasks.is_empty());
        let is_new = is_first || list.began_anew;
        for event in events {
            list.fold(event.clone(), masked);
        }
        let unknown = events.iter().flat_map(|event| list.unknown_keys(event)).collect();
        let step_matches = step_matches(&list, &plan, draft.workflow(), is_new);
        // What was found by its words is that step from now on, however the words compare later.
        for (task, place) in list.tasks.iter_mut().zip(&step_matches) {
            if let StepMatch::Step(at) = place {
                task.step = plan.steps[*at].id.as_ref().map(ToString::to_string);
            }
        }
        let mut lacking = Vec::new();
        let whole =
            |event: &TaskEvent| matches!(event, TaskEvent::Whole(tasks) if !tasks.is_empty());
        if is_new && events.iter().any(whole) {
            lacking = open_steps(&plan, draft.workflow(), &step_matches);
        }
        let found = |place: &StepMatch| match place {
            StepMatch::Step(at) => Some(reference(&plan.steps[*at])),
            StepMatch::Removed | StepMatch::Nowhere => None,
        };
        let found: Vec<Option<StepRef>> = step_matches.iter().map(found).collect();
        // What nobody holds is taken over by the plan that follows.
        drop(plan);
        let added = add(draft, &mut list, &step_matches)?;
        for at in refused.keys() {
            // It is tried again when the client changes it again.
            if let Some(task) = list.tasks.get_mut(*at) {
                task.agreed = Some(task.role);
            }
        }
        let mut done = Ok(());
        let mut has_moved = false;
        for (at, task) in list.tasks.iter_mut().enumerate() {
            let new = || added.get(&at).cloned().map(StepRef::Id);
            let Some(step) = found[at].clone().or_else(new) else { continue };
            if refused.contains_key(&at) {
                continue;
            }
            let changes = step_changes(draft, task, &step)?;
            done = changes.iter().try_for_each(|change| super::adapted(draft, change).map(drop));
            if done.is_err() {
                *failed.borrow_mut() = Some(at);
                break;
            }
            if changes.iter().any(|change| !matches!(change, Change::StepSet(_))) {
                task.unsure = Some(Unsure { was: task.agreed });
                task.agreed = Some(task.role);
                has_moved = true;
            }
        }
        if has_moved || !added.is_empty() {
            list.changed_from = Some(revision);
        }
        // Kept before the commit: what a crash leaves undone is done at the next event.
        if is_settled || list != known {
            self.keep_list(&list);
        }
        done?;
        Ok(Captured { lacking, unknown, refused: Vec::new() })
    }
}

/// Where a task is in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepMatch {
    /// The step at this place.
    Step(usize),
    /// Its step was taken out of the plan.
    Removed,
    /// It has no step yet.
    Nowhere,
}

/// Finds the step of every task: by its id, else by its words.
fn step_matches(list: &TaskList, plan: &Plan, workflow: &Workflow, is_new: bool) -> Vec<StepMatch> {
    let by_id: BTreeMap<&str, usize> = plan
        .steps
        .iter()
        .enumerate()
        .filter_map(|(at, step)| Some((step.id.as_ref()?.as_str(), at)))
        .collect();
    let mut by_words: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    if list.tasks.iter().any(|task| task.step.is_none()) {
        for (at, step) in plan.steps.iter().enumerate() {
            by_words.entry(task_list::words(&step.title)).or_default().push(at);
        }
    }
    let known = |task: &TrackedTask| task.step.as_deref().map(|id| by_id.get(id).copied());
    let mut taken: Vec<usize> = list.tasks.iter().filter_map(|task| known(task)?).collect();
    let mut step_matches = Vec::with_capacity(list.tasks.len());
    for task in &list.tasks {
        let place = match known(task) {
            Some(Some(at)) => StepMatch::Step(at),
            Some(None) => StepMatch::Removed,
            None => {
                let same =
                    by_words.get(&task_list::words(&task.text)).into_iter().flatten().copied();
                let free = same.filter(|at| !taken.contains(at)).filter_map(|at| {
                    let role = workflow.role_of(&plan.steps[at]);
                    // What is ended comes into question for one who tells of it again.
                    let is_ended = matches!(role, Some(Role::Done | Role::Skipped));
                    let again = is_new || task.made || role == Some(task.role);
                    let rank = match role {
                        Some(Role::Active) => 0,
                        Some(Role::Done | Role::Skipped) | None => 2,
                        _ => 1,
                    };
                    (!is_ended || again).then_some((rank, at))
                });
                match free.min() {
                    Some((_, at)) => {
                        taken.push(at);
                        StepMatch::Step(at)
                    }
                    None => StepMatch::Nowhere,
                }
            }
        };
        step_matches.push(place);
    }
    step_matches
}

/// Forgets what was to be changed when a crash came before the commit.
fn forget_uncommitted(list: &mut TaskList, plan: &Plan) {
    let is_there = |id: &str| {
        plan.steps.iter().any(|step| step.id.as_ref().is_some_and(|known| known.as_str() == id))
    };
    for task in &mut list.tasks {
        if let Some(Unsure { was }) = task.unsure.take() {
            task.agreed = was;
        }
        task.step = task.step.take().filter(|id| task.agreed.is_some() || is_there(id));
    }
}

/// Notes on which tasks client and plan agree by now, and which steps they have.
fn agree(list: &mut TaskList, plan: &Plan, workflow: &Workflow) {
    let step_matches = step_matches(list, plan, workflow, false);
    for (task, place) in list.tasks.iter_mut().zip(step_matches) {
        let StepMatch::Step(at) = place else { continue };
        let step = &plan.steps[at];
        task.step = step.id.as_ref().map(ToString::to_string);
        if workflow.role_of(step) == Some(task.role) {
            (task.agreed, task.unsure) = (Some(task.role), None);
        }
        task.renamed = task.renamed && !task_list::same_words(&task.text, &step.title);
    }
}

/// Adds a step for every task that has none, and says which one it got.
fn add(
    draft: &mut Draft<'_>,
    list: &mut TaskList,
    step_matches: &[StepMatch],
) -> Result<BTreeMap<usize, StepId>, Error> {
    let mut changes = Vec::new();
    let mut tasks = Vec::new();
    for (at, task) in list.tasks.iter_mut().enumerate() {
        if step_matches[at] == StepMatch::Nowhere && task.role != Role::Skipped {
            let title = Some(task.text.clone());
            changes.push(Change::StepAdd(Box::new(StepShape { title, ..StepShape::default() })));
            (task.made, task.renamed, task.agreed) = (true, false, None);
            tasks.push(at);
        }
    }
    let answers = super::apply_in_order(draft, &changes)?;
    let id = |answer: &super::Answer| StepId::parse(answer.data.get("step")?.get("id")?.as_str()?);
    let added: BTreeMap<usize, StepId> = tasks
        .into_iter()
        .zip(answers)
        .filter_map(|(at, answer)| Some((at, id(&answer)?)))
        .collect();
    for (at, id) in &added {
        list.tasks[*at].step = Some(id.to_string());
    }
    Ok(added)
}

fn open_steps(plan: &Plan, workflow: &Workflow, step_matches: &[StepMatch]) -> Vec<(u32, String)> {
    let is_lacking = |(at, step): &(usize, &Step)| {
        let role = workflow.role_of(step);
        let is_ended = matches!(role, Some(Role::Done | Role::Skipped) | None);
        !is_ended && !step_matches.contains(&StepMatch::Step(*at))
    };
    let steps = plan.steps.iter().enumerate().filter(is_lacking);
    steps.map(|(_, step)| (step.number, step.title.clone())).collect()
}

fn reference(step: &Step) -> StepRef {
    step.id.clone().map_or(StepRef::Number(step.number), StepRef::Id)
}
