//! Everything a decision may look at, as plain values.

use serde::Serialize;

use crate::{
    domain::{PlanRole, StepRole},
    recovery::{
        Holder,
        failure::{ClassifiedError, Pattern},
    },
};

/// What is known.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Evidence {
    /// The plan as a whole.
    pub plan: PlanEvidence,
    /// The step that the decision is about.
    pub step: Option<StepEvidence>,
    /// Whether that step was asked for by name.
    pub asked: bool,
    /// The step that could be started next.
    pub next: Option<StepEvidence>,
    /// Other steps that run, each with who works on it.
    pub other_running: Vec<Holder>,
    /// The newest operation.
    pub last_operation: Option<LastOperation>,
    /// What repeats itself among the failed attempts.
    pub patterns: Vec<Pattern>,
    /// Checkpoints, the newest first.
    pub checkpoints: Vec<CheckpointSummary>,
    /// Newer checkpoints that would not help: they contain the failure, or equal the current state.
    pub passed_over: Vec<String>,
    /// How often a recovery went back to the newest one already.
    pub rolled_back: usize,
    /// The git work tree, if there is one.
    pub git: Option<GitSeen>,
    /// The project's files, if they could be looked at.
    pub files: Option<FilesSeen>,
    /// Files of the state that are missing or cannot be read.
    pub damage: Vec<String>,
    /// Whether the log is damaged together with other files, so that it cannot bring them back.
    pub log_cannot_repair: bool,
}

/// The plan as a whole.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct PlanEvidence {
    /// What is to be reached.
    pub goal: Option<String>,
    /// The status as written.
    pub status: Option<String>,
    /// What the status means.
    pub role: Option<PlanRole>,
    /// How many steps there are.
    pub total: usize,
    /// How many are done.
    pub completed: usize,
    /// How many were left out.
    pub skipped: usize,
    /// How many have failed.
    pub failed: usize,
    /// How many run.
    pub running: usize,
    /// Those that are neither being worked on nor finished, each with its status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// How many have not begun.
    pub open: usize,
    /// Steps whose status the lifecycle does not know, each with its status.
    pub unknown: Vec<String>,
    /// Why it is paused.
    pub paused_because: Option<String>,
    /// Questions that nobody has decided yet.
    pub open_reviews: Vec<String>,
}

/// The step that the decision is about.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StepEvidence {
    pub number: u32,
    pub id: Option<String>,
    pub title: String,
    /// The status as written.
    pub status: String,
    /// What the status means.
    pub role: Option<StepRole>,
    /// How often it was started.
    pub attempts: u32,
    /// How often it failed.
    pub failures: u32,
    /// How often it may fail before a person is asked.
    pub attempts_allowed: u32,
    /// Who works on it.
    pub claim: Option<Holder>,
    /// When it was started last.
    pub started_at: Option<String>,
    /// What was said last while it ran.
    pub last_action: Option<String>,
    /// Parts of the state that changed while it ran.
    pub state_changes: Vec<String>,
    /// Why it failed last.
    pub error: Option<ErrorSeen>,
    /// Files that its texts name.
    pub names: Vec<NamedFile>,
    /// Steps that use what it gives.
    pub needed_by: Vec<u32>,
}

/// Why a step failed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ErrorSeen {
    /// What was said.
    pub text: String,
    /// What it means.
    #[serde(flatten)]
    pub failure: ClassifiedError,
}

/// A file that a step names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NamedFile {
    /// As it is written.
    pub path: String,
    /// The field that names it.
    pub named_in: &'static str,
    /// Whether it is there.
    pub exists: bool,
    /// How large it is; of a directory, how many entries it has.
    pub bytes: u64,
    /// Whether it changed since the step began; unknown without a beginning.
    pub changed: Option<bool>,
}

/// The newest operation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LastOperation {
    pub id: String,
    /// The sort of change.
    pub kind: String,
    /// Who made it.
    pub actor: String,
    /// When.
    pub time: String,
    /// Milliseconds since then.
    pub age_ms: Option<u64>,
    /// What it left undone, if it was interrupted, and what else opening the state found.
    pub interrupted: Vec<String>,
}

/// A checkpoint that can be gone back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CheckpointSummary {
    pub name: String,
    /// The operation it holds.
    pub operation: String,
    /// When it was made.
    pub time: String,
    /// Whether the failed step ran then, so that going back puts it to its beginning.
    pub rewind: bool,
    /// What going back would undo, as far as it was looked at.
    pub undoes: Vec<String>,
}

/// The git work tree.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct GitSeen {
    /// Files with changes that are not committed, up to the limit that was asked for.
    pub changed: Vec<String>,
    /// How many there are.
    pub changed_count: usize,
    /// Files with conflicts.
    pub conflicts: usize,
    /// Subjects of commits since the step began.
    pub commits: Vec<String>,
}

/// The project's files.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct FilesSeen {
    /// The directory they are in.
    pub root: String,
    /// Program text.
    pub source_files: usize,
    pub test_files: usize,
    /// Manifests and settings.
    pub config_files: usize,
    pub total_files: usize,
    /// Source files by ecosystem.
    pub ecosystems: std::collections::BTreeMap<&'static str, usize>,
    /// Files that changed since the step began, newest first, up to the limit that is shown.
    pub recent: Vec<String>,
    /// How many changed.
    pub recent_count: usize,
    /// What was not looked at, and why.
    pub left_out: Vec<String>,
}
