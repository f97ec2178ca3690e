//! Our hooks in a client's JSON settings.

use serde_json::{Map, Value, json};

use super::json_text::{parse, remove_if_empty};
use crate::text::json::{JsonEdit, Path};

const SCHEMA: &str = "https://json.schemastore.org/claude-code-settings.json";

/// The events, and for which tools.
const EVENTS: [(&str, Option<&str>); 8] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PreToolUse", Some("Write|Edit|MultiEdit|NotebookEdit|Bash|WebFetch|WebSearch|Task|Agent")),
    ("PostToolUse", Some("Write|Edit|MultiEdit|NotebookEdit|WebFetch|WebSearch")),
    ("PreCompact", None),
    ("Stop", None),
    ("SubagentStop", None),
    ("SessionEnd", None),
];

/// How long the client waits, in seconds; a hook itself gives up much earlier.
const TIMEOUT: u64 = 10;

/// All entries as settings of their own.
pub(super) fn all(program: &str) -> Value {
    let mut hooks = Map::new();
    for (event, tools) in EVENTS {
        hooks.insert(event.to_owned(), json!([group(tools, program)]));
    }
    json!({ "hooks": hooks })
}

fn group(tools: Option<&str>, program: &str) -> Value {
    let hook = json!({ "type": "command", "command": command(program), "timeout": TIMEOUT });
    match tools {
        Some(tools) => json!({ "matcher": tools, "hooks": [hook] }),
        None => json!({ "hooks": [hook] }),
    }
}

fn command(program: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~".contains(c);
    match program.chars().all(plain) {
        true => format!("{program} hook"),
        false => format!("'{}' hook", program.replace('\'', "'\\''")),
    }
}

/// A file of ours alone; the schema tells it from one that was there and empty.
fn fresh(program: &str) -> String {
    let mut whole = json!({ "$schema": SCHEMA });
    whole["hooks"] = all(program)["hooks"].clone();
    super::pretty(&whole)
}

/// The settings with our hooks.
pub(super) fn put(there: Option<&str>, program: &str) -> Result<Option<String>, String> {
    let Some(text) = there.filter(|text| !text.trim().is_empty()) else {
        return Ok(Some(fresh(program)));
    };
    let document = parse(text)?;
    let mut edit = document.edit();
    for (event, tools) in EVENTS {
        let wanted = group(tools, program);
        let groups = groups(&edit, event)?;
        let ours: Vec<&Value> = groups.iter().filter(|group| has_ours(group)).collect();
        if ours == [&wanted] {
            continue;
        }
        let path = Path::root().join("hooks").join(event);
        match (ours.as_slice(), groups.iter().position(|group| ours.first() == Some(&group))) {
            // An entry of an earlier version is brought up to date where it stands.
            ([one], Some(at)) if is_ours_alone(one) => {
                edit.set(&path.join(at.to_string()), &wanted).map_err(|error| error.to_string())?;
            }
            _ => {
                take_event(&mut edit, event)?;
                edit.append(&path, &wanted).map_err(|error| error.to_string())?;
            }
        }
    }
    Ok(Some(edit.finish().document.into_source()))
}

/// The settings without our hooks.
pub(super) fn take(there: Option<&str>) -> Result<Option<String>, String> {
    let Some(text) = there else { return Ok(None) };
    if text.trim().is_empty() {
        return Ok(Some(text.to_owned()));
    }
    let document = parse(text)?;
    // Whatever program it was set up with.
    let command = Path::root().join("hooks").join(EVENTS[0].0).join("0").join("hooks").join("0");
    let command = document.get(&command.join("command"));
    let program = command.as_ref().and_then(Value::as_str).and_then(program_of);
    if program.is_some_and(|program| text == fresh(program)) {
        return Ok(None);
    }
    let had = document.raw(&Path::root().join("hooks")).is_some();
    let mut edit = document.edit();
    for event in document.keys(&Path::root().join("hooks")).unwrap_or_default() {
        take_event(&mut edit, &event)?;
    }
    if had && edit.document().source() != text {
        remove_if_empty(&mut edit, &Path::root().join("hooks"))?;
    }
    Ok(Some(edit.finish().document.into_source()))
}

/// Takes our hooks out of an event, and what is empty then.
fn take_event(edit: &mut JsonEdit, event: &str) -> Result<(), String> {
    let path = Path::root().join("hooks").join(event);
    let Some(Value::Array(groups)) = edit.document().get(&path) else { return Ok(()) };
    if !groups.iter().any(has_ours) {
        return Ok(());
    }
    let told = |error: crate::text::json::JsonError| error.to_string();
    for (at, group) in groups.iter().enumerate().rev().filter(|(_, group)| has_ours(group)) {
        let group_path = path.join(at.to_string());
        if is_ours_alone(group) {
            edit.remove(&group_path).map_err(told)?;
            continue;
        }
        for (index, _) in hooks(group)
            .enumerate()
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .filter(|(_, hook)| is_ours(hook))
        {
            edit.remove(&group_path.join("hooks").join(index.to_string())).map_err(told)?;
        }
    }
    remove_if_empty(edit, &path)
}

