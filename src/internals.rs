//! What the program, its tests and its benchmarks use besides the library's interface. Not part of it:
//! anything here may change without notice.

pub use crate::{
    adapters::{
        cli::{command, run},
        git::rebuild,
    },
    brief::tokens,
    diff::compare,
    domain::{Constraints, FactValue, Facts, Plan, Workflow},
    history::{EntryId, HistoryFacts, NewEntry, render},
    merge::merge,
    rules::{Entry, fire},
    store::AppendedView,
    workspace::{RemovedEntry, Remover},
};
