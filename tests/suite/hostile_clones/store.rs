//! Links where the store keeps its directories and files, and in place of the state files.

use super::{
    ground::Ground,
    ways::{CHANGES, HOOKS, empties_the_victims, harmless, writes_the_victim},
};

#[test]
fn a_directory_of_the_store_that_is_a_link_is_not_written_or_emptied() {
    for name in ["tmp", "objects", "log", "checkpoints", "salvage", "rebuild"] {
        let spoil = |ground: &Ground| ground.link(&ground.private(name), &ground.victims());
        harmless(&CHANGES, spoil, empties_the_victims);
    }
}

#[test]
fn a_file_of_the_store_that_is_a_link_is_not_written() {
    for name in
        ["head", "tally", "lock", "log/00000001.log", ".gitignore", "checkpoints/00000001-one"]
    {
        let spoil = |ground: &Ground| ground.link(&ground.private(name), &ground.victim());
        harmless(&["var set a.b 1", "gc --older-than 0s", "PostToolUse"], spoil, writes_the_victim);
    }
}

#[test]
fn a_state_file_that_is_a_link_is_not_read_or_written() {
    for name in crate::builder::FIVE {
        let spoil = |ground: &Ground| ground.link(&ground.state().join(name), &ground.victim());
        let lines = ["status", "history add Told", "check --fix", "SessionStart"];
        harmless(&lines, spoil, writes_the_victim);
    }
}

#[test]
fn a_private_directory_that_is_a_link_is_not_used() {
    let spoil = |ground: &Ground| {
        ground.link(&ground.state().join(".statedir"), &ground.victims());
    };
    let lines = [&CHANGES[..], &HOOKS[..], &["status"]].concat();
    harmless(&lines, spoil, empties_the_victims);
}
