//! Backlog.md: one file per task, with front matter.

use std::path::Path;

use serde_json::Value;

use super::{ForeignPlan, ForeignStep, read_text, role_of, text_at, text_of};
use crate::text::yaml;

pub(super) fn read(path: &Path) -> Result<ForeignPlan, String> {
    let folders = ["backlog/tasks", "tasks", ""];
    let folder = folders.iter().map(|name| path.join(name)).find(|dir| {
        let is_task = |name: &str| name.starts_with("task") && name.ends_with(".md");
        names(dir).iter().any(|name| is_task(&name.to_ascii_lowercase()))
    });
    let folder =
        folder.ok_or_else(|| format!("there is no `backlog/tasks` in `{}`", path.display()))?;
    let mut plan = ForeignPlan::default();
    for name in names(&folder).into_iter().filter(|name| name.ends_with(".md")) {
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
    Ok(plan)
}

fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs_err::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
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
