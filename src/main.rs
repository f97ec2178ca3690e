//! The `statedir` command.

use std::process::ExitCode;

// musl's own unmaps at once what is freed, and maps it again: a quarter of the time of a short command.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    statedir::internals::run(std::env::args_os())
}
