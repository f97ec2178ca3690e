//! A private directory that is gone, cut, or has wrong bits: the state stays usable.

use std::fs;

use crate::builder::{FIVE, Project};

const LOG: &str = ".statedir/log/00000001.log";

/// A project with some operations, and its log.
fn logged() -> (Project, Vec<u8>) {
    let project = Project::with_steps(3);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--output", "rows=1"]);
    project.ok(&["history", "add", "Asked"]);
    let log = fs::read(project.path(LOG)).unwrap();
    (project, log)
}

/// Whatever happened to the log, nothing crashes, nothing hangs, no state file changes unasked.
fn survives(project: &Project, what: &str) {
    let before = project.files();
    for args in [&["status"][..], &["check"], &["op", "log"], &["history", "verify"], &["state"]] {
        let ran = project.run(&[args, &["--json"]].concat());
        assert!([0, 4].contains(&ran.code), "{what}: {args:?} {} {}", ran.code, ran.stdout);
        assert_eq!(ran.json()["ok"], ran.code == 0, "{what}: {args:?}");
        assert_eq!(project.files(), before, "{what}: {args:?} wrote");
    }
    let set = project.run(&["var", "set", "after.damage", "1", "--json"]);
    assert!([0, 4].contains(&set.code), "{what}: {} {}", set.code, set.stdout);
    if set.code == 0 {
        assert_eq!(project.json(&["var", "get", "after.damage"])["value"], 1, "{what}");
        project.ok(&["status"]);
    } else {
        assert_eq!(project.files(), before, "{what}: refused and wrote");
    }
}

#[test]
fn without_its_private_directory_or_any_part_of_it_the_state_lives_on() {
    for name in ["", "log", LOG, "head", "lock", "tmp", "objects", ".gitignore"] {
        let (project, _) = logged();
        let path =
            if name == LOG { project.path(LOG) } else { project.path(".statedir").join(name) };
        let files = project.files();
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        project.ok(&["status"]);
        assert_eq!(project.files(), files, "{name}");
        project.ok(&["step", "start", "2"]);
        project.ok(&["undo"]);
        project.ok(&["check"]);
        assert_eq!(project.read("plan.md").as_bytes(), files["plan.md"], "{name}");
        project.ok(&["history", "verify"]);
    }
}

#[test]
fn a_cut_log_never_crashes() {
    let (_, log) = logged();
    for part in 0..20 {
        for head in [true, false] {
            let (project, log_here) = logged();
            let len = (log.len() * part / 20).min(log_here.len());
            fs::write(project.path(LOG), &log_here[..len]).unwrap();
            if !head {
                fs::remove_file(project.path(".statedir/head")).unwrap();
            }
            survives(&project, &format!("cut to {len} of {}", log_here.len()));
        }
    }
}

#[test]
fn a_flipped_bit_in_the_log_never_crashes() {
    for part in 0..24 {
        for head in [true, false] {
            let (project, mut log) = logged();
            let at = (log.len() - 1) * part / 23;
            log[at] ^= 1;
            fs::write(project.path(LOG), &log).unwrap();
            if !head {
                fs::remove_file(project.path(".statedir/head")).unwrap();
            }
            survives(&project, &format!("bit flipped at {at} of {}", log.len()));
        }
    }
}

#[test]
fn garbage_behind_the_log_or_in_the_head_is_cut_off() {
    for garbage in [&b"garbage\n\0\xff"[..], b"\n\n\n", b"0123456789abcdef {}\n", &[0; 5000]] {
        let (project, mut log) = logged();
        log.extend_from_slice(garbage);
        fs::write(project.path(LOG), &log).unwrap();
        let files = project.files();
        project.ok(&["status"]);
        project.ok(&["step", "start", "2"]);
        project.ok(&["undo"]);
        assert_eq!(project.read("plan.md").as_bytes(), files["plan.md"]);
        let (project, _) = logged();
        fs::write(project.path(".statedir/head"), garbage).unwrap();
        project.ok(&["status"]);
        project.ok(&["step", "start", "2"]);
        project.ok(&["check"]);
    }
}

#[test]
fn readers_work_while_the_log_is_damaged() {
    let (project, mut log) = logged();
    log[20] ^= 1;
    fs::write(project.path(LOG), &log).unwrap();
    fs::remove_file(project.path(".statedir/head")).unwrap();
    for args in [&["status"][..], &["state"], &["show", "plan"], &["var", "get"]] {
        let ran = project.run(args);
        assert_eq!(ran.code, 0, "{args:?}: the files are intact, but {}", ran.stderr);
    }
}

