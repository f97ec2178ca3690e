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
    rules::{WrittenRule, fire},
    store::AppendedView,
    workspace::{RemovedEntry, Remover},
};

/// Has the terminal as the board does while something is done.
///
/// # Errors
/// The terminal cannot be used.
#[cfg(feature = "board")]
pub fn with_terminal<T>(work: impl FnOnce() -> T) -> std::io::Result<T> {
    crate::adapters::board::with_terminal(work)
}

/// How many tasks adopting a directory would find.
pub fn adoptable_tasks(dir: &std::path::Path) -> Option<usize> {
    use crate::adapters::adopt::{AdoptRequest, propose};
    let wanted = AdoptRequest { path: dir.to_owned(), ..AdoptRequest::default() };
    propose(&wanted, None).ok().map(|proposed| proposed.found.count())
}
