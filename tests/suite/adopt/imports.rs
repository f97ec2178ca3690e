//! Plans that other programs write are imported, and tasks are exported.

use std::fs;

use serde_json::Value;

use super::{project, steps};
use crate::builder::Project;

#[test]
fn task_master_gives_tasks_and_subtasks() {
    let text = r#"{"master":{"tasks":[
        {"id":1,"title":"Set up","status":"done","dependencies":[],"subtasks":[]},
        {"id":"2","title":"Build","status":"in-progress","details":"With care.\n\n## Not ours","dependencies":[1],
         "subtasks":[{"id":1,"title":"Part","status":"pending","dependencies":[]},{"id":2,"title":"Rest","status":"odd","dependencies":[1]}]},
        {"id":3,"title":"Later","status":"deferred","dependencies":["2",9]}
    ],"metadata":{"description":"Tasks for master"}}}"#;
    let project = project(&[(".taskmaster/tasks/tasks.json", text)]);
    let before = fs::read_dir(project.root()).unwrap().count();
    let dry = project.ok(&["import", "--from", "task-master", ".", "--dry-run"]);
    assert!(dry.stderr.contains("2.2: the status `odd`"), "{}", dry.stderr);
    assert_eq!(fs::read_dir(project.root()).unwrap().count(), before);
    let ran = project.ok(&["import", "--from", "task-master", "."]);
    assert!(ran.stderr.contains("waits for `9`"), "{}", ran.stderr);
    assert_eq!(
        steps(&project),
        [
            "[x] task-1 Set up", "[ ] 2.1 Part", "[ ] 2.2 Rest", "[ ] task-2 Build",
            "[?] task-3 Later"
        ]
    );
    let plan = project.read("plan.md");
    assert!(plan.contains("> With care.") && plan.contains("> ## Not ours"), "{plan}");
}

#[test]
fn beads_backlog_ralph_and_gsd_are_taken_over() {
    let beads = "{\"id\":\"bd-a1\",\"title\":\"One\",\"status\":\"closed\"}\n{\"id\":\"bd-b2\",\"title\":\"Two\",\"status\":\"open\",\"dependencies\":[{\"depends_on_id\":\"bd-a1\",\"type\":\"blocks\"}]}\n{\"id\":\"bd-c3\",\"title\":\"Gone\",\"status\":\"tombstone\"}\nnonsense\n";
    let one = project(&[(".beads/issues.jsonl", beads)]);
    let ran = one.ok(&["import", "--from", "beads", "."]);
    assert!(ran.stderr.contains("1 tombstone") && ran.stderr.contains("line 4"), "{}", ran.stderr);
    assert_eq!(steps(&one), ["[x] bd-a1 One", "[ ] bd-b2 Two"]);

    let task = "---\nid: TASK-10\ntitle: Ten\nstatus: To Do\ndependencies: [TASK-2]\n---\n\n## Description\n\nWrite it.\n\n- [x] #1 It works\n";
    let other = "---\nid: TASK-2\ntitle: Two\nstatus: Done\ndependencies: []\n---\nDone.\n";
    let two = project(&[
        ("backlog/tasks/task-10 - Ten.md", task),
        ("backlog/tasks/epics/one/task-2 - Two.md", other),
    ]);
    two.ok(&["import", "--from", "backlog", "."]);
    assert_eq!(steps(&two), ["[x] TASK-2 Two", "[ ] TASK-10 Ten"]);

    let named = project(&[
        ("backlog/config.yml", "project_name: \"Wall\"\ntask_prefix: \"paint\"\n"),
        ("backlog/tasks/paint-3 - Dry.md", "---\nid: PAINT-3\ntitle: Dry\nstatus: To Do\n---\n"),
        ("backlog/completed/paint-1 - Buy.md", "---\nid: PAINT-1\ntitle: Buy\nstatus: Done\n---\n"),
        ("backlog/tasks/readme.md", "About.\n"),
    ]);
    let ran = named.ok(&["import", "--from", "backlog", "."]);
    assert!(ran.stderr.contains("1 task in `completed`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("readme.md: no front matter"), "{}", ran.stderr);
    assert_eq!(steps(&named), ["[ ] PAINT-3 Dry"]);
    assert!(named.read("plan.md").contains("Wall"));

    let tagged = r#"{"master":{"tasks":[{"id":1,"title":"One","status":"pending"}],"metadata":{"description":"Tasks for master context"}}}"#;
    let tagged = project(&[(".taskmaster/tasks/tasks.json", tagged)]);
    tagged.ok(&["import", "--from", "task-master", "."]);
    assert!(!tagged.read("plan.md").contains("master context"));

    let prd = r#"{"project":"Shop","userStories":[{"id":"S01","title":"Cart","passes":true,"acceptanceCriteria":["adds"]},{"id":"S02","title":"Pay","passes":false}]}"#;
    let three = project(&[("prd.json", prd), ("progress.txt", "Learned a lot.\n")]);
    three.ok(&["import", "--from", "ralph", "prd.json"]);
    assert_eq!(steps(&three), ["[x] S01 Cart", "[ ] S02 Pay"]);
    assert!(three.read("context.md").contains("Learned a lot."));

    let roadmap = "# Roadmap: App\n\n<details>\n<summary>v1</summary>\n- [x] **Phase 1: Base** - done\n</details>\n\n- [ ] **Phase 2: More** - next\n";
    let four = project(&[
        (".planning/ROADMAP.md", roadmap),
        (".planning/STATE.md", "# State\n\nPhase 2.\n"),
    ]);
    four.ok(&["import", "--from", "gsd", "."]);
    assert_eq!(steps(&four), ["[x] phase-1 Base - done", "[ ] phase-2 More - next"]);
    assert!(four.read("plan.md").contains("- **goal**: App\n"));

    let ran = project(&[("prd.json", "{}")]).run(&["import", "--from", "ralph", "prd.json"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}

#[test]
fn a_state_goes_back_to_a_list_of_tasks() {
    let project = project(&[]);
    project.ok(&["init", "--goal", "Ship it"]);
    for title in ["First", "Second", "Third", "Fourth", "Fifth"] {
        project.ok(&["step", "add", title]);
    }
    for act in [&["start", "1"][..], &["done", "1"], &["skip", "2", "--note", "not now"]] {
        project.ok(&[&["step"], act].concat());
    }
    project.ok(&["step", "start", "3"]);
    project.ok(&["step", "fail", "3", "--error", "no key"]);
    project.ok(&["step", "start", "4"]);
    let text = project.ok(&["state", "--format", "tasks.md"]).stdout;
    assert!(text.starts_with("# Tasks: Ship it\n\n- [x] "), "{text}");
    let statuses = |project: &Project| -> Vec<Value> {
        let steps = project.json(&["state"])["steps"].take();
        steps.as_array().unwrap().iter().map(|step| step["status"].clone()).collect()
    };
    let other = self::project(&[("tasks.md", text.as_str())]);
    let printed = other.ok(&["adopt", "tasks.md"]).stdout;
    assert!(printed.contains("5 tasks, 1 done, 1 open, 1 in progress"), "{printed}");
    assert_eq!(statuses(&other), statuses(&project), "{text}");
}
