//! The ways in: the command line, and what it needs of the machine.

pub mod cli;
mod directory;

pub use directory::{ChooseError, choose, choose_archived};
