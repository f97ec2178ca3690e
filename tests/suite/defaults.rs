//! A new state is quiet: nothing is limited, asked or changed until somebody sets it.

use serde_json::{Value, json};

use crate::{
    builder::{Project, Ran},
    lifecycle,
};

const LIMITS: [&str; 4] =
    ["max_cost_per_task", "max_execution_time", "max_file_operations", "max_web_requests"];
const UNSET: [&str; 3] = ["user_sentiment", "active_persona", "preferred_tools"];

fn value(project: &Project, name: &str) -> String {
    project.ok(&["constraint", "get", name]).stdout.trim().to_owned()
}

/// One event of an agent's client.
fn hook(project: &Project, name: &str, tool: &str) -> Ran {
    let event = json!({ "hook_event_name": name, "session_id": "s1", "cwd": project.root(),
        "tool_name": tool, "tool_input": { "url": "https://example.org", "file_path": "a.md" } });
    project.run_with_input(&["hook"], &event.to_string())
}

/// Asks whether a tool may be used, uses it, and says how often a person would have been asked.
fn questions(project: &Project, uses: usize) -> usize {
    let mut asked = 0;
    for _ in 0..uses {
        for tool in ["WebFetch", "Write"] {
            asked += usize::from(hook(project, "PreToolUse", tool).stdout.contains("\"ask\""));
            hook(project, "PostToolUse", tool);
        }
    }
    asked
}

/// Uses money and time, and says which rules and limits that set off.
fn spend(project: &Project) -> (Value, Value) {
    project.ok(&["step", "add", "Spend"]);
    project.ok(&["step", "start", "1"]);
    let done = ["step", "done", "1", "--cost", "1000", "--time", "30h", "--tool", "Hammer"];
    let answer = project.json(&done);
    let notices = answer["notices"].as_array().cloned().unwrap_or_default();
    let notices: Vec<&Value> =
        notices.iter().filter(|notice| notice.to_string().contains("preferred")).collect();
    assert_eq!(answer["limits_exceeded"].is_null(), notices.is_empty());
    (answer["fired"].clone(), answer["limits_exceeded"].clone())
}

#[test]
fn a_fresh_state_limits_nothing_and_changes_nothing_by_itself() {
    let project = Project::new();
    let before = project.read("constraints.md");
    assert_eq!(spend(&project), (Value::Null, Value::Null));
    assert_eq!(project.read("constraints.md"), before);
    let status = project.ok(&["status"]).stdout;
    assert!(status.contains("cost      $1000.00\n") && !status.contains("limits "), "{status}");
    project.ok(&["check", "--strict"]);

    // The control: with the limits of the classic template the same sets off rules and limits.
    let classic = Project::classic();
    let (fired, exceeded) = spend(&classic);
    assert_eq!(fired.as_array().unwrap().len(), 2, "{fired}");
    assert_eq!(exceeded.as_array().unwrap().len(), 2, "{exceeded}");
}

#[test]
fn the_rules_of_a_fresh_state_follow_a_limit_that_is_set() {
    for (limit, value, option, amount, priority) in [
        ("max_cost_per_task", "2", "--cost", "1.7", "cost_efficiency"),
        ("max_execution_time", "1h", "--time", "50m", "speed_and_clarity"),
    ] {
        let project = Project::with_steps(1);
        project.ok(&["constraint", "set", limit, value]);
        project.ok(&["step", "start", "1"]);
        project.ok(&["step", "done", "1", option, amount]);
        assert_eq!(self::value(&project, "priority"), priority, "{limit}");
    }
}

#[test]
fn hooks_ask_nobody_because_of_a_default() {
    assert_eq!(questions(&Project::new(), 30), 0);
    // The control: limits that somebody set are asked about, once each.
    assert_eq!(questions(&Project::classic(), 21), 2);
}

#[test]
fn a_step_that_failed_too_often_holds_nothing_else_back() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    for retry in [true, true, false] {
        project.ok(&["step", "fail", "1", "--error", "no"]);
        if retry {
            project.ok(&["step", "retry", "1"]);
        }
    }
    project.refused(1, &["step", "retry", "1"]);
    assert_eq!(project.json(&["status"])["open_reviews"].as_array().unwrap().len(), 1);
    assert_eq!(questions(&project, 1), 0);
    // The control: a review that somebody opened is asked about.
    project.ok(&["review", "open", "May the index be dropped?"]);
    assert_eq!(questions(&project, 1), 1);
}

