//! Many processes at once: nothing is lost, nothing happens twice, readers never see a half.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    builder::{Project, Ran},
    needs,
    random::Random,
    sweep_size::Slice,
};

const PROCESSES: usize = 8;

/// Runs a function on so many threads at once and gives what each returned.
fn together<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = std::sync::Barrier::new(count);
    std::thread::scope(|scope| {
        let start = |n| {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                barrier.wait();
                work(n)
            })
        };
        let threads: Vec<_> = (0..count).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Repeats a command as long as it says that it is safe to be repeated.
fn insist(project: &Project, args: &[&str]) -> (Ran, Duration) {
    let started = Instant::now();
    loop {
        let ran = project.run(args);
        if ran.code != 3 {
            return (ran, started.elapsed());
        }
        assert!(started.elapsed() < Duration::from_secs(120), "{}", ran.stdout);
    }
}

fn operations(project: &Project) -> Vec<Value> {
    let log = project.json(&["op", "log", "--limit", "100000"]);
    log["operations"].as_array().unwrap().clone()
}

#[test]
fn four_hundred_changes_by_eight_processes_are_all_there_once() {
    const EACH: usize = 50;
    let project = Project::with_steps(PROCESSES * EACH / 5);
    project.ok(&["var", "set", "shared.items", "[]"]);
    let before = operations(&project).len();
    let results = together(PROCESSES, |process| {
        let (mut worst, mut claimed) = (Duration::ZERO, Vec::new());
        for n in 0..EACH {
            let item = format!("{process}-{n}");
            let args: &[&str] = match n % 5 {
                0 => &["step", "next", "--claim", "--json"],
                1 | 3 => &["history", "add", &item, "--json"],
                _ => &["var", "append", "shared.items", &item, "--string", "--json"],
            };
            let (ran, took) = insist(&project, args);
            assert_eq!(ran.code, 0, "{args:?} {}{}", ran.stdout, ran.stderr);
            worst = worst.max(took);
            if n % 5 == 0 {
                claimed.push(ran.json()["step"]["number"].as_u64().unwrap());
            }
        }
        (worst, claimed)
    });
    let worst = results.iter().map(|(worst, _)| *worst).max().unwrap();
    eprintln!("worst time of a command among {PROCESSES} processes: {} ms", worst.as_millis());
    assert_eq!(operations(&project).len() - before, PROCESSES * EACH);

    let items = project.json(&["var", "get", "shared.items"])["value"].clone();
    let items: Vec<&str> = items.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(items.len(), PROCESSES * EACH * 2 / 5);
    assert_eq!(items.iter().collect::<BTreeSet<_>>().len(), items.len());
    let claimed: Vec<u64> = results.into_iter().flat_map(|(_, claimed)| claimed).collect();
    assert_eq!(claimed.iter().collect::<BTreeSet<_>>().len(), claimed.len());
    let entries = project.json(&["history", "list", "--limit", "10000"]);
    let titles: BTreeSet<&str> =
        entries["entries"].as_array().unwrap().iter().filter_map(|e| e["title"].as_str()).collect();
    for process in 0..PROCESSES {
        for n in (0..EACH).filter(|n| n % 5 == 1 || n % 5 == 3) {
            assert!(titles.contains(format!("{process}-{n}").as_str()), "{process}-{n}");
        }
    }
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
}

#[test]
fn one_of_eight_actors_starts_a_step() {
    let project = Project::with_steps(3);
    let ran = together(PROCESSES, |n| {
        let actor = format!("agent-{n}");
        insist(&project, &["step", "start", "1", "--json", "--actor", &actor]).0
    });
    assert_eq!(ran.iter().filter(|ran| ran.code == 0).count(), 1);
    for loser in ran.iter().filter(|ran| ran.code != 0) {
        assert_eq!(loser.code, 1, "{}", loser.stdout);
        assert_eq!(loser.json()["error"]["code"], "illegal_transition");
    }
}

