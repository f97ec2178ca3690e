//! The `statedir` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    statedir::adapters::cli::run(std::env::args_os())
}