fn groups(edit: &JsonEdit, event: &str) -> Result<Vec<Value>, String> {
    let hooks = Path::root().join("hooks");
    match edit.document().get(&hooks) {
        None | Some(Value::Object(_)) => {}
        Some(_) => return Err("`hooks` is not an object".to_owned()),
    }
    match edit.document().get(&hooks.join(event)) {
        None => Ok(Vec::new()),
        Some(Value::Array(groups)) => Ok(groups),
        Some(_) => Err(format!("`hooks.{event}` is not a list")),
    }
}

fn hooks(group: &Value) -> impl Iterator<Item = &Value> {
    group.get("hooks").and_then(Value::as_array).into_iter().flatten()
}

fn has_ours(group: &Value) -> bool {
    hooks(group).any(is_ours)
}

fn is_ours_alone(group: &Value) -> bool {
    hooks(group).all(is_ours)
}

/// Whether a hook calls `statedir hook`, wherever the program is.
fn is_ours(hook: &Value) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default().trim();
    let Some(program) = program_of(command) else { return false };
    program
        .rsplit(['/', '\\'])
        .next()
        .is_some_and(|name| name.trim_end_matches(".exe") == "statedir")
}

/// The program of a command that calls a hook.
fn program_of(command: &str) -> Option<&str> {
    command.strip_suffix(" hook").map(|program| program.trim_matches(['\'', '"']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THERE: &str = "{\r\n\t\"model\" : \"x\",\r\n\t\"hooks\":{ \"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]}] },\r\n  \"n\": 1.10\r\n}";

    #[test]
    fn what_was_there_keeps_its_bytes_and_comes_back() {
        for there in [THERE, "{}", "{}\n", "{\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}", "{\"a\":1}\n"]
        {
            let with = put(Some(there), "statedir").unwrap().unwrap();
            assert_ne!(with, there);
            assert_eq!(put(Some(&with), "statedir").unwrap().as_deref(), Some(with.as_str()));
            assert_eq!(take(Some(&with)).unwrap().as_deref(), Some(there));
            assert_eq!(take(Some(there)).unwrap().as_deref(), Some(there));
        }
        let with = put(Some(THERE), "statedir").unwrap().unwrap();
        assert!(with.contains("\"n\": 1.10\r\n") && with.contains("\t\"model\" : \"x\""), "{with}");
    }

    #[test]
    fn a_file_of_ours_goes_as_it_came() {
        let with = put(None, "statedir").unwrap().unwrap();
        assert_eq!(take(Some(&with)).unwrap(), None);
        let elsewhere = put(None, "/a b/statedir").unwrap().unwrap();
        assert_eq!(take(Some(&elsewhere)).unwrap(), None);
        assert_eq!(take(None).unwrap(), None);
    }

    #[test]
    fn an_entry_of_an_earlier_version_is_replaced() {
        let old =
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/statedir hook"}]}]}}"#;
        let with = put(Some(old), "statedir").unwrap().unwrap();
        assert_eq!(with.matches("statedir hook").count(), EVENTS.len(), "{with}");
        let shared =
            r#"{"hooks":{"Stop":[{"hooks":[{"command":"say"},{"command":"statedir hook"}]}]}}"#;
        let without = take(Some(shared)).unwrap().unwrap();
        assert_eq!(without, r#"{"hooks":{"Stop":[{"hooks":[{"command":"say"}]}]}}"#);
    }

    #[test]
    fn settings_that_are_not_understood_are_refused() {
        for bad in [
            "{",
            "[]",
            "// c\n{}",
            "{\"hooks\":[]}",
            "{\"hooks\":{\"Stop\":{}}}",
            "{\"a\":1,\"a\":2}",
        ] {
            assert!(put(Some(bad), "statedir").is_err(), "{bad}");
        }
    }

    #[test]
    fn only_our_own_command_is_ours() {
        let ours = |command: &str| is_ours(&json!({ "command": command }));
        assert!(
            ours("statedir hook") && ours("/usr/bin/statedir hook") && ours("'/a b/statedir' hook")
        );
        assert!(
            !ours("mystatedir hook") && !ours("statedir hook-x") && !ours("x hook") && !ours("")
        );
        assert_eq!(command("/a b/statedir"), "'/a b/statedir' hook");
    }
}
