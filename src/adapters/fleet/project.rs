//! What is kept of a project in a fleet, and what is asked about it.

use std::{fmt, time::Duration};

use serde::Serialize;
use serde_json::Value;

use super::FleetError;

/// The right of one machine to publish a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Lease {
    /// The machine.
    pub host: String,
    /// The fencing number.
    pub fence: i64,
    /// Milliseconds until it expires, by the database's clock; negative afterwards.
    pub left_ms: i64,
}

impl Lease {
    /// Whether nobody else may have it.
    pub(crate) fn is_held(&self) -> bool {
        let longest = i64::try_from(super::LONGEST_LEASE.as_millis()).unwrap_or(i64::MAX);
        !self.host.is_empty() && self.left_ms > 0 && self.left_ms <= longest
    }
}

/// A project as the database knows it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Project {
    /// Its execution_id.
    pub id: String,
    /// Its name in the fleet.
    pub name: String,
    /// `active`, `paused`, `completed` or `failed`.
    pub status: String,
    /// The current step.
    pub current_task_id: Option<String>,
    /// Who works on it.
    pub current_agent_id: Option<String>,
    /// What was done last.
    pub last_action: Option<String>,
    /// Goal, counts, costs, template, machine.
    pub metadata: Value,
    /// The revision that was published last.
    pub revision: String,
    /// How many bytes of the history are published.
    pub history_length: i64,
    /// The digest over all published ranges of the history.
    #[serde(skip)]
    pub history_chain: String,
    /// Counts up when the history is published anew.
    #[serde(skip)]
    pub generation: i64,
    /// Milliseconds since the last push.
    pub age_ms: i64,
    /// Milliseconds since the machine was last heard of.
    pub silent_ms: i64,
    /// The lease, whether held or run out.
    pub lease: Lease,
}

impl Project {
    /// The machine that has the lease, or else the one that published last.
    pub(crate) fn machine(&self) -> &str {
        match self.lease.host.as_str() {
            "" => self.metadata["machine"].as_str().unwrap_or_default(),
            host => host,
        }
    }
}

/// A state that becomes part of the fleet.
#[derive(Clone, Debug)]
pub(crate) struct NewProject<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    /// Whether an existing project is renamed to that name.
    pub(crate) renames: bool,
    pub(crate) host: &'a str,
    pub(crate) lease: Duration,
}

/// What others can look for in a project.
#[derive(Clone, Debug, Default)]
pub(crate) struct Published {
    pub(crate) status: String,
    pub(crate) current_task_id: Option<String>,
    pub(crate) current_agent_id: Option<String>,
    pub(crate) last_action: Option<String>,
    pub(crate) metadata: Value,
    pub(crate) document: Value,
}

/// What changed since the last push, apart from the history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push<'a> {
    pub(crate) id: &'a str,
    pub(crate) host: &'a str,
    pub(crate) fence: i64,
    /// The revision that was published last, as this machine knows it.
    pub(crate) base: &'a str,
    pub(crate) revision: &'a str,
    pub(crate) published: &'a Published,
    /// Files with new content.
    pub(crate) files: &'a [(String, Vec<u8>)],
    /// Files that are gone.
    pub(crate) removed: &'a [String],
    /// Where the new part of the history begins; 0 publishes it anew.
    pub(crate) history_from: u64,
    /// How many bytes it has then.
    pub(crate) history_length: u64,
    /// Whether what is published of the history is replaced.
    pub(crate) whole: bool,
    /// How long the lease lasts from now.
    pub(crate) lease: Duration,
}

/// The new part of a history, in ranges that follow each other.
pub(crate) type Ranges<'a> = dyn Iterator<Item = Result<HistoryRange, FleetError>> + 'a;

/// A part of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryRange {
    pub(crate) start: u64,
    pub(crate) bytes: Vec<u8>,
    /// The digest of the one before and of these bytes.
    pub(crate) chain: String,
}

/// Why the database did not accept something: another machine has the project, or had it meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Refusal {
    /// The project.
    pub name: String,
    /// What was not accepted.
    pub what: String,
    /// Who has the lease now.
    pub lease: Lease,
    /// The revision that is published.
    pub revision: String,
    pub kind: RefusalKind,
}

