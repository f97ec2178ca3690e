//! What everyday commands cost beside those of other tools, for plans of three sizes.
//!
//! `cargo bench --bench peers` prints a table of ratios; above 1 the other tool is faster. Each pair
//! is run alternately and medians are compared. Tools that are not installed are listed.
//! None of the others logs the change, can undo it or checks it, and `jq` only prints the result.
//!
//! A second table shows how the cost of a command grows with the plan: the minimum of each size, all
//! sizes run alternately, against the limits, with the peak memory of the command.

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{alternate, is_wanted, run, state, statedir};

const SIZES: [usize; 3] = [10, 1_000, 10_000];

/// What is compared.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// The program starts and says its version.
    Start,
    /// An item is begun, and put back in the next round.
    Status,
    /// A line is added to a log.
    Note,
    /// The first item that is open.
    Next,
    /// The first twenty items.
    List,
}

const TASKS: [(Task, &str); 5] = [
    (Task::Start, "start (--version)"),
    (Task::Status, "change a status"),
    (Task::Note, "append a note"),
    (Task::Next, "next"),
    (Task::List, "list twenty"),
];

/// A tool and its files, with as many items as the plan has.
struct Peer {
    name: &'static str,
    /// Writes the items below a directory.
    prepare: fn(&Path, usize),
    /// Its arguments in round `n`; `None` where the tool has nothing of the kind.
    args: fn(Task, usize) -> Option<Vec<String>>,
}

const PEERS: [Peer; 5] = [
    Peer { name: "sqlite3", prepare: sqlite_items, args: sqlite_args },
    Peer { name: "task", prepare: task_items, args: task_args },
    Peer { name: "backlog", prepare: backlog_items, args: backlog_args },
    Peer { name: "git", prepare: git_items, args: git_args },
    Peer { name: "jq", prepare: jq_items, args: jq_args },
];

fn main() {
    if !is_wanted() {
        return;
    }
    let root = tempfile::tempdir().expect("a temporary directory");
    let (there, missing): (Vec<_>, Vec<_>) = PEERS.iter().partition(|peer| is_installed(peer.name));
    for peer in missing {
        println!("{}: missing here", peer.name);
    }
    println!("{:<18} {:>7} {:>12}  statedir / other", "", "items", "statedir");
    for items in SIZES {
        let dir = state(root.path(), &format!("plan-{items}"), items);
        let homes: Vec<PathBuf> = there
            .iter()
            .map(|peer| {
                let home = root.path().join(format!("{}-{items}", peer.name));
                fs::create_dir_all(&home).expect("a directory");
                (peer.prepare)(&home, items);
                home
            })
            .collect();
        for (task, name) in TASKS {
            let (mut own, mut ratios) = (Duration::ZERO, Vec::new());
            for (peer, home) in there.iter().zip(&homes) {
                if (peer.args)(task, 0).is_none() {
                    continue;
                }
                let (mut ours, mut theirs) = (0, 0);
                // A program that takes a second is not run forty times.
                let rounds = if items > 1_000 || peer.name == "backlog" { 10 } else { 40 };
                let (this, that) = alternate(
                    rounds,
                    || next_round(&mut ours, |round| perform(&dir, task, round)),
                    || {
                        next_round(&mut theirs, |round| {
                            call(home, peer.name, &(peer.args)(task, round).unwrap_or_default())
                        })
                    },
                );
                own = this;
                let ratio = this.as_secs_f64() / that.as_secs_f64();
                ratios.push(format!("{} {ratio:.2}", peer.name));
            }
            let own = own.as_secs_f64() * 1e3;
            println!("{name:<18} {items:>7} {own:>9.2} ms  {}", ratios.join("  "));
        }
    }
    growth(root.path());
}

/// How often a command of the second table is run for each size.
const ROUNDS: usize = 30;

/// The commands whose cost should follow what they touch; `step start` prepares the third.
const GROWING: [&[&str]; 5] = [
    &["step", "next"],
    &["step", "show", "5"],
    &["step", "done", "5", "--force"],
    &["brief"],
    &["status"],
];

/// How much more a command may cost at 1,000 and at 10,000 steps than at 10, and its memory in MB.
const LIMITS: [f64; 2] = [1.5, 4.0];
const MOST_MEMORY: f64 = 32.0;

