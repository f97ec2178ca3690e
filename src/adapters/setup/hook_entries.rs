//! Our hooks in a client's JSON settings.

use serde_json::{Map, Value, json};

use super::{
    json_text::{self, parse},
    outcome::{CAPTURES, FileOutcome, HookOptions, LEAVES, RECORDS, Wish, changed_by_hand},
    own_file::Origin,
};
use crate::text::json::Path;

/// The hooks of one client.
#[derive(Debug)]
pub(crate) struct Hooks {
    /// The events, and for which tools.
    events: &'static [(&'static str, Option<&'static str>)],
    /// How long the client waits, in its own unit; a hook itself gives up much earlier.
    timeout: u64,
    /// What a file of ours alone begins with, where the client knows such a member.
    schema: Option<&'static str>,
}

/// Tools that may reach the state, those of MCP servers among them, which Copilot CLI calls
/// `server-tool`. A pattern is searched for anywhere in a name, so this one has both ends.
const BEFORE: &str = "^(Write|Edit|MultiEdit|NotebookEdit|apply_patch|Bash|WebFetch|WebSearch|\
                      Task|Agent|mcp__.+|.+-.+)$";

/// Tools that are counted, and those that plan.
const AFTER: &str = "^(Write|Edit|MultiEdit|NotebookEdit|WebFetch|WebSearch|TaskCreate|TaskUpdate|\
                     TaskList|TodoWrite|ExitPlanMode|sql)$";

/// Claude Code, and what reads its settings.
pub(super) const CLAUDE: Hooks = Hooks {
    events: &[
        ("SessionStart", None),
        ("UserPromptSubmit", None),
        ("PreToolUse", Some(BEFORE)),
        ("PostToolUse", Some(AFTER)),
        ("PreCompact", None),
        ("SubagentStart", None),
        ("SubagentStop", None),
        ("Stop", None),
        ("SessionEnd", None),
    ],
    timeout: 10,
    schema: Some("https://json.schemastore.org/claude-code-settings.json"),
};

/// Codex: the same events, and names of tools that patterns do not know.
pub(super) const CODEX: Hooks = Hooks {
    events: &[
        ("SessionStart", None),
        ("UserPromptSubmit", None),
        ("PreToolUse", None),
        ("PostToolUse", None),
        ("PreCompact", None),
        ("Stop", None),
        ("SessionEnd", None),
    ],
    timeout: 10,
    schema: None,
};

/// Gemini CLI: events of its own, in milliseconds. Its PreCompress comes before every request to the
/// model, whether it compacts or not, and is left out.
pub(super) const GEMINI: Hooks = Hooks {
    events: &[
        ("SessionStart", None),
        ("BeforeAgent", None),
        ("BeforeTool", None),
        ("AfterTool", None),
        ("AfterAgent", None),
        ("SessionEnd", None),
    ],
    timeout: 10_000,
    schema: None,
};

/// Qwen Code: Claude Code's events, names of tools of its own, in milliseconds.
pub(super) const QWEN: Hooks = Hooks {
    events: &[
        ("SessionStart", None),
        ("UserPromptSubmit", None),
        ("PreToolUse", None),
        ("PostToolUse", None),
        ("PreCompact", None),
        ("SubagentStart", None),
        ("Stop", None),
        ("SessionEnd", None),
    ],
    timeout: 10_000,
    schema: None,
};

/// The events that tell what the user said.
const PROMPTS: [&str; 2] = ["UserPromptSubmit", "BeforeAgent"];
/// The events that concern the agent's task list.
const LISTS: [&str; 5] = ["SessionStart", "PostToolUse", "AfterTool", "Stop", "AfterAgent"];

impl Hooks {
    /// All entries as settings of their own.
    pub(super) fn all(&self, program: &str, options: HookOptions) -> Value {
        let entry = |(event, tools): &(&str, Option<&str>)| {
            ((*event).to_owned(), json!([self.group(event, *tools, program, options)]))
        };
        json!({ "hooks": self.events.iter().map(entry).collect::<Map<_, _>>() })
    }

