//! What a command costs from the shell, as ratios measured side by side in one run.
//!
//! `cargo bench` prints a table; numbers depend on the machine, ratios much less. Each pair is
//! run alternately, so that noise hits both sides, and medians are compared.
//!
//! `STATEDIR_OLDER=PATH` names a program that was built earlier, and adds a comparison with it: the
//! cost of a change to the program.

mod common;
#[allow(dead_code, reason = "the tests of that module are not for here")]
#[path = "../tests/suite/needs.rs"]
mod needs;

use std::{
    fs,
    io::Write as _,
    path::Path,
    time::{Duration, Instant},
};

use common::{alternate, compile, is_wanted, report, run, state, statedir, title};

fn main() {
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    let root = root.path();
    let empty = compile(root, "empty");
    let floor = compile(root, "floor");
    title();
    if let Some(older) = std::env::var_os("STATEDIR_OLDER") {
        against(root, Path::new(&older));
    }
    reads(root, &empty);
    mutations(root, &floor);
    sqlite(root);
    long_history(root);
    large_plan(root);
}

fn against(root: &Path, older: &Path) {
    let new = Path::new(statedir());
    let old = root.join("statedir-older");
    fs::copy(older, &old).expect("a copy of the program");
    let [new_dir, old_dir] = ["newer", "older"].map(|name| state(root, name, 5));
    for args in [&["status"][..], &["var", "get", "step_data.current_step"]] {
        let pair = alternate(500, || run(new, &new_dir, args), || run(&old, &old_dir, args));
        report(&format!("{} / older program", args.join(" ")), pair, 1.02);
    }
    let pair = alternate(300, || finish_step(new, &new_dir), || finish_step(&old, &old_dir));
    report("step done / older program", pair, 1.02);
}

fn reads(root: &Path, empty: &Path) {
    let dir = state(root, "reads", 5);
    let commands: [(&[&str], f64); 5] = [
        (&["status"], 2.0),
        (&["var", "get", "step_data.current_step"], 2.0),
        (&["step", "show", "1"], 2.0),
        (&["brief"], 2.0),
        (&["--version"], 1.5),
    ];
    for (args, limit) in commands {
        let name = format!("{} / empty program", args.join(" "));
        let pair = alternate(200, || run(statedir(), &dir, args), || run(empty, &dir, &[]));
        report(&name, pair, limit);
    }
    let usual = state(root, "usual", 40);
    for args in [&["status"][..], &["step", "show", "1"]] {
        let name = format!("{}, 40 steps / 5 steps", args.join(" "));
        let pair = alternate(200, || run(statedir(), &usual, args), || run(statedir(), &dir, args));
        report(&name, pair, 1.1);
    }
}

fn mutations(root: &Path, floor: &Path) {
    let dir = state(root, "mutations", 5);
    let floor_dir = root.join("floor-files");
    fs::create_dir_all(&floor_dir).expect("a directory");
    let floor_arg = floor_dir.to_string_lossy().into_owned();
    let mut count = 0;
    let pair = alternate(
        200,
        || {
            count += 1;
            run(statedir(), &dir, &["var", "set", "extracted_data.flags.n", &count.to_string()])
        },
        || run(floor, &dir, &[&floor_arg]),
    );
    report("var set / floor program", pair, 1.3);
    let pair = alternate(
        100,
        || finish_step(Path::new(statedir()), &dir),
        || run(floor, &dir, &[&floor_arg]),
    );
    report("step done / floor program", pair, 1.3);
}

fn sqlite(root: &Path) {
    if !needs::program("sqlite3") {
        return;
    }
    let dir = state(root, "sqlite", 5);
    let database = root.join("state.db").to_string_lossy().into_owned();
    let create = "create table v(k text primary key, v text); insert into v values('n','0');";
    run("sqlite3", &dir, &[&database, create]);
    let mut count = 0;
    let update = "pragma synchronous=full; update v set v=v+1 where k='n';";
    let pair = alternate(
        100,
        || {
            count += 1;
            run(statedir(), &dir, &["var", "set", "extracted_data.flags.n", &count.to_string()])
        },
        || run("sqlite3", &dir, &[&database, update]),
    );
    report("var set / sqlite3 update", pair, 1.0);
    let pair = alternate(
        60,
        || finish_step(Path::new(statedir()), &dir),
        || run("sqlite3", &dir, &[&database, update]),
    );
    report("step done / sqlite3 update", pair, 1.0);
}

fn long_history(root: &Path) {
    let short = state(root, "short", 5);
    let long = state(root, "long", 5);
    let entry = fs::read(long.join("workspace/state/history.md")).expect("a history");
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(long.join("workspace/state/history.md"))
        .expect("a history");
    let line = b"- a line of text that somebody wrote into the history long ago, and more of it\n";
    let block: Vec<u8> = line.iter().copied().cycle().take(line.len() * 13_000).collect();
    let mut size = entry.len();
    while size < 1 << 30 {
        file.write_all(&block).expect("space for 1 GB");
        size += block.len();
    }
    drop(file);
    // The first command reads all of it once, because it was written from outside.
    run(statedir(), &long, &["history", "add", "First"]);
    for args in [&["history", "add", "Note"][..], &["status"], &["history", "list"]] {
        let pair =
            alternate(100, || run(statedir(), &long, args), || run(statedir(), &short, args));
        report(&format!("{}: history 1 GB / 1 KB", args.join(" ")), pair, 1.1);
    }
    fs::remove_dir_all(long).expect("the directory to be removed");
}

fn large_plan(root: &Path) {
    let mut measured = Vec::new();
    for steps in [1000, 10_000] {
        let dir = state(root, &format!("plan-{steps}"), steps);
        let plan = fs::read_to_string(dir.join("workspace/state/plan.md")).expect("a plan");
        let middle = (steps / 2).to_string();
        let (set, parse) = alternate(
            10,
            || {
                run(
                    statedir(),
                    &dir,
                    &["step", "set", &middle, "--effects", &format!("{:?}", Instant::now())],
                )
            },
            || {
                let began = Instant::now();
                let events = pulldown_cmark::Parser::new(&plan).into_offset_iter().count();
                assert!(events > steps);
                began.elapsed()
            },
        );
        let speed = |time: Duration| plan.len() as f64 / 1e6 / time.as_secs_f64();
        println!(
            "step set in a plan of {steps} steps ({:.1} MB): {:.1} ms, {:.0} MB/s; pulldown-cmark alone {:.0} MB/s",
            plan.len() as f64 / 1e6,
            set.as_secs_f64() * 1e3,
            speed(set),
            speed(parse),
        );
        measured.push((plan.len() as f64, set));
    }
    if let [(small, quick), (large, slow)] = measured[..] {
        let size = large / small;
        report(&format!("step set: a plan {size:.1} times as large"), (slow, quick), size);
    }
}

fn finish_step(program: &Path, dir: &Path) -> Duration {
    run(program, dir, &["step", "reset", "1"]);
    run(program, dir, &["step", "start", "1"]);
    run(program, dir, &["step", "done", "1", "--cost", "0.01", "--output", "rows=1"])
}
