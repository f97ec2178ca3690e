//! What the project shows about a step that was interrupted.

use super::*;

#[test]
fn partial_work_decides_after_an_interruption() {
    // (last note, file that the step names, its content, decision)
    for (note, content, action) in [
        (Some("Created auth.py"), Some("def login(): ...\n"), "continue_task"),
        (Some("Writing tests..."), Some(""), "restart_task"),
        (Some("Completed endpoint, all tests pass"), Some("x = 1\n"), "next_task"),
        (Some("Completed endpoint"), None, "human_review"),
        (Some("Working on it"), None, "human_review"),
        (None, None, "restart_task"),
        (None, Some("x = 1\n"), "continue_task"),
    ] {
        let project = half_done(3, 1);
        project.ok(&["step", "set", "2", "--effects", "writes auth.py"]);
        project.ok(&["step", "start", "2"]);
        if let Some(content) = content {
            write(&project, "auth.py", content);
        }
        if let Some(note) = note {
            project.ok(&["history", "add", note]);
        }
        let answer = project.json(&["recover"]);
        assert_eq!(answer["action"], action, "{note:?} {content:?}: {answer}");
        assert_eq!(answer["step"], 2);
        let named = &answer["evidence"]["step"]["names"][0];
        assert_eq!(
            (&named["path"], &named["exists"]),
            (&json!("auth.py"), &json!(content.is_some()))
        );

        let before = project.files();
        project.json(&["recover", "--apply"]);
        let wanted = match action {
            "continue_task" | "human_review" => "RUNNING",
            "restart_task" => "PENDING",
            _ => "COMPLETED",
        };
        assert_eq!(status(&project, 2), wanted, "{action}");
        if action == "next_task" {
            assert_eq!(status(&project, 3), "RUNNING");
        }
        let reviews = project.json(&["review", "list"])["reviews"].as_array().unwrap().len();
        assert_eq!(reviews, usize::from(action == "human_review"));
        project.ok(&["check"]);
        project.ok(&["undo"]);
        assert_same_but_history(&before, &project);
    }
}

#[test]
fn files_that_were_there_before_show_no_progress() {
    let project = half_done(2, 0);
    write(&project, "old.py", "x = 1\n");
    write(&project, "tests/test_old.py", "x = 1\n");
    std::thread::sleep(std::time::Duration::from_millis(20));
    project.ok(&["step", "set", "1", "title=Refactor the code"]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["history", "add", "Working on..."]);
    let answer = project.json(&["recover"]);
    assert_eq!(answer["action"], "human_review", "{answer}");
    let files = &answer["evidence"]["files"];
    assert_eq!((&files["source_files"], &files["test_files"]), (&json!(1), &json!(1)));
    assert_eq!(files["recent_count"], 0);
    write(&project, "new.py", "x = 1\n");
    let answer = project.json(&["recover"]);
    assert_eq!(answer["action"], "continue_task", "{answer}");
    assert_eq!(answer["evidence"]["files"]["recent"], json!(["new.py"]));
    for count in 0..20 {
        write(&project, &format!("src/f{count}.py"), "x = 1\n");
    }
    assert_eq!(project.json(&["recover"])["action"], "human_review", "very many changes");
    write(&project, ".gitignore", "src/\n");
    let answer = project.json(&["recover"]);
    assert_eq!(answer["action"], "human_review", "without git nothing says what is ignored");
    let mut git = std::process::Command::new("git");
    assert!(git.current_dir(project.root()).args(["init", "-q"]).status().unwrap().success());
    let answer = project.json(&["recover"]);
    assert_eq!(answer["action"], "continue_task", "they are ignored");
    assert_eq!(answer["evidence"]["files"]["left_out"], json!(["1 ignored files and directories"]));
}

#[test]
fn white_space_is_not_work_and_a_link_out_of_the_project_is_not_evidence() {
    let project = half_done(3, 1);
    project.ok(&["step", "set", "2", "--effects", "writes auth.py"]);
    project.ok(&["step", "start", "2"]);
    write(&project, "auth.py", "x = 1\n");
    assert_eq!(project.json(&["recover"])["action"], "continue_task", "control");
    write(&project, "auth.py", " \n\t\n");
    assert_eq!(project.json(&["recover"])["action"], "restart_task");
    #[cfg(unix)]
    {
        let other = Project::empty();
        write(&other, "far.py", "x = 1\n");
        std::fs::remove_file(project.root().join("auth.py")).unwrap();
        let link = project.root().join("auth.py");
        std::os::unix::fs::symlink(other.root().join("far.py"), link).unwrap();
        let answer = project.json(&["recover"]);
        assert_eq!(answer["evidence"]["step"]["names"][0]["exists"], false, "{answer}");
    }
}

#[test]
fn git_changes_and_conflicts_are_evidence() {
    if !needs::program("git") {
        return;
    }
    let project = half_done(2, 0);
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.arg("-C").arg(project.root()).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        command.args(args).output().unwrap().status.success()
    };
    assert!(git(&["init", "-q"]));
    write(&project, "a.py", "x = 1\n");
    git(&["add", "a.py"]);
    git(&["commit", "-qm", "first"]);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    project.ok(&["step", "start", "1"]);
    assert_eq!(project.json(&["recover"])["evidence"]["git"]["changed_count"], 0);
    write(&project, "a.py", "x = 2\n");
    write(&project, "new file.py", "x = 2\n");
    let seen = &project.json(&["recover"])["evidence"]["git"];
    assert_eq!(seen["changed"], json!(["a.py", "new file.py"]), "{seen}");
    git(&["add", "."]);
    git(&["commit", "-qm", "second $(touch pwned)"]);
    let seen = &project.json(&["recover"])["evidence"]["git"];
    assert!(seen["commits"][0].as_str().unwrap().ends_with("second $(touch pwned)"), "{seen}");
}
