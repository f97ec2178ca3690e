//! Input that would be dropped or contradicts itself is refused with a hint, and changes nothing.

use serde_json::{Value, json};

use crate::builder::Project;

/// Runs a command with input that must be refused with exit 1 and must not change a byte.
fn refused_with_input(project: &Project, args: &[&str], input: &str) -> Value {
    let before = project.files();
    let ran = project.run_with_input(&[args, &["--json"]].concat(), input);
    assert_eq!(ran.code, 1, "{args:?} {input}\n{}{}", ran.stdout, ran.stderr);
    assert_eq!(project.files(), before, "{args:?} {input} changed files");
    ran.json()["error"].clone()
}

#[test]
fn a_key_that_is_given_twice_is_refused_with_its_place() {
    let project = Project::with_steps(1);
    let error = project.refused(1, &["var", "set", "dup", r#"{"a":1,"a":2}"#])["error"].clone();
    assert_eq!(error["code"], "duplicate_key");
    assert_eq!((&error["location"]["line"], &error["location"]["column"]), (&json!(1), &json!(10)));
    project.refused(1, &["var", "append", "list", r#"[{"b":{"a":1,"a":2}}]"#]);
    project.refused(1, &["event", "emit", "x", r#"data={"a":1,"a":2}"#]);
    project.ok(&["step", "start", "1"]);
    project.refused(1, &["step", "done", "1", "--output", r#"k={"a":1,"a":2}"#]);
    for (args, input) in [
        (["var", "merge", "-"].as_slice(), "{\"x\":\n{\"a\":1,\"a\":2}}"),
        (&["var", "patch", "-"], r#"[{"op":"add","path":"/a","path":"/b","value":1}]"#),
        (&["apply", "-"], r#"[{"op":"var.set","path":"a","value":1,"value":2}]"#),
        (
            &["apply", "-"],
            "{\"op\":\"var.set\",\"path\":\"a\",\"value\":1}\n{\"op\":\"plan.pause\",\"why\":\"a\",\"why\":\"b\"}",
        ),
    ] {
        let error = refused_with_input(&project, args, input);
        assert_eq!(error["code"], "duplicate_key", "{input}: {error}");
        assert!(error["location"]["column"].is_u64(), "{error}");
    }
    // The same key in two objects, and text that only looks like JSON.
    project.ok(&["var", "set", "dup", r#"[{"a":1},{"a":{"a":2}}]"#]);
    project.ok(&["var", "set", "text", r#"{"a":1,"a":2}"#, "--string"]);
    assert_eq!(project.json(&["var", "get", "text"])["value"], r#"{"a":1,"a":2}"#);
}

#[test]
fn a_field_with_a_meaning_is_checked_whichever_way_it_is_given() {
    let project = Project::with_steps(2);
    project.ok(&["step", "set", "2", "--depends-on", "1"]);
    for (set, code) in [
        ("depends_on=2", "dependency_cycle"),
        ("Depends-On=9", "not_found"),
        ("depends_on=???", "bad_value"),
        ("estimated_cost=lots", "bad_value"),
        ("cost=-1", "bad_value"),
        ("estimated_time=soon", "bad_value"),
        ("inputs=a", "bad_value"),
        ("expected_outputs=a", "bad_value"),
        ("Status=COMPLETED", "managed_field"),
        ("title=", "bad_value"),
    ] {
        let error = project.refused(1, &["step", "set", "1", set])["error"].clone();
        assert_eq!(error["code"], code, "{set}: {error}");
        let (key, value) = set.split_once('=').unwrap();
        let change = json!([{ "op": "step.set", "step": 1, "set": { key: value } }]);
        let error = refused_with_input(&project, &["apply", "-"], &change.to_string());
        assert_eq!(error["code"], code, "{set}: {error}");
    }
    project.refused(1, &["step", "set", "2", "--cost", "1", "estimated_cost=2"]);
    project.ok(&["step", "add", "Third"]);
    let id = project.json(&["step", "show", "2"])["step"]["id"].clone();
    project.ok(&["step", "set", "3", "depends_on=2", "estimated_cost=0.5", "owner=ada"]);
    let step = project.json(&["step", "show", "3"])["step"].clone();
    assert_eq!(step["depends_on"], json!([id]));
    assert_eq!(step["estimated_cost"], "$0.50");
    assert!(project.read("plan.md").contains("- **owner**: ada\n"));
    let change = json!([{ "op": "step.set", "step": 3, "set": { "depends_on": [1, 2] } }]);
    project.ok_with_input(&["apply", "-"], &change.to_string());
    let listed = project.json(&["step", "show", "3"])["step"]["depends_on"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
    project.ok(&["step", "set", "3", "depends_on="]);
    assert_eq!(project.json(&["step", "show", "3"])["step"]["depends_on"], json!([]));
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}

#[test]
fn a_new_step_takes_fields_of_its_own() {
    let project = Project::new();
    let add = |set: Value| json!([{ "op": "step.add", "title": "A", "set": set }]).to_string();
    project.ok_with_input(&["apply", "-"], &add(json!({ "owner": "ada", "cost": 2 })));
    let plan = project.read("plan.md");
    assert!(
        plan.contains("- **owner**: ada\n") && plan.contains("- **estimated_cost**: "),
        "{plan}"
    );
    refused_with_input(&project, &["apply", "-"], &add(json!({ "status": "COMPLETED" })));
}

#[test]
fn a_plan_with_unfinished_steps_has_not_succeeded() {
    let project = Project::with_steps(3);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["step", "start", "2"]);
    let set = ["plan", "set", "status=COMPLETED_SUCCESS"];
    let error = project.refused(1, &set)["error"].clone();
    assert_eq!(error["code"], "unfinished_steps");
    assert!(error["message"].as_str().unwrap().contains("steps 2, 3 are"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("step show 2"), "{error}");
    project.ok(&["step", "done", "2"]);
    project.ok(&["step", "skip", "3"]);
    project.ok(&set);
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}
