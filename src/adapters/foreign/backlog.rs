//! Backlog.md: one file per task, with front matter.

use std::path::Path;

use serde_json::Value;

use super::{ForeignPlan, ForeignStep, read_text, role_of, text_at, text_of};
use crate::text::{display::counted, yaml};

pub(super) fn read(path: &Path) -> Result<ForeignPlan, String> {
    // Tasks may be sorted into folders; a whole project is not searched.
    let folders = [("backlog/tasks", DEPTH), ("tasks", DEPTH), ("", 0)];
    let mut found = folders.map(|(name, depth)| (path.join(name), depth)).into_iter();
    let found = found.find_map(|(dir, depth)| {
        let names = names(&dir, depth);
        names.iter().any(|name| is_task(name)).then_some((dir, names))
    });
    let (folder, files) =
        found.ok_or_else(|| format!("there is no `backlog/tasks` in `{}`", path.display()))?;
    let mut plan = ForeignPlan::default();
    let project = folder.parent().unwrap_or(&folder);
    plan.title = project_name(project).unwrap_or_default();
    for name in files.into_iter().filter(|name| name.ends_with(".md")) {
        let text = read_text(&folder.join(&name))?;
        match task(&text, &mut plan.left_out) {
            Ok(step) => plan.steps.push(step),
            Err(why) => plan.left_out.push(format!("{name}: {why}")),
        }
    }
    plan.steps.sort_by_key(|step| {
        let digits =
            |part: &str| part.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok();
        step.id.split(['-', '.']).filter_map(digits).collect::<Vec<_>>()
    });
    // What is over is in folders of its own.
    for (folder, depth) in [("completed", DEPTH), ("archive/tasks", DEPTH), ("drafts", 0)] {
        let count = names(&project.join(folder), depth).iter().filter(|name| is_task(name)).count();
        if count > 0 {
            plan.left_out.push(format!("{} in `{folder}`", counted(count, "task", "tasks")));
        }
    }
    Ok(plan)
}

/// Whether a file is called as a task is: `task-12 - Title.md`, `back-12.1 - Title.md`.
fn is_task(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    if !name.ends_with(".md") || name.to_ascii_lowercase().starts_with("task") {
        return name.ends_with(".md");
    }
    let Some((prefix, rest)) = name.split_once('-') else { return false };
    let is_prefix = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_prefix && rest.starts_with(|c: char| c.is_ascii_digit())
}

/// What the project is called in its settings.
fn project_name(dir: &Path) -> Option<String> {
    let text = read_text(&dir.join("config.yml")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("project_name:"))?;
    let name = line.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The most folders below each other.
const DEPTH: usize = 4;

/// The files below a folder, without following links.
fn names(dir: &Path, depth: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut open = vec![(String::new(), depth)];
    while let Some((below, depth)) = open.pop() {
        let Ok(entries) = fs_err::read_dir(dir.join(&below)) else { continue };
        for entry in entries.flatten() {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            let path = if below.is_empty() { name } else { format!("{below}/{name}") };
            match kind {
                kind if kind.is_file() => names.push(path),
                kind if kind.is_dir() && depth > 0 => open.push((path, depth - 1)),
                _ => {}
            }
        }
    }
    names.sort_unstable();
    names
}

fn task(text: &str, left_out: &mut Vec<String>) -> Result<ForeignStep, String> {
    let normal = text.replace("\r\n", "\n");
    let rest = normal.strip_prefix("---\n").ok_or("no front matter")?;
    let (front, body) = rest.split_once("\n---").ok_or("its front matter does not end")?;
    if yaml::too_deep(front).is_some() {
        return Err("its front matter is nested too deep".to_owned());
    }
    let front: Value = serde_yaml::from_str(front).map_err(|error| error.to_string())?;
    let id = text_at(&front, "id").ok_or("no id")?;
    let status = text_at(&front, "status").unwrap_or_default();
    let role = role_of(&status);
    if role.is_none() && !status.is_empty() {
        left_out.push(format!("{id}: the status `{status}`, treated as open"));
    }
    let mut step = ForeignStep {
        title: text_at(&front, "title").unwrap_or_else(|| id.clone()),
        id,
        role,
        ..ForeignStep::default()
    };
    let waits = front.get("dependencies").and_then(Value::as_array);
    step.depends_on = waits.into_iter().flatten().filter_map(text_of).collect();
    for key in ["priority", "milestone", "parent_task_id"] {
        step.fields.extend(text_at(&front, key).map(|text| (key.to_owned(), text)));
    }
    let mut prose = Vec::new();
    for line in body.trim_start_matches(['-', '\n']).lines() {
        let bare = line.trim_start();
        let boxed = ["- [ ] ", "- [x] ", "- [X] "].iter().find_map(|mark| bare.strip_prefix(mark));
        match boxed.filter(|text| text.starts_with('#')) {
            Some(criterion) => {
                let text = criterion
                    .trim_start_matches('#')
                    .trim_start_matches(|c: char| c.is_ascii_digit());
                step.outputs.push(text.trim().to_owned());
            }
            None if bare.starts_with("<!--") => {}
            None => prose.push(line),
        }
    }
    step.text.push(prose.join("\n").trim().to_owned());
    Ok(step)
}
