//! Ralph: `prd.json` with stories that pass or do not.

use std::path::Path;

use serde_json::Value;

use super::{ForeignPlan, ForeignStep, read_json, read_text, role_of, text_at, text_of};
use crate::domain::StepRole;

pub(super) fn read(path: &Path) -> Result<ForeignPlan, String> {
    let document = read_json(path)?;
    let mut plan = ForeignPlan::default();
    for key in ["project", "projectName", "title", "name"] {
        if plan.title.is_empty() {
            plan.title = text_at(&document, key).unwrap_or_default();
        }
    }
    plan.goal = text_at(&document, "description")
        .or_else(|| text_at(&document, "goal"))
        .unwrap_or_default();
    let lists = ["userStories", "stories", "features", "tasks", "items"];
    let stories = lists.iter().find_map(|key| document.get(key)).or(Some(&document));
    let stories = stories.and_then(Value::as_array).ok_or_else(|| {
        format!("`{}` has no list of stories (`{}`)", path.display(), lists.join("`, `"))
    })?;
    for (at, story) in stories.iter().enumerate() {
        let id = text_at(story, "id").unwrap_or_else(|| format!("S{:02}", at + 1));
        let passes = story.get("passes").and_then(Value::as_bool);
        let status = text_at(story, "status");
        let role = match passes {
            Some(true) => Some(StepRole::Done),
            Some(false) => Some(StepRole::Open),
            None => status.as_deref().and_then(role_of),
        };
        if let (None, Some(status)) = (role, &status) {
            plan.left_out.push(format!("{id}: the status `{status}`, treated as open"));
        }
        let titles = ["title", "name", "description", "story"];
        let title = titles.iter().find_map(|key| text_at(story, key)).unwrap_or_else(|| id.clone());
        let mut step = ForeignStep { id, title, role, ..ForeignStep::default() };
        for key in ["description", "notes"] {
            step.text.extend(text_at(story, key).filter(|text| *text != step.title));
        }
        let listed = |keys: &[&str]| -> Vec<String> {
            let list = keys.iter().find_map(|key| story.get(key)).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(text_of).collect()
        };
        step.outputs = listed(&["acceptanceCriteria", "acceptance_criteria", "steps", "criteria"]);
        step.depends_on = listed(&["dependencies", "dependsOn", "depends_on"]);
        for key in ["priority", "branchName", "category"] {
            step.fields.extend(text_at(story, key).map(|text| (key.to_owned(), text)));
        }
        plan.steps.push(step);
    }
    if let Some(progress) =
        path.parent().map(|dir| dir.join("progress.txt")).filter(|file| file.is_file())
    {
        plan.context.push(("Progress".to_owned(), read_text(&progress)?.trim().to_owned()));
    }
    Ok(plan)
}
