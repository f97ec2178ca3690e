//! The ways in: the command line, the server for agents, and what they need of the machine.

pub mod cli;
mod directory;
mod evaluator;
mod git;
mod mcp;
mod process;
mod recovery;
mod scan;
mod survey;

pub use directory::{ChooseError, choose};
pub use evaluator::{Evaluator, EvaluatorError, Verdict, split_words};
pub use process::ProcessError;
pub use recovery::{Asked, Recovery, RecoveryOptions};
pub(crate) use scan::is_archived;
pub use scan::{Found, Scan, scan};
pub use survey::{Since, Survey, find_named, project_root, survey};
