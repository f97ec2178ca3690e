//! Judging a state after a disturbed command: all old or all new, and usable.

use std::{collections::BTreeMap, fs};

use serde_json::Value;

use statedir::{Change, Environment, GitControl, Options, Snapshot, Workspace, internals};

use super::{
    Finish,
    scene::{self, NOW, Scene},
};
use crate::builder::{Project, line_diff};

/// The two states that are allowed.
pub struct Models {
    old: Model,
    new: Model,
}

/// Which of the two it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    Old,
    New,
}

/// What a reader sees, and what is there after one further change.
#[derive(Debug, PartialEq)]
struct Model {
    seen: Option<Value>,
    findings: Value,
    checkpoints: Vec<String>,
    later: Later,
}

#[derive(Debug, PartialEq)]
struct Later {
    revision: String,
    operations: usize,
    files: BTreeMap<String, String>,
}

impl Models {
    /// Learns both states from undisturbed runs.
    pub fn learn(scene: &Scene) -> Self {
        scene.reset();
        let old = Model::read(&scene.project, scene).unwrap();
        scene.reset();
        let done = scene.finish(&[]);
        assert_eq!(done.code, Some(0), "{}: {}", scene.name, done.text());
        let new = Model::read(&scene.project, scene).unwrap();
        Self { old, new }
    }

    /// Whether the command changes anything that a reader sees.
    pub fn differ(&self) -> bool {
        self.old != self.new
    }

    /// Says which state is there, or what is wrong with it.
    pub fn examine(&self, scene: &Scene, finish: &Finish) -> Result<Which, String> {
        let found = Model::read(&scene.project, scene)?;
        if found == self.new && (finish.killed || finish.code == Some(0) || !self.differ()) {
            return Ok(Which::New);
        }
        if found == self.old && finish.code != Some(0) {
            return Ok(Which::Old);
        }
        if found == self.new {
            return Err("it was reported as failed, but it is done".to_owned());
        }
        if found == self.old {
            return Err("it was acknowledged, but it is not done".to_owned());
        }
        let differences = |model: &Model| {
            let (model, found) = (format!("{model:#?}"), format!("{found:#?}"));
            let lines = line_diff(&model, &found);
            lines.iter().map(|line| format!("{line:.300}\n")).collect::<String>()
        };
        let (old, new) = (differences(&self.old), differences(&self.new));
        Err(format!("neither old nor new\nfrom the old\n{old:.2000}\nfrom the new\n{new:.2000}"))
    }
}

impl Model {
    /// Reads everything, then changes something and reads again. All of that is called as a library:
    /// there are thousands of these.
    fn read(project: &Project, scene: &Scene) -> Result<Self, String> {
        let seen = match open(project).read() {
            Ok(snapshot) => Some(document(&snapshot)?),
            Err(error) if scene.begins() && error.exit_code() == 1 => None,
            Err(error) => return Err(format!("state: {error}")),
        };
        if seen.is_none() {
            let again = scene.finish(&[]);
            if again.code != Some(0) {
                return Err(format!("the command cannot be repeated: {}", again.text()));
            }
        }
        let findings = open(project).check(false, &mut |_| {});
        let findings = findings.map_err(|error| format!("check: {error}"))?.findings;
        let findings = serde_json::to_value(findings).unwrap();
        let checkpoints = internals::checkpoints(&open(project));
        let checkpoints = checkpoints.map_err(|error| format!("checkpoint list: {error}"))?;
        let probe = Change::VarSet { path: "probe.after".to_owned(), value: 1.into() };
        let probe = open(project).apply(&[probe]);
        let revision = probe.map_err(|error| format!("a further change: {error}"))?.revision;
        let operations = open(project).operations(None);
        let operations = operations.map_err(|error| format!("op log: {error}"))?.len();
        verify(project)?;
        let files = project.files().into_iter();
        let files = files.map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes).into()));
        let revision = revision.as_str().to_owned();
        let later = Later { revision, operations, files: files.collect() };
        Ok(Self { seen, findings, checkpoints, later })
    }
}

/// Fails where `state` does.
pub fn state(project: &Project) -> Result<(), String> {
    let snapshot = open(project).read().map_err(|error| format!("state: {error}"))?;
    document(&snapshot).map(drop)
}

fn document(snapshot: &Snapshot) -> Result<Value, String> {
    let state = snapshot.state(false);
    match state.damage() {
        Some(damage) => Err(format!("state: {damage:?}")),
        None => Ok(serde_json::to_value(state).unwrap()),
    }
}

/// Fails where `history verify` does.
pub fn verify(project: &Project) -> Result<(), String> {
    match internals::history_problems(&open(project)) {
        Ok(problems) if problems.is_empty() => Ok(()),
        Ok(problems) => Err(format!("history verify: {problems:?}")),
        Err(error) => Err(format!("history verify: {error}")),
    }
}

/// The state as the commands see it, at the same moment.
fn open(project: &Project) -> Workspace {
    let env = Environment::fixed(NOW.parse().unwrap(), "tester", 77);
    Workspace::new(project.dir(), env, Options::new(GitControl))
}

/// The control: what the commands find wrong is found here, too.
#[test]
fn damage_that_a_command_reports_is_found_by_the_library() {
    let project = Project::empty();
    scene::busy(&project);
    let fails = |args: &[&str]| scene::run(&project, args).code != 0;
    assert!(state(&project).is_ok() && !fails(&["state", "--json"]));
    assert!(verify(&project).is_ok() && !fails(&["history", "verify"]));
    assert_eq!(internals::checkpoints(&open(&project)).unwrap(), [""; 0]);
    assert!(!fails(&["checkpoint", "create", "one"]));
    assert!(internals::checkpoints(&open(&project)).unwrap()[0].contains("\"one\""));
    project.edit("history.md", "answer**: EU", "answer**: US");
    assert!(verify(&project).is_err() && fails(&["history", "verify"]));
    fs::remove_file(project.path("plan.md")).unwrap();
    assert!(state(&project).is_err() && fails(&["state", "--json"]));
}
