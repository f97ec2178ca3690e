//! Every mutating command is disturbed at its system calls; the state is all old or all new.
//!
//! The check tries a part of all faults, another for each command. `cargo xtask prove faults` tries all
//! of them, a command in each slice.

mod examine;
mod failing_disk;
mod fleet;
mod outside;
mod scene;
mod short_write;
pub mod snapshot;
mod strace;

use std::{
    fs,
    os::unix::process::ExitStatusExt as _,
    process::Output,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use self::{
    examine::{Models, Which},
    scene::Scene,
    strace::{Call, Fault},
};
use crate::{needs, sweep_size::Slice};

/// How a disturbed command ended.
pub struct Finish {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub killed: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Finish {
    fn text(&self) -> String {
        let (out, err) = (&self.stdout, &self.stderr);
        format!("{:?} {}{}", self.code, String::from_utf8_lossy(out), String::from_utf8_lossy(err))
    }
}

impl From<Output> for Finish {
    fn from(output: Output) -> Self {
        let signal = output.status.signal();
        let code = output.status.code().filter(|code| *code < 128 || *code == 255);
        Self {
            code,
            killed: signal.is_some() || code.is_none(),
            stdout: output.stdout,
            stderr: output.stderr,
        }
    }
}

/// Whether `cargo xtask prove` runs, and everything is to be tried.
fn full() -> bool {
    Slice::wanted().is_some()
}

/// Those of all scenes that are to be tried: all of them, or the one of the slice.
fn of_slice<T>(all: Vec<T>, before: usize) -> Vec<T> {
    match Slice::wanted() {
        None => all,
        Some(slice) => {
            let at = (slice.seed as usize).checked_sub(1 + before);
            all.into_iter()
                .enumerate()
                .filter(|(n, _)| Some(*n) == at)
                .map(|(_, one)| one)
                .collect()
        }
    }
}

/// The faults to try: of those that can leave something half done every second, and a share of the
/// others; or all of them.
fn faults(calls: &[Call], offset: usize) -> Vec<(&Call, Fault)> {
    let mut faults = Vec::new();
    let mut changing = offset;
    for (at, call) in calls.iter().enumerate() {
        // An injected error suppresses the call, and no kernel leaves a descriptor open after
        // `close`: only a kill means something there.
        if call.name == "close" {
            faults.extend(full().then_some((call, Fault::Kill)));
            continue;
        }
        let chosen = full() || (at + offset).is_multiple_of(12);
        let mut of_call = Vec::new();
        if call.changes() || chosen {
            of_call.push(Fault::Eio);
        }
        if call.changes() || full() {
            of_call.extend([Fault::Kill, Fault::Enospc, Fault::Eintr]);
        }
        for fault in of_call {
            changing += 1;
            if full() || !call.changes() || changing.is_multiple_of(2) {
                faults.push((call, fault));
            }
        }
    }
    faults
}

/// Runs scenes on several threads; gives how many faults happened and what went wrong.
fn sweep(scenes: &[Scene], disturb: impl Fn(usize, &Scene, &Tally) + Sync) -> Tally {
    let (next, tally) = (AtomicUsize::new(0), Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((at, scene)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    scenes.get(at).map(|scene| (at, scene))
                } {
                    disturb(at, scene, &tally);
                }
            });
        }
    });
    tally
}

#[derive(Default)]
struct Tally {
    fired: AtomicUsize,
    old: AtomicUsize,
    new: AtomicUsize,
    wrong: Mutex<Vec<String>>,
}

impl Tally {
    fn count(&self, what: &str, verdict: Result<Which, String>) {
        self.fired.fetch_add(1, Ordering::Relaxed);
        match verdict {
            Ok(Which::Old) => _ = self.old.fetch_add(1, Ordering::Relaxed),
            Ok(Which::New) => _ = self.new.fetch_add(1, Ordering::Relaxed),
            Err(why) => self.wrong.lock().unwrap().push(format!("{what}: {why}")),
        }
    }

    /// Fails if anything went wrong or if too little was tried.
    fn demand(&self, at_least: usize) {
        let (fired, old, new) = (&self.fired, &self.old, &self.new);
        eprintln!("{fired:?} faults: {old:?} left the old state, {new:?} the new one");
        let wrong = self.wrong.lock().unwrap();
        let shown: Vec<&str> = wrong.iter().take(30).map(String::as_str).collect();
        for what in wrong.iter().filter_map(|why| why.lines().next()) {
            eprintln!("wrong: {what:.200}");
        }
        assert!(wrong.is_empty(), "{} faults went wrong\n{}", wrong.len(), shown.join("\n\n"));
        let fired = self.fired.load(Ordering::Relaxed);
        println!("proved: {fired} faults, {old:?} left the old state, {new:?} the new one");
        if full() {
            return;
        }
        assert!(fired >= at_least, "only {fired} faults happened");
        assert!(self.old.load(Ordering::Relaxed) > 0 && self.new.load(Ordering::Relaxed) > 0);
    }
}

