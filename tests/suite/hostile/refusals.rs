//! What would be dropped or contradict itself is refused, with a way out, and changes nothing.

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
