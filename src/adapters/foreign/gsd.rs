//! GSD: phases as boxes in `.planning/ROADMAP.md`, knowledge in `STATE.md`.

use std::path::Path;

use super::{ForeignPlan, ForeignStep, read_text};
use crate::{
    domain::checklist::{Checklist, Grammar, TaskCounts},
    text::markdown::Document,
};

pub(super) fn read(path: &Path) -> Result<ForeignPlan, String> {
    let places = [".planning/ROADMAP.md", "ROADMAP.md"];
    let roadmap = super::file(path, &places)?;
    let document = Document::parse(read_text(&roadmap)?).map_err(|error| error.to_string())?;
    let found = Checklist::read(&document, &Grammar::default());
    let mut plan = ForeignPlan::default();
    let title = document.title_section().map(|id| document.section(id));
    let title = title.map(|section| section.title.trim()).unwrap_or_default();
    plan.title = title.strip_prefix("Roadmap:").unwrap_or(title).trim().to_owned();
    let mut seen: Vec<String> = Vec::new();
    for (at, task) in found.tasks.iter().enumerate() {
        let id = task.id.clone().unwrap_or_else(|| format!("item-{}", at + 1));
        if seen.contains(&id) {
            plan.left_out
                .push(format!("line {}: {id} again", document.place(task.span.start).line));
            continue;
        }
        seen.push(id.clone());
        let mut step = ForeignStep {
            id,
            title: task.title.clone(),
            role: Some(task.role),
            ..ForeignStep::default()
        };
        step.text.extend(task.details.clone());
        if !task.group.is_empty() {
            step.fields.push(("group".to_owned(), task.group.join(" › ")));
        }
        plan.steps.push(step);
    }
    let prose = TaskCounts::read(&document, &Grammar::default()).prose;
    if prose > 0 {
        plan.left_out.push(format!("{prose} lines of ROADMAP.md that are not tasks"));
    }
    if let Some(state) =
        roadmap.parent().map(|dir| dir.join("STATE.md")).filter(|file| file.is_file())
    {
        plan.context.push(("State".to_owned(), read_text(&state)?.trim().to_owned()));
    }
    if let Some(project) =
        roadmap.parent().map(|dir| dir.join("PROJECT.md")).filter(|file| file.is_file())
    {
        plan.context.push(("Project".to_owned(), read_text(&project)?.trim().to_owned()));
    }
    Ok(plan)
}
