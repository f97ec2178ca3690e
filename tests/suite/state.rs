//! The state document, its schema and its way back; status, metrics, training data.

mod round_trip;
mod schema;

use serde_json::{Value, json};

use crate::builder::{FIVE, Project};

/// A state with a bit of everything.
fn eventful() -> Project {
    let project = Project::with_steps(3);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--output", "rows=42", "--cost", "0.02", "--time", "40s"]);
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "fail", "2", "--error", "timeout", "--time", "5s"]);
    project.ok(&["step", "retry", "2"]);
    project.ok(&["context", "add", "a *finding*"]);
    project.ok(&["directive", "add", "be brief"]);
    project.ok(&["history", "add", "Asked the user", "question=Which region?"]);
    project
}

fn schema_of(project: &Project) -> Value {
    serde_json::from_str(&project.ok(&["schema"]).stdout).unwrap()
}

fn held(mut document: Value) -> Value {
    document["revision"] = Value::Null;
    document["last_checkpoint"] = Value::Null;
    for entry in document["recent_history"].as_array_mut().unwrap() {
        entry["id"] = Value::Null;
    }
    document
}

#[test]
fn the_document_fits_its_schema_in_every_format() {
    let project = eventful();
    let schema = schema_of(&project);
    for args in [&["state"][..], &["state", "--json"], &["state", "--places"]] {
        let document = project.ok(args).json();
        assert_eq!(schema::violation(&schema, &document), None, "{args:?}");
    }
    let yaml = project.ok(&["state", "--format", "yaml"]).stdout;
    let document: Value = serde_yaml::from_str(&yaml).unwrap();
    assert_eq!(schema::violation(&schema, &document), None);
    let mut wrong = document;
    wrong["steps"][0]["attempts"] = json!("many");
    assert!(schema::violation(&schema, &wrong).is_some());
    assert!(project.ok(&["state", "--format", "md"]).stdout.contains("## recovery"));
    // An approval is used up by the move that it allows.
    let reviews = "## Reviews\n- [x] r1: gate g: plan to X — approved by ada — carried out\n";
    project.write("plan.md", format!("{}\n{reviews}", project.read("plan.md")));
    let document = project.ok(&["state"]).json();
    assert_eq!(document["reviews"][0]["used"], true, "{}", document["reviews"]);
    assert_eq!(schema::violation(&schema, &document), None);
}

#[test]
fn values_keep_their_types_and_places() {
    let project = eventful();
    project.ok(&["step", "set", "3", "--input", "n=3", "--input", "budget=$0.50"]);
    project.ok(&["constraint", "set", "max_execution_time", "300 seconds"]);
    project.ok(&["constraint", "set", "preferred_tools", "WebFetch, Read, Write"]);
    let state = project.json(&["state", "--places"]);
    let inputs = &state["steps"][2]["inputs"];
    assert_eq!(inputs[0]["value"], 3);
    assert_eq!((&inputs[1]["type"], &inputs[1]["value"]), (&json!("money"), &json!(0.5)));
    let settings = state["constraints"]["settings"].as_array().unwrap();
    let setting = |name: &str| settings.iter().find(|s| s["name"] == name).unwrap();
    let time = setting("max_execution_time");
    assert_eq!((&time["text"], &time["value"]), (&json!("300 seconds"), &json!(300)));
    assert_eq!(setting("preferred_tools")["value"], json!(["WebFetch", "Read", "Write"]));
    let line_of = |file: &str, text: &str| {
        project.read(file).lines().position(|line| line.contains(text)).unwrap() + 1
    };
    assert_eq!(state["steps"][1]["place"]["line"], line_of("plan.md", "### Step 2"));
    assert_eq!(
        time["place"],
        json!({ "file": "constraints.md",
        "line": line_of("constraints.md", "max_execution_time") })
    );
    let step_data = line_of("variables.json", "step_data");
    assert_eq!(state["places"]["variables"]["step_data"]["line"], step_data);
}

#[test]
fn a_damaged_file_does_not_hide_the_healthy_ones() {
    for name in FIVE {
        for gone in [true, false] {
            let project = eventful();
            if gone {
                std::fs::remove_file(project.path(name)).unwrap();
            } else if name == "history.md" {
                continue;
            } else {
                project.write(name, b"\xff\xfe broken");
            }
            let ran = project.run(&["state", "--json"]);
            assert_eq!(ran.code, 4, "{name} {}", ran.stderr);
            let state = ran.json();
            assert_eq!(state["ok"], false);
            assert_eq!(state["error"]["location"]["file"], name);
            assert_eq!(schema::violation(&schema_of(&project), &state), None, "{name}");
            let problems = state["problems"].as_array().unwrap();
            assert!(problems.iter().any(|problem| problem["file"] == name), "{problems:?}");
            let parts = [
                ("plan.md", !state["steps"].as_array().unwrap().is_empty()),
                ("context.md", state["context"].to_string().contains("finding")),
                ("variables.json", state["variables"]["step_data"].is_object()),
                ("history.md", !state["recent_history"].as_array().unwrap().is_empty()),
                ("constraints.md", state["constraints"]["directives"][0].is_object()),
            ];
            for (file, there) in parts {
                assert_eq!(there, file != name, "{file} while {name} is damaged");
            }
            let plain = project.run(&["state"]);
            assert_eq!(plain.code, 4);
            assert_eq!(plain.json()["schema_version"], 1);
            assert!(plain.stderr.starts_with("error: "), "{}", plain.stderr);
        }
    }
}