#[test]
fn what_is_not_set_says_so_in_the_file_and_in_the_answers() {
    let project = Project::new();
    let text = project.read("constraints.md");
    for name in LIMITS {
        assert!(text.contains(&format!("- **{name}**: unlimited\n")), "{text}");
        assert_eq!(value(&project, name), "unlimited");
    }
    for name in UNSET {
        assert!(text.contains(&format!("- **{name}**: not set\n")), "{text}");
        assert_eq!(value(&project, name), "not set");
        assert_eq!(project.json(&["constraint", "get", name])["value"], Value::Null);
    }
    let brief = project.ok(&["brief"]).stdout;
    assert!(!brief.contains("unlimited") && !brief.contains("not set"), "{brief}");
    // A line that somebody took out of the file is not set either.
    let line = "- **active_persona**: not set\n";
    project.edit("constraints.md", line, "");
    let listed = project.ok(&["constraint", "list"]).stdout;
    for name in LIMITS.iter().chain(&UNSET) {
        assert!(listed.contains(name), "{listed}");
    }
    project.ok(&["constraint", "set", "active_persona", "detailed_analyst"]);
    let text = project.read("constraints.md");
    assert!(text.contains("- **active_persona**: \"detailed_analyst\"\n"), "{text}");
}

#[test]
fn setting_and_unsetting_changes_one_line_and_goes_back() {
    let project = Project::new();
    let before = project.read("constraints.md");
    for (name, set, line) in [
        ("max_cost_per_task", "2.50", "- **max_cost_per_task**: 2.50\n"),
        ("max_execution_time", "2h", "- **max_execution_time**: 2h\n"),
        ("max_web_requests", "7", "- **max_web_requests**: 7\n"),
        ("user_sentiment", "pleased", "- **user_sentiment**: \"pleased\"\n"),
        ("active_persona", "concise assistant", "- **active_persona**: \"concise assistant\"\n"),
        ("preferred_tools", "[\"Read\"]", "- **preferred_tools**: [\"Read\"]\n"),
    ] {
        project.ok(&["constraint", "set", name, set]);
        let text = project.read("constraints.md");
        assert!(text.contains(line), "{text}");
        assert_eq!(text.lines().count(), before.lines().count());
        project.ok(&["constraint", "unset", name]);
        assert_eq!(project.read("constraints.md"), before, "{name}");
        project.ok(&["constraint", "unset", name]);
    }
    for word in ["unlimited", "Unlimited", "no limit", "none", "not set"] {
        project.ok(&["constraint", "set", "max_web_requests", "7"]);
        project.ok(&["constraint", "set", "max_web_requests", word]);
        assert_eq!(project.read("constraints.md"), before, "{word}");
    }
    let refusal = project.refused(1, &["constraint", "set", "priority", "unlimited"]);
    assert!(refusal["error"]["hint"].as_str().unwrap().contains("`statedir constraint unset prio"));
    assert_eq!(
        project.refused(1, &["constraint", "unset", "colour"])["error"]["code"],
        "not_found"
    );
    project.ok(&["constraint", "set", "tone", "formal", "--create"]);
    project.ok(&["constraint", "unset", "tone"]);
    assert_eq!(project.read("constraints.md"), before);
    let changes = json!([{ "op": "constraint.set", "name": "max_web_requests", "value": 3 },
        { "op": "constraint.unset", "name": "priority" },
        { "op": "constraint.set", "name": "max_web_requests", "value": null }]);
    project.ok_with_input(&["apply", "-"], &changes.to_string());
    assert_eq!(
        (value(&project, "priority"), value(&project, "max_web_requests")),
        ("not set".to_owned(), "unlimited".to_owned())
    );
    project.ok(&["check", "--strict"]);
}

#[test]
fn a_behaviour_takes_its_value_back_to_not_set() {
    let project = Project::new();
    let before = project.read("constraints.md");
    project.ok(&["plan", "set", "task_type=creative_tasks"]);
    assert_eq!(value(&project, "active_persona"), "proactive_collaborator");
    project.ok(&["plan", "set", "task_type=other"]);
    assert_eq!(project.read("constraints.md"), before);
}

#[test]
fn rules_may_lift_a_limit_and_start_from_the_middle() {
    let project = Project::new();
    project.ok(&["rule", "add", "If event.type is calm → set max_web_requests to unlimited"]);
    project.ok(&[
        "rule",
        "add",
        "If event.type is bad → lower user_sentiment, double max_web_requests",
    ]);
    project.ok(&["constraint", "set", "max_web_requests", "4"]);
    project.ok(&["event", "emit", "calm"]);
    assert_eq!(value(&project, "max_web_requests"), "unlimited");
    project.ok(&["event", "emit", "bad"]);
    assert_eq!(value(&project, "user_sentiment"), "impatient");
    assert_eq!(value(&project, "max_web_requests"), "unlimited");
}