/// What kind of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefusalKind {
    /// Another machine holds the lease.
    Held,
    /// The lease is not held by this machine any more.
    Lost,
    /// The lease is right, but something else was published since.
    Moved,
    /// The name belongs to another project.
    NameTaken,
}

impl Refusal {
    /// The error for this refusal.
    pub(super) fn of(project: Project, what: &str, kind: RefusalKind) -> FleetError {
        let Project { name, lease, revision, .. } = project;
        FleetError::Refused(Box::new(Self { name, what: what.to_owned(), lease, revision, kind }))
    }

    pub(super) fn is_taken(&self) -> bool {
        self.kind == RefusalKind::NameTaken
    }

    pub(super) fn hint(&self) -> Option<String> {
        let name = crate::text::shell::shell_word(&self.name);
        Some(match self.kind {
            RefusalKind::Held => format!(
                "wait until it is released, or `statedir fleet steal {name} --why 'its machine is gone'`"
            ),
            RefusalKind::Lost => format!("`statedir fleet claim {name}` takes it, once it is free"),
            RefusalKind::Moved => format!("`statedir fleet pull {name} --merge` merges both"),
            RefusalKind::NameTaken => {
                format!("choose another name, such as `statedir fleet join --name {name}-2`")
            }
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, what, lease, .. } = self;
        match self.kind {
            RefusalKind::Held => {
                let left = crate::domain::format_age(u64::try_from(lease.left_ms).unwrap_or(0));
                write!(f, "`{name}` is held by {} for another {left}", lease.host)
            }
            RefusalKind::Lost if lease.host.is_empty() => {
                write!(f, "the lease of `{name}` was released; not accepted: {what}")
            }
            RefusalKind::Lost => write!(
                f,
                "`{name}` was taken by {} (fencing number {}); not accepted: {what}",
                lease.host, lease.fence
            ),
            RefusalKind::Moved => write!(
                f,
                "`{name}` was published at revision {} since; not accepted: {what}",
                self.revision
            ),
            RefusalKind::NameTaken => write!(f, "the name `{name}` belongs to another project"),
        }
    }
}

/// Which project a claim is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProjectChoice {
    /// The one of that name or id.
    Named(String),
    /// The first that is free, longest untouched first.
    Next(Filter),
}

/// Which projects are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Columns and the values they have.
    pub equal: Vec<(FilterColumn, String)>,
    /// Untouched for at least as long.
    pub older_than: Option<Duration>,
    /// Words that are in the name, the goal or the last action.
    pub text: Option<String>,
    /// Only those of which the lease has run out.
    pub run_out: bool,
    /// The most.
    pub limit: Option<usize>,
}

/// What a filter can compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FilterColumn {
    /// `active`, `paused`, `completed` or `failed`.
    Status,
    /// The machine that has the lease, or else the one that published last.
    Machine,
    /// Who works on it.
    Agent,
    /// A key of the metadata.
    Metadata(String),
}

impl FilterColumn {
    /// The column of that name.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "status" => Self::Status,
            "machine" | "host" => Self::Machine,
            "agent" => Self::Agent,
            other => Self::Metadata(other.to_owned()),
        }
    }
}

/// The totals of all projects, by machine or template.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Totals {
    /// The machine or template.
    pub group: String,
    /// How many projects.
    pub projects: i64,
    /// How many of them are completed.
    pub completed: i64,
    /// How many of them have failed.
    pub failed: i64,
    /// Steps that are done, of how many.
    pub steps_done: i64,
    pub steps: i64,
    /// What they cost together.
    pub cost: f64,
    /// How long their steps took together.
    pub time_ms: i64,
    /// How often they were recovered.
    pub recoveries: i64,
}

/// A project with its small files.
#[derive(Clone, Debug)]
pub(crate) struct ProjectFiles {
    pub(crate) project: Project,
    pub(crate) files: Vec<(String, Vec<u8>)>,
}