    fn group(
        &self,
        event: &str,
        tools: Option<&str>,
        program: &str,
        options: HookOptions,
    ) -> Value {
        let option = match event {
            _ if PROMPTS.contains(&event) => options.record_prompts.then_some(RECORDS),
            _ if LISTS.contains(&event) => options.capture_option(),
            _ => None,
        };
        let option = option.map(|option| format!(" {option}")).unwrap_or_default();
        let command = command(program) + &option;
        let hook = json!({ "type": "command", "command": command, "timeout": self.timeout });
        match tools {
            Some(tools) => json!({ "matcher": tools, "hooks": [hook] }),
            None => json!({ "hooks": [hook] }),
        }
    }

    /// A file of ours alone; the schema or the layout tells it from one that was there and empty.
    fn fresh(&self, program: &str, options: HookOptions) -> String {
        let hooks = self.all(program, options)["hooks"].take();
        if let Some(schema) = self.schema {
            return super::pretty(&json!({ "$schema": schema, "hooks": hooks }));
        }
        let lines = hooks.as_object().into_iter().flatten();
        let lines: Vec<String> =
            lines.map(|(event, groups)| format!("    {}: {groups}", json!(event))).collect();
        format!("{{\n  \"hooks\": {{\n{}\n  }}\n}}\n", lines.join(",\n"))
    }

    /// Our file, where it is one: what was there before it.
    fn own_file(&self, text: &str) -> Option<Origin> {
        let (first, _) = self.events.first()?;
        let command = event_path(first).join("0").join("hooks").join("0").join("command");
        let command = parse(text).ok()?.get(&command)?;
        // Whatever it was set up with.
        let program = program_of(command.as_str()?)?;
        HookOptions::every().find_map(|options| Origin::before(text, &self.fresh(program, options)))
    }
}

/// The line of a hook. Settings are shared with colleagues who may not have the program: then it
/// says nothing.
pub(super) fn command(program: &str) -> String {
    let program = shell_word(program);
    format!("{}{program} hook", guard(&program))
}

fn guard(word: &str) -> String {
    format!("command -v {word} >/dev/null 2>&1 || exit 0; ")
}

fn shell_word(program: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~".contains(c);
    match program.chars().all(plain) {
        true => program.to_owned(),
        false => format!("'{}'", program.replace('\'', "'\\''")),
    }
}

fn event_path(event: &str) -> Path {
    Path::root().join("hooks").join(event)
}

/// The settings with our hooks.
pub(super) fn put(
    ours: &Hooks,
    there: Option<&str>,
    wish: Wish<'_>,
) -> Result<FileOutcome, String> {
    let options = wish.options.or_kept(there);
    let own = there.and_then(|text| ours.own_file(text));
    if let Some(origin) = own.or_else(|| Origin::of(there, wish.folders)) {
        return Ok(FileOutcome::text(origin.file(&ours.fresh(wish.program, options))));
    }
    let text = there.unwrap_or_default();
    match parse(text)?.get(&Path::root().join("hooks")) {
        None => {
            let hooks = ours.all(wish.program, options)["hooks"].take();
            return json_text::add(text, &Path::root().join("hooks"), &hooks)
                .map(FileOutcome::text);
        }
        Some(Value::Object(_)) => {}
        Some(_) => return Err("`hooks` is not an object".to_owned()),
    }
    let mut outcome = FileOutcome::text(text);
    for (event, tools) in ours.events {
        let there = outcome.text.take().unwrap_or_default();
        let wanted = ours.group(event, *tools, wish.program, options);
        let (text, kept) = put_event(there, (ours, event), &wanted, wish.force)?;
        let note = kept.then(|| changed_by_hand(&format!("the hook of {event}"), false));
        outcome = FileOutcome { text: Some(text), note: outcome.note.or(note), ..outcome };
    }
    Ok(outcome)
}

