//! The integration tests: one binary, one builder.

mod builder;
mod commands;
mod layers;
