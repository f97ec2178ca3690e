//! The ways in: the command line, hooks, the server for agents, git, and what they need of the machine.

pub mod cli;
mod directory;
mod evaluator;
pub mod git;
pub mod hooks;
mod mcp;
mod process;
mod recovery;
mod scan;
pub mod setup;
mod side;
mod survey;
pub mod watch;

pub use directory::{ChooseError, choose, choose_archived};
pub use evaluator::{Evaluator, EvaluatorError, Verdict, split_words};
#[cfg(fuzzing)]
pub(crate) use mcp::fuzz_frames;
pub use process::ProcessError;
pub use recovery::{Asked, Recovery, RecoveryOptions};
pub(crate) use scan::is_archived;
pub use scan::{Found, Scan, scan};
pub use side::{SideError, side};
pub use survey::{Since, Survey, find_named, project_root, survey};
