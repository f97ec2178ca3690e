//! State in git: read out of commits, merged by meaning, committed; by calling `git` with an
//! argument vector.

mod attribute_lines;
mod attributes;
mod commit;
mod control;
mod discovery;
mod driver;
mod error;
mod growth;
mod hook;
mod ignored;
mod install;
mod lost;
mod program;
mod range;
mod rebuild;
mod relog;
mod removed;
mod replay;
mod repository;
mod resolve;
mod revision;
mod sibling;
mod tracked;
mod under_way;
mod version;
mod work_tree;
mod worktree;
mod worktree_place;

pub(crate) use commit::{CommitOptions, commit};
pub use control::GitControl;
pub(crate) use driver::{Driven, drive};
pub(crate) use error::GitError;
pub(crate) use growth::check_staged;
use growth::is_entry_elsewhere;
pub(super) use ignored::ignored;
pub(crate) use install::{InstallOptions, Installed, install, status, uninstall};
pub(crate) use lost::{Lost, find_lost, has_version};
pub(crate) use range::range;
pub(crate) use rebuild::Rebuilt;
pub use rebuild::rebuild;
pub(crate) use relog::{LogState, Relogged, relog};
use removed::removed_entries;
pub(crate) use resolve::{
    Resolved, Unmerged, mark_resolved, resolve, stage, unite_history, unmerged_files,
};
pub(crate) use revision::{Revision, read_revision};
pub(crate) use tracked::{Tracked, tracks};
pub(crate) use under_way::{left_unmerged, under_way};
pub(crate) use version::PassedOver;
pub(super) use work_tree::look;
pub(crate) use worktree::{
    Worktree, abandon_worktree, add_worktree, check_finish, find as find_worktree, finish_worktree,
    is_checked_out, worktrees,
};
pub(crate) use worktree_place::{
    check_worktree, default_worktree_path, real_path, refuse_committed_link,
};
