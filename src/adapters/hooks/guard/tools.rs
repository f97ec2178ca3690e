//! The guard's rule for tools other than the shell: those that edit files, and those of other MCP
//! servers.

use std::path::Path;

use serde_json::Value;

use super::{
    guarded_state::{GuardedState, Reach},
    shell::{GuardFinding, PathUse, examine, patch_uses},
};
use crate::{
    adapters::hooks::event::{HookEvent, writes_file},
    text::Words,
};

/// Words in the name of a tool that only reads.
const READS: Words = Words(
    "cat count describe diff exists fetch find get glob grep head info list log ls read search \
    show stat status tree view",
);
/// Words in the name of a tool that writes what is in a file.
const EDITS: Words = Words("add append create edit insert modify patch put replace update write");
/// Words in the name of a tool that removes a file or a directory.
const REMOVES: Words = Words("clean delete move mv remove rename rm trash");
/// How many bytes a file may have that is searched for what it would change.
const MOST_APPLIED: u64 = 4 << 20;
/// How many strings of an event are examined.
const MOST_STRINGS: usize = 200;

/// A tool of an MCP server: the server and the tool's own name.
fn server_tool(tool: &str) -> Option<(&str, &str)> {
    if let Some(rest) = tool.strip_prefix("mcp__") {
        return Some(rest.split_once("__").unwrap_or(("", rest)));
    }
    // Gemini CLI writes `mcp_server_tool`, Copilot CLI `server-tool`.
    match tool.strip_prefix("mcp_") {
        Some(rest) => Some(rest.split_once('_').unwrap_or(("", rest))),
        None => tool.rsplit_once('-'),
    }
}

/// Whether a call decides a review: that is for a person to do, or to allow.
pub(in crate::adapters::hooks) fn decides_review(event: &HookEvent) -> bool {
    const OP: &str = "review.decide";
    if event.is_shell() {
        let command = event.command("command").unwrap_or_default();
        let words = shell_words(&command);
        let decides =
            |pair: &[&str]| pair[0] == "review" && matches!(pair[1], "approve" | "reject");
        return command.contains("statedir")
            && (words.windows(2).any(decides)
                || command.contains(OP)
                || is_in_applied_file(event, &words, |text| text.contains(OP)));
    }
    let Some((server, name)) = server_tool(event.tool()) else { return false };
    match name {
        _ if !server.contains("statedir") => false,
        "review" => matches!(event.input("verb"), Some("approve" | "reject")),
        "apply" => event.tool_input().is_some_and(|input| input.to_string().contains(OP)),
        _ => false,
    }
}

/// The words of a command, roughly: what quotes, pipes and redirections hold together or apart is split.
fn shell_words(command: &str) -> Vec<&str> {
    command.split(|c: char| c.is_whitespace() || "'\";|&()<".contains(c)).collect()
}

/// Whether a file that a command names, and may give to `statedir apply`, holds what is looked for.
fn is_in_applied_file(event: &HookEvent, words: &[&str], is_meant: impl Fn(&str) -> bool) -> bool {
    if !words.contains(&"apply") {
        return false;
    }
    let Some(cwd) = event.cwd_or_current() else { return false };
    words.iter().filter(|word| !word.is_empty()).any(|word| {
        let path = cwd.join(word);
        let is_short = |found: std::fs::Metadata| found.is_file() && found.len() <= MOST_APPLIED;
        fs_err::metadata(&path).is_ok_and(is_short)
            && fs_err::read(&path).is_ok_and(|bytes| is_meant(&String::from_utf8_lossy(&bytes)))
    })
}

/// Whether a call changes a setting of constraints.md, by a command or by hand.
pub(in crate::adapters::hooks) fn sets_constraint(event: &HookEvent) -> bool {
    let is_op = |text: &str| text.contains("constraint.set") || text.contains("constraint.unset");
    if event.is_shell() {
        let command = event.command("command").unwrap_or_default();
        let has = |wanted: &str| command.split_whitespace().any(|word| word == wanted);
        let by_words = has("constraint") && (has("set") || has("unset"));
        return command.contains("statedir")
            && (by_words
                || is_op(&command)
                || is_in_applied_file(event, &shell_words(&command), is_op));
    }
    if writes_file(event.tool()) {
        let file = event.file().and_then(|file| Path::new(file).file_name());
        return file.is_some_and(|name| name == "constraints.md");
    }
    let is_ours = server_tool(event.tool()).is_some_and(|(server, _)| server.contains("statedir"));
    is_ours && event.tool_input().is_some_and(|input| is_op(&input.to_string()))
}

/// Whether a tool belongs to another MCP server and does not only read.
pub(in crate::adapters::hooks) fn is_foreign(tool: &str) -> bool {
    let Some((server, name)) = server_tool(tool) else { return false };
    let has = |list: Words| words(name).iter().any(|word| list.contains(word));
    !server.contains("statedir") && (!has(READS) || has(EDITS) || has(REMOVES))
}

/// The words of a name like `delete_file`, `delete-file` or `deleteFile`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || c.is_ascii_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

