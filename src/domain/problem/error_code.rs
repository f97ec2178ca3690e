//! The stable words by which programs tell errors and findings apart.

use std::fmt;

use serde::{Serialize, Serializer};

/// Defines [`ErrorCode`] from one table, so that a code, its exit code and its meaning cannot part.
macro_rules! error_codes {
    ($(#[doc = $meaning:literal] $name:ident = $text:literal, exits $exit:literal;)+) => {
        /// The stable word for an error or a finding: `error.code` in the answers of `--json`, `code`
        /// in the findings of `check`.
        ///
        /// Codes are added, never renamed. `docs/errors.md` lists all of them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = $meaning] $name,)+
        }

        impl ErrorCode {
            /// Every code, by what it is about.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The word itself, such as `not_found`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// The exit code of a command that fails for this reason: 1 refused, 2 wrong usage,
            /// 3 a conflict that is safe to retry, 4 a damaged state, 255 a bug in statedir.
            ///
            /// A code of 1 becomes 4 where a state file is to blame and not what was asked for; see
            /// [`Error::exit_code`](crate::Error::exit_code).
            pub const fn exit_code(self) -> u8 {
                match self {
                    $(Self::$name => $exit,)+
                }
            }

            /// Whether the disk is to blame and not what is on it: the next try may succeed.
            pub(crate) const fn is_of_disk(self) -> bool {
                matches!(self, Self::Io | Self::DiskFull)
            }

            /// What it means, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => $meaning.trim_ascii(),)+
                }
            }
        }
    };
}

