//! Why a command was refused or failed.

use std::fmt;

use super::{ChangesSince, LEAST_OF_REVISION};
use crate::{
    domain::{ErrorCode, IllegalTransition, ModelError, StateFile, StepId},
    history::HistoryError,
    merge::Conflict,
    rules::WorkflowError,
    store::{Revision, StoreError},
    text::{Place, display::counted, markdown::is_placeholder, shell::shell_word},
};

/// What can be done about a workflow.yaml that cannot be used.
pub(super) const MEND_WORKFLOW: &str =
    "correct the file, or remove it: then the built-in lifecycle applies";

/// A refused, conflicting or impossible command. Nothing was changed, but a review may have been opened.
#[derive(Debug)]
pub struct Error {
    kind: Box<ErrorKind>,
    /// What opening the state found and did before the refusal.
    notices: Vec<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

/// The file that an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileLocation {
    /// Which file.
    pub file: StateFile,
    /// Where in it, if that is known.
    pub place: Option<Place>,
    /// The line and a caret below it, if the file cannot be parsed there.
    pub snippet: Option<String>,
}

/// The review that a refused change waits for.
#[derive(Clone, Debug)]
pub(crate) struct OpenedReview {
    /// Its id.
    pub review: String,
    /// The revision that opening it produced.
    pub revision: Revision,
}

/// What went wrong, with all that the program itself has to know about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ErrorKind {
    /// A state file could not be read, or what was asked for is not in it.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The disk, the lock or the log.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An entry could not be written, or the history could not be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The lifecycle does not allow it.
    #[error("{}", refusal.about(subject))]
    Transition {
        /// Which step or plan.
        subject: String,
        /// Why.
        refusal: Box<IllegalTransition>,
        /// What can be done instead.
        hint: Option<String>,
    },
    /// workflow.yaml cannot be used.
    #[error("`workflow.yaml` cannot be used: {0}")]
    Workflow(#[from] WorkflowError),
    /// The command makes no sense for this state.
    #[error("{message}")]
    Refused {
        /// Which kind of error it is, for programs.
        code: ErrorCode,
        /// Why.
        message: String,
        /// What can be done instead.
        hint: Option<String>,
    },
    /// The state has moved on since the revision named by the caller.
    #[error("the state is at revision `{found}`, not at `{expected}`{}", since.sentence())]
    Moved {
        /// What the caller expected.
        expected: String,
        found: Revision,
        /// What happened between the two.
        since: Box<ChangesSince>,
    },
    /// A person has to agree first; the question is put to them.
    #[error("a person must approve this first{}: {question}", open_now(.opened.as_ref()))]
    NeedsReview {
        question: String,
        /// The move that approving it makes; none where the one who asked makes it.
        waiting: Option<Box<super::Change>>,
        /// The step it is about, by its number, and the id that it has in the question.
        step: Option<(u32, StepId)>,
        /// The review, once the question is put.
        opened: Option<OpenedReview>,
    },
    /// A merge left conflicts that a person has to settle first.
    #[error("{} of a merge {} unresolved: `{}`", counted(*.count, "conflict", "conflicts"), if *.count == 1 { "is" } else { "are" }, .first.field)]
    Unmerged {
        /// How many.
        count: usize,
        first: Box<Conflict>,
        /// The command of git that is under way, if one is.
        under_way: Option<&'static str>,
    },
    /// All files are gone, but the log knows what they held.
    #[error("the state files in `{directory}` are missing, but the log still has them")]
    Gone {
        /// Where they were.
        directory: String,
    },
    /// The log cannot be gone through.
    #[error("{source}")]
    LogDamaged {
        /// Where, and why.
        source: StoreError,
        /// The newest automatic checkpoint, which can be restored all the same.
        saved: Option<String>,
    },
    /// One change of several was refused; none was made.
    #[error("change {number} of {total}: {source}")]
    InBatch {
        /// Which one, from one.
        number: usize,
        /// Of how many.
        total: usize,
        /// Why.
        source: Error,
    },
}

fn open_now(opened: Option<&OpenedReview>) -> String {
    opened.map(|opened| format!(" (review {} is open now)", opened.review)).unwrap_or_default()
}

impl<E: Into<ErrorKind>> From<E> for Error {
    fn from(error: E) -> Self {
        Self { kind: Box::new(error.into()), notices: Vec::new() }
    }
}

