//! What it costs to compare long plans by meaning, against reading them and against shorter ones.

mod common;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use common::{alternate, is_wanted, report, title};
use statedir::{
    StateFile,
    internals::{Plan, compare},
    text::markdown::Document,
};

fn main() {
    if !is_wanted() {
        return;
    }
    let (short, long) = (plans(1_000), plans(10_000));
    title();
    let pair = alternate(10, || differ(&long, 1), || differ(&short, 10));
    report("diff: 10,000 steps / 10 times 1,000", pair, 1.5);
    let pair = alternate(10, || differ(&long, 1), || read(&long));
    report("diff: comparing / reading both plans", pair, 2.0);
}

/// Two plans that differ in one status.
fn plans(steps: usize) -> [Vec<u8>; 2] {
    let plan = |done: usize| {
        let mut plan =
            String::from("# Execution Plan: Long\n\n## Metadata\n- **status**: X\n\n## Steps\n");
        for n in 1..=steps {
            let status = if n == done { "COMPLETED" } else { "PENDING" };
            plan.push_str(&format!(
                "\n### Step {n}: Do part {n} of the work\n- **id**: s{n}x\n- **component**: worker\n\
                 - **tool_mapping**: Read\n- **status**: {status}\n- **inputs**:\n  - source: file.txt\n  \
                 - limit: 20\n- **estimated_cost**: $0.02\n- **side_effects**: writes a file\n"
            ));
        }
        plan.into_bytes()
    };
    [plan(0), plan(steps / 2)]
}

fn differ([before, after]: &[Vec<u8>; 2], times: usize) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        let found = compare(StateFile::Plan, Some(before), Some(after));
        assert_eq!(black_box(found).len(), 1, "one status differs");
    }
    start.elapsed()
}

fn read(plans: &[Vec<u8>; 2]) -> Duration {
    let start = Instant::now();
    for bytes in plans {
        let document = Document::from_bytes(bytes.clone()).expect("a plan");
        black_box(Plan::read(document));
    }
    start.elapsed()
}
