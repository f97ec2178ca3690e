//! A dry run ends as the command itself would.

use std::fs;

use crate::builder::Project;

/// Runs a command with `--dry-run`, which writes nothing, and then without; both end alike.
fn alike(project: &Project, args: &[&str]) -> i32 {
    let before = project.files();
    let preview = project.run(&[args, &["--dry-run"]].concat());
    assert_eq!(project.files(), before, "{args:?}");
    let ran = project.run(args);
    assert_eq!(preview.code, ran.code, "{args:?}\n{}\n{}", preview.stderr, ran.stderr);
    ran.code
}

#[test]
fn resuming_a_damaged_state_ends_as_its_dry_run() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    assert_eq!(alike(&project, &["resume"]), 0);
    project.write("variables.json", "{ broken");
    assert_eq!(alike(&project, &["resume"]), 4);
    assert_eq!(alike(&project, &["resume", "--json"]), 4);
}

#[test]
fn a_repair_ends_as_its_dry_run() {
    let breaks: [&dyn Fn(&Project); 6] = [
        &|project| project.edit("plan.md", "### Step 3:", "### Step 2:"),
        &|project| fs::remove_file(project.path("variables.json")).unwrap(),
        &|project| fs::remove_file(project.path("history.md")).unwrap(),
        &|project| project.edit("variables.json", "\"goal\": \"Compare", "\"goal\": \"Choose"),
        &|project| {
            let history = project.read("history.md");
            project.write("history.md", &history[..history.rfind("\n### ").unwrap()]);
        },
        &|project| {
            for name in crate::builder::FIVE {
                fs::remove_file(project.path(name)).unwrap();
            }
        },
    ];
    for (at, damage) in breaks.iter().enumerate() {
        let project = Project::with_steps(3);
        project.ok(&["step", "start", "1"]);
        project.ok(&["step", "done", "1"]);
        damage(&project);
        let preview = project.run(&["check", "--fix", "--dry-run"]);
        assert!(preview.stdout.starts_with("would fix: "), "{at} {}", preview.stdout);
        assert_eq!(alike(&project, &["check", "--fix"]), 0, "{at}");
        assert_eq!(alike(&project, &["check", "--fix"]), 0, "{at}");
    }
}

#[test]
fn what_a_repair_leaves_is_found_in_its_dry_run() {
    let project = Project::with_steps(3);
    project.edit("plan.md", "### Step 3:", "### Step 2:");
    project.write("context.md", b"\xff");
    assert_eq!(alike(&project, &["check", "--fix"]), 4);
    let project = Project::with_steps(3);
    project.write("variables.json", "{ broken");
    assert_eq!(alike(&project, &["check", "--fix", "--json"]), 4);
}

#[test]
fn setting_a_damaged_log_aside_ends_as_its_dry_run() {
    let project = Project::with_steps(1);
    let log = project.dir().join(".statedir/log");
    let mut segments: Vec<_> = fs::read_dir(&log).unwrap().map(|one| one.unwrap().path()).collect();
    segments.sort();
    let mut bytes = fs::read(&segments[0]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segments[0], bytes).unwrap();
    project.refused(4, &["check"]);
    assert_eq!(alike(&project, &["check", "--fix"]), 0);
}
