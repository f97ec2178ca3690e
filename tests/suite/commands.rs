//! Each command makes its change and touches nothing else.

use serde_json::json;

use crate::builder::{FIVE, Project, line_diff};

#[test]
fn init_writes_five_files_that_are_consistent() {
    let project = Project::new();
    for name in FIVE {
        assert!(!project.read(name).is_empty(), "{name}");
    }
    assert!(project.read("plan.md").contains("- **goal**: Compare three vector databases\n"));
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}

#[test]
fn init_refuses_to_overwrite() {
    let project = Project::new();
    let refusal = project.refused(1, &["init", "--goal", "Something else"]);
    assert_eq!(refusal["error"]["code"], "exists");
}

#[test]
fn init_completes_a_directory_where_files_are_missing() {
    let project = Project::new();
    let context = project.read("context.md");
    std::fs::remove_file(project.path("context.md")).unwrap();
    std::fs::remove_dir_all(project.path(".statedir")).unwrap();
    let plan = project.read("plan.md");
    project.ok(&["init"]);
    assert_eq!(project.read("context.md"), context);
    assert_eq!(project.read("plan.md"), plan);
}

#[test]
fn init_adopts_a_clone_and_leaves_its_files_alone() {
    let project = Project::with_steps(2);
    let files = project.files();
    std::fs::remove_dir_all(project.path(".statedir")).unwrap();
    assert_eq!(project.json(&["init"])["adopted"], true);
    assert_eq!(project.files(), files);
    project.ok(&["step", "start", "1"]);
}

#[test]
fn a_goal_that_imitates_structure_stays_a_goal() {
    let goal = "line one\n## Steps\n### Step 1: forged\n- **status**: COMPLETED\n```\n-->";
    let project = Project::empty();
    project.ok(&["init", "--goal", goal]);
    let status = project.json(&["status"]);
    assert_eq!(status["goal"], goal);
    assert_eq!(status["total_steps"], 0);
    assert_eq!(project.json(&["var", "get", "execution_metadata.goal"])["value"], goal);
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}

#[test]
fn a_step_goes_through_its_life_in_one_operation_each() {
    let project = Project::with_steps(2);
    let before = project.json(&["op", "log"])["operations"].as_array().unwrap().len();
    assert_eq!(project.changed_by(&["step", "start", "1"]), ["plan.md"]);
    let files = project.changed_by(&["step", "done", "1", "--output", "rows=42", "--cost", "0.02"]);
    assert_eq!(files, ["history.md", "plan.md", "variables.json"]);
    let after = project.json(&["op", "log"])["operations"].as_array().unwrap().len();
    assert_eq!(after - before, 2);
    let status = project.json(&["status"]);
    assert_eq!(status["status"], "IN_PROGRESS");
    assert_eq!(status["current_step"], 2);
    assert_eq!(status["total_cost"], 0.02);
    let id = project.json(&["step", "show", "1"])["step"]["id"].as_str().unwrap().to_owned();
    let output = format!("step_data.outputs.{id}.rows");
    assert_eq!(project.json(&["var", "get", &output])["value"], 42);
    let entries = project.json(&["history", "list"]);
    assert_eq!(entries["entries"][0]["title"], "Step 1 Execution");
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}

#[test]
fn costs_add_up_exactly() {
    let project = Project::with_steps(3);
    for (step, cost) in [("1", "0.1"), ("2", "$0.20"), ("3", "0.000001")] {
        project.ok(&["step", "start", step]);
        project.ok(&["step", "done", step, "--cost", cost]);
    }
    assert_eq!(project.json(&["var", "get", "cost_tracking.total_cost"])["value"], 0.300001);
    assert_eq!(project.json(&["status"])["status"], "COMPLETED_SUCCESS");
}

#[test]
fn illegal_transitions_are_refused() {
    let project = Project::with_steps(2);
    for args in [["step", "done", "1"], ["step", "fail", "1"], ["step", "retry", "1"]] {
        assert_eq!(project.refused(1, &args)["error"]["code"], "illegal_transition");
    }
    project.ok(&["step", "start", "1"]);
    assert_eq!(project.refused(1, &["step", "start", "1"])["error"]["code"], "illegal_transition");
    project.ok(&["step", "done", "1"]);
    assert_eq!(project.refused(1, &["step", "start", "1"])["error"]["code"], "illegal_transition");
    assert_eq!(project.refused(1, &["step", "start", "9"])["error"]["code"], "not_found");
}

