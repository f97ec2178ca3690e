//! What a fleet costs: a push whatever the history's size, a list beside the bare query, claims of many
//! workers at once.
//!
//! `cargo bench --bench fleet` starts a PostgreSQL of its own. `STATEDIR_BENCH_HISTORY` is the size of the
//! long history in MiB (1,024 if not set).

mod common;
#[path = "../tests/suite/needs.rs"]
#[allow(dead_code, reason = "the benchmark asks for one thing only")]
mod needs;
#[path = "../tests/suite/fleet/server.rs"]
#[allow(dead_code, reason = "the benchmark does not crash it")]
mod server;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{alternate, is_wanted, report, state, statedir, title};
use server::{FLEET, Server};

/// How many workers claim at once, and how often each does.
const WORKERS: usize = 32;
const CLAIMS: usize = 10;

fn main() {
    if !is_wanted() {
        return;
    }
    let Some(server) = Server::start() else { return };
    let root = tempfile::tempdir().expect("a temporary directory");
    let fleet = Fleet { root: root.path().to_owned(), url: server.url(FLEET) };
    fleet.run(&fleet.root, &["fleet", "init"]);
    title();
    push(&fleet);
    list(&fleet, &server);
    claims(&fleet, &server);
}

struct Fleet {
    root: PathBuf,
    url: String,
}

impl Fleet {
    fn command(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(statedir());
        command.args(args).current_dir(dir).env_remove("STATEDIR");
        command.env("STATEDIR_FLEET", &self.url).env("STATEDIR_HOST", "bench");
        command.env("XDG_STATE_HOME", self.root.join("own"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn run(&self, dir: &Path, args: &[&str]) -> Duration {
        let began = Instant::now();
        let status = self.command(dir, args).status().expect("the program to start");
        assert!(status.success(), "{args:?}");
        began.elapsed()
    }
}

fn push(fleet: &Fleet) {
    let mib: usize = std::env::var("STATEDIR_BENCH_HISTORY")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1024);
    let (long, short) = (state(&fleet.root, "long", 20), state(&fleet.root, "short", 20));
    let history = fs::OpenOptions::new().append(true).open(long.join("workspace/state/history.md"));
    let mut history = history.expect("a history");
    let block =
        "A line of prose that stands in a long history and is never read again.\n".repeat(14_769);
    for _ in 0..mib {
        history.write_all(block.as_bytes()).expect("room on the disk");
    }
    drop(history);
    for dir in [&long, &short] {
        fleet.run(dir, &["step", "start", "1"]);
        fleet.run(dir, &["fleet", "join"]);
    }
    let one = |dir: &Path| {
        fleet.run(dir, &["history", "add", "One more round"]);
        fleet.run(dir, &["fleet", "push"])
    };
    let pair = alternate(30, || one(&long), || one(&short));
    report(&format!("push, history of {mib} MiB / 1 KiB"), pair, 1.2);
}

fn list(fleet: &Fleet, server: &Server) {
    server.query(
        FLEET,
        "INSERT INTO statedir.project_state SELECT 'id' || n, 'name' || n, status, current_task_id, \
         current_agent_id, last_action, metadata, '{}', revision, 0, '', 0, now(), now(), '', 0, now() \
         FROM statedir.project_state, generate_series(1, 10000) n WHERE name = \
         (SELECT min(name) FROM statedir.project_state)",
    );
    server.query(FLEET, "ANALYZE statedir.project_state");
    let sql = "SELECT project_id, name, status, current_task_id, current_agent_id, last_action, metadata, \
               revision, updated_at, heard_at, lease_host, lease_fence, lease_until \
               FROM statedir.project_state ORDER BY status, updated_at DESC, name";
    let pair = alternate(
        20,
        || fleet.run(&fleet.root, &["fleet", "list"]),
        || {
            let began = Instant::now();
            server.query(FLEET, sql);
            began.elapsed()
        },
    );
    report("list of 10,000 projects / psql", pair, 1.5);
}

fn claims(fleet: &Fleet, server: &Server) {
    let free = "UPDATE statedir.project_state SET lease_until = to_timestamp(0), lease_host = ''";
    let bare = "UPDATE statedir.project_state SET lease_until = now() + interval '5 min', lease_host = 'x' \
                WHERE project_id = (SELECT project_id FROM statedir.project_state WHERE lease_host = '' \
                ORDER BY updated_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING project_id";
    let at_once = |one: &(dyn Fn() + Sync)| {
        server.query(FLEET, free);
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| (0..CLAIMS).for_each(|_| one()));
            }
        });
        began.elapsed()
    };
    let claim = || {
        fleet.run(&fleet.root, &["fleet", "claim", "--next"]);
    };
    let psql = || {
        server.query(FLEET, bare);
    };
    let pair = alternate(3, || at_once(&claim), || at_once(&psql));
    report(&format!("{} claims by {WORKERS} workers / psql", WORKERS * CLAIMS), pair, 1.5);
    let per_second = (WORKERS * CLAIMS) as f64 / pair.0.as_secs_f64();
    println!("{per_second:.0} claims a second");
}
