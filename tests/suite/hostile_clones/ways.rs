//! How a way of doing harm is tried: a clone spoiled in that way, commands, and a control.

use std::fs;

use super::{
    acts,
    ground::{Act, Carrier, Ground},
};
use crate::needs;

/// Runs each command in a fresh copy of a clone, carried in both ways; none does harm. Then the
/// control does it.
pub fn harmless(lines: &[&str], spoil: impl Fn(&Ground), control: impl Fn(&Ground)) {
    if !needs::program("strace") {
        return;
    }
    for carrier in [Carrier::Clone, Carrier::Copy] {
        let spoiled = Ground::new(carrier, &spoil);
        for line in lines {
            let ground = spoiled.again();
            let act = act(ground, line);
            let harm = ground.harm(&act);
            assert!(harm.is_empty(), "{carrier:?}: `{line}` did harm\n{}", harm.join("\n"));
        }
        let ground = spoiled.again();
        assert!(ground.damage().is_empty());
        control(ground);
        assert!(!ground.damage().is_empty(), "{carrier:?}: the control is not noticed");
    }
}

/// A command line as listed among the acts, or the name of a hook event.
fn act(ground: &Ground, line: &str) -> Act {
    if let Some((name, more)) = acts::EVENTS.iter().find(|(name, _)| *name == line) {
        return Act::hook(&acts::event(name, more, &ground.clone_dir()));
    }
    acts::listed(line)
}

pub const HOOKS: [&str; 9] = [
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop",
    "SubagentStart", "SubagentStop", "SessionEnd",
];

/// Commands that change the state, each by another way through the store.
pub const CHANGES: [&str; 4] =
    ["var set a.b 1", "checkpoint create three", "restore one --rewind", "gc --older-than 0s"];

pub fn starts_the_program(ground: &Ground) {
    assert!(std::process::Command::new(ground.program()).status().unwrap().success());
}

pub fn writes_the_victim(ground: &Ground) {
    fs::write(ground.victim(), "harm").unwrap();
}

pub fn empties_the_victims(ground: &Ground) {
    for entry in fs::read_dir(ground.victims()).unwrap().flatten() {
        let _ = fs::remove_file(entry.path());
    }
}
