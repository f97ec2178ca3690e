//! Files that one side removed, both sides added, or one side moved.

use super::repository::Repository;

const SETTLED: &str = "everything is settled";

/// Runs every check that must pass after a merge.
fn assert_settled(repository: &Repository, dir: &str) {
    let project = &repository.project;
    assert_eq!(repository.git(&["ls-files", "-u"]), "");
    repository.commit(SETTLED);
    project.ok(&["-C", dir, "history", "verify"]);
    let checked = project.ok(&["-C", dir, "check"]);
    assert!(!checked.stdout.contains("error"), "{}", checked.stdout);
}

/// Both with the driver and without.
fn repositories() -> impl Iterator<Item = Repository> {
    [Repository::new(), Repository::without_driver(2)].into_iter().flatten()
}

/// A branch that works on two files, and one that removed them.
fn work_and_removal(repository: &Repository) {
    repository.project.ok(&["checkpoint", "create", "early"]);
    repository.commit("early");
    repository.on("work", &[&["context", "add", "a finding"], &["history", "add", "An entry"]]);
    repository.git(&["checkout", "--quiet", "main"]);
    repository.git(&["checkout", "--quiet", "-b", "removal"]);
    let files = ["workspace/state/context.md", "workspace/state/history.md"];
    repository.git(&[&["rm", "--quiet"], files.as_slice()].concat());
    repository.git(&["commit", "--quiet", "-m", "removed"]);
}

#[test]
fn a_removal_against_work_is_refused_by_all_until_it_is_resolved() {
    for repository in repositories() {
        work_and_removal(&repository);
        for (here, there, marks) in [("work", "removal", "UD"), ("removal", "work", "DU")] {
            let project = &repository.project;
            repository.git(&["checkout", "--quiet", "-B", "here", here]);
            assert!(!repository.merges(there));
            let status = repository.git(&["status", "--short"]);
            assert!(status.contains(&format!("{marks} workspace/state/history.md")), "{status}");
            for command in [
                ["var", "set", "a", "1"].as_slice(),
                &["history", "add", "x"],
                &["restore", "early"],
                &["restore", "early", "--dry-run"],
                &["checkpoint", "create", "now"],
                &["archive", "--force"],
                &["commit"],
            ] {
                let refusal = project.refused(4, command);
                assert_eq!(refusal["error"]["code"], "unmerged", "{marks} {command:?}");
            }
            let hint = project.refused(4, &["var", "set", "a", "1"])["error"]["hint"].clone();
            assert!(hint.as_str().unwrap().contains("merge --resolve"), "{hint}");
            assert_eq!(project.json(&["merge", "--resolve"])["left"], 0);
            assert!(project.read("context.md").contains("a finding"));
            assert!(project.read("history.md").contains("An entry"));
            project.ok(&["var", "set", "a", "1"]);
            assert_settled(&repository, "workspace/state");
        }
    }
}

#[test]
fn two_states_that_both_sides_added_are_settled_field_by_field() {
    for repository in repositories() {
        let project = &repository.project;
        let with_driver = project.json(&["git", "status"])["git"]["merge_driver"] == true;
        repository.git(&["checkout", "--quiet", "--orphan", "apart"]);
        repository.git(&["rm", "-r", "--quiet", "--cached", "."]);
        std::fs::remove_dir_all(project.dir()).unwrap();
        project.ok(&["init", "--goal", "Quite another goal"]);
        project.ok(&["history", "add", "There"]);
        repository.commit("apart");
        repository.git(&["checkout", "--quiet", "main"]);
        project.ok(&["history", "add", "Here"]);
        repository.commit("here");
        let args = ["merge", "--no-edit", "--allow-unrelated-histories", "apart"];
        assert_ne!(repository.try_git(&args).code, 0);
        assert!(repository.git(&["status", "--short"]).contains("AA workspace/state/plan.md"));
        project.refused(4, &["var", "set", "a", "1"]);
        let resolved = project.json(&["merge", "--resolve"]);
        assert!(resolved["left"].as_u64().unwrap() > 0, "driver {with_driver}: {resolved}");
        project.refused(4, &["var", "set", "a", "1"]);
        project.ok(&["merge", "--take", "theirs", "--all"]);
        assert!(project.read("plan.md").contains("- **goal**: Quite another goal"));
        let history = project.read("history.md");
        assert!(history.contains("### Here") && history.contains("### There"), "{history}");
        assert_settled(&repository, "workspace/state");
    }
}

#[test]
fn a_state_directory_that_one_side_moved_takes_the_work_of_the_other() {
    for repository in repositories() {
        let project = &repository.project;
        repository.git(&["checkout", "--quiet", "-b", "moved"]);
        repository.git(&["mv", "workspace", "elsewhere"]);
        std::fs::remove_dir_all(project.root().join("workspace")).ok();
        let dir = "elsewhere/state";
        project.ok(&["-C", dir, "step", "start", "2"]);
        project.ok(&["-C", dir, "history", "add", "There"]);
        repository.commit("moved");
        repository.git(&["checkout", "--quiet", "main"]);
        repository.on("main", &[&["step", "start", "1"], &["history", "add", "Here"]]);
        if !repository.merges("moved") {
            // The attributes are about the old place.
            project.refused(4, &["-C", dir, "var", "set", "a", "1"]);
            assert_eq!(project.json(&["-C", dir, "merge", "--resolve"])["left"], 0);
        }
        let history = std::fs::read_to_string(project.root().join(dir).join("history.md")).unwrap();
        assert!(history.contains("### Here") && history.contains("### There"), "{history}");
        let plan = project.read_at(&project.root().join(dir).join("plan.md"));
        assert_eq!(plan.matches("RUNNING").count(), 2, "{plan}");
        assert_settled(&repository, dir);
    }
}

#[test]
fn nothing_is_restored_over_a_conflict() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    project.ok(&["checkpoint", "create", "early"]);
    repository.commit("early");
    repository.on("one", &[&["var", "set", "k", "1"]]);
    repository.on("main", &[&["var", "set", "k", "2"]]);
    assert!(!repository.merges("one"));
    for command in [["restore", "early"].as_slice(), &["checkpoint", "restore", "early"]] {
        assert_eq!(project.refused(4, command)["error"]["code"], "unmerged");
    }
    project.ok(&["merge", "--take", "theirs", "--all"]);
    project.ok(&["restore", "early"]);
    project.refused(1, &["var", "get", "k"]);
}
