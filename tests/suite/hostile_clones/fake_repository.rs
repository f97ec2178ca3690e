//! A state directory that looks like a git repository of its own.

use super::{
    fake_repository_files::make_fake_repository,
    ground::{Carrier, Ground},
    ways::{harmless, starts_the_program},
};
use crate::needs;

const GIT: [&str; 12] = [
    "check",
    "check --fix",
    "commit -m kept",
    "commit --dry-run",
    "merge --list",
    "merge --resolve --all",
    "worktree add side",
    "recover --from-git",
    "diff HEAD --text",
    "review-notes",
    "git status",
    "git install --textconv --pre-commit",
];

#[test]
fn a_state_directory_that_looks_like_a_bare_repository_starts_no_program() {
    let spoil = |ground: &Ground| make_fake_repository(ground, &ground.state(), true);
    harmless(&GIT, spoil, starts_the_program);
}

#[test]
fn a_state_directory_that_looks_like_a_repository_with_a_work_tree_starts_no_program() {
    let spoil = |ground: &Ground| make_fake_repository(ground, &ground.state(), false);
    harmless(&GIT, spoil, starts_the_program);
}

#[test]
fn the_control_sees_git_start_a_program_of_a_look_alike() {
    if !needs::program("strace") {
        return;
    }
    let ground = Ground::new(Carrier::Copy, |ground| {
        make_fake_repository(ground, &ground.state(), false);
    });
    let words = ["git", "-C", "workspace/state", "status"].map(str::to_owned);
    let finish = ground.trace(&words, b"", false);
    let harm = ground.judge(&finish.deeds, &[]);
    let started = format!("started {}", ground.program().display());
    assert!(harm.contains(&started), "{harm:?} {}", finish.output);
    assert!(!ground.damage().is_empty());
}
