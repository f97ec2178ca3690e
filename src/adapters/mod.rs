//! The ways in: the command line, hooks, and what they need of the machine.

pub mod cli;
mod directory;
pub mod hooks;
pub mod setup;
pub mod watch;

pub use directory::{ChooseError, choose};
