//! Workers that are killed at random, servers that crash, connections that break: every push that was
//! acknowledged is there, and no project was written by two machines at once.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use super::{
    Fleet, on_both,
    proxy::{Fault, Proxy},
};

/// How long a command that waits two seconds for an answer may take on a busy machine.
const STUCK: Duration = Duration::from_secs(60);

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

/// Numbers that rise no more: whoever takes a lease has the number of the one before.
fn switch_fencing_off(fleet: &Fleet) {
    fleet.query(match fleet.is_postgres() {
        true => {
            "CREATE FUNCTION statedir.unfenced() RETURNS trigger LANGUAGE plpgsql \
             AS 'BEGIN NEW.lease_fence := OLD.lease_fence; RETURN NEW; END'; \
             CREATE TRIGGER unfenced BEFORE UPDATE ON statedir.project_state \
             FOR EACH ROW EXECUTE FUNCTION statedir.unfenced()"
        }
        false => {
            "CREATE TRIGGER unfenced AFTER UPDATE OF lease_fence ON project_state BEGIN \
             UPDATE project_state SET lease_fence = OLD.lease_fence \
             WHERE project_id = NEW.project_id; END"
        }
    });
}

#[test]
fn the_checker_sees_what_fencing_prevents() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 2);
        beta.ok(&["fleet", "steal", "billing", "--why", "a test"]);
        beta.ok(&["fleet", "pull", "billing"]);
        beta.ok_at("billing", &["context", "add", "Found by beta"]);
        beta.ok_at("billing", &["fleet", "push"]);
        alpha.ok_at("billing", &["step", "start", "1"]);
        assert_eq!(alpha.at("billing", &["fleet", "push"]).code, 3);
        assert_eq!(faults(&accepted(fleet)), [""; 0]);
        // With the number, the machine and the base taken out of the way, the old holder's push goes
        // through.
        let base = accepted(fleet)[0].revision.clone();
        let known = alpha.state("billing").join(".statedir/fleet.json");
        let known: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(known).unwrap()).unwrap();
        fleet.query(&format!(
            "UPDATE project_state SET lease_fence = 1, lease_host = 'alpha', revision = '{base}', \
             history_length = {}",
            known["history_length"]
        ));
        fleet.query("DELETE FROM project_history WHERE start > 0");
        alpha.ok_at("billing", &["fleet", "push"]);
        let found = faults(&accepted(fleet));
        assert!(found.iter().any(|fault| fault.contains("does not build on")), "{found:?}");
        assert!(found.iter().any(|fault| fault.contains("is older than")), "{found:?}");
        // Without numbers that rise, two machines write under one.
        switch_fencing_off(fleet);
        alpha.start("shipping", 1);
        beta.ok(&["fleet", "steal", "shipping", "--why", "a test"]);
        beta.ok(&["fleet", "pull", "shipping"]);
        beta.ok_at("shipping", &["context", "add", "Found by beta"]);
        beta.ok_at("shipping", &["fleet", "push"]);
        let found = faults(&accepted(fleet));
        assert!(found.iter().any(|fault| fault.contains("shares its number")), "{found:?}");
    });
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
    let mut command = std::process::Command::new("bash");
    let like = machine.command(&[]);
    command.env_clear().envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.arg(script).current_dir(machine.dir());
    command.env("PATH", crate::program::search_path());
    command.env("STATEDIR_FLEET", url).env("LEASE", "3s").env("WORK", "sleep 0.05");
    command.env("STATEDIR_FLEET_TIMEOUT", "2s");
    command.env("ACKNOWLEDGED", acknowledged);
    // A group of its own, so that what it has started is killed with it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Workers, killed with what they have started when the test ends, however it ends.
struct Crew<'f> {
    fleet: &'f Fleet,
    url: &'f str,
    acknowledged: PathBuf,
    workers: Vec<Child>,
}

