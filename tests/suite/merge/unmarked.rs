//! Conflicts that git left without a mark, and values that only look like one.

use serde_json::json;

use super::repository::Repository;
use crate::builder::texts;

/// Two branches, merged while the driver cannot be run: git leaves our side and no marker.
fn driver_gone() -> Option<Repository> {
    let repository = Repository::new()?;
    repository.on("one", &[&["history", "add", "one"], &["var", "set", "a", "1"]]);
    repository.on("main", &[]);
    repository.on("two", &[&["history", "add", "two"], &["var", "set", "b", "2"]]);
    let key = repository.git(&["config", "--name-only", "--get-regexp", r"^merge\..*\.driver$"]);
    repository.git(&["config", key.trim(), "/nonexistent/program %O %A %B"]);
    assert!(!repository.merges("one"));
    assert!(!repository.project.read("history.md").contains("<<<<<<<"), "the control: no marker");
    assert!(!repository.project.read("variables.json").contains("\"a\""));
    Some(repository)
}

fn assert_both(repository: &Repository) {
    let project = &repository.project;
    assert_eq!(repository.git(&["ls-files", "-u"]), "");
    assert_eq!(project.json(&["var", "get", "a"])["value"], 1);
    assert_eq!(project.json(&["var", "get", "b"])["value"], 2);
    let history = project.read("history.md");
    assert!(history.contains("one") && history.contains("two"), "{history}");
}

#[test]
fn what_git_left_unmerged_is_listed_refused_and_resolved() {
    let Some(repository) = driver_gone() else { return };
    let project = &repository.project;
    let listed = project.json(&["merge", "--list"]);
    let fields = texts(&listed["conflicts"], "field");
    assert!(fields.contains(&"variables") && fields.contains(&"history"), "{listed}");
    assert_eq!(project.refused(4, &["commit"])["error"]["code"], "unmerged");
    assert_eq!(project.refused(4, &["check"])["error"]["code"], "inconsistent");
    project.refused(1, &["git", "pre-commit"]);
    let resolved = project.json(&["merge", "--resolve"]);
    assert_eq!(resolved["left"], 0, "{resolved}");
    assert_both(&repository);
    assert_eq!(project.json(&["merge", "--list"])["conflicts"], json!([]));
    project.ok(&["git", "pre-commit"]);
}

#[test]
fn staging_our_side_alone_does_not_pass_the_check_before_a_commit() {
    let Some(repository) = driver_gone() else { return };
    repository.git(&["add", "-A"]);
    let refusal = repository.project.refused(1, &["git", "pre-commit"]);
    assert!(refusal.to_string().contains("of MERGE_HEAD would be lost"), "{refusal}");
}

#[test]
fn a_file_changed_by_hand_since_is_kept_and_said() {
    let Some(repository) = driver_gone() else { return };
    let project = &repository.project;
    let text = project.read("variables.json").replace("\"b\": 2", "\"b\": 2, \"a\": 7");
    project.write("variables.json", &text);
    let resolved = project.json(&["merge", "--resolve"]);
    let kept = |file: &str| {
        let files = resolved["resolved"].as_array().unwrap();
        files.iter().find(|found| found["file"] == file).unwrap()["kept"].clone()
    };
    assert_eq!((kept("variables.json"), kept("history.md")), (json!(true), json!(false)));
    assert_eq!(project.json(&["var", "get", "a"])["value"], 7);
    assert!(
        project
            .ok(&["merge", "--list"])
            .stdout
            .contains("variables.json: git reports it as unmerged")
    );
    assert!(project.read("history.md").contains("one"));
}

#[test]
fn a_file_removed_on_one_side_and_changed_on_the_other_is_settled() {
    let Some(repository) = Repository::without_driver(1) else { return };
    repository.on("one", &[&["context", "add", "from one"]]);
    repository.git(&["checkout", "--quiet", "main"]);
    repository.git(&["checkout", "--quiet", "-b", "two"]);
    repository.git(&["rm", "--quiet", "workspace/state/context.md"]);
    repository.git(&["commit", "--quiet", "-m", "removed"]);
    assert!(!repository.merges("one"));
    let project = &repository.project;
    let listed = project.json(&["merge", "--list"]);
    assert!(listed.to_string().contains("\"context\""), "{listed}");
    project.ok(&["merge", "--resolve"]);
    assert_eq!(repository.git(&["ls-files", "-u"]), "");
    assert!(project.read("context.md").contains("from one"));
}

#[test]
fn after_an_undo_in_the_middle_the_index_still_knows_both_sides() {
    let Some(repository) = Repository::without_driver(2) else { return };
    repository.on("one", &[&["history", "add", "one"], &["var", "set", "a", "1"]]);
    repository.on("main", &[]);
    repository.on("two", &[&["history", "add", "two"], &["var", "set", "b", "2"]]);
    assert!(!repository.merges("one"));
    let project = &repository.project;
    assert_eq!(project.refused(4, &["archive", "--force"])["error"]["code"], "unmerged");
    project.ok(&["undo"]);
    assert!(!project.read("variables.json").contains("<<<<<<<"), "the control: no marker is left");
    let resolved = project.json(&["merge", "--resolve"]);
    assert_eq!(resolved["left"], 0, "{resolved}");
    assert_both(&repository);
}

#[test]
fn a_value_that_reads_as_a_conflict_is_refused() {
    let Some(repository) = Repository::without_driver(1) else { return };
    let project = &repository.project;
    let marker = r#"<<<<<<< ours "a" ||||||| base "c" ======= theirs "b" >>>>>>>"#;
    let goal = format!("goal={marker}");
    for command in [
        ["context", "add", marker].as_slice(),
        &["plan", "set", &goal],
        &["directive", "add", marker],
        &["var", "set", "s.<<<<<<< conflict", r#"{"ours":1}"#],
        &["context", "add", marker, "--dry-run"],
    ] {
        let ran = project.run(command);
        if ran.code != 0 {
            assert_eq!(ran.code, 1, "{command:?} {}{}", ran.stdout, ran.stderr);
        }
        assert_eq!(project.json(&["merge", "--list"])["conflicts"], json!([]), "{command:?}");
    }
    project.refused(1, &["context", "add", marker]);
    project.ok(&["context", "add", &format!("it said `{marker}`")]);
    project.ok(&["var", "set", "s", "\"<<<<<<< conflict\""]);
}

#[test]
fn two_states_begun_apart_become_one_document_with_conflicts() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    repository.git(&["checkout", "--quiet", "--orphan", "apart"]);
    std::fs::remove_dir_all(project.dir()).unwrap();
    project.ok(&["init", "--goal", "Quite another goal"]);
    project.ok(&["git", "install"]);
    repository.commit("apart");
    repository.try_git(&["merge", "--no-edit", "--allow-unrelated-histories", "main"]);
    for name in ["plan.md", "context.md", "constraints.md"] {
        let text = project.read(name);
        let titles = text.lines().filter(|line| line.starts_with("# ")).count();
        assert_eq!(titles, 1, "{text}");
        let mut sections: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        let all = sections.len();
        sections.sort_unstable();
        sections.dedup();
        assert_eq!(sections.len(), all, "{text}");
    }
    let listed = project.json(&["merge", "--list"]);
    assert!(listed.to_string().contains("Quite another goal"), "{listed}");
}
