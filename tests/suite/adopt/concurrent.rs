//! Several at once on the same file.

use std::{fs, thread};

use super::{project, steps};

#[test]
fn two_agents_and_a_person_lose_nothing() {
    let list: String = (1..=12).map(|n| format!("- [ ] T{n:03} Part {n}\n")).collect();
    let list = format!("# Work\n\n{list}\n## Of the person\n\n- [ ] T999 Look at it\n\n## Notes\n");
    let project = project(&[("TODO.md", &list)]);
    project.ok(&["adopt"]);
    let path = project.root().join("TODO.md");
    let agent = |name: &'static str| {
        let project = &project;
        move || {
            for _ in 0..40 {
                let claimed = project
                    .command(&["--json", "--actor", name, "step", "next", "--claim"])
                    .output()
                    .unwrap();
                let answer: serde_json::Value = serde_json::from_slice(&claimed.stdout).unwrap();
                let Some(number) = answer["step"]["number"].as_u64() else { continue };
                if number == 13 {
                    continue;
                }
                if claimed.status.success() {
                    let number = number.to_string();
                    // A person who saves at the same moment makes it a conflict, to be tried again.
                    let is_done = (0..50).any(|_| {
                        let mut done = project.command(&["--actor", name, "step", "done", &number]);
                        done.output().unwrap().status.success()
                    });
                    assert!(is_done, "step {number} could not be finished");
                }
            }
        }
    };
    // The person adds notes at the end, and repeats one tick until it stays. Nothing else is written,
    // so whatever is missing at the end was lost by a command.
    let person = || {
        use std::io::{Seek as _, SeekFrom, Write as _};
        for n in 1..=10 {
            let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            writeln!(file, "Note {n} of a person.").unwrap();
            drop(file);
            thread::sleep(std::time::Duration::from_millis(30));
        }
        // What a command writes has the length of what was there.
        let marker = fs::read_to_string(&path).unwrap().find("] T999").unwrap() - 1;
        while !fs::read_to_string(&path).unwrap().contains("[x] T999") {
            let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.seek(SeekFrom::Start(marker as u64)).unwrap();
            file.write_all(b"x").unwrap();
            drop(file);
            thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    thread::scope(|scope| {
        scope.spawn(agent("ada"));
        scope.spawn(agent("bob"));
        scope.spawn(person);
    });
    let lost = lost_notes(project.root());
    assert!(lost.is_empty(), "notes {lost:?} are lost");
    assert!(kept(project.root()).contains("[x] T999"), "the tick of the person is lost");
    let lines = steps(&project);
    assert_eq!(lines.len(), 13);
    assert!(lines[..12].iter().all(|line| line.starts_with("[x]")), "{lines:?}");
    project.ok(&["history", "verify"]);
}

/// The list, and what was saved of it where a command and the person wrote at the same moment.
fn kept(root: &std::path::Path) -> String {
    let mut kept = fs::read_to_string(root.join("TODO.md")).unwrap();
    for entry in fs::read_dir(root.join(".statedir/salvage")).into_iter().flatten() {
        kept.push_str(&fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    kept
}

/// The notes of the person that are in neither.
fn lost_notes(root: &std::path::Path) -> Vec<usize> {
    let kept = kept(root);
    (1..=10).filter(|n| !kept.contains(&format!("Note {n} of a person.\n"))).collect()
}

/// The control: a program that writes back what it read a moment ago loses notes, and is caught.
#[test]
fn a_program_that_writes_what_it_read_before_is_seen_to_lose_notes() {
    let project = project(&[("TODO.md", "- [ ] T001 One\n\n## Notes\n")]);
    project.ok(&["adopt"]);
    let path = project.root().join("TODO.md");
    let before = fs::read_to_string(&path).unwrap();
    let notes: String = (1..=10).map(|n| format!("Note {n} of a person.\n")).collect();
    fs::write(&path, format!("{before}{notes}")).unwrap();
    assert!(lost_notes(project.root()).is_empty());
    fs::write(&path, before.replace("[ ]", "[x]")).unwrap();
    assert_eq!(lost_notes(project.root()).len(), 10);
}
