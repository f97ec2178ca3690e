//! Our hooks in a client's JSON settings.

use serde_json::{Map, Value, json};

use super::{
    json_text::{self, parse},
    outcome::{FileOutcome, Wish, changed_by_hand},
    own_file::Origin,
};
use crate::text::json::Path;

const SCHEMA: &str = "https://json.schemastore.org/claude-code-settings.json";

/// Tools that may reach the state, those of other MCP servers among them. A pattern is searched for
/// anywhere in a name, so this one has both ends.
const BEFORE: &str = "^(Write|Edit|MultiEdit|NotebookEdit|apply_patch|Bash|WebFetch|WebSearch|\
                      Task|Agent|mcp__.+)$";

/// The events, and for which tools.
const EVENTS: [(&str, Option<&str>); 8] = [
    ("SessionStart", None),
    ("UserPromptSubmit", None),
    ("PreToolUse", Some(BEFORE)),
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
pub(super) fn put(there: Option<&str>, wish: Wish<'_>) -> Result<FileOutcome, String> {
    let own = there.and_then(own_file);
    if let Some(origin) = own.or_else(|| Origin::of(there, wish.folders)) {
        return Ok(FileOutcome::text(origin.file(&fresh(wish.program))));
    }
    let text = there.unwrap_or_default();
    match parse(text)?.get(&Path::root().join("hooks")) {
        None => {
            let hooks = all(wish.program)["hooks"].take();
            return json_text::add(text, &Path::root().join("hooks"), &hooks)
                .map(FileOutcome::text);
        }
        Some(Value::Object(_)) => {}
        Some(_) => return Err("`hooks` is not an object".to_owned()),
    }
    let mut outcome = FileOutcome::text(text);
    for (event, tools) in EVENTS {
        let there = outcome.text.take().unwrap_or_default();
        let (text, kept) = put_event(there, event, &group(tools, wish.program), wish.force)?;
        let note = kept.then(|| changed_by_hand(&format!("the hook of {event}"), false));
        outcome = FileOutcome { text: Some(text), note: outcome.note.or(note), ..outcome };
    }
    Ok(outcome)
}

/// The text with the hook of one event, and whether one that somebody changed stays instead.
fn put_event(
    text: String,
    event: &str,
    wanted: &Value,
    force: bool,
) -> Result<(String, bool), String> {
    let path = event_path(event);
    let document = parse(&text)?;
    let groups = match document.get(&path) {
        Some(Value::Array(groups)) => groups,
        Some(_) => return Err(format!("`hooks.{event}` is not a list")),
        None => {
            let hooks = Path::root().join("hooks");
            let added = match document.get(&hooks) {
                Some(_) => json_text::add(&text, &path, &json!([wanted])),
                None => json_text::add(&text, &hooks, &json!({ event: [wanted] })),
            };
            return Ok((added?, false));
        }
    };
    let any = |kind: Whose| groups.iter().any(|group| Group { event, group }.has(kind));
    if any(Whose::Changed) && !force {
        // A second hook beside it would count everything twice.
        return Ok((take_event(text, event, false)?, true));
    }
    let ours: Vec<usize> = (0..groups.len())
        .filter(|at| Group { event, group: &groups[*at] }.has(Whose::Ours))
        .collect();
    let done = match ours.as_slice() {
        _ if any(Whose::Changed) => None,
        [one] if groups[*one] == *wanted => return Ok((text, false)),
        // An entry of an earlier version is brought up to date where it stands.
        [one] if (Group { event, group: &groups[*one] }).is_all(Whose::Ours) => {
            Some(json_text::replace(&text, &path.join(one.to_string()), wanted)?)
        }
        [] => Some(json_text::add(&text, &path.join("-"), wanted)?),
        _ => None,
    };
    match done {
        Some(text) => Ok((text, false)),
        None => put_event(take_event(text, event, force)?, event, wanted, false),
    }
}

/// The settings without our hooks.
pub(super) fn take(there: Option<&str>, wish: Wish<'_>) -> Result<FileOutcome, String> {
    // What has no such hook is not even read: it may have a form of its own.
    let Some(text) = there.filter(|text| text.contains(" hook")) else {
        return Ok(FileOutcome::same(there));
    };
    match own_file(text) {
        Some(Origin::Absent(folders)) => return Ok(FileOutcome::gone(folders)),
        Some(Origin::Blank(text)) => return Ok(FileOutcome::text(text)),
        None => {}
    }
    let document = parse(text)?;
    let events = document.keys(&Path::root().join("hooks")).unwrap_or_default();
    // From the last one on, as they were put.
    let taken = events
        .iter()
        .rev()
        .try_fold(text.to_owned(), |text, event| take_event(text, event, wish.force))?;
    let left = parse(&taken)?.get(&Path::root().join("hooks")).unwrap_or_default();
    let changed = |event: &&String| {
        let groups = left.get(event.as_str()).and_then(Value::as_array);
        groups.into_iter().flatten().any(|group| Group { event, group }.has(Whose::Changed))
    };
    let outcome = FileOutcome::text(taken);
    Ok(match events.iter().find(changed) {
        Some(event) => outcome.noting(changed_by_hand(&format!("the hook of {event}"), true)),
        None => outcome,
    })
}

/// Takes our hooks out of an event, and with `force` those that somebody changed.
fn take_event(mut text: String, event: &str, force: bool) -> Result<String, String> {
    let path = event_path(event);
    let Some(Value::Array(groups)) = parse(&text)?.get(&path) else { return Ok(text) };
    for (at, group) in groups.iter().enumerate().rev() {
        let group = Group { event, group };
        let goes = |whose: Whose| whose == Whose::Ours || (force && whose == Whose::Changed);
        let whose: Vec<Whose> = group.hooks().map(|hook| group.whose(hook)).collect();
        let group_path = path.join(at.to_string());
        if !whose.is_empty() && whose.iter().all(|whose| goes(*whose)) {
            text = json_text::cut(&text, &group_path)?;
            continue;
        }
        for index in (0..whose.len()).rev().filter(|index| goes(whose[*index])) {
            text = json_text::cut(&text, &group_path.join("hooks").join(index.to_string()))?;
        }
    }
    Ok(text)
}

/// Whose a hook is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// It calls us as we write it.
    Ours,
    /// It calls us as somebody wrote it.
    Changed,
    /// It has nothing to do with us.
    Other,
}