/// The sections and fields of the seed, by file.
const SECTIONS: [(&str, &[&str]); 4] = [
    ("plan.md", &["## Metadata", "## Steps"]),
    (
        "context.md",
        &[
            "## Knowledge Accumulation",
            "### Web Content Summaries",
            "### Document Analysis Results",
            "### Key Findings",
            "## Current Understanding",
            "## Decision Rationale",
        ],
    ),
    ("history.md", &["## Step Execution Log"]),
    (
        "constraints.md",
        &[
            "## Behavioral Modifiers",
            "## Resource Constraints",
            "## Active Directives",
            "## Adaptation Rules",
            "## Context-Aware Behaviors",
        ],
    ),
];

#[test]
fn every_template_has_the_sections_of_the_five_files() {
    for project in [Project::new(), Project::classic()] {
        for (file, titles) in SECTIONS {
            let text = project.read(file);
            for title in titles {
                assert!(text.lines().any(|line| line == *title), "{file}: {title}\n{text}");
            }
        }
        let variables: Value = serde_json::from_str(&project.read("variables.json")).unwrap();
        for key in
            ["execution_metadata", "step_data", "file_paths", "extracted_data", "cost_tracking"]
        {
            assert!(variables[key].is_object(), "{key}: {variables}");
        }
        project.ok(&["check", "--strict"]);
    }
}

#[test]
fn the_classic_template_writes_every_field_with_a_number() {
    let project = Project::classic();
    let text = project.read("constraints.md");
    for line in [
        "- **user_sentiment**: \"neutral\"",
        "- **priority**: \"quality\"",
        "- **max_cost_per_task**: 0.50",
        "- **human_review_trigger_level**: \"medium\"",
        "- **active_persona**: \"concise_assistant\"",
        "- **error_tolerance**: \"moderate\"",
        "- **max_execution_time**: 300 seconds",
        "- **max_file_operations**: 20",
        "- **max_web_requests**: 5",
        "- **preferred_tools**: [\"WebFetch\", \"Read\", \"Write\"]",
        "- If execution time > 200s → set priority to \"speed_and_clarity\"",
    ] {
        assert!(text.lines().any(|written| written == line), "{line}\n{text}");
    }
    let plan = project.read("plan.md");
    for field in
        ["execution_id", "goal", "status", "current_step", "start_time", "last_updated", "mode"]
    {
        assert!(plan.contains(&format!("- **{field}**: ")), "{field}\n{plan}");
    }
    let variables: Value = serde_json::from_str(&project.read("variables.json")).unwrap();
    for path in [
        "/step_data/current_step",
        "/step_data/total_steps",
        "/cost_tracking/total_cost",
        "/cost_tracking/step_costs",
        "/extracted_data/urls_processed",
        "/extracted_data/flags",
    ] {
        assert!(variables.pointer(path).is_some(), "{path}: {variables}");
    }
}

#[test]
fn init_takes_limits_and_keeps_the_rest_as_it_is() {
    let project = Project::empty();
    project.ok(&[
        "init",
        "--goal",
        "x",
        "--set",
        "max_cost_per_task=2",
        "--set",
        "user_sentiment=pleased",
        "--set",
        "preferred_tools=Read,Write",
        "--set",
        "max_web_requests=unlimited",
    ]);
    let text = project.read("constraints.md");
    for line in [
        "- **max_cost_per_task**: 2",
        "- **user_sentiment**: \"pleased\"",
        "- **preferred_tools**: [\"Read\", \"Write\"]",
        "- **max_web_requests**: unlimited",
        "- **max_file_operations**: unlimited",
    ] {
        assert!(text.lines().any(|written| written == line), "{line}\n{text}");
    }
    let project = Project::empty();
    let args =
        ["init", "--goal", "x", "--template", "classic", "--set", "max_web_requests=unlimited"];
    project.ok(&args);
    assert!(project.read("constraints.md").contains("- **max_web_requests**: unlimited\n"));
    Project::empty().refused(1, &["init", "--goal", "x", "--set", "max_web_requests=few"]);
}

