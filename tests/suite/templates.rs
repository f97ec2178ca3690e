//! The templates that ship, each with a lifecycle that can be lived, and a user's own.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::builder::Project;

fn shipped() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("templates")
}

/// The words of these lifecycles are their own, whatever the run.
fn begun(template: &str) -> Project {
    let project = Project::with_lifecycle(false);
    project.ok(&["init", "--goal", "Ship it", "--template", template]);
    project
}

fn names() -> Vec<String> {
    let project = Project::with_lifecycle(false);
    let listed = project.json(&["init", "--list-templates"])["templates"].clone();
    let named = listed.as_array().unwrap().iter();
    named.map(|template| template["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_profile_is_a_folder_with_five_templates_and_a_few_lines_about_it() {
    let names = names();
    for expected in ["default", "classic", "execute", "ticket", "approval", "simple"] {
        assert!(names.iter().any(|name| name == expected), "{expected}: {names:?}");
    }
    for name in names {
        let folder = shipped().join(&name);
        for file in ["plan.md", "context.md", "variables.json", "history.md", "constraints.md"] {
            assert!(folder.join(format!("{file}.hbs")).is_file(), "{name}: {file}");
        }
        let about = fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(about.starts_with(&format!("# {name}\n")), "{about}");
        assert!((3..=25).contains(&about.lines().count()), "{name}");
        let has_workflow = folder.join("workflow.yaml").is_file();
        assert!(has_workflow || name == "classic", "{name} has no workflow.yaml");
    }
}

#[test]
fn every_profile_gives_a_state_that_is_consistent_and_can_be_worked_with() {
    for name in names() {
        let project = begun(&name);
        let findings = project.json(&["check", "--strict"])["findings"].clone();
        assert_eq!(findings, json!([]), "{name}");
        project.ok(&["step", "add", "One more"]);
        project.ok(&["status"]);
        project.ok(&["brief"]);
        project.ok(&["state"]);
        assert_eq!(project.json(&["check", "--strict"])["findings"], json!([]), "{name}");
        let own = project.path("workflow.yaml");
        let shipped = shipped().join(&name).join("workflow.yaml");
        if own.exists() {
            assert_eq!(fs::read(own).unwrap(), fs::read(shipped).unwrap(), "{name}");
        }
    }
}

#[test]
fn a_plan_is_carried_out_only_after_a_person_approved_it() {
    let project = begun("approval");
    project.ok(&["step", "add", "Move the archive"]);
    let refusal = project.refused(1, &["step", "start", "1"]);
    assert_eq!(refusal["error"]["code"], "illegal_transition", "{refusal}");
    let asked = project.run(&["plan", "set", "status=approved", "--json"]).json();
    assert_eq!(project.json(&["status"])["status"], "pending", "{asked}");
    let reviews = project.json(&["review", "list"])["reviews"].clone();
    assert_eq!(reviews.as_array().unwrap().len(), 1, "{reviews}");
    project.ok(&["review", "approve", "r1", "--actor", "eve"]);
    if project.json(&["status"])["status"] == "pending" {
        project.ok(&["plan", "set", "status=approved"]);
    }
    assert_eq!(project.json(&["status"])["status"], "approved");
    project.ok(&["step", "start", "1"]);
    assert_eq!(project.json(&["status"])["status"], "executing");
    project.ok(&["pause", "--why", "lunch"]);
    assert_eq!(project.json(&["status"])["status"], "paused");
    project.ok(&["resume"]);
    project.ok(&["step", "done", "1"]);
    assert_eq!(project.json(&["status"])["status"], "completed");
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}

#[test]
fn a_task_of_execute_goes_through_verification_before_it_is_completed() {
    let project = begun("execute");
    project.ok(&["step", "add", "Set up", "layer=0-setup", "--id", "L0-001"]);
    project.ok(&["step", "add", "Build", "layer=1-build", "--id", "L1-001"]);
    project.ok(&["step", "start", "L0-001"]);
    let refusal = project.refused(1, &["step", "done", "L0-001"]);
    assert!(refusal["error"]["hint"].as_str().unwrap().contains("verifying"), "{refusal}");
    for status in ["verifying", "verified", "merging"] {
        project.ok(&["step", "move", "L0-001", status]);
        // What waits is not finished.
        project.refused(1, &["step", "start", "L1-001"]);
        assert_eq!(project.json(&["check"])["findings"], json!([]), "{status}");
    }
    project.ok(&["step", "move", "L0-001", "completed"]);
    project.ok(&["step", "start", "L1-001"]);
    let refusal = project.refused(1, &["step", "move", "L1-001", "completed"]);
    assert_eq!(refusal["error"]["code"], "illegal_transition");
}

#[test]
fn a_users_own_folder_is_found_by_its_name() {
    let project = Project::with_lifecycle(false);
    let own = project.root().join("config/statedir/templates/ours");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("workflow.yaml"), "version: 1\nretry_limit: 7\n").unwrap();
    let run = |args: &[&str]| -> Value {
        let mut command = project.command(&[args, &["--json"]].concat());
        let output = command.env("XDG_CONFIG_HOME", project.root().join("config")).output();
        serde_json::from_slice(&output.unwrap().stdout).unwrap()
    };
    let listed = run(&["init", "--list-templates"])["templates"].clone();
    assert!(listed.as_array().unwrap().iter().any(|one| one["name"] == "ours"), "{listed}");
    assert_eq!(run(&["init", "--goal", "g", "--template", "ours"])["ok"], true);
    assert_eq!(project.json(&["status"])["retry_limit"], 7);
}

/// The part of plan.md below *Steps*.
fn boxes(project: &Project) -> String {
    let plan = project.read("plan.md");
    plan.split_once("## Steps\n").unwrap().1.to_owned()
}

#[test]
fn a_to_do_list_is_boxes_that_commands_add_move_tick_and_remove() {
    let project = begun("simple");
    for title in ["Order boxes", "Pack books", "Call the movers"] {
        project.ok(&["step", "add", title]);
    }
    project.ok(&["step", "add", "Label them", "--after", "2"]);
    project.ok(&["step", "add", "Measure the sofa", "--before", "1"]);
    project.ok(&["step", "reorder", "5", "--after", "1"]);
    let list = "- [ ] Measure the sofa\n- [ ] Call the movers\n- [ ] Order boxes\n\
                - [ ] Pack books\n- [ ] Label them\n";
    assert_eq!(boxes(&project), list);
    project.ok(&["step", "remove", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["step", "start", "2"]);
    let plan = boxes(&project);
    assert!(plan.starts_with("- [x] Call the movers\n  - id: "), "{plan}");
    assert!(plan.contains("- [ ] Order boxes\n  - status: doing\n  - id: "), "{plan}");
    assert!(plan.ends_with("- [ ] Pack books\n- [ ] Label them\n"), "{plan}");
    project.ok(&["step", "done"]);
    project.ok(&["step", "done", "3"]);
    project.ok(&["step", "reset", "3"]);
    let plan = boxes(&project);
    assert!(plan.contains("- [x] Order boxes\n") && !plan.contains("status"), "{plan}");
    assert!(plan.contains("- [ ] Pack books\n"), "{plan}");
    let status = project.ok(&["status"]).stdout;
    assert!(status.contains("2/4") && !status.contains("cost"), "{status}");
    let history = project.read("history.md");
    assert!(history.contains("### ✓ Step 1: Call the movers\n"), "{history}");
    let refused = project.refused(1, &["step", "skip", "4"]);
    assert!(
        refused.to_string().contains("this lifecycle has no status for steps that are skipped"),
        "{refused}"
    );
    assert_eq!(project.json(&["check", "--strict"])["findings"], json!([]));
}

#[test]
fn what_refers_to_a_box_follows_when_boxes_are_moved() {
    let project = begun("simple");
    for title in ["a", "b", "c"] {
        project.ok(&["step", "add", title]);
    }
    project.ok(&["step", "set", "3", "--depends-on", "2", "--input", "x={{steps.2.y}}"]);
    project.ok(&["step", "reorder", "2", "--before", "1"]);
    assert!(boxes(&project).contains("depends_on: 1 b\n"), "{}", boxes(&project));
    assert!(
        boxes(&project).contains("x: \"{{steps.1.y}}\"")
            || boxes(&project).contains("x: {{steps.1.y}}")
    );
    project.ok(&["step", "add", "first", "--after", "0", "--description", "Two\n\n- lines"]);
    assert!(boxes(&project).contains("depends_on: 2 b\n"), "{}", boxes(&project));
    assert!(boxes(&project).contains("  - description:\n    > Two\n"), "{}", boxes(&project));
    project.ok(&["undo"]);
    project.ok(&["undo"]);
    assert!(boxes(&project).starts_with("- [ ] a\n- [ ] b\n  - id: "), "{}", boxes(&project));
}

#[test]
fn boxes_of_a_person_stay_as_they_are_written() {
    let project = begun("simple");
    let list = "* [ ] Wash up\n\n* [ ] Vacuum\n  under the sofa\n\n* [x] Shop\n";
    project.write("plan.md", &(project.read("plan.md") + list));
    project.ok(&["step", "add", "Iron"]);
    project.ok(&["step", "reorder", "3", "--before", "1"]);
    let moved = "* [x] Shop\n\n* [ ] Wash up\n\n* [ ] Vacuum\n  under the sofa\n\n* [ ] Iron\n";
    assert_eq!(boxes(&project), moved);
    project.write("plan.md", &(project.read("plan.md") + "\n### Step 5: A heading\n"));
    let refused = project.refused(1, &["step", "reorder", "5", "--before", "1"]);
    assert!(refused.to_string().contains("only one is a box in a list"), "{refused}");
}

#[test]
fn a_list_that_is_ticked_off_box_by_box_is_begun_and_done() {
    let project = begun("simple");
    for title in ["Wash", "Dry"] {
        project.ok(&["step", "add", title]);
    }
    project.ok(&["step", "done", "1"]);
    assert_eq!(project.json(&["status"])["status"], "doing");
    project.ok(&["step", "done", "2"]);
    assert_eq!(project.json(&["status"])["status"], "done");
}

#[test]
fn statuses_groups_and_gates_may_have_letters_of_any_language() {
    let project = Project::with_lifecycle(false);
    let template = project.root().join("chantier");
    fs::create_dir(&template).unwrap();
    let flow = "version: 1
step:
  - {status: prévu, role: open, next: [commencé]}
  - {status: commencé, role: active, next: [à_vérifier, raté]}
  - {status: à_vérifier, role: waiting, next: [achevé, raté, commencé, prévu]}
  - {status: achevé, role: done, next: [prévu]}
  - {status: raté, role: failed, next: [commencé, prévu]}
group: étage
gates:
  - {name: vérification, step: Écrire, to: achevé, reject: [{reset: Écrire}]}
";
    fs::write(template.join("workflow.yaml"), flow).unwrap();
    project.ok(&["init", "--template", "chantier", "--goal", "Bâtir"]);
    project.ok(&["step", "add", "Écrire", "étage=1"]);
    project.ok(&["step", "add", "Lire", "étage=2"]);
    assert_eq!(project.json(&["step", "list", "--where", "étage=2"])["steps"][0]["number"], 2);
    project.refused(1, &["step", "start", "2"]);
    for _ in 0..2 {
        project.ok(&["step", "start", "1"]);
        project.ok(&["step", "move", "1", "À VÉRIFIER"]);
        let asked = project.run(&["step", "done", "1", "--json"]).json();
        assert_eq!(asked["error"]["code"], "review_open", "{asked}");
        if project.json(&["review", "list"])["reviews"].to_string().contains("r2") {
            break;
        }
        let printed =
            project.ok(&["--actor", "ada", "review", "reject", "r1", "--why", "trop court"]);
        assert!(printed.stdout.contains("back to step 1 Écrire"), "{}", printed.stdout);
    }
    project.ok(&["--actor", "ada", "review", "approve", "r2"]);
    assert_eq!(project.json(&["step", "show", "1"])["step"]["status"], "achevé");
    project.ok(&["step", "start", "2"]);
    project.ok(&["check", "--strict"]);
}

#[test]
fn a_plan_that_waits_for_its_approval_says_so_instead_of_naming_a_step() {
    let project = begun("approval");
    project.ok(&["step", "add", "Buy"]);
    let status = project.json(&["status"]);
    let next = &status["next_move"]["command"];
    assert_eq!(next, "statedir plan set status=approved", "{status}");
    let refused = project.refused(1, &["step", "start", "1"]);
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("`statedir plan set status=approved`"), "{hint}");
    assert_eq!(project.run(&["plan", "set", "status=approved"]).code, 1, "a person is asked");
    project.ok(&["--actor", "ada", "review", "approve", "r1"]);
    let status = project.json(&["status"]);
    assert_eq!(status["next_move"]["command"], "statedir step start 1", "{status}");
    project.ok(&["step", "start", "1"]);
}

#[test]
fn a_step_whose_status_the_lifecycle_has_lost_can_be_begun_anew() {
    let project = begun("execute");
    project.ok(&["step", "add", "Build", "layer=1"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "move", "1", "verifying"]);
    project.write("workflow.yaml", "version: 1\n");
    let refused = project.refused(4, &["step", "done", "1"]);
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("`statedir step reset 1`"), "{hint}");
    project.ok(&["step", "reset", "1"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    project.ok(&["check"]);
}

#[test]
fn what_is_left_out_of_a_list_is_listed_so() {
    for (template, left_out) in [("simple", "skipped"), ("default", "SKIPPED")] {
        let project = begun(template);
        let plan = project.read("plan.md");
        project.write("plan.md", format!("{plan}- [-] Drop it\n- [ ] Keep it\n"));
        let listed = project.json(&["step", "list"])["steps"].clone();
        assert_eq!(listed[0]["status"], left_out, "{template}: {listed}");
        assert_ne!(listed[1]["status"], left_out, "{template}: {listed}");
        let status = project.json(&["status"]);
        assert_eq!((&status["skipped"], &status["pending"]), (&1.into(), &1.into()), "{status}");
        project.ok(&["step", "start", "2"]);
        assert!(project.read("plan.md").contains("- [-] Drop it\n"));
    }
}

#[test]
fn a_rejection_sends_a_task_back_from_wherever_it_waits() {
    for moves in [&["verifying"][..], &["verifying", "verified"]] {
        let project = Project::with_lifecycle(false);
        project.ok(&["init", "--goal", "Build the shop", "--template", "execute"]);
        project.ok(&["step", "add", "Till", "layer=1-base"]);
        let to = if moves.len() == 1 { "verified" } else { "merging" };
        let gate =
            format!("gates: [{{name: qa, step: Till, to: {to}, reject: [{{reset: Till}}]}}]");
        let own = project.read("workflow.yaml");
        project.write("workflow.yaml", format!("{own}\n{gate}\n"));
        project.ok(&["step", "start", "1"]);
        moves.iter().for_each(|to| drop(project.ok(&["step", "move", "1", to])));
        assert_eq!(project.run(&["step", "move", "1", to]).code, 1);
        let args = ["--actor", "marta", "review", "reject", "r1", "--why", "no tests"];
        let printed = project.ok(&args).stdout;
        assert!(printed.contains("back to step 1 Till"), "{printed}");
        let shown = project.json(&["status"]);
        assert_eq!((&shown["status"], &shown["running"]), (&json!("in_progress"), &json!(0)));
        assert_eq!(project.json(&["step", "next"])["step"]["number"], 1);
    }
}

#[test]
fn the_next_move_is_one_that_the_lifecycle_allows() {
    for name in ["default", "simple", "execute"] {
        let project = Project::with_lifecycle(false);
        project.ok(&["init", "--goal", "Ship it", "--template", name]);
        project.ok(&["step", "add", "Build"]);
        for _ in 0..12 {
            let next = project.json(&["status"])["next_move"].clone();
            let text = next["text"].as_str().unwrap();
            assert!(project.ok(&["brief"]).stdout.contains(text), "{text}");
            for command in text.split('`').skip(1).step_by(2) {
                let command = command.replace("\"what went wrong\"", "why");
                let args = command.strip_prefix("statedir ").unwrap();
                let args: Vec<&str> = args.split(' ').chain(["--dry-run"]).collect();
                project.ok(&args);
            }
            let Some(command) = next["command"].as_str() else { break };
            let args: Vec<&str> = command.split(' ').skip(1).collect();
            project.ok(&args);
        }
        let after = project.json(&["status"]);
        assert_eq!(
            (&after["next_move"]["action"], &after["completed"]),
            (&"nothing".into(), &1.into()),
            "{name}"
        );
    }
}

#[test]
fn a_lifecycle_that_cannot_be_used_is_named_with_a_way_out() {
    const BAD: &str = "version: 1\nretry_limit: -1\n";
    let project = Project::with_lifecycle(false);
    let template = project.root().join("ours");
    fs::create_dir_all(&template).unwrap();
    fs::write(template.join("workflow.yaml"), BAD).unwrap();
    let refused = project.refused(1, &["init", "--goal", "Ship it", "--template", "ours"]);
    assert_eq!(refused["error"]["code"], "bad_template", "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("ours/workflow.yaml"));

    let project = begun("classic");
    project.write("workflow.yaml", BAD);
    let status = project.refused(4, &["status"])["error"]["hint"].clone();
    assert!(status.as_str().unwrap().contains("`statedir check`"), "{status}");
    let hint = project.refused(4, &["check"])["findings"][0]["hint"].clone();
    assert_eq!(hint, "correct the file, or remove it: then the built-in lifecycle applies");
    fs::remove_file(project.path("workflow.yaml")).unwrap();
    project.ok(&["check"]);
}

#[test]
fn expected_outputs_in_one_line_are_required_too() {
    let project = begun("classic");
    project.write("workflow.yaml", "version: 1\nrequire_outputs: true\n");
    project.ok(&["step", "add", "Build"]);
    project.edit(
        "plan.md",
        "- **status**: PENDING",
        "- **status**: PENDING\n- **expected_outputs**: [\"p\", \"q\"]",
    );
    project.ok(&["check"]);
    project.ok(&["step", "start", "1"]);
    let refused = project.refused(1, &["step", "done", "1", "--output", "p=1"]);
    assert_eq!(refused["error"]["code"], "output_missing", "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().ends_with("outputs q"), "{refused}");
    project.ok(&["step", "done", "1", "--output", "p=1", "--output", "q=2"]);
}

#[test]
fn a_lifecycle_with_modifiers_of_its_own_needs_no_template_of_constraints() {
    let project = Project::with_lifecycle(false);
    let template = project.root().join("own");
    fs::create_dir(&template).unwrap();
    let flow = "version: 1
modifiers:
  - {name: pace, kind: ordered, values: [slow, fast], default: slow}
  - {name: max_cost_per_task, kind: money}
";
    fs::write(template.join("workflow.yaml"), flow).unwrap();
    project.ok(&["init", "--template", "own", "--goal", "Go"]);
    assert_eq!(project.json(&["constraint", "get", "pace"])["value"], "slow");
    project.ok(&["constraint", "set", "pace", "fast"]);
    project.ok(&["rule", "add", "If cost > $1 → lower pace"]);
    assert!(project.ok(&["rule", "check"]).stdout.contains("lower pace by 1"));
    project.ok(&["check", "--strict"]);
    let state = project.ok(&["state"]).stdout;
    let elsewhere = Project::with_lifecycle(false);
    elsewhere.ok_with_input(&["import", "-"], &state);
    let constraints = |project: &Project| project.json(&["state"])["constraints"].clone();
    assert_eq!(constraints(&elsewhere), constraints(&project));
}
