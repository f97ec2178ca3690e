//! The ways in: the command line, the server for agents, and what they need of the machine.

pub mod cli;
mod directory;
mod mcp;

pub use directory::{ChooseError, choose};
