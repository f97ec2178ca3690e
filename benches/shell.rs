//! What a command costs from the shell, as ratios measured side by side in one run.
//!
//! `cargo bench` prints a table; numbers depend on the machine, ratios much less. Each pair is
//! run alternately, so that noise hits both sides, and medians are compared.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const STATEDIR: &str = env!("CARGO_BIN_EXE_statedir");

fn main() {
    // `cargo test --benches` and listing flags must not start a long run.
    if std::env::args().any(|arg| arg == "--test" || arg == "--list") {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    let root = root.path();
    let empty = compile(root, "empty");
    let floor = compile(root, "floor");
    println!("{:<46} {:>10} {:>10} {:>7} {:>8}", "", "this", "that", "ratio", "at most");
    reads(root, &empty);
    mutations(root, &floor);
    sqlite(root);
    long_history(root);
    large_plan(root);
}

fn reads(root: &Path, empty: &Path) {
    let dir = state(root, "reads", 5);
    for args in [&["status"][..], &["var", "get", "step_data.current_step"], &["step", "show", "1"]]
    {
        let name = format!("{} / empty program", args.join(" "));
        let pair = alternate(200, || run(STATEDIR, &dir, args), || run(empty, &dir, &[]));
        report(&name, pair, 2.0);
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
            run(STATEDIR, &dir, &["var", "set", "extracted_data.flags.n", &count.to_string()])
        },
        || run(floor, &dir, &[&floor_arg]),
    );
    report("var set / floor program", pair, 1.3);
    let pair = alternate(100, || finish_step(&dir), || run(floor, &dir, &[&floor_arg]));
    report("step done / floor program", pair, 1.3);
}

fn sqlite(root: &Path) {
    if Command::new("sqlite3").arg("--version").output().is_err() {
        println!("sqlite3 is not installed: its comparison is left out");
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
            run(STATEDIR, &dir, &["var", "set", "extracted_data.flags.n", &count.to_string()])
        },
        || run("sqlite3", &dir, &[&database, update]),
    );
    report("var set / sqlite3 update", pair, 1.0);
    let pair = alternate(60, || finish_step(&dir), || run("sqlite3", &dir, &[&database, update]));
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
    // The first command looks at all of it once, because it was written outside.
    run(STATEDIR, &long, &["history", "add", "First"]);
    for args in [&["history", "add", "Note"][..], &["status"], &["history", "list"]] {
        let pair = alternate(100, || run(STATEDIR, &long, args), || run(STATEDIR, &short, args));
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
                    STATEDIR,
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

fn finish_step(dir: &Path) -> Duration {
    run(STATEDIR, dir, &["step", "reset", "1"]);
    run(STATEDIR, dir, &["step", "start", "1"]);
    run(STATEDIR, dir, &["step", "done", "1", "--cost", "0.01", "--output", "rows=1"])
}

fn state(root: &Path, name: &str, steps: usize) -> PathBuf {
    let dir = root.join(name);
    fs::create_dir_all(&dir).expect("a directory");
    run(STATEDIR, &dir, &["init", "--goal", "Measure what a command costs"]);
    let changes: Vec<_> = (1..=steps)
        .map(|n| {
            serde_json::json!({ "op": "step.add", "title": format!("Do part {n} of the work"),
                "component": "worker", "tool": "Read", "cost": "0.02", "time": "30s",
                "input": { "source": "file.txt", "limit": "20" }, "effects": "writes a file" })
        })
        .collect();
    // A batch of steps costs a parse each: a large plan is written as text instead.
    if steps <= 100 {
        let file = root.join(format!("{name}.json"));
        fs::write(&file, serde_json::Value::from(changes).to_string()).expect("a file");
        run(STATEDIR, &dir, &["apply", &file.to_string_lossy()]);
    } else {
        let path = dir.join("workspace/state/plan.md");
        let mut plan = fs::read_to_string(&path).expect("a plan");
        for n in 1..=steps {
            plan.push_str(&format!(
                "\n### Step {n}: Do part {n} of the work\n- **id**: s{n}x\n- **component**: worker\n\
                 - **tool_mapping**: Read\n- **status**: PENDING\n- **inputs**:\n  - source: file.txt\n  \
                 - limit: 20\n- **estimated_cost**: $0.02\n- **estimated_time**: 30s\n\
                 - **side_effects**: writes a file\n"
            ));
        }
        fs::write(&path, plan).expect("a plan");
        run(STATEDIR, &dir, &["check", "--fix"]);
    }
    dir
}

fn run(program: impl AsRef<Path>, dir: &Path, args: &[&str]) -> Duration {
    let mut command = Command::new(program.as_ref());
    command.args(args).current_dir(dir).env("STATEDIR_ACTOR", "bench").env_remove("STATEDIR");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status().expect("the program to start");
    let took = began.elapsed();
    assert!(status.success(), "{} {args:?}", program.as_ref().display());
    took
}

/// Medians of both sides, run alternately.
fn alternate(
    rounds: usize,
    mut this: impl FnMut() -> Duration,
    mut that: impl FnMut() -> Duration,
) -> (Duration, Duration) {
    let (mut these, mut those) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        these.push(this());
        those.push(that());
    }
    these.sort();
    those.sort();
    (these[rounds / 2], those[rounds / 2])
}

fn report(name: &str, (this, that): (Duration, Duration), limit: f64) {
    let ratio = this.as_secs_f64() / that.as_secs_f64();
    let verdict = if ratio <= limit { "" } else { "  above" };
    println!(
        "{name:<46} {:>7.2} ms {:>7.2} ms {ratio:>7.2} {limit:>8.1}{verdict}",
        this.as_secs_f64() * 1e3,
        that.as_secs_f64() * 1e3
    );
}

fn compile(root: &Path, name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/programs/{name}.rs"));
    let program = root.join(name);
    let status = Command::new("rustc")
        .args(["--edition", "2024", "-O", "-o"])
        .arg(&program)
        .arg(&source)
        .status()
        .expect("rustc to start");
    assert!(status.success(), "{name} does not compile");
    program
}
