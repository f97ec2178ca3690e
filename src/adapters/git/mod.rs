//! State in git: read out of commits, merged by meaning, committed; by calling `git` with an
//! argument vector.

mod commits;
mod control;
mod discovery;
mod error;
mod ignored;
mod install;
mod merge;
mod program;
mod rebuild;
mod repository;
mod tracked;
mod work_tree;
mod worktree;

pub(crate) use commits::append_only::check_staged;
use commits::append_only::is_entry_elsewhere;
pub(crate) use commits::commit::{CommitOptions, commit};
use commits::earlier_version::{committed, files_around, went_back};
pub(crate) use commits::range::range;
use commits::removed::removed_entries;
pub(crate) use commits::revision::{GitRevision, read_revision};
pub(crate) use commits::version::PassedOver;
pub use control::GitControl;
pub(crate) use error::GitError;
pub(super) use ignored::ignored;
pub(crate) use install::{InstallOptions, Installed, install, status, uninstall, write_attributes};
pub(crate) use merge::driver::{Driven, drive};
pub(crate) use merge::resolve::{
    Resolved, Unmerged, mark_resolved, resolve, stage, stage_resolved, unite_history,
    unmerged_files,
};
pub(crate) use merge::resolve::{left_unmerged, under_way};
pub(crate) use rebuild::Rebuilt;
pub(crate) use rebuild::log::{LogState, RebuiltLog, rebuild_log};
pub(crate) use rebuild::lost::{Lost, find_lost, has_version};
pub use rebuild::rebuild;
pub(crate) use tracked::{Tracked, tracks};
pub(super) use work_tree::look;
pub(crate) use worktree::place::{
    check_worktree, default_worktree_path, real_path, refuse_committed_link,
};
pub(crate) use worktree::{
    Finished, Left, Worktree, abandon_worktree, add_worktree, check_finish, find as find_worktree,
    has_branch, ignore_worktrees, is_checked_out, left_by_add, merge_worktree, remove_worktree,
    worktrees,
};