#[test]
fn losing_the_operation_log_changes_nothing_in_the_document() {
    let project = eventful();
    let state = project.json(&["state", "--places"]);
    std::fs::remove_dir_all(project.path(".statedir")).unwrap();
    let again = project.json(&["state", "--places"]);
    assert_eq!(held(again), held(state));
}

#[test]
fn import_builds_the_files_again_elsewhere() {
    let project = eventful();
    for (format, args) in
        [("json", &["import", "-"][..]), ("yaml", &["import", "--format", "yaml", "-"])]
    {
        let text = project.ok(&["state", "--format", format]).stdout;
        let copy = Project::empty();
        copy.ok_with_input(args, &text);
        assert_eq!(held(copy.json(&["state"])), held(project.json(&["state"])), "{format}");
        copy.ok(&["check"]);
        copy.ok(&["history", "verify"]);
        copy.ok(&["step", "done", "2"]);
    }
}

#[test]
fn a_long_history_is_carried_over_in_numbers() {
    let project = Project::with_steps(40);
    for step in 1..=30 {
        let step = step.to_string();
        project.ok(&["step", "start", &step]);
        project.ok(&["step", "done", &step, "--time", "2s", "--tool", "Read"]);
    }
    let state = project.json(&["state"]);
    assert_eq!(state["recent_history"].as_array().unwrap().len(), 20);
    let copy = Project::empty();
    copy.ok_with_input(&["import", "-"], &state.to_string());
    let again = copy.json(&["state"]);
    assert!(again["metrics"]["history_entries"].as_u64().unwrap() >= 30);
    assert_eq!(again["timing"]["execution_seconds"], 60.0);
    assert_eq!(held(again), held(state));
}

#[test]
fn import_needs_replace_where_there_is_a_state_and_can_be_undone() {
    let source = eventful();
    let document = source.ok(&["state"]).stdout;
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "fail", "1", "--error", "no"]);
    let before = project.json(&["state"]);
    let files = project.files();
    let refused = project.run_with_input(&["import", "-", "--json"], &document);
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (1, &json!("exists")));
    let dry = project.run_with_input(&["import", "-", "--replace", "--dry-run"], &document);
    assert_eq!(dry.code, 0, "{}", dry.stderr);
    assert_eq!(project.files(), files);
    project.ok_with_input(&["import", "-", "--replace"], &document);
    assert!(
        project.read("history.md").starts_with(&String::from_utf8_lossy(&files["history.md"])[..])
    );
    assert_eq!(held(project.json(&["state"])), held(source.json(&["state"])));
    project.ok(&["history", "verify"]);
    project.ok(&["undo"]);
    let undone = project.json(&["state"]);
    for part in ["identity", "steps", "variables", "context", "constraints", "progress"] {
        assert_eq!(undone[part], before[part], "{part}");
    }
    assert_eq!(undone["metrics"]["consecutive_failures"], 1);
    project.ok(&["redo"]);
    let redone = project.json(&["state"]);
    assert_eq!(redone["metrics"]["history"], source.json(&["state"])["metrics"]["history"]);
}

#[test]
fn import_takes_a_document_with_missing_parts() {
    let project = Project::empty();
    let document = json!({ "identity": { "goal": "Ship it" },
        "steps": [{ "title": "Build", "inputs": { "n": 3 } }, { "title": "Test", "depends_on": [1] }],
        "constraints": { "directives": ["be brief"] } });
    project.ok_with_input(&["import", "-"], &document.to_string());
    project.ok(&["check"]);
    let status = project.json(&["status"]);
    assert_eq!((&status["goal"], &status["total_steps"]), (&json!("Ship it"), &json!(2)));
    assert_eq!(project.json(&["directive", "list"])["directives"][0]["text"], "be brief");
    project.ok(&["step", "set", "1", "--tool", "Write"]);
    for (text, code) in [
        ("{}", "bad_document"),
        ("[]", "bad_document"),
        ("nonsense", "bad_json"),
        ("{\"steps\": 3}", "bad_document"),
        ("{\"schema_version\": 9, \"steps\": []}", "bad_document"),
    ] {
        let ran = Project::empty().run_with_input(&["import", "-", "--json"], text);
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!(code)), "{text}");
    }
}

