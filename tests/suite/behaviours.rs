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
