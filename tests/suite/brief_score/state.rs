//! States of real shape, built through the library from the files in `tests/brief-states`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use jiff::{Span, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statedir::{
    Brief, BriefRequest, Budget, Change, Environment, InitOptions, NoVersionControl, Options,
    StateFile, Workspace,
    internals::{Workflow, merge},
};

/// Who reads the brief.
const READER: &str = "reader";

/// A state, and what a person must know to continue it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The name of its file.
    #[serde(skip)]
    pub name: String,
    /// What is special about it.
    pub about: String,
    /// The arguments of `init`; without them the five files are given.
    #[serde(default)]
    goal: Option<String>,
    /// Files as they are at the beginning.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Steps, as titles or in full.
    #[serde(default)]
    pub steps: Vec<Value>,
    /// What happens then.
    #[serde(default)]
    life: Vec<Value>,
    /// What happens on one branch.
    #[serde(default)]
    ours: Vec<Value>,
    /// What happens on another one, before both are merged.
    #[serde(default)]
    theirs: Vec<Value>,
    /// What has to be in the brief: for each fact, the texts that one line must contain.
    pub facts: Vec<Fact>,
}

/// One text, or several that belong together.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Fact {
    One(String),
    All(Vec<Value>),
}

/// All states, in the order of their names.
pub fn all() -> Vec<State> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/brief-states");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let mut state: State =
            serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        state.name = path.file_stem().unwrap().to_string_lossy().into_owned();
        state
    };
    paths.into_iter().map(read).collect()
}

impl State {
    /// Builds it and reads its brief at each of the budgets.
    pub fn briefs<const N: usize>(&self, budgets: [usize; N]) -> [Brief; N] {
        let root = tempfile::tempdir().unwrap();
        let last = self.build(root.path());
        budgets.map(|max_tokens| {
            let budget = Budget { max_tokens, max_bytes: None };
            last.brief(&BriefRequest { budget, ..BriefRequest::default() }).unwrap().brief
        })
    }

    fn build(&self, root: &Path) -> Workspace {
        let dir = root.join("state");
        let mut life = Life { dir: dir.clone(), actor: READER.to_owned(), now: start(), seed: 7 };
        fs::create_dir_all(&dir).unwrap();
        for (name, text) in &self.files {
            fs::write(dir.join(name), text).unwrap();
        }
        if let Some(goal) = &self.goal {
            let options = InitOptions { goal: Some(goal.clone()), ..InitOptions::default() };
            life.workspace().init(&options).unwrap();
        }
        for step in &self.steps {
            let mut step = match step {
                Value::String(title) => json!({ "title": title }),
                other => other.clone(),
            };
            step["op"] = json!("step.add");
            life.apply(step);
        }
        life.live(&self.life);
        if !self.ours.is_empty() {
            life = life.merged(root, &self.ours, &self.theirs);
        }
        life.workspace()
    }
}

fn start() -> Timestamp {
    "2026-01-15T09:00:00Z".parse().unwrap()
}

/// What happens to a state, one minute after another.
struct Life {
    dir: PathBuf,
    actor: String,
    now: Timestamp,
    seed: u64,
}

impl Life {
    fn workspace(&mut self) -> Workspace {
        self.now += Span::new().minutes(1);
        self.seed += 1;
        let environment = Environment::fixed(self.now, self.actor.clone(), self.seed);
        Workspace::new(&self.dir, environment, Options::new(NoVersionControl))
    }

    fn apply(&mut self, change: Value) {
        let read: Change = serde_json::from_value(change.clone())
            .unwrap_or_else(|error| panic!("{change}: {error}"));
        self.workspace().apply(&[read]).unwrap_or_else(|error| panic!("{change}: {error}"));
    }

