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

pub use commit::{CommitOptions, Committed, commit};
pub use control::GitControl;
pub use driver::{Driven, drive};
pub use error::GitError;
use growth::is_entry_elsewhere;
pub use growth::{Shrunk, check_staged};
pub(super) use ignored::ignored;
pub use install::{InstallOptions, Installed, install, status, uninstall};
pub use lost::{Lost, find_lost, has_version};
pub use range::{Range, range};
pub use rebuild::{Rebuilt, Restored, rebuild};
pub use relog::{LogState, Relogged, relog};
use removed::removed_entries;
pub use resolve::{
    Resolved, Unmerged, mark_resolved, resolve, stage, unite_history, unmerged_files,
};
pub use revision::{Revision, read_revision};
pub use tracked::{Tracked, tracks};
pub use under_way::{left_unmerged, under_way};
pub use version::PassedOver;
pub(super) use work_tree::look;
pub use worktree::{
    Finished, Worktree, abandon_worktree, add_worktree, check_finish, find as find_worktree,
    finish_worktree, is_checked_out, worktrees,
};
pub use worktree_place::{check_worktree, default_worktree_path, real_path, refuse_committed_link};
