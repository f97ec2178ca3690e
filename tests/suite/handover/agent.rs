//! An agent in a session of its own.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::{
    builder::{Project, Ran},
    lifecycle::{is_renamed, renamed},
};

/// An agent with a session of its own, at a time of the 31st of January.
pub struct Agent<'p> {
    project: &'p Project,
    session: &'static str,
    actor: Option<&'static str>,
    time: &'static str,
}

impl<'p> Agent<'p> {
    pub fn new(project: &'p Project, session: &'static str, time: &'static str) -> Self {
        Self { project, session, actor: None, time }
    }

    pub fn called(self, actor: &'static str) -> Self {
        Self { actor: Some(actor), ..self }
    }

    pub fn at(&self, time: &'static str) -> Self {
        Self { time, ..*self }
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.project.command(args);
        command.env_remove("STATEDIR_ACTOR").env("STATEDIR_NOW", self.moment());
        if let Some(actor) = self.actor {
            command.env("STATEDIR_ACTOR", actor);
        }
        if !self.session.is_empty() {
            command.env("STATEDIR_SESSION", self.session);
        }
        let output = command.output().unwrap();
        let ran = Ran::from(output);
        Ran {
            stdout: self.in_builtin_words(&ran.stdout),
            stderr: self.in_builtin_words(&ran.stderr),
            ..ran
        }
    }

    fn in_builtin_words(&self, text: &str) -> String {
        String::from_utf8(self.project.in_builtin_words(text.as_bytes().to_vec())).unwrap()
    }

    fn moment(&self) -> String {
        format!("2026-01-31T{}Z", self.time)
    }

    pub fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[args, &["--json"]].concat())).unwrap()
    }

    /// Runs a command that must be refused without changing a byte; returns the error.
    pub fn refused(&self, args: &[&str]) -> Value {
        let before = self.project.files();
        let ran = self.run(&[args, &["--json"]].concat());
        assert_eq!(ran.code, 1, "{args:?}\n{}{}", ran.stdout, ran.stderr);
        assert!(self.project.files() == before, "{args:?} changed something");
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["error"].clone()
    }

    /// Sends an event of the client's hook.
    pub fn hook(&self, name: &str) -> String {
        use std::io::Write as _;
        let event = json!({ "hook_event_name": name, "session_id": self.session,
            "cwd": self.project.root(), "reason": "other", "source": "startup" });
        let mut command = self.project.command(&["hook"]);
        command.env_remove("STATEDIR_ACTOR").env("STATEDIR_NOW", self.moment());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        ran.stdout
    }

    pub fn step(&self, number: usize) -> Value {
        self.json(&["step", "show", &number.to_string()])["step"].clone()
    }
}

/// Replaces a line of workflow.yaml, or adds it where the line is a default.
pub fn set_in_workflow(project: &Project, default: &str, line: &str) {
    let path = project.path("workflow.yaml");
    let workflow = std::fs::read_to_string(&path).unwrap_or_else(|_| "version: 1\n".to_owned());
    let others = workflow.replace(&format!("{default}\n"), "");
    let line = match is_renamed() {
        true => renamed(line.as_bytes()),
        false => line.as_bytes().to_vec(),
    };
    std::fs::write(path, [others.as_bytes(), b"\n", &line, b"\n"].concat()).unwrap();
}
