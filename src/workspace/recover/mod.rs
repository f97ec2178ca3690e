//! Recovery: evidence from the state, a decision from the engine, one operation that carries it
//! out.
//!
//! What is outside the state directory is examined by the caller: [`Examined`] says what is wanted,
//! and [`Examined::look_around`] takes what was found.

mod apply;
mod gather;
mod last_words;

pub(crate) use self::{
    apply::{Carried, DecidedBy},
    gather::{Examined, RecoverRequest, Surroundings, WantedFile},
};
