//! Time counts while a step runs: rules and limits about it fire at the next command.

use crate::builder::Project;

fn priority(project: &Project) -> String {
    project.ok(&["constraint", "get", "priority"]).stdout.trim().to_owned()
}

/// A step that has been running since noon, under a rule about 200 seconds.
fn running() -> Project {
    let project = Project::with_steps(2);
    project.ok(&[
        "rule",
        "add",
        "If execution time > 200s → set priority to \"speed_and_clarity\"",
    ]);
    project.at("12:00:00", &["step", "start", "1"]);
    project
}

#[test]
fn a_rule_about_time_fires_at_the_next_command_whatever_it_is() {
    for args in [
        ["var", "set", "a", "1"].as_slice(),
        &["context", "add", "a finding"],
        &["turn", "add", "--user", "how far?"],
        &["step", "add", "One more"],
        &["plan", "set", "owner=ada"],
        &["step", "done", "1"],
    ] {
        let project = running();
        project.at("12:03:00", args);
        assert_eq!(priority(&project), "quality", "{args:?} after 180s");
        let project = running();
        project.at("12:03:21", args);
        assert_eq!(priority(&project), "speed_and_clarity", "{args:?} after 201s");
    }
}

#[test]
fn it_fires_once_and_not_at_every_command_after_it() {
    let project = running();
    project.at("12:03:21", &["var", "set", "a", "1"]);
    project.ok(&["constraint", "set", "priority", "quality"]);
    project.at("12:05:00", &["var", "set", "a", "2"]);
    project.at("12:06:00", &["step", "done", "1"]);
    assert_eq!(priority(&project), "quality");
}

#[test]
fn several_changes_at_once_fire_it_once() {
    let project = running();
    let changes = r#"[{"op": "var.set", "path": "a", "value": 1},
        {"op": "constraint.set", "name": "priority", "value": "quality"},
        {"op": "var.set", "path": "b", "value": 1}]"#;
    let mut command = project.command(&["apply", "-"]);
    command.env("STATEDIR_NOW", "2026-01-31T12:03:21Z");
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), changes.as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(priority(&project), "quality");
}

#[test]
fn a_limit_is_reported_while_the_step_runs() {
    let project = Project::with_steps(1);
    project.ok(&["constraint", "set", "max_execution_time", "5m"]);
    project.at("12:00:00", &["step", "start", "1"]);
    let ran = project.at("12:04:00", &["var", "set", "a", "0"]);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("max_execution_time"));
    let ran = project.at("12:06:00", &["var", "set", "a", "1"]);
    let printed = format!("{}{}", ran.stdout, ran.stderr);
    assert!(printed.contains("max_execution_time"), "{printed}");
    // It fires once.
    let ran = project.at("12:07:00", &["var", "set", "a", "2"]);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("max_execution_time"));
}

#[test]
fn without_a_running_step_no_time_passes() {
    let project = running();
    project.at("12:01:00", &["step", "done", "1"]);
    project.at("18:00:00", &["var", "set", "a", "1"]);
    assert_eq!(priority(&project), "quality");
}
