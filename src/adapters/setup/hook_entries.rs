//! Our hooks in a client's JSON settings.

use serde_json::{Map, Value, json};

use super::{
    json_text::{self, parse},
    outcome::{Outcome, Wish},
    own_file::Origin,
};
use crate::text::json::Path;

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

/// Our file, where it is one: what was there before it.
fn own_file(text: &str) -> Option<Origin> {
    let command = event_path(EVENTS[0].0).join("0").join("hooks").join("0").join("command");
    let command = parse(text).ok()?.get(&command)?;
    // Whatever program it was set up with.
    Origin::before(text, &fresh(program_of(command.as_str()?)?))
}

fn event_path(event: &str) -> Path {
    Path::root().join("hooks").join(event)
}

/// The settings with our hooks.
pub(super) fn put(there: Option<&str>, wish: Wish<'_>) -> Result<Outcome, String> {
    let own = there.and_then(own_file);
    if let Some(origin) = own.or_else(|| Origin::of(there, wish.folders)) {
        return Ok(Outcome::text(origin.file(&fresh(wish.program))));
    }
    let text = there.unwrap_or_default();
    match parse(text)?.get(&Path::root().join("hooks")) {
        None => {
            let hooks = all(wish.program)["hooks"].take();
            return json_text::add(text, &Path::root().join("hooks"), &hooks).map(Outcome::text);
        }
        Some(Value::Object(_)) => {}
        Some(_) => return Err("`hooks` is not an object".to_owned()),
    }
    let mut text = text.to_owned();
    for (event, tools) in EVENTS {
        text = put_event(text, event, &group(tools, wish.program))?;
    }
    Ok(Outcome::text(text))
}

fn put_event(text: String, event: &str, wanted: &Value) -> Result<String, String> {
    let path = event_path(event);
    let document = parse(&text)?;
    let groups = match document.get(&path) {
        Some(Value::Array(groups)) => groups,
        Some(_) => return Err(format!("`hooks.{event}` is not a list")),
        None => {
            let hooks = Path::root().join("hooks");
            return match document.get(&hooks) {
                Some(_) => json_text::add(&text, &path, &json!([wanted])),
                None => json_text::add(&text, &hooks, &json!({ event: [wanted] })),
            };
        }
    };
    let ours: Vec<usize> = (0..groups.len()).filter(|at| has_ours(&groups[*at])).collect();
    match ours.as_slice() {
        [one] if groups[*one] == *wanted => Ok(text),
        // An entry of an earlier version is brought up to date where it stands.
        [one] if is_ours_alone(&groups[*one]) => {
            json_text::replace(&text, &path.join(one.to_string()), wanted)
        }
        [] => json_text::add(&text, &path.join("-"), wanted),
        _ => put_event(take_event(text, event)?, event, wanted),
    }
}

/// The settings without our hooks.
pub(super) fn take(there: Option<&str>) -> Result<Outcome, String> {
    // What never names us is not even read: it may have a form of its own.
    let Some(text) = there.filter(|text| text.contains("statedir")) else {
        return Ok(Outcome::same(there));
    };
    match own_file(text) {
        Some(Origin::Absent(folders)) => return Ok(Outcome::gone(folders)),
        Some(Origin::Blank(text)) => return Ok(Outcome::text(text)),
        None => {}
    }
    let events = parse(text)?.keys(&Path::root().join("hooks")).unwrap_or_default();
    // From the last one on, as they were put.
    let taken =
        events.iter().rev().try_fold(text.to_owned(), |text, event| take_event(text, event));
    taken.map(Outcome::text)
}

/// Takes our hooks out of an event.
fn take_event(mut text: String, event: &str) -> Result<String, String> {
    let path = event_path(event);
    let Some(Value::Array(groups)) = parse(&text)?.get(&path) else { return Ok(text) };
    for (at, group) in groups.iter().enumerate().rev().filter(|(_, group)| has_ours(group)) {
        let group_path = path.join(at.to_string());
        if is_ours_alone(group) {
            text = json_text::cut(&text, &group_path)?;
            continue;
        }
        let hooks: Vec<&Value> = hooks(group).collect();
        for index in (0..hooks.len()).rev().filter(|index| is_ours(hooks[*index])) {
            text = json_text::cut(&text, &group_path.join("hooks").join(index.to_string()))?;
        }
    }
    Ok(text)
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

    fn put(there: Option<&str>, program: &str) -> Result<Option<String>, String> {
        let wish = Wish { program, force: false, folders: 0 };
        super::put(there, wish).map(|outcome| outcome.text)
    }

    fn take(there: Option<&str>) -> Result<Option<String>, String> {
        super::take(there).map(|outcome| outcome.text)
    }

    const THERE: &str = "{\r\n\t\"model\" : \"x\",\r\n\t\"hooks\":{ \"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]}] },\r\n  \"n\": 1.10\r\n}";

    #[test]
    fn what_was_there_keeps_its_bytes_and_comes_back() {
        for there in [
            THERE,
            "",
            "\n",
            "{}",
            "{}\n",
            "{ }",
            "{\"hooks\":{}}",
            "{\"hooks\":{\"PreToolUse\":[]}}",
            "{\n  \"hooks\": {\n    \"Stop\": [\n    ], \"SessionStart\":[ ]\n  }\n}\n",
            "{\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}",
            "{\"a\":1}\n",
        ] {
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
        let moved = put(Some(&with), "/opt/statedir").unwrap();
        assert_eq!(moved, put(None, "/opt/statedir").unwrap());
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
