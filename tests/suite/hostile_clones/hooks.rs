//! What hooks remember and note, behind links.

use super::{
    ground::Ground,
    ways::{HOOKS, empties_the_victims, harmless, writes_the_victim},
};

#[test]
fn a_journal_that_is_shortened_through_a_link_overwrites_nothing() {
    let spoil = |ground: &Ground| {
        ground.put(&ground.private("hook.log"), "alias ls=evil\n".repeat(7000));
        ground.link(&ground.private("hook.new"), &ground.victim());
        // Something to note in the journal.
        ground.put(&ground.state().join("plan.md"), b"\xff\xfe not text");
    };
    harmless(&HOOKS, spoil, writes_the_victim);
}

#[test]
fn a_journal_that_is_a_link_is_not_written() {
    for dangling in [false, true] {
        let spoil = |ground: &Ground| {
            let new = ground.place().join("outside/new");
            let target = if dangling { new } else { ground.victim() };
            ground.link(&ground.private("hook.log"), &target);
            ground.put(&ground.state().join("plan.md"), b"\xff\xfe not text");
        };
        harmless(&HOOKS, spoil, writes_the_victim);
    }
}

#[test]
fn sessions_that_are_a_link_to_a_directory_lose_no_file_there() {
    let spoil = |ground: &Ground| ground.link(&ground.private("sessions"), &ground.victims());
    harmless(&HOOKS, spoil, empties_the_victims);
    let relative = |ground: &Ground| {
        ground.link(&ground.private("sessions"), "../../../../outside/victims".as_ref());
    };
    harmless(&HOOKS, relative, empties_the_victims);
}

#[test]
fn the_memory_of_a_session_that_is_a_link_is_not_written() {
    let spoil = |ground: &Ground| {
        ground.link(&ground.private("sessions/aaaa0000.json"), &ground.victim());
    };
    harmless(&HOOKS, spoil, writes_the_victim);
}
