//! Whether git is in the middle of bringing two sides together, as far as a few looks tell.

use std::path::{Path, PathBuf};

use super::resolve::unmerged_files;
use crate::model::StateFile;

/// What git leaves in its directory while it waits for a person.
const MARKS: [&str; 6] =
    ["AUTO_MERGE", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/// The state files that git holds for unmerged and that are as git left them.
///
/// Every change asks this, so git is run only where it stopped half-way.
pub fn left_unmerged(dir: &Path) -> Vec<StateFile> {
    let is_under_way = git_dir(dir).is_some_and(|git| MARKS.iter().any(|m| git.join(m).exists()));
    if !is_under_way {
        return Vec::new();
    }
    let unmerged = unmerged_files(dir).unwrap_or_default();
    unmerged.iter().filter(|unmerged| !unmerged.edited).map(|unmerged| unmerged.file).collect()
}

/// Whether a repository can be around `dir` at all: most states that are in none are known without
/// starting git.
pub(super) fn may_be_in_a_repository(dir: &Path) -> bool {
    let around = || {
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        dir.ancestors().any(|dir| dir.join(".git").exists())
    };
    std::env::var_os("GIT_DIR").is_some() || around()
}

/// The directory of git's own that belongs to the working tree around `dir`.
fn git_dir(dir: &Path) -> Option<PathBuf> {
    let dir = std::path::absolute(dir).ok()?;
    let (top, found) = dir.ancestors().find_map(|top| {
        let found = top.join(".git");
        found.metadata().ok().map(|metadata| (top.to_owned(), (found, metadata.is_dir())))
    })?;
    match found {
        (path, true) => Some(path),
        // A worktree or a submodule says where it is.
        (path, false) => {
            let text = fs_err::read_to_string(path).ok()?;
            Some(top.join(text.strip_prefix("gitdir:")?.trim()))
        }
    }
}
