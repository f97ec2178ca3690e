//! Plans that other programs write themselves: they are copied into a state, one way.

mod backlog;
mod beads;
mod gsd;
mod ralph;
mod task_master;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    domain::{PlanRole, StepId, StepRole, Workflow},
    text::{
        display::{counted, one_line},
        shell,
    },
};

/// The largest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// Whose files these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Source {
    /// `.taskmaster/tasks/tasks.json`
    TaskMaster,
    /// `.beads/issues.jsonl`
    Beads,
    /// `backlog/tasks/*.md`
    Backlog,
    /// `prd.json`
    Ralph,
    /// `.planning/ROADMAP.md` and `STATE.md`
    Gsd,
}

impl Source {
    /// What `--from` calls it.
    fn name(self) -> &'static str {
        match self {
            Self::TaskMaster => "task-master",
            Self::Beads => "beads",
            Self::Backlog => "backlog",
            Self::Ralph => "ralph",
            Self::Gsd => "gsd",
        }
    }
}

/// Where each program keeps its plan, below a project.
pub(crate) const PLACES: [(Source, &str); 9] = [
    (Source::TaskMaster, ".taskmaster/tasks/tasks.json"),
    (Source::TaskMaster, "tasks/tasks.json"),
    (Source::Beads, ".beads/issues.jsonl"),
    (Source::Beads, ".beads/beads.jsonl"),
    (Source::Backlog, "backlog/tasks"),
    (Source::Gsd, ".planning/ROADMAP.md"),
    (Source::Ralph, "prd.json"),
    (Source::Ralph, "scripts/ralph/prd.json"),
    (Source::Ralph, ".ralph/prd.json"),
];

/// The plan of another program in a project.
pub(crate) struct FoundForeign {
    /// What `--from` calls the program.
    pub name: &'static str,
    /// Where its plan is.
    pub path: &'static str,
    /// How many tasks it has.
    pub tasks: usize,
}

/// Whose plan is in a project, and where: one that has tasks.
pub(crate) fn found_in(dir: &Path) -> Option<FoundForeign> {
    let is_there =
        |path: &str| dir.join(path).symlink_metadata().is_ok_and(|data| !data.is_symlink());
    PLACES.into_iter().filter(|(_, path)| is_there(path)).find_map(|(source, path)| {
        let tasks = convert(source, dir).ok()?.document["steps"].as_array()?.len();
        Some(FoundForeign { name: source.name(), path, tasks })
    })
}

/// The command that copies the plan of another program, where there is one.
pub(crate) fn way_to_import(dir: &Path) -> Option<String> {
    let FoundForeign { name, path, tasks } = found_in(dir)?;
    let command = shell::command_line(["import", "--from", name, "."]);
    let tasks = counted(tasks, "task", "tasks");
    Some(format!("there is a plan of {name} here ({path}, {tasks}): `{command}` copies it"))
}

/// One step of somebody else's plan.
#[derive(Clone, Debug, Default)]
struct ForeignStep {
    /// The id as it is written there.
    id: String,
    title: String,
    role: Option<StepRole>,
    /// Ids as they are written there.
    depends_on: Vec<String>,
    /// What is said about it.
    text: Vec<String>,
    /// Results that are asked for.
    outputs: Vec<String>,
    /// Further fields.
    fields: Vec<(String, String)>,
}

/// Somebody else's plan.
#[derive(Clone, Debug, Default)]
struct ForeignPlan {
    title: String,
    goal: String,
    steps: Vec<ForeignStep>,
    /// Sections of knowledge: heading and text.
    context: Vec<(String, String)>,
    /// What was not taken, and why.
    left_out: Vec<String>,
}

/// A state document made of somebody else's plan.
pub(crate) struct Converted {
    /// The document that `import` takes.
    pub document: Value,
    /// What was not taken, and why.
    pub left_out: Vec<String>,
}

/// Reads somebody else's plan.
pub(crate) fn convert(source: Source, path: &Path) -> Result<Converted, String> {
    let mut plan = match source {
        Source::TaskMaster => task_master::read(&file(
            path,
            &[".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json"],
        )?)?,
        Source::Beads => beads::read(&file(
            path,
            &[".beads/issues.jsonl", ".beads/beads.jsonl", "issues.jsonl"],
        )?)?,
        Source::Backlog => backlog::read(path)?,
        Source::Ralph => {
            ralph::read(&file(path, &["prd.json", "scripts/ralph/prd.json", ".ralph/prd.json"])?)?
        }
        Source::Gsd => gsd::read(path)?,
    };
    if plan.steps.is_empty() {
        let left_out = plan.left_out.iter().map(|what| format!("; not taken: {what}"));
        let left_out: String = left_out.take(3).collect();
        return Err(format!("there is no task in the plan in `{}`{left_out}", path.display()));
    }
    if plan.title.trim().is_empty() {
        let name = std::path::absolute(path).ok();
        let name = name
            .as_deref()
            .and_then(Path::file_stem)
            .map(|name| name.to_string_lossy().into_owned());
        plan.title = name.unwrap_or_else(|| "Imported plan".to_owned());
    }
    if plan.goal.trim().is_empty() {
        plan.goal = plan.title.clone();
    }
    Ok(plan.into_document())
}

