//! The one place that runs `git`.
//!
//! A repository may be a stranger's, and an environment may have been set up for another repository.
//! So every call
//!
//! - starts at the top of a work tree that was found by its `.git`, and looks no further up;
//! - ignores bare repositories that are only found by their layout, without file system monitors,
//!   pagers, prompts, editors and anything from the network;
//! - gets no `GIT_*` variable but those in [`INHERITED`];
//! - takes path arguments literally.
//!
//! Commands that can show a difference are given [`AS_IT_IS`] by their callers.
//!
//! What remains are programs that the user named in a configuration of their own: filters (such as
//! those of Git LFS) whose names `.gitattributes` mentions, when git compares, adds or checks out
//! files, and signing. A clone can mention a name but not say what it runs, and `git clone` has
//! called the same filters already. Without them unchanged files would seem changed, and what is
//! committed or checked out would have the wrong content. Blobs are read by `cat-file`, which calls
//! no filter.

use std::{
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use super::{
    super::process::{self, ProcessError},
    GitError, discovery,
};

/// Variables that are passed on: who makes a commit and when, and where the user's settings are.
const INHERITED: [&str; 9] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// Variables by which git tells a hook or a driver what it is working on: an index that is not the
/// repository's, objects that are not in it yet.
const FROM_GIT: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// Options for every git command that reads contents: the files as they are, not what a text
/// conversion or an external diff makes of them.
pub(super) const AS_IT_IS: [&str; 2] = ["--no-textconv", "--no-ext-diff"];

/// Settings of every call. They reach the hooks of the user, too, and change nothing there.
const SETTINGS: [&str; 4] = ["-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false"];

/// Settings of calls that run nothing of the user's.
const QUIET_SETTINGS: [&str; 13] = [
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.pager=cat",
    "-c",
    "log.showSignature=false",
    "-c",
    "protocol.allow=never",
    "-c",
    "submodule.recurse=false",
];

/// Whose settings count for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settings {
    /// Ours: nothing is run but git.
    Quiet,
    /// The user's, as if they had typed it: hooks run and behave as usual.
    AsUser,
    /// Ours, but on what the git that called us is working on.
    WithinGit,
}

/// Git, started at the top of one work tree.
#[derive(Clone, Debug)]
pub(super) struct Git {
    start: PathBuf,
    settings: Settings,
}

impl Git {
    /// For the innermost work tree that `dir` is in; `dir` need not be there.
    pub(super) fn around(dir: &Path) -> Result<Self, GitError> {
        let dir = discovery::resolve(dir);
        match discovery::top(&dir) {
            Some(top) => Ok(Self::at(top)),
            None => Err(GitError::NoRepository(dir)),
        }
    }

    /// For a work tree whose top is known.
    pub(super) fn at(top: &Path) -> Self {
        Self { start: top.to_owned(), settings: Settings::Quiet }
    }

    /// For the repository whose git runs us as a hook or a driver, by its own account.
    pub(super) fn that_called() -> Result<Self, GitError> {
        let here = std::env::current_dir().map_err(GitError::Io)?;
        // What git says of its directory is relative to where it started us.
        let start = match std::env::var_os("GIT_DIR") {
            Some(_) => here,
            None => Self::around(&here)?.start,
        };
        Ok(Self { start, settings: Settings::WithinGit })
    }

    /// Where git is started.
    pub(super) fn top(&self) -> &Path {
        &self.start
    }

    /// Runs git with `input` on its standard input; says how it ended.
    pub(super) fn run(&self, args: &[&str], input: &str) -> Result<Output, GitError> {
        output(self.command(args), input)
    }

    /// Runs git as the user does: with hooks, and with the user's language for what they say. Only
    /// for what the user asked for by name: a commit, a merge, a new work tree.
    pub(super) fn run_as_user(&self, args: &[&str], input: &str) -> Result<Output, GitError> {
        let git = Self { start: self.start.clone(), settings: Settings::AsUser };
        output(git.command(args), input)
    }

