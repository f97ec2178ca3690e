//! References to a step mean the same step after a merge.

use serde_json::json;

use super::repository::Repository;

#[test]
fn references_mean_the_same_step_when_a_merge_renumbers() {
    for theirs_too in [false, true] {
        let Some(repository) = Repository::new() else { return };
        let project = &repository.project;
        project.ok(&["step", "add", "Use it", "--input", "rows={{steps.2.rows}} of {{steps.1.a}}"]);
        repository.commit("a reference");
        let before = project.json(&["step", "show", "3"]);
        assert!(before.to_string().contains("{{steps.2.rows}}"), "{before}");
        repository.on("other", &[&["step", "add", "Theirs", "--after", "1"]]);
        repository.git(&["checkout", "--quiet", "main"]);
        let ours: &[&str] = match theirs_too {
            true => &["step", "add", "Ours", "--after", "1"],
            false => &["step", "add", "Use it again", "--input", "x={{steps.2.rows}}"],
        };
        repository.on("main", &[ours]);
        assert!(repository.merges("other"));
        let plan = project.read("plan.md");
        let number = if theirs_too { 4 } else { 3 };
        assert!(plan.contains(&format!("### Step {number}: Do part 2")), "{plan}");
        let wanted = format!("{{{{steps.{number}.rows}}}}");
        let times = if theirs_too { 1 } else { 2 };
        assert_eq!(plan.matches(&wanted).count(), times, "{plan}");
        assert_eq!(plan.matches("{{steps.1.a}}").count(), 1, "{plan}");
        assert_eq!(plan.matches("{{steps.").count(), times + 1, "{plan}");
    }
}

#[test]
fn a_step_done_on_both_sides_has_two_attempts_and_both_costs() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    let work: [&[&str]; 2] = [&["step", "start", "1"], &["step", "done", "1", "--cost", "0.25"]];
    repository.on("other", &work);
    repository.git(&["checkout", "--quiet", "main"]);
    repository.on("main", &work);
    if !repository.merges("other") {
        project.ok(&["merge", "--take", "ours", "--all"]);
        repository.commit("merged");
    }
    let metrics = project.json(&["metrics"]);
    assert_eq!((&metrics["attempts"], &metrics["total_cost"]), (&json!(2), &json!(0.5)));
    assert_eq!(project.json(&["check"])["findings"], json!([]));
    // And after an undo that follows the merge.
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "2", "--cost", "0.5"]);
    project.ok(&["undo"]);
    let (status, metrics) = (project.json(&["status"]), project.json(&["metrics"]));
    assert_eq!((&status["total_cost"], &metrics["total_cost"]), (&json!(0.5), &json!(0.5)));
    assert_eq!(project.json(&["check"])["findings"], json!([]));
}
