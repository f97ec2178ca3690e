//! What a hook costs an agent, beside the cheapest command that reads the state.
//!
//! `cargo bench --bench hook` prints a table. An ordinary event is one that concerns no state
//! file: the client sends hundreds of them.

mod common;

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{STATEDIR, alternate, is_wanted, report, run, state, title};
use serde_json::{Value, json};

fn main() {
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    let root = root.path();
    let dir = state(root, "project", 20);
    for (name, value) in [("max_file_operations", "1000000"), ("max_web_requests", "1000000")] {
        run(STATEDIR, &dir, &["constraint", "set", name, value]);
    }
    title();
    let tool = |event: &str, tool: &str, input: Value| json!({ "hook_event_name": event, "tool_name": tool, "tool_input": input });
    let file = json!({ "file_path": dir.join("src/main.rs"), "content": "x".repeat(10_000) });
    let task = |n: usize| json!({ "content": format!("Task {n}"), "status": "pending" });
    let list = json!({ "todos": (0..10).map(task).collect::<Vec<_>>() });
    let bash = json!({ "command": "cargo test --quiet 2>&1 | tail -20" });
    let events = [
        ("PreToolUse Read", tool("PreToolUse", "Read", file.clone()), 1.5),
        ("PostToolUse Bash", tool("PostToolUse", "Bash", bash.clone()), 1.5),
        ("PreToolUse Bash", tool("PreToolUse", "Bash", bash), 1.5),
        ("PreToolUse Write", tool("PreToolUse", "Write", file.clone()), 1.5),
        ("PostToolUse Write", tool("PostToolUse", "Write", file), 1.5),
        ("PostToolUse TodoWrite", tool("PostToolUse", "TodoWrite", list), 1.5),
        ("Stop", json!({ "hook_event_name": "Stop" }), 1.5),
        ("SessionStart", json!({ "hook_event_name": "SessionStart", "source": "startup" }), 1.5),
        ("UserPromptSubmit", json!({ "hook_event_name": "UserPromptSubmit", "prompt": "go" }), 1.5),
    ];
    for (name, event, limit) in events {
        let mut event = event;
        event["session_id"] = json!("bench");
        event["cwd"] = json!(dir);
        let input = root.join("event.json");
        fs::write(&input, event.to_string()).expect("a file");
        let pair = alternate(200, || fire(&dir, &input), || run(STATEDIR, &dir, &["status"]));
        report(&format!("hook {name} / status"), pair, limit);
    }
}

fn fire(dir: &Path, input: &Path) -> Duration {
    let mut command = Command::new(STATEDIR);
    command.arg("hook").current_dir(dir).env_remove("STATEDIR").env_remove("STATEDIR_ACTOR");
    command.stdin(File::open(input).expect("the event"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status().expect("the program to start");
    let took = began.elapsed();
    assert!(status.success());
    took
}
