//! A state directory that looks like a git repository of its own.

use std::path::Path;

use super::{
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
    let harm = ground.forbidden(&finish.actions, &[]);
    let started = format!("started {}", ground.program().display());
    assert!(harm.contains(&started), "{harm:?} {}", finish.output);
    assert!(!ground.damage().is_empty());
}

/// Makes a directory look like a repository that names a program wherever git takes one.
pub fn make_fake_repository(ground: &Ground, dir: &Path, bare: bool) {
    let program = ground.program().display().to_string();
    let tree = if bare { "bare = true" } else { "bare = false\n worktree = ." };
    let config = format!(
        "[core]\n repositoryformatversion = 0\n {tree}\n fsmonitor = {program}\n\
         pager = {program}\n editor = {program}\n sshCommand = {program}\n askPass = {program}\n\
         hooksPath = {hooks}\n attributesFile = {attributes}\n\
         [diff]\n external = {program}\n [diff \"x\"]\n command = {program}\n textconv = {program}\n\
         [filter \"x\"]\n clean = {program}\n smudge = {program}\n process = {program}\n\
         [merge \"x\"]\n driver = {program}\n [gpg]\n program = {program}\n\
         [commit]\n gpgSign = true\n [uploadpack]\n packObjectsHook = {program}\n\
         [sequence]\n editor = {program}\n [interactive]\n diffFilter = {program}\n",
        hooks = dir.join("hooks").display(),
        attributes = dir.join("attributes").display(),
    );
    ground.put(&dir.join("HEAD"), "ref: refs/heads/main\n");
    ground.put(&dir.join("config"), config);
    ground.put(&dir.join("attributes"), "* filter=x diff=x merge=x\n");
    ground.put(&dir.join("objects/keep"), "");
    ground.put(&dir.join("refs/heads/keep"), "");
    for hook in ["pre-commit", "post-commit", "post-checkout", "post-index-change"] {
        ground.link(&dir.join("hooks").join(hook), &ground.program());
    }
}
