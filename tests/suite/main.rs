//! The integration tests: one binary, one builder.

mod adaptation;
mod builder;
mod commands;
mod examples;
mod faults;
mod hostile;
mod layers;
mod parallel;
mod readme;
