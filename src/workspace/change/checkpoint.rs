//! Creates checkpoints as part of a change.

use serde_json::{Value, json};

use crate::{
    domain::ErrorCode,
    store::{CheckpointChange, CheckpointName, Moment, NewCheckpoint},
    workspace::{Answer, CachedFacts, Draft, Error},
};

/// The most bytes of a message.
const LONGEST_MESSAGE: usize = 10_000;

/// The beginning of the names of automatic checkpoints.
const AUTOMATIC: &str = "auto-";

/// Creates a checkpoint of the resulting state and notes it in the history.
pub(super) fn create(
    draft: &mut Draft<'_>,
    name: Option<&str>,
    message: Option<&str>,
) -> Result<Answer, Error> {
    let message = message.map(str::trim).filter(|text| !text.is_empty());
    if message.is_some_and(|text| text.len() > LONGEST_MESSAGE || text.contains('\0')) {
        let why = format!("a message has at most {LONGEST_MESSAGE} bytes and no NUL");
        return Err(Error::refused(ErrorCode::BadValue, why));
    }
    let name = match name {
        Some(name) => {
            check_name(name)?;
            if is_taken(draft, name)? {
                let message = format!("checkpoint `{name}` already exists");
                let hint = match draft.view().checkpoint(name) {
                    Ok(_) => format!(
                        "choose another name; `statedir checkpoint show {name}` shows the \
                         existing one"
                    ),
                    Err(_) => format!(
                        "it is damaged: `statedir checkpoint delete {name}` sets it aside; or \
                         choose another name"
                    ),
                };
                return Err(Error::refused_with(ErrorCode::Exists, message, hint));
            }
            name.to_owned()
        }
        None => free_name(draft, "cp-")?,
    };
    take(draft, name, message, None, Moment::After)
}

/// Creates an automatic checkpoint; `wish` is the name that a rule gives.
pub(in super::super) fn create_automatic(
    draft: &mut Draft<'_>,
    wish: Option<&str>,
    reason: &str,
) -> Result<Answer, Error> {
    let wish = wish.map(plain).filter(|name| check_name(name).is_ok());
    let name = match wish {
        Some(name) if !is_taken(draft, &name)? => name,
        Some(name) => free_name(draft, &format!("{name}-"))?,
        None => free_name(draft, AUTOMATIC)?,
    };
    take(draft, name, None, Some(reason), Moment::After)
}

/// Creates an automatic checkpoint of the state before the change and returns its name.
pub(in super::super) fn keep_state_before(
    draft: &mut Draft<'_>,
    reason: &str,
) -> Result<String, Error> {
    let name = free_name(draft, AUTOMATIC)?;
    // Not the draft's facts, which include entries that are not written yet.
    let marks = CachedFacts::load(draft.view(), &mut |_| {})?.history.heads;
    draft.checkpoints.push(CheckpointChange::Take(NewCheckpoint {
        name: stored(&name)?,
        automatic: Some(reason.to_owned()),
        message: None,
        moment: Moment::Before,
        marks: marks.iter().map(ToString::to_string).collect(),
    }));
    Ok(name)
}

fn take(
    draft: &mut Draft<'_>,
    name: String,
    message: Option<&str>,
    automatic: Option<&str>,
    moment: Moment,
) -> Result<Answer, Error> {
    let mut fields =
        vec![("kind".to_owned(), "note".to_owned()), ("name".to_owned(), name.clone())];
    fields.extend(automatic.map(|why| ("reason".to_owned(), why.to_owned())));
    fields.extend(message.map(|text| ("notes".to_owned(), text.to_owned())));
    fields.push(("actor".to_owned(), draft.env.actor().to_owned()));
    if draft.has_history() {
        draft.log("Checkpoint", fields)?;
    } else {
        draft.notices.push("`history.md` is missing, so nothing was noted there".to_owned());
    }
    let note = message.map(|text| format!(": {}", text.lines().next().unwrap_or_default()));
    let answer = Answer::new(format!("checkpoint {name}{}", note.unwrap_or_default())).with(
        "checkpoint",
        json!({ "name": name, "automatic": automatic.is_some(), "reason": automatic,
            "message": message, "time": draft.env.now(), "actor": draft.env.actor() }),
    );
    draft.checkpoints.push(CheckpointChange::Take(NewCheckpoint {
        name: stored(&name)?,
        automatic: automatic.map(str::to_owned),
        message: message.map(str::to_owned),
        moment,
        marks: Vec::new(),
    }));
    Ok(answer)
}

