//! What groups of steps cost: commands on a plan of 1,000 steps in 50 groups, beside the same plan
//! without groups.
//!
//! `cargo bench --bench groups` prints a table. Both plans are the same bytes, half finished; only one
//! lifecycle says that one group is finished before the next begins.

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
};

use common::{alternate, is_wanted, report, run, statedir, title};

const STEPS: usize = 1000;
const GROUPS: usize = 50;

fn main() {
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    let grouped = layered(root.path(), "grouped", "group: layer\n");
    let plain = layered(root.path(), "plain", "");
    title();
    for args in [&["status"][..], &["step", "next"], &["brief"], &["step", "list"]] {
        let pair =
            alternate(60, || run(statedir(), &grouped, args), || run(statedir(), &plain, args));
        report(&format!("{}, 50 groups / none", args.join(" ")), pair, 1.2);
    }
    let life = |dir: &Path| {
        let claimed = run(statedir(), dir, &["step", "next", "--claim"]);
        claimed + run(statedir(), dir, &["step", "done"])
    };
    let pair = alternate(30, || life(&grouped), || life(&plain));
    report("step next --claim and done, 50 groups / none", pair, 1.2);
}

/// A project whose steps each have a layer.
fn layered(root: &Path, name: &str, more: &str) -> PathBuf {
    let dir = root.join(name);
    fs::create_dir_all(&dir).expect("a directory");
    run(statedir(), &dir, &["init", "--goal", "Measure what groups cost"]);
    let state = dir.join("workspace/state");
    fs::write(state.join("workflow.yaml"), format!("version: 1\n{more}")).expect("a lifecycle");
    let mut plan = fs::read_to_string(state.join("plan.md")).expect("a plan");
    for n in 0..STEPS {
        let layer = n / (STEPS / GROUPS);
        let (status, mark) = if n < STEPS / 2 { ("COMPLETED", " ✓") } else { ("PENDING", "") };
        plan.push_str(&format!(
            "\n### Step {}: Do part {n} of the work{mark}\n- **component**: worker\n- **status**: \
             {status}\n- **inputs**:\n  - source: file.txt\n- **layer**: {layer}-part\n- **id**: s{n}x\n",
            n + 1
        ));
    }
    fs::write(state.join("plan.md"), plan).expect("a plan");
    run(statedir(), &dir, &["var", "set", "ready", "true"]);
    dir
}
