//! The program under test.

use std::{
    ffi::OsString,
    fs, iter,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use crate::needs;

/// A copy of the program that cargo has built, made once per build.
///
/// The linker writes through a memory map, which leaves the program in the page cache as single
/// pages. A copy is written in large pieces, which are mapped faster: a start takes 6.7 ms of CPU
/// time instead of 10.4 (Linux 6.18, ext4), and the suite starts the program tens of thousands of times.
pub fn path() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let built = Path::new(env!("CARGO_BIN_EXE_statedir"));
        let directory = needs::below_target("program");
        let copy = directory.join("statedir");
        if identity(&copy) != identity(built) {
            fs::create_dir_all(&directory).unwrap();
            let unfinished = directory.join(format!("statedir.{}", std::process::id()));
            // Not `fs::copy`: a process that another thread starts meanwhile would hold the file open
            // for writing, and a file that is open for writing cannot be executed.
            let copied = Command::new("cp").arg("-p").args([built, &unfinished]).status();
            assert!(copied.unwrap().success());
            fs::rename(unfinished, &copy).unwrap();
        }
        copy
    })
}

/// The path as text, for scripts and command lines.
pub fn name() -> &'static str {
    path().to_str().unwrap()
}

/// A `PATH` on which the program comes first.
pub fn search_path() -> OsString {
    let others = std::env::var_os("PATH").unwrap_or_default();
    let own = path().parent().unwrap().to_owned();
    std::env::join_paths(iter::once(own).chain(std::env::split_paths(&others))).unwrap()
}

/// What tells one build from another: size and time of modification.
fn identity(program: &Path) -> Option<(u64, std::time::SystemTime)> {
    let metadata = fs::metadata(program).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

#[test]
fn the_copy_is_the_program_that_was_built() {
    assert!(fs::read(path()).unwrap() == fs::read(env!("CARGO_BIN_EXE_statedir")).unwrap());
}