#[test]
fn check_reports_a_damaged_log_as_a_finding_and_fix_sets_it_aside() {
    let (project, mut log) = logged();
    log[20] ^= 1;
    fs::write(project.path(LOG), &log).unwrap();
    fs::remove_file(project.path(".statedir/head")).unwrap();
    let check = project.run(&["check", "--json"]);
    assert_eq!(check.code, 4);
    assert!(check.json()["findings"].is_array(), "check only repeats the error: {}", check.stdout);
    let files = project.files();
    project.ok(&["check", "--fix"]);
    assert_eq!(project.files(), files);
    project.ok(&["step", "start", "2"]);
}

#[test]
fn an_acknowledged_change_behind_a_damaged_record_can_be_undone() {
    let (project, mut log) = logged();
    let at = log.len() - 10;
    log[at] ^= 1;
    fs::write(project.path(LOG), &log).unwrap();
    let set = project.run(&["var", "set", "a", "1", "--json"]);
    if set.code == 0 {
        project.ok(&["op", "log"]);
        project.ok(&["undo"]);
        assert_eq!(project.run(&["var", "get", "a"]).code, 1);
    } else {
        assert_eq!(set.code, 4, "{}", set.stdout);
    }
}

#[test]
fn a_hint_for_a_missing_file_leads_to_its_return() {
    for name in FIVE {
        let (project, _) = logged();
        let bytes = project.read(name);
        fs::remove_file(project.path(name)).unwrap();
        let check = project.run(&["check", "--json"]);
        assert_eq!(check.code, 4);
        assert!(check.stdout.contains("check --fix"), "{name}: {}", check.stdout);
        let fix = project.run(&["check", "--fix"]);
        assert_eq!(fix.code, 0, "{name}: {}{}", fix.stdout, fix.stderr);
        assert_eq!(project.read(name), bytes, "{name}");
        project.ok(&["history", "add", "Again"]);
    }
}

#[test]
fn when_all_files_are_gone_no_hint_leads_away_from_what_the_log_holds() {
    let (project, _) = logged();
    let files = project.files();
    for name in FIVE {
        fs::remove_file(project.path(name)).unwrap();
    }
    let status = project.run(&["status", "--json"]);
    assert!([1, 4].contains(&status.code));
    assert!(!status.stdout.contains("init --goal"), "destroys: {}", status.stdout);
    let init = project.run(&["init", "--goal", "Another"]);
    if init.code == 0 {
        project.ok(&["undo"]);
        project.ok(&["undo"]);
    } else {
        project.ok(&["check", "--fix"]);
    }
    assert_eq!(project.read("plan.md").as_bytes(), files["plan.md"]);
}

#[test]
fn images_that_are_gone_do_not_lock_the_state() {
    let project = Project::with_steps(2);
    let bulk = format!("{{\"bulk\": \"{}\"}}", "x".repeat(180_000));
    project.ok_with_input(&["var", "merge", "-"], &bulk);
    project.ok(&["var", "unset", "bulk"]);
    assert!(project.path(".statedir/objects").is_dir(), "the log was not rotated");
    fs::remove_dir_all(project.path(".statedir/objects")).unwrap();
    project.edit("plan.md", "Do part 1", "Do part one");
    let status = project.run(&["status"]);
    assert_eq!(status.code, 0, "{}", status.stderr);
    let start = project.run(&["step", "start", "1"]);
    assert_eq!(start.code, 0, "{}", start.stderr);
}

#[test]
fn resume_answers_for_a_damaged_file_as_brief_does() {
    let project = Project::with_steps(1);
    project.ok(&["pause", "--why", "lunch"]);
    project.write("context.md", b"# Context\n\xff\n");
    let brief = project.run(&["brief", "--json"]);
    let resumed = project.run(&["resume", "--json"]);
    assert_eq!((brief.code, resumed.code), (4, 4), "{}", resumed.stdout);
    let (brief, resumed) = (brief.json(), resumed.json());
    assert_eq!(resumed["ok"], false);
    assert_eq!(resumed["error"], brief["error"]);
    // The command has taken effect all the same, and says so.
    assert_eq!(resumed["committed"], true);
    assert!(resumed["brief"].is_object(), "{resumed}");
    assert!(project.read("plan.md").contains("- **status**: IN_PROGRESS"));
}