#[test]
fn a_step_waits_for_its_dependencies() {
    let project = Project::with_steps(1);
    project.ok(&["step", "add", "Summarise", "--depends-on", "1"]);
    assert_eq!(project.refused(1, &["step", "start", "2"])["error"]["code"], "dependency_open");
    assert_eq!(project.json(&["step", "next"])["step"]["number"], 1);
    project.ok(&["step", "next", "--claim"]);
    project.refused(1, &["step", "next"]);
    project.ok(&["step", "done"]);
    assert_eq!(project.json(&["step", "next", "--claim"])["step"]["number"], 2);
}

#[test]
fn inserting_a_step_renumbers_and_keeps_identities() {
    let project = Project::with_steps(3);
    project.ok(&["step", "set", "3", "--depends-on", "2"]);
    let id = |n: &str| project.json(&["step", "show", n])["step"]["id"].clone();
    let (second, third) = (id("2"), id("3"));
    project.ok(&["step", "add", "Between", "--after", "1"]);
    assert_eq!(id("3"), second);
    assert_eq!(id("4"), third);
    assert_eq!(project.json(&["step", "show", "4"])["step"]["depends_on"], json!([second]));
    assert_eq!(project.json(&["step", "show", "2"])["step"]["title"], "Between");
    project.ok(&["check"]);
    project.ok(&["step", "remove", "2"]);
    assert_eq!(id("2"), second);
    project.ok(&["check"]);
}

#[test]
fn finishing_one_of_two_hundred_reworded_steps_changes_only_its_lines() {
    let project = Project::with_steps(200);
    let mut plan = project.read("plan.md");
    plan = plan.replace(
        "### Step 37: Do part 37\n",
        "### Step 37: Do part 37\nAda: check *this* one twice.\n\n",
    );
    plan = plan.replace(
        "### Step 90: Do part 90",
        "Some prose in between.\n\n### Step 90: Reworded — שלום",
    );
    plan.push_str("\n## Notes\n\n> a quote with\n> - **status**: COMPLETED\n\n```\n### Step 1: not a step\n```\n");
    project.write("plan.md", &plan);
    project.ok(&["step", "start", "37"]);
    let before = project.read("plan.md");
    project.ok(&["step", "done", "37"]);
    let diff = line_diff(&before, &project.read("plan.md"));
    let expected = ["-- **status**: RUNNING", "+- **status**: COMPLETED"];
    for line in expected {
        assert!(diff.contains(&line.to_owned()), "{diff:?}");
    }
    let step = project.json(&["step", "show", "37"])["step"].clone();
    let rest = diff.iter().filter(|line| !expected.contains(&line.as_str()));
    for line in rest {
        let id = step["id"].as_str().unwrap();
        let managed = ["Step 37: ", "**result**", id].iter().any(|key| line.contains(key));
        assert!(managed, "{line}");
    }
    assert_eq!(project.json(&["status"])["total_steps"], 200);
}

