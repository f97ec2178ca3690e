//! The integration tests: one binary, one builder.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod adaptation;
mod archive;
mod brief;
mod builder;
mod checkpoints;
mod commands;
mod defaults;
mod diff;
mod documents;
mod doubled;
mod examples;
mod faults;
mod from_git;
mod git_safety;
mod hooks;
mod hostile;
mod hostile_clones;
mod layers;
mod lifecycle;
mod log_losses;
mod mcp;
mod merge;
mod needs;
mod older_log;
mod overview;
mod parallel;
mod plain_merge;
mod power;
mod readme;
mod recover;
mod setup;
mod state;
mod trust;
mod verdicts;
mod watch;
