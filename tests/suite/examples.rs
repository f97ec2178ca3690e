//! The examples run, and end as they claim.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::{builder::Project, needs, program};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name)
}

#[cfg(unix)]
#[test]
fn the_research_example_goes_from_goal_to_finish() {
    let project = Project::empty();
    let stdout = run_example(&project, "bash", "research.sh");
    let commands = stdout.lines().filter(|line| line.starts_with("$ statedir ")).count();
    assert!(commands >= 20, "only {commands} commands:\n{stdout}");

    let status = project.json(&["status"]);
    assert_eq!(status["status"], "COMPLETED_SUCCESS");
    assert_eq!((&status["completed"], &status["skipped"]), (&json!(4), &json!(1)));
    assert_eq!(status["total_cost"], 0.33);
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    assert!(project.read("plan.md").contains("### Step 3: Read the licences, twice ✓\n"));
    assert!(!project.read("context.md").contains("pgvector is fast enough"));
    let log = project.json(&["op", "log", "--limit", "100"]);
    let kinds: Vec<&str> =
        log["operations"].as_array().unwrap().iter().filter_map(|op| op["kind"].as_str()).collect();
    for kind in ["external", "undo", "step.retry", "apply"] {
        assert!(kinds.contains(&kind), "{kind} is not in {kinds:?}");
    }
}

#[cfg(unix)]
#[test]
fn the_research_example_stops_at_the_first_failure() {
    let project = Project::new();
    let output = Command::new("bash")
        .arg(example("research.sh"))
        .arg(project.root())
        .env("STATEDIR_BIN", program::path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "there is a state already");
    assert_eq!(project.json(&["status"])["goal"], "Compare three vector databases");
}

#[test]
fn the_library_example_prints_the_splice_and_the_changes() {
    // In the profile that these tests were built in: another would build everything again.
    let built = Path::new(env!("CARGO_BIN_EXE_statedir")).parent().unwrap();
    let profile = match built.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        name => name,
    };
    let mut command = Command::new(env!("CARGO"));
    // The variables that cargo sets for this test would make build scripts run again, twice.
    for (name, _) in std::env::vars_os() {
        let starts = |with| name.to_str().is_some_and(|name| name.starts_with(with));
        if starts("CARGO_MANIFEST_") || starts("CARGO_PKG_") {
            command.env_remove(&name);
        }
    }
    let output = command
        .args(["run", "--quiet", "--profile", profile, "--example", "library"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    // The id of a step follows from the files, and so from the templates.
    let shown_text = String::from_utf8_lossy(&output.stdout);
    let (before, rest) = shown_text.split_once("step 1 (").unwrap();
    let shown_text = format!("{before}step 1 (ID{}", &rest[rest.find(')').unwrap()..]);
    insta::assert_snapshot!(shown_text, @r#"
    status is "PENDING" at 4:19
    bytes 55..62: "PENDING" becomes "RUNNING"
    status is "RUNNING" now
    step 1 (ID) added: Collect benchmarks
    step 1 RUNNING: Collect benchmarks
    extracted_data.flags.ready = true
    one operation changed plan.md and variables.json
    the plan has 1 step
    refused: change 2 of 2: there is no step `9`
    nothing changed: true
    "#);
}

/// Runs a script of the examples in an empty project.
#[cfg(unix)]
pub fn run_example(project: &Project, program: &str, name: &str) -> String {
    let output = Command::new(program)
        .arg(example(name))
        .arg(project.root())
        .env("STATEDIR_BIN", program::path())
        .env_remove("STATEDIR_ACTOR")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    stdout.into_owned()
}

#[cfg(unix)]
#[test]
fn the_hook_transcript_is_answered_as_it_says() {
    let project = Project::empty();
    let shown_text = run_example(&project, "bash", "hook-transcript.sh");
    assert!(
        shown_text.lines().filter(|line| line.starts_with("PreToolUse")).count() >= 5,
        "{shown_text}"
    );
    assert!(project.read("history.md").contains("Event session_end"));
}

#[cfg(unix)]
#[test]
fn the_rule_of_the_cost_example_pauses_the_plan() {
    let project = Project::empty();
    let shown_text = run_example(&project, "bash", "pause-on-cost.sh");
    assert!(shown_text.contains("PAUSED"), "{shown_text}");
    let status = project.json(&["status"]);
    assert_eq!((&status["status"], &status["completed"]), (&json!("COMPLETED_SUCCESS"), &json!(3)));
    assert_eq!(status["directives"], json!(["ask before spending more"]));
}

#[cfg(unix)]
#[test]
fn the_agent_loop_finishes_its_plan() {
    if !needs::program("python3") {
        return;
    }
    let project = Project::empty();
    let shown_text = run_example(&project, "python3", "agent_loop.py");
    assert_eq!(shown_text, "COMPLETED_SUCCESS: 3 of 3 steps\n");
    assert!(project.read("history.md").contains("the page timed out"));
}

#[test]
fn the_plugin_is_what_setup_writes() {
    let project = Project::empty();
    let printed = project.json(&["setup", "claude", "--print"]);
    let text = |name: &str| {
        let files = printed["files"].as_array().unwrap();
        let file = files.iter().find(|file| file["path"].as_str().unwrap().ends_with(name));
        file.unwrap()["text"].as_str().unwrap().to_owned()
    };
    let read = |name: &str| std::fs::read_to_string(example("claude-plugin").join(name)).unwrap();
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(json(&read("hooks/hooks.json")), json(&text("settings.json")));
    assert_eq!(json(&read(".mcp.json")), json(&text(".mcp.json")));
    assert!(text("SKILL.md").starts_with(&read("skills/statedir/SKILL.md")));
    assert_eq!(json(&read(".claude-plugin/plugin.json"))["name"], "statedir");
}
