//! What an agent that nobody watches may do without being asked about, in Claude Code's settings.
//!
//! Entries are added behind those that are there, as one run; that run is what removing takes out.

use serde_json::{Value, json};

use super::{
    json_text::{self, parse},
    outcome::{FileOutcome, Wish},
};
use crate::text::json::{JsonDocument, Path};

/// Lists of settings, each with the entries that are added to it.
#[derive(Debug)]
pub(crate) struct Permissions {
    lists: &'static [(&'static [&'static str], &'static [&'static str])],
}

const ALLOW: (&[&str], &[&str]) =
    (&["permissions", "allow"], &["Bash(statedir *)", "mcp__statedir"]);

/// Whatever is allowed besides, a review is decided by a person: `ask` goes before `allow`.
const ASK: (&[&str], &[&str]) = (
    &["permissions", "ask"],
    &["Bash(statedir *review approve*)", "Bash(statedir *review reject*)"],
);

/// For everybody who works on a project, with the server of its `.mcp.json`.
pub(super) const PROJECT: Permissions =
    Permissions { lists: &[ALLOW, ASK, (&["enabledMcpjsonServers"], &["statedir"])] };

/// For one user in all projects.
pub(super) const USER: Permissions = Permissions { lists: &[ALLOW, ASK] };

impl Permissions {
    /// The entries as settings of their own.
    pub(super) fn all(&self) -> Value {
        let mut settings = json!({});
        for (path, entries) in self.lists {
            let mut place = &mut settings;
            for key in *path {
                place = &mut place[*key];
            }
            *place = json!(entries);
        }
        settings
    }

    /// The settings with our entries.
    pub(super) fn put(&self, there: Option<&str>, _: Wish<'_>) -> Result<FileOutcome, String> {
        let mut text = there.unwrap_or("{}").to_owned();
        for (path, entries) in self.lists {
            if our_run(&parse(&text)?, path, entries)?.is_none() {
                text = add(&text, path, entries)?;
            }
        }
        Ok(FileOutcome::text(text))
    }

    /// The settings without our entries.
    pub(super) fn take(&self, there: Option<&str>, _: Wish<'_>) -> Result<FileOutcome, String> {
        let Some(text) = there.filter(|text| text.contains("statedir")) else {
            return Ok(FileOutcome::same(there));
        };
        let mut text = text.to_owned();
        for (path, entries) in self.lists.iter().rev() {
            let Some(first) = our_run(&parse(&text)?, path, entries)? else { continue };
            for at in (first..first + entries.len()).rev() {
                text = json_text::cut(&text, &list(path).join(at.to_string()))?;
            }
        }
        Ok(FileOutcome::text(text))
    }
}

fn list(path: &[&str]) -> Path {
    path.iter().fold(Path::root(), |path, key| path.join(*key))
}

/// Where our entries begin in a list, if they are there one behind the other.
fn our_run(
    document: &JsonDocument,
    path: &[&str],
    entries: &[&str],
) -> Result<Option<usize>, String> {
    let items = match document.get(&list(path)) {
        None => return Ok(None),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(format!("`{}` is not a list", path.join("."))),
    };
    let is_ours = |run: &[Value]| run.iter().zip(entries).all(|(item, entry)| item == entry);
    Ok(items.windows(entries.len()).position(is_ours))
}

/// The text with the entries at the end of the list, and with the list if there is none.
fn add(text: &str, path: &[&str], entries: &[&str]) -> Result<String, String> {
    let document = parse(text)?;
    if document.get(&list(path)).is_some() {
        return entries.iter().try_fold(text.to_owned(), |text, entry| {
            json_text::add(&text, &list(path).join("-"), &json!(entry))
        });
    }
    // The outermost member that is missing comes with all that is below it.
    let missing = (1..path.len()).find(|depth| document.get(&list(&path[..*depth])).is_none());
    let depth = missing.unwrap_or(path.len());
    if let Some(around) = document.get(&list(&path[..depth - 1])).filter(|v| !v.is_object()) {
        return Err(format!("`{}` is not an object: {around}", path[..depth - 1].join(".")));
    }
    let below =
        path[depth..].iter().rev().fold(json!(entries), |value, key| json!({ *key: value }));
    json_text::add(text, &list(&path[..depth]), &below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::setup::HookOptions;

    const WISH: Wish<'_> =
        Wish { program: "statedir", force: false, folders: 0, options: HookOptions::NONE };

    #[test]
    fn what_was_there_keeps_its_bytes_and_comes_back() {
        for there in [
            "{}",
            "{ }\n",
            "{\"permissions\":{}}",
            "{\"permissions\":{\"allow\":[]}}",
            "{\n  \"permissions\": {\n    \"ask\": [ ],\n    \"allow\": [\n      \"Bash(ls)\"\n    ]\n  }\n}\n",
            "{\"permissions\":{\"deny\":[\"x\"]},\"enabledMcpjsonServers\":[\"db\"]}",
            "{\"permissions\":{\"allow\":[\"mcp__statedir\"]}}",
        ] {
            for ours in [&PROJECT, &USER] {
                let with = ours.put(Some(there), WISH).unwrap().text.unwrap();
                let read: Value = serde_json::from_str(&with).unwrap();
                let allow = read["permissions"]["allow"].as_array().unwrap();
                assert!(allow.ends_with(&[json!("Bash(statedir *)"), json!("mcp__statedir")]));
                assert_eq!(ours.put(Some(&with), WISH).unwrap().text.as_ref(), Some(&with));
                assert_eq!(ours.take(Some(&with), WISH).unwrap().text.as_deref(), Some(there));
            }
        }
    }

    #[test]
    fn a_list_that_is_none_is_refused() {
        for bad in ["{\"permissions\":7}", "{\"permissions\":{\"allow\":{}}}", "[]", "{"] {
            assert!(PROJECT.put(Some(bad), WISH).is_err(), "{bad}");
        }
    }
}
