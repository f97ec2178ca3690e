//! What the benchmarks share: states to measure, runs side by side, a line per comparison.
#![allow(dead_code, reason = "not every benchmark uses all of it")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
    time::{Duration, Instant},
};

use statedir::internals::{EntryId, NewEntry, render};

/// The program that is measured, as `cargo install` and packages leave it: copied in one go. The linker
/// writes piecemeal, and the page cache then maps such a file in small pieces, with more page faults.
pub fn statedir() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("statedir-to-measure");
        // Removed first, so that nothing of an earlier copy stays in the cache.
        let _ = fs::remove_file(&copy);
        fs::copy(env!("CARGO_BIN_EXE_statedir"), &copy).expect("a copy of the program");
        copy.to_string_lossy().into_owned()
    });
    &PROGRAM
}

/// Whether to measure: not under `--test` or `--list`.
pub fn is_wanted() -> bool {
    !std::env::args().any(|arg| arg == "--test" || arg == "--list")
}

/// The head of the table.
pub fn title() {
    println!("{:<53} {:>10} {:>10} {:>7} {:>8}", "", "this", "that", "ratio", "at most");
}

/// A project with a state of so many steps.
pub fn state(root: &Path, name: &str, steps: usize) -> PathBuf {
    let dir = root.join(name);
    fs::create_dir_all(&dir).expect("a directory");
    run(statedir(), &dir, &["init", "--goal", "Measure what a command costs"]);
    let changes: Vec<_> = (1..=steps)
        .map(|n| {
            serde_json::json!({ "op": "step.add", "title": format!("Do part {n} of the work"),
                "component": "worker", "tool": "Read", "cost": "0.02", "time": "30s",
                "input": { "source": "file.txt", "limit": "20" }, "effects": "writes a file" })
        })
        .collect();
    if steps > 0 {
        let file = root.join(format!("{name}.json"));
        fs::write(&file, serde_json::Value::from(changes).to_string()).expect("a file");
        run(statedir(), &dir, &["apply", &file.to_string_lossy()]);
    }
    dir
}

/// The text of so many history entries, with checksums.
pub fn signed(count: usize) -> String {
    let mut text = String::new();
    let mut head: Vec<EntryId> = Vec::new();
    for n in 0..count {
        let field = |key: &str, value: String| (key.to_owned(), value);
        let entry = NewEntry {
            title: format!("Step {} Execution", n % 5 + 1),
            time: "2026-01-15T09:00:00Z".to_owned(),
            fields: vec![
                field("status", "COMPLETED".to_owned()),
                field("tool_used", "Read".to_owned()),
                field("actual_time", "2s".to_owned()),
                field("notes", format!("entry number {n}")),
            ],
        };
        let rendered = render(&entry, n as u64, &head, "\n").expect("an entry");
        head = vec![rendered.id];
        text.push_str(&rendered.text);
    }
    text
}

pub fn run(program: impl AsRef<Path>, dir: &Path, args: &[&str]) -> Duration {
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
pub fn alternate(
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

pub fn report(name: &str, (this, that): (Duration, Duration), limit: f64) {
    let ratio = this.as_secs_f64() / that.as_secs_f64();
    let verdict = if ratio <= limit { "OK" } else { "over" };
    println!(
        "{name:<53} {:>7.2} ms {:>7.2} ms {ratio:>7.2} {limit:>8.1}  {verdict}",
        this.as_secs_f64() * 1e3,
        that.as_secs_f64() * 1e3
    );
}

/// A program of the folder `programs`, optimized and linked as the release profile does it.
pub fn compile(root: &Path, name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/programs/{name}.rs"));
    let program = root.join(name);
    let status = Command::new("rustc")
        .args(["--edition", "2024", "-O", "-C", "lto=thin"])
        .args(["-C", "panic=abort", "-C", "strip=symbols", "-o"])
        .arg(&program)
        .arg(&source)
        .status()
        .expect("rustc to start");
    assert!(status.success(), "{name} does not compile");
    program
}
