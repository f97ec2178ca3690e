//! A state as it is looked at: what pages and the board show, all of one revision.

use crate::domain::{Decision, Review, StepRole, Workflow};
use crate::graph::Graph;
use crate::history::Entry;
use crate::store::OperationSummary;
use crate::workspace::{
    Error, Overview, Snapshot, StateDocument, StepOverview, StepTimes, Workspace,
};

/// How much of the long lists is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The newest entries of the history.
    pub entries: usize,
    /// They are looked for in so many bytes at its end.
    pub bytes: u64,
    /// The newest operations.
    pub operations: usize,
    /// Whether the graph is wanted, which takes times from the history.
    pub graph: bool,
}

/// What is shown of a state.
#[derive(Debug)]
pub(crate) struct Dashboard {
    pub overview: Overview,
    pub state: StateDocument,
    /// Empty if it is not wanted.
    pub graph: Graph,
    pub workflow: Workflow,
    /// The newest entries, oldest first.
    pub entries: Vec<Entry>,
    /// The newest operations, newest first.
    pub operations: Vec<OperationSummary>,
}

/// What was read; nothing if it is damaged. A disk that fails is an error.
pub(super) fn unless_failing<T>(read: Result<Vec<T>, Error>) -> Result<Vec<T>, Error> {
    match read {
        Err(error) if error.code().is_of_disk() => Err(error),
        read => Ok(read.unwrap_or_default()),
    }
}

/// The steps with one status.
#[derive(Debug)]
pub(crate) struct Column<'d> {
    pub status: &'d str,
    /// What it means.
    pub role: Option<StepRole>,
    /// The steps, in order.
    pub steps: Vec<&'d StepOverview>,
}

/// A rule that fired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FiredRule<'d> {
    /// When.
    pub time: &'d str,
    /// The rule as written.
    pub rule: &'d str,
    /// The values that made its condition true.
    pub because: Option<&'d str>,
    pub did: &'d str,
}

impl Dashboard {
    /// Reads a state.
    pub(crate) fn read(workspace: &Workspace, extent: Extent) -> Result<Self, Error> {
        Self::of(workspace, &workspace.read()?, extent)
    }

    /// Reads a state as it was right after an operation.
    ///
    /// # Errors
    /// The operation is not in the log, or what was there cannot be read.
    #[cfg(feature = "web")]
    pub(crate) fn at(workspace: &Workspace, id: &str, extent: Extent) -> Result<Self, Error> {
        Self::of(workspace, &workspace.read_at(id)?, extent)
    }

    fn of(workspace: &Workspace, snapshot: &Snapshot, extent: Extent) -> Result<Self, Error> {
        let entries = unless_failing(snapshot.recent_entries(extent.entries, extent.bytes))?;
        let operations = match extent.operations {
            0 => Vec::new(),
            most => unless_failing(workspace.operations(Some(most)))?,
        };
        let overview = snapshot.overview()?;
        let graph = match extent.graph {
            true => snapshot.graph(overview.group_by.as_deref())?,
            false => Graph::default(),
        };
        Ok(Self {
            graph,
            overview,
            state: snapshot.state(false),
            workflow: snapshot.workflow()?.into_owned(),
            entries,
            operations,
        })
    }

    /// The steps by status: those of the lifecycle, then others that steps have.
    pub(crate) fn columns(&self) -> Vec<Column<'_>> {
        let steps = &self.overview.steps;
        let mut statuses: Vec<&str> = self.workflow.step_statuses().collect();
        for step in steps.iter() {
            if !statuses.contains(&step.status.as_str()) && statuses.len() < 20 {
                statuses.push(&step.status);
            }
        }
        let column = |status| Column {
            status,
            role: self.workflow.step_role(status),
            steps: steps.iter().filter(|step| step.status == status).collect(),
        };
        statuses.into_iter().map(column).collect()
    }

    /// What rules have done lately, the newest first.
    pub(crate) fn fired_rules(&self) -> impl Iterator<Item = FiredRule<'_>> {
        self.entries.iter().rev().filter_map(|entry| {
            Some(FiredRule {
                time: entry.time.as_deref().unwrap_or("-"),
                rule: entry.field("rule")?,
                because: entry.field("values"),
                did: entry.field("state_changes").unwrap_or(&entry.title),
            })
        })
    }

    /// Questions to a person, the open ones first.
    pub(crate) fn reviews(&self) -> Vec<&Review> {
        let mut reviews: Vec<&Review> = self.state.reviews.iter().collect();
        reviews.sort_by_key(|review| review.decision != Decision::Open);
        reviews
    }
}

/// From how many of the newest entries, and of how many bytes, times are taken.
const COVERED: (usize, u64) = (1000, 1 << 20);

impl Snapshot {
    /// The graph of the plan; `group_by` is the field that says which group a step belongs to, else
    /// the usual one.
    pub(crate) fn graph(&self, group_by: Option<&str>) -> Result<Graph, Error> {
        let (plan, workflow) = (self.plan()?, self.workflow()?);
        let entries = unless_failing(self.recent_entries(COVERED.0, COVERED.1))?;
        let times = StepTimes::of(&entries);
        Ok(Graph::new(&plan, &workflow, group_by.unwrap_or("group"), |id| times.total(id)))
    }
}
