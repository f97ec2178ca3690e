//! What is refused in an adopted state, and what the refusal says.

use super::*;

#[test]
fn what_belongs_to_the_file_is_refused_with_its_place() {
    let project = project(&[("TODO.md", TODO)]);
    project.ok(&["adopt"]);
    for args in [
        &["step", "set", "2", "--title", "Other"][..],
        &["step", "reorder", "4", "--before", "2"],
        &["step", "remove", "2"],
    ] {
        let ran = project.run(args);
        assert_eq!(ran.code, 1, "{args:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("TODO.md:"), "{args:?}: {}", ran.stderr);
        assert_eq!(bytes(project.root())["TODO.md"], TODO.as_bytes());
    }
    // Control: a step of the user is added beside the file, and can be removed.
    project.ok(&["step", "add", "Call a friend"]);
    assert_eq!(bytes(project.root())["TODO.md"], TODO.as_bytes());
    assert!(steps(&project).last().unwrap().ends_with("Call a friend"));
    project.ok(&["step", "remove", "5"]);
    assert_eq!(steps(&project).len(), 4);
}

#[test]
fn a_layout_that_cannot_be_used_is_named_and_nothing_is_touched() {
    let project = project(&[("TODO.md", TODO)]);
    project.ok(&["adopt"]);
    let path = project.root().join("statedir.yaml");
    let text = fs::read_to_string(&path).unwrap();
    for (from, to) in [("TODO.md", "../TODO.md"), ("version: 1", "version: 9"), ("plan:", "plam:")]
    {
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let ran = project.run(&["status"]);
        assert_eq!(ran.code, 1, "{to}");
        assert!(ran.stderr.contains("statedir.yaml"), "{}", ran.stderr);
    }
    fs::write(&path, text).unwrap();
    project.ok(&["status"]);
}

#[test]
fn a_link_in_the_place_of_a_plan_is_not_followed() {
    let project = project(&[("TODO.md", TODO)]);
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.md");
    fs::write(&secret, "- [ ] not yours\n").unwrap();
    project.ok(&["adopt"]);
    fs::remove_file(project.root().join("TODO.md")).unwrap();
    std::os::unix::fs::symlink(&secret, project.root().join("TODO.md")).unwrap();
    let ran = project.run(&["step", "done", "1"]);
    assert_ne!(ran.code, 0);
    assert!(!ran.stdout.contains("not yours"));
    assert_eq!(fs::read_to_string(secret).unwrap(), "- [ ] not yours\n");
}

#[test]
fn where_there_is_no_state_the_way_in_is_named() {
    let project = project(&[("task_plan.md", "### Phase 1: Look\n- **Status:** pending\n")]);
    for args in [&["status"][..], &["brief"], &["step", "next"]] {
        let ran = project.run(args);
        assert_eq!(ran.code, 1);
        assert!(
            ran.stderr.contains("planning-with-files") && ran.stderr.contains("`statedir adopt`"),
            "{}",
            ran.stderr
        );
    }
    let found = project.json(&["scan"]);
    assert_eq!(found["adoptable"][0]["profile"], "planning-with-files", "{found}");
    project.ok(&["adopt"]);
    let found = project.json(&["scan"]);
    assert_eq!(found["adoptable"].as_array().unwrap().len(), 0, "{found}");
    assert_eq!(found["states"][0]["total_steps"], 1, "{found}");
}

#[test]
fn a_plan_that_cannot_be_read_is_named() {
    let project = project(&[("specs/001-a/tasks.md", "- [ ] T001 One\n"), ("specs/002-b/x", "")]);
    let bad = project.root().join("specs/002-b/tasks.md");
    fs::write(&bad, b"- [ ] T001 caf\xe9\n").unwrap();
    let ran = project.ok(&["adopt", "--dry-run"]);
    assert!(ran.stderr.contains("specs/002-b/tasks.md` cannot be read"), "{}", ran.stderr);
    let ran = project.run(&["adopt", "specs/002-b/tasks.md"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("cannot be read") && ran.stderr.contains("UTF-8"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_hint_about_a_title_keeps_the_place() {
    let project = project(&[("TODO.md", "- [ ] T001 One\n")]);
    project.ok(&["adopt"]);
    for place in ["--after", "--before"] {
        let ran = project.run(&["step", "add", "", place, "T001"]);
        let hint = format!("`statedir step add 'What to do' {place} T001`");
        assert!(ran.stderr.contains(&hint), "{}", ran.stderr);
    }
}

#[test]
fn no_hint_takes_a_plan_away_that_somebody_wrote_in_another_way() {
    let foreign = "# Work\n\n## Tasks\n- [x] One\n- [ ] Two\n";
    let new = || {
        let project = Project::with_lifecycle(false);
        project.ok(&["init", "--goal", "Pay"]);
        project
    };
    let project = new();
    let plan = project.dir().join("plan.md");
    fs::write(&plan, foreign).unwrap();
    for args in [&["status"][..], &["check"], &["brief"], &["step", "next"], &["step", "done", "1"]]
    {
        let ran = project.run(args);
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            !printed.contains("statedir restore") && !printed.contains("statedir undo"),
            "{printed}"
        );
    }
    assert!(project.run(&["check"]).stdout.contains("`statedir adopt`"));
    project.ok(&["adopt"]);
    assert_eq!(fs::read_to_string(&plan).unwrap(), foreign);
    assert_eq!(project.json(&["status"])["completed"], 1);
    // Control: where nothing is left of a plan, it can be restored.
    let project = new();
    project.write("plan.md", "oops\n");
    let printed = project.run(&["check"]).stdout;
    assert!(printed.contains("statedir restore"), "{printed}");
}

#[test]
fn a_dry_run_of_undo_and_redo_shows_the_files_that_are_there() {
    let project = project(&[("TODO.md", TODO)]);
    project.ok(&["adopt"]);
    let step = steps(&project).iter().position(|step| step.starts_with("[ ]")).unwrap() + 1;
    let step = step.to_string();
    project.ok(&["step", "start", &step]);
    project.ok(&["step", "done", &step]);
    let done = bytes(project.root())["TODO.md"].clone();
    let undo = project.ok(&["undo", "--dry-run"]).stdout;
    assert!(undo.contains("--- a/TODO.md\n") && undo.contains("--- a/steps.md\n"), "{undo}");
    assert!(undo.contains("\n-- [x] ") && undo.contains("\n+- [ ] "), "{undo}");
    assert!(!undo.contains("plan.md"), "{undo}");
    assert_eq!(bytes(project.root())["TODO.md"], done);
    project.ok(&["undo"]);
    let redo = project.ok(&["redo", "--dry-run"]).stdout;
    assert!(redo.contains("--- a/TODO.md\n") && redo.contains("\n+- [x] "), "{redo}");
    project.ok(&["redo"]);
    assert_eq!(bytes(project.root())["TODO.md"], done);

    // An edit that nobody recorded yet is what would be undone.
    fs::write(project.root().join("TODO.md"), [&done[..], b"- [ ] One more\n"].concat()).unwrap();
    let undo = project.ok(&["undo", "--dry-run"]).stdout;
    assert!(undo.contains("\n-- [ ] One more\n"), "{undo}");
    assert!(undo.contains("would be undone: external (") && undo.contains("; TODO.md)"), "{undo}");
    let undone = project.json(&["undo", "--dry-run"])["undone"].clone();
    assert_eq!(undone["files"], serde_json::json!(["TODO.md"]));
    assert_eq!(undone["message"], "edited outside statedir, not yet recorded");
}

#[test]
fn a_section_that_several_files_have_is_shown_from_all_of_them() {
    let project = project(&[
        ("specs/001-a/tasks.md", "# T\n- [ ] T001 Paint\n"),
        ("specs/001-a/spec.md", "\u{feff}# Spec\n\n## Findings\n\nIt is blue.\n"),
        ("specs/001-a/plan.md", "# Plan\n\nText.\n\n## Findings\n\nIt is red.\n"),
    ]);
    project.ok(&["adopt"]);
    for args in [&["context", "show"][..], &["show", "context"]] {
        let shown = project.ok(&[args, &["--section", "Findings"]].concat()).stdout;
        let expected = "<!-- specs/001-a/spec.md:3 -->\nIt is blue.\n\n\
                        <!-- specs/001-a/plan.md:5 -->\nIt is red.\n";
        let shown = shown.replace("## Findings\n\n", "");
        assert_eq!(shown.trim(), expected.trim(), "{args:?}");
    }
    project.ok(&["context", "add", "--section", "Findings", "It is green."]);
    let shown = project.json(&["context", "show", "--section", "Findings"]);
    let matches = shown["matches"].as_array().unwrap();
    let files: Vec<&str> = matches.iter().map(|one| one["file"].as_str().unwrap()).collect();
    let own = "specs/001-a/context.md";
    assert_eq!(files, [own, "specs/001-a/spec.md", "specs/001-a/plan.md"]);
    let line = matches[0]["line"].as_u64().unwrap() as usize;
    let text = fs::read_to_string(project.root().join(own)).unwrap();
    assert_eq!(text.lines().nth(line - 1), Some("## Findings"));
    // Control: a section of its own is shown alone.
    assert_eq!(
        project.ok(&["context", "show", "--section", "Plan"]).stdout.matches("<!--").count(),
        0
    );
}

#[test]
fn a_plan_whose_checklist_is_gone_is_not_a_plan_without_steps() {
    let project = project(&[("TODO.md", TODO)]);
    project.ok(&["adopt"]);
    let path = project.root().join("TODO.md");
    for fault in ["the file is missing", "the file is empty"] {
        match fault {
            "the file is missing" => fs::remove_file(&path).unwrap(),
            _ => fs::write(&path, "\n").unwrap(),
        }
        for args in [&["status"][..], &["step", "next"], &["brief"], &["step", "add", "First step"]]
        {
            let ran = project.run(args);
            assert_eq!(ran.code, 4, "{args:?}: {}{}", ran.stdout, ran.stderr);
            let said = format!("`TODO.md` has the steps of this plan, but {fault}");
            assert!(ran.stderr.contains(&said), "{args:?}: {}", ran.stderr);
            assert!(!ran.stderr.contains("step add"), "{args:?}: {}", ran.stderr);
        }
        let checked = project.run(&["check"]);
        assert_eq!(checked.code, 4, "{}", checked.stdout);
        assert!(
            checked.stdout.contains(&format!("error: TODO.md: {fault}\n")),
            "{}",
            checked.stdout
        );
        // What is lost can be brought back.
        project.ok(&["undo"]);
        assert_eq!(bytes(project.root())["TODO.md"], TODO.as_bytes());
        project.ok(&["check"]);
    }
}

#[test]
fn of_several_checklists_one_may_be_gone() {
    let tasks = "- [ ] T001 Paint\n";
    let project = project(&[("specs/001-a/tasks.md", tasks), ("specs/002-b/tasks.md", tasks)]);
    project.ok(&["adopt"]);
    fs::remove_dir_all(project.root().join("specs/001-a")).unwrap();
    assert_eq!(steps(&project).len(), 1);
    let checked = project.ok(&["check"]).stdout;
    assert!(checked.contains("warning: specs/001-a/tasks.md: the file is missing\n"), "{checked}");
}
