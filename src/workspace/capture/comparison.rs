//! How an agent's list compares with the plan: for the brief, and for `check`.

use super::{StepMatch, step_matches, task_list::TaskList};
use crate::{
    domain::{Plan, Step, StepRole as Role, Workflow},
    workspace::{Error, Workspace},
};

/// How many of the newest lists are compared with the plan.
const NEWEST: usize = 3;

/// A list beside the plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListComparison {
    pub session: String,
    /// Its tasks, in the client's order; what was dropped is not among them.
    pub tasks: Vec<TaskComparison>,
    /// Open steps that it lacks: number and title.
    pub lacking: Vec<(u32, String)>,
}

/// One task beside its step.
#[derive(Clone, Debug)]
pub(crate) struct TaskComparison {
    /// The task's words.
    pub text: String,
    /// How far it is in the client.
    pub role: Role,
    /// Its step: number, status and how far it is; `None` if it has none.
    pub step: Option<(u32, String, Option<Role>)>,
    /// What the agent said when it stopped.
    pub note: Option<String>,
}

impl TaskComparison {
    /// Whether client and plan contradict each other: what one of them has finished, the other has
    /// not, or what one of them has begun.
    pub(crate) fn differs(&self) -> bool {
        let Some((_, _, role)) = &self.step else { return self.role != Role::Done };
        let is_ended = matches!(role, Some(Role::Done | Role::Skipped));
        (self.role == Role::Done) != is_ended
            || (self.role == Role::Active && *role == Some(Role::Open))
    }

    /// How far it is in the client, as a checklist marks it.
    pub(crate) fn mark(&self) -> char {
        match self.role {
            Role::Done => 'x',
            Role::Active => '>',
            _ => ' ',
        }
    }
}

impl ListComparison {
    /// The tasks on which client and plan contradict each other.
    pub(in crate::workspace) fn differences(&self) -> impl Iterator<Item = &TaskComparison> {
        self.tasks.iter().filter(|task| task.differs())
    }
}

impl Workspace {
    /// How the list of a session stands to the plan; nothing if it has none.
    pub(crate) fn compare_list(&self, session: &str) -> Result<Option<ListComparison>, Error> {
        let list = self.task_list(session);
        if list.tasks.is_empty() {
            return Ok(None);
        }
        let snapshot = self.read()?;
        let (plan, workflow) = (snapshot.plan()?, snapshot.workflow()?);
        Ok(Some(compare(&list, &plan, &workflow)))
    }

    /// How the newest lists of sessions that have not ended stand to the plan.
    pub(in crate::workspace) fn compare_lists(
        &self,
        plan: &Plan,
        workflow: &Workflow,
    ) -> Vec<ListComparison> {
        let lists = self.store.newest_task_lists(NEWEST).into_iter();
        let lists = lists.filter_map(|bytes| TaskList::parse(&bytes));
        let is_alive =
            |list: &TaskList| self.store.sign(&list.session).is_none_or(|sign| !sign.is_over());
        lists.filter(is_alive).map(|list| compare(&list, plan, workflow)).collect()
    }
}

fn compare(list: &TaskList, plan: &Plan, workflow: &Workflow) -> ListComparison {
    let places = step_matches(list, plan, workflow, true);
    let of = |place: &StepMatch| match place {
        StepMatch::Step(at) => {
            let step: &Step = &plan.steps[*at];
            let status = step.status.clone().unwrap_or_default();
            Some((step.number, status, workflow.role_of(step)))
        }
        _ => None,
    };
    let shown = list.tasks.iter().zip(&places).filter(|(task, _)| task.role != Role::Skipped);
    let tasks = shown.map(|(task, place)| TaskComparison {
        text: task.text.clone(),
        role: task.role,
        step: of(place),
        note: task.note.clone(),
    });
    ListComparison {
        session: list.session.clone(),
        tasks: tasks.collect(),
        lacking: super::open_steps(plan, workflow, &places),
    }
}
