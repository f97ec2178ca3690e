use std::path::PathBuf;

use super::{CliResult, Session};
use crate::adapters::git::{Driven, drive};

/// Merge one state file for git, which calls this with %O %A %B %P
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  git config merge.statedir.driver 'statedir merge-driver %O %A %B %P'")]
pub(in crate::adapters) struct Args {
    /// The common version
    base: PathBuf,
    /// Our version, which is replaced by the result
    ours: PathBuf,
    /// Their version
    theirs: PathBuf,
    /// The path in the repository
    path: String,
}

pub(super) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    match drive(&args.base, &args.ours, &args.theirs, &args.path) {
        Ok(Driven::Merged(conflicts)) => {
            for conflict in &conflicts {
                session.output.note(&format!("conflict in {}: {}", args.path, conflict.field));
            }
            Ok(u8::from(!conflicts.is_empty()))
        }
        Ok(Driven::ByLines { clean, why }) => {
            session.output.note(&format!("{} was merged line by line: {why}", args.path));
            Ok(u8::from(!clean))
        }
        // Git then reports an ordinary conflict, with our version in the file.
        Err(error) => {
            session.output.note(&format!("{} was not merged: {error}", args.path));
            Ok(1)
        }
    }
}
