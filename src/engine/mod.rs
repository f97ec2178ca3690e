//! Pure logic over values: lifecycles, modifiers and the rules that change them.
//!
//! Nothing here knows a clock, a file or a terminal. The same facts and the same event give the
//! same outcome, byte for byte.

mod builtin;
mod facts;
pub mod failure;
pub mod lifecycle;
mod modifier;
mod nearest;
mod quantity;
pub mod recovery;
pub mod rule;
mod value;
mod workflow_file;

pub use facts::Facts;
pub use lifecycle::{Gate, PlanRole, Refusal, StepRole, Subject, Workflow};
pub use modifier::{Modifier, ModifierGroup, ModifierKind, ValueError};
pub use nearest::nearest;
pub use value::FactValue;
pub use workflow_file::WorkflowError;
