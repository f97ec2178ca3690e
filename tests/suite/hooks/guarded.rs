//! The guard as a client sees it: what is asked, what is denied, and with which words.

use super::*;

/// `silent`, `ask` or `deny`, and the reason.
fn verdict(project: &Project, name: &str, input: Value) -> (String, String) {
    let answer = fire(project, tool("PreToolUse", name, input)).unwrap_or_default();
    let output = &answer["hookSpecificOutput"];
    let text = |key: &str| output[key].as_str().unwrap_or_default().to_owned();
    let decision = text("permissionDecision");
    let decision = if decision.is_empty() { "silent".to_owned() } else { decision };
    (decision, text("permissionDecisionReason"))
}

#[test]
fn a_command_that_reaches_the_state_is_asked_about_with_the_word_and_a_way_out() {
    let project = Project::new();
    fs::create_dir(project.root().join(".git")).unwrap();
    for (command, words) in [
        ("git clean -fdx", ["contains the state", "git", "-e workspace"]),
        ("git reset --hard", ["contains the state", "git", "workspace"]),
        ("vim workspace/state/plan.md", ["the state's plan.md", "`vim`", "edit tool"]),
        ("touch workspace/state/history.md", ["history.md", "`touch`", "statedir history add"]),
    ] {
        let (decision, reason) = verdict(&project, "Bash", json!({ "command": command }));
        assert_eq!(decision, "ask", "{command}");
        for word in words {
            assert!(reason.contains(word), "{command}: {reason}");
        }
    }
    let denied = verdict(&project, "Bash", json!({ "command": "sudo rm -rf $PWD/workspace" }));
    assert_eq!(denied.0, "deny");
    let free = verdict(&project, "Bash", json!({ "command": "git stash && grep -r foo ." }));
    assert_eq!(free.0, "silent");
}

#[test]
fn a_command_given_as_words_is_guarded_like_its_text() {
    let project = Project::new();
    for (expected, words) in [
        ("deny", json!(["bash", "-lc", "rm -rf workspace/state"])),
        ("deny", json!(["/bin/sh", "-c", "cd workspace && rm -rf state"])),
        ("deny", json!(["rm", "-rf", "workspace/state"])),
        ("deny", json!(["env", "bash", "-c", "rm -rf workspace/state"])),
        ("ask", json!(["vim", "workspace/state/plan.md"])),
        ("ask", json!(["statedir", "review", "approve", "r1"])),
        // Control: what only reads, and what is not words.
        ("silent", json!(["bash", "-lc", "cat workspace/state/plan.md"])),
        ("silent", json!(["echo", "rm -rf workspace/state"])),
        ("silent", json!([1, {"a": []}])),
    ] {
        for tool in ["Bash", "shell"] {
            let (decision, reason) = verdict(&project, tool, json!({ "command": words }));
            assert_eq!(decision, expected, "{tool} {words} {reason}");
        }
    }
    let denied = verdict(&project, "mcp__shell__run", json!({ "cmd": ["rm", "-rf", "workspace"] }));
    assert_eq!(denied.0, "deny");
    let patch = "*** Begin Patch\n*** Update File: workspace/state/history.md\n+x\n*** End Patch";
    for tool in ["apply_patch", "shell"] {
        let denied = verdict(&project, tool, json!({ "command": ["apply_patch", patch] }));
        assert_eq!(denied.0, "deny", "{tool}");
    }
}

#[test]
fn tools_of_other_servers_are_guarded_by_what_their_names_say() {
    let project = Project::new();
    let path = |name: &str| json!({ "path": project.path(name) });
    for (expected, name, input) in [
        ("deny", "mcp__filesystem__write_file", path("history.md")),
        ("deny", "mcp__filesystem__edit_file", path(".statedir/head")),
        ("deny", "mcp__fs__delete", json!({ "paths": ["a", project.path("history.md")] })),
        ("deny", "mcp__shell__run", json!({ "command": "rm -rf workspace" })),
        ("ask", "mcp__filesystem__move_file", json!({ "source": project.path("plan.md") })),
        ("ask", "mcp__fs__deleteDirectory", json!({ "path": "workspace" })),
        ("ask", "mcp__odd__process", path("plan.md")),
        ("silent", "mcp__filesystem__write_file", path("plan.md")),
        ("silent", "mcp__filesystem__read_text_file", path("history.md")),
        ("silent", "mcp__filesystem__write_file", json!({ "path": "src/history.md" })),
        ("silent", "mcp__odd__process", json!({ "path": project.root() })),
        ("silent", "mcp__statedir__history", path("history.md")),
        ("silent", "mcp__plugin_statedir_statedir__step", path("history.md")),
    ] {
        let (decision, reason) = verdict(&project, name, input.clone());
        assert_eq!(decision, expected, "{name} {input} {reason}");
    }
}

#[test]
fn patches_are_guarded_file_by_file() {
    let project = Project::new();
    let patch = |line: &str| {
        let text = format!("*** Begin Patch\n*** Update File: a.rs\n+x\n{line}\n*** End Patch");
        let [codex, opencode] = ["command", "patchText"]
            .map(|key| verdict(&project, "apply_patch", json!({ key: text })).0);
        assert_eq!(codex, opencode, "{line}");
        codex
    };
    assert_eq!(patch("*** Update File: workspace/state/history.md"), "deny");
    assert_eq!(patch("*** Add File: workspace/state/.statedir/x"), "deny");
    assert_eq!(patch("*** Delete File: workspace/state/plan.md"), "ask");
    assert_eq!(patch("*** Update File: workspace/state/plan.md"), "silent");
    assert_eq!(patch("+*** a line: workspace/state/history.md"), "silent");
}
