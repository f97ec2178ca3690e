//! Where there is no state yet: every command leads to the next one that works.

use super::project;
use crate::builder::Project;

/// The output of a command in a folder of the project.
fn output_in(project: &Project, dir: &str, args: &[&str]) -> String {
    let ran = project.command(args).current_dir(project.root().join(dir)).output().unwrap();
    String::from_utf8(ran.stderr).unwrap()
}

#[test]
fn what_cannot_be_adopted_is_refused_with_the_way_out() {
    let boxes = "`- [ ] What to do`";
    let none = "no profile recognises a plan";
    let plain = [("TODO.md", "# Later\n- Paint the wall\n")];
    let old =
        [("docs/plans/2026-01-15-paint.md", "# Paint\n\n### Task 1: Buy\n\n**Step 1: Go**\n")];
    let over = [("conductor/archive/a/plan.md", "# A\n- [x] Task: Paint\n")];
    let empty = [("prd.json", "{\"userStories\": []}")];
    let story =
        [("scripts/ralph/prd.json", "[{\"id\": \"S1\", \"title\": \"A\", \"passes\": false}]")];
    for (files, args, message, hint) in [
        (&plain[..], &["adopt"][..], none, "`TODO.md` has no tasks"),
        (&plain, &["adopt", "TODO.md"], "there is no task in `TODO.md`", boxes),
        (
            &plain,
            &["adopt", "tasks.md"],
            "neither a file nor a folder `tasks.md`",
            "`statedir adopt`",
        ),
        (&plain, &["adopt", "--profile", "none"], "no profile `none`", "spec-kit, openspec"),
        (&old, &["adopt"], none, "`docs/plans/2026-01-15-paint.md` has no tasks"),
        (&over, &["adopt"], none, "there is `conductor`, but no file `conductor/tracks/*/plan.md`"),
        (&empty, &["adopt"], none, "`statedir init --goal"),
        (&empty, &["status"], "there is no", "statedir init"),
        (&empty, &["import", "--from", "ralph", "."], "there is no task in the plan", ""),
        (&story, &["status"], "there is no", "(scripts/ralph/prd.json, 1 task)"),
        (&[], &["adopt"], none, "`statedir scan`"),
    ] {
        let project = project(files);
        let ran = project.run(args);
        assert_eq!(ran.code, 1, "{args:?}: {}", ran.stdout);
        let printed = &ran.stderr;
        assert!(printed.contains(message) && printed.contains(hint), "{args:?}: {printed}");
        assert!(!project.root().join("statedir.yaml").exists());
    }
}

#[test]
fn a_memory_bank_without_tasks_can_be_adopted_and_says_so() {
    let project = project(&[("memory-bank/progress.md", "# Progress\nThe wall is painted.\n")]);
    for args in [&["status"][..], &["brief"], &["step", "next"], &["recover"]] {
        let printed = project.run(args).stderr;
        assert!(
            printed.contains("files of memory-bank here: `statedir adopt`"),
            "{args:?}: {printed}"
        );
    }
    project.ok(&["adopt"]);
    assert!(project.ok(&["brief"]).stdout.contains("The wall is painted."));
    project.ok(&["step", "add", "Clean up"]);
    project.ok(&["step", "next", "--claim"]);
}

