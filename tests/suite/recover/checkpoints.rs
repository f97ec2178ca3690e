//! Going back to a checkpoint: when it is proposed, and what it costs.

use super::*;

#[test]
fn a_checkpoint_is_gone_back_to_only_by_decision_and_says_what_it_undoes() {
    let project = half_done(5, 2);
    project.ok(&["checkpoint", "create", "good"]);
    let at_checkpoint = project.files();
    for _ in 0..2 {
        project.ok(&["step", "start", "3"]);
        project.ok(&["step", "fail", "3", "--error", "assertion failed"]);
        project.ok(&["context", "add", "a finding"]);
        let before = project.files();
        assert_eq!(project.json(&["recover"])["action"], "retry_task", "nothing is given up");
        let back = ["recover", "--decide", "rollback_checkpoint", "--apply"];
        let answer = project.json(&back);
        assert_eq!(
            (&answer["action"], &answer["checkpoint"]),
            (&json!("rollback_checkpoint"), &json!("good"))
        );
        assert!(answer["undoes"].to_string().contains("of context.md"), "{answer}");
        assert_eq!(answer["applied"], true, "{answer}");
        assert_same_but_history(&at_checkpoint, &project);
        assert!(project.read("history.md").contains("- **recovery**: rollback_checkpoint\n"));
        project.ok(&["undo"]);
        assert_same_but_history(&before, &project);
        project.ok(&["redo"]);
    }
    project.ok(&["step", "start", "3"]);
    project.ok(&["step", "fail", "3", "--error", "assertion failed"]);
    assert_eq!(project.json(&["recover"])["action"], "retry_task");
    project.ok(&["history", "verify"]);

    project.write("plan.md", [0xFF, 0xFE]);
    for args in [&["recover"][..], &["recover", "--apply"]] {
        assert_eq!(project.refused(4, args)["action"], "human_review", "`undo` brings it back");
    }
    let own = project.json(&["recover", "--decide", "rollback_checkpoint", "--apply"]);
    assert_eq!(own["applied"], true, "the plan was damaged");
    assert_same_but_history(&at_checkpoint, &project);
    project.ok(&["check"]);
}

#[test]
fn what_the_log_can_bring_back_costs_no_finished_step() {
    let damages: [fn(&Project); 3] = [
        |project| std::fs::remove_file(project.path("history.md")).unwrap(),
        |project| project.write("variables.json", "{\"bad"),
        |project| std::fs::remove_file(project.path("context.md")).unwrap(),
    ];
    for damage in damages {
        let project = half_done(4, 1);
        project.ok(&["checkpoint", "create", "c"]);
        project.ok(&["step", "start", "2"]);
        project.ok(&["step", "done", "2"]);
        damage(&project);
        let answer = project.refused(4, &["recover", "--apply"]);
        assert_eq!(answer["action"], "human_review", "{answer}");
        assert!(answer["error"]["hint"].as_str().unwrap().contains("check --fix"), "{answer}");
        assert_eq!(status(&project, 2), "COMPLETED");
    }
}

#[test]
fn a_checkpoint_with_the_failure_in_it_is_passed_over() {
    let project = half_done(5, 2);
    project.ok(&["checkpoint", "create", "good"]);
    project.ok(&["step", "start", "3"]);
    project.ok(&["step", "fail", "3", "--error", "assertion failed"]);
    project.ok(&["checkpoint", "create", "late"]);
    let answer = project.json(&["recover", "--decide", "rollback_checkpoint"]);
    assert_eq!(answer["checkpoint"], "good", "{answer}");
    project.ok(&["checkpoint", "delete", "good"]);
    let refusal = project.refused(1, &["recover", "--decide", "rollback_checkpoint"]);
    assert!(refusal["error"]["message"].as_str().unwrap().contains("`late`"), "{refusal}");
}

#[test]
fn a_checkpoint_at_which_the_failed_step_ran_puts_it_to_its_beginning() {
    let project = half_done(5, 2);
    project.ok(&["step", "start", "3"]);
    project.ok(&["checkpoint", "create", "during"]);
    project.ok(&["step", "fail", "3", "--error", "assertion failed"]);
    let answer = project.json(&["recover", "--decide", "rollback_checkpoint", "--apply"]);
    assert_eq!(
        (&answer["action"], &answer["checkpoint"]),
        (&json!("rollback_checkpoint"), &json!("during"))
    );
    assert_eq!((status(&project, 2), status(&project, 3)), ("COMPLETED".into(), "PENDING".into()));
    project.ok(&["check"]);
}
