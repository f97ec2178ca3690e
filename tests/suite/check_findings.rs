//! What `check` says about times, names, references, places and steps that are out of date.

use serde_json::Value;

use crate::{builder::Project, needs};

/// The findings with that code.
fn findings(project: &Project, code: &str) -> Vec<Value> {
    let answer = project.run(&["check", "--json"]).json();
    let all = answer["findings"].as_array().or(answer["error"]["findings"].as_array());
    let all = all.cloned().unwrap_or_default();
    all.into_iter().filter(|finding| finding["code"] == code).collect()
}

fn one(project: &Project, code: &str) -> String {
    let found = findings(project, code);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["severity"], "warning");
    assert!(found[0]["hint"].is_string() && found[0]["place"]["line"].is_u64(), "{found:?}");
    found[0]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_new_state_and_one_at_work_have_no_findings() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    let answer = project.json(&["check", "--strict"]);
    assert_eq!(answer["findings"], Value::Array(Vec::new()));
}

#[test]
fn two_steps_of_one_number_get_numbers_of_their_own() {
    let project = Project::with_steps(3);
    let plan = project.read("plan.md").replace("### Step 3:", "### Step 2:");
    project.write("plan.md", &plan);
    project.refused(4, &["check"]);
    assert_eq!(findings(&project, "duplicate_step").len(), 1);
    let fixed = project.ok(&["check", "--fix"]).stdout;
    assert!(fixed.contains("number 2 was taken, now 3"), "{fixed}");
    assert_eq!(
        project.read("plan.md"),
        plan.replacen("### Step 2: Do part 3", "### Step 3: Do part 3", 1)
    );
    project.ok(&["check", "--strict"]);
    project.ok(&["undo"]);
    assert_eq!(project.read("plan.md"), plan);
}

#[test]
fn a_key_that_is_half_in_bold_is_named() {
    let project = Project::with_steps(1);
    project.edit("plan.md", "- **id**", "- **owner: ada\n- **id**");
    project.edit("constraints.md", "- **priority**:", "- **priority:");
    let found = findings(&project, "not_a_step");
    let hints: Vec<&str> = found.iter().filter_map(|one| one["hint"].as_str()).collect();
    assert_eq!(hints, ["write `- **owner**: ada`", "write `- **priority**: \"quality\"`"]);
}

#[test]
fn a_time_that_is_none_is_named() {
    let project = Project::with_steps(1);
    project.ok(&["step", "start", "1"]);
    let plan = project.read("plan.md");
    let since = plan.split(" since ").nth(1).unwrap().lines().next().unwrap().to_owned();
    project.edit("plan.md", &format!(" since {since}"), " since yesterday");
    let message = one(&project, "bad_time");
    assert!(message.starts_with("`started_at` of step 1 ("), "{message}");
    assert!(message.ends_with(") is not a time: `yesterday`"), "{message}");
    project.edit("plan.md", " since yesterday", &format!(" since {since}"));
    assert!(findings(&project, "bad_time").is_empty());
    let start = plan.lines().find(|line| line.starts_with("- **start_time**")).unwrap();
    project.edit("plan.md", start, "- **start_time**: 2026-13-45T09:00:00Z");
    assert_eq!(one(&project, "bad_time"), "`start_time` is not a time: `2026-13-45T09:00:00Z`");
}

#[test]
fn a_plan_without_a_goal_or_a_name_is_named() {
    for field in ["goal", "execution_id"] {
        let project = Project::new();
        let plan = project.read("plan.md");
        let start = format!("- **{field}**");
        let line = plan.lines().find(|line| line.starts_with(&start)).unwrap();
        project.edit("plan.md", &format!("{line}\n"), "");
        assert_eq!(one(&project, "missing_field"), format!("the plan has no `{field}`"));
        // The proposed command fixes it.
        project.ok(&["plan", "set", &format!("{field}=exec_1")]);
        assert!(findings(&project, "missing_field").is_empty());
    }
}

#[test]
fn a_finished_step_behind_a_reopened_one_is_named() {
    let project = Project::with_steps(1);
    project.ok(&["step", "add", "Second", "--depends-on", "1"]);
    for step in ["1", "2"] {
        project.ok(&["step", "start", step]);
        project.ok(&["step", "done", step]);
    }
    assert!(findings(&project, "out_of_date").is_empty());
    project.ok(&["step", "reset", "1"]);
    let message = one(&project, "out_of_date");
    assert!(message.contains("is `COMPLETED`, but it depends on step 1 ("), "{message}");
    project.ok(&["step", "reset", "2"]);
    assert!(findings(&project, "out_of_date").is_empty());
}

