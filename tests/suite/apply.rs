//! Many changes as one operation.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::builder::Project;

fn add(n: usize) -> Value {
    json!({ "op": "step.add", "title": format!("Do part {n}"), "component": "worker",
        "input": { "source": "a, b", "note": "two\nlines" }, "cost": "0.02" })
}

/// A file without ids and times, which differ between two states of the same content.
fn comparable(project: &Project, name: &str) -> String {
    let text = project.read(name);
    let lines = text.lines().filter(|line| {
        !["**id**", "execution_id", "_time", "last_updated"].iter().any(|key| line.contains(key))
    });
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn steps_added_together_are_written_as_steps_added_one_by_one() {
    for edit in ["", "\r\n", "no final line end", "\n## Notes\nbehind the steps\n"] {
        let (together, apart) = (Project::with_steps(1), Project::with_steps(1));
        for project in [&together, &apart] {
            let plan = project.read("plan.md");
            match edit {
                "" => {}
                "\r\n" => project.write("plan.md", plan.replace('\n', "\r\n")),
                "no final line end" => project.write("plan.md", plan.trim_end()),
                text => project.write("plan.md", plan + text),
            }
        }
        let changes: Vec<Value> = (2..=6).map(add).collect();
        together.ok_with_input(&["apply", "-"], &Value::from(changes.clone()).to_string());
        for change in changes {
            apart.ok_with_input(&["apply", "-"], &json!([change]).to_string());
        }
        for name in ["plan.md", "variables.json", "constraints.md"] {
            assert_eq!(comparable(&together, name), comparable(&apart, name), "{edit:?} {name}");
        }
        together.ok(&["check", "--strict"]);
    }
}

#[test]
fn a_step_can_wait_for_one_that_is_added_with_it() {
    let project = Project::new();
    let mut changes: Vec<Value> = (1..=4).map(add).collect();
    changes[3]["depends_on"] = json!([2, 3]);
    project.ok_with_input(&["apply", "-"], &Value::from(changes).to_string());
    let steps = project.json(&["step", "list"]);
    let named = |n: usize| format!("{n} ({})", steps["steps"][n - 1]["id"].as_str().unwrap());
    assert_eq!(steps["steps"][3]["waits_for"], json!([named(2), named(3)]), "{steps}");
}

#[test]
fn a_rule_answers_the_very_addition_that_makes_it_true() {
    let project = Project::new();
    project.ok(&["rule", "add", "If total_steps >= 4 -> set priority to \"quality\""]);
    let changes: Vec<Value> = (1..=7).map(add).collect();
    let applied =
        project.ok_with_input(&["apply", "-", "--json"], &Value::from(changes).to_string());
    let answers = applied.json()["answers"].clone();
    let fired: Vec<usize> =
        (1..=7).filter(|n| answers[n - 1].to_string().contains("quality")).collect();
    assert_eq!(fired, [4], "{answers}");
    assert!(project.ok(&["constraint", "get", "priority"]).stdout.contains("quality"));
}

#[test]
fn of_steps_added_together_the_refused_one_is_named() {
    let project = Project::with_steps(1);
    let before = project.files();
    let mut changes: Vec<Value> = (2..=9).map(add).collect();
    changes[5]["title"] = json!("two\nlines");
    let ran = project.run_with_input(&["apply", "-"], &Value::from(changes).to_string());
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("6 of 8"), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

#[test]
fn four_times_the_steps_take_about_four_times_as_long() {
    let time = |count: usize| -> Duration {
        let project = Project::new();
        let changes: Vec<Value> = (1..=count).map(add).collect();
        let input = Value::from(changes).to_string();
        let began = Instant::now();
        project.ok_with_input(&["apply", "-"], &input);
        began.elapsed()
    };
    // The fastest of several runs, because the machine may be busy.
    let quickest = |count| (0..3).map(|_| time(count)).min().unwrap();
    let (few, many) = (quickest(300), quickest(1200));
    assert!(many < few * 8, "{few:?} for 300 steps, {many:?} for 1,200");
}

/// The names in backticks behind `expected` in a message of the parser.
fn expected(message: &str) -> Vec<String> {
    let names = message.split_once("expected").map_or("", |(_, names)| names);
    names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_help_names_every_operation_with_all_of_its_members() {
    let project = Project::new();
    let help = project.ok(&["apply", "--help"]).stdout;
    let refused = |change: &Value| {
        let ran = project.run_with_input(&["apply", "-", "--json"], &change.to_string());
        ran.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    };
    let unknown = serde_json::from_value::<statedir::Change>(json!({ "op": "" }));
    let operations = expected(&unknown.unwrap_err().to_string());
    assert!(operations.len() > 30 && operations.iter().any(|op| op == "step.reorder"));
    // The table: operations to the left, their members to the right, continued below.
    let table = help.split("\n\n").find(|part| part.contains("plan.set  ")).unwrap();
    let (mut rows, mut names): (Vec<(String, String)>, String) = (Vec::new(), String::new());
    for line in table.lines() {
        let (left, right) = line.split_at(line.len().min(31));
        names.push_str(left.trim());
        if right.is_empty() {
            continue;
        }
        match names.is_empty() {
            true => rows.last_mut().unwrap().1.push_str(right),
            false => rows.push((std::mem::take(&mut names), right.to_owned())),
        }
    }
    // Other spellings that are read, too.
    let spellings = ["tool_mapping", "inputs", "outputs", "expected_outputs", "estimated_cost"];
    let spellings =
        [&spellings[..], &["estimated_time", "side_effects", "assistant_response"]].concat();
    for operation in operations {
        let is_row =
            |(names, _): &&(String, String)| names.split([',', ' ']).any(|name| name == operation);
        let (_, members) =
            rows.iter().find(is_row).unwrap_or_else(|| panic!("{operation}\n{help}"));
        let listed: Vec<&str> = members.split(|c: char| !c.is_alphabetic() && c != '_').collect();
        let known = expected(&refused(&json!({ "op": operation, "no such member": 1 })));
        let own = if operation == "step.move" { &["status", "why"][..] } else { &[] };
        let is_spelling = |member: &&String| {
            spellings.contains(&member.as_str()) || own.contains(&member.as_str())
        };
        for member in known.iter().filter(|member| !is_spelling(member)) {
            assert!(listed.contains(&member.as_str()), "{operation}: {member}\n{help}");
        }
    }
}

#[test]
fn an_unknown_op_is_answered_with_what_was_meant() {
    let project = Project::with_steps(1);
    for (typed, meant) in [
        ("step.ad", "did you mean `step.add`? `statedir apply --help` lists all of them"),
        ("step_done", "did you mean `step.done`? `statedir apply --help` lists all of them"),
        ("pause", "did you mean `plan.pause`? `statedir apply --help` lists all of them"),
        ("xyzzy", "`statedir apply --help` lists all of them"),
    ] {
        let ran =
            project.run_with_input(&["apply", "-", "--json"], &json!({"op": typed}).to_string());
        let error = &ran.json()["error"];
        assert_eq!(error["message"], format!("change 1 of 1: there is no op `{typed}`"));
        assert_eq!(error["hint"], meant);
    }
}

#[test]
fn what_is_no_change_is_refused_in_plain_words() {
    let project = Project::with_steps(1);
    for (input, fault) in [
        ("[1, 2]", "change 1 of 2: 1 is not an object"),
        ("null", "change 1 of 1: null is not an object"),
        (
            r#"[{"op": "step.start"}, "step.done"]"#,
            r#"change 2 of 2: "step.done" is not an object"#,
        ),
        (r#"{"title": "x"}"#, "change 1 of 1: it has no `op`"),
        (r#"{"op": 5}"#, "change 1 of 1: its `op` is 5, not a text"),
    ] {
        let ran = project.run_with_input(&["apply", "-", "--json"], input);
        let error = ran.json()["error"].clone();
        assert_eq!(
            (ran.code, &error["code"], &error["message"]),
            (1, &"bad_change".into(), &fault.into())
        );
        assert!(
            error["hint"].as_str().unwrap().starts_with("a change is an object such as"),
            "{error}"
        );
    }
}
