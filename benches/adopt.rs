//! The cost of plans in formats of other systems: adopting against reading them, and commands against
//! those on a native state.
//!
//! `cargo bench --bench adopt` prints a table. The same tasks are in 50 files of another system, in
//! one file, and in a native plan.

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use common::{alternate, is_wanted, report, run, state, statedir, title};
use pulldown_cmark::{Options, Parser};

const TASKS: usize = 1000;
const FILES: usize = 50;

fn main() {
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    let root = root.path();
    title();
    let many = adopted(root, "many", FILES);
    let files: Vec<PathBuf> = (0..FILES).map(|n| many.join(place(n))).collect();
    // Only the work, on both sides: starting a process costs the same for any command.
    let adopting = || {
        let began = Instant::now();
        assert_eq!(statedir::internals::adoptable_tasks(&many), Some(TASKS));
        began.elapsed()
    };
    report(
        "adopt, 1,000 tasks in 50 files / parse",
        alternate(50, adopting, || parse(&files)),
        3.0,
    );
    let whole = || run(statedir(), &many, &["adopt", "--dry-run"]);
    let version = || run(statedir(), &many, &["--version"]);
    report(
        "adopt --dry-run / --version, for comparison",
        alternate(50, whole, version),
        f64::INFINITY,
    );
    let one = adopted(root, "one", 1);
    for (name, dir) in [("50 files", &many), ("one file", &one)] {
        let own = state(root, &format!("own beside {name}"), TASKS);
        run(statedir(), dir, &["adopt"]);
        // Both have been changed before.
        run(statedir(), dir, &["var", "set", "a", "0"]);
        run(statedir(), &own, &["var", "set", "a", "0"]);
        for args in [
            &["status"][..],
            &["brief"],
            &["step", "next"],
            &["step", "show", "500"],
            &["var", "set", "a", "1"],
        ] {
            let pair = alternate(30, || run(statedir(), dir, args), || run(statedir(), &own, args));
            report(&format!("{}, {name} / own", args.join(" ")), pair, 1.3);
        }
        let life = |dir: &Path, step: usize| {
            let step = step.to_string();
            run(statedir(), dir, &["step", "start", &step])
                + run(statedir(), dir, &["step", "done", &step])
        };
        let (mut these, mut those) = (Vec::new(), Vec::new());
        for step in 1..=20 {
            these.push(life(dir, step));
            those.push(life(&own, step));
        }
        these.sort();
        those.sort();
        report(&format!("step start and done, {name} / own"), (these[10], those[10]), 1.3);
        let pair =
            alternate(10, || run(statedir(), dir, &["undo"]), || run(statedir(), &own, &["undo"]));
        report(&format!("undo, {name} / own"), pair, 1.3);
    }
}

fn place(n: usize) -> String {
    format!("openspec/changes/change-{n:02}/tasks.md")
}

/// A project with all tasks in so many files.
fn adopted(root: &Path, name: &str, files: usize) -> PathBuf {
    let dir = root.join(name);
    let each = TASKS / files;
    for n in 0..files {
        let path = dir.join(place(n));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let mut text = format!("# Tasks: change {n}\n");
        for at in 0..each {
            if at % 10 == 0 {
                text.push_str(&format!("\n## {}. Part\n\n", at / 10 + 1));
            }
            text.push_str(&format!(
                "- [ ] {}.{} Do part {at} of the work in `src/part_{at}.rs`\n  - with a test for it\n",
                at / 10 + 1,
                at % 10 + 1
            ));
        }
        fs::write(path, text).expect("a file");
    }
    dir
}

/// Reads and parses the files.
fn parse(files: &[PathBuf]) -> Duration {
    let began = Instant::now();
    let mut events = 0;
    for file in files {
        let text = fs::read_to_string(file).expect("a file");
        let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
        events += Parser::new_ext(&text, options).into_offset_iter().count();
    }
    assert!(events > TASKS);
    began.elapsed()
}
