//! Writes of which the kernel really does a part only, at each write of a command.

use std::{fs, path::Path};

use super::{Finish, full, scene::Scene, strace::watched};
use crate::needs;

/// Which write is shortened, how much of it is done, and what follows.
#[derive(Debug, Clone, Copy)]
pub struct ShortWrite {
    count: usize,
    keep: &'static str,
    pub then: &'static str,
}

const KEEP: [&str; 3] = ["one", "half", "most"];
const THEN: [&str; 3] = ["continue", "full", "kill"];

/// Whether writes can be shortened here.
pub fn possible() -> bool {
    let is_known = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    needs::program("python3") && needs::met(is_known, "Linux on x86-64", "use such a machine")
}

/// Shortens each write of a command in all ways; or, in the check, one of its first writes in one
/// way. `examine` gets what was done and how the command ended, before the state is put back.
pub fn each(scene: &Scene, offset: usize, mut examine: impl FnMut(ShortWrite, Finish)) {
    let mut disturb = |write: ShortWrite| {
        scene.reset();
        let (what, finish) = run(scene, write);
        if what == "shortened" {
            examine(write, finish);
        }
        what != "none"
    };
    if !full() {
        let (keep, then) = (KEEP[offset % 3], THEN[offset / 3 % 3]);
        disturb(ShortWrite { count: 1 + offset % 4, keep, then });
        return;
    }
    for count in 1.. {
        for keep in KEEP {
            for then in THEN {
                if !disturb(ShortWrite { count, keep, then }) {
                    return;
                }
            }
        }
    }
}

/// The tracer's word for what it did, and how the command ended.
fn run(scene: &Scene, write: ShortWrite) -> (String, Finish) {
    let note = tempfile::NamedTempFile::new().unwrap();
    let finish = scene.finish(&words(&watched(scene), write, note.path()));
    (fs::read_to_string(note.path()).unwrap(), finish)
}

fn words(dir: &str, write: ShortWrite, note: &Path) -> Vec<String> {
    let tracer = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/faults/short_write.py");
    let (count, note) = (write.count.to_string(), note.display().to_string());
    ["python3", tracer, dir, &count, write.keep, write.then, &note].map(str::to_owned).to_vec()
}

/// The control: half of the bytes are in the file, and the rest only if the program goes on.
#[test]
fn the_tracer_shortens_a_write() {
    if !possible() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (file, note) = (dir.path().join("file"), tempfile::NamedTempFile::new().unwrap());
    for (then, code, left) in
        [("continue", 0, "hello world"), ("full", 1, "hello"), ("kill", 128 + 9, "hello")]
    {
        let write = ShortWrite { count: 1, keep: "half", then };
        let words = words(&dir.path().display().to_string(), write, note.path());
        let mut command = std::process::Command::new(&words[0]);
        command.args(&words[1..]).args(["sh", "-c", "printf 'hello world' > \"$0\""]).arg(&file);
        let ended = command.output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{then}: {ended:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), left, "{then}");
        assert_eq!(fs::read_to_string(note.path()).unwrap(), "shortened");
    }
}
