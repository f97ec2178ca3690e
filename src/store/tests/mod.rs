//! Tests of the store as a whole.

mod basics;
mod boots;
mod crashes;
mod locking;
mod real;
mod script;
