//! A fleet at a glance, for whoever shows it: the command line, the board, the page.

use serde::Serialize;

use super::{Database, Filter, FleetError, Project, configured, open};

/// A project in a line.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ProjectSummary {
    /// Its name in the fleet.
    pub name: String,
    pub goal: Option<String>,
    /// `active`, `paused`, `completed` or `failed`.
    pub status: String,
    /// The current step, as `2: Write the report`.
    pub current_step: Option<String>,
    pub steps_done: u64,
    pub steps: u64,
    /// Reviews that wait for a person.
    pub open_reviews: u64,
    /// The machine that has or had the lease.
    pub machine: Option<String>,
    /// Whether that machine still has it.
    pub is_held: bool,
    /// Milliseconds since the machine was last heard of.
    pub heard_ms: u64,
    /// Milliseconds since the last push.
    pub published_ms: u64,
}

impl From<&Project> for ProjectSummary {
    fn from(project: &Project) -> Self {
        let number = |key: &str| project.metadata[key].as_u64().unwrap_or(0);
        let milliseconds = |ms: i64| u64::try_from(ms).unwrap_or(0);
        let lease = &project.lease;
        Self {
            name: project.name.clone(),
            goal: project.metadata["goal"].as_str().map(str::to_owned),
            status: project.status.clone(),
            current_step: project.current_task_id.clone(),
            steps_done: number("steps_done"),
            steps: number("steps"),
            open_reviews: number("open_reviews"),
            machine: (!lease.host.is_empty()).then(|| lease.host.clone()),
            is_held: lease.is_held(),
            heard_ms: milliseconds(project.silent_ms),
            published_ms: milliseconds(project.age_ms),
        }
    }
}

/// The projects of the fleet that this process is to use, those that need somebody first. It opens a
/// connection and closes it again.
///
/// # Errors
/// The database cannot be reached, or is none of ours.
pub(crate) fn summaries(filter: &Filter) -> Result<Vec<ProjectSummary>, FleetError> {
    let mut database: Box<dyn Database> = open(&configured()?)?;
    database.summaries(filter)
}