error_codes! {
    // What was asked for.
    /// The command line or the call is wrong.
    Usage = "usage", exits 2;
    /// Nothing has that name, number or path.
    NotFound = "not_found", exits 1;
    /// The plan has no such step.
    NoSuchStep = "no_such_step", exits 1;
    /// The name matches more than one thing.
    Ambiguous = "ambiguous", exits 1;
    /// A value is not acceptable where it was given.
    BadValue = "bad_value", exits 1;
    /// A name has characters or a length that names may not have.
    BadName = "bad_name", exits 1;
    /// A path into the variables is malformed.
    BadPath = "bad_path", exits 1;
    /// A change of a batch is not an object that describes a change.
    BadChange = "bad_change", exits 1;
    /// Input is not valid JSON.
    BadJson = "bad_json", exits 1;
    /// Input is not valid YAML.
    BadYaml = "bad_yaml", exits 1;
    /// Input is not valid UTF-8.
    NotUtf8 = "not_utf8", exits 1;
    /// A document to import is not one that the state can be built from.
    BadDocument = "bad_document", exits 1;
    /// A template cannot be used.
    BadTemplate = "bad_template", exits 1;
    /// An object names a key twice.
    DuplicateKey = "duplicate_key", exits 1;
    /// A value is nested too deeply.
    TooDeep = "too_deep", exits 1;
    /// A file or an input is larger than the limit.
    TooLarge = "too_large", exits 1;
    /// A file or the input given on the command line cannot be read.
    UnreadableInput = "unreadable_input", exits 1;
    /// The caller no longer waits for the answer, so nothing was done.
    Cancelled = "cancelled", exits 1;
    /// An unexpected failure of the program itself.
    Bug = "bug", exits 255;

    // A fleet of machines.
    /// Another machine has taken the project, or published it meanwhile: nothing was accepted.
    LeaseLost = "lease_lost", exits 3;
    /// The database of the fleet cannot be reached.
    FleetUnreachable = "fleet_unreachable", exits 3;
    /// The database of the fleet refuses, or contains something that this program does not understand.
    FleetDatabase = "fleet_database", exits 1;
    /// A copy has changes that were not published.
    Unpublished = "unpublished", exits 3;

    // Where the state is.
    /// There is no state in the directory.
    NoState = "no_state", exits 1;
    /// The state directory is reached through a symbolic link that was not named on purpose.
    Linked = "linked", exits 1;
    /// There is already something of that name.
    Exists = "exists", exits 1;
    /// A state cannot be started without a goal.
    NoGoal = "no_goal", exits 1;
    /// The directory is on a read-only file system.
    ReadOnly = "read_only", exits 1;
    /// A file could not be read or written.
    Io = "io", exits 1;
    /// The disk is full.
    DiskFull = "disk_full", exits 1;
    /// The operating system denies access.
    PermissionDenied = "permission_denied", exits 1;
    /// Something that should be a regular file is a link, a directory or a device.
    NotRegular = "not_regular", exits 1;
    /// Something that should be a directory is not one.
    NotADirectory = "not_a_directory", exits 1;
    /// A link or a setting leads out of the directory that files are written to.
    Outside = "outside", exits 1;
    /// Directories could not be searched, so states in them are missing from the answer.
    LeftOut = "left_out", exits 4;
    /// The operating system does not report changes of the directory.
    CannotWatch = "cannot_watch", exits 1;

    // Others at work.
    /// Another process held the lock for the whole waiting time.
    LockTimeout = "lock_timeout", exits 3;
    /// The state is not at the revision given with `--if-match`.
    RevisionMoved = "revision_moved", exits 3;
    /// A file changed between reading and writing.
    ChangedMeanwhile = "changed_meanwhile", exits 3;
    /// The state was archived in the meantime.
    MovedAway = "moved_away", exits 3;

    // Plan and steps.
    /// The lifecycle does not allow this change of status.
    IllegalTransition = "illegal_transition", exits 1;
    /// A status is not one of the lifecycle.
    UnknownStatus = "unknown_status", exits 1;
    /// The plan is paused.
    Paused = "paused", exits 1;
    /// The execution is finished.
    Finished = "finished", exits 1;
    /// The execution is not finished.
    NotFinished = "not_finished", exits 1;
    /// The plan cannot succeed while steps are unfinished.
    UnfinishedSteps = "unfinished_steps", exits 1;
    /// A step cannot be completed without its expected outputs.
    OutputMissing = "output_missing", exits 1;
    /// No step can be started now.
    NoReadyStep = "no_ready_step", exits 1;
    /// A step waits for another one to finish.
    DependencyOpen = "dependency_open", exits 1;
    /// Steps depend on each other in a circle.
    DependencyCycle = "dependency_cycle", exits 1;
    /// Other steps need this one.
    Needed = "needed", exits 1;
    /// A step has failed as often as is allowed.
    RetryLimit = "retry_limit", exits 1;
    /// Somebody else holds the step.
    Held = "held", exits 1;
    /// Whoever opened a review cannot decide it, nor may an agent withdraw it by `undo` or `restore`.
    OwnReview = "own_review", exits 1;
    /// A field follows from commands and cannot be set directly.
    ManagedField = "managed_field", exits 1;
    /// A person has to decide a review first.
    ReviewOpen = "review_open", exits 1;
    /// The review was decided already.
    Decided = "decided", exits 1;
    /// A rule or directive is not understood.
    RuleNotUnderstood = "rule_not_understood", exits 1;
    /// `workflow.yaml` cannot be used.
    BadWorkflow = "bad_workflow", exits 1;

    // Undo, restore, archive and recovery.
    /// There is nothing to undo or redo.
    NothingToDo = "nothing_to_do", exits 1;
    /// Later changes overlap the operation to undo or redo.
    Overlap = "overlap", exits 1;
    /// The history is append-only and cannot be restored to an earlier version.
    AppendOnly = "append_only", exits 1;
    /// There was no plan at the point to restore.
    NoPlan = "no_plan", exits 1;
    /// There is no checkpoint to roll back to.
    NoCheckpoint = "no_checkpoint", exits 1;
    /// The state directory cannot be archived where it is.
    NotMovable = "not_movable", exits 1;
    /// Moving the state directory failed; it is where it was.
    NotMoved = "not_moved", exits 1;
    /// The decision cannot be carried out in this situation.
    Impossible = "impossible", exits 1;
    /// Some of several states could not be recovered; the exit code is the highest of theirs.
    SomeFailed = "some_failed", exits 1;

    // Git and setup.
    /// The `git` program cannot be run.
    NoGit = "no_git", exits 1;
    /// The directory is in no git repository.
    NoRepository = "no_repository", exits 1;
    /// Git failed.
    GitFailed = "git_failed", exits 1;
    /// Another git process has locked the repository.
    GitLocked = "git_locked", exits 3;
    /// The git revision has no state in that directory.
    NotInRevision = "not_in_revision", exits 1;
    /// No commit has a usable version of a missing file.
    NotInGit = "not_in_git", exits 4;
    /// Git ignores the state files.
    Ignored = "ignored", exits 1;
    /// A merge or a similar git command is in progress.
    Merging = "merging", exits 1;
    /// A commit would lose a part of the state.
    WouldLoseState = "would_lose_state", exits 1;
    /// A worktree cannot be made at that place.
    BadPlace = "bad_place", exits 1;
    /// The directory of a worktree is gone.
    WorktreeGone = "worktree_gone", exits 1;
    /// Git keeps the worktree locked.
    Locked = "locked", exits 1;
    /// A worktree has changes that are not committed.
    NotCommitted = "not_committed", exits 1;
    /// A worktree has submodules, so git does not remove it.
    Submodules = "submodules", exits 1;
    /// Steps are still running in a worktree.
    StillRunning = "still_running", exits 1;
    /// There is no home directory.
    NoHome = "no_home", exits 1;
    /// A client has no settings at that level.
    NoPlace = "no_place", exits 1;
    /// The settings of another program are not understood.
    BadSettings = "bad_settings", exits 1;

    // Damage and inconsistency.
    /// A state file is missing.
    FileMissing = "file_missing", exits 4;
    /// All state files are missing, but the log still has them.
    FilesGone = "files_gone", exits 4;
    /// A file cannot be read as what it should be.
    Unreadable = "unreadable", exits 1;
    /// The operation log is damaged.
    LogDamaged = "log_damaged", exits 4;
    /// A segment of the operation log is missing, so the state cannot be restored to before it.
    SegmentLost = "segment_lost", exits 4;
    /// The stored image of a file that the operation log relies on is missing or damaged.
    ImageLost = "image_lost", exits 4;
    /// Other users of the machine can access the private directory.
    Exposed = "exposed", exits 4;
    /// A checkpoint is damaged.
    CheckpointDamaged = "checkpoint_damaged", exits 4;
    /// A merge left conflicts that have to be resolved first.
    Unmerged = "unmerged", exits 4;
    /// The state is too damaged to decide on a recovery.
    Damaged = "damaged", exits 4;
    /// `check` found problems.
    Inconsistent = "inconsistent", exits 4;
    /// The chain of entries in the history is broken.
    HistoryBroken = "history_broken", exits 4;

    // Findings only.
    /// A step or the plan has no status.
    NoStatus = "no_status", exits 4;
    /// The status of the plan contradicts its steps.
    StatusDisagrees = "status_disagrees", exits 4;
    /// Entries of the history were removed by a checkout, a revert or a reset.
    WentBack = "went_back", exits 4;
    /// A variable contradicts the plan.
    VariablesDisagree = "variables_disagree", exits 4;
    /// A variable does not have the type that commands need.
    WrongKind = "wrong_kind", exits 4;
    /// Something in the plan looks like a step or a field and is not read as one.
    NotAStep = "not_a_step", exits 4;
    /// The plan has no metadata section.
    NoMetadata = "no_metadata", exits 4;
    /// Two steps have the same number.
    DuplicateStep = "duplicate_step", exits 4;
    /// Two steps or reviews have the same id.
    DuplicateId = "duplicate_id", exits 4;
    /// A field appears twice.
    DuplicateField = "duplicate_field", exits 4;
    /// A section appears twice.
    DoubledSection = "doubled_section", exits 4;
    /// An id is malformed.
    BadId = "bad_id", exits 4;
    /// A counter is not a whole number.
    BadNumber = "bad_number", exits 4;
    /// A dependency is malformed.
    BadDependency = "bad_dependency", exits 4;
    /// A step depends on a step that does not exist.
    MissingDependency = "missing_dependency", exits 4;
    /// Something refers to a variable or an output that does not exist.
    MissingReference = "missing_reference", exits 4;
    /// An unclosed code block or comment hides what follows it.
    HiddenText = "hidden_text", exits 4;
    /// A time is not written as one, such as 2026-01-15T09:00:00Z.
    BadTime = "bad_time", exits 4;
    /// The plan lacks a field that it needs, such as its goal.
    MissingField = "missing_field", exits 4;
    /// A finished step depends on one that was reopened since.
    OutOfDate = "out_of_date", exits 4;
    /// The branch on which a step is worked on is gone.
    BranchGone = "branch_gone", exits 4;
    /// The placeholder of a template was never filled in.
    Placeholder = "placeholder", exits 4;
    /// Something looks like a password or a key.
    Secret = "secret", exits 4;
    /// An agent's own task list and the plan contradict each other.
    ListDiffers = "list_differs", exits 4;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
