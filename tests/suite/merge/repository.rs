//! A project in a git repository.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::builder::{Project, Ran};

/// A repository with a state of two steps, committed on `main`, and the driver installed.
pub struct Repository {
    pub project: Project,
}

impl Repository {
    /// `None` when there is no git, which is said.
    pub fn new() -> Option<Self> {
        let repository = Self::without_driver(2)?;
        repository.project.ok(&["git", "install"]);
        repository.commit("attributes");
        Some(repository)
    }

    pub fn without_driver(steps: usize) -> Option<Self> {
        if Command::new("git").arg("version").output().is_err() {
            eprintln!("skipped: there is no `git` to test with");
            return None;
        }
        let repository = Self { project: Project::with_steps(steps) };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit("a state");
        Some(repository)
    }

    /// Runs git; its exit code and what it said.
    pub fn try_git(&self, args: &[&str]) -> Ran {
        self.try_git_in(self.project.root(), args)
    }

    pub fn try_git_in(&self, dir: &Path, args: &[&str]) -> Ran {
        let mut command = Command::new("git");
        command
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_EDITOR", "true")
            .stdin(Stdio::null());
        for (kind, word) in [("NAME", "tester"), ("EMAIL", "tester@example.org")] {
            command.env(format!("GIT_AUTHOR_{kind}"), word);
            command.env(format!("GIT_COMMITTER_{kind}"), word);
        }
        Ran::from(command.output().unwrap())
    }

    /// Runs git, which must succeed.
    pub fn git(&self, args: &[&str]) -> String {
        let ran = self.try_git(args);
        assert_eq!(ran.code, 0, "git {args:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// Runs commands of ours on a branch (made from here if it is new) and commits.
    pub fn on(&self, branch: &str, commands: &[&[&str]]) {
        if self.try_git(&["checkout", "--quiet", branch]).code != 0 {
            self.git(&["checkout", "--quiet", "-b", branch]);
        }
        for command in commands {
            self.project.ok(command);
        }
        self.commit(branch);
    }

    /// Whether a merge of a branch into this one is clean.
    pub fn merges(&self, branch: &str) -> bool {
        self.try_git(&["merge", "--quiet", "--no-edit", branch]).code == 0
    }

    /// The entries of the history are all there and all as they were written.
    pub fn assert_history(&self, entries: u64) {
        let verified = self.project.json(&["history", "verify"]);
        assert_eq!(verified["entries"], entries, "{verified}");
    }
}