#[test]
fn variables_are_edited_in_place() {
    let project = Project::new();
    let odd = "{\n    \"b\": 1.10,\n    \"a\" : [1e2, {\"x\":\"\\u00e9\"}],\n    \"c\": {}\n}";
    project.write("variables.json", odd);
    project.ok(&["var", "set", "c.d", "true"]);
    let text = project.read("variables.json");
    assert!(text.contains("\"b\": 1.10,\n    \"a\" : [1e2, {\"x\":\"\\u00e9\"}],"), "{text}");
    assert_eq!(project.json(&["var", "get", "/a/0"])["value"], 100.0);
    project.ok(&["var", "append", "a", "-5"]);
    project.ok(&["var", "set", "version", "1.0", "--string"]);
    assert_eq!(project.json(&["var", "get", "version"])["value"], "1.0");
    project.ok(&["var", "unset", "b"]);
    project.refused(1, &["var", "get", "b"]);
    project.ok_with_input(&["var", "merge", "-"], r#"{"c":{"d":null,"e":1}}"#);
    assert_eq!(project.json(&["var", "get", "c"])["value"], json!({ "e": 1 }));
    let patch =
        r#"[{"op":"test","path":"/c/e","value":1},{"op":"move","from":"/c/e","path":"/f"}]"#;
    project.ok_with_input(&["var", "patch", "-"], patch);
    assert_eq!(project.json(&["var", "get", "f"])["value"], 1);
}

#[test]
fn a_number_that_is_spelled_in_another_way_is_told() {
    let project = Project::new();
    let run = project.ok(&["var", "set", "python", "3.10"]);
    assert!(run.stderr.contains("3.10 was read as the number 3.1"), "{}", run.stderr);
    for kept in
        [&["var", "set", "a", "3.5"][..], &["var", "set", "b", "10"], &["var", "set", "c", "1.0"]]
    {
        assert_eq!(project.ok(kept).stderr, "");
    }
    assert_eq!(project.ok(&["var", "set", "python", "3.10", "--string"]).stderr, "");
}

#[test]
fn context_text_stays_in_its_section() {
    let project = Project::new();
    let text = "# A heading\n\n```\nunclosed fence\n## Current Understanding\n<!-- unclosed";
    project.ok_with_input(&["context", "add", "--section", "Key Findings", "-"], text);
    project.ok(&["context", "add", "and *one* more"]);
    let sections = project.json(&["context", "show"]);
    let titles: Vec<_> =
        sections["sections"].as_array().unwrap().iter().map(|s| s["title"].clone()).collect();
    for title in ["Key Findings", "Current Understanding", "Decision Rationale"] {
        assert_eq!(titles.iter().filter(|found| *found == title).count(), 1, "{titles:?}");
    }
    let shown = project.ok(&["context", "show", "--section", "Key Findings"]).stdout;
    assert!(shown.contains("unclosed fence") && shown.contains("and *one* more"), "{shown}");
    let refusal = project.refused(1, &["context", "add", "--section", "Key Finding", "x"]);
    assert!(refusal["error"]["hint"].as_str().unwrap().contains("Key Findings"));
}

#[test]
fn constraints_take_allowed_values_only() {
    let project = Project::new();
    assert_eq!(
        project.changed_by(&["constraint", "set", "priority", "cost_efficiency"]),
        ["constraints.md"]
    );
    assert_eq!(project.json(&["constraint", "get", "priority"])["value"], "cost_efficiency");
    assert!(project.read("constraints.md").contains("- **priority**: \"cost_efficiency\"\n"));
    let refusal = project.refused(1, &["constraint", "set", "priority", "speed"]);
    assert!(refusal["error"]["message"].as_str().unwrap().contains("cost_efficiency"));
    project.refused(1, &["constraint", "set", "prioritty", "quality"]);
    project.ok(&["constraint", "set", "preferred_tools", r#"["Read"]"#]);
    assert!(project.read("constraints.md").contains("- **preferred_tools**: [\"Read\"]\n"));
    project.ok(&["directive", "add", "be brief", "--for-steps", "2"]);
    let listed = project.json(&["directive", "list"]);
    assert_eq!(listed["directives"][0]["text"], "For the next 2 steps, be brief");
    project.ok(&["directive", "remove", "1"]);
    assert_eq!(project.json(&["directive", "list"])["directives"], json!([]));
}

#[test]
fn apply_is_all_or_nothing() {
    let project = Project::with_steps(1);
    let changes = r#"[{"op":"var.set","path":"a","value":1},{"op":"step.done","step":1}]"#;
    let before = project.files();
    let ran = project.run_with_input(&["apply", "-", "--json"], changes);
    assert_eq!(ran.code, 1);
    assert!(ran.json()["error"]["message"].as_str().unwrap().starts_with("change 2 of 2"));
    assert_eq!(project.files(), before);
    let changes = "{\"op\":\"var.set\",\"path\":\"a\",\"value\":1}\n{\"op\":\"step.start\",\"step\":1}\n{\"op\":\"step.done\",\"step\":1}";
    project.ok_with_input(&["apply", "-"], changes);
    project.ok(&["undo"]);
    assert_eq!(project.json(&["status"])["pending"], 1);
    project.refused(1, &["var", "get", "a"]);
}

#[test]
fn undo_and_redo_give_back_exact_bytes() {
    let project = Project::with_steps(2);
    let mut states = vec![project.files()];
    for args in [
        vec!["step", "start", "1"],
        vec!["context", "add", "a finding"],
        vec!["var", "set", "x.y", "[1,2]"],
        vec!["step", "done", "1", "--cost", "0.05"],
        vec!["constraint", "set", "priority", "quality"],
    ] {
        project.ok(&args);
        states.push(project.files());
    }
    let rewritable = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
        let mut files = files.clone();
        files.remove("history.md");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        files.into_iter().map(|(name, bytes)| (name, text(bytes))).collect::<Vec<_>>()
    };
    // The last change set the value that was there, so it made no operation.
    assert_eq!(rewritable(&states[4]), rewritable(&states[5]));
    for state in states[..4].iter().rev() {
        project.ok(&["undo"]);
        assert_eq!(rewritable(&project.files()), rewritable(state));
    }
    for state in &states[1..5] {
        project.ok(&["redo"]);
        assert_eq!(rewritable(&project.files()), rewritable(state));
    }
    assert_eq!(project.refused(1, &["redo"])["error"]["code"], "nothing_to_do");
    project.ok(&["history", "verify"]);
}

#[test]
fn an_edit_made_outside_is_recorded_and_can_be_undone() {
    let project = Project::with_steps(1);
    let before = project.read("plan.md");
    project.edit("plan.md", "Do part 1", "Do part one, carefully");
    project.ok(&["var", "set", "a", "1"]);
    assert!(project.read("plan.md").contains("carefully"));
    let log = project.json(&["op", "log"]);
    assert_eq!(log["operations"][1]["kind"], "external");
    assert_eq!(log["operations"][1]["files"], json!(["plan.md"]));
    project.ok(&["undo"]);
    project.ok(&["undo"]);
    assert_eq!(project.read("plan.md"), before);
}

#[test]
fn a_revision_that_moved_on_is_a_conflict() {
    let project = Project::new();
    let revision = project.json(&["status"])["revision"].as_str().unwrap().to_owned();
    project.ok(&["var", "set", "a", "1", "--if-match", &revision]);
    let refusal = project.refused(3, &["var", "set", "a", "2", "--if-match", &revision]);
    assert_eq!(refusal["error"]["code"], "revision_moved");
    let revision = project.json(&["status"])["revision"].as_str().unwrap().to_owned();
    project.edit("context.md", "## Current Understanding\n", "## Current Understanding\nx\n");
    assert_ne!(project.json(&["status"])["revision"], revision.as_str());
    project.refused(3, &["var", "set", "a", "2", "--if-match", &revision]);
    let revision = project.json(&["status"])["revision"].as_str().unwrap().to_owned();
    project.ok(&["var", "set", "a", "3", "--if-match", &revision]);
}

#[test]
fn a_dry_run_prints_the_diff_and_writes_nothing() {
    let project = Project::with_steps(1);
    let before = project.files();
    let ran = project.ok(&["step", "start", "1", "--dry-run"]);
    assert!(
        ["-- **status**: PENDING\n", "+- **status**: RUNNING\n"]
            .iter()
            .all(|line| ran.stdout.contains(line)),
        "{}",
        ran.stdout
    );
    assert_eq!(project.files(), before);
    let operations = project.json(&["op", "log"])["operations"].as_array().unwrap().len();
    project.ok(&["undo", "--dry-run"]);
    assert_eq!(project.json(&["op", "log"])["operations"].as_array().unwrap().len(), operations);
}

#[test]
fn diff_compares_operations_and_working_files() {
    let project = Project::new();
    project.ok(&["var", "set", "a", "1"]);
    project.ok(&["var", "set", "a", "2"]);
    let diff = project.ok(&["diff", "@-", "@", "--text"]).stdout;
    assert!(diff.contains("-  \"a\": 1") && diff.contains("+  \"a\": 2"), "{diff}");
    assert!(project.ok(&["diff"]).stdout.starts_with("no changes since "));
    project.edit("variables.json", "\"a\": 2", "\"a\": 3");
    assert_eq!(project.ok(&["diff"]).stdout, "variables.a: 2 → 3\n");
    assert!(project.ok(&["diff", "--text"]).stdout.contains("+  \"a\": 3"));
}

#[test]
fn state_merges_all_files() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "fail", "1", "--error", "timeout", "--cost", "0.01"]);
    let state = project.json(&["state"]);
    assert_eq!(state["identity"]["goal"], "Compare three vector databases");
    assert_eq!(state["progress"]["failed"], 1);
    assert_eq!(state["errors"][0]["error"], "timeout");
    assert_eq!(state["recovery"]["resume_from"]["number"], 1);
    assert_eq!(state["metrics"]["consecutive_failures"], 1);
    assert!(project.ok(&["state", "--format", "yaml"]).stdout.contains("schema_version: 1"));
    assert!(project.ok(&["state", "--format", "md"]).stdout.contains("## progress"));
    std::fs::remove_dir_all(project.path(".statedir")).unwrap();
    let mut again = project.json(&["state"]);
    again["revision"] = state["revision"].clone();
    assert_eq!(again, state);
}