impl Error {
    /// A refusal with a code.
    pub(crate) fn refused(code: ErrorCode, message: impl Into<String>) -> Self {
        ErrorKind::Refused { code, message: message.into(), hint: None }.into()
    }

    /// A refusal with a code and a way out.
    pub(crate) fn refused_with(
        code: ErrorCode,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let hint = Some(hint.into());
        ErrorKind::Refused { code, message: message.into(), hint }.into()
    }

    /// The plan may not change its status so.
    pub(super) fn plan_transition(refusal: IllegalTransition) -> Self {
        let command = |to: &String| format!("`statedir plan set status={to}`");
        let moves: Vec<String> = refusal.allowed.iter().map(command).collect();
        let hint = (!moves.is_empty()).then(|| format!("possible: {}", moves.join(", ")));
        let (subject, refusal) = ("the plan".to_owned(), Box::new(refusal));
        ErrorKind::Transition { subject, refusal, hint }.into()
    }

    /// The same error after what opening the state found and did.
    #[must_use]
    pub(super) fn noting(mut self, found: Vec<String>) -> Self {
        self.notices.splice(..0, found);
        self
    }

    /// What the caller should know besides: edits that were recorded, repairs.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// What went wrong.
    pub(crate) fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The same, to take apart.
    pub(crate) fn into_kind(self) -> ErrorKind {
        *self.kind
    }

    /// The refusal behind that of a batch, to be completed.
    pub(super) fn innermost_mut(&mut self) -> &mut ErrorKind {
        match &mut *self.kind {
            ErrorKind::InBatch { source, .. } => source.innermost_mut(),
            kind => kind,
        }
    }

    /// The review that was opened instead of making the change.
    pub(crate) fn opened_review(&self) -> Option<&OpenedReview> {
        match self.kind() {
            ErrorKind::NeedsReview { opened, .. } => opened.as_ref(),
            ErrorKind::InBatch { source, .. } => source.opened_review(),
            _ => None,
        }
    }

    /// Refuses what would read as a template's placeholder, in places where it cannot be quoted.
    pub(super) fn refuse_placeholder(text: &str) -> Result<(), Self> {
        if !is_placeholder(text.trim()) {
            return Ok(());
        }
        let message = format!("`{text}` looks like a template's placeholder");
        Err(Self::refused_with(ErrorCode::BadValue, message, "write the value it stands for"))
    }

    /// Whether a file cannot be read, or something is not in it.
    pub(super) fn is_about_file(&self) -> bool {
        matches!(self.kind(), ErrorKind::Model(_))
    }

    /// Whether something is wrong with a checkpoint or an image, and not with the log.
    pub(super) fn is_about_image(error: &StoreError) -> bool {
        matches!(error, StoreError::Damaged { path, .. } if is_image(path))
    }

    /// Which kind of error it is, for programs.
    pub fn code(&self) -> ErrorCode {
        match self.kind() {
            ErrorKind::Model(error) => match error {
                ModelError::Missing { .. } => ErrorCode::FileMissing,
                ModelError::Unreadable { .. } => ErrorCode::Unreadable,
                ModelError::NotFound { .. } => ErrorCode::NotFound,
                ModelError::Ambiguous { .. } => ErrorCode::Ambiguous,
                ModelError::Problem(problem) => problem.code,
                ModelError::BadValue { .. } => ErrorCode::BadValue,
            },
            ErrorKind::Store(error) => store_code(error),
            ErrorKind::History(HistoryError::Io(_)) => ErrorCode::Io,
            ErrorKind::History(_) => ErrorCode::BadValue,
            ErrorKind::Transition { .. } => ErrorCode::IllegalTransition,
            ErrorKind::Workflow(_) => ErrorCode::BadWorkflow,
            ErrorKind::Refused { code, .. } => *code,
            ErrorKind::Moved { .. } => ErrorCode::RevisionMoved,
            ErrorKind::NeedsReview { .. } => ErrorCode::ReviewOpen,
            ErrorKind::Unmerged { .. } => ErrorCode::Unmerged,
            ErrorKind::Gone { .. } => ErrorCode::FilesGone,
            ErrorKind::LogDamaged { source, .. } => store_code(source),
            ErrorKind::InBatch { source, .. } => source.code(),
        }
    }

