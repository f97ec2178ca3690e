//! The `statedir` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    statedir::internals::run(std::env::args_os())
}
