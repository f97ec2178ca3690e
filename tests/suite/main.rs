//! The integration tests: one binary, one builder.

mod adaptation;
mod builder;
mod commands;
mod examples;
mod faults;
mod layers;
mod parallel;
mod readme;
