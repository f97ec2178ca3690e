//! Tests of the façade as a whole.

mod action;
mod kept_plan;
mod model;
mod sequences;
mod texts;
