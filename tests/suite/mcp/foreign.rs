//! Clients of others: the Python client and the MCP Inspector.
//!
//! They are installed once below the target directory.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

use super::every_call;
use crate::{builder::Project, needs, program};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Python with the client, where it can be installed.
fn python() -> Option<PathBuf> {
    if !needs::program("python3") {
        return None;
    }
    let venv = needs::below_target("mcp-python");
    let python = venv.join("bin").join("python");
    let mut create = Command::new("python3");
    create.args(["-m", "venv"]).arg(&venv);
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "mcp>=2,<3"]);
    needs::installed("the Python MCP client", &venv, &mut [create, install]).then_some(python)
}

/// The Inspector's command line, where it can be installed.
fn inspector() -> Option<PathBuf> {
    needs::npm_package("@modelcontextprotocol/inspector", "2")
        .map(|modules| modules.join(".bin").join("mcp-inspector"))
}

fn succeeded(output: &Output) -> String {
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    stdout.into_owned()
}

#[test]
fn the_python_client_lists_and_calls_everything() {
    let Some(python) = python() else { return };
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let project = Project::empty();
        let mut command = Command::new(&python);
        command.arg(source("tests/suite/mcp/every_call.py"));
        command.arg(program::path()).arg(project.root());
        command.arg(source("tests/suite/mcp/calls.json")).arg(mode);
        let printed = succeeded(&command.output().unwrap());
        let calls = every_call().len();
        assert_eq!(printed, format!("{version}: {calls} calls, 6 resources, 2 prompts\n"));
        project.ok(&["history", "verify"]);
    }
}

#[test]
fn the_python_example_works_until_no_step_is_left() {
    let Some(python) = python() else { return };
    let project = Project::with_steps(3);
    project.ok(&["step", "add", "Do the impossible"]);
    let mut command = Command::new(&python);
    command.arg(source("examples/agent_mcp.py")).arg(project.root());
    command.arg(program::path());
    let printed = succeeded(&command.output().unwrap());
    assert!(printed.contains("> 2 Do part 2\n"), "{printed}");
    assert!(printed.ends_with(": 3 done, 1 failed\n"), "{printed}");
    let status = project.json(&["status"]);
    assert_eq!((status["completed"].as_u64(), status["failed"].as_u64()), (Some(3), Some(1)));
    assert!(project.read("context.md").contains("this cannot be done"));
}

#[test]
fn the_inspector_lists_and_calls_every_tool() {
    let Some(inspector) = inspector() else { return };
    let project = Project::empty();
    let run = |arguments: &[String]| -> Value {
        let mut command = Command::new(&inspector);
        command.arg("--cli").arg(program::path()).arg("mcp");
        command.args(arguments).current_dir(project.root());
        serde_json::from_str(&succeeded(&command.output().unwrap())).unwrap()
    };
    let listed = run(&["--method".to_owned(), "tools/list".to_owned()]);
    let mut names: Vec<&str> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.len() > 9, "{names:?}");
    // Starting it is slow, so each tool is called once, by the first call that must succeed.
    for call in every_call().iter().filter(|call| call.get("code").is_none()) {
        let tool = call["tool"].as_str().unwrap();
        if !names.contains(&tool) {
            continue;
        }
        names.retain(|name| *name != tool);
        let mut arguments: Vec<String> =
            ["--method", "tools/call", "--tool-name", tool].map(str::to_owned).to_vec();
        for (key, value) in call["arguments"].as_object().unwrap() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            arguments.extend(["--tool-arg".to_owned(), format!("{key}={value}")]);
        }
        let result = run(&arguments);
        assert_eq!(result["structuredContent"]["ok"], true, "{call}\n{result}");
    }
    assert!(names.is_empty(), "never called: {names:?}");
    let listed = run(&["--method".to_owned(), "resources/list".to_owned()]);
    assert_eq!(listed["resources"].as_array().unwrap().len(), 6);
    let listed = run(&["--method".to_owned(), "prompts/list".to_owned()]);
    assert_eq!(listed["prompts"].as_array().unwrap().len(), 2);
}