    /// The exit code of a command that fails with this: 1 refused · 3 conflict, safe to retry ·
    /// 4 the state is damaged.
    pub fn exit_code(&self) -> u8 {
        match self.kind() {
            // The same code stands for a bad argument; here a state file has to be repaired.
            ErrorKind::Model(ModelError::Unreadable { .. } | ModelError::Problem(_))
            | ErrorKind::Workflow(_)
            | ErrorKind::Store(StoreError::NotRegular { .. } | StoreError::TooLarge { .. })
            | ErrorKind::LogDamaged { .. } => 4,
            ErrorKind::InBatch { source, .. } => source.exit_code(),
            _ => self.code().exit_code(),
        }
    }

    /// What to do next; never anything that destroys.
    pub fn hint(&self) -> Option<String> {
        match self.kind() {
            ErrorKind::Model(ModelError::Missing { file }) => Some(format!(
                "`statedir op log` shows what happened to it; `statedir check --fix` restores `{file}`"
            )),
            ErrorKind::Model(ModelError::Unreadable { .. }) => Some(
                "`statedir check` says where, and names the version that can be restored; \
                 `statedir diff` shows what was edited"
                    .to_owned(),
            ),
            ErrorKind::Model(ModelError::NotFound { hint, .. } | ModelError::BadValue { hint, .. }) => {
                hint.clone()
            }
            ErrorKind::Workflow(_) => Some(format!(
                "{MEND_WORKFLOW}; `statedir check` names an earlier version if there is one"
            )),
            ErrorKind::Model(ModelError::Ambiguous { hint, .. }) => Some(hint.clone()),
            ErrorKind::Model(ModelError::Problem(problem)) => problem.hint.clone(),
            ErrorKind::Store(StoreError::LockTimeout { .. }) => {
                Some("try again, or wait longer with `--wait 30s`".to_owned())
            }
            ErrorKind::Store(StoreError::NotFound { .. }) => {
                Some("`statedir op log` lists the operations there are".to_owned())
            }
            ErrorKind::Store(StoreError::Conflict { .. }) => Some("run the command again".to_owned()),
            ErrorKind::Store(StoreError::Moved { .. }) => {
                Some("`statedir archive list` shows what was archived; run the command again".to_owned())
            }
            ErrorKind::Store(StoreError::Damaged { path, .. }) if checkpoint_at(path).is_some() => {
                let name = checkpoint_at(path).unwrap_or_default();
                Some(format!(
                    "the state is intact; `statedir checkpoint delete {name}` sets the damaged \
                     file aside"
                ))
            }
            ErrorKind::Store(StoreError::Damaged { path, .. }) if is_image(path) => Some(
                "the state is intact; `statedir checkpoint list` and `statedir op log` show what \
                 else is available"
                    .to_owned(),
            ),
            ErrorKind::Store(StoreError::Damaged { .. }) => {
                Some("the files are intact; `statedir check --fix` sets the log aside and starts a new one".to_owned())
            }
            ErrorKind::LogDamaged { saved, .. } => {
                let checkpoint = saved.as_deref().map(|name| {
                    format!("; `statedir restore {}` restores a checkpoint", shell_word(name))
                });
                Some(format!(
                    "the files are intact; `statedir check --fix` sets the log aside and starts \
                     a new one{}",
                    checkpoint.unwrap_or_default()
                ))
            }
            ErrorKind::Store(StoreError::Io { path, source }) => io_hint(path, source),
            ErrorKind::Store(StoreError::ReadOnly { .. }) => Some(
                "commands that only read work there; `-C` chooses another directory".to_owned(),
            ),
            ErrorKind::Store(StoreError::NotRegular { .. }) => {
                Some("put a regular file there; state files are never followed through links".to_owned())
            }
            ErrorKind::Store(StoreError::TooLarge { .. }) => {
                Some("make it smaller; large data belongs in separate files".to_owned())
            }
            ErrorKind::Transition { hint, .. } | ErrorKind::Refused { hint, .. } => hint.clone(),
            ErrorKind::Moved { found, .. } if found.as_str().bytes().all(|digit| digit == b'0') => {
                Some("there is no state yet: leave out `--if-match`".to_owned())
            }
            ErrorKind::Moved { expected, .. } if expected.len() < LEAST_OF_REVISION => Some(format!(
                "give the revision whole, or at least {LEAST_OF_REVISION} characters of its \
                 beginning; `statedir status` shows it"
            )),
            ErrorKind::Moved { .. } => {
                Some("`statedir diff` and `statedir op log` show what changed; `statedir status` has the revision".to_owned())
            }
            ErrorKind::Gone { .. } => Some("`statedir check --fix` restores them".to_owned()),
            ErrorKind::Unmerged { first, .. } if first.is_whole() => Some(
                "`statedir merge --resolve` merges by meaning what git left in conflict; \
                 `statedir merge --list` then shows what remains"
                    .to_owned(),
            ),
            ErrorKind::Unmerged { under_way, first, .. } => {
                let abort = under_way.map(|what| format!("; `git {what} --abort` cancels it"));
                Some(format!(
                    "`statedir merge --list` shows both sides; `statedir merge --take ours {field}` or \
                     `statedir merge --take theirs {field}` resolves the first, or edit the file{}",
                    abort.unwrap_or_default(),
                    field = shell_word(&first.field)
                ))
            }
            ErrorKind::NeedsReview { .. } => Some(
                "a review is open now: `statedir review list` shows how a person decides it"
                    .to_owned(),
            ),
            ErrorKind::InBatch { source, .. } => source.hint(),
            _ => None,
        }
    }

