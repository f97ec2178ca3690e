//! What a hook costs an agent, beside the cheapest command that reads the state.
//!
//! `cargo bench --bench hook` prints a table. An ordinary event is one that concerns no state
//! file: the client sends hundreds of them. Events that change an agent's list are counted in
//! instructions as well, where there is `valgrind`: each of them can happen once only.

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
    for (steps, tasks) in [(0, 3), (0, 10), (20, 10)] {
        lists(root, steps, tasks);
    }
}

/// What the events of a task list cost in a plan of so many steps, in instructions.
fn lists(root: &Path, steps: usize, tasks: usize) {
    let dir = state(root, &format!("list-{steps}-{tasks}"), steps);
    let list = |done: usize| {
        let task = |n: usize| {
            let words = ["pending", "in_progress", "completed"];
            let status = words[1 + usize::from(n < done) - usize::from(n > done)];
            json!({ "content": format!("Task {n}"), "status": status })
        };
        let todos: Vec<Value> = (0..tasks).map(task).collect();
        json!({ "hook_event_name": "PostToolUse", "tool_name": "TodoWrite", "session_id": "bench",
            "cwd": dir, "tool_input": { "todos": todos }, "tool_response": {} })
    };
    for (name, event) in [("first", list(0)), ("same", list(0)), ("moved on", list(1))] {
        let input = root.join("list.json");
        fs::write(&input, event.to_string()).expect("a file");
        let input = || Stdio::from(File::open(&input).expect("the event"));
        let (Some(this), Some(that)) =
            (instructions(&dir, "hook", input()), instructions(&dir, "status", Stdio::null()))
        else {
            return println!("hook with a list: not counted, there is no valgrind");
        };
        let ratio = this as f64 / that as f64;
        let verdict = if ratio <= 1.5 { "OK" } else { "over" };
        let name = format!("hook, {name} list of {tasks} beside {steps} / status");
        println!("{name:<46} {this:>10} {that:>10} {ratio:>7.2} {:>8.1}  {verdict}", 1.5);
    }
}

/// How many instructions a command takes; `None` where they cannot be counted.
fn instructions(dir: &Path, command: &str, input: Stdio) -> Option<u64> {
    let mut counted = Command::new("valgrind");
    counted.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", STATEDIR, command]);
    counted.current_dir(dir).env_remove("STATEDIR").env_remove("STATEDIR_ACTOR").stdin(input);
    let said = counted.output().ok()?;
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    let collected = said.lines().find_map(|line| line.split_once("Collected :"))?;
    collected.1.trim().parse().ok()
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
