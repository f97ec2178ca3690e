//! A directory and a shell in which a scene runs.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{builder::outside_of_any_session, needs, program};

/// A state and a command that prints a hint in it.
#[derive(Debug)]
pub struct Scene {
    pub name: String,
    /// The lines that make it.
    pub setup: Vec<String>,
    /// The command that prints the hint.
    pub command: String,
    /// The command that must succeed once the hints were followed.
    pub goal: Option<String>,
}

impl Scene {
    /// The line that prints the hint; `command < event …` gets the event of a client as input.
    pub fn line(&self, json: bool) -> String {
        let names: Vec<&str> =
            self.setup.iter().map(String::as_str).filter(|line| line.contains("=$(")).collect();
        let line = match self.command.split_once(" < event ") {
            Some((command, event)) => format!("event {event} | {command}"),
            None if json => format!("{} --json", self.command),
            None => self.command.clone(),
        };
        format!("{}\n{line}", names.join("\n"))
    }
}

/// The scenes of `scenes.txt`.
pub fn scenes() -> Vec<Scene> {
    let mut scenes: Vec<Scene> = Vec::new();
    for line in include_str!("scenes.txt").lines() {
        if let Some(name) = line.strip_prefix("## ") {
            let (name, command) = (name.to_owned(), String::new());
            assert!(scenes.iter().all(|scene| scene.name != name), "{name} is there twice");
            scenes.push(Scene { name, setup: Vec::new(), command, goal: None });
        } else if let Some(scene) = scenes.last_mut() {
            match line.split_at_checked(2) {
                Some(("  ", setup)) => scene.setup.push(setup.to_owned()),
                Some(("> ", command)) => scene.command = command.to_owned(),
                Some(("= ", goal)) => scene.goal = Some(goal.to_owned()),
                _ => panic!("{}: {line}", scene.name),
            }
        }
    }
    scenes
}

/// The result of a command.
pub struct CommandResult {
    pub code: i32,
    stdout: String,
    stderr: String,
}

impl CommandResult {
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// What was printed, and the texts in a JSON document.
    pub fn texts(&self) -> Vec<String> {
        let mut texts = vec![self.stdout.clone(), self.stderr.clone()];
        if let Ok(document) = serde_json::from_str(&self.stdout) {
            strings(&document, &mut texts);
        }
        texts
    }

    pub fn commands(&self) -> Vec<String> {
        self.texts().iter().flat_map(|text| super::commands(text)).collect()
    }

    /// Whether a refusal names what to do instead.
    pub fn leads_on(&self) -> bool {
        let document: Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        let findings = document["findings"].as_array().into_iter().flatten();
        document["error"]["hint"].is_string() || findings.into_iter().any(|f| f["hint"].is_string())
    }
}

fn strings(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, texts)),
        Value::Object(members) => members.values().for_each(|member| strings(member, texts)),
        _ => {}
    }
}

/// The words of a command line, split as by a shell, without the program's name.
pub fn words(line: &str) -> Vec<String> {
    let script = format!("for word in {line}; do printf '%s\\0' \"$word\"; done");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{line}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').skip(1).map(str::to_owned).collect()
}

/// A directory with a state.
pub struct Stage {
    root: TempDir,
}

impl Stage {
    /// The state of a scene.
    pub fn set(scene: &Scene) -> Self {
        let stage = Self { root: needs::directory_in_memory() };
        std::fs::create_dir(stage.dir()).unwrap();
        let made = stage.run(&format!("set -e\n{}", scene.setup.join("\n")));
        assert_eq!(made.code, 0, "{}: {}", scene.name, made.text());
        stage
    }

    /// The same state in another directory.
    pub fn copy(&self) -> Self {
        let root = needs::directory_in_memory();
        let copied =
            Command::new("cp").arg("-a").arg(self.dir()).arg(root.path()).status().unwrap();
        assert!(copied.success());
        Self { root }
    }

    fn dir(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Runs a line of shell.
    pub fn run(&self, line: &str) -> CommandResult {
        let script = format!("{}\n{line}", include_str!("prelude.sh"));
        let mut command = Command::new("timeout");
        command.args(["60", "bash", "-c", &script]);
        for (name, value) in [("AUTHOR", "tester"), ("COMMITTER", "tester")] {
            command.env(format!("GIT_{name}_NAME"), value);
            command.env(format!("GIT_{name}_EMAIL"), "tester@example.org");
        }
        let output = outside_of_any_session(&mut command)
            .current_dir(self.dir())
            .env_remove("STATEDIR")
            .env("STATEDIR_ACTOR", "tester")
            .env("PATH", program::search_path())
            .env("HOME", self.root.path())
            .env("GIT_CONFIG_GLOBAL", self.root.path().join("gitconfig"))
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        CommandResult {
            code: output.status.code().unwrap_or(255),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Whether the files differ from the log, or the last operation was an edit from outside.
    pub fn is_edited(&self) -> bool {
        let there = self.copy();
        let newest = there.run("statedir op log --limit 1 --json").stdout;
        let diff = there.run("statedir diff --json").stdout;
        let diff: Value = serde_json::from_str(&diff).unwrap_or_default();
        let differs = diff["changes"].as_array().is_some_and(|changes| !changes.is_empty());
        newest.contains("\"kind\":\"external\"") || differs
    }

    /// Every line that people or agents wrote. No hint may lose one, but it may move.
    pub fn kept(&self) -> BTreeSet<String> {
        let mut lines = BTreeSet::new();
        for entry in walkdir::WalkDir::new(self.dir()).into_iter().filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !matches!(name.as_str(), "context.md" | "history.md" | "plan.md") {
                continue;
            }
            let text = std::fs::read(entry.path()).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let is_mark = |line: &&str| {
                ["<<<<<<<", "=======", ">>>>>>>", "|||||||"]
                    .iter()
                    .any(|mark| line.starts_with(mark))
            };
            match name.as_str() {
                "plan.md" => lines.extend(
                    text.split(": Do part ")
                        .skip(1)
                        .filter_map(|rest| rest.split_whitespace().next())
                        .map(|n| format!("Do part {n}")),
                ),
                _ => lines.extend(text.lines().filter(|line| !is_mark(line)).map(str::to_owned)),
            }
        }
        lines
    }
}