fn growth(root: &Path) {
    let dirs = SIZES.map(|items| state(root, &format!("grown-{items}"), items));
    println!("\n{:<18} {:>10} {:>14} {:>14} {:>10}", "", "10 steps", "1,000", "10,000", "memory");
    for args in GROWING {
        let mut least = [Duration::MAX; 3];
        for _ in 0..ROUNDS {
            for (dir, least) in dirs.iter().zip(&mut least) {
                if args[1..].first() == Some(&"done") {
                    run(statedir(), dir, &["step", "reset", "5", "--force"]);
                    run(statedir(), dir, &["step", "start", "5"]);
                }
                *least = (*least).min(run(statedir(), dir, args));
            }
        }
        let ratios = [1, 2].map(|at| least[at].as_secs_f64() / least[0].as_secs_f64());
        let memory = memory(&dirs[2], args);
        let shown: Vec<String> = ratios
            .iter()
            .zip(LIMITS)
            .map(|(ratio, limit)| format!("{ratio:>6.2} {}", verdict(*ratio <= limit)))
            .collect();
        let name = args.join(" ");
        println!(
            "{name:<18} {:>7.2} ms {:>14} {:>14} {}",
            least[0].as_secs_f64() * 1e3,
            shown[0],
            shown[1],
            memory.map_or("unknown".to_owned(), |mb| format!(
                "{mb:>5.1} MB {}",
                verdict(mb < MOST_MEMORY)
            )),
        );
    }
}

fn verdict(holds: bool) -> &'static str {
    if holds { "OK" } else { "over" }
}