/// The file that is meant by a path: itself, or the first of the usual ones below it.
fn file(path: &Path, usual: &[&str]) -> Result<PathBuf, String> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    let found = usual.iter().map(|name| path.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| format!("there is neither of {} in `{}`", usual.join(", "), path.display()))
}

fn read_text(path: &Path) -> Result<String, String> {
    let data = fs_err::metadata(path).map_err(|error| error.to_string())?;
    if data.len() > MAX_BYTES {
        return Err(format!("`{}` has more than {MAX_BYTES} bytes", path.display()));
    }
    let text = fs_err::read_to_string(path).map_err(|error| error.to_string())?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

fn read_json(path: &Path) -> Result<Value, String> {
    serde_json::from_str(&read_text(path)?)
        .map_err(|error| format!("`{}` is not JSON: {error}", path.display()))
}

/// A text or a number as text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn text_at(value: &Value, key: &str) -> Option<String> {
    text_of(value.get(key)?)
}

impl ForeignPlan {
    fn into_document(mut self) -> Converted {
        let workflow = Workflow::builtin();
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for step in &self.steps {
            let id = step_id(&step.id, &taken);
            taken.insert(id.clone());
            known.entry(step.id.clone()).or_insert(id);
        }
        let mut steps = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            let mut depends_on = Vec::new();
            for wanted in &step.depends_on {
                match known.get(wanted) {
                    Some(id) if *wanted != step.id => depends_on.push(id.clone()),
                    Some(_) => {}
                    None => self
                        .left_out
                        .push(format!("{}: waits for `{wanted}`, which does not exist", step.id)),
                }
            }
            let role = step.role.unwrap_or(StepRole::Open);
            // What was being worked on there is not being worked on here.
            let role = if role == StepRole::Active { StepRole::Open } else { role };
            let pair = |(name, text): (&str, &str)| json!({ "name": name, "text": text });
            let fields = step.fields.iter().map(|(key, text)| (key.as_str(), text.as_str()));
            let other: Vec<Value> =
                fields.filter(|(_, text)| !text.trim().is_empty()).map(pair).collect();
            let outputs = step.outputs.iter().enumerate();
            let outputs: Vec<Value> = outputs
                .map(|(at, text)| json!({ "name": format!("criterion_{}", at + 1), "text": text }))
                .collect();
            let text: Vec<&str> =
                step.text.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
            steps.push(json!({
                "number": at + 1, "id": known.get(&step.id), "title": one_line(&step.title),
                "status": workflow.step_with_role(role), "depends_on": depends_on,
                "description": quoted(&text.join("\n\n")), "expected_outputs": outputs, "other": other,
            }));
        }
        let over =
            |step: &ForeignStep| matches!(step.role, Some(StepRole::Done | StepRole::Skipped));
        let plan_role = match (self.steps.iter().all(over), self.steps.iter().any(over)) {
            (true, _) => PlanRole::Succeeded,
            (false, true) => PlanRole::Active,
            (false, false) => PlanRole::Planning,
        };
        let context: Vec<Value> = self
            .context
            .iter()
            .map(|(title, text)| json!({ "title": title, "level": 2, "path": [], "text": quoted(text) }))
            .collect();
        let mut document = json!({
            "identity": { "title": one_line(&self.title), "goal": self.goal.trim() },
            "status": workflow.plan_with_role(plan_role), "steps": steps,
        });
        if !context.is_empty() {
            document["context"] = Value::from(context);
        }
        Converted { document, left_out: self.left_out }
    }
}

/// Text whose headings and fields are no structure of ours.
fn quoted(text: &str) -> String {
    let line = |line: &str| format!("> {line}").trim_end().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The id in the letters that the id of a step has.
fn step_id(written: &str, taken: &BTreeSet<String>) -> String {
    let plain =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' };
    let plain: String = written.chars().map(plain).take(36).collect();
    let plain = plain.trim_matches(['-', '.', '_']);
    let named = match StepId::parse(plain) {
        Some(_) => plain.to_owned(),
        None => format!("task-{plain}"),
    };
    let all =
        (1u32..).map(|count| if count == 1 { named.clone() } else { format!("{named}-{count}") });
    all.into_iter().find(|id| !taken.contains(id)).unwrap_or(named)
}

/// What a status of another program means.
fn role_of(status: &str) -> Option<StepRole> {
    let plain: String = status
        .trim()
        .chars()
        .map(|c| if matches!(c, ' ' | '_') { '-' } else { c.to_ascii_lowercase() })
        .collect();
    Some(match plain.as_str() {
        "done" | "closed" | "complete" | "completed" | "finished" => StepRole::Done,
        "pending" | "open" | "to-do" | "todo" | "backlog" | "ready" | "blocked" | "review"
        | "in-review" | "draft" | "ready-for-dev" | "not-started" => StepRole::Open,
        "in-progress" | "active" | "started" | "doing" => StepRole::Active,
        "deferred" | "cancelled" | "canceled" | "tombstone" | "wontfix" | "skipped" => {
            StepRole::Skipped
        }
        "failed" => StepRole::Failed,
        _ => return None,
    })
}
