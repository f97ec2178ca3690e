//! Tests of the façade as a whole.

mod action;
mod model;
mod sequences;
mod texts;