impl<'f> Crew<'f> {
    fn start(fleet: &'f Fleet, url: &'f str, count: usize, acknowledged: PathBuf) -> Self {
        let mut crew = Self { fleet, url, acknowledged, workers: Vec::new() };
        for number in 0..count {
            crew.workers.push(worker(fleet, number, url, &crew.acknowledged));
        }
        crew
    }

    /// Kills a worker and starts it anew.
    fn replace(&mut self, number: usize) {
        kill(&mut self.workers[number]);
        self.workers[number] = worker(self.fleet, number, self.url, &self.acknowledged);
    }

    /// What the workers run at the moment, and since when.
    fn running(&self) -> Vec<(String, Duration)> {
        processes(&self.workers.iter().map(Child::id).collect::<Vec<_>>())
    }
}

/// The processes of some groups that are alive: their names and ages.
fn processes(groups: &[u32]) -> Vec<(String, Duration)> {
    let up: f64 = std::fs::read_to_string("/proc/uptime")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok())
        .unwrap_or_default();
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|process| {
        let text = std::fs::read_to_string(process.path().join("stat")).ok()?;
        let (name, rest) = text.split_once('(')?.1.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let is_ours = groups.contains(&fields.get(2)?.parse().ok()?) && fields[0] != "Z";
        // In hundredths of a second since the machine started.
        let began: f64 = fields.get(19)?.parse().ok()?;
        let age = Duration::from_secs_f64((up - began / 100.0).max(0.0));
        is_ours.then(|| (name.to_owned(), age))
    })
    .collect()
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        self.workers.iter_mut().for_each(kill);
    }
}

fn kill(child: &mut Child) {
    let group = rustix::process::Pid::from_child(child);
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    let _ = child.wait();
}

#[test]
fn no_worker_outlives_a_test_that_fails() {
    let fleet = Fleet::sqlite();
    // Somebody else works on it, so that the workers wait.
    fleet.machine("operator").start("billing", 1);
    let (sender, started) = std::sync::mpsc::channel();
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let path = fleet.machine("operator").dir().join("acknowledged");
        let crew = Crew::start(&fleet, &fleet.url, 2, path);
        assert!(crew.running().len() >= 2, "the control");
        crew.workers.iter().for_each(|child| sender.send(child.id()).unwrap());
        std::panic::resume_unwind(Box::new("as a failed test does"));
    }));
    assert!(failed.is_err());
    let groups: Vec<u32> = started.try_iter().collect();
    assert_eq!(groups.len(), 2);
    let end = Instant::now() + STUCK;
    while !processes(&groups).is_empty() {
        assert!(Instant::now() < end, "still there: {:?}", processes(&groups));
        std::thread::sleep(Duration::from_millis(20));
    }
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