#[test]
fn templates_are_found_by_name() {
    let project = Project::empty();
    let config = project.root().join("config");
    let own = config.join("statedir/templates/ours");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("context.md.hbs"), "{{heading 1 \"Ours\" title}}\n\n## Key Findings\n")
        .unwrap();
    if lifecycle::is_renamed() {
        std::fs::write(own.join("workflow.yaml"), lifecycle::workflow()).unwrap();
    }
    let run = |args: &[&str]| {
        let output = project.command(args).env("XDG_CONFIG_HOME", &config).output().unwrap();
        Ran::from(output)
    };
    let listed = run(&["init", "--list-templates"]).stdout;
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["default", "classic", "execute", "ticket", "approval", "simple", "ours"]);
    let listed = run(&["init", "--list-templates", "--json"]).json();
    assert_eq!(listed["templates"][1]["name"], "classic");
    assert_eq!(listed["templates"][6]["directory"], json!(own));
    let refused = run(&["init", "--goal", "x", "--template", "clasic", "--json"]);
    assert!(refused.stdout.contains("did you mean `classic`?"), "{}", refused.stdout);
    assert_eq!(run(&["init", "--goal", "x", "--template", "../ours"]).code, 1, "a name is no path");
    let made = run(&["init", "--goal", "x", "--template", "ours"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert!(project.read("context.md").starts_with("# Ours: x\n"));
}

#[test]
fn missing_sections_of_constraints_are_created_in_their_order() {
    let project = Project::new();
    project.write("constraints.md", "# House rules\n\nBe kind.\n\n## Adaptation Rules\n- If cost > $5 → pause\n\n## Notes\nMine.\n");
    project.ok(&["constraint", "set", "priority", "quality"]);
    project.ok(&["constraint", "set", "max_web_requests", "5"]);
    project.ok(&["directive", "add", "Ask first"]);
    project.write(
        "constraints.md",
        project.read("constraints.md").replace("## Adaptation Rules\n- If cost > $5 → pause\n", ""),
    );
    project.ok(&["rule", "add", "If cost > $9 → pause"]);
    let text = project.read("constraints.md");
    assert!(text.starts_with("# House rules\n\nBe kind.\n\n"), "{text}");
    assert!(text.contains("## Notes\nMine.\n"), "{text}");
    let lines = [
        "- **priority**: \"quality\"",
        "- **max_web_requests**: 5",
        "- Ask first",
        "- If cost > $9 → pause",
    ];
    for line in lines {
        assert_eq!(text.lines().filter(|written| *written == line).count(), 1, "{line}\n{text}");
    }
    project.ok(&["check", "--strict"]);
    project.write("constraints.md", "");
    project.ok(&["constraint", "set", "priority", "quality"]);
    assert_eq!(value(&project, "priority"), "quality");
}

#[test]
fn a_template_with_steps_gives_a_state_that_check_accepts() {
    let project = Project::empty();
    let own = project.root().join("ours");
    std::fs::create_dir_all(&own).unwrap();
    let plan = "{{heading 1 \"Execution Plan\" title}}\n\n## Metadata\n{{field \"execution_id\" \
        execution_id}}\n{{field \"goal\" goal}}\n{{field \"status\" status}}\n{{field \"mode\" \
        mode}}\n\n## Steps\n\n### Step 1: Look\n\n### Step 2: Leap\n- **depends_on**: 1\n";
    std::fs::write(own.join("plan.md.hbs"), plan).unwrap();
    if lifecycle::is_renamed() {
        std::fs::write(own.join("workflow.yaml"), lifecycle::workflow()).unwrap();
    }
    project.ok(&["init", "--goal", "x", "--template", "./ours"]);
    project.ok(&["check"]);
    project.ok(&["step", "next", "--claim"]);
    project.ok(&["step", "done"]);
    project.ok(&["check"]);
    assert_eq!(project.json(&["status"])["total_steps"], 2);
}

#[test]
fn what_follows_from_plan_and_history_is_answered_without_a_copy() {
    let project = Project::with_steps(3);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--cost", "0.25"]);
    project.ok(&["step", "start", "2"]);
    let before = project.read("variables.json");
    for name in ["current_step", "last_updated", "total_steps"] {
        assert!(!before.contains(name), "{name}: {before}");
    }
    let get = |path: &str| project.json(&["var", "get", path])["value"].clone();
    for (bare, path, value) in [
        ("current_step", "step_data.current_step", json!(2)),
        ("total_steps", "step_data.total_steps", json!(3)),
        ("total_cost", "cost_tracking.total_cost", json!(0.25)),
        ("status", "execution_metadata.status", json!("IN_PROGRESS")),
        ("goal", "execution_metadata.goal", json!("Compare three vector databases")),
    ] {
        assert_eq!((get(bare), get(path)), (value.clone(), value), "{bare}");
    }
    assert_eq!(get("last_updated"), get("/execution_metadata/last_updated"));
    assert!(get("last_updated").as_str().unwrap() >= get("start_time").as_str().unwrap());
    // A value of the user's own comes first.
    project.ok(&["var", "set", "current_step", "mine"]);
    assert_eq!(get("current_step"), "mine");
    project.refused(1, &["var", "get", "no_such_thing"]);
}
