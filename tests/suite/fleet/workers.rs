//! Workers that are killed at random, servers that crash, connections that break: every push that was
//! acknowledged is there, and no project was written by two machines at once.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use super::{
    Fleet, on_both,
    proxy::{Fault, Proxy},
};

/// One accepted push.
#[derive(Clone, Debug)]
struct Accepted {
    project: String,
    fence: i64,
    host: String,
    base: String,
    revision: String,
}

fn accepted(fleet: &Fleet) -> Vec<Accepted> {
    let sql = "SELECT project_id, fence, host, base, revision FROM project_push ORDER BY sequence";
    let text = fleet.query(sql);
    let read = |line: &str| {
        let mut columns = line.split('|').map(str::to_owned);
        let mut next = || columns.next().unwrap();
        Accepted {
            project: next(),
            fence: next().parse().unwrap(),
            host: next(),
            base: next(),
            revision: next(),
        }
    };
    text.lines().map(read).collect()
}

/// What is wrong with the pushes of a fleet: nothing, if every one built on the one before, fencing
/// numbers only rose, and no number served two machines.
fn faults(pushes: &[Accepted]) -> Vec<String> {
    let mut last: BTreeMap<&str, &Accepted> = BTreeMap::new();
    let mut faults = Vec::new();
    for push in pushes {
        if let Some(before) = last.insert(&push.project, push) {
            if push.base != before.revision {
                faults.push(format!("{push:?} does not build on {before:?}"));
            }
            if push.fence < before.fence {
                faults.push(format!("{push:?} is older than {before:?}"));
            }
            if push.fence == before.fence && push.host != before.host {
                faults.push(format!("{push:?} shares its number with {before:?}"));
            }
        }
    }
    faults
}

#[test]
fn the_checker_sees_what_fencing_prevents() {
    let fleet = Fleet::sqlite();
    let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
    alpha.start("billing", 2);
    beta.ok(&["fleet", "steal", "billing", "--why", "a test"]);
    beta.ok(&["fleet", "pull", "billing"]);
    beta.ok_at("billing", &["context", "add", "Found by beta"]);
    beta.ok_at("billing", &["fleet", "push"]);
    alpha.ok_at("billing", &["step", "start", "1"]);
    assert_eq!(alpha.at("billing", &["fleet", "push"]).code, 3);
    assert_eq!(faults(&accepted(&fleet)), [""; 0]);
    // With the fencing number and the base taken out of the way, the old holder's push goes through.
    let base = accepted(&fleet)[0].revision.clone();
    let length =
        std::fs::read_to_string(alpha.state("billing").join(".statedir/fleet.json")).unwrap();
    let known: serde_json::Value = serde_json::from_str(&length).unwrap();
    fleet.query(&format!(
        "UPDATE project_state SET lease_fence = 1, lease_host = 'alpha', revision = '{base}', \
         history_length = {}",
        known["history_length"]
    ));
    fleet.query("DELETE FROM project_history WHERE start > 0");
    alpha.ok_at("billing", &["fleet", "push"]);
    assert!(!faults(&accepted(&fleet)).is_empty(), "the control");
}

/// How large the run is: workers, projects, steps of each.
fn size() -> (usize, usize, usize) {
    let given = |name: &str, usual: usize| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    (given("STATEDIR_FLEET_WORKERS", 3), given("STATEDIR_FLEET_PROJECTS", 4), 2)
}

