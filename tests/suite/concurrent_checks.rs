//! A check sees one moment, and a repair is a change like any other: writers at the same time
//! confuse neither.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use statedir::{
    Change, Environment, NoVersionControl, Options, StateFile, VersionControl, Workspace,
    internals::{AppendedView, RemovedEntry},
};

use crate::{builder::Project, hostile::cut_history::cut};

const WRITERS: usize = 8;
const FIXERS: usize = 6;

/// Tells the writers to stop, also when something else fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Adds entries until `stop` is set; returns their titles.
fn write_until(stop: &AtomicBool, project: &Project, writer: usize) -> Vec<String> {
    let mut written = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let title = format!("Entry {writer}-{}", written.len());
        project.ok(&["history", "add", &title]);
        written.push(title);
    }
    written
}

/// How many entries of the history have that title.
fn count(project: &Project, title: &str) -> usize {
    let heading = format!("### {title}");
    project.read("history.md").lines().filter(|line| *line == heading).count()
}

#[test]
fn a_hundred_checks_beside_eight_writers_raise_no_false_alarm() {
    const RUNS: usize = 100;
    let project = Project::new();
    let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let alarms = std::thread::scope(|scope| {
        let (project, stop, done) = (&project, &stop, &done);
        let stopping = Stop(stop);
        let writers: Vec<_> =
            (0..WRITERS).map(|n| scope.spawn(move || write_until(stop, project, n))).collect();
        let look = move |command: &[&str]| {
            let mut alarms = Vec::new();
            while done.fetch_add(1, Ordering::Relaxed) < RUNS {
                let ran = project.run(command);
                if ran.code != 0 {
                    alarms.push(format!("{}{}", ran.stdout, ran.stderr));
                }
            }
            alarms
        };
        let checking = scope.spawn(move || look(&["check"]));
        let mut alarms = look(&["history", "verify"]);
        alarms.extend(checking.join().unwrap());
        drop(stopping);
        for title in writers.into_iter().flat_map(|writer| writer.join().unwrap()) {
            assert_eq!(count(project, &title), 1, "{title}");
        }
        alarms
    });
    assert_eq!(alarms, Vec::<String>::new(), "{} of {RUNS}", alarms.len());
    // The control: an entry that is gone is still noticed.
    cut(&project);
    assert_eq!(project.run(&["history", "verify"]).code, 4);
    assert_eq!(project.run(&["check"]).code, 4);
}

#[test]
fn six_repairs_at_once_bring_an_entry_back_once() {
    let project = Project::new();
    cut(&project);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (project, stop) = (&project, &stop);
        let stopping = Stop(stop);
        let writers: Vec<_> =
            (0..2).map(|n| scope.spawn(move || write_until(stop, project, n))).collect();
        let fixers: Vec<_> =
            (0..FIXERS).map(|_| scope.spawn(|| project.ok(&["check", "--fix"]))).collect();
        fixers.into_iter().for_each(|fixer| drop(fixer.join().unwrap()));
        drop(stopping);
        for title in writers.into_iter().flat_map(|writer| writer.join().unwrap()) {
            assert_eq!(count(project, &title), 1, "{title}");
        }
    });
    for title in ["A", "B", "C"] {
        assert_eq!(count(&project, title), 1, "{title}");
    }
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}

#[test]
fn a_repair_takes_no_change_back_that_was_made_after_another_repair() {
    let project = Project::new();
    let acknowledged = Mutex::new(Vec::new());
    for round in 0..6 {
        fs::remove_file(project.path("plan.md")).unwrap();
        std::thread::scope(|scope| {
            for fixer in 0..FIXERS {
                let (project, acknowledged) = (&project, &acknowledged);
                scope.spawn(move || {
                    project.ok(&["check", "--fix"]);
                    let title = format!("Step {round}-{fixer}");
                    project.ok(&["step", "add", &title]);
                    acknowledged.lock().unwrap().push(title);
                });
            }
        });
        let plan = project.read("plan.md");
        for title in acknowledged.lock().unwrap().iter() {
            assert!(plan.contains(title.as_str()), "{title} is gone in round {round}\n{plan}");
        }
    }
}

/// Version control that answers so slowly that somebody else tries to write meanwhile.
#[derive(Debug)]
struct Slow {
    dir: PathBuf,
    written: Arc<Mutex<Vec<bool>>>,
}

impl VersionControl for Slow {
    fn is_on_another_branch(&self, _: &Path, _: &AppendedView, _: &str) -> bool {
        false
    }

    fn removed_entries(&self, _: &Path, _: &AppendedView) -> Vec<RemovedEntry> {
        let wait = Duration::from_millis(50);
        let mut options = Options::new(NoVersionControl);
        options.wait = wait;
        let other = Workspace::new(&self.dir, Environment::real("other".to_owned()), options);
        let title = format!("Meanwhile {}", self.written.lock().unwrap().len());
        let change = Change::HistoryAdd { title, fields: serde_json::Map::new() };
        let is_written = other.apply(&[change]).is_ok();
        self.written.lock().unwrap().push(is_written);
        Vec::new()
    }

    fn unmerged_files(&self, _: &Path) -> Vec<StateFile> {
        Vec::new()
    }

    fn operation_under_way(&self, _: &Path) -> Option<&'static str> {
        None
    }

    fn is_checked_out(&self, _: &Path, _: &str) -> bool {
        false
    }

    fn may_track_private_directory(&self, _: &Path) -> bool {
        false
    }
}

#[test]
fn nothing_can_change_between_the_judgement_of_a_repair_and_its_commit() {
    let project = Project::new();
    cut(&project);
    let (dir, written) = (project.dir(), Arc::new(Mutex::new(Vec::new())));
    let slow = Slow { dir: dir.clone(), written: Arc::clone(&written) };
    let environment = Environment::real("fixer".to_owned());
    let workspace = Workspace::new(dir, environment, Options::new(slow));
    let checked = workspace.check(true, &mut |_| {}).unwrap();
    assert_eq!(checked.fixed.len(), 1, "{:?}", checked.fixed);
    assert_eq!(checked.findings, Vec::new());
    // The repair kept the other writer out; the check afterwards, which is the control, did not.
    assert_eq!(*written.lock().unwrap(), [false, true]);
    for (title, times) in [("A", 1), ("B", 1), ("C", 1), ("Meanwhile 0", 0), ("Meanwhile 1", 1)] {
        assert_eq!(count(&project, title), times, "{title}");
    }
    project.ok(&["history", "verify"]);
}