    /// The file and place meant, and the line with a caret where there is one.
    pub fn location(&self) -> Option<FileLocation> {
        let (file, place, snippet) = match self.kind() {
            ErrorKind::Model(error) => match error {
                ModelError::Missing { file } | ModelError::NotFound { file, .. } => {
                    (*file, None, None)
                }
                ModelError::Unreadable { file, place, snippet, .. } => {
                    (*file, *place, snippet.clone())
                }
                ModelError::Ambiguous { file, places, .. } => {
                    (*file, places.first().copied(), None)
                }
                ModelError::Problem(problem) => (problem.file, problem.place, None),
                ModelError::BadValue { .. } => return None,
            },
            ErrorKind::Workflow(_) => (StateFile::Workflow, None, None),
            ErrorKind::Unmerged { first, .. } => {
                (first.file, first.line.map(|line| Place { line, column: 1 }), None)
            }
            ErrorKind::InBatch { source, .. } => return source.location(),
            _ => return None,
        };
        Some(FileLocation { file, place, snippet })
    }
}

/// Whether a path is that of a checkpoint or of an image, and not of the log.
fn is_image(path: &std::path::Path) -> bool {
    let dir = path.parent().and_then(|dir| dir.file_name());
    dir.is_some_and(|dir| dir == "checkpoints" || dir == "objects")
}

/// The name of the checkpoint whose file is at a path.
fn checkpoint_at(path: &std::path::Path) -> Option<String> {
    path.parent()?.file_name().filter(|dir| *dir == "checkpoints")?;
    Some(path.file_name()?.to_str()?.split_once('-')?.1.to_owned())
}

/// What to do about what the operating system said.
fn io_hint(path: &std::path::Path, source: &std::io::Error) -> Option<String> {
    let path = path.display();
    match source.kind() {
        std::io::ErrorKind::PermissionDenied => Some(format!(
            "`{path}` must be accessible and its directory writable for this user; `-C` \
             chooses another directory"
        )),
        std::io::ErrorKind::NotADirectory => Some(format!(
            "a part of `{path}` is a file and not a directory; `-C` chooses another directory"
        )),
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            Some("the state is as it was: free some space, then repeat the command".to_owned())
        }
        _ => None,
    }
}

fn store_code(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::Io { source, .. } => match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                ErrorCode::DiskFull
            }
            std::io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
            _ => ErrorCode::Io,
        },
        StoreError::LockTimeout { .. } => ErrorCode::LockTimeout,
        StoreError::Cancelled => ErrorCode::Cancelled,
        StoreError::Conflict { .. } => ErrorCode::ChangedMeanwhile,
        StoreError::Moved { .. } => ErrorCode::MovedAway,
        StoreError::NotRegular { .. } => ErrorCode::NotRegular,
        StoreError::TooLarge { .. } => ErrorCode::TooLarge,
        StoreError::Damaged { path, .. } if is_image(path) => ErrorCode::CheckpointDamaged,
        StoreError::Damaged { .. } => ErrorCode::LogDamaged,
        StoreError::NotFound { .. } => ErrorCode::NotFound,
        StoreError::Ambiguous { .. } => ErrorCode::Ambiguous,
        StoreError::ReadOnly { .. } => ErrorCode::ReadOnly,
        StoreError::BadChange { .. } => ErrorCode::BadChange,
        StoreError::Overlap { .. } => ErrorCode::Overlap,
    }
}
