//! Judging a state after a disturbed command: all old or all new, and usable.

use std::collections::BTreeMap;

use serde_json::Value;

use statedir::{Environment, GitControl, Options, Workspace};

use super::{
    Finish,
    scene::{NOW, Scene, run},
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
    checkpoints: Value,
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
    /// Reads everything, then changes something by a command and reads again. What only reads is
    /// called as a library: there are thousands of these.
    fn read(project: &Project, scene: &Scene) -> Result<Self, String> {
        let seen = match open(project).read() {
            Ok(snapshot) => {
                let state = snapshot.state(false);
                if let Some(damage) = state.damage() {
                    return Err(format!("state: {damage:?}"));
                }
                Some(serde_json::to_value(state).unwrap())
            }
            Err(error) if scene.begins() && error.exit_code() == 1 => None,
            Err(error) => return Err(format!("state: {error}")),
        };
        if seen.is_none() {
            let again = scene.finish(&[]);
            if again.code != Some(0) {
                return Err(format!("the command cannot be repeated: {}", again.text()));
            }
        }
        let findings = checked(project)?;
        let list = run(project, &["checkpoint", "list", "--json"]);
        if list.code != 0 {
            return Err(format!("checkpoint list: {} {}", list.code, list.stdout));
        }
        let checkpoints = parse(&list.stdout)?["checkpoints"].clone();
        let probe = run(project, &["var", "set", "probe.after", "1", "--json"]);
        if probe.code != 0 {
            return Err(format!("a further change: {} {}", probe.code, probe.stdout));
        }
        let revision = parse(&probe.stdout)?["revision"].to_string();
        let operations = open(project).operations(None);
        let operations = operations.map_err(|error| format!("op log: {error}"))?.len();
        let broken = checked(project)?.to_string();
        if broken.contains("history_broken") {
            return Err(format!("history verify: {broken}"));
        }
        let files = project.files().into_iter();
        let files = files.map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes).into()));
        let later = Later { revision, operations, files: files.collect() };
        Ok(Self { seen, findings, checkpoints, later })
    }
}

/// The state as the commands see it, at the same moment.
fn open(project: &Project) -> Workspace {
    let env = Environment::fixed(NOW.parse().unwrap(), "tester", 77);
    Workspace::new(project.dir(), env, Options::new(GitControl))
}

fn checked(project: &Project) -> Result<Value, String> {
    let found = open(project).check(false, &mut |_| {});
    let found = found.map_err(|error| format!("check: {error}"))?;
    Ok(serde_json::to_value(found.findings).unwrap())
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{error} in {text:?}"))
}
