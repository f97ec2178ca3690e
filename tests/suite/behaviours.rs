//! Context-aware behaviours: what applies to a kind of task.

use serde_json::json;

use crate::builder::{Project, texts};

#[test]
fn behaviours_follow_the_task_type_and_go_back() {
    let project = Project::new();
    let value = |name: &str| project.json(&["constraint", "get", name])["value"].clone();
    project.ok(&["plan", "set", "task_type=research_tasks"]);
    assert_eq!(value("priority"), "comprehensiveness");
    let answer = project.json(&["event", "emit", "task_type", "type=legal"]);
    assert_eq!(answer["reviews_opened"], json!(["r1"]));
    assert_eq!((value("priority"), value("error_tolerance")), (json!("quality"), json!("strict")));
    project.ok(&["constraint", "set", "error_tolerance", "flexible"]);
    project.ok(&["plan", "set", "task_type=other"]);
    assert_eq!(value("error_tolerance"), "flexible", "a person's value stays");
    project.ok(&["check"]);
}

#[test]
fn a_task_type_that_is_set_again_asks_only_once() {
    let project = Project::new();
    let set = || project.json(&["event", "emit", "task_type", "type=legal"]);
    let open = || project.json(&["review", "list"])["reviews"].as_array().unwrap().len();
    assert_eq!(set()["reviews_opened"], json!(["r1"]));
    let again = set();
    assert_eq!(again["reviews_opened"], json!(null), "{again}");
    assert!(again["message"].as_str().unwrap().contains("review r1 is already open"), "{again}");
    project.ok(&["plan", "set", "task_type=legal_tasks"]);
    assert_eq!(open(), 1);
    // Once it is decided, the question is asked again.
    project.ok(&["review", "approve", "r1", "--actor", "ada"]);
    assert_eq!(set()["reviews_opened"], json!(["r2"]));
}

#[test]
fn a_rule_that_fires_again_opens_no_second_review_while_the_first_is_open() {
    let project = Project::with_steps(1);
    let rule = "If user provides negative feedback → require human review";
    project.ok(&["rule", "add", rule]);
    let complain = |about: &str| {
        let about = format!("about={about}");
        project.ok(&["event", "emit", "feedback", "sentiment=positive"]);
        project.json(&["event", "emit", "feedback", "sentiment=negative", &about])
    };
    let open = || project.json(&["review", "list"])["reviews"].as_array().unwrap().len();
    assert_eq!(complain("speed")["reviews_opened"], json!(["r1"]));
    let again = complain("price");
    assert_eq!(again["fired"][0]["did"], json!(["review required"]), "{again}");
    assert_eq!(again["reviews_opened"], json!(null), "{again}");
    assert!(again["message"].as_str().unwrap().contains("review r1 is already open"), "{again}");
    assert_eq!(open(), 1);
    // Another rule has a question of its own, and a question that is decided is asked again.
    project.ok(&[
        "rule",
        "add",
        "If user provides negative feedback → require human review of tone",
    ]);
    assert_eq!(complain("tone")["reviews_opened"].as_array().unwrap().len(), 1);
    for review in ["r1", "r2"] {
        project.ok(&["review", "approve", review, "--actor", "ada"]);
    }
    assert_eq!(complain("speed")["reviews_opened"].as_array().unwrap().len(), 2);
}

/// A project with these behaviours below the others.
fn behaving(lines: &str) -> Project {
    let project = Project::with_steps(3);
    project.write("constraints.md", format!("{}{lines}", project.read("constraints.md")));
    project
}

fn directives(project: &Project) -> Vec<String> {
    let listed = project.json(&["directive", "list"]);
    texts(&listed["directives"], "text").into_iter().map(str::to_owned).collect()
}

#[test]
fn advice_and_directives_of_a_behaviour_hold_while_its_task_type_does() {
    let project = behaving(
        "- **release_tasks**: Prefer small commits; add directive \"be brief\" for the next 3 steps\n\
         - **prose_tasks**: If in doubt, leave it out\n",
    );
    project.ok(&["directive", "add", "Stay friendly"]);
    let told = project.ok(&["event", "emit", "task_type", "type=release"]).stdout;
    assert!(told.contains("release_tasks: directive: Prefer small commits"), "{told}");
    let brief = "For the next 3 steps, be brief";
    assert_eq!(directives(&project), ["Stay friendly", "Prefer small commits", brief]);
    assert!(project.ok(&["brief"]).stdout.contains("> - Prefer small commits"));
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    // However many steps are left.
    project.ok(&["plan", "set", "task_type=prose"]);
    let prose = "prose_tasks: If in doubt, leave it out";
    assert_eq!(directives(&project), ["Stay friendly", prose], "no condition, but a text");
    project.ok(&["plan", "set", "task_type=other"]);
    assert_eq!(directives(&project), ["Stay friendly"]);
    project.ok(&["check"]);
}

#[test]
fn a_behaviour_can_pause_and_save() {
    let project = behaving("- **release_tasks**: checkpoint \"rc\", pause because it is Friday\n");
    let told = project.ok(&["plan", "set", "task_type=release"]).stdout;
    assert!(told.contains("checkpoint rc"), "{told}");
    assert!(told.contains("release_tasks: plan paused"), "{told}");
    let status = project.json(&["status"]);
    assert_eq!(status["paused_because"], "because it is Friday", "{status}");
    assert!(project.ok(&["checkpoint", "list"]).stdout.contains("rc"));
    project.ok(&["undo"]);
    assert!(project.json(&["status"])["paused_because"].is_null());
}

#[test]
fn a_behaviour_without_its_task_type_is_reported() {
    let project =
        behaving("- **coding_tasks** → set priority to quality\n- For essays, take your time\n");
    let checked = project.run(&["rule", "check"]);
    assert_eq!(checked.code, 1, "{}", checked.stdout);
    assert!(checked.stdout.contains("a behaviour begins with its task type"), "{}", checked.stdout);
    assert!(checked.stdout.contains("For essays, take your time"), "{}", checked.stdout);
}

#[test]
fn a_task_type_that_is_set_already_changes_nothing() {
    let project = behaving(
        "- **release_tasks**: add directive \"be brief\" for the next 3 steps, checkpoint \"rc\"\n",
    );
    let checkpoints =
        || project.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len();
    project.ok(&["plan", "set", "task_type=release"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    let left = "For the next 2 steps, be brief";
    assert_eq!((directives(&project), checkpoints()), (vec![left.to_owned()], 1));
    for same in ["release", "release", "release_tasks"] {
        let answer = project.json(&["plan", "set", &format!("task_type={same}")]);
        assert_eq!(answer["behaviours"], json!(null), "{answer}");
        assert_eq!((directives(&project), checkpoints()), (vec![left.to_owned()], 1), "{same}");
    }
    // Another one ends it, and it can begin again.
    project.ok(&["plan", "set", "task_type=other"]);
    assert_eq!(directives(&project), [] as [&str; 0]);
    project.ok(&["plan", "set", "task_type=release"]);
    assert_eq!(directives(&project), ["For the next 3 steps, be brief"]);
}