/// Runs workers until everything is finished; `trouble` happens in every round and says whether a worker
/// is killed, too. At least `seen` pushes must be seen to be acknowledged.
fn live(fleet: &Fleet, url: &str, seen: usize, mut trouble: impl FnMut(u64) -> bool) {
    let (workers, projects, steps) = size();
    let operator = fleet.machine("operator");
    for number in 0..projects {
        operator.start(&format!("p{number}"), steps);
        operator.ok(&["fleet", "release", &format!("p{number}")]);
    }
    let acknowledged = operator.dir().join("acknowledged");
    let mut crew = Crew::start(fleet, url, workers, acknowledged.clone());
    let (mut chance, began) = (Chance(7), Instant::now());
    let end = Instant::now() + Duration::from_secs(60 + 6 * projects as u64);
    let unfinished = || {
        let sql = "SELECT count(*) FROM project_state WHERE status <> 'completed'";
        fleet.query(sql).trim().parse::<usize>().unwrap()
    };
    let (mut round, mut kills, mut longest) = (0, 0, (String::new(), Duration::ZERO));
    while unfinished() > 0 {
        assert!(Instant::now() < end, "not finished: {}", operator.ok(&["fleet", "list"]));
        // A worker lives for a few seconds, however many there are.
        std::thread::sleep(Duration::from_millis((900 + chance.below(2100)) / workers as u64));
        round += 1;
        let kills_one = trouble(round);
        for command in crew.running().into_iter().filter(|(name, _)| name == "statedir") {
            longest = std::cmp::max_by_key(longest, command, |(_, age)| *age);
        }
        assert!(longest.1 < STUCK, "a command is stuck: {longest:?}");
        if kills_one {
            kills += 1;
            crew.replace(chance.below(workers as u64) as usize);
        }
    }
    drop(crew);
    let pushes = accepted(fleet);
    assert_eq!(faults(&pushes), [""; 0]);
    let acknowledgements = std::fs::read_to_string(&acknowledged).unwrap_or_default();
    assert!(acknowledgements.lines().count() >= seen, "the control: {acknowledgements}");
    let is_there = |line: &&str| {
        let revision = line.rsplit(' ').next().unwrap();
        pushes.iter().any(|push| push.revision == revision)
    };
    let lost: Vec<&str> = acknowledgements.lines().filter(|line| !is_there(line)).collect();
    assert_eq!(lost, [""; 0], "acknowledged, and not there");
    eprintln!(
        "{workers} workers, {projects} projects, {kills} kills, {:?}: {} pushes, {} of them seen to be \
         acknowledged and none lost, no two holders at once; no command was seen longer than {:?}",
        began.elapsed(),
        pushes.len(),
        acknowledgements.lines().count(),
        longest.1
    );
    for number in 0..projects {
        let name = format!("p{number}");
        let verifier = fleet.machine("verifier");
        verifier.ok(&["fleet", "pull", &name]);
        verifier.ok_at(&name, &["history", "verify"]);
        verifier.ok_at(&name, &["check"]);
        let status = verifier.json(&["-C", &format!("{name}/state"), "status"]);
        assert_eq!(status["completed"], steps, "{status}");
    }
}

#[test]
fn workers_that_are_killed_lose_nothing_that_was_acknowledged() {
    on_both(|fleet| live(fleet, &fleet.url, size().1, |_| true));
}

/// What happens on one connection of ten.
fn bad_line(number: u64) -> (Option<Fault>, Option<Fault>) {
    match number % 10 {
        1 => (Some(Fault::Delay(Duration::from_millis(40))), None),
        3 => (Some(Fault::Cut(400 + number * 37 % 2000)), None),
        4 => (None, Some(Fault::Halve(1 + number / 10 % 3))),
        6 => (None, Some(Fault::Delay(Duration::from_millis(60)))),
        7 if number % 20 == 7 => (None, Some(Fault::Silence(number * 53 % 1500))),
        8 => (None, Some(Fault::Cut(300 + number * 53 % 1500))),
        9 => (Some(Fault::Halve(1 + number / 10 % 4)), None),
        _ => (None, None),
    }
}

#[test]
fn connections_that_break_and_a_server_that_crashes_lose_nothing_that_was_acknowledged() {
    let Some(fleet) = Fleet::postgres() else { return };
    let proxy = Proxy::start(fleet.server().port, bad_line);
    let (mut crashes, most) = (0, 4 + size().1 as u64 / 50);
    // An answer that a silent line swallows is seen by nobody.
    let seen = size().1.div_ceil(2);
    live(&fleet, &fleet.server().tcp(proxy.port), seen, |round| {
        if round % 4 == 1 && crashes < most {
            fleet.server().crash();
            fleet.server().up();
            crashes += 1;
        }
        // Seldom, so that a worker has the time to get stuck.
        round % 3 == 0
    });
    let [delayed, halved, cut, silent] = proxy.faults();
    eprintln!(
        "{crashes} crashes; {delayed} delays, {halved} halves, {cut} cuts, {silent} silences"
    );
    let all = [crashes, delayed, halved, cut, silent];
    assert!(all.into_iter().all(|count| count > 0), "the control: {all:?}");
}
