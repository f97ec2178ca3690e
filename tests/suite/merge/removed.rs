//! Entries that a commit took out without asking the merge driver.

use super::repository::Repository;
use crate::builder::Project;

const VERIFY: [&str; 3] = ["history", "verify", "--json"];

/// A history of two commits, the newest of which is reverted.
fn reverted() -> Option<Repository> {
    let repository = Repository::new()?;
    for title in ["One", "Two"] {
        repository.project.ok(&["history", "add", title]);
        repository.commit(title);
    }
    repository.git(&["revert", "--no-edit", "HEAD"]);
    assert!(!repository.project.read("history.md").contains("### Two"), "git asked the driver");
    Some(repository)
}

fn titles(project: &Project) -> Vec<String> {
    let history = project.read("history.md");
    let titles = history.lines().filter_map(|line| line.strip_prefix("### "));
    titles.map(|title| title.split(" - ").next().unwrap().to_owned()).collect()
}

/// How many entries are reported as removed by git.
fn went(project: &Project) -> usize {
    let verified = project.json(&["history", "verify"]);
    let back = verified["went_back"].as_array().cloned().unwrap_or_default();
    back.iter().map(|back| back["entries"].as_array().unwrap().len()).sum()
}

#[test]
fn a_reverted_entry_is_named_and_comes_back() {
    let Some(repository) = reverted() else { return };
    let project = &repository.project;
    for command in [VERIFY.as_slice(), &["check", "--json"]] {
        let ran = project.ok(command);
        assert!(ran.stdout.contains("commit "), "{}", ran.stdout);
        assert!(ran.stdout.contains(r#"Revert \"Two\""#), "{}", ran.stdout);
    }
    project.ok(&["check", "--fix"]);
    assert_eq!(titles(project), ["One", "Two"]);
    project.ok(&VERIFY);
    assert_eq!(project.json(&["check"])["findings"], serde_json::json!([]));
}

#[test]
fn the_next_command_says_so_once_and_the_entry_is_not_forgotten() {
    let Some(repository) = reverted() else { return };
    let project = &repository.project;
    let printed =
        |ran: crate::builder::Ran| ran.stderr.contains("history.md is an earlier version");
    assert!(printed(project.ok(&["history", "add", "Three"])));
    assert!(!printed(project.ok(&["history", "add", "Four"])));
    assert_eq!(went(project), 1);
    project.ok(&["check", "--fix"]);
    assert_eq!(titles(project), ["One", "Three", "Four", "Two"]);
    project.ok(&VERIFY);
    // It is an operation like any other.
    project.ok(&["history", "add", "Five"]);
    assert_eq!(project.json(&["history", "verify"])["heads"].as_array().unwrap().len(), 1);
}

#[test]
fn a_clone_that_has_no_log_finds_it_too() {
    let Some(repository) = reverted() else { return };
    std::fs::remove_dir_all(repository.project.path(".statedir")).unwrap();
    assert_eq!(went(&repository.project), 1);
    repository.project.ok(&["check", "--fix"]);
    assert_eq!(titles(&repository.project), ["One", "Two"]);
}

#[test]
fn a_merge_that_took_one_side_whole_is_found() {
    let Some(repository) = Repository::new() else { return };
    repository.on("other", &[&["history", "add", "There"]]);
    repository.on("main", &[&["history", "add", "Here"]]);
    repository.git(&["merge", "--quiet", "-s", "ours", "-m", "took ours", "other"]);
    let ran = repository.project.ok(&VERIFY);
    assert!(ran.stdout.contains("took ours"), "{}", ran.stdout);
    repository.project.ok(&["check", "--fix"]);
    assert_eq!(titles(&repository.project), ["Here", "There"]);
}

#[test]
fn what_is_on_another_branch_or_of_another_execution_is_not_missed() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    repository.on("other", &[&["history", "add", "There"]]);
    repository.on("main", &[&["history", "add", "Here"]]);
    for branch in ["other", "main"] {
        repository.git(&["checkout", "--quiet", branch]);
        project.ok(&VERIFY);
        let ran = project.ok(&["var", "set", "on", branch]);
        assert!(!ran.stderr.contains("any more"), "{}", ran.stderr);
        repository.commit(branch);
    }
    repository.git(&["reset", "--quiet", "--hard", "HEAD~2"]);
    project.ok(&VERIFY);
    project.ok(&["archive", "--force"]);
    project.ok(&["init", "--goal", "Another"]);
    repository.commit("begun anew");
    project.ok(&["history", "add", "New"]);
    repository.commit("new");
    project.ok(&VERIFY);
    assert_eq!(titles(project), ["New"]);
}

#[test]
fn what_people_are_shown_of_a_file_hides_no_entry_from_us() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    project.ok(&["git", "install", "--textconv"]);
    repository.commit("shown by meaning");
    repository.on("one", &[&["history", "add", "One"]]);
    repository.git(&["checkout", "--quiet", "main"]);
    project.ok(&VERIFY);
    assert_eq!(project.json(&["check"])["findings"], serde_json::json!([]));
    let printed = project.ok(&["history", "add", "Two"]).stderr;
    assert!(!printed.contains("is missing from history.md"), "{printed}");
    // The control: one that is lost here is found.
    repository.commit("two");
    let cut = project.read("history.md").replace("### Two", "### Zwei");
    project.write("history.md", cut);
    assert_eq!(project.run(&VERIFY).code, 4);
}