#[test]
fn what_is_archived_is_not_offered_by_a_scan() {
    let project = project(&[
        ("a/conductor/archive/old/plan.md", "# A\n- [ ] Task: Never\n"),
        ("b/archive-of-walls/TODO.md", "- [ ] Paint\n"),
    ]);
    let found = project.json(&["scan"]);
    let found = found["adoptable"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let dir = found[0]["directory"].as_str().unwrap();
    assert!(dir.ends_with("archive-of-walls"), "{dir}");
}

#[test]
fn in_the_folders_of_a_system_its_own_profile_is_found_and_above_them_the_project() {
    let tasks = "- [ ] 1.1 Paint\n- [-] 1.2 Dry\n";
    let project = project(&[
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".kiro/specs/wall/tasks.md", tasks),
        ("openspec/changes/roof/tasks.md", tasks),
        ("openspec/changes/roof/specs/roof/spec.md", "# Roof\n"),
        ("docs/superpowers/plans/2026-01-15-door.md", tasks),
        ("src/deep/main.rs", ""),
    ]);
    for (dir, profile) in [
        (".kiro", "kiro"),
        (".kiro/specs", "kiro"),
        (".kiro/specs/wall", "kiro"),
        ("openspec", "openspec"),
        ("openspec/changes/roof", "openspec"),
        ("docs/superpowers/plans", "superpowers"),
    ] {
        let at = project.root().join(dir);
        let at = at.to_str().unwrap();
        let found = project.json(&["adopt", at, "--dry-run"]);
        assert_eq!((&found["profile"], &found["tasks"]), (&profile.into(), &2.into()), "{dir}");
        let printed = output_in(&project, dir, &["status"]);
        assert!(
            printed.contains(&format!("there is a plan here ({profile}, ")),
            "{dir}: {printed}"
        );
    }
    for dir in ["src", "src/deep"] {
        let printed = output_in(&project, dir, &["step", "next"]);
        let root = project.root().canonicalize().unwrap();
        assert!(printed.contains("there is a plan in `"), "{printed}");
        assert!(printed.contains(&format!("statedir adopt {}", root.display())), "{printed}");
    }
}

const MIXED: &str = "# Later\n\n- [ ] Paint\n- Buy paint\n- [x] Ask\n  - two coats\n- **Owner**: ada\n\n- Rooms\n  - [ ] Kitchen\n  - Cellar\n\nBesides:\n\n* no task\n";

#[test]
fn items_without_a_box_among_tasks_are_named() {
    let project = project(&[("TODO.md", MIXED)]);
    let found = "TODO.md:4: `Buy paint` and 1 more (line 11) have no box, so they are not tasks";
    for args in [&["adopt", "--dry-run"][..], &["adopt"]] {
        let ran = project.ok(args);
        let summary = "todo, TODO.md: 3 tasks, 1 done, 2 open, 2 items without a box\n";
        assert!(ran.stdout.starts_with(summary), "{}", ran.stdout);
        assert!(ran.stderr.contains(&format!("note: {found}\n")), "{}", ran.stderr);
    }
    let plan = &project.json(&["adopt"])["plans"][0];
    let expected =
        serde_json::json!([{ "line": 4, "text": "Buy paint" }, { "line": 11, "text": "Cellar" }]);
    assert_eq!(plan["without_box"], expected);
    let checked = project.ok(&["check"]).stdout;
    assert!(checked.contains(&format!("warning: {found}\n")), "{checked}");
    assert!(
        project.json(&["check"])["findings"][0]["hint"]
            .as_str()
            .unwrap()
            .contains("`- [ ] Buy paint`")
    );
    // Control: a list in which every item has a box, with details and with fields.
    let whole = MIXED.replace("- Buy", "- [ ] Buy").replace("- Cellar", "- [ ] Cellar");
    std::fs::write(project.root().join("TODO.md"), whole).unwrap();
    assert!(project.ok(&["check"]).stdout.contains("everything is consistent"));
    assert_eq!(project.ok(&["adopt"]).stdout.matches("without a box").count(), 0);
}

#[test]
fn the_file_that_was_adopted_is_named() {
    let one = project(&[("TODO.md", "- [ ] Paint\n")]);
    assert!(one.ok(&["adopt"]).stdout.contains("\nadopted TODO.md  ["));
    let tasks = "- [ ] T001 Paint\n";
    let two = project(&[("specs/001-a/tasks.md", tasks), ("specs/002-b/tasks.md", tasks)]);
    let printed = two.ok(&["adopt"]).stdout;
    assert!(printed.contains("\nadopted 2 plans in the current directory  ["), "{printed}");
    let dir = two.root().to_str().unwrap();
    let printed = two.ok(&["adopt", dir]).stdout;
    assert!(printed.contains(&format!("\nalready adopted 2 plans in {dir}  [")), "{printed}");
}
