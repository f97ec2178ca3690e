//! Git as the version control around a state.

use std::path::Path;

use super::{
    Tracked, Worktree, committed, files_around, has_branch, is_checked_out, is_entry_elsewhere,
    left_unmerged, removed_entries, tracks, under_way, went_back, worktrees,
};
use crate::{
    domain::{FilesByName, StateFile},
    history::EntryId,
    store::AppendedView,
    workspace::{RemovedEntry, VersionControl},
};

/// Git, asked by calling the program; where there is no repository, nothing is tracked.
#[derive(Clone, Copy, Debug)]
pub struct GitControl;

impl VersionControl for GitControl {
    fn is_on_another_branch(&self, dir: &Path, history: &AppendedView, entry: &str) -> bool {
        is_entry_elsewhere(dir, history, entry)
    }

    fn removed_entries(&self, dir: &Path, history: &AppendedView) -> Vec<RemovedEntry> {
        removed_entries(dir, history)
    }

    fn went_back(&self, dir: &Path, history: &AppendedView, entry: EntryId) -> bool {
        went_back(dir, history, entry)
    }

    fn files_around(&self, dir: &Path, commit: &str, entry: EntryId) -> Option<[FilesByName; 2]> {
        files_around(dir, commit, entry)
    }

    fn committed(&self, dir: &Path, file: StateFile) -> Option<Vec<u8>> {
        committed(dir, file)
    }

    fn unmerged_files(&self, dir: &Path) -> Vec<StateFile> {
        left_unmerged(dir)
    }

    fn operation_under_way(&self, dir: &Path) -> Option<&'static str> {
        under_way(dir)
    }

    fn is_checked_out(&self, dir: &Path, branch: &str) -> bool {
        is_checked_out(dir, branch)
    }

    fn has_branch(&self, dir: &Path, branch: &str) -> Option<bool> {
        has_branch(dir, branch)
    }

    fn has_worktree(&self, dir: &Path, branch: &str) -> Option<bool> {
        let is_on_it = |tree: &Worktree| tree.branch.as_deref() == Some(branch) && !tree.here;
        Some(worktrees(dir).ok()?.iter().any(is_on_it))
    }

    fn may_track_private_directory(&self, dir: &Path) -> bool {
        tracks(dir) != Tracked::No
    }
}