    /// What git wrote to standard output, or why it failed.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let output = self.run(args, "")?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let reason = stderr_message(&output);
        if reason.contains("not a git repository") {
            return Err(GitError::NoRepository(self.start.clone()));
        }
        Err(failure(reason))
    }

    /// The same as text.
    pub(super) fn ask_text(&self, args: &[&str]) -> Result<String, GitError> {
        Ok(String::from_utf8_lossy(&self.ask(args)?).into_owned())
    }

    /// The same without the last line end.
    pub(super) fn ask_line(&self, args: &[&str]) -> Result<String, GitError> {
        Ok(self.ask_text(args)?.trim_end_matches(['\n', '\r']).to_owned())
    }

    /// The bytes of an object; `None` when there is none of that name.
    pub(super) fn blob(&self, name: &str) -> Option<Vec<u8>> {
        self.ask(&["cat-file", "blob", name]).ok()
    }

    /// A path of git's own, such as `hooks` or `info/attributes`: where the user's settings put it.
    pub(super) fn own_path(&self, name: &str) -> Result<PathBuf, GitError> {
        let args = ["rev-parse", "--path-format=absolute", "--git-path", name];
        let output = self.run_as_user(&args, "")?;
        if !output.status.success() {
            return Err(failure(stderr_message(&output)));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(PathBuf::from(text.trim_end_matches(['\n', '\r'])))
    }

    /// What git wrote, if it is done within `limit` and writes at most `most` bytes.
    pub(super) fn ask_within(
        &self,
        args: &[&str],
        limit: Duration,
        most: usize,
    ) -> Result<Vec<u8>, ProcessError> {
        process::run(self.command(args), Vec::new(), limit, most)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.start).args(SETTINGS);
        for (name, _) in std::env::vars_os() {
            if is_foreign(&name, self.settings) {
                command.env_remove(name);
            }
        }
        command
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_EDITOR", ":")
            .env("GIT_SEQUENCE_EDITOR", ":");
        if self.settings != Settings::AsUser {
            // Messages are recognised by their words.
            command.args(QUIET_SETTINGS).env("LC_ALL", "C").env("GIT_NO_LAZY_FETCH", "1");
            if let Some(above) = self.start.parent() {
                command.env("GIT_CEILING_DIRECTORIES", above);
            }
        }
        command.args(args);
        command
    }
}

/// Whether a variable would change what git works on or what it runs.
fn is_foreign(name: &OsString, settings: Settings) -> bool {
    let Some(name) = name.to_str() else { return false };
    name.starts_with("GIT_")
        && !INHERITED.contains(&name)
        && !(settings == Settings::WithinGit && FROM_GIT.contains(&name))
}

fn output(mut command: Command, input: &str) -> Result<Output, GitError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(GitError::NoProgram)?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        // Git may answer before it has read its input, so the input is written by another thread.
        let feed = move || {
            // A git that fails early does not read its input; its exit code shows that.
            let _ = stdin.map(|mut stdin| stdin.write_all(input.as_bytes()));
        };
        if input.is_empty() {
            feed();
        } else if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, feed) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(GitError::Failed(format!(
                "cannot start a thread that writes its input: {error}"
            )));
        }
        child.wait_with_output().map_err(GitError::NoProgram)
    })
}

/// What git said of a failure, on one line.
pub(super) fn stderr_message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    line.trim().trim_start_matches("fatal: ").to_owned()
}

/// Why git failed: another git holds a lock, or another reason.
pub(super) fn failure(reason: String) -> GitError {
    // The path is in the message in every language.
    let locks = ["index.lock'", "HEAD.lock'", "MERGE_HEAD.lock'", ".lock': File exists"];
    let is_locked = |line: &&str| locks.iter().any(|lock| line.contains(lock));
    match reason.lines().find(is_locked) {
        Some(line) => GitError::Locked(line.trim().trim_start_matches("fatal: ").to_owned()),
        None => GitError::Failed(reason),
    }
}