#[test]
fn no_state_is_a_clear_refusal() {
    let project = Project::empty();
    assert_eq!(project.refused(1, &["status"])["error"]["code"], "no_state");
    assert_eq!(project.refused(1, &["var", "set", "a", "1"])["error"]["code"], "no_state");
    assert_eq!(project.refused(1, &["init"])["error"]["code"], "no_goal");
    assert!(!project.dir().join("plan.md").exists());
}

#[test]
fn a_step_written_by_hand_is_a_step() {
    let project = Project::with_steps(1);
    let mut plan = project.read("plan.md");
    plan.push_str("\n### Step 2: Written by hand\nSome words about it.\n");
    project.write("plan.md", &plan);
    project.ok(&["check", "--fix"]);
    assert_eq!(project.json(&["step", "list"])["steps"][1]["status"], "PENDING");
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2"]);
    let shown = project.json(&["step", "show", "2"]);
    assert_eq!(shown["step"]["status"], "COMPLETED");
    assert!(shown["step"]["id"].is_string());
    assert!(project.read("plan.md").contains("Some words about it.\n"));
    project.ok(&["check"]);
}

#[test]
fn a_history_that_was_cut_is_noticed_and_made_whole() {
    let project = Project::with_steps(1);
    for title in ["One", "Two", "Three"] {
        project.ok(&["history", "add", title]);
    }
    let whole = project.read("history.md");
    let cut = whole.find("### Three").unwrap();
    project.write("history.md", whole[..cut].trim_end_matches('\n').to_owned() + "\n");
    let refusal = project.refused(4, &["history", "verify"]);
    assert_eq!(refusal["verification"]["problems"][0]["kind"], "cut_tail");
    assert_eq!(project.run(&["check"]).code, 4);
    project.ok(&["check", "--fix"]);
    assert_eq!(project.read("history.md"), whole);
    project.ok(&["history", "verify"]);
}

