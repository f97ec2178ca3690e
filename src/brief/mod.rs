//! What an agent needs to continue: the brief, and the conversation in four tiers of memory.
//!
//! Everything here is a function from values to values. Text from the state files is data: in
//! markdown each of its lines begins with `>`, in JSON it is a string, so that no text can end the
//! quotation.

mod budget;
mod compose;
mod compose_context;
mod compose_step;
mod estimate;
mod fit_budget;
mod frequent_words;
mod material;
mod memory;
mod render;
mod sections;
mod turn;

pub use budget::{Budget, Format};
pub(crate) use compose::compose;
pub use estimate::tokens;
pub use fit_budget::Brief;
pub(crate) use fit_budget::{LeftOut, fit_budget};
pub(crate) use material::{
    ChangesSince, ExecutionStatus, FocusStep, Material, OpenStep, StepInput, StepOutputs,
};
pub(crate) use memory::{
    LongTerm, MediumTerm, Memory, Preferences, ProjectMemory, RecurringEvent, ShortTurn, TurnNote,
    memory,
};
pub(crate) use sections::{BriefItem, BriefPart, BriefSection, Stage};
pub use turn::Turn;
pub(crate) use turn::{MEDIUM_TURNS, SHORT_TURNS, WORKING_TURNS};
