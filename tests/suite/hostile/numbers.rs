//! Steps are renumbered, copied and removed: references still mean the same step.

use serde_json::json;

use crate::builder::{Project, line_diff};

/// Three steps, the last of which refers to the second by its number and waits for it.
fn referring() -> Project {
    let project = Project::with_steps(3);
    project.ok(&["step", "set", "3", "--input", "url={{steps.2.a}} of {{ steps.1.b }}"]);
    let plan = project.read("plan.md");
    let at = plan.find("### Step 3").unwrap();
    let status = at + plan[at..].find("- **status**: PENDING\n").unwrap();
    let mut changed = plan.clone();
    changed.insert_str(status, "- **depends_on**: 2 <!-- by hand -->\n");
    project.write("plan.md", changed);
    for step in ["1", "2"] {
        project.ok(&["step", "start", step]);
        let outputs = ["--output", &format!("a=from {step}"), "--output", "b=1"];
        project.ok(&[["step", "done", step].as_slice(), &outputs].concat());
    }
    project
}

#[test]
fn references_by_number_follow_an_inserted_step() {
    let project = referring();
    let before = project.read("plan.md");
    project.ok(&["step", "add", "Between", "--after", "1", "--input", "x={{steps.2.a}}"]);
    let after = project.read("plan.md");
    assert!(after.contains("url: {{steps.3.a}} of {{ steps.1.b }}\n"), "{after}");
    assert!(after.contains("- **depends_on**: 3 <!-- by hand -->\n"), "{after}");
    assert!(after.contains("x: {{steps.3.a}}\n"), "{after}");
    let lost: Vec<String> =
        line_diff(&before, &after).into_iter().filter(|line| line.starts_with('-')).collect();
    let expected = ["### Step", "url:", "depends_on", "current_step", "last_updated", "**status**"];
    for line in lost {
        assert!(expected.iter().any(|key| line.contains(key)), "{line}");
    }
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    project.ok(&["step", "start", "4"]);
}

#[test]
fn references_by_number_follow_when_a_step_is_removed() {
    let project = referring();
    let removed = project.json(&["step", "show", "1"])["step"]["id"].as_str().unwrap().to_owned();
    project.ok(&["step", "remove", "1"]);
    let after = project.read("plan.md");
    // The number of the removed step would mean another one now.
    let url = format!("url: {{{{steps.1.a}}}} of {{{{ step_data.outputs.{removed}.b }}}}\n");
    assert!(after.contains(&url), "{after}");
    assert!(after.contains("- **depends_on**: 1 <!-- by hand -->\n"), "{after}");
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    assert_eq!(project.refused(1, &["step", "remove", "1"])["error"]["code"], "needed");
}

#[test]
fn a_variable_that_is_called_steps_is_not_renumbered() {
    let project = Project::with_steps(2);
    project.ok(&["var", "set", "steps", r#"{"2":{"a":"mine"}}"#]);
    project.ok(&["step", "set", "2", "--input", "url={{steps.2.a}}"]);
    project.ok(&["step", "add", "Between", "--after", "1"]);
    assert!(project.read("plan.md").contains("url: {{steps.2.a}}\n"));
}

#[test]
fn a_copied_step_does_not_overwrite_what_the_first_one_gave() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--output", "k=1"]);
    let plan = project.read("plan.md");
    let (first, second) = (plan.find("### Step 1").unwrap(), plan.find("### Step 2").unwrap());
    let copy = plan[first..second].replace("Step 1:", "Step 3:").replace("COMPLETED", "RUNNING");
    let end = plan[second..].find("\n## ").map_or(plan.len(), |end| second + end);
    let (before, behind) = (plan[..end].trim_end(), &plan[end..]);
    project.write("plan.md", format!("{before}\n\n{}\n{behind}", copy.trim_end()));
    for args in [["step", "done", "3", "--output", "k=2"].as_slice(), &["step", "skip", "3"]] {
        let error = project.refused(4, args)["error"].clone();
        assert_eq!(error["code"], "duplicate_id");
        assert!(error["hint"].as_str().unwrap().contains("check --fix"), "{error}");
    }
    project.refused(4, &["step", "add", "Next", "--depends-on", "3"]);
    let id = |n: &str| project.json(&["step", "show", n])["step"]["id"].clone();
    let first = id("1");
    project.ok(&["check", "--fix"]);
    assert_eq!(id("1"), first);
    assert_ne!(id("3"), first);
    project.ok(&["step", "done", "3", "--output", "k=2"]);
    let outputs = project.json(&["var", "get", "step_data.outputs"])["value"].clone();
    assert_eq!(outputs[first.as_str().unwrap()]["k"], 1);
    assert_eq!(outputs[id("3").as_str().unwrap()]["k"], 2);
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}