#[test]
fn eight_processes_claim_five_ready_steps_without_sharing_one() {
    let project = Project::with_steps(5);
    let ran = together(PROCESSES, |_| insist(&project, &["step", "next", "--claim", "--json"]).0);
    let won = ran.iter().filter(|ran| ran.code == 0);
    let numbers: BTreeSet<u64> =
        won.clone().map(|ran| ran.json()["step"]["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=5).collect());
    assert_eq!(won.count(), 5);
    assert!(ran.iter().all(|ran| ran.code == 0 || ran.code == 1));
}

#[test]
fn two_inits_at_once_make_one_state() {
    for _ in 0..6 {
        let project = Project::empty();
        let ran = together(4, |n| project.run(&["init", "--goal", &format!("goal {n}"), "--json"]));
        assert_eq!(ran.iter().filter(|ran| ran.code == 0).count(), 1, "more or less than one won");
        for ran in &ran {
            assert!([0, 1, 3].contains(&ran.code), "{} {}", ran.code, ran.stdout);
        }
        assert_eq!(project.json(&["check"])["findings"], json!([]));
        project.ok(&["step", "add", "one"]);
        assert_eq!(operations(&project).len(), 2);
    }
}

#[test]
fn a_reader_never_sees_half_an_operation() {
    const STEPS: usize = 25;
    // This layout keeps the total of the costs in variables.json as well.
    let project = Project::classic();
    for step in 1..=STEPS {
        project.ok(&["step", "add", &format!("Do part {step}")]);
    }
    let (finished, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    together(3, |n| {
        if n == 0 {
            for step in 1..=STEPS {
                let step = step.to_string();
                project.ok(&["step", "start", &step]);
                project.ok(&["step", "done", &step, "--output", "rows=1", "--cost", "0.01"]);
            }
            finished.store(true, Ordering::Relaxed);
            return;
        }
        while !finished.load(Ordering::Relaxed) {
            let state = project.json(&["state"]);
            let completed = state["progress"]["completed"].as_u64().unwrap();
            let outputs = &state["variables"]["step_data"]["outputs"];
            assert_eq!(outputs.as_object().map_or(0, |map| map.len() as u64), completed, "{state}");
            let cost = state["variables"]["cost_tracking"]["total_cost"].as_f64().unwrap();
            assert_eq!((cost * 100.0).round() as u64, completed, "{state}");
            let check = project.run(&["check", "--json"]);
            assert_eq!(check.code, 0, "{}", check.stdout);
            reads.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(reads.load(Ordering::Relaxed) > 10, "too few reads to mean anything");
}

/// A word that no neighbour shares its ends with, so that it is found in a trimmed splice.
fn token(n: usize) -> String {
    format!("{:016x}", (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Everything that the log and the salvage directory hold.
fn traces(project: &Project) -> String {
    let mut text = String::new();
    for dir in [".statedir/log", ".statedir/salvage"] {
        for entry in fs::read_dir(project.path(dir)).into_iter().flatten() {
            text.push_str(&String::from_utf8_lossy(&fs::read(entry.unwrap().path()).unwrap()));
        }
    }
    text
}

/// Saves plan.md again and again while commands run; gives the saves that vanished.
fn edit_meanwhile(save: impl Fn(&Path, &str) + Sync) -> (usize, Vec<usize>) {
    const SAVES: usize = 120;
    let project = Project::with_steps(3);
    let path = project.path("plan.md");
    let finished = AtomicBool::new(false);
    let replaced = together(3, |n| {
        if n > 0 {
            let mut count = 0;
            while !finished.load(Ordering::Relaxed) {
                let value = format!("owner=ada-{n}-{count}");
                let ran = project.run(&["plan", "set", &value, "--json"]);
                // An editor that saves in place leaves an empty file for a moment.
                assert!([0, 1, 3, 4].contains(&ran.code), "{} {}", ran.code, ran.stdout);
                count += 1;
            }
            return Vec::new();
        }
        let mut replaced = Vec::new();
        let mut text = fs::read_to_string(&path).unwrap();
        for save_number in 0..SAVES {
            let now = fs::read_to_string(&path).unwrap_or_default();
            if save_number > 0 && !now.contains(&token(save_number - 1)) {
                replaced.push(save_number - 1);
            }
            if now.contains("## Metadata") {
                text = now;
            }
            let lines = text.lines().filter(|line| !line.starts_with("<!-- save "));
            text = lines.map(|line| format!("{line}\n")).collect();
            text.push_str(&format!("<!-- save {} -->\n", token(save_number)));
            save(&path, &text);
            std::thread::sleep(Duration::from_millis(7 + save_number as u64 % 19));
        }
        finished.store(true, Ordering::Relaxed);
        replaced
    });
    project.run(&["var", "set", "last", "1"]);
    let mut replaced = replaced.into_iter().next().unwrap();
    if !project.read("plan.md").contains(&token(SAVES - 1)) {
        replaced.push(SAVES - 1);
    }
    let traces = traces(&project);
    let captured = (0..SAVES).filter(|n| traces.contains(&token(*n)[4..12])).count();
    replaced.retain(|n| !traces.contains(&token(*n)[4..12]));
    assert!(captured > 10, "only {captured} saves met a command");
    (captured, replaced)
}

#[test]
fn no_save_of_an_editor_that_renames_is_lost_without_a_trace() {
    let (captured, lost) = edit_meanwhile(|path, text| {
        let temporary = path.with_extension("md.swp");
        fs::write(&temporary, text).unwrap();
        fs::rename(&temporary, path).unwrap();
    });
    eprintln!("{captured} saves were captured");
    assert!(lost.is_empty(), "saves {lost:?} are nowhere");
}

#[test]
fn no_save_of_an_editor_that_writes_in_place_is_lost_without_a_trace() {
    let (captured, lost) = edit_meanwhile(|path, text| fs::write(path, text).unwrap());
    eprintln!("{captured} saves were captured");
    assert!(lost.is_empty(), "saves {lost:?} are nowhere");
}

/// The last look at a file and the renaming over it are two system calls: a save between them.
#[test]
fn a_save_at_the_last_moment_is_not_lost_without_a_trace() {
    if !needs::program("strace") {
        return;
    }
    let trace = tempfile::NamedTempFile::new().unwrap();
    let project = Project::with_steps(3);
    let mut command = std::process::Command::new("strace");
    command
        .args(["-f", "-o"])
        .arg(trace.path())
        .args(["-e", "trace=rename,renameat2"])
        .args(["-e", "inject=rename,renameat2:delay_enter=1500000"])
        .arg(crate::program::path())
        .args(["plan", "set", "owner=ada"])
        .current_dir(project.root())
        .stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    while !project.path(".statedir/tmp/plan.md").exists() {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "the command ended before its delayed rename: {ended:?}");
        assert!(started.elapsed() < Duration::from_secs(60), "nothing was prepared for a rename");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let swap = project.root().join("swap");
    fs::write(&swap, project.read("plan.md") + "\nthe words of the editor\n").unwrap();
    fs::rename(&swap, project.path("plan.md")).unwrap();
    assert!(child.wait().unwrap().success());
    project.ok(&["var", "set", "a", "1"]);
    let kept = project.read("plan.md") + &traces(&project);
    assert!(kept.contains("the words of the editor"), "the save is nowhere");
}

/// What one writer knows of its changes.
#[derive(Default)]
struct Written {
    /// Acknowledged, in order.
    done: Vec<u64>,
    /// Killed on the way: there once or not at all.
    unknown: Vec<u64>,
    worst: Duration,
}

/// One writer: every change sets two variables and adds an entry, and now and then is killed.
fn write_and_be_killed(project: &Project, writer: u64, count: u64, dice: &mut Random) -> Written {
    let mut written = Written::default();
    for n in 1..=count {
        let changes = json!([
            { "op": "var.set", "path": format!("one.w{writer}"), "value": n },
            { "op": "var.set", "path": format!("two.w{writer}"), "value": n },
            { "op": "history.add", "title": format!("w{writer}-{n}") },
        ]);
        let started = Instant::now();
        let killed_after = dice.one_in(8).then(|| Duration::from_micros(dice.roll(30_000)));
        loop {
            let mut command = project.command(&["apply", "-", "--json"]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            let _ = input.write_all(changes.to_string().as_bytes());
            drop(input);
            if let Some(delay) = killed_after {
                std::thread::sleep(delay);
                child.kill().unwrap();
            }
            let ended = child.wait_with_output().unwrap();
            match ended.status.code() {
                Some(0) => written.done.push(n),
                None => written.unknown.push(n),
                // Somebody saves a file or holds the lock: the same again.
                Some(3) if started.elapsed() < Duration::from_secs(300) => continue,
                code => panic!("{code:?} {}", String::from_utf8_lossy(&ended.stdout)),
            }
            break;
        }
        written.worst = written.worst.max(started.elapsed());
    }
    written
}

/// Writers that are killed, an editor of either kind, git and readers at once: `cargo xtask prove
/// parallel` runs it with 32 writers for as long as wanted.
#[test]
fn nothing_is_lost_among_kills_editors_git_and_readers() {
    let slice = Slice::wanted();
    let (writers, count) = slice.map_or((4, 12), |slice| (32, slice.size));
    let seed = slice.map_or(1, |slice| slice.seed);
    let project = Project::with_steps(2);
    let has_git = needs::program("git");
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(args);
        command.current_dir(project.root()).output().unwrap()
    };
    if has_git {
        git(&["init", "--quiet"]);
    }
    let (running, reads) = (AtomicUsize::new(writers), AtomicUsize::new(0));
    let is_over = || running.load(Ordering::Relaxed) == 0;
    let results = together(writers + 3, |who| {
        let mut dice = Random::new(seed * 1000 + who as u64);
        if who < writers {
            let written = write_and_be_killed(&project, who as u64, count, &mut dice);
            running.fetch_sub(1, Ordering::Relaxed);
            return written;
        }
        let mut edits = 0;
        while !is_over() {
            match who - writers {
                0 => {
                    edits += 1;
                    let path = project.path("context.md");
                    let text = fs::read_to_string(&path).unwrap() + &format!("edit {edits}\n");
                    match edits % 2 {
                        0 => fs::write(&path, text).unwrap(),
                        _ => {
                            fs::write(path.with_extension("swp"), text).unwrap();
                            fs::rename(path.with_extension("swp"), &path).unwrap();
                        }
                    }
                    std::thread::sleep(Duration::from_millis(20 + dice.roll(40)));
                }
                1 if has_git => {
                    git(&["add", "-A", "workspace"]);
                    git(&["commit", "--quiet", "-m", "as it is"]);
                    std::thread::sleep(Duration::from_millis(50 + dice.roll(100)));
                }
                1 => return Written::default(),
                _ => {
                    let ran = project.run(&["state", "--json"]);
                    if ran.code == 3 {
                        continue;
                    }
                    let state = ran.json();
                    assert_eq!(
                        state["variables"]["one"], state["variables"]["two"],
                        "half an operation"
                    );
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        Written::default()
    });
    project.ok(&["var", "set", "last", "1"]);
    let history = project.read("history.md");
    let mut titles: BTreeMap<&str, usize> = BTreeMap::new();
    for title in history.lines().filter_map(|line| line.strip_prefix("### w")) {
        *titles.entry(title.split(' ').next().unwrap()).or_default() += 1;
    }
    let variables = project.json(&["var", "get", "one"])["value"].clone();
    let (mut done, mut unknown) = (0, 0);
    for (writer, written) in results.iter().enumerate().take(writers) {
        for n in &written.done {
            let times = titles.get(format!("{writer}-{n}").as_str()).copied();
            assert_eq!(times, Some(1), "w{writer}-{n}, acknowledged");
        }
        for n in &written.unknown {
            let times = titles.get(format!("{writer}-{n}").as_str()).copied();
            assert!(times.unwrap_or(0) <= 1, "w{writer}-{n} is there twice");
        }
        let newest = variables[format!("w{writer}")].as_u64().unwrap_or(0);
        assert!(newest >= written.done.last().copied().unwrap_or(0), "w{writer}: {newest}");
        done += written.done.len();
        unknown += written.unknown.len();
    }
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
    let worst = results.iter().map(|written| written.worst).max().unwrap().as_millis();
    let reads = reads.into_inner();
    println!(
        "proved: {} changes, {done} acknowledged, {unknown} killed, {reads} snapshots, {worst} ms the worst",
        done + unknown
    );
    assert!(done > writers && unknown > 0 && reads > 0);
}
