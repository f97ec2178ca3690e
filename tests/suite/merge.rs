//! State on branches of real repositories: merged by meaning, never torn.

#[path = "merge/boxes.rs"]
mod boxes;
#[path = "merge/branches.rs"]
mod branches;
#[path = "merge/counters.rs"]
mod counters;
#[path = "merge/damaged.rs"]
mod damaged;
#[path = "merge/finishing.rs"]
mod finishing;
#[path = "merge/guard.rs"]
mod guard;
#[path = "merge/half_way.rs"]
mod half_way;
#[path = "merge/messages.rs"]
mod messages;
#[path = "merge/references.rs"]
mod references;
#[path = "merge/removed.rs"]
mod removed;
#[path = "merge/repository.rs"]
pub mod repository;
#[path = "merge/setup.rs"]
mod setup;
#[path = "merge/sweep.rs"]
mod sweep;
#[path = "merge/unmarked.rs"]
mod unmarked;
#[path = "merge/whole_files.rs"]
mod whole_files;
#[path = "merge/worktrees.rs"]
mod worktrees;
