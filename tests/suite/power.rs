//! After a power loss the files may be torn or old: the log brings them back, on the real binary.
//!
//! Another boot is simulated by a mount of other files over the two that tell boots apart.

use std::{fs, process::Command, time::Duration, time::SystemTime};

use crate::{
    builder::{FIVE, Project, Ran},
    needs,
};

/// Runs a command as if the machine had been started an hour from now.
fn after_boot(project: &Project, args: &[&str]) -> Option<Ran> {
    let (id, stat) = (project.root().join("boot_id"), project.root().join("stat"));
    fs::write(&id, "11111111-2222-3333-4444-555555555555\n").unwrap();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    fs::write(&stat, format!("cpu 0\nbtime {}\n", now + 3600)).unwrap();
    let script = "mount --bind \"$1\" /proc/sys/kernel/random/boot_id && \
                  mount --bind \"$2\" /proc/stat || exit 99; shift 2; exec \"$@\"";
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", script, "sh"])
        .args([&id, &stat])
        .arg(crate::program::path())
        .args(args)
        .current_dir(project.root())
        .env_remove("STATEDIR")
        .output();
    match output.map(Ran::from) {
        Ok(ran) if ran.code != 99 && !ran.stderr.contains("unshare") => Some(ran),
        _ => {
            needs::met(false, "a mount in a namespace of its own", "run the tests as root");
            None
        }
    }
}

fn worked_on() -> Project {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--output", "rows=1"]);
    project.ok(&["history", "add", "Asked"]);
    project
}

fn cut(project: &Project, name: &str, keep: u64, zeros: u64) {
    let file = fs::OpenOptions::new().write(true).open(project.path(name)).unwrap();
    assert!(keep < file.metadata().unwrap().len(), "{name} has no more than {keep} bytes");
    file.set_len(keep).unwrap();
    file.set_len(keep + zeros).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

#[test]
fn torn_and_lost_files_come_back_from_the_log() {
    type Loss = (&'static str, fn(&Project));
    let losses: [Loss; 8] = [
        ("an empty plan", |p| cut(p, "plan.md", 0, 0)),
        ("a plan of zeros", |p| cut(p, "plan.md", 0, 300)),
        ("half a plan", |p| cut(p, "plan.md", 100, 0)),
        ("zeros in variables", |p| cut(p, "variables.json", 50, 200)),
        ("a cut history", |p| cut(p, "history.md", 450, 0)),
        ("a history that ends in zeros", |p| cut(p, "history.md", 400, 300)),
        ("no plan and no head", |p| {
            fs::remove_file(p.path("plan.md")).unwrap();
            fs::remove_file(p.path(".statedir/head")).unwrap();
        }),
        ("no file at all", |p| FIVE.iter().for_each(|name| fs::remove_file(p.path(name)).unwrap())),
    ];
    for (what, lose) in losses {
        let project = worked_on();
        let files = project.files();
        lose(&project);
        let torn = project.files();
        let Some(seen) = after_boot(&project, &["status", "--json"]) else { return };
        assert_eq!((seen.code, &seen.json()["completed"]), (0, &1.into()), "{what}");
        assert_eq!(project.files(), torn, "{what}: a reader wrote");
        let Some(set) = after_boot(&project, &["context", "add", "after the loss"]) else { return };
        assert_eq!(set.code, 0, "{what}: {}", set.stderr);
        for name in FIVE.iter().filter(|name| **name != "context.md") {
            assert_eq!(project.files().get(*name), files.get(*name), "{what}: {name}");
        }
        for args in [&["check"][..], &["history", "verify"], &["undo"]] {
            assert_eq!(after_boot(&project, args).map(|ran| ran.code), Some(0), "{what} {args:?}");
        }
        assert_eq!(project.read("context.md").as_bytes(), files["context.md"], "{what}");
    }
}

#[test]
fn an_edit_after_the_loss_is_an_edit() {
    let project = worked_on();
    let mut file = fs::OpenOptions::new().append(true).open(project.path("plan.md")).unwrap();
    std::io::Write::write_all(&mut file, b"\nBy hand.\n").unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(7200)).unwrap();
    let Some(set) = after_boot(&project, &["var", "set", "a", "1"]) else { return };
    assert_eq!(set.code, 0, "{}", set.stderr);
    assert!(project.read("plan.md").ends_with("By hand.\n"));
}