/// The hooks for some tools.
#[derive(Clone, Copy)]
struct Group<'v> {
    event: &'v str,
    group: &'v Value,
}

impl<'v> Group<'v> {
    fn hooks(self) -> impl Iterator<Item = &'v Value> {
        self.group.get("hooks").and_then(Value::as_array).into_iter().flatten()
    }

    fn has(self, kind: Whose) -> bool {
        self.hooks().any(|hook| self.whose(hook) == kind)
    }

    fn is_all(self, kind: Whose) -> bool {
        self.hooks().all(|hook| self.whose(hook) == kind)
    }

    fn whose(self, hook: &Value) -> Whose {
        let command = hook.get("command").and_then(Value::as_str).unwrap_or_default().trim();
        match program_of(command) {
            Some(program) if is_statedir(program) => return Whose::Ours,
            // A program of another name is known by all that stands around it.
            Some(program) => {
                let tools = EVENTS.iter().find(|(event, _)| *event == self.event);
                if tools.is_some_and(|(_, tools)| group(*tools, program) == *self.group) {
                    return Whose::Ours;
                }
            }
            None => {}
        }
        let program = command.split(" hook ").next().filter(|program| *program != command);
        match program.is_some_and(|program| is_statedir(program.trim_matches(['\'', '"']))) {
            true => Whose::Changed,
            false => Whose::Other,
        }
    }
}

/// Whether a program is `statedir`, wherever it is.
fn is_statedir(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next();
    name.is_some_and(|name| name.trim_end_matches(".exe") == "statedir")
}

/// The program of a command that calls a hook.
fn program_of(command: &str) -> Option<&str> {
    command.strip_suffix(" hook").map(|program| program.trim_matches(['\'', '"']))
}

#[cfg(test)]
mod tests;
