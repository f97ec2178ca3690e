//! Several at once on the same file.

use std::{fs, thread};

use super::{project, steps};

#[test]
fn two_agents_and_a_person_lose_nothing() {
    let list: String = (1..=12).map(|n| format!("- [ ] T{n:03} Part {n}\n")).collect();
    let project = project(&[("TODO.md", &format!("# Work\n\n{list}\n## Notes\n"))]);
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
    let person = || {
        for n in 1..=10 {
            use std::io::Write as _;
            let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            writeln!(file, "Note {n} of a person.").unwrap();
            drop(file);
            thread::sleep(std::time::Duration::from_millis(30));
        }
    };
    thread::scope(|scope| {
        scope.spawn(agent("ada"));
        scope.spawn(agent("bob"));
        scope.spawn(person);
    });
    let salvage = project.root().join(".statedir/salvage");
    let mut kept = fs::read_to_string(&path).unwrap();
    for entry in fs::read_dir(salvage).into_iter().flatten() {
        kept.push_str(&fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    for n in 1..=10 {
        assert!(kept.contains(&format!("Note {n} of a person.\n")), "note {n} is lost:\n{kept}");
    }
    let lines = steps(&project);
    assert_eq!(lines.len(), 12);
    assert!(lines.iter().all(|line| line.starts_with("[x]")), "{lines:?}");
    project.ok(&["history", "verify"]);
}