/// What a tool does to the state.
pub(super) fn examine_tool(
    guarded: &GuardedState,
    cwd: &Path,
    event: &HookEvent,
) -> Option<GuardFinding> {
    let tool = event.tool();
    let found = |path: &str, how: PathUse| {
        let reach = guarded.reach(cwd, path)?;
        let denied = reach.is_protected();
        let asked = match how {
            PathUse::Removes => true,
            PathUse::MayWrite => matches!(reach, Reach::File(_)),
            _ => false,
        };
        let found = GuardFinding { program: tool.to_owned(), word: path.to_owned(), reach, denied };
        (denied || asked).then_some(found)
    };
    if event.is_shell() {
        return examine(guarded, cwd, &event.command("command")?);
    }
    if tool == "apply_patch" {
        let keys = ["command", "input", "patch", "patchText"];
        let input = event.tool_input()?;
        let text = keys.iter().find_map(|key| match input.get(key)? {
            // The program comes first, and the patch last.
            Value::Array(words) => words.last()?.as_str(),
            text => text.as_str(),
        })?;
        let all: Vec<GuardFinding> =
            patch_uses(text).iter().filter_map(|(word, how)| found(&word.text, *how)).collect();
        return worst(all);
    }
    if writes_file(tool) {
        return found(event.file()?, PathUse::Edits);
    }
    if !is_foreign(tool) {
        return None;
    }
    let command = ["command", "cmd", "script"].iter().find_map(|key| event.command(key));
    let by_shell = command.and_then(|command| examine(guarded, cwd, &command));
    let has = |list: Words| words(tool).iter().any(|word| list.contains(word));
    let how = match (has(REMOVES), has(EDITS)) {
        (true, _) => PathUse::Removes,
        (false, true) => PathUse::Edits,
        (false, false) => PathUse::MayWrite,
    };
    let strings = event.input_strings(MOST_STRINGS).into_iter();
    let paths = strings.filter(|text| !text.contains('\n')).filter_map(|text| found(text, how));
    worst(paths.chain(by_shell).collect())
}

fn worst(found: Vec<GuardFinding>) -> Option<GuardFinding> {
    found.into_iter().max_by_key(|found| found.denied)
}

/// The strings in a value, the outer ones first.
pub(in crate::adapters::hooks) fn strings(value: &Value, most: usize) -> Vec<&str> {
    let (mut todo, mut found) = (vec![value], Vec::new());
    while let Some(value) = todo.pop().filter(|_| found.len() < most) {
        match value {
            Value::String(text) => found.push(text.as_str()),
            Value::Array(items) => todo.extend(items.iter().take(most)),
            Value::Object(members) => todo.extend(members.values().take(most)),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deciding_a_review_is_recognised_wherever_it_is_done() {
        let decides = |tool: &str, input: Value| {
            let event = serde_json::json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input });
            decides_review(&HookEvent::parse(event.to_string().as_bytes()).unwrap())
        };
        let shell = |command: &str| decides("Bash", serde_json::json!({ "command": command }));
        for command in [
            "statedir review approve r1",
            "cd x && statedir -C . --json review reject r1 --why no | head",
            "/opt/statedir review  approve r1".replace("  ", " ").as_str(),
            "sh -c 'statedir review approve r1'",
            "echo '[{\"op\":\"review.decide\"}]' | statedir apply -",
        ] {
            assert!(shell(command), "{command}");
        }
        for command in
            ["statedir review list", "statedir review open 'approve?'", "git review approve 1"]
        {
            assert!(!shell(command), "{command}");
        }
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, op: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, format!("[{{\"op\":\"{op}\",\"review\":\"r1\"}}]")).unwrap();
            path.display().to_string()
        };
        let (decision, note) =
            (file("yes.json", "review.decide"), file("note.json", "history.add"));
        assert!(shell(&format!("statedir apply {decision}")));
        assert!(shell(&format!("statedir apply - <'{decision}'")));
        assert!(!shell(&format!("statedir apply {note}")));
        assert!(!shell(&format!("statedir import {decision}")));
        let verb = |verb: &str| serde_json::json!({ "verb": verb });
        assert!(decides("mcp__statedir__review", verb("approve")));
        assert!(decides("mcp__plugin_statedir_statedir__review", verb("reject")));
        assert!(decides("mcp_statedir_review", verb("approve")));
        assert!(decides("statedir-review", verb("approve")));
        assert!(decides(
            "mcp__statedir__apply",
            serde_json::json!({ "changes": [{ "op": "review.decide" }] })
        ));
        assert!(!decides("mcp__statedir__review", verb("list")));
        assert!(!decides("mcp__other__review", verb("approve")));
    }

    #[test]
    fn a_tool_of_another_server_is_known_by_its_name() {
        for tool in [
            "mcp__filesystem__write_file",
            "mcp__filesystem__move_file",
            "mcp__fs__deleteFile",
            "mcp__shell__execute_command",
            "mcp__x__find_and_replace",
            "file-system-write_file",
            "mcp__odd",
        ] {
            assert!(is_foreign(tool), "{tool}");
        }
        for tool in [
            "mcp__filesystem__read_text_file",
            "mcp__filesystem__list_directory",
            "mcp__git__git_status",
            "my-git-git_status",
            "mcp__x__getFileInfo",
            "mcp__statedir__step",
            "mcp__plugin_statedir_statedir__step",
            "Read",
        ] {
            assert!(!is_foreign(tool), "{tool}");
        }
    }
}
