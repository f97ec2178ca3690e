//! Typed views of the state files, one module per file, and what follows from them together.
//!
//! A view reads as much as it can: one bad value is a [`Problem`] with a place, and never hides
//! the healthy rest. Views change nothing; their edit functions return new documents.

mod constraints;
mod context;
pub mod diff;
mod file;
pub mod history;
mod literal;
pub mod merge;
mod money;
pub mod notes;
mod plan;
mod plan_edit;
mod problem;
mod reference;
mod renumber;
mod review;
mod step;
mod step_edit;
mod variables;

pub use constraints::{Behaviour, Bullet, Constraints, Setting, SettingGroup};
pub use context::{Context, ContextSection};
pub use file::StateFile;
pub use literal::field as literal_field;
pub use money::Money;
pub use plan::{Metadata, Plan};
pub use problem::{ModelError, Problem, Severity};
pub use reference::{Reference, references};
pub use renumber::Renumbering;
pub use review::{Decision, Review};
pub use step::{Step, StepId, StepRef};
pub use step_edit::NewStep;
pub use variables::{StepCost, Variables};
