//! A `.statedir/` that came with a clone is not used; one that was made here is, and is kept private.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    builder::{Project, Ran, copy_tree},
    needs,
};

fn git(dir: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(dir).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let done = command.args(args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository in which somebody committed the operation log, and a clone of it.
fn cloned() -> (Project, Project) {
    let (origin, clone) = (Project::with_steps(2), Project::empty());
    origin.ok(&["var", "set", "extracted_data.colour", "red"]);
    origin.ok(&["checkpoint", "create", "theirs"]);
    git(origin.root(), &["init", "--quiet"]);
    git(origin.root(), &["add", "--all"]);
    git(origin.root(), &["add", "--force", "workspace/state/.statedir"]);
    git(origin.root(), &["commit", "--quiet", "-m", "all of it"]);
    git(clone.root(), &["clone", "--quiet", &origin.root().display().to_string(), "."]);
    assert!(clone.path(".statedir/log").is_dir(), "the log is in the clone");
    (origin, clone)
}

fn aside(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.dir()).unwrap().map(|entry| entry.unwrap().path());
    let is_aside = |path: &PathBuf| path.to_string_lossy().contains(".statedir.untrusted-");
    let mut found: Vec<PathBuf> = entries.filter(is_aside).collect();
    found.sort();
    found
}

fn checkpoints(project: &Project) -> usize {
    project.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len()
}

#[test]
fn readers_in_a_clone_say_that_the_log_is_not_used_and_touch_nothing() {
    let (_origin, clone) = cloned();
    let log = fs::read(clone.path(".statedir/log/00000001.log")).unwrap();
    let ran = clone.ok(&["status"]);
    assert!(ran.stdout.contains("Do part 2"), "{}", ran.stdout);
    assert_eq!(checkpoints(&clone), 0);
    assert_eq!(clone.json(&["op", "log"])["operations"].as_array().unwrap().len(), 0);
    let check = clone.ok(&["check"]);
    let printed = check.stdout + &check.stderr;
    assert!(printed.contains("is not used") && printed.contains("statedir trust"), "{printed}");
    assert_eq!(fs::read(clone.path(".statedir/log/00000001.log")).unwrap(), log);
    assert!(aside(&clone).is_empty());
}

#[test]
fn the_first_change_in_a_clone_sets_the_log_aside_and_adopts_the_files() {
    let (origin, clone) = cloned();
    let ran = clone.ok(&["step", "start", "1"]);
    assert!(ran.stderr.contains("was set aside as"), "{}", ran.stderr);
    assert_eq!(aside(&clone).len(), 1);
    // The files are as they were but for the change, and its own log knows nothing older.
    assert_eq!(clone.read("context.md"), origin.read("context.md"));
    let undo = |project: &Project| project.run(&["undo"]).code;
    assert_eq!(undo(&clone), 0);
    assert_eq!(undo(&clone), 1, "what the clone brought cannot be undone here");
    let ran = clone.ok(&["step", "start", "1"]);
    assert!(!ran.stderr.contains("set aside"), "said once: {}", ran.stderr);
    assert_eq!(aside(&clone).len(), 1);
    clone.ok(&["check"]);
}

#[test]
fn trust_takes_the_log_back_before_and_after_it_was_set_aside() {
    let (_origin, clone) = cloned();
    clone.ok(&["trust", "--dry-run"]);
    assert_eq!(checkpoints(&clone), 0);
    assert!(clone.ok(&["trust"]).stdout.contains("is trusted"));
    assert_eq!(checkpoints(&clone), 1);
    assert_eq!(clone.run(&["undo"]).code, 0);

    let (_origin, clone) = cloned();
    clone.ok(&["var", "set", "extracted_data.size", "3"]);
    assert_eq!(checkpoints(&clone), 0);
    let answer = clone.json(&["trust"]);
    assert_eq!(
        (&answer["changed"], &answer["from"]),
        (&true.into(), &".statedir.untrusted-1".into())
    );
    assert_eq!(checkpoints(&clone), 1);
    // What was done meanwhile is an edit made outside for the log that came back.
    let ran = clone.ok(&["var", "set", "extracted_data.size", "4"]);
    assert!(ran.stderr.contains("edit made outside"), "{}", ran.stderr);
    assert_eq!(aside(&clone).len(), 1);
    assert!(clone.ok(&["check"]).code == 0);
}

/// Without its mark it would be set aside on the day that git cannot be asked.
#[test]
fn trust_fails_if_it_cannot_leave_its_mark() {
    let project = Project::with_steps(1);
    let marker = project.path(".statedir/origin");
    // A directory cannot be replaced by a file, whoever the user is.
    fs::remove_file(&marker).unwrap();
    fs::create_dir_all(marker.join("in the way")).unwrap();
    let ask = |is_answered: bool| {
        let head = project.root().join(".git/HEAD");
        let _ = fs::remove_dir_all(project.root().join(".git"));
        if !is_answered {
            fs::create_dir(project.root().join(".git")).unwrap();
            fs::write(head, "nonsense").unwrap();
        }
        project.run(&["trust", "--json"])
    };
    for is_answered in [true, false] {
        let ran = ask(is_answered);
        assert_ne!(ran.code, 0, "{}", ran.stdout);
        assert!(ran.stdout.contains("origin") && ran.stdout.contains("irectory"), "{}", ran.stdout);
        assert_eq!(project.run(&["trust", "--dry-run"]).code, 0);
    }
    fs::remove_dir_all(&marker).unwrap();
    assert_eq!(ask(true).code, 0);
    assert!(marker.is_file());
    assert!(ask(false).stdout.contains("\"changed\":false"), "it is known by its mark");
}

#[test]
fn a_log_that_git_does_not_track_is_used_after_a_copy_and_after_an_update() {
    let (origin, copy) = (Project::with_steps(1), Project::empty());
    origin.ok(&["checkpoint", "create", "mine"]);
    copy_tree(&origin.dir(), &copy.dir());
    git(copy.root(), &["init", "--quiet"]);
    assert_eq!(checkpoints(&copy), 1);
    copy.ok(&["undo"]);
    // An earlier version left no marker.
    fs::remove_file(origin.path(".statedir/origin")).unwrap();
    assert_eq!(checkpoints(&origin), 1);
    origin.ok(&["undo"]);
    assert!(origin.path(".statedir/origin").is_file() && aside(&origin).is_empty());
}

#[test]
fn a_marker_that_came_along_proves_nothing() {
    let (_origin, clone) = cloned();
    assert!(clone.path(".statedir/origin").is_file(), "the marker is in the clone");
    assert_eq!(checkpoints(&clone), 0);
    // The control: without the question to git the same directory would be used.
    fs::remove_dir_all(clone.root().join(".git")).unwrap();
    assert_eq!(checkpoints(&clone), 1);
}

#[test]
fn writers_that_meet_in_a_fresh_clone_set_the_log_aside_once_and_lose_nothing() {
    let (_origin, clone) = cloned();
    let children: Vec<_> = (0..6)
        .map(|n| clone.command(&["var", "set", &format!("extracted_data.n{n}"), "1"]).spawn())
        .collect();
    for child in children {
        let ran = Ran::from(child.unwrap().wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    assert_eq!(aside(&clone).len(), 1);
    let data = clone.json(&["var", "get", "extracted_data"]);
    for n in 0..6 {
        assert_eq!(data["value"][format!("n{n}")], 1, "{data}");
    }
    clone.ok(&["check"]);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_log_is_set_aside_and_never_followed() {
    let (project, victim) = (Project::with_steps(1), tempfile::tempdir().unwrap());
    fs::rename(project.path(".statedir"), victim.path().join("log-of-another")).unwrap();
    fs::write(victim.path().join("keep"), "me").unwrap();
    std::os::unix::fs::symlink(victim.path(), project.path(".statedir")).unwrap();
    project.ok(&["status"]);
    project.ok(&["step", "start", "1"]);
    assert_eq!(fs::read_dir(victim.path()).unwrap().count(), 2);
    assert_eq!(aside(&project).len(), 1);
    assert!(project.path(".statedir/log").is_dir());
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs a command as somebody for whom `.statedir/` is closed: as another user, or as its owner who
/// has closed it.
fn run_shut_out(project: &Project, args: &[&str]) -> Ran {
    let command = project.command(args);
    if !rustix::process::geteuid().is_root() {
        set_mode(&project.path(".statedir"), 0);
        let ran = project.run(args);
        set_mode(&project.path(".statedir"), 0o700);
        return ran;
    }
    let program = project.root().join("statedir");
    if !program.exists() {
        // By another program: what this one writes, a process that another test starts may still hold.
        let mut copy = Command::new("cp");
        assert!(copy.arg(command.get_program()).arg(&program).status().unwrap().success());
        // Git reads a repository of somebody else only where that is allowed.
        fs::write(project.root().join(".gitconfig"), "[safe]\n\tdirectory = *\n").unwrap();
        set_mode(project.root(), 0o777);
        set_mode(&project.dir(), 0o777);
    }
    let mut other = Command::new("setpriv");
    other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    other.arg(program).args(command.get_args()).current_dir(project.root());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    Ran::from(other.env("HOME", project.root()).output().unwrap())
}

#[test]
fn whoever_may_read_the_files_may_read_the_state() {
    if !needs::program("setpriv") {
        return;
    }
    let project = Project::with_steps(2);
    git(project.root(), &["init", "--quiet"]);
    git(project.root(), &["add", "--all"]);
    git(project.root(), &["commit", "--quiet", "-m", "two steps"]);
    project.ok(&["step", "start", "1"]);
    for args in [
        &["status"][..],
        &["step", "list"],
        &["step", "show", "1"],
        &["diff"],
        &["brief"],
        &["check"],
        &["history", "list"],
    ] {
        let ran = run_shut_out(&project, args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}: {}", ran.stdout);
    }
    assert!(run_shut_out(&project, &["brief"]).stdout.contains("Step 1"));
    let diff = run_shut_out(&project, &["diff"]).stdout;
    assert!(diff.contains("step 1 "), "since the commit\n{diff}");
    // To change something takes the log: nobody else's is set aside for it.
    let ran = run_shut_out(&project, &["step", "done", "1"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("denied"), "{}", ran.stderr);
    // Nor does it look as if there were none.
    for args in [&["op", "log"][..], &["op", "show"], &["checkpoint", "list"]] {
        let ran = run_shut_out(&project, args);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("denied"), "{args:?}: {}", ran.stderr);
    }
    project.ok(&["step", "done", "1"]);
    assert!(project.ok(&["op", "log"]).stdout.lines().count() >= 4);
}

#[test]
fn a_private_directory_that_others_can_read_is_noticed_and_closed() {
    let project = Project::new();
    let private = project.path(".statedir");
    let mode = || fs::metadata(&private).unwrap().permissions().mode() & 0o7777;
    project.ok(&["check"]);
    fs::set_permissions(&private, fs::Permissions::from_mode(0o755)).unwrap();
    let checked = project.json(&["check"]);
    assert_eq!(checked["findings"][0]["code"], "exposed", "{checked}");
    assert_eq!(checked["findings"][0]["severity"], "warning");
    assert_eq!(mode(), 0o755);
    project.ok(&["check", "--fix"]);
    assert_eq!(mode(), 0o700);
}
