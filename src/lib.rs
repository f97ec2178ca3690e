//! An AI agent's execution state as a directory of plain files: markdown and JSON that people can
//! read, edit and put under version control, and that programs change atomically.
//!
//! [`Workspace`] is a state directory. [`Change`]s are data, the same as those that
//! `statedir apply` reads; several of them make one operation, of which all happens or nothing. Each
//! operation gives the state a new [`Revision`] and can be undone. Edits of the files by hand are
//! kept: nothing but the text that changes is rewritten.
//!
//! ```
//! use statedir::{Change, Environment, GitControl, InitOptions, Options, Workspace};
//! use statedir::change::StepShape;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let root = tempfile::tempdir()?;
//! let dir = root.path().join("state");
//! let workspace = Workspace::new(&dir, Environment::real("ada"), Options::new(GitControl));
//! let goal = Some("Compare three vector databases".to_owned());
//! workspace.init(&InitOptions { goal, ..InitOptions::default() })?;
//!
//! let title = Some("Collect benchmarks".to_owned());
//! let outcome = workspace.apply(&[
//!     Change::StepAdd(Box::new(StepShape { title, ..StepShape::default() })),
//!     Change::VarSet { path: "budget.hours".to_owned(), value: 3.into() },
//! ])?;
//! assert!(outcome.committed);
//!
//! let snapshot = workspace.read()?;
//! assert_eq!(snapshot.revision(), &outcome.revision);
//! let state = snapshot.state(false);
//! assert_eq!(state.steps[0].title, "Collect benchmarks");
//! assert_eq!(state.variables["budget"]["hours"], 3);
//!
//! // One refused change, and none is made.
//! let bad = [
//!     Change::VarSet { path: "budget.hours".to_owned(), value: 4.into() },
//!     Change::StepStart { step: Some("9".parse()?) },
//! ];
//! let error = workspace.apply(&bad).unwrap_err();
//! assert_eq!(error.code(), statedir::ErrorCode::NotFound);
//! assert_eq!(workspace.read()?.revision(), &outcome.revision);
//!
//! workspace.undo()?;
//! assert!(workspace.read()?.state(false).steps.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! An [`Error`] has an [`ErrorCode`] that programs can rely on, a hint for people, and the place in
//! the file where there is one. [`text`] is the layer below, for markdown and JSON in general.
//!
//! # What is stable
//!
//! The files, the JSON of [`Change`] and [`StateDocument`](state::StateDocument), and the error codes:
//! they grow, and nothing in them changes its meaning. The Rust interface may change before 1.0.
//! Results are `#[non_exhaustive]`; what you fill in yourself has `Default`, so write
//! `..Default::default()`. The module `internals` is for the program and its tests alone.

#![deny(unreachable_pub)]

mod adapters;
mod brief;
mod diff;
mod domain;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod graph;
mod history;
#[doc(hidden)]
pub mod internals;
mod merge;
mod recovery;
mod rules;
mod store;
pub mod text;
mod workspace;

pub use adapters::git::GitControl;
pub use brief::{Brief, Budget, Format};
pub use domain::{ErrorCode, Problem, Severity, StateFile, Ticket};
pub use store::{OperationSummary, Revision};
pub use workspace::{
    Answer, BriefRequest, Briefed, Change, Checked, ConstraintReading, Environment, Error,
    FileDiff, FileLocation, Fixed, ImportOptions, InitOptions, Initialised, Mode, NoVersionControl,
    Options, Outcome, Overview, RestoreOptions, Snapshot, TemplateSet, UndoOutcome, VersionControl,
    Workspace,
};

/// The parts of a [`Change`].
pub mod change {
    pub use crate::{
        brief::Turn,
        domain::{Money, StepId, StepRef},
        workspace::{ContextText, Cost, Span, StepMove, StepResult, StepShape},
    };
}

/// The parts of an [`Overview`].
pub mod overview {
    pub use crate::{
        domain::{
            Decision, FactValue, Group, GroupProgress, PlanRole, Review, StepCounts, StepRole,
        },
        history::Counts as HistoryCounts,
        workspace::{LimitUse, Spending, StepOverview, StepOverviews},
    };
}

pub mod state {
    //! The state as one document: what `statedir state` prints.
    //!
    //! [`Snapshot::state`](crate::Snapshot::state) makes one,
    //! [`Workspace::import`](crate::Workspace::import) builds the files from it again, and
    //! [`StateDocument::SCHEMA`] describes it for other languages.

    pub use crate::{
        domain::{Decision, Review, SettingGroup, StepCounts},
        history::{Counts, EntryKind},
        recovery::failure::ErrorClass,
        workspace::{
            StateDocument,
            state::{
                BehaviourState, ConstraintLine, ConstraintState, EntryState, FailedAttempt,
                Identity, Located, Metrics, Places, Recovery, SectionState, SettingState,
                StepState, Timing, ValueType, Written,
            },
        },
    };
}
