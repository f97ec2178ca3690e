//! What it costs to continue after a long history, against a short one, measured in one run.

mod common;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use common::{STATEDIR, alternate, is_wanted, report, run, title};

/// The most that a million entries may cost against a hundred.
const LIMIT: f64 = 1.5;

fn main() {
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    let short = told(root.path(), "short", 100);
    let long = told(root.path(), "long", 1_000_000);
    title();
    for args in [&["brief"][..], &["state"], &["memory"], &["brief", "--max-tokens", "200"]] {
        let pair = alternate(100, || run(STATEDIR, &long, args), || run(STATEDIR, &short, args));
        report(&format!("{}: 1,000,000 entries / 100", args.join(" ")), pair, LIMIT);
    }
}

/// A state with so many entries in its history, a few of the newest being turns.
fn told(root: &Path, name: &str, entries: usize) -> PathBuf {
    let dir = common::state(root, name, 5);
    let path = dir.join("workspace/state/history.md");
    let mut text = fs::read_to_string(&path).expect("a history");
    for n in 0..entries {
        let _ = write!(
            text,
            "\n### Step {} Execution - 2026-01-15T09:00:00Z\n- **status**: COMPLETED\n\
             - **tool_used**: Read\n- **actual_time**: 2s\n- **notes**: entry number {n}\n",
            n % 5 + 1
        );
    }
    fs::write(&path, text).expect("space for the history");
    // The first command looks at all of it once, because it was written outside.
    for n in 1..=12 {
        let said = format!("question {n}");
        run(
            STATEDIR,
            &dir,
            &["turn", "add", "--user", &said, "--response", "an answer", "--intent", "ask"],
        );
    }
    dir
}