/// The text with the hook of one event, and whether one that somebody changed stays instead.
fn put_event(
    text: String,
    (ours, event): (&Hooks, &str),
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
    let any = |kind: Whose| groups.iter().any(|group| Group { ours, event, group }.has(kind));
    if any(Whose::Changed) && !force {
        // A second hook beside it would count everything twice.
        return Ok((take_event(text, (ours, event), false)?, true));
    }
    let own: Vec<usize> = (0..groups.len())
        .filter(|at| Group { ours, event, group: &groups[*at] }.has(Whose::Ours))
        .collect();
    let done = match own.as_slice() {
        _ if any(Whose::Changed) => None,
        [one] if groups[*one] == *wanted => return Ok((text, false)),
        // Only the program is another one: the layout stays.
        [one] if with_command_of(&groups[*one], wanted) == *wanted => {
            let command = path.join(one.to_string()).join("hooks").join("0").join("command");
            Some(json_text::replace(&text, &command, &wanted["hooks"][0]["command"])?)
        }
        // An entry of an earlier version is brought up to date where it is.
        [one] if (Group { ours, event, group: &groups[*one] }).is_all(Whose::Ours) => {
            Some(json_text::replace(&text, &path.join(one.to_string()), wanted)?)
        }
        [] => Some(json_text::add(&text, &path.join("-"), wanted)?),
        _ => None,
    };
    match done {
        Some(text) => Ok((text, false)),
        None => {
            let text = take_event(text, (ours, event), force)?;
            put_event(text, (ours, event), wanted, false)
        }
    }
}

/// A group with the command of another one.
fn with_command_of(group: &Value, other: &Value) -> Value {
    let mut group = group.clone();
    if let Some(command) = group.pointer_mut("/hooks/0/command") {
        *command = other["hooks"][0]["command"].clone();
    }
    group
}

/// The settings without our hooks.
pub(super) fn take(
    ours: &Hooks,
    there: Option<&str>,
    wish: Wish<'_>,
) -> Result<FileOutcome, String> {
    // What has no such hook is not even read: it may have a form of its own.
    let Some(text) = there.filter(|text| text.contains(" hook")) else {
        return Ok(FileOutcome::same(there));
    };
    match ours.own_file(text) {
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
        .try_fold(text.to_owned(), |text, event| take_event(text, (ours, event), wish.force))?;
    let left = parse(&taken)?.get(&Path::root().join("hooks")).unwrap_or_default();
    let changed = |event: &&String| {
        let groups = left.get(event.as_str()).and_then(Value::as_array);
        groups.into_iter().flatten().any(|group| Group { ours, event, group }.has(Whose::Changed))
    };
    let outcome = FileOutcome::text(taken);
    Ok(match events.iter().find(changed) {
        Some(event) => outcome.noting(changed_by_hand(&format!("the hook of {event}"), true)),
        None => outcome,
    })
}

/// Takes our hooks out of an event, and with `force` those that somebody changed.
fn take_event(
    mut text: String,
    (ours, event): (&Hooks, &str),
    force: bool,
) -> Result<String, String> {
    let path = event_path(event);
    let Some(Value::Array(groups)) = parse(&text)?.get(&path) else { return Ok(text) };
    for (at, group) in groups.iter().enumerate().rev() {
        let group = Group { ours, event, group };
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
    ours: &'v Hooks,
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
                let tools = self.ours.events.iter().find(|(event, _)| *event == self.event);
                let written = |tools| {
                    let group = |options| self.ours.group(self.event, tools, program, options);
                    HookOptions::every().any(|options| group(options) == *self.group)
                };
                if tools.is_some_and(|(_, tools)| written(*tools)) {
                    return Whose::Ours;
                }
            }
            None => {}
        }
        let command = command.rsplit_once("; ").map_or(command, |(_, command)| command);
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

/// The program of a command that calls a hook, with or without the guard before it.
fn program_of(command: &str) -> Option<&str> {
    let option = [RECORDS, CAPTURES, LEAVES]
        .into_iter()
        .find_map(|option| command.strip_suffix(option)?.strip_suffix(' '));
    let command = option.unwrap_or(command).strip_suffix(" hook")?;
    let word = match command.rsplit_once("exit 0; ") {
        Some((_, word)) if format!("{}{word}", guard(word)) == command => word,
        Some(_) => return None,
        None => command,
    };
    Some(word.trim_matches(['\'', '"']))
}

#[cfg(test)]
mod tests;