#[test]
fn a_fault_in_any_system_call_leaves_all_old_or_all_new() {
    if !needs::program("strace") {
        return;
    }
    let shortens = short_write::possible();
    let only = std::env::var("STATEDIR_SCENE").ok();
    let mut scenes = of_slice(scene::all(), 0);
    scenes.retain(|scene| only.as_ref().is_none_or(|only| scene.name == only));
    let tally = sweep(&scenes, |offset, scene, tally| {
        let models = Models::learn(scene);
        let calls = strace::calls(scene);
        if !models.differ() || calls.iter().filter(|call| call.changes()).count() < 3 {
            let why = format!("{} changes too little: {calls:?}", scene.name);
            return tally.wrong.lock().unwrap().push(why);
        }
        for (call, fault) in faults(&calls, offset) {
            let what = format!("{}, {fault:?} in {} {}", scene.name, call.index, call.line);
            // On a busy machine a run may have a call more or less, as when it waits.
            let mut disturbed = (0..3).filter_map(|_| {
                scene.reset();
                strace::disturb(scene, call, fault)
            });
            match disturbed.next() {
                Some(finish) => {
                    let verdict = models.examine(scene, &finish);
                    tally.count(&what, verdict.map_err(|why| format!("{why}\n{}", finish.text())));
                }
                None => tally.wrong.lock().unwrap().push(format!("{what}: did not happen")),
            }
        }
        if shortens {
            short_write::each(scene, offset, |write, finish| {
                // A short write is no error: the rest is written by another call.
                let is_done = write.then != "continue" || finish.code == Some(0);
                let verdict = match is_done {
                    true => models.examine(scene, &finish),
                    false => Err("a short write was taken for an error".to_owned()),
                };
                let verdict = verdict.map_err(|why| format!("{why}\n{}", finish.text()));
                tally.count(&format!("{}, {write:?}", scene.name), verdict);
            });
        }
    });
    tally.demand(if only.is_some() { 5 } else { 800 });
}

/// Setup, hooks, commits, worktrees, merges, recovery, adoption: more than one system.
#[test]
fn a_fault_in_any_system_call_of_a_command_that_writes_elsewhere_too_can_be_repeated() {
    if !needs::program("strace") || !needs::program("git") {
        return;
    }
    let shortens = short_write::possible();
    let only = std::env::var("STATEDIR_SCENE").ok();
    let mut scenes = of_slice(outside::all(), scene::all().len());
    scenes.retain(|one| only.as_ref().is_none_or(|only| one.scene.name == only));
    let (next, fired, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(outside) = scenes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    outside.learn();
                    let scene = &outside.scene;
                    let calls = strace::calls(scene);
                    let chosen = faults(&calls, 0).into_iter().enumerate();
                    for (at, (call, fault)) in chosen {
                        // Several processes for each: in the check a part of a part.
                        if !full() && !at.is_multiple_of(7) {
                            continue;
                        }
                        scene.reset();
                        // What git does between may move a call; then nothing happens.
                        let Some(finish) = strace::disturb(scene, call, fault) else { continue };
                        fired.fetch_add(1, Ordering::Relaxed);
                        if let Err(why) = outside.examine(&finish) {
                            let at = format!("{fault:?} in {} {}", call.index, call.line);
                            let printed = finish.text();
                            let what = format!("{}, {at}: {why}\n{printed:.600}", scene.name);
                            wrong.lock().unwrap().push(what);
                        }
                    }
                    if shortens {
                        short_write::each(scene, 0, |write, finish| {
                            fired.fetch_add(1, Ordering::Relaxed);
                            if let Err(why) = outside.examine(&finish) {
                                let printed = finish.text();
                                let name = scene.name;
                                let what = format!("{name}, {write:?}: {why}\n{printed:.600}");
                                wrong.lock().unwrap().push(what);
                            }
                        });
                    }
                }
            });
        }
    });
    let (fired, wrong) = (fired.into_inner(), wrong.into_inner().unwrap());
    println!("proved: {fired} faults in commands that write elsewhere, too");
    assert!(wrong.is_empty(), "{} went wrong\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(full() || only.is_some() || fired > 60, "only {fired} faults happened");
}

