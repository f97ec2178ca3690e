//! Disks that are full or may not be written.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    builder::{Project, Ran},
    needs,
};

/// A small file system, unmounted on drop.
struct Disk {
    at: PathBuf,
}

impl Disk {
    fn new(project: &Project, size: &str) -> Option<Self> {
        let at = project.root().join("disk");
        fs::create_dir(&at).unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], &at);
        needs::met(mounted, "a mounted tmpfs", "run the tests as root").then_some(Self { at })
    }

    fn run(&self, project: &Project, args: &[&str]) -> Ran {
        let mut command = project.command(&[args, &["--json"]].concat());
        Ran::from(command.current_dir(&self.at).output().unwrap())
    }

    fn answer(&self, project: &Project, args: &[&str]) -> Value {
        let ran = self.run(project, args);
        assert_eq!(ran.code, 0, "{args:?} {}{}", ran.stdout, ran.stderr);
        ran.json()
    }

    fn file(&self, name: &str) -> Vec<u8> {
        fs::read(self.at.join("workspace/state").join(name)).unwrap_or_default()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.at).output();
    }
}

fn mount(args: &[&str], at: &Path) -> bool {
    let output = Command::new("mount").args(args).arg(at).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn on_a_full_disk_a_change_is_refused_or_completed_later() {
    let project = Project::empty();
    let Some(disk) = Disk::new(&project, "2m") else { return };
    disk.answer(&project, &["init", "--goal", "G"]);
    disk.answer(&project, &["step", "add", "one"]);
    let (mut refused, mut done) = (0, 0);
    for free_pages in 0..14 {
        let number = free_pages.to_string();
        disk.answer(&project, &["step", "reset", "1"]);
        disk.answer(&project, &["step", "start", "1"]);
        let names = ["plan.md", "variables.json", "history.md"];
        let before = names.map(|name| disk.file(name));
        // Fill everything, then free so many pages.
        let filler = disk.at.join("filler");
        let mut size = 0_u64;
        let page = vec![1; 4096];
        let mut file = fs::File::create(&filler).unwrap();
        while std::io::Write::write_all(&mut file, &page).is_ok() {
            size += 4096;
        }
        file.set_len(size.saturating_sub(4096 * free_pages)).unwrap();
        drop(file);
        let note = format!("{number} {}", "n".repeat(6000));
        let ran = disk.run(&project, &["step", "done", "1", "--note", &note]);
        let read = disk.run(&project, &["status"]);
        assert_eq!(read.code, 0, "a reader on a full disk: {}", read.stdout);
        let seen = read.json()["completed"].as_u64().unwrap();
        if ran.code == 0 {
            done += 1;
            assert_eq!(seen, 1, "acknowledged with {free_pages} free pages");
        } else {
            refused += 1;
            assert_eq!(ran.json()["error"]["code"], "disk_full", "{}", ran.stdout);
            assert_eq!(seen, 0);
            assert_eq!(names.map(|name| disk.file(name)), before);
        }
        fs::remove_file(&filler).unwrap();
        disk.answer(&project, &["var", "set", "probe", &number]);
        let text = String::from_utf8(disk.file("plan.md")).unwrap();
        assert_eq!(text.contains("COMPLETED"), ran.code == 0, "{free_pages}");
        let history = String::from_utf8(disk.file("history.md")).unwrap();
        assert_eq!(history.contains(&note), ran.code == 0, "{free_pages}");
        disk.answer(&project, &["history", "verify"]);
        disk.answer(&project, &["check"]);
        if ran.code == 0 {
            disk.answer(&project, &["undo"]);
            disk.answer(&project, &["undo"]);
        }
    }
    assert!(refused > 0 && done > 0, "{refused} refused, {done} done");
}

#[test]
fn a_read_only_disk_can_be_read_and_refuses_changes() {
    let project = Project::empty();
    let Some(disk) = Disk::new(&project, "4m") else { return };
    disk.answer(&project, &["init", "--goal", "G"]);
    disk.answer(&project, &["step", "add", "one"]);
    // An edit that is not recorded yet: a reader must see it without being able to record it.
    let plan = disk.at.join("workspace/state/plan.md");
    let text = fs::read_to_string(&plan).unwrap();
    fs::write(&plan, text.replace("one", "edited")).unwrap();
    assert!(mount(&["-o", "remount,ro", "tmpfs"], &disk.at));
    for args in [&["status"][..], &["state"], &["check"], &["op", "log"], &["history", "verify"]] {
        disk.answer(&project, args);
    }
    assert_eq!(disk.answer(&project, &["step", "show", "1"])["step"]["title"], "edited");
    disk.answer(&project, &["var", "set", "a", "1", "--dry-run"]);
    for args in [&["var", "set", "a", "1"][..], &["history", "add", "x"], &["undo"], &["gc"]] {
        let ran = disk.run(&project, args);
        assert_eq!(ran.code, 1, "{args:?} {}", ran.stdout);
        let error = ran.json()["error"].clone();
        assert_eq!(error["code"], "read_only", "{error}");
        assert!(error["hint"].as_str().unwrap().contains("only read"), "{error}");
    }
}
