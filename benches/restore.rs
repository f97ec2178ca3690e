//! What it costs to go back to a checkpoint after ten thousand operations, against after ten.
//!
//! A checkpoint's files are read from their images and not from the log, so both cost the same.

mod common;

use std::{fs, path::Path};

use common::{alternate, is_wanted, report, run, statedir, title};
use serde_json::{Value, json};
use statedir::{Change, Environment, NoVersionControl, Options, Workspace};

/// The most that ten thousand operations may cost against ten.
const LIMIT: f64 = 2.0;

fn main() {
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    let short = worked(root.path(), "short", 10);
    let long = worked(root.path(), "long", 10_000);
    title();
    for name in ["first", "last"] {
        let turn = std::cell::Cell::new(0_u32);
        let restore = |dir: &Path| {
            // Something must have changed, or there is nothing to restore.
            turn.set(turn.get() + 1);
            run(statedir(), dir, &["var", "set", "turn", &turn.get().to_string()]);
            run(statedir(), dir, &["checkpoint", "restore", name])
        };
        let pair = alternate(40, || restore(&long), || restore(&short));
        report(&format!("restore {name}: after 10,000 operations / 10"), pair, LIMIT);
    }
    let create = |dir: &Path| run(statedir(), dir, &["checkpoint", "create"]);
    let pair = alternate(40, || create(&long), || create(&short));
    report("create: after 10,000 operations / 10", pair, LIMIT);
}

/// A state with a checkpoint at either end of so many operations.
fn worked(root: &Path, name: &str, operations: usize) -> std::path::PathBuf {
    let dir = common::state(root, name, 20);
    run(statedir(), &dir, &["checkpoint", "create", "first"]);
    let state = dir.join("workspace/state");
    let environment = Environment::real("bench");
    let workspace = Workspace::new(&state, environment, Options::new(NoVersionControl));
    for n in 0..operations {
        let change = match n % 4 {
            0 => json!({ "op": "history.add", "title": format!("Note {n}") }),
            _ => json!({ "op": "var.set", "path": format!("v{}", n % 50), "value": n }),
        };
        apply(&workspace, change);
    }
    run(statedir(), &dir, &["checkpoint", "create", "last"]);
    let log = fs::read_dir(state.join(".statedir/log")).expect("a log").count();
    println!("{name}: {operations} operations in {log} segments");
    dir
}

fn apply(workspace: &Workspace, change: Value) {
    let change: Change = serde_json::from_value(change).expect("a change");
    workspace.apply(&[change]).expect("it to be made");
}
