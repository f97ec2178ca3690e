//! The integration tests: one binary, one builder.

mod builder;
mod commands;
mod examples;
mod faults;
mod layers;
mod readme;