/// The peak memory of a command in MB, measured by GNU `time`.
fn memory(dir: &Path, args: &[&str]) -> Option<f64> {
    if args.contains(&"done") {
        run(statedir(), dir, &["step", "reset", "5", "--force"]);
        run(statedir(), dir, &["step", "start", "5"]);
    }
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M", statedir()]).args(args).current_dir(dir);
    command.env("STATEDIR_ACTOR", "bench").env_remove("STATEDIR").stdin(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stderr);
    let kilobytes: f64 = text.lines().last()?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

fn next_round(round: &mut usize, mut act: impl FnMut(usize) -> Duration) -> Duration {
    *round += 1;
    act(*round)
}

fn perform(dir: &Path, task: Task, round: usize) -> Duration {
    let args: &[&str] = match task {
        Task::Start => &["--version"],
        Task::Status if round % 2 == 1 => &["step", "start", "5"],
        Task::Status => &["step", "reset", "5"],
        Task::Note => &["history", "add", "A note"],
        Task::Next => &["step", "next"],
        Task::List => &["step", "list", "--limit", "20"],
    };
    run(statedir(), dir, args)
}

fn call(home: &Path, name: &str, args: &[String]) -> Duration {
    let mut command = Command::new(name);
    command.args(args).current_dir(home);
    command.env("TASKRC", home.join("taskrc")).env("TASKDATA", home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status().expect("the program to start");
    let took = began.elapsed();
    assert!(status.success(), "{name} {args:?}");
    took
}

fn words<const N: usize>(args: [&str; N]) -> Vec<String> {
    args.map(str::to_owned).to_vec()
}

fn is_installed(name: &str) -> bool {
    let mut command = Command::new(name);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

fn write(home: &Path, name: &str, text: &str) {
    fs::write(home.join(name), text).expect("a file");
}

fn sqlite_items(home: &Path, items: usize) {
    let mut text = String::from(
        "create table steps(n integer primary key, title text, status text);\n\
         create table notes(text text);\nbegin;\n",
    );
    for n in 1..=items {
        text.push_str(&format!("insert into steps values({n}, 'Do part {n}', 'PENDING');\n"));
    }
    write(home, "items.sql", &(text + "commit;\n"));
    call(home, "sqlite3", &words(["state.db", ".read items.sql"]));
}

fn sqlite_args(task: Task, round: usize) -> Option<Vec<String>> {
    let status = if round % 2 == 1 { "RUNNING" } else { "PENDING" };
    let sql = match task {
        Task::Start => return Some(words(["--version"])),
        Task::Status => format!("update steps set status='{status}' where n=5"),
        Task::Note => "insert into notes values('A note')".to_owned(),
        Task::Next => "select * from steps where status='PENDING' order by n limit 1".to_owned(),
        Task::List => "select * from steps order by n limit 20".to_owned(),
    };
    Some(words(["state.db", &format!("pragma synchronous=full; {sql};")]))
}

fn task_items(home: &Path, items: usize) {
    write(home, "taskrc", "confirmation=no\nnews.version=9.9.9\nhooks=off\n");
    let task = |n: usize| serde_json::json!({ "description": format!("Do part {n}") });
    let tasks: Vec<_> = (1..=items).map(task).collect();
    write(home, "items.json", &serde_json::Value::from(tasks).to_string());
    call(home, "task", &words(["import", "items.json"]));
}

fn task_args(task: Task, round: usize) -> Option<Vec<String>> {
    Some(match task {
        Task::Start => words(["--version"]),
        Task::Status if round % 2 == 1 => words(["5", "start"]),
        Task::Status => words(["5", "stop"]),
        Task::Note => words(["5", "annotate", &format!("Note {round}")]),
        Task::Next => words(["limit:1", "next"]),
        Task::List => words(["limit:20", "list"]),
    })
}

/// Backlog.md, with a file for each task, as `backlog task create` writes them.
fn backlog_items(home: &Path, items: usize) {
    call(home, "git", &words(["init", "-q"]));
    fs::create_dir_all(home.join("backlog/tasks")).expect("a directory");
    let config = "project_name: \"bench\"\ndefault_status: \"To Do\"\n\
        statuses: [\"To Do\", \"In Progress\", \"Done\"]\nremote_operations: false\n\
        auto_commit: false\ncheck_active_branches: false\ntask_prefix: \"task\"\n";
    write(home, "backlog/config.yml", config);
    for n in 1..=items {
        let text = format!(
            "---\nid: TASK-{n}\ntitle: Do part {n}\nstatus: To Do\nassignee: []\n\
             created_date: '2026-01-31 12:00'\nlabels: []\ndependencies: []\nordinal: {n}000\n---\n\n"
        );
        write(home, &format!("backlog/tasks/task-{n} - Do-part-{n}.md"), &text);
    }
}

fn backlog_args(task: Task, round: usize) -> Option<Vec<String>> {
    let status = if round % 2 == 1 { "In Progress" } else { "To Do" };
    let first = ["task", "list", "--plain", "--sort", "id", "--limit"];
    Some(match task {
        Task::Start => words(["--version"]),
        Task::Status => words(["task", "edit", "5", "--status", status]),
        Task::Note => words(["task", "edit", "5", "--append-notes", "A note"]),
        Task::Next => [words(first), words(["1", "--status", "To Do"])].concat(),
        Task::List => [words(first), words(["20"])].concat(),
    })
}

fn git_items(home: &Path, items: usize) {
    let git = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        call(home, "git", &args)
    };
    git(&["init", "-q"]);
    git(&["config", "user.email", "a@b.c"]);
    git(&["config", "user.name", "a"]);
    let lines: String = (1..=items).map(|n| format!("PENDING Do part {n}\n")).collect();
    write(home, "items.txt", &lines);
    git(&["add", "items.txt"]);
    git(&["commit", "-qm", "items"]);
}

fn git_args(task: Task, round: usize) -> Option<Vec<String>> {
    match task {
        Task::Start => Some(words(["--version"])),
        Task::Note => {
            Some(words(["commit", "-q", "--allow-empty", "-m", &format!("Note {round}")]))
        }
        Task::Next => Some(words(["grep", "-m1", "-n", "PENDING"])),
        Task::Status | Task::List => None,
    }
}

fn jq_items(home: &Path, items: usize) {
    let item =
        |n: usize| serde_json::json!({ "title": format!("Do part {n}"), "status": "PENDING" });
    let all: Vec<_> = (1..=items).map(item).collect();
    write(home, "items.json", &serde_json::Value::from(all).to_string());
}

fn jq_args(task: Task, round: usize) -> Option<Vec<String>> {
    let status = if round % 2 == 1 { "RUNNING" } else { "PENDING" };
    let filter = match task {
        Task::Start => return Some(words(["--version"])),
        Task::Status => format!(".[4].status = \"{status}\""),
        Task::Note => return None,
        Task::Next => "first(.[] | select(.status == \"PENDING\"))".to_owned(),
        Task::List => ".[:20]".to_owned(),
    };
    Some(words([&filter, "items.json"]))
}
