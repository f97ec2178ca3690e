//! The integration tests: one binary, one builder.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod adaptation;
mod brief;
mod builder;
mod commands;
mod examples;
mod faults;
mod hostile;
mod layers;
mod mcp;
mod parallel;
mod power;
mod readme;
mod recover;
mod state;