#[test]
fn a_document_from_which_no_sound_state_follows_is_refused_with_the_place() {
    let step = json!({ "number": 1, "id": "aaaa", "title": "Build" });
    let with = |key: &str, value: Value| {
        let mut step = step.clone();
        step[key] = value;
        json!([step])
    };
    for (part, value, place) in [
        ("identity", json!("Ship it"), "`identity`"),
        ("status", json!("WHATEVER"), "`status`"),
        ("workflow", json!("version: 1\nretry_limit: -1\n"), "`workflow`"),
        ("steps", with("status", json!("WHATEVER")), "`steps[0].status`"),
        ("steps", with("title", json!(" ")), "`steps[0]`"),
        ("steps", with("depends_on", json!([7])), "`steps[0].depends_on`"),
        ("steps", json!([step, { "number": 2, "id": "aaaa", "title": "Test" }]), "`steps[1]`"),
        ("steps", json!([step, { "number": 1, "id": "bbbb", "title": "Test" }]), "`steps[1]`"),
    ] {
        let mut document = json!({ "identity": { "goal": "Ship it" }, "steps": [step] });
        Project::empty().ok_with_input(&["import", "-"], &document.to_string());
        document[part] = value;
        let ran =
            Project::empty().run_with_input(&["import", "-", "--json"], &document.to_string());
        let error = ran.json()["error"].clone();
        assert_eq!((ran.code, &error["code"]), (1, &json!("bad_document")), "{error}");
        assert!(error["message"].as_str().unwrap().starts_with(place), "{error}");
    }
    // A damaged state can be moved all the same.
    let project = Project::with_steps(1);
    project.edit("plan.md", "PENDING", "WHATEVER");
    let copy = Project::empty();
    let ran = copy.ok_with_input(&["import", "-"], &project.ok(&["state"]).stdout);
    assert!(ran.stdout.contains("`steps[0].status`"), "{}", ran.stdout);
}

#[test]
fn status_is_one_screen_however_long_the_plan() {
    let project = Project::with_steps(300);
    for (limit, value) in
        [("max_cost_per_task", "0.50"), ("max_file_operations", "20"), ("max_web_requests", "5")]
    {
        project.ok(&["constraint", "set", limit, value]);
    }
    project.ok(&["step", "start", "150"]);
    project.ok(&["step", "fail", "150", "--error", "no"]);
    project.ok(&["step", "start", "1", "--actor", "ada"]);
    for n in 0..20 {
        project.ok(&["directive", "add", &format!("rule {n}")]);
    }
    let screen = project.ok(&["status"]).stdout;
    assert!(screen.lines().count() < 40, "{screen}");
    for text in [
        "300)",
        "> ",
        "by ada",
        "failed    step 150",
        "more: statedir step list --limit 300",
        "more: statedir directive list",
        "file operations 0 of 20, web requests 0 of 5",
        "cost      $0.00 of $0.50",
        "next      Step 150 failed, 2 attempts left: fix the cause, then `statedir step retry 150`, or `statedir step start 2`.",
    ] {
        assert!(screen.replace("0/300 (0%)", "300)").contains(text), "{text}\n{screen}");
    }
    assert!(!screen.contains('\u{1b}'));
}

