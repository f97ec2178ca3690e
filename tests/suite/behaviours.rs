//! Context-aware behaviours: what applies to a kind of task.

use serde_json::json;

use crate::builder::Project;

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
