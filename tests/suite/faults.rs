//! Every mutating command is disturbed at every system call; the state is all old or all new.

mod examine;
mod scene;
mod snapshot;
mod strace;

use std::{
    os::unix::process::ExitStatusExt as _,
    process::{Command, Output, Stdio},
    sync::{Mutex, atomic::{AtomicUsize, Ordering}},
    time::Duration,
};

use self::{
    examine::{Models, Which},
    scene::Scene,
    strace::{Call, Fault},
};

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

fn full() -> bool {
    std::env::var_os("STATEDIR_SWEEP").is_some_and(|value| value == "full")
}

/// The faults to try: every one that can leave something half done, and a share of the others.
fn faults(calls: &[Call], offset: usize) -> Vec<(&Call, Fault)> {
    let mut faults = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let chosen = full() || (at + offset).is_multiple_of(6);
        if call.changes() || chosen {
            faults.extend([(call, Fault::Kill), (call, Fault::Eio)]);
        }
        if call.changes() || full() {
            faults.push((call, Fault::Enospc));
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
        let shown: Vec<&str> = wrong.iter().take(12).map(String::as_str).collect();
        assert!(wrong.is_empty(), "{} faults went wrong\n{}", wrong.len(), shown.join("\n\n"));
        let fired = self.fired.load(Ordering::Relaxed);
        assert!(fired >= at_least, "only {fired} faults happened");
        assert!(self.old.load(Ordering::Relaxed) > 0 && self.new.load(Ordering::Relaxed) > 0);
    }
}

#[test]
fn a_fault_in_any_system_call_leaves_all_old_or_all_new() {
    if !strace::available() {
        return;
    }
    let only = std::env::var("STATEDIR_SCENE").ok();
    let mut scenes = scene::all();
    scenes.retain(|scene| only.as_ref().is_none_or(|only| scene.name == only));
    let tally = sweep(&scenes, |offset, scene, tally| {
        let models = Models::learn(scene);
        assert!(models.differ(), "{} changes nothing", scene.name);
        let calls = strace::calls(scene);
        assert!(calls.iter().filter(|call| call.changes()).count() >= 4, "{calls:?}");
        for (call, fault) in faults(&calls, offset) {
            scene.reset();
            let what = format!("{}, {fault:?} in {} {}", scene.name, call.index, call.line);
            match strace::disturb(scene, call, fault) {
                Some(finish) => {
                    let verdict = models.examine(scene, &finish);
                    tally.count(&what, verdict.map_err(|why| format!("{why}\n{}", finish.text())));
                }
                None => tally.wrong.lock().unwrap().push(format!("{what}: did not happen")),
            }
        }
    });
    tally.demand(if only.is_some() { 10 } else { 800 });
}
