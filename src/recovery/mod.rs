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
pub(crate) mod failure;
mod holder;
mod legal;
mod next_move;
mod running;
mod step_text;

pub(crate) use action::RecoveryAction;
pub(crate) use completion::says_complete;
pub(crate) use decide::{choose, decide};
pub(crate) use decision::{Confidence, RecoveryDecision, RuledOut};
pub(crate) use evidence::{
    CheckpointSummary, ErrorSeen, Evidence, FilesSeen, GitSeen, LastOperation, NamedFile,
    PlanEvidence, StepEvidence,
};
pub(crate) use holder::{Holder, SIGN_EVERY_MS, Signs};
pub(crate) use legal::why_not;
pub(crate) use next_move::{Move, NextMove, Situation, StepStanding, Waits, ends_of, next_move};
pub(crate) use step_text::{is_vague, named_paths, writes_something};

#[cfg(test)]
mod tests;