/// Refuses names that could be mistaken for an operation or lead out of a directory.
pub(in super::super) fn check_name(name: &str) -> Result<(), Error> {
    let why = if name.len() > CheckpointName::LONGEST {
        "it is longer than 100 bytes"
    } else if let Err(why) = CheckpointName::parse(name) {
        why
    } else if name == "working" || (name.len() == 12 && name.bytes().all(is_hexadecimal)) {
        "it could be mistaken for something else"
    } else if name.starts_with(AUTOMATIC) {
        "`auto-` is reserved for automatic checkpoints"
    } else {
        return Ok(());
    };
    let message = format!("`{name}` cannot be the name of a checkpoint: {why}");
    Err(Error::refused_with(ErrorCode::BadName, message, "such as `before-refactoring`"))
}

/// The name as the type of the store.
fn stored(name: &str) -> Result<CheckpointName, Error> {
    CheckpointName::parse(name).map_err(|why| {
        Error::refused(
            ErrorCode::BadName,
            format!("`{name}` cannot be the name of a checkpoint: {why}"),
        )
    })
}

fn is_hexadecimal(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

/// A text as a name; other characters become hyphens.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").trim_start_matches(['.', '-']).chars().take(40).collect()
}

fn is_taken(draft: &Draft<'_>, name: &str) -> Result<bool, Error> {
    let asked = draft
        .checkpoints
        .iter()
        .any(|change| matches!(change, CheckpointChange::Take(new) if *new.name == *name));
    Ok(asked || draft.view().has_checkpoint(name)?)
}

/// The stem with the next free number.
fn free_name(draft: &Draft<'_>, stem: &str) -> Result<String, Error> {
    let known = draft.view().checkpoint_names()?;
    let mut number = known.iter().filter_map(|name| number_behind(name, stem)).max().unwrap_or(0);
    loop {
        number += 1;
        let name = format!("{stem}{number}");
        if !is_taken(draft, &name)? {
            return Ok(name);
        }
    }
}

fn number_behind(name: &str, stem: &str) -> Option<u64> {
    name.strip_prefix(stem)?.parse().ok().filter(|number| *number < u64::MAX / 2)
}

/// Merges the answer of an automatic checkpoint into that of the change.
pub(in super::super) fn merge(answer: &mut Answer, taken: Answer) {
    answer.message.push_str(&format!("\n{}", taken.message));
    let list = answer.data.entry("checkpoints").or_insert_with(|| json!([]));
    if let (Value::Array(list), Some(checkpoint)) = (list, taken.data.get("checkpoint")) {
        list.push(checkpoint.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_and_are_not_taken_for_operations() {
        for name in ["before-refactoring", "v1.2", "2026-11-16", "nach_Größe", "_x", "deadbeef"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        let long = "x".repeat(101);
        for name in [
            "", ".", "..", ".hidden", "../x", "a/b", "a b", "@", "@-2", "-x", "working", "auto-1",
            "8f3a2c91b0d4", "a\nb", "a\u{202e}b", "a\0b", &long,
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn what_a_rule_says_becomes_a_name() {
        assert_eq!(plain("half way"), "half-way");
        assert_eq!(plain("../../etc/passwd"), "etc-passwd");
        assert_eq!(plain("…"), "");
    }
}
