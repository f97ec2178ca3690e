//! A database that does not answer: no command waits longer than its limit, and nothing is lost.

use std::{
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use super::{
    Fleet, Machine, bytes,
    proxy::{Fault, Proxy},
};

/// How long a command that does not hang may take on a busy machine.
const BOUND: Duration = Duration::from_secs(60);
/// The time limit of the commands.
const TIME_OUT: &str = "700ms";

/// How a command ended, if it did.
fn ended(child: &mut Child, within: Duration) -> Option<i32> {
    let end = Instant::now() + within;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.code().unwrap_or(-1));
        }
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn begin(machine: &Machine<'_>, url: &str, patience: &str, args: &[&str]) -> Child {
    let mut command = machine.command(args);
    command.env("STATEDIR_FLEET", url).env("STATEDIR_FLEET_TIMEOUT", patience);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Every command that asks the database, about a project `p`.
const COMMANDS: [&[&str]; 14] = [
    &["fleet", "init"],
    &["fleet", "list"],
    &["fleet", "status"],
    &["fleet", "show", "p"],
    &["fleet", "metrics"],
    &["-C", "p/state", "fleet", "push"],
    &["-C", "p/state", "fleet", "join"],
    &["fleet", "pull", "p", "elsewhere"],
    &["fleet", "claim", "p"],
    &["fleet", "claim", "--next"],
    &["fleet", "release", "p"],
    &["fleet", "recover", "--all", "--apply"],
    &["fleet", "agent", "--once"],
    &["fleet", "watch", "--for", "1h"],
];

/// The machine on which a server falls silent after so many bytes of its answers.
fn silenced(fleet: &Fleet, limit: u64) {
    let proxy = Proxy::start(fleet.server().port, move |_| (None, Some(Fault::Silence(limit))));
    let url = fleet.server().tcp(proxy.port);
    let machine = fleet.machine(&format!("after{limit}"));
    let mut silences = 0;
    for args in COMMANDS {
        let named = |word: &&str| match *word {
            "p" => format!("p{limit}"),
            "p/state" => format!("p{limit}/state"),
            other => other.to_owned(),
        };
        let words: Vec<String> = args.iter().map(named).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut child = begin(&machine, &url, TIME_OUT, &words);
        let code = ended(&mut child, BOUND);
        let silent = proxy.faults()[3];
        // Whoever got a whole answer before the silence has done its work.
        let fits = if silent > silences { code == Some(3) } else { code.is_some() };
        assert!(fits, "{args:?}, silent after {limit} bytes: {code:?}");
        silences = silent;
    }
    assert!(silences > 0, "the control: nobody met the silence after {limit} bytes");
}

#[test]
fn a_server_that_falls_silent_holds_no_command_longer_than_its_time_out() {
    let Some(fleet) = Fleet::postgres() else { return };
    let limits = [0, 300, 600, 1000];
    let all = limits.map(|limit| (fleet.machine(&format!("after{limit}")), format!("p{limit}")));
    for (machine, project) in &all {
        machine.start(project, 2);
        machine.ok_at(project, &["step", "start", "1"]);
    }
    let before = all.each_ref().map(|(machine, project)| bytes(&machine.state(project)));
    std::thread::scope(|scope| {
        for limit in limits {
            let fleet = &fleet;
            scope.spawn(move || silenced(fleet, limit));
        }
    });
    // The control: with more patience they would still wait.
    let proxy = Proxy::start(fleet.server().port, |_| (None, Some(Fault::Silence(600))));
    let url = fleet.server().tcp(proxy.port);
    let mut child = begin(&all[0].0, &url, "1h", &["fleet", "list"]);
    assert_eq!(ended(&mut child, Duration::from_secs(4)), None);
    // Nothing was changed here, and what was not answered is settled once the server speaks.
    for ((machine, project), before) in all.iter().zip(before) {
        assert_eq!(bytes(&machine.state(project)), before);
        // Whoever got as far as to claim it has given it up.
        machine.ok(&["fleet", "steal", project, "--why", "the line is good again"]);
        machine.ok_at(project, &["fleet", "push"]);
        let verifier = fleet.machine("verifier");
        verifier.ok(&["fleet", "pull", project]);
        assert_eq!(bytes(&verifier.state(project)), bytes(&machine.state(project)));
    }
}

#[test]
fn a_file_that_is_locked_holds_no_command_longer_than_its_time_out() {
    let fleet = Fleet::sqlite();
    let alpha = fleet.machine("alpha");
    alpha.start("billing", 2);
    alpha.ok_at("billing", &["step", "start", "1"]);
    let file = fleet.url.strip_prefix("sqlite:").unwrap();
    let held = alpha.dir().join("held");
    let mut holder = std::process::Command::new("sqlite3");
    holder.args([
        file,
        "BEGIN IMMEDIATE",
        &format!(".shell touch {}; exec sleep 600", held.display()),
    ]);
    std::os::unix::process::CommandExt::process_group(&mut holder, 0);
    let mut holder = holder.spawn().unwrap();
    let end = Instant::now() + BOUND;
    while !held.exists() {
        assert!(Instant::now() < end, "the file was not locked");
        std::thread::sleep(Duration::from_millis(20));
    }
    let push: &[&str] = &["-C", "billing/state", "fleet", "push"];
    let waiting = ended(&mut begin(&alpha, &fleet.url, "1h", push), Duration::from_secs(4));
    let refused = ended(&mut begin(&alpha, &fleet.url, TIME_OUT, push), BOUND);
    let group = rustix::process::Pid::from_child(&holder);
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    let _ = holder.wait();
    assert_eq!(waiting, None, "the control: with more patience it would still wait");
    assert_eq!(refused, Some(3));
    alpha.ok_at("billing", &["fleet", "push"]);
}

#[test]
fn a_time_out_that_is_none_is_refused() {
    let fleet = Fleet::sqlite();
    let alpha = fleet.machine("alpha");
    for wrong in ["soon", "0s", "-1"] {
        let output =
            alpha.command(&["fleet", "list"]).env("STATEDIR_FLEET_TIMEOUT", wrong).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(1), "{wrong}: {output:?}");
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(printed.contains("STATEDIR_FLEET_TIMEOUT=30s"), "{printed}");
    }
}

