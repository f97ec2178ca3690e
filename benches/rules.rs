//! What an event costs: many rules and a long history against few of both.
//!
//! `cargo bench --bench rules` prints ratios measured side by side in one run.

mod common;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use common::{alternate, is_wanted, report, run, state, statedir, title};
use statedir::{
    internals::{Constraints, FactValue, Facts, NewEntry, Workflow, WrittenRule, fire, render},
    text::markdown::Document,
};

/// Names the project whose rules this process reads before it ends.
const READ_RULES: &str = "STATEDIR_BENCH_READ_RULES";

fn main() {
    if let Some(project) = std::env::var_os(READ_RULES) {
        println!("{}", read_rules(Path::new(&project)).as_nanos());
        return;
    }
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    title();
    from_the_shell(root.path());
    in_process();
}

fn from_the_shell(root: &Path) {
    let few = state(root, "few", 5);
    let long = state(root, "long", 5);
    add_entries(&few, 10);
    add_entries(&long, 1_000_000);
    // The first command reads the history once, because it was written from outside.
    run(statedir(), &long, &["event", "emit", "first"]);
    run(statedir(), &few, &["event", "emit", "first"]);
    let emit = ["event", "emit", "ping", "n=1"];
    let pair = alternate(60, || run(statedir(), &long, &emit), || run(statedir(), &few, &emit));
    report("event: 1,000,000 entries / 10", pair, 1.5);
    add_rules(&long, 1000);
    add_rules(&few, 10);
    run(statedir(), &long, &emit);
    run(statedir(), &few, &emit);
    let (many, ten) =
        alternate(100, || run(statedir(), &long, &emit), || run(statedir(), &few, &emit));
    report("event: and 1,000 rules / 10, reading them too", (many, ten), f64::INFINITY);
    let reading = alternate(50, || read_by_itself(&long), || read_by_itself(&few));
    let more = reading.0.saturating_sub(reading.1);
    report("event: the same without reading them", (many.saturating_sub(more), ten), 1.5);
    println!("  (reading 1,000 rules takes {:.2} ms more than ten)", millis(more));
    let check = ["rule", "check"];
    let twice = state(root, "twice", 5);
    add_rules(&twice, 2000);
    let pair = alternate(20, || run(statedir(), &twice, &check), || run(statedir(), &long, &check));
    report("rule check: 2,000 rules / 1,000", pair, 2.2);
}

/// The same in a new process, with cold memory and caches, as in a command.
fn read_by_itself(project: &Path) -> Duration {
    let this = std::env::current_exe().expect("a name of this program");
    let output = Command::new(this).env(READ_RULES, project).output().expect("it to start");
    let nanos = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a time");
    Duration::from_nanos(nanos)
}

/// What a command spends on reading the rules: the file, its spans, the grammar.
fn read_rules(project: &Path) -> Duration {
    let bytes = fs::read(project.join("workspace/state/constraints.md")).expect("constraints");
    let began = Instant::now();
    let document = Document::from_bytes(bytes).expect("markdown");
    let rules = Constraints::read(document).rules;
    let workflow = Workflow::builtin();
    assert!(rules.iter().all(|rule| WrittenRule::parse(&rule.text, workflow).parsed.is_ok()));
    began.elapsed()
}

fn in_process() {
    let workflow = Workflow::builtin();
    for count in [10, 1000] {
        let texts: Vec<String> = (0..count).map(rule).collect();
        let began = Instant::now();
        let rules: Vec<WrittenRule> =
            texts.iter().map(|text| WrittenRule::parse(text, workflow)).collect();
        let parsing = began.elapsed();
        let before = Facts::new().with("cost", FactValue::Money(0));
        let after = Facts::new().with("cost", FactValue::Money(1_000));
        let began = Instant::now();
        const ROUNDS: u32 = 100;
        for _ in 0..ROUNDS {
            assert!(fire(&rules, &before, &after, workflow).trace.is_empty());
        }
        let firing = began.elapsed() / ROUNDS;
        println!(
            "{count} rules: read in {:.2} ms, one event in {:.3} ms",
            millis(parsing),
            millis(firing)
        );
    }
}

fn rule(number: usize) -> String {
    format!(
        "If variables.counters.c{number} > {number} and cost > ${number} → set priority to \"quality\""
    )
}

fn add_rules(project: &Path, count: usize) {
    let path = project.join("workspace/state/constraints.md");
    let text = fs::read_to_string(&path).expect("constraints");
    let rules: String = (0..count).map(|number| format!("- {}\n", rule(number))).collect();
    let head = "## Adaptation Rules\n";
    fs::write(&path, text.replace(head, &format!("{head}{rules}"))).expect("constraints");
}

fn add_entries(project: &Path, count: u64) {
    let path = project.join("workspace/state/history.md");
    let file = fs::OpenOptions::new().append(true).open(&path).expect("a history");
    let mut file = std::io::BufWriter::new(file);
    let mut after = Vec::new();
    for number in 0..count {
        let fields = [
            ("step", "k3f9"),
            ("status", "COMPLETED"),
            ("actual_cost", "$0.00"),
            ("notes", "an entry like many others"),
        ];
        let entry = NewEntry {
            title: format!("Step {} Execution", number % 9 + 1),
            time: "2026-01-31T12:00:00Z".to_owned(),
            fields: fields.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(),
        };
        let rendered = render(&entry, number, &after, "\n").expect("an entry");
        file.write_all(rendered.text.as_bytes()).expect("space for the history");
        after = vec![rendered.id];
    }
    file.flush().expect("space for the history");
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
