//! What it costs to continue after a long history, against a short one, measured in one run.
//!
//! The entries are signed, as the tool writes them. Entries typed by hand carry no checksum, so
//! the end of the file cannot be trusted without reading more of it: that is measured by itself.

mod common;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use common::{alternate, is_wanted, report, run, signed, statedir, title};

/// The most that a million entries may cost against a hundred.
const LIMIT: f64 = 1.5;

fn main() {
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    title();
    for (kind, entries) in [("signed", signed as fn(usize) -> String), ("by hand", by_hand)] {
        let short = with_history(root.path(), &format!("short {kind}"), &entries(100));
        let long = with_history(root.path(), &format!("long {kind}"), &entries(1_000_000));
        for args in [&["brief"][..], &["state"], &["memory"]] {
            let rounds = if kind == "signed" { 100 } else { 10 };
            let pair = alternate(
                rounds,
                || run(statedir(), &long, args),
                || run(statedir(), &short, args),
            );
            report(&format!("{}: 1,000,000 {kind} / 100", args.join(" ")), pair, LIMIT);
        }
        fs::remove_dir_all(long).expect("the directory to be removed");
    }
}

/// A state whose history has these entries, and a few turns behind them.
fn with_history(root: &Path, name: &str, entries: &str) -> PathBuf {
    let dir = common::state(root, name, 5);
    let path = dir.join("workspace/state/history.md");
    let text = fs::read_to_string(&path).expect("a history");
    fs::write(&path, text + entries).expect("space for the history");
    // The first command reads all of it once, because it was written from outside.
    for n in 1..=12 {
        let question = format!("question {n}");
        let turn =
            ["turn", "add", "--user", &question, "--response", "an answer", "--intent", "ask"];
        run(statedir(), &dir, &turn);
    }
    dir
}

fn by_hand(count: usize) -> String {
    let mut text = String::new();
    for n in 0..count {
        let _ = write!(
            text,
            "\n### Step {} Execution - 2026-01-15T09:00:00Z\n- **status**: COMPLETED\n\
             - **tool_used**: Read\n- **actual_time**: 2s\n- **notes**: entry number {n}\n",
            n % 5 + 1
        );
    }
    text
}
