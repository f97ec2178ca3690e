//! Running `git` itself.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use super::GitError;

/// Variables that would make git look at another repository than the one `dir` is in, as they are
/// set while a hook runs.
pub(super) const REDIRECTIONS: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
];

/// What is asked about is what is in the files, not what a filter for people shows of it: for
/// every command of git that looks into them.
pub(super) const AS_IT_IS: [&str; 2] = ["--no-textconv", "--no-ext-diff"];

/// Runs `git` in `dir` with `input` on its standard input; says how it ended.
pub(super) fn git(dir: &Path, args: &[&str], input: &str) -> Result<Output, GitError> {
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).args(args);
    for name in REDIRECTIONS {
        command.env_remove(name);
    }
    // Messages are told apart by their words; nothing may be asked or written.
    command.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(GitError::NoProgram)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A git that fails early does not read its input; its exit code tells.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output().map_err(GitError::NoProgram)
}

/// What git said of a failure, on one line.
pub(super) fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    line.trim().trim_start_matches("fatal: ").to_owned()
}

/// Why git failed: because another one holds a lock, or for a reason of its own.
pub(super) fn failure(said: String) -> GitError {
    // The path is in the message in every language.
    let locks = ["index.lock'", "HEAD.lock'", "MERGE_HEAD.lock'", ".lock': File exists"];
    let is_locked = |line: &&str| locks.iter().any(|lock| line.contains(lock));
    match said.lines().find(is_locked) {
        Some(line) => GitError::Locked(line.trim().trim_start_matches("fatal: ").to_owned()),
        None => GitError::Failed(said),
    }
}

/// Runs `git` in `dir`; what it wrote to standard output, or why it failed.
pub(super) fn ask(dir: &Path, args: &[&str]) -> Result<Vec<u8>, GitError> {
    let output = git(dir, args, "")?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = complaint(&output);
    if said.contains("not a git repository") {
        return Err(GitError::NoRepository(dir.to_owned()));
    }
    Err(failure(said))
}

/// The same as one line of text.
pub(super) fn ask_line(dir: &Path, args: &[&str]) -> Result<String, GitError> {
    let text = String::from_utf8_lossy(&ask(dir, args)?).into_owned();
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// Runs `git` in `dir` as it was called itself: a hook sees the index that is being committed, and
/// what hooks say reaches the person.
pub(super) fn git_as_called(dir: &Path, args: &[&str]) -> Result<Output, GitError> {
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).args(args).stdin(Stdio::null());
    command.output().map_err(GitError::NoProgram)
}

/// Runs `git` in `dir` with the person's own environment, so that hooks behave as usual.
pub(super) fn run(dir: &Path, args: &[&str], input: &str) -> Result<Output, GitError> {
    let mut command = Command::new("git");
    command.arg("--literal-pathspecs").arg("-C").arg(dir).args(args);
    for name in REDIRECTIONS {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(GitError::NoProgram)?;
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output().map_err(GitError::NoProgram)
}
