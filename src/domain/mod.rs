//! Typed views of the state files, one module per file, and what follows from them together.
//!
//! A view reads as much as it can: one bad value is a [`Problem`] with a place, and never hides
//! the healthy rest. Views change nothing; their edit functions return new documents.

pub(crate) mod adopted;
pub(crate) mod checklist;
pub(crate) mod constraints;
mod context;
pub(crate) mod facts;
mod feedback;
mod file;
pub(crate) mod layout;
pub(crate) mod lifecycle;
mod literal;
pub(crate) mod outline;
pub(crate) mod plan;
mod problem;
mod prose;
pub(crate) mod quantity;
mod reference;
pub(crate) mod ticket;
pub(crate) mod variables;

pub(crate) use crate::text::nearest::{self, nearest};
pub use constraints::Constraints;
pub use constraints::SettingGroup;
pub(crate) use constraints::modifier::{Modifier, ModifierKind, ValueError};
pub(crate) use constraints::{Behaviour, Bullet, ConstraintList, Setting};
pub(crate) use context::{Context, ContextSection, PutMode};
pub use facts::Facts;
pub use facts::value::FactValue;
pub(crate) use feedback::Sentiment;
pub(crate) use file::FilesByName;
pub use file::StateFile;
pub(crate) use lifecycle::gate::{AtLimit, Gate, Route};
pub(crate) use lifecycle::{IllegalTransition, LifecycleSubject, current_step_number};
pub use lifecycle::{PlanRole, StepRole, Workflow};
pub(crate) use literal::field as literal_field;
pub(crate) use plan::Metadata;
pub use plan::Plan;
pub use plan::groups::{Group, GroupProgress};
pub(crate) use plan::groups::{Groups, Hold};
pub(crate) use plan::positions::StepPositions;
pub use plan::progress::StepCounts;
pub(crate) use plan::read::unrecognised::half_typed;
pub(crate) use plan::renumber::Renumbering;
pub use plan::review::{Decision, Review};
pub(crate) use plan::step::Step;
pub(crate) use plan::step::claim::Claim;
pub(crate) use plan::step::edit::{NewStep, StepUpdate};
pub(crate) use plan::step::outcome::{OUTCOME_FIELD, StepOutcome};
pub use plan::step::{StepId, StepRef};
pub(crate) use problem::ModelError;
pub use problem::error_code::ErrorCode;
pub use problem::{Problem, Severity};
pub(crate) use prose::{Prose, is_default_setting, is_template_rule, without_filler};
pub use quantity::Money;
pub(crate) use quantity::{format_age, format_duration, parse_duration_ms, parse_money};
pub(crate) use reference::{references, replace_references};
pub use ticket::Ticket;
pub(crate) use variables::{StepCost, Variables};
