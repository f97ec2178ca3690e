//! An AI agent's execution state as a directory of plain files.
//!
//! The layers, and who may use whom (an arrow means "may use"; a test holds the rule):
//!
//! ```text
//! adapters ──► workspace ──► brief, rules, recovery, diff, merge, history ──► domain ──► text
//!                  │
//!                  └──► store      (bytes and paths only; knows no markdown)
//! ```
//!
//! Only `store` and `adapters` do I/O; `workspace` is where pure logic meets the disk.

#![deny(unreachable_pub)]

mod adapters;
mod brief;
mod diff;
mod domain;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
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
pub use domain::{Decision, ErrorCode, FactValue, Money, PlanRole, Review, StepCounts, StepRole};
pub use history::Counts as HistoryCounts;
pub use workspace::{
    Answer, BriefRequest, Briefed, Change, ContextText, Environment, Error, ImportOptions,
    InitOptions, Initialised, LimitUse, NoVersionControl, Options, Outcome, Overview, Snapshot,
    Spending, StateDocument, StepOverview, StepResult, StepShape, VersionControl, Workspace,
};
