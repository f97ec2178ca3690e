//! References such as `{{steps.3.rows}}` mean the same step after a merge that renumbers: they name
//! it by its id while the versions are compared, and by its new number afterwards.

use std::collections::HashMap;

use crate::domain::outline::{Outline, ThingId, ThingKind};
use crate::domain::replace_references;

const STEPS: &str = "steps.";
/// A step by its id. No path may hold this, so that nobody can have written it.
const BY_ID: &str = "steps.#";

/// Names steps by their ids in the fields of all versions.
pub(super) fn by_id(outlines: &mut [Outline<'_>; 3]) {
    for outline in outlines {
        let steps =
            outline.all_steps().filter_map(|(_, step)| Some((step.number, step.id.clone()?)));
        let ids: HashMap<u32, String> = steps.collect();
        let changed = |id: ThingId| {
            let thing = outline.get(id);
            let text = (thing.kind == ThingKind::Item).then(|| with_ids(&thing.value, &ids))??;
            Some((id, text))
        };
        let changed: Vec<(ThingId, String)> = outline.ids().filter_map(changed).collect();
        for (id, text) in changed {
            outline.set_value(id, text);
        }
    }
}

/// The ids in the references of a text that [`by_id`] has changed.
pub(super) fn ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(BY_ID).skip(1).map(|part| part.split_at(end_of_id(part)).0)
}

fn end_of_id(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len())
}

/// The text with ids, if a reference in it names a step by its number.
fn with_ids(text: &str, ids: &HashMap<u32, String>) -> Option<String> {
    replace_references(text, |path| {
        let rest = path.strip_prefix(STEPS)?;
        let digits = rest.split('.').next().unwrap_or_default();
        let id = ids.get(&digits.parse().ok()?)?;
        Some(format!("{BY_ID}{id}{}", &rest[digits.len()..]))
    })
}

/// The merged text with the numbers that the steps have now. What a step has given that is gone
/// stays in variables.json, so that its full path is used.
pub(super) fn by_number(text: &str, steps: &[(String, u32)]) -> String {
    let mut parts = text.split(BY_ID);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (id, rest) = part.split_at(end_of_id(part));
        match steps.iter().find(|(known, _)| known == id) {
            Some((_, number)) => out.push_str(&format!("{STEPS}{number}")),
            None => out.push_str(&format!("step_data.outputs.{id}")),
        }
        out.push_str(rest);
    }
    out
}
