//! Typed views of the state files, one module per file, and what follows from them together.
//!
//! A view reads as much as it can: one bad value is a [`Problem`] with a place, and never hides
//! the healthy rest. Views change nothing; their edit functions return new documents.

mod builtin;
mod constraints;
mod context;
pub(crate) mod facts;
mod file;
pub mod lifecycle;
mod literal;
pub(crate) mod modifier;
pub(crate) mod nearest;

pub(crate) mod plan;
mod plan_edit;
mod problem;
pub(crate) mod quantity;
mod reference;
mod renumber;
mod review;
mod step;
mod step_edit;
mod step_outcome;
pub(crate) mod value;
mod variables;

pub use constraints::{Behaviour, Bullet, Constraints, Setting, SettingGroup};
pub use context::{Context, ContextSection};
pub use facts::Facts;
pub use file::StateFile;
pub use lifecycle::{Gate, PlanRole, Refusal, StepRole, Subject, Workflow, step_at_hand};
pub use literal::field as literal_field;
pub use modifier::{Modifier, ModifierGroup, ModifierKind, ValueError};
pub use nearest::nearest;
pub use plan::{Metadata, Plan};
pub use problem::{ModelError, Problem, Severity};
pub use quantity::{Money, format_duration, format_money, parse_duration_ms, parse_money};
pub use reference::{Reference, references};
pub use renumber::Renumbering;
pub use review::{Decision, Review};
pub use step::{Step, StepId, StepRef};
pub use step_edit::NewStep;
pub use step_outcome::{OUTCOME_FIELD, StepOutcome};
pub use value::FactValue;
pub use variables::{StepCost, Variables};
