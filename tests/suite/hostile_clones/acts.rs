//! Every command and every hook event, with what each is documented to write.

use std::{collections::BTreeSet, path::Path, process::Command};

use serde_json::{Value, json};

use super::ground::Act;
use crate::program;

/// Every hook event, with the members that only it has.
pub const EVENTS: [(&str, &str); 13] = [
    ("SessionStart", r#"{"source":"startup"}"#),
    ("UserPromptSubmit", r#"{"prompt":"go on"}"#),
    ("PreToolUse", r#"{"tool_name":"Bash","tool_input":{"command":"rm -r workspace/state"}}"#),
    ("PreToolUse", r#"{"tool_name":"Write","tool_input":{"file_path":"workspace/state/plan.md"}}"#),
    (
        "PostToolUse",
        r#"{"tool_name":"Write","tool_input":{"file_path":"workspace/state/plan.md"}}"#,
    ),
    (
        "PostToolUse",
        r#"{"tool_name":"TodoWrite","tool_input":{"todos":[{"content":"a","status":"in_progress"}]}}"#,
    ),
    (
        "PostToolUse",
        r#"{"tool_name":"TaskCreate","tool_input":{"subject":"a"},"tool_response":{"task":{"id":"1"}}}"#,
    ),
    (
        "PostToolUse",
        r#"{"tool_name":"TaskUpdate","tool_input":{"taskId":"1","status":"completed"}}"#,
    ),
    ("PreCompact", r#"{"trigger":"auto"}"#),
    ("Stop", "{}"),
    ("SubagentStart", r#"{"agent_type":"Explore"}"#),
    ("SubagentStop", "{}"),
    ("SessionEnd", r#"{"reason":"exit"}"#),
];

/// An event as a client sends it.
pub fn event(name: &str, more: &str, cwd: &Path) -> Value {
    let mut event: Value = serde_json::from_str(more).unwrap();
    event["hook_event_name"] = json!(name);
    event["session_id"] = json!("aaaa0000-77aa-4c1d-9b1f-001122334455");
    event["cwd"] = json!(cwd);
    event
}

/// Every command line that is tried: the words, and what may be written besides the state.
const LINES: [(&str, &str); 152] = [
    ("init --goal Again", "workspace"),
    ("init --goal Again --template templates", "workspace"),
    ("adopt --dry-run", ""),
    ("init --goal Again", "workspace"),
    ("init --goal Again --template templates", "workspace"),
    ("init --ticket #7", "docs"),
    ("status", ""),
    ("brief", ""),
    ("show plan", ""),
    ("show history", ""),
    ("state", ""),
    ("state --format yaml", ""),
    ("import --replace -", ""),
    ("metrics", ""),
    ("metrics --by layer", ""),
    ("step add Layered layer=1 --id L1-001", ""),
    ("step list --where layer=1", ""),
    ("plan set goal=Another", ""),
    ("plan graph --format svg", ""),
    ("plan tracks", ""),
    ("report", ""),
    ("step add More", ""),
    ("step start 3", ""),
    ("step done 3", ""),
    ("step fail 3 --error no", ""),
    ("step skip 3", ""),
    ("step retry 2", ""),
    ("step reset 2", ""),
    ("step set 3 title=Other", ""),
    ("step remove 4", ""),
    ("step show 2", ""),
    ("step list", ""),
    ("step next --claim", ""),
    ("step move 3 RUNNING", ""),
    ("step take 2 --force --why test", ""),
    ("step reorder 3 --before 2", ""),
    ("context add Known", ""),
    ("context set --section Findings New", ""),
    ("context show", ""),
    ("var get", ""),
    ("var set a.b 1", ""),
    ("var unset a", ""),
    ("var append list 1", ""),
    ("var merge -", ""),
    ("var patch -", ""),
    ("history add Told", ""),
    ("history list", ""),
    ("history search step", ""),
    ("history verify", ""),
    ("history accept", ""),
    ("constraint unset priority", ""),
    ("migrate", ""),
    ("history export", ""),
    ("turn add --user Hello", ""),
    ("memory", ""),
    ("constraint list", ""),
    ("constraint get priority", ""),
    ("constraint set priority quality", ""),
    ("directive add more", ""),
    ("directive list", ""),
    ("directive remove 1", ""),
    ("rule list", ""),
    ("rule add 'If cost > 1 -> pause'", ""),
    ("rule remove 1", ""),
    ("rule check", ""),
    ("rule explain 1", ""),
    ("rule test step_failed", ""),
    ("event emit noticed", ""),
    ("review list", ""),
    ("review open Really?", ""),
    ("review approve 1", ""),
    ("review reject 1", ""),
    ("pause --why tired", ""),
    ("resume", ""),
    ("apply -", ""),
    ("check", ""),
    ("check --fix", ""),
    ("recover", ""),
    ("recover --apply", ""),
    ("recover --from-git", ""),
    ("recover --all .", ""),
    ("scan", ""),
    ("checkpoint create three", ""),
    ("checkpoint list", ""),
    ("checkpoint show one", ""),
    ("checkpoint restore one", ""),
    ("checkpoint delete one", ""),
    ("restore one --rewind", ""),
    ("restore @-2", ""),
    ("undo", ""),
    ("redo", ""),
    ("op log", ""),
    ("op show @", ""),
    ("diff @-3", ""),
    ("diff HEAD --text", ""),
    ("merge --list", ""),
    ("merge --resolve --all", ""),
    ("git install --textconv --pre-commit", ".gitattributes"),
    ("git uninstall", ".gitattributes"),
    ("git status", ""),
    ("git pre-commit", ""),
    ("git textconv workspace/state/plan.md", ""),
    ("commit -m kept", ""),
    ("commit --dry-run", ""),
    ("worktree add side", "../clone-side"),
    ("worktree list", ""),
    ("worktree finish --next", "../clone-side"),
    ("worktree finish side", "../clone-side"),
    ("review-notes", ""),
    ("gc --older-than 0s", ""),
    ("gc --older-than 1d --dry-run", ""),
    ("archive --force", "workspace"),
    ("archive list", ""),
    ("archive prune --older-than 30d --yes", ""),
    ("archive show exec", ""),
    ("archive restore exec", "workspace"),
    ("watch --since 000000000000", ""),
    ("fleet init", "../home"),
    ("fleet status", "../home"),
    ("fleet join", "../home"),
    ("fleet push", "../home"),
    ("fleet claim --next", "../home"),
    ("fleet release", "../home"),
    ("fleet steal x --why gone", "../home"),
    ("fleet pull x", "../home"),
    ("fleet list", "../home"),
    ("fleet show x", "../home"),
    ("fleet watch --for 100ms", "../home"),
    ("fleet metrics", "../home"),
    ("fleet recover --all --apply", "../home"),
    ("fleet agent --once", "../home"),
    ("hook", ""),
    ("setup claude", ".claude .mcp.json CLAUDE.md"),
    ("setup claude --capture", ".claude .mcp.json CLAUDE.md"),
    ("setup claude --remove", ".claude .mcp.json CLAUDE.md"),
    ("setup codex", ".codex AGENTS.md .agents"),
    ("setup cursor", ".cursor AGENTS.md"),
    ("setup gemini", ".gemini GEMINI.md .agents"),
    ("setup opencode", "opencode.json .opencode AGENTS.md .agents"),
    ("setup qwen", ".qwen QWEN.md .agents"),
    ("setup vscode", ".vscode AGENTS.md"),
    ("setup generic", "AGENTS.md .agents"),
    ("mcp", ""),
    ("board", ""),
    ("web --port 0", "127.0.0.1"),
    ("schema", ""),
    ("completions bash", ""),
    ("__complete step done 1", ""),
    ("__complete var get x", ""),
    ("__complete restore x", ""),
    ("man", ""),
    ("trust", ""),
];

/// All command lines and hook events, for a clone at this place.
pub fn all(clone: &Path) -> Vec<Act> {
    let mut acts: Vec<Act> = LINES.iter().map(|(line, writes)| act(line, writes)).collect();
    acts.extend(EVENTS.iter().map(|(name, more)| Act::hook(&event(name, more, clone))));
    acts
}

/// One of the command lines.
pub fn listed(line: &str) -> Act {
    let (line, writes) = LINES.iter().find(|(listed, _)| *listed == line).unwrap();
    act(line, writes)
}

/// A command line as an act.
fn act(line: &str, writes: &str) -> Act {
    let words: Vec<String> = match line.split_once('\'') {
        Some((before, quoted)) => before
            .split_whitespace()
            .map(str::to_owned)
            .chain([quoted.trim_end_matches('\'').to_owned()])
            .collect(),
        None => line.split_whitespace().map(str::to_owned).collect(),
    };
    let input = match line {
        "apply -" => {
            r#"[{"op":"step.add","title":"By apply"},{"op":"var.set","path":"a","value":1}]"#
        }
        "var merge -" => r#"{"m":{"n":1}}"#,
        "var patch -" => r#"[{"op":"add","path":"/added","value":7}]"#,
        "import --replace -" => r#"{"plan":{"goal":"Imported"}}"#,
        "mcp" => MCP,
        _ => "",
    };
    Act {
        args: words,
        input: input.as_bytes().to_vec(),
        writes: writes.split_whitespace().map(str::to_owned).collect(),
        endless: line.starts_with("watch") || line.starts_with("web"),
    }
}

const MCP: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"status","arguments":{}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":4,"method":"resources/list"}"#,
    "\n",
);

/// The commands of the first help, which has them in groups: a column for the group, then names.
fn grouped(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| !line.starts_with("Start here"));
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.get(13..)?.split("  ").next());
    names.flat_map(|names| names.split(", ")).map(|name| name.trim().to_owned()).collect()
}

/// The subcommands that a help names.
fn commands(words: &[&str]) -> Vec<String> {
    let output = Command::new(program::path()).args(words).arg("--help").output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    if words.is_empty() {
        return grouped(&text);
    }
    let Some((_, rest)) = text.split_once("\nCommands:\n") else { return Vec::new() };
    rest.lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_that_the_help_names_is_tried() {
    let tried: BTreeSet<Vec<&str>> =
        LINES.iter().map(|(line, _)| line.split_whitespace().take(2).collect()).collect();
    let mut missing = Vec::new();
    let all = commands(&[]);
    assert!(all.len() > 40, "{all:?}");
    for command in &all {
        let verbs = commands(&[command]);
        if !tried.iter().any(|words| words[0] == command) {
            missing.push(command.clone());
        }
        for verb in verbs {
            if !tried.iter().any(|words| words[0] == command && words.get(1) == Some(&&*verb)) {
                missing.push(format!("{command} {verb}"));
            }
        }
    }
    assert!(missing.is_empty(), "hostile clones are not tried with: {missing:?}");
}

#[test]
fn every_hook_event_that_the_help_names_is_tried() {
    let output = Command::new(program::path()).args(["hook", "--help"]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let humped = |word: &&str| {
        let bytes = word.as_bytes();
        word.bytes().all(|b| b.is_ascii_alphabetic())
            && bytes.first().is_some_and(u8::is_ascii_uppercase)
            && bytes
                .windows(2)
                .any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase())
    };
    let words: BTreeSet<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(humped).collect();
    assert!(words.len() > 5, "{words:?}");
    for word in words {
        // Tools are named in the same way.
        let tool = format!("\"tool_name\":\"{word}\"");
        let is_tried = |(name, more): &(&str, &str)| *name == word || more.contains(&tool);
        assert!(EVENTS.iter().any(is_tried), "{word} is not tried");
    }
}
