//! The ways in: the command line, git, and what they need of the machine.

pub mod cli;
mod directory;
pub mod git;
mod side;

pub use directory::{ChooseError, choose};
pub use side::{SideError, side};
