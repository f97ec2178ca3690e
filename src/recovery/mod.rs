//! What to do after an interruption or a failure: evidence in, one decision out.
//!
//! Nothing is guessed. Evidence that is unclear or contradicts itself gives `human_review`, with
//! what a person should look at.

mod action;
mod completion;
mod decide;
mod decision;
mod evidence;
mod failed;
pub mod failure;
mod legal;
mod running;
mod told;

pub use action::Action;
pub use completion::says_complete;
pub use decide::{choose, decide};
pub use decision::{Confidence, Decision, RuledOut};
pub use evidence::{
    CheckpointSummary, Claim, ErrorSeen, Evidence, FilesSeen, GitSeen, LastOperation, NamedFile,
    PlanSeen, StepSeen,
};
pub use legal::why_not;
pub use told::{is_vague, named_paths, writes_something};

#[cfg(test)]
mod tests;