#[test]
fn a_number_that_would_be_rounded_is_refused() {
    let project = Project::new();
    let before = project.read("variables.json");
    for number in ["12345678901234567890123", "[1, 0.1000000000000000055511151231257827]"] {
        let ran = project.run(&["var", "set", "n", number]);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("--string"), "{}", ran.stderr);
    }
    assert_eq!(project.read("variables.json"), before);
    project.ok(&["var", "set", "n", "12345678901234567890123", "--string"]);
    project.ok(&["event", "emit", "measured", "n=12345678901234567890124", "m=1.50"]);
    let history = project.read("history.md");
    assert!(history.contains("12345678901234567890124") && history.contains("1.5"), "{history}");
    project.ok(&["var", "set", "m", "18446744073709551615"]);
    assert!(project.read("variables.json").contains(": 18446744073709551615"));
}

#[test]
fn a_new_title_is_in_the_answer() {
    let project = Project::with_steps(2);
    let answer = project.json(&["step", "set", "2", "title=NEW", "--tool", "grep"]);
    assert_eq!((&answer["step"]["title"], &answer["step"]["number"]), (&json!("NEW"), &json!(2)));
}

#[test]
fn several_steps_start_and_end_in_one_operation() {
    let project = Project::with_steps(4);
    let count = |role: &str| project.json(&["status"])[role].clone();
    let before = project.json(&["op", "log"])["operations"].as_array().unwrap().len();
    let started = project.json(&["step", "start", "1", "2"]);
    assert_eq!(started["answers"].as_array().unwrap().len(), 2, "{started}");
    let done = project.json(&["step", "done", "1", "2", "--note", "both at once"]);
    assert_eq!(done["answers"].as_array().unwrap().len(), 2, "{done}");
    assert_eq!(count("completed"), 2);
    let after = project.json(&["op", "log"])["operations"].as_array().unwrap().len();
    assert_eq!(after, before + 2);
    // All or none of them.
    let files = project.files();
    project.refused(1, &["step", "skip", "3", "9"]);
    let refused = project.refused(1, &["step", "skip", "3-4"]);
    assert_eq!(refused["error"]["message"], "there is no step `3-4`");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("`3 4`"), "{refused}");
    let refused = project.refused(2, &["step", "skip", "3", "4", "--cost", "1"]);
    assert_eq!(refused["error"]["message"], "`--cost` belongs to one step, and several are named");
    assert_eq!(project.files(), files);
    project.ok(&["step", "skip", "3", "4"]);
    assert_eq!(count("skipped"), 2);
    project.ok(&["undo"]);
    assert_eq!(count("pending"), 2);
}
