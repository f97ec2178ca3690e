//! What a state asks the version control around it.

use std::{fmt::Debug, path::Path};

use super::RemovedEntry;
use crate::{
    domain::{FilesByName, StateFile, Step},
    history::EntryId,
    store::AppendedView,
};

/// Version control as the state needs it: whoever opens a [`Workspace`](super::Workspace) says
/// which one there is. `dir` is the state directory.
///
/// Questions about the history are asked about the bytes that the caller looks at, not about
/// those that happen to be on the disk by then.
pub trait VersionControl: Debug + Send + Sync {
    /// Whether the history holds all that is committed here, and the entry of that id, which is
    /// missing, is on another branch.
    fn is_on_another_branch(&self, dir: &Path, history: &AppendedView, entry: &str) -> bool;

    /// The entries that were committed here before and are not in the history any more.
    fn removed_entries(&self, dir: &Path, history: &AppendedView) -> Vec<RemovedEntry>;

    /// Whether the history is as it was committed once, with nothing added to it but what is newer
    /// than `entry`, which is missing: somebody went back to that version.
    fn went_back(&self, _dir: &Path, _history: &AppendedView, _entry: EntryId) -> bool {
        false
    }

    /// The files before and after the commit that took out the entry, by name.
    fn files_around(
        &self,
        _dir: &Path,
        _commit: &str,
        _entry: EntryId,
    ) -> Option<[FilesByName; 2]> {
        None
    }

    /// What the last commit holds of a file.
    fn committed(&self, _dir: &Path, _file: StateFile) -> Option<Vec<u8>> {
        None
    }

    /// The files of which there are two versions and no result, and that nobody has touched since.
    fn unmerged_files(&self, dir: &Path) -> Vec<StateFile>;

    /// The command that stopped half-way, such as `merge`.
    fn operation_under_way(&self, dir: &Path) -> Option<&'static str>;

    /// Whether the branch of that name is what is checked out.
    fn is_checked_out(&self, dir: &Path, branch: &str) -> bool;

    /// Whether there is a branch of that name, where that can be told.
    fn has_branch(&self, _dir: &Path, _branch: &str) -> Option<bool> {
        None
    }

    /// Whether a working tree on that branch is known, there or not, where that can be told.
    fn has_worktree(&self, _dir: &Path, _branch: &str) -> Option<bool> {
        None
    }

    /// Whether the private directory may have come with a clone: version control has files of it,
    /// or cannot tell.
    fn may_track_private_directory(&self, dir: &Path) -> bool;
}

/// No version control: for a state that is in no repository.
///
/// In a repository this leaves out the guards against unfinished merges and private directories
/// that came with a clone.
#[derive(Clone, Copy, Debug)]
pub struct NoVersionControl;

impl VersionControl for NoVersionControl {
    fn is_on_another_branch(&self, _: &Path, _: &AppendedView, _: &str) -> bool {
        false
    }

    fn removed_entries(&self, _: &Path, _: &AppendedView) -> Vec<RemovedEntry> {
        Vec::new()
    }

    fn unmerged_files(&self, _: &Path) -> Vec<StateFile> {
        Vec::new()
    }

    fn operation_under_way(&self, _: &Path) -> Option<&'static str> {
        None
    }

    fn is_checked_out(&self, _: &Path, _: &str) -> bool {
        false
    }

    fn may_track_private_directory(&self, _: &Path) -> bool {
        false
    }
}

/// The place of a state among the working trees of a repository.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location<'a> {
    pub(super) dir: &'a Path,
    pub(super) version_control: &'a dyn VersionControl,
}

impl Location<'_> {
    /// Whether the branch or the place that the step names is this one. A worktree may have been
    /// moved since, and a branch may be checked out elsewhere, so either will do.
    pub(super) fn is_of(&self, step: &Step) -> bool {
        // A relative path would fit nearly anywhere.
        let place = step.field("worktree").map(Path::new).filter(|place| place.is_absolute());
        let is_checked_out = |branch| self.version_control.is_checked_out(self.dir, branch);
        place.is_some_and(|place| self.dir.starts_with(place))
            || step.field("branch").is_some_and(is_checked_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(fields: &[(&str, &str)]) -> Step {
        let lines: String =
            fields.iter().map(|(key, value)| format!("- **{key}**: {value}\n")).collect();
        let text = format!("# Plan\n\n## Steps\n\n### Step 1: A\n- **status**: RUNNING\n{lines}");
        let document = crate::text::markdown::Document::parse(text).unwrap();
        crate::domain::Plan::read(document).steps.remove(0)
    }

    /// On the branch of that name.
    #[derive(Debug)]
    struct On(&'static str);

    impl VersionControl for On {
        fn is_on_another_branch(&self, _: &Path, _: &AppendedView, _: &str) -> bool {
            false
        }

        fn removed_entries(&self, _: &Path, _: &AppendedView) -> Vec<RemovedEntry> {
            Vec::new()
        }

        fn unmerged_files(&self, _: &Path) -> Vec<StateFile> {
            Vec::new()
        }

        fn operation_under_way(&self, _: &Path) -> Option<&'static str> {
            None
        }

        fn is_checked_out(&self, _: &Path, branch: &str) -> bool {
            branch == self.0
        }

        fn may_track_private_directory(&self, _: &Path) -> bool {
            false
        }
    }

    #[test]
    fn a_place_or_a_branch_makes_a_step_one_of_here() {
        let location = Location { dir: Path::new("/a/b/state"), version_control: &On("mine") };
        assert!(location.is_of(&step(&[("worktree", "/a/b")])));
        assert!(location.is_of(&step(&[("branch", "mine"), ("worktree", "/moved")])));
        assert!(!location.is_of(&step(&[("branch", "other"), ("worktree", "/a/bc")])));
        assert!(!location.is_of(&step(&[("worktree", "merged and removed")])));
        assert!(!location.is_of(&step(&[])));
    }
}
