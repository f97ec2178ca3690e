//! Recovery of an interrupted or failed execution: gathers evidence for `crate::recovery` to decide on,
//! and carries the decision out as one operation.
//!
//! Files outside the state directory are examined by the caller: [`Examined::wanted`] lists them,
//! and [`Examined::add_surroundings`] takes what was found.

mod apply;
mod gather;
mod last_action;

pub(crate) use self::{
    apply::DecidedBy,
    gather::{Examined, RecoverRequest, Surroundings, WantedFile},
};