fn worker(fleet: &Fleet, number: usize, url: &str, acknowledged: &Path) -> Child {
    let machine = fleet.machine(&format!("worker{number}"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet-worker.sh");
    let program = Path::new(env!("CARGO_BIN_EXE_statedir")).parent().unwrap().to_owned();
    let paths =
        [vec![program], std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect()];
    let mut command = std::process::Command::new("bash");
    let like = machine.command(&[]);
    command.env_clear().envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.arg(script).current_dir(machine.dir());
    command.env("PATH", std::env::join_paths(paths.concat()).unwrap());
    command.env("STATEDIR_FLEET", url).env("LEASE", "3s").env("WORK", "sleep 0.05");
    command.env("ACKNOWLEDGED", acknowledged);
    // A group of its own, so that what it has started is killed with it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn kill(child: &mut Child) {
    let group = rustix::process::Pid::from_child(child);
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    let _ = child.wait();
}

/// A generator of numbers that is the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Runs workers until everything is finished; `trouble` happens between two kills.
fn live(fleet: &Fleet, url: &str, mut trouble: impl FnMut(u64)) {
    let (workers, projects, steps) = size();
    let operator = fleet.machine("operator");
    for number in 0..projects {
        operator.start(&format!("p{number}"), steps);
        operator.ok(&["fleet", "release", &format!("p{number}")]);
    }
    let acknowledged = operator.dir().join("acknowledged");
    let mut children: Vec<Child> =
        (0..workers).map(|number| worker(fleet, number, url, &acknowledged)).collect();
    let (mut chance, began) = (Chance(7), Instant::now());
    let end = Instant::now() + Duration::from_secs(60 + 6 * projects as u64);
    let unfinished = || {
        let sql = "SELECT count(*) FROM project_state WHERE status <> 'completed'";
        fleet.query(sql).trim().parse::<usize>().unwrap()
    };
    let mut round = 0;
    while unfinished() > 0 {
        assert!(Instant::now() < end, "not finished: {}", operator.ok(&["fleet", "list"]));
        std::thread::sleep(Duration::from_millis(300 + chance.below(700)));
        round += 1;
        trouble(round);
        let victim = chance.below(workers as u64) as usize;
        kill(&mut children[victim]);
        children[victim] = worker(fleet, victim, url, &acknowledged);
    }
    children.iter_mut().for_each(kill);
    let pushes = accepted(fleet);
    assert_eq!(faults(&pushes), [""; 0]);
    let said = std::fs::read_to_string(&acknowledged).unwrap_or_default();
    assert!(said.lines().count() >= projects, "{said}");
    let is_there = |line: &&str| {
        let revision = line.rsplit(' ').next().unwrap();
        pushes.iter().any(|push| push.revision == revision)
    };
    let lost: Vec<&str> = said.lines().filter(|line| !is_there(line)).collect();
    assert_eq!(lost, [""; 0], "acknowledged, and not there");
    eprintln!(
        "{workers} workers, {projects} projects, {round} kills, {:?}: {} pushes, {} of them seen to be \
         acknowledged and none lost, no two holders at once",
        began.elapsed(),
        pushes.len(),
        said.lines().count()
    );
    for number in 0..projects {
        let name = format!("p{number}");
        let judge = fleet.machine("judge");
        judge.ok(&["fleet", "pull", &name]);
        judge.ok_at(&name, &["history", "verify"]);
        judge.ok_at(&name, &["check"]);
        let status = judge.json(&["-C", &format!("{name}/state"), "status"]);
        assert_eq!(status["completed"], steps, "{status}");
    }
}

#[test]
fn workers_that_are_killed_lose_nothing_that_was_acknowledged() {
    on_both(|fleet| live(fleet, &fleet.url, |_| ()));
}

/// What happens on one connection of ten.
fn bad_line(number: u64) -> (Option<Fault>, Option<Fault>) {
    match number % 10 {
        1 => (Some(Fault::Delay(Duration::from_millis(40))), None),
        3 => (Some(Fault::Cut(400 + number * 37 % 2000)), None),
        4 => (None, Some(Fault::Halve(1 + number / 10 % 3))),
        6 => (None, Some(Fault::Delay(Duration::from_millis(60)))),
        8 => (None, Some(Fault::Cut(300 + number * 53 % 1500))),
        9 => (Some(Fault::Halve(1 + number / 10 % 4)), None),
        _ => (None, None),
    }
}

#[test]
fn connections_that_break_and_a_server_that_crashes_lose_nothing_that_was_acknowledged() {
    let Some(fleet) = Fleet::postgres() else { return };
    let proxy = Proxy::start(fleet.server().port, bad_line);
    let mut crashes = 0;
    live(&fleet, &fleet.server().tcp(proxy.port), |round| {
        if round % 4 == 1 && crashes < 8 {
            fleet.server().crash();
            fleet.server().up();
            crashes += 1;
        }
    });
    let [delayed, halved, cut, _] = proxy.faults();
    eprintln!("{crashes} crashes; {delayed} delays, {halved} halves, {cut} cuts");
    assert!(crashes > 0 && delayed > 0 && halved > 0 && cut > 0, "the control");
}
