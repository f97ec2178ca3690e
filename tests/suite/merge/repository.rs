//! A project in a git repository.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    builder::{Project, Ran},
    needs,
};

/// A repository with a state of two steps, committed on `main`, and the driver installed.
pub struct Repository {
    pub project: Project,
}

impl Repository {
    /// `None`, with a note, when there is no git.
    pub fn new() -> Option<Self> {
        let repository = Self::without_driver(2)?;
        repository.project.ok(&["git", "install"]);
        repository.commit("attributes");
        Some(repository)
    }

    pub fn without_driver(steps: usize) -> Option<Self> {
        if !needs::program("git") {
            return None;
        }
        let repository = Self { project: Project::with_steps(steps) };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit("a state");
        Some(repository)
    }

    /// The same with copies of what the plan says, and with or without the driver.
    pub fn classic(driver: bool) -> Option<Self> {
        if !needs::program("git") {
            return None;
        }
        let repository = Self { project: Project::classic() };
        repository.project.ok(&["step", "add", "Do part 1"]);
        repository.project.ok(&["step", "add", "Do part 2"]);
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit("a state");
        if driver {
            repository.project.ok(&["git", "install"]);
            repository.commit("attributes");
        }
        Some(repository)
    }

    /// A repository that was there before the state of so many steps, without the driver.
    pub fn begun_in_git(steps: usize) -> Option<Self> {
        if !needs::program("git") {
            return None;
        }
        let repository = Self { project: Project::empty() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.project.begin(steps);
        repository.commit("a state");
        Some(repository)
    }

    /// Runs git; returns its exit code and output.
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

    /// Runs a command of ours as somebody whom git lets commit, in a directory.
    pub fn ours_in(&self, dir: &Path, args: &[&str]) -> Ran {
        let mut command = self.project.command(&[args, &["--json"]].concat());
        command.current_dir(dir).env("GIT_CONFIG_GLOBAL", "/dev/null");
        for (kind, word) in [("NAME", "tester"), ("EMAIL", "tester@example.org")] {
            command.env(format!("GIT_AUTHOR_{kind}"), word);
            command.env(format!("GIT_COMMITTER_{kind}"), word);
        }
        Ran::from(command.output().unwrap())
    }

    /// The same in the project; it must succeed.
    pub fn ours(&self, args: &[&str]) -> serde_json::Value {
        let ran = self.ours_in(self.project.root(), args);
        assert_eq!(ran.code, 0, "{args:?}\n{}{}", ran.stdout, ran.stderr);
        ran.json()
    }

    /// The same; it must be refused with an exit code and this word for machines.
    pub fn ours_refused(&self, exit: i32, code: &str, args: &[&str]) -> serde_json::Value {
        let files = self.project.files();
        let ran = self.ours_in(self.project.root(), args);
        let answer = ran.json();
        assert_eq!((ran.code, &answer["error"]["code"]), (exit, &code.into()), "{args:?} {answer}");
        assert_eq!(self.project.files(), files, "{args:?} changed files");
        answer
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
