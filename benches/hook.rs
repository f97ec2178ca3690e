//! What a hook costs an agent, beside the cheapest command that reads the state.
//!
//! `cargo bench --bench hook` prints a table. An ordinary event is one that concerns no state
//! file: the client sends hundreds of them. Events that change an agent's list can happen once
//! only, so each is measured in many states: in memory, where only the program counts, and on disk,
//! where `status` gets the time on top that the least durable change takes there.

mod common;

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{alternate, compile, is_wanted, report, run, state, statedir, title};
use serde_json::{Value, json};

/// In how many states an event is measured that can happen once only.
const ROUNDS: usize = 41;

fn main() {
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    let root = root.path();
    let dir = state(root, "project", 20);
    for (name, value) in [("max_file_operations", "1000000"), ("max_web_requests", "1000000")] {
        run(statedir(), &dir, &["constraint", "set", name, value]);
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
        let pair = alternate(200, || fire(&dir, &input), || run(statedir(), &dir, &["status"]));
        report(&format!("hook {name} / status"), pair, limit);
    }
    let sizes = [(0, 3), (0, 10), (20, 10)];
    if let Ok(memory) = tempfile::tempdir_in("/dev/shm") {
        for (steps, tasks) in sizes {
            lists(memory.path(), steps, tasks, None);
        }
    }
    let durable = durable_change(root);
    for (steps, tasks) in sizes {
        lists(root, steps, tasks, Some(durable));
    }
}

/// How much longer a program takes that makes the least durable change than one that does nothing.
fn durable_change(root: &Path) -> Duration {
    let (empty, floor) = (compile(root, "empty"), compile(root, "floor"));
    let files = root.join("floor-files");
    fs::create_dir_all(&files).expect("a directory");
    let files = files.to_string_lossy().into_owned();
    let (change, nothing) =
        alternate(200, || run(&floor, root, &[&files]), || run(&empty, root, &[]));
    change.saturating_sub(nothing)
}

/// What the events of a task list cost in a plan of so many steps, each in states of its own.
fn lists(root: &Path, steps: usize, tasks: usize, durable: Option<Duration>) {
    let list = |dir: &Path, done: usize| {
        let task = |n: usize| {
            let words = ["pending", "in_progress", "completed"];
            let status = words[1 + usize::from(n < done) - usize::from(n > done)];
            json!({ "content": format!("Task {n}"), "status": status })
        };
        let todos: Vec<Value> = (0..tasks).map(task).collect();
        json!({ "hook_event_name": "PostToolUse", "tool_name": "TodoWrite", "session_id": "bench",
            "cwd": dir, "tool_input": { "todos": todos }, "tool_response": {} })
    };
    let events = [("first", 0), ("same", 0), ("moved on", 1)];
    let mut pairs = events.map(|_| (Vec::new(), Vec::new()));
    for round in 0..ROUNDS {
        let dir = state(root, &format!("list-{steps}-{tasks}-{round}"), steps);
        // Before a list, every client sends the start of the session and the prompt.
        let opening = [
            json!({ "hook_event_name": "SessionStart", "source": "startup" }),
            json!({ "hook_event_name": "UserPromptSubmit", "prompt": "go" }),
        ];
        for mut event in opening {
            event["session_id"] = json!("bench");
            event["cwd"] = json!(dir);
            let input = root.join("opening.json");
            fs::write(&input, event.to_string()).expect("a file");
            fire(&dir, &input);
        }
        // Sync what made the state, so that the event does not wait for it; `sync` leaves the caches
        // cold, and the next command warms them.
        Command::new("sync").status().expect("`sync` to start");
        run(statedir(), &dir, &["status"]);
        for ((these, those), (_, done)) in pairs.iter_mut().zip(events) {
            let input = root.join("list.json");
            fs::write(&input, list(&dir, done).to_string()).expect("a file");
            these.push(fire(&dir, &input));
            those.push(run(statedir(), &dir, &["status"]));
        }
    }
    for ((mut these, mut those), (name, _)) in pairs.into_iter().zip(events) {
        these.sort();
        those.sort();
        let place = if durable.is_some() { "disk" } else { "memory" };
        // The same list again changes nothing.
        let durable = durable.filter(|_| name != "same");
        let beside = if durable.is_some() { "status + change" } else { "status" };
        let name = format!("{place}, {name} list of {tasks}, {steps} steps / {beside}");
        report(&name, (these[ROUNDS / 2], those[ROUNDS / 2] + durable.unwrap_or_default()), 1.5);
    }
}

fn fire(dir: &Path, input: &Path) -> Duration {
    let mut command = Command::new(statedir());
    command.arg("hook").current_dir(dir).env_remove("STATEDIR").env_remove("STATEDIR_ACTOR");
    command.stdin(File::open(input).expect("the event"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status().expect("the program to start");
    let took = began.elapsed();
    assert!(status.success());
    took
}
