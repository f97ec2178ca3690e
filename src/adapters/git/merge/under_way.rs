//! Whether git is in the middle of bringing two sides together, as far as a few looks tell.

use std::path::{Path, PathBuf};

use super::resolve::unmerged_files;
use crate::{adapters::git::discovery, domain::StateFile};

/// What git leaves in its directory while it waits for a person, and what it is in the middle of. A
/// rebase picks commit by commit, so that it comes first.
const MARKS: [(&str, Option<&str>); 7] = [
    ("rebase-merge", Some("rebase")),
    ("rebase-apply/applying", Some("am")),
    ("rebase-apply", Some("rebase")),
    ("MERGE_HEAD", Some("merge")),
    ("CHERRY_PICK_HEAD", Some("cherry-pick")),
    ("REVERT_HEAD", Some("revert")),
    // Left by what cannot be gone on with or left, such as a stash.
    ("AUTO_MERGE", None),
];

/// The command of git that stopped half-way in the working tree around `dir` and is gone on with by
/// `--continue` and left by `--abort`, such as `merge`.
pub(crate) fn under_way(dir: &Path) -> Option<&'static str> {
    mark(&git_dir(dir)?)?
}

fn mark(git: &Path) -> Option<Option<&'static str>> {
    MARKS.iter().find(|(mark, _)| git.join(mark).exists()).map(|(_, command)| *command)
}

/// The state files that git holds for unmerged and that are as git left them.
///
/// Every change asks this, so git is run only where it stopped half-way.
pub(crate) fn left_unmerged(dir: &Path) -> Vec<StateFile> {
    if git_dir(dir).and_then(|git| mark(&git)).is_none() {
        return Vec::new();
    }
    let unmerged = unmerged_files(dir).unwrap_or_default();
    unmerged.iter().filter(|unmerged| !unmerged.edited).map(|unmerged| unmerged.file).collect()
}

/// The directory of git's own that belongs to the working tree around `dir`.
fn git_dir(dir: &Path) -> Option<PathBuf> {
    discovery::git_dir(discovery::top(&discovery::resolve(dir))?)
}