#[test]
fn a_reference_in_text_that_leads_nowhere_is_named_unless_it_is_code() {
    let project = Project::new();
    project.ok(&["var", "set", "results.rows", "42"]);
    project.ok(&["context", "add", "There are {{results.rows}} rows; `{{in.code}}` is code."]);
    assert!(findings(&project, "missing_reference").is_empty());
    project.ok(&["context", "add", "See {{results.row}} for more."]);
    let found = findings(&project, "missing_reference");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["file"], "context.md");
    assert_eq!(found[0]["hint"], "did you mean `results.rows`?");
    project.ok(&["var", "set", "results.row", "1"]);
    project.ok(&["directive", "add", "Never exceed {{limits.rows}}"]);
    let found = findings(&project, "missing_reference");
    assert_eq!((found.len(), &found[0]["file"]), (1, &Value::from("constraints.md")));
}

#[test]
fn an_input_may_name_a_variable_as_rules_do() {
    let project = Project::with_steps(1);
    let resolved = || project.json(&["step", "show", "1", "--resolved"])["step"]["inputs"].clone();
    project.ok(&["var", "set", "q", "42"]);
    project.ok(&["var", "set", "a.b", "deep"]);
    let inputs = ["--input", "q={{variables.q}}", "--input", "text=a {{variables.a.b}} b"];
    project.ok(&[&["step", "set", "1"][..], &inputs].concat());
    assert_eq!(resolved(), serde_json::json!({ "q": 42, "text": "a deep b" }));
    assert!(findings(&project, "missing_reference").is_empty());
    // A variable of that name comes first, and the hint says how to get at the others.
    project.ok(&["var", "set", "variables", r#"{"a": {"b": "own"}}"#]);
    let found = findings(&project, "missing_reference");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["hint"], "did you mean `q`?");
    project.ok(&["step", "set", "1", "--input", "q={{q}}"]);
    assert_eq!(resolved(), serde_json::json!({ "q": 42, "text": "a own b" }));
}

#[test]
fn a_running_step_whose_worktree_or_branch_is_gone_is_named() {
    if !needs::program("git") {
        return;
    }
    let project = Project::with_steps(2);
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let output = command.current_dir(project.root()).args(identity).args(args).output();
        assert!(output.as_ref().unwrap().status.success(), "{args:?} {output:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "t"]);
    git(&["config", "user.email", "t@example.org"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "begin"]);
    let place = project.root().join("elsewhere");
    project.ok(&["worktree", "add", "two", "--step", "2", "--path", place.to_str().unwrap()]);
    assert!(findings(&project, "worktree_gone").is_empty());
    std::fs::rename(&place, project.root().join("moved")).unwrap();
    assert!(one(&project, "worktree_gone").contains("elsewhere`, which no longer exists"));
    let hint = || findings(&project, "worktree_gone")[0]["hint"].as_str().unwrap().to_owned();
    assert!(hint().starts_with("`statedir worktree finish two --force` merges"), "{}", hint());
    std::fs::rename(project.root().join("moved"), &place).unwrap();
    // First only the branch is left in git, then not even that: each has its own hint.
    git(&["worktree", "remove", "--force", place.to_str().unwrap()]);
    assert!(hint().starts_with("`git worktree add "), "{}", hint());
    git(&["branch", "-qD", "two"]);
    assert_eq!(hint(), "`statedir step reset 2 --force` starts it over");
    std::fs::create_dir(&place).unwrap();
    assert!(one(&project, "branch_gone").contains("in branch `two`, which no longer exists"));
}

#[test]
fn a_template_with_steps_gives_a_state_that_is_consistent_at_once() {
    let project = Project::empty();
    let templates = project.root().join("ours");
    std::fs::create_dir(&templates).unwrap();
    let plan = "{{heading 1 \"Execution Plan\" title}}\n\n## Metadata\n{{field \"goal\" goal}}\n\
        {{field \"status\" status}}\n{{field \"mode\" mode}}\n{{field \"execution_id\" execution_id}}\n\
        {{field \"current_step\" current_step}}\n{{field \"start_time\" now}}\n\n## Steps\n\n\
        ### Step 1: Look\n- **status**: PENDING\n\n### Step 2: Decide\n- **status**: PENDING\n\
        - **depends_on**: 1 Look\n";
    std::fs::write(templates.join("plan.md.hbs"), project.in_project_words(plan.as_bytes()))
        .unwrap();
    if project.is_renamed() {
        std::fs::write(templates.join("workflow.yaml"), crate::lifecycle::workflow()).unwrap();
    }
    project.ok(&["init", "--goal", "Ship it", "--template", templates.to_str().unwrap()]);
    let answer = project.json(&["check", "--strict"]);
    assert_eq!(answer["findings"], Value::Array(Vec::new()));
    assert_eq!(project.json(&["step", "next"])["step"]["number"], 1);
    project.ok(&["step", "next", "--claim"]);
    project.ok(&["step", "done"]);
    project.ok(&["check", "--strict"]);
}

/// A plan as a merge leaves it that took the file of one side.
#[test]
fn a_plan_whose_steps_are_all_finished_is_named_and_completed_by_its_hint() {
    for paused in [false, true] {
        let project = Project::with_steps(2);
        if paused {
            project.ok(&["step", "skip", "1"]);
            project.ok(&["pause", "--why", "lunch"]);
            project.edit("plan.md", "- **status**: PENDING", "- **status**: SKIPPED");
            assert_eq!(findings(&project, "status_disagrees"), Vec::<Value>::new());
        } else {
            for step in ["1", "2"] {
                project.ok(&["step", "start", step]);
                project.ok(&["step", "done", step]);
            }
            project.edit("plan.md", "COMPLETED_SUCCESS", "IN_PROGRESS");
            assert!(one(&project, "status_disagrees").contains("all of its steps are finished"));
            let found = findings(&project, "status_disagrees");
            assert_eq!(found[0]["hint"], "`statedir resume` completes it");
        }
        let printed = project.ok(&["resume"]).stdout;
        assert!(printed.starts_with("plan COMPLETED_SUCCESS: all steps are finished"), "{printed}");
        assert_eq!(findings(&project, "status_disagrees"), Vec::<Value>::new());
        project.ok(&["history", "verify"]);
    }
    // A plan without steps is not finished.
    let project = Project::new();
    project.ok(&["pause", "--why", "lunch"]);
    assert!(project.ok(&["resume"]).stdout.starts_with("plan IN_PROGRESS"));
}

#[test]
fn a_damaged_log_is_reported_once() {
    let project = Project::with_steps(4);
    assert_eq!(findings(&project, "log_damaged"), Vec::<Value>::new(), "control");
    let log = project.path(".statedir/log/00000001.log");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let found = findings(&project, "log_damaged");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["file"], ".statedir/log");
}

#[test]
fn an_emptied_plan_is_damage_until_it_is_restored() {
    for empty in ["", " \n\n\t\n", "\u{feff}\n"] {
        let project = Project::with_steps(2);
        project.ok(&["step", "start", "1"]);
        let before = project.read("plan.md");
        project.write("plan.md", empty);
        for command in ["brief", "status", "state", "recover", "resume", "check"] {
            assert_eq!(project.run(&[command]).code, 4, "{command} on {empty:?}");
        }
        // What a refused command records of the edit does not make the file a plan.
        for _ in 0..2 {
            let refused = project.refused(4, &["step", "add", "First step"]);
            assert_eq!(refused["error"]["code"], "unreadable");
            assert!(refused["error"]["hint"].as_str().unwrap().contains("`statedir check`"));
        }
        let hint = findings(&project, "unreadable")[0]["hint"].as_str().unwrap().to_owned();
        let restore = hint.split('`').nth(1).unwrap().strip_prefix("statedir ").unwrap();
        project.ok(&restore.split(' ').collect::<Vec<_>>());
        assert_eq!(project.read("plan.md"), before);
    }
    // Somebody who deletes all steps, or all but the title, is not bothered.
    let project = Project::with_steps(2);
    let plan = project.read("plan.md");
    project.write("plan.md", &plan[..plan.find("### ").unwrap()]);
    project.ok(&["status"]);
    project.ok(&["step", "add", "Another"]);
    project.write("plan.md", "# Execution Plan: Another\n");
    project.ok(&["status"]);
    project.ok(&["step", "add", "Another"]);
}

#[test]
fn an_entry_that_was_changed_comes_with_the_operation_that_has_its_text() {
    let project = Project::with_steps(1);
    let written = project.json(&["history", "add", "One"])["revision"].clone();
    project.ok(&["history", "add", "Two"]);
    let whole = project.read("history.md");
    project.edit("history.md", "### One", "### Uno");
    for _ in 0..2 {
        let found = findings(&project, "history_broken");
        assert_eq!(found.len(), 1, "{found:?}");
        let hint = found[0]["hint"].as_str().unwrap();
        let shows = format!("`statedir op show {}`", written.as_str().unwrap());
        assert!(hint.contains(&shows) && !hint.contains("git"), "{hint}");
        let shown = project.ok(&["op", "show", written.as_str().unwrap()]).stdout;
        assert!(shown.contains("+### One\n"), "{shown}");
        // The same once the edit is recorded.
        project.ok(&["var", "set", "a", "1"]);
    }
    project.write("history.md", whole);
    project.ok(&["history", "verify"]);
}
