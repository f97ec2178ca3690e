//! Disturbing a command at one of its system calls.

use std::{fs, path::Path};

use super::{Finish, scene::Scene};

/// A system call on a state file: its name and the how manieth of that name it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    pub index: usize,
    pub line: String,
}

impl Call {
    /// Whether it can change what is on disk.
    pub fn changes(&self) -> bool {
        const WRITING: [&str; 14] = [
            "write", "pwrite64", "writev", "fdatasync", "fsync", "rename", "renameat", "renameat2",
            "ftruncate", "mkdir", "mkdirat", "unlink", "unlinkat", "fchmod",
        ];
        WRITING.contains(&self.name.as_str()) || self.line.contains("O_CREAT")
    }
}

/// What is done to the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Kill,
    Eio,
    Enospc,
    Eintr,
}

impl Fault {
    fn action(self) -> &'static str {
        match self {
            Self::Kill => "signal=KILL",
            Self::Eio => "error=EIO",
            Self::Enospc => "error=ENOSPC",
            Self::Eintr => "error=EINTR",
        }
    }
}

/// All calls of an undisturbed run that touch the state directory, in order.
pub fn calls(scene: &Scene) -> Vec<Call> {
    scene.reset();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let finish = scene.finish(&strace(scene, trace.path(), &[]));
    assert_eq!(finish.code, Some(0), "{}: {}", scene.name, finish.text());
    let text = fs::read_to_string(trace.path()).unwrap();
    let dir = watched(scene);
    number(&text).into_iter().filter(|call| call.line.contains(&dir)).collect()
}

/// Numbers the calls of a trace, each among those of its name.
pub fn number(trace: &str) -> Vec<Call> {
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let Some((name, _)) = line.split_once('(') else { continue };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        let index = seen.entry(name.to_owned()).or_default();
        *index += 1;
        calls.push(Call { name: name.to_owned(), index: *index, line: line.to_owned() });
    }
    calls
}

/// Runs the command with a fault in one call; `None` when the fault did not happen there.
pub fn disturb(scene: &Scene, call: &Call, fault: Fault) -> Option<Finish> {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let inject = format!("inject={}:{}:when={}", call.name, fault.action(), call.index);
    let only = format!("trace={}", call.name);
    let mut words = vec!["-e", &only, "-e", &inject];
    if scene.follows && fault != Fault::Kill {
        // Stops at the calls of that name alone, which saves a third of the time. No signal comes then.
        words.push("--seccomp-bpf");
    }
    let finish = scene.finish(&strace(scene, trace.path(), &words));
    let text = fs::read_to_string(trace.path()).unwrap();
    let dir = watched(scene);
    // A `getcwd` that fails does not say what it would have returned.
    let is_here = |line: &str| call.name == "getcwd" || line.contains(&dir);
    let fired = match fault {
        Fault::Kill => finish.killed,
        _ => text.lines().any(|line| line.contains("(INJECTED)") && is_here(line)),
    };
    fired.then_some(finish)
}

/// The directory whose calls matter: the state's, or all of the project's.
pub fn watched(scene: &Scene) -> String {
    let root = scene.project.root();
    let mut dir = if scene.follows { scene.project.dir() } else { root.to_owned() };
    // With the folders that are made for it.
    while scene.follows && dir.parent() != Some(root) {
        dir.pop();
    }
    dir.display().to_string()
}

fn strace(scene: &Scene, trace: &Path, more: &[&str]) -> Vec<String> {
    let trace = trace.display().to_string();
    let words = ["strace", "-y", "-s", "0", "-o", &trace].into_iter();
    let words = words.chain(scene.follows.then_some("-f"));
    words.chain(more.iter().copied()).map(str::to_owned).collect()
}