/// Stops a push where it has locked its project and waits for an answer, as a machine that is put to
/// sleep: the connection stays open.
#[expect(
    clippy::zombie_processes,
    reason = "whoever asked for it ends it; a failed test ends both"
)]
fn asleep_in_a_push(alpha: &Machine<'_>, patience: &str, proxy: &Proxy) -> Child {
    let fleet = alpha.fleet;
    let url = fleet.server().tcp(proxy.port);
    let child = begin(alpha, &url, patience, &["-C", "billing/state", "fleet", "push"]);
    let pid = rustix::process::Pid::from_child(&child);
    let locked = || {
        let sql = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) \
                   WHERE state = 'idle in transaction' AND mode = 'RowShareLock' \
                   AND relation = 'statedir.project_state'::regclass";
        fleet.query(sql).trim() != "0"
    };
    let end = Instant::now() + BOUND;
    loop {
        assert!(Instant::now() < end, "the push was never caught in the middle");
        if locked() {
            rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
            // It may just have continued.
            std::thread::sleep(Duration::from_millis(1200));
            if locked() {
                return child;
            }
            rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_machine_that_falls_asleep_in_a_push_keeps_nobody_from_its_project() {
    let Some(fleet) = Fleet::postgres() else { return };
    let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
    alpha.start("billing", 1);
    // A history that takes more than one statement, on a line with slow answers.
    let history = alpha.state("billing").join("history.md");
    let mut text = std::fs::read_to_string(&history).unwrap();
    text.push_str(&"\nA line of a long history that is kept as it is.\n".repeat(200_000));
    std::fs::write(&history, text).unwrap();
    let late = Fault::Delay(Duration::from_secs(1));
    let proxy = Proxy::start(fleet.server().port, move |_| (None, Some(late)));
    let steal: &[&str] = &["fleet", "steal", "billing", "--why", "alpha sleeps"];
    // The control: one with more patience would keep its project locked.
    let mut asleep = asleep_in_a_push(&alpha, "1h", &proxy);
    assert_eq!(ended(&mut begin(&beta, &fleet.url, "3s", steal), BOUND), Some(3));
    asleep.kill().unwrap();
    asleep.wait().unwrap();
    let mut asleep = asleep_in_a_push(&alpha, "6s", &proxy);
    beta.ok(steal);
    let pid = rustix::process::Pid::from_child(&asleep);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    assert_eq!(ended(&mut asleep, BOUND), Some(3));
    assert_eq!(alpha.at("billing", &["fleet", "push"]).code, 3, "it is beta's now");
}
