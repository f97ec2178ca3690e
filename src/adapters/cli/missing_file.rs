//! How to restore a missing state file that the operation log does not have.

use crate::{
    adapters::git,
    domain::{ErrorCode, Problem, StateFile},
    workspace::Workspace,
};

/// The hint for a file that the log does not know; `None` where the usual one is right.
pub(super) fn hint_for(workspace: &Workspace, file: StateFile) -> Option<String> {
    // A log that cannot be read has a hint of its own.
    if workspace.is_in_log(file).unwrap_or(true) {
        return None;
    }
    Some(match git::has_version(workspace.directory(), file).unwrap_or(false) {
        true => format!("`statedir recover --from-git` restores `{file}` from a commit"),
        false => format!(
            "neither the log nor git has `{file}`; `statedir init --goal 'the goal'` writes missing \
             files anew and leaves the others unchanged"
        ),
    })
}

/// The same for the first of the missing files that the log does not know.
pub(super) fn first_hint(workspace: &Workspace) -> Option<String> {
    let missing = workspace.missing_files().ok()?;
    missing.into_iter().find_map(|file| hint_for(workspace, file))
}

/// Gives the missing files among the findings the hint that fits.
pub(super) fn add_hints(workspace: &Workspace, findings: &mut [Problem]) {
    for finding in findings.iter_mut().filter(|finding| finding.code == ErrorCode::FileMissing) {
        if let Some(hint) = hint_for(workspace, finding.file) {
            (finding.hint, finding.fixable) = (Some(hint), false);
        }
    }
}
