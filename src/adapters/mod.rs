//! The ways in: the command line, hooks, the MCP server, git, and what they need from the machine.

pub(crate) mod adopt;
#[cfg(feature = "board")]
pub(crate) mod board;
pub(crate) mod cli;
mod diff_side;
mod directory;
mod evaluator;
#[cfg(feature = "fleet")]
mod fleet;
pub(crate) mod foreign;
pub(crate) mod git;
pub(crate) mod hooks;
mod identity;
mod mcp;
mod offers;
pub(crate) mod page;
mod process;
mod recovery;
pub(crate) mod replace;
mod scan;
pub(crate) mod setup;
mod survey;
pub(crate) mod watch;
#[cfg(feature = "web")]
pub(crate) mod web;

pub(crate) use diff_side::{SideError, side};
pub(crate) use directory::{
    ChooseError, choose, choose_archived, choose_for_ticket, config_directory, tickets_in,
};
pub(crate) use evaluator::{Evaluator, split_words};
#[cfg(fuzzing)]
pub(crate) use hooks::fuzz_shell;
pub(crate) use identity::{Acting, identify, session_name};
#[cfg(fuzzing)]
pub(crate) use mcp::fuzz_frames;
pub(crate) use recovery::{Recovery, RecoveryOptions};
pub(crate) use scan::is_archived;
pub(crate) use scan::{Scan, ScanResult, scan};
pub(crate) use survey::{StepStart, Survey, find_named, project_root, survey};
#[cfg(all(fuzzing, feature = "web"))]
pub(crate) use web::fuzz_http_request;
