//! Beads: `issues.jsonl`, one issue a line.

use std::path::Path;

use serde_json::Value;

use super::{ForeignPlan, ForeignStep, read_text, role_of, text_at};
use crate::text::display::counted;

pub(super) fn read(path: &Path) -> Result<ForeignPlan, String> {
    let mut plan = ForeignPlan::default();
    let mut dropped = 0;
    for (at, line) in read_text(path)?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let issue: Value = match serde_json::from_str(line) {
            Ok(issue) => issue,
            Err(error) => {
                plan.left_out.push(format!("line {}: {error}", at + 1));
                continue;
            }
        };
        let (Some(id), Some(title)) = (text_at(&issue, "id"), text_at(&issue, "title")) else {
            plan.left_out.push(format!("line {}: no id or no title", at + 1));
            continue;
        };
        let status = text_at(&issue, "status").unwrap_or_default();
        if status == "tombstone" {
            dropped += 1;
            continue;
        }
        let role = role_of(&status);
        if role.is_none() && !status.is_empty() {
            plan.left_out.push(format!("{id}: the status `{status}`, treated as open"));
        }
        let mut step = ForeignStep { id: id.clone(), title, role, ..ForeignStep::default() };
        for key in ["description", "design", "notes"] {
            step.text.extend(text_at(&issue, key));
        }
        step.outputs.extend(text_at(&issue, "acceptance_criteria"));
        for key in ["priority", "issue_type", "assignee"] {
            step.fields.extend(text_at(&issue, key).map(|text| (key.to_owned(), text)));
        }
        for link in issue.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
            let Some(other) = text_at(link, "depends_on_id") else { continue };
            match text_at(link, "type").as_deref() {
                Some("blocks") | None => step.depends_on.push(other),
                Some("parent-child") => step.fields.push(("group".to_owned(), other)),
                Some(kind) => step.fields.push((kind.replace('-', "_"), other)),
            }
        }
        plan.steps.push(step);
    }
    if dropped > 0 {
        let tombstones = counted(dropped, "tombstone", "tombstones");
        plan.left_out.push(tombstones);
    }
    Ok(plan)
}