/// Moving a directory has a moment between its record and the move: the state is then where it
/// was, with an entry more. It is never in both places, in none, or in part.
#[test]
fn a_fault_while_archiving_leaves_the_state_whole_in_one_place() {
    if !needs::program("strace") {
        return;
    }
    let scene = Scene::new("archive", &["archive"], scene::finished);
    let calls = strace::calls(&scene);
    let (mut moved, mut stayed) = (0, 0);
    for (call, fault) in faults(&calls, 0) {
        scene.reset();
        let before = scene.project.files();
        let Some(finish) = strace::disturb(&scene, call, fault) else { continue };
        let what = format!("{fault:?} in {} {}: {}", call.index, call.line, finish.text());
        let archive = scene.project.root().join("workspace/archive");
        let kept = fs::read_dir(&archive).map(|entries| entries.count()).unwrap_or(0);
        let here = scene.project.dir().exists();
        assert!(here != (kept == 1), "in {kept} places of the archive, here: {here}: {what}");
        if finish.code == Some(0) {
            assert!(!here, "acknowledged, but not moved: {what}");
        }
        if here {
            stayed += 1;
            assert_eq!(scene::run(&scene.project, &["history", "verify"]).code, 0, "{what}");
            assert_eq!(scene.finish(&[]).code, Some(0), "it cannot be repeated: {what}");
        } else {
            moved += 1;
        }
        let place = fs::read_dir(&archive).unwrap().next().unwrap().unwrap().path();
        for (name, bytes) in before {
            let after = fs::read(place.join(&name)).unwrap();
            assert!(after == bytes || name == "history.md" && after.starts_with(&bytes), "{what}");
        }
        // Told once, and once more for every time that it was told to have failed.
        let history = fs::read_to_string(place.join("history.md")).unwrap();
        let count = |start: &str| history.lines().filter(|line| line.starts_with(start)).count();
        let failed = count("### Archived Failed");
        assert_eq!(count("### Archived") - failed, failed + 1, "{what}\n{history}");
        let restored = scene::run(&scene.project, &["archive", "restore", "exec"]);
        assert_eq!(restored.code, 0, "{}{what}", restored.stderr);
        assert_eq!(scene::run(&scene.project, &["history", "verify"]).code, 0, "{what}");
    }
    assert!(moved > 2 && stayed > 10, "{moved} moved, {stayed} stayed");
}

/// Needs nothing but a clock: runs everywhere, also where tracing is not permitted.
#[test]
fn a_kill_at_any_moment_leaves_all_old_or_all_new() {
    let mut scenes = scene::all();
    scenes.retain(|scene| {
        ["init", "step done", "apply", "undo", "rotation", "recovery of a half"]
            .contains(&scene.name)
    });
    let rounds = if full() { 400 } else { 50 };
    let tally = sweep(&scenes, |at, scene, tally| {
        let models = Models::learn(scene);
        // How long it takes here and now, so that the kills fall into it.
        let started = std::time::Instant::now();
        scene.reset();
        scene.finish(&[]);
        let usual = started.elapsed().as_micros() as u64;
        let mut random = 0x9e37_79b9_7f4a_7c15_u64 ^ (at as u64 + 1);
        for round in 0..rounds {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            scene.reset();
            let delay = Duration::from_micros(random % usual.max(1));
            let finish = scene.finish_or_kill(delay);
            if finish.killed || finish.code == Some(0) {
                let verdict = models.examine(scene, &finish);
                if finish.killed || verdict.is_err() {
                    tally.count(&format!("{} killed in round {round}", scene.name), verdict);
                }
            } else {
                tally.wrong.lock().unwrap().push(format!("{}: {}", scene.name, finish.text()));
            }
        }
    });
    tally.demand(60);
}