    fn live(&mut self, events: &[Value]) {
        for event in events {
            let event = event.as_object().expect("a map");
            if event.contains_key("op") {
                self.apply(Value::Object(event.clone()));
            } else if let Some(steps) = event.get("finish") {
                range(steps).for_each(|step| self.end(step, "step.done", event));
            } else if let Some(step) = event.get("fail") {
                range(step).for_each(|step| self.end(step, "step.fail", event));
            } else if let Some(of) = event.get("of") {
                for n in 1..=event["repeat"].as_u64().unwrap() {
                    self.apply(numbered(of, n));
                }
            } else if let Some(fill) = event.get("fill") {
                let list = filled(fill);
                self.apply(json!({ "op": "var.set", "path": fill["path"], "value": list }));
            } else if let Some(fill) = event.get("fill_output") {
                let mut event = fill.as_object().unwrap().clone();
                event["output"][fill["name"].as_str().unwrap()] = filled(fill);
                event.retain(|key, _| matches!(key.as_str(), "finish" | "output"));
                range(&fill["finish"]).for_each(|step| self.end(step, "step.done", &event));
            } else if let Some(text) = event.get("under_step") {
                self.write_under(&text["step"], text["text"].as_str().unwrap());
            } else {
                if let Some(actor) = event.get("who") {
                    self.actor = actor.as_str().unwrap().to_owned();
                }
                if let Some(time) = event.get("at") {
                    self.now = time.as_str().unwrap().parse().unwrap();
                }
            }
        }
    }

    /// Starts a step, again if it has failed, and brings it to an end.
    fn end(&mut self, step: u64, op: &str, event: &Map<String, Value>) {
        let start = serde_json::from_value(json!({ "op": "step.start", "step": step })).unwrap();
        if self.workspace().apply(&[start]).is_err() {
            self.apply(json!({ "op": "step.retry", "step": step }));
        }
        let mut change = event.clone();
        change.retain(|key, _| !matches!(key.as_str(), "finish" | "fail"));
        change.insert("op".to_owned(), json!(op));
        change.insert("step".to_owned(), json!(step));
        self.apply(Value::Object(change));
    }

    /// A person with an editor.
    fn write_under(&self, step: &Value, text: &str) {
        let path = self.dir.join("plan.md");
        let plan = fs::read_to_string(&path).unwrap();
        let from = plan.find(&format!("### Step {step}:")).expect("the step");
        let end = plan[from + 4..].find("\n#").map_or(plan.len(), |at| from + 4 + at);
        let (before, after) = plan.split_at(end);
        fs::write(path, format!("{}\n\n{text}\n{after}", before.trim_end())).unwrap();
    }

    /// Continues in two copies and merges them.
    fn merged(mut self, root: &Path, ours: &[Value], theirs: &[Value]) -> Self {
        let files =
            |dir: &Path| StateFile::FIVE.map(|file| fs::read(dir.join(file.name())).unwrap());
        let base = files(&self.dir);
        let there = root.join("theirs");
        fs::create_dir(&there).unwrap();
        for (file, bytes) in StateFile::FIVE.iter().zip(&base) {
            fs::write(there.join(file.name()), bytes).unwrap();
        }
        let mut other = Self { dir: there, actor: self.actor.clone(), now: self.now, seed: 1000 };
        self.live(ours);
        other.live(theirs);
        let (ours, theirs) = (files(&self.dir), files(&other.dir));
        for (at, file) in StateFile::FIVE.into_iter().enumerate() {
            let sides = (Some(&*base[at]), Some(&*ours[at]), Some(&*theirs[at]));
            let merged = merge(file, sides.0, sides.1, sides.2, Workflow::builtin()).unwrap();
            fs::write(self.dir.join(file.name()), merged.unwrap().bytes).unwrap();
        }
        self.actor = READER.to_owned();
        self
    }
}

/// `7`, or `1-11`.
fn range(steps: &Value) -> std::ops::RangeInclusive<u64> {
    let text = steps.as_str().map_or_else(|| steps.to_string(), str::to_owned);
    let (from, to) = text.split_once('-').unwrap_or((&text, &text));
    from.parse().unwrap()..=to.parse().unwrap()
}

fn numbered(value: &Value, n: u64) -> Value {
    serde_json::from_str(&value.to_string().replace("{n}", &n.to_string())).unwrap()
}

fn filled(fill: &Value) -> Value {
    (1..=fill["count"].as_u64().unwrap()).map(|n| numbered(&fill["value"], n)).collect()
}
