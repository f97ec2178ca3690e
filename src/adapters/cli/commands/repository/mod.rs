//! State in a git repository.

pub(in crate::adapters) mod commit;
pub(in crate::adapters) mod git;
pub(in crate::adapters) mod merge;
mod merge_queue;
pub(in crate::adapters) mod review_notes;
pub(in crate::adapters) mod worktree;
mod worktree_finish;