/// A size limit cuts a write in the middle, which no failing system call does.
#[test]
fn a_write_cut_in_the_middle_leaves_all_old_or_all_new() {
    if !needs::program("prlimit") {
        return;
    }
    let scenes = [
        Scene::new("cut log", &["step", "done", "1", "--note", "cut"], scene::busy),
        Scene::new("cut history", &["step", "done", "1", "--note", "cut"], scene::long_history),
        Scene::new("cut capture", &["step", "done", "1"], |project| {
            scene::busy(project);
            project.edit("plan.md", "Measure", "Measure twice");
        }),
    ];
    let tally = sweep(&scenes, |at, scene, tally| {
        let models = Models::learn(scene);
        let name = if at == 1 { "history.md" } else { ".statedir/log/00000001.log" };
        let path = scene.project.path(name);
        scene.reset();
        let from = fs::metadata(&path).unwrap().len();
        assert_eq!(scene.finish(&[]).code, Some(0));
        let to = fs::metadata(&path).unwrap().len();
        assert!(to > from + 100, "{name} did not grow");
        let step = if full() { 7 } else { 61 };
        for limit in (from..=to).step_by(step).chain([from + 1, to - 1]) {
            // Ignored, the signal becomes an error after part of the bytes were written.
            for trap in ["", "trap '' XFSZ; "] {
                scene.reset();
                let script = format!("{trap}exec prlimit --fsize={limit} \"$@\"");
                let words = ["sh", "-c", &script, "sh"].map(str::to_owned);
                let finish = scene.finish(&words);
                let what = format!("{} at {limit} of {from}..{to} {trap}", scene.name);
                let verdict = models.examine(scene, &finish);
                tally.count(&what, verdict.map_err(|why| format!("{why}\n{}", finish.text())));
            }
        }
    });
    tally.demand(80);
}

/// The control: a store that writes in place must be found out by the same examination.
#[test]
fn the_sweep_finds_out_a_store_that_writes_in_place() {
    let scene = Scene::new("step done", &["step", "done", "1"], scene::busy);
    let models = Models::learn(&scene);
    scene.reset();
    assert_eq!(scene.finish(&[]).code, Some(0));
    let new = scene.project.files();
    let killed = || Finish { code: None, killed: true, stdout: Vec::new(), stderr: Vec::new() };
    let mut found_out = 0;
    for stage in 0..3 {
        scene.reset();
        let plan = &new["plan.md"];
        fs::write(scene.project.path("plan.md"), &plan[..plan.len() / 2]).unwrap();
        if stage > 0 {
            fs::write(scene.project.path("plan.md"), plan).unwrap();
        }
        if stage > 1 {
            fs::write(scene.project.path("history.md"), &new["history.md"]).unwrap();
        }
        found_out += usize::from(models.examine(&scene, &killed()).is_err());
    }
    assert_eq!(found_out, 3);
    scene.reset();
    let lie = Finish { code: Some(0), killed: false, ..killed() };
    assert!(models.examine(&scene, &lie).unwrap_err().contains("acknowledged"));
}

/// One sync, of the log, after the record was written and before any state file is touched.
fn order(calls: &[Call]) -> Result<(), String> {
    let syncs: Vec<usize> = calls
        .iter()
        .enumerate()
        .filter(|(_, call)| call.name == "fdatasync" || call.name == "fsync")
        .map(|(at, _)| at)
        .collect();
    let [sync] = syncs[..] else { return Err(format!("{} syncs", syncs.len())) };
    if calls[sync].name != "fdatasync" || !calls[sync].line.contains("/.statedir/log/") {
        return Err(format!("the sync is {}", calls[sync].line));
    }
    let first = |wanted: &dyn Fn(&Call) -> bool| calls.iter().position(wanted);
    let record = first(&|call| call.name == "write" && call.line.contains("/.statedir/log/"));
    let touched = first(&|call| {
        call.name.starts_with("rename") || call.name == "write" && call.line.contains("history.md>")
    });
    match (record, touched) {
        (Some(record), Some(touched)) if record < sync && sync < touched => Ok(()),
        _ => Err(format!("record {record:?}, sync {sync}, files {touched:?}")),
    }
}

#[test]
fn the_log_is_synced_once_and_before_any_file_is_touched() {
    if !needs::program("strace") {
        return;
    }
    for mut scene in scene::all() {
        if !["step done", "var set", "history add", "undo", "apply"].contains(&scene.name) {
            continue;
        }
        let calls = strace::calls(&scene);
        assert_eq!(order(&calls), Ok(()), "{}", scene.name);
        // The control: without the sync, or with the sync too late, the order is wrong.
        let sync = calls.iter().position(|call| call.name == "fdatasync").unwrap();
        let mut without = calls.clone();
        let late = without.remove(sync);
        assert!(order(&without).is_err());
        without.push(late);
        assert!(order(&without).is_err());
        scene.args.push("--dry-run".to_owned());
        assert!(
            strace::calls(&scene).iter().all(|call| !call.changes()
                || call.name == "pwrite64"
                || call.line.contains("/lock")),
            "--dry-run writes"
        );
    }
}
