//! `cargo xtask check`: everything that must hold before a change lands. `cargo xtask clients`: tests
//! with real clients. `cargo xtask prove`: the sweeps of the check at any size.

mod prove;
mod supply;
mod tools;

use std::process::{Command, ExitCode};

use tools::Audit;

/// A name, the arguments for cargo, and its environment.
type Step = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const STEPS: [Step; 6] = [
    ("format", &["fmt", "--all", "--check"], &[]),
    ("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
    // What docs/fleet.md and docs/looking.md promise to those who want less.
    ("build without features", &["check", "--no-default-features"], &[]),
    (
        "documentation",
        &["doc", "--no-deps", "--document-private-items"],
        &[("RUSTDOCFLAGS", "-D warnings")],
    ),
    ("tests", &["test", "--workspace"], &[]),
    (
        "tests under a lifecycle of other names",
        &[
            "test", "--test", "suite", "--",
            // Sweeps over bytes and system calls: they cost most of the time, and once is enough.
            "--skip", "faults::", "--skip", "power::", "--skip", "sweep", "--skip", "parallel::",
            "--skip", "fuzzed::", "--skip", "hostile_clones::", "--skip", "hostile::", "--skip",
            "mcp::frames", "--skip", "brief::every_brief", // Not about statuses.
            "--skip", "fleet::", "--skip", "hints::", "--skip", "browser::", "--skip",
            "documents::", "--skip", "layers::", "--skip", "completion::",
            // The same lifecycle in both runs, which a test in `lifecycle.rs` makes sure of.
            "--skip", "adopt::", "--skip", "brief_score::", "--skip", "layered_project::", "--skip",
            "templates::", "--skip", "ticket_project::", "--skip", "tickets::",
        ],
        &[("STATEDIR_TEST_LIFECYCLE", "renamed")],
    ),
];

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("check") => check(),
        Some("clients") => clients(),
        Some("prove") => prove::run(std::env::args().skip(2)),
        Some("licences") => supply::list_licences(),
        Some("reproducible") => supply::build_twice(&std::env::args().collect::<Vec<_>>()),
        _ => {
            eprintln!(
                "usage: cargo xtask check | clients [--client NAME]... [SCENARIO]... | prove [PART]... \
                 | licences | reproducible [--debug]"
            );
            ExitCode::from(2)
        }
    }
}

/// Runs real clients against scripted models, with the arguments after `clients`.
fn clients() -> ExitCode {
    let built = tools::cargo().args(["build", "--quiet", "--bin", "statedir"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return ExitCode::FAILURE;
    }
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let mut command = Command::new("python3");
    command
        .args(["-B", "tests/clients/run.py", "--statedir"])
        .arg(format!("{target}/debug/statedir"));
    command.arg("--prefix").arg(format!("{target}/clients")).args(std::env::args().skip(2));
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("python3 could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> ExitCode {
    if tools::is_ci() {
        tools::install_missing();
    }
    // The suite spends a third of its time waiting for disks, servers and clocks: run one test more.
    let threads = std::env::var("RUST_TEST_THREADS").unwrap_or_else(|_| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        (cores + 1).to_string()
    });
    for (name, args, environment) in STEPS {
        println!("==> {name}: cargo {}", args.join(" "));
        let mut command = tools::cargo();
        command.args(args).envs(environment.iter().copied()).env("RUST_TEST_THREADS", &threads);
        if tools::is_ci() {
            // A build from scratch gains nothing from what it could reuse next time.
            command.env("CARGO_INCREMENTAL", "0");
            // Nor does anybody open a debugger there; a panic names its line without this.
            command.env("CARGO_PROFILE_DEV_DEBUG", "0");
        }
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(_) => {
                eprintln!("==> {name} failed");
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("==> {name} could not be started: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    match tools::audit() {
        Audit::Passed => println!("==> everything holds"),
        Audit::Failed => {
            eprintln!("==> dependency audit failed");
            return ExitCode::FAILURE;
        }
        Audit::WithoutAdvisories => {
            println!("==> everything holds; advisories SKIPPED: their list could not be fetched");
        }
        Audit::Skipped => {
            println!("==> everything holds; dependency audit SKIPPED: cargo-deny is not installed");
            println!("    It is optional: `cargo install cargo-deny --locked` adds it.");
        }
    }
    ExitCode::SUCCESS
}
