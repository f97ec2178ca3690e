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

/// The checkpoints that `checkpoint list` lists, and the names of those that it calls damaged.
///
/// # Errors
/// There is no state, or the log cannot be read.
pub fn checkpoints(workspace: &crate::Workspace) -> Result<Vec<String>, crate::Error> {
    workspace.require_log()?;
    let all = workspace.checkpoints()?;
    let found = all.checkpoints.iter().map(|one| format!("{one:?}"));
    Ok(found.chain(all.damaged.iter().map(|name| format!("damaged: {name}"))).collect())
}

/// What `history verify` finds wrong: nothing if the history is intact.
///
/// # Errors
/// There is no state, or its history cannot be read.
pub fn history_problems(workspace: &crate::Workspace) -> Result<Vec<String>, crate::Error> {
    let verified = workspace.verify_history(&mut |_| {})?;
    Ok(match verified.is_intact() {
        true => Vec::new(),
        false => verified.problems.iter().map(|problem| problem.message.clone()).collect(),
    })
}

/// How many tasks adopting a directory would find.
pub fn adoptable_tasks(dir: &std::path::Path) -> Option<usize> {
    use crate::adapters::adopt::{AdoptRequest, propose};
    let wanted = AdoptRequest { path: dir.to_owned(), ..AdoptRequest::default() };
    propose(&wanted, None).ok().map(|proposed| proposed.found.count())
}
