//! The last action of a running step, as far as anything recorded it.

use crate::{
    brief::Turn,
    domain::Step,
    history::{Entry, EntryKind},
    store::OperationSummary,
};

/// The most characters of the text.
const MOST: usize = 500;

/// The step's own `last_action`, or else the newest note or turn in the history or note in the context
/// since the step began.
pub(super) fn last_action(
    step: &Step,
    entries: &[Entry],
    operations: &[OperationSummary],
) -> Option<String> {
    let own = step.details().other.iter().find(|(key, _)| {
        matches!(key.to_ascii_lowercase().as_str(), "last_action" | "last action" | "progress")
    });
    if let Some((_, text)) = own.filter(|(_, text)| !text.trim().is_empty()) {
        return Some(short(text));
    }
    let began = step.started_at()?;
    // Times have one format, so they can be compared as text.
    let since = |time: &str| time >= began;
    let entry = entries.iter().rev().find_map(|entry| {
        let time = entry.time.as_deref().filter(|time| since(time))?;
        Some((time, of_entry(entry)?))
    });
    let operation = operations.iter().find_map(|operation| {
        let noted = operation.kind == "context.add" && since(&operation.time);
        noted.then(|| (operation.time.as_str(), noted_text(&operation.command)))
    });
    let newest = match (entry, operation) {
        (Some(entry), Some(operation)) => {
            if operation.0 > entry.0 {
                operation
            } else {
                entry
            }
        }
        (entry, operation) => entry.or(operation)?,
    };
    Some(short(&newest.1))
}

/// The text of an entry by an agent or a person; entries of statedir itself do not count.
fn of_entry(entry: &Entry) -> Option<String> {
    let said = match entry.kind {
        EntryKind::Turn => {
            let turn = Turn::read(entry);
            turn.outcome.filter(|text| !text.trim().is_empty()).unwrap_or(turn.response)
        }
        EntryKind::Note => {
            const OWN: [&str; 5] = ["Paused", "Resumed", "Undo", "Redo", "Checkpoint"];
            let own = OWN.contains(&entry.title.as_str()) || entry.title.ends_with(" Reset");
            if own {
                return None;
            }
            let notes = entry.field("notes").or_else(|| entry.field("last_action"));
            [Some(entry.title.as_str()), notes].into_iter().flatten().collect::<Vec<_>>().join(": ")
        }
        _ => return None,
    };
    Some(said).filter(|said| !said.trim().is_empty())
}

/// The text of a logged `context add`.
fn noted_text(command: &str) -> String {
    let text = command.split_once("context add").map_or(command, |(_, text)| text);
    text.replace(['"', '\\'], " ").trim().to_owned()
}

fn short(text: &str) -> String {
    text.trim().chars().take(MOST).collect()
}