#[test]
fn metrics_add_up() {
    let project = eventful();
    project.ok(&["step", "done", "2", "--cost", "0.03", "--time", "10s"]);
    let metrics = project.json(&["metrics"]);
    assert_eq!(metrics["attempts"], 3);
    assert_eq!(metrics["retries"], 1);
    assert_eq!(metrics["total_cost"], 0.05);
    assert_eq!(metrics["total_time_ms"], 55_000);
    assert!((metrics["success_rate"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(metrics["steps"][1]["time_ms"], 15_000);
    assert_eq!(metrics["steps"][1]["cost"], 0.03);
    let brief = project.ok(&["brief"]).stdout.trim_end().len();
    let names = FIVE.iter().chain(&["workflow.yaml"]);
    let files = names.filter_map(|name| std::fs::metadata(project.path(name)).ok());
    let files: u64 = files.map(|found| found.len()).sum();
    let ratio = metrics["compression_ratio"].as_f64().unwrap();
    assert!((ratio - brief as f64 / files as f64).abs() < 0.01, "{ratio}");
    let size = project.read("plan.md").len();
    assert_eq!(metrics["sizes"]["plan.md"], size);
    assert!(metrics["sizes"][".statedir/log"].as_u64().unwrap() > 100);
    project.ok(&["undo"]);
    assert_eq!(project.json(&["metrics"])["recoveries"], 1);
    // What was undone no longer counts: cost, time and success are taken back together.
    let table = project.ok(&["metrics"]).stdout;
    for line in ["attempts      2: 1 completed, 1 failed", "success rate  50%", "time          45s"]
    {
        assert!(table.contains(line), "{line}\n{table}");
    }
}

#[test]
fn training_data_is_a_record_per_step_without_secrets_or_simulations() {
    let project = Project::with_steps(2);
    let key = ["AKIA", "IOSFODNN7EXAMPLE1"].concat();
    project.ok(&["history", "add", "Turn 1", "kind=turn", &format!("user_message=use {key}")]);
    project.ok(&["step", "set", "1", "--input", &format!("token={key}"), "--tool", "WebFetch"]);
    project.ok(&["step", "start", "1"]);
    let output = ["--output", "rows=42", "--output", "password=hunter2secret99"];
    project.ok(&[&["step", "done", "1", "--cost", "0.02", "--time", "3s"][..], &output].concat());
    project.ok(&["plan", "set", "mode=simulation"]);
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2"]);
    project.ok(&["plan", "set", "mode=execution"]);
    let text = project.ok(&["history", "export", "--format", "jsonl"]).stdout;
    assert!(!text.contains(&key) && !text.contains("hunter2"), "{text}");
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 1, "{text}");
    let record = &records[0];
    assert_eq!(record["conversation_trace"].as_array().unwrap().len(), 1);
    assert_eq!(record["tool_calls"][0]["tool_used"], "WebFetch");
    assert_eq!(record["tool_calls"][0]["real_outputs"]["rows"], 42);
    assert_eq!(record["tool_calls"][0]["real_outputs"]["password"], "[masked]");
    assert!(record["state_transitions"][0].as_str().unwrap().contains("COMPLETED"));
    let performance = json!({ "cost": 0.02, "time_seconds": 3.0, "success": true, "attempt": 1 });
    assert_eq!(record["performance_metrics"], performance);
    assert_eq!(project.json(&["history", "export"])["records"], json!(records));
}

#[test]
fn what_was_undone_is_no_success_in_the_training_data() {
    let project = Project::with_steps(2);
    let records = || project.json(&["history", "export"])["records"].as_array().unwrap().clone();
    let told = || -> Vec<(Value, Value)> {
        let pair =
            |one: &Value| (one["performance_metrics"]["success"].clone(), one["undone"].clone());
        records().iter().map(pair).collect()
    };
    let (undone, done) = ((json!(null), json!(true)), (json!(true), json!(null)));
    for step in ["1", "2"] {
        project.ok(&["step", "start", step]);
        project.ok(&["step", "done", step]);
    }
    assert_eq!(told(), [done.clone(), done.clone()], "a control");
    project.ok(&["undo"]);
    assert_eq!(told(), [done.clone(), undone.clone()]);
    project.ok(&["redo"]);
    assert_eq!(told(), [done.clone(), done.clone()]);
    project.ok(&["undo"]);
    project.ok(&["step", "done", "2"]);
    assert_eq!(told(), [done.clone(), undone, done]);
    assert!(records().iter().all(|record| record["step"].is_string()), "{:?}", records());
}

#[test]
fn import_knows_a_document_by_its_name_or_by_its_text() {
    let project = Project::with_steps(2);
    project.ok(&["var", "set", "a", "1"]);
    for (format, name) in [
        ("yaml", "s.yaml"),
        ("yaml", "s.YML"),
        ("yaml", "s.txt"),
        ("json", "s.json"),
        ("json", "s.txt"),
    ] {
        let document = project.ok(&["state", "--format", format]).stdout;
        let copy = Project::empty();
        let file = copy.root().join(name);
        std::fs::write(&file, &document).unwrap();
        copy.ok(&["import", &file.display().to_string()]);
        assert_eq!(copy.json(&["state"])["steps"], project.json(&["state"])["steps"], "{name}");
        let piped = Project::empty();
        piped.ok_with_input(&["import", "-"], &document);
        assert_eq!(piped.read("variables.json"), copy.read("variables.json"), "{name}");
    }
    let refused = Project::empty().run_with_input(&["import", "-", "--json"], "[1, 2");
    assert_eq!(refused.json()["error"]["code"], "bad_json");
}

#[test]
fn what_looks_like_a_placeholder_is_imported_as_the_value_it_is() {
    let project = Project::new();
    project
        .ok(&["step", "add", "Fill in", "--input", "name=[Goal Title]", "--output", "cost=$X.XX"]);
    project.ok(&["check"]);
    let copy = Project::empty();
    copy.ok_with_input(&["import", "-"], &project.ok(&["state"]).stdout);
    copy.ok(&["check"]);
    assert_eq!(copy.json(&["state"])["steps"], project.json(&["state"])["steps"]);
}
