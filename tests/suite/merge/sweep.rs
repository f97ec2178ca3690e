//! Generated merges in real repositories: nothing is lost, nothing is torn, everything can be read.
//!
//! A useful part of them runs always; `cargo xtask prove merges` runs as many as wanted, from a seed on.

use std::collections::BTreeSet;

use super::repository::Repository;
use crate::{random::Random, sweep_size};

/// The ids of all entries.
fn entries(repository: &Repository) -> BTreeSet<String> {
    let text = repository.project.read("history.md");
    let ids = text
        .lines()
        .filter_map(|line| line.strip_prefix("<!-- "))
        .filter(|rest| rest.starts_with('0'));
    ids.map(|rest| rest[..26].to_owned()).collect()
}

/// One or two random changes on the branch that is checked out.
fn work(repository: &Repository, dice: &mut Random, number: usize) {
    let project = &repository.project;
    for _ in 0..=dice.roll(2) {
        let step = (dice.roll(3) + 1).to_string();
        let word = format!("w{}", dice.roll(3));
        let unique = format!("n{number}");
        let title = format!("title=Renamed {unique}");
        let key = format!("k{}", dice.roll(4));
        let commands: [&[&str]; 9] = [
            &["step", "start", &step],
            &["step", "done", &step, "--cost", "0.01"],
            &["step", "fail", &step, "--error", "no"],
            &["step", "add", &unique],
            &["step", "set", &step, &title],
            &["var", "set", &key, &word],
            &["var", "append", "extracted_data.urls_processed", &unique],
            &["context", "add", &unique],
            &["history", "add", &unique],
        ];
        let at = usize::try_from(dice.roll(9)).unwrap();
        // A move that the lifecycle does not allow changes nothing.
        project.run(commands[at]);
    }
    repository.commit(&format!("work {number}"));
}

/// Settles whatever is left and completes what git began.
fn settle(repository: &Repository, dice: &mut Random) {
    let project = &repository.project;
    project.ok(&["merge", "--resolve"]);
    let left = project.json(&["merge", "--list"]);
    if !left["conflicts"].as_array().unwrap().is_empty() {
        project.refused(4, &["var", "set", "x", "1"]);
        let side = ["ours", "theirs"][usize::try_from(dice.roll(2)).unwrap()];
        project.ok(&["merge", "--take", side, "--all"]);
    }
    assert_eq!(project.json(&["merge", "--list"])["conflicts"].as_array().unwrap().len(), 0);
}

/// What git may do to a plan that it merges by lines; `check` reports it.
const MERGED_BY_LINES: [&str; 1] = ["duplicate_step"];
/// The same where it has put single commits on top of others by lines.
const PICKED_BY_LINES: [&str; 2] = ["duplicate_step", "duplicate_id"];

/// All entries are there, and everything else is as it should be but for what git may have done.
fn check(repository: &Repository, by_git: &[&str], all: &BTreeSet<String>, what: &str) {
    let project = &repository.project;
    let found = entries(repository);
    let lost: Vec<&String> = all.difference(&found).collect();
    assert!(lost.is_empty(), "{what}: lost {lost:?}");
    let verified = project.run(&["history", "verify", "--json"]);
    assert_eq!(verified.code, 0, "{what}: {}", verified.stdout);
    let checked = project.run(&["check", "--json"]);
    let findings = checked.json()["findings"].clone();
    let bad: Vec<_> = findings
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .filter(|finding| !by_git.contains(&finding["code"].as_str().unwrap()))
        .collect();
    assert!(bad.is_empty(), "{what}: {bad:?}\n{}", project.read("plan.md"));
    project.ok(&["status"]);
}

fn is_under_way(repository: &Repository) -> bool {
    let git = repository.project.root().join(".git");
    let marks = ["CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];
    marks.iter().any(|mark| git.join(mark).exists())
}

/// Lets git apply commits one after another, and settles where it stops.
fn go_on(repository: &Repository, dice: &mut Random, args: &[&str], verb: &str) {
    let mut ran = repository.try_git(args);
    for _ in 0..100 {
        // A commit without changes ends at once, and with a complaint.
        if ran.code == 0 || !is_under_way(repository) {
            return;
        }
        settle(repository, dice);
        repository.git(&["add", "-A"]);
        ran = repository.try_git(&[verb, "--continue"]);
        if ran.code != 0 && repository.git(&["ls-files", "-u"]).is_empty() {
            // Nothing is left of the commit.
            let staged = repository.try_git(&["diff", "--cached", "--quiet"]).code;
            assert_eq!(staged, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
            ran = repository.try_git(&[verb, "--skip"]);
        }
    }
    panic!("{args:?} does not end: {}{}", ran.stdout, ran.stderr);
}

/// A revert of the newest commit takes its entries out, which is reported and made good.
fn bring_back(repository: &Repository, before: &BTreeSet<String>, what: &str) {
    let project = &repository.project;
    let kept = entries(repository);
    let verified = project.run(&["history", "verify", "--json"]);
    let lost: Vec<&String> = before.difference(&kept).collect();
    assert_eq!(verified.code, 0, "{what}: {lost:?} {}", verified.stdout);
    for id in lost {
        assert!(verified.stdout.contains(id.as_str()), "{what}: {id} is not named");
        assert!(verified.stdout.contains("Revert "), "{what}: {}", verified.stdout);
    }
    project.run(&["check", "--fix"]);
    repository.commit("as it was");
}

/// Merges both other branches at once, or one after another where git gives up.
fn octopus(repository: &Repository, dice: &mut Random, one: &str) -> BTreeSet<String> {
    let others: Vec<&str> = ["a", "b", "c"].into_iter().filter(|name| *name != one).collect();
    let mut all = entries(repository);
    for other in &others {
        repository.git(&["checkout", "--quiet", other]);
        all.extend(entries(repository));
    }
    repository.git(&["checkout", "--quiet", one]);
    if repository.try_git(&["merge", "--quiet", "--no-edit", others[0], others[1]]).code != 0 {
        repository.git(&["reset", "--quiet", "--hard", one]);
        for other in others {
            if !repository.merges(other) {
                settle(repository, dice);
                repository.commit("merged");
            }
        }
    }
    all
}

fn sweep(seed: u64, merges: usize) {
    let mut dice = Random::new(seed);
    let driver = dice.roll(4) > 0;
    let mut has_picked = false;
    let repository = if driver { Repository::new() } else { Repository::without_driver(3) };
    let Some(repository) = repository else { return };
    for name in ["a", "b", "c"] {
        repository.git(&["branch", name, "main"]);
    }
    for number in 0..merges {
        let names = ["a", "b", "c"];
        let one = names[usize::try_from(dice.roll(3)).unwrap()];
        let other = names[usize::try_from(dice.roll(3)).unwrap()];
        for name in [one, other] {
            repository.git(&["checkout", "--quiet", name]);
            work(&repository, &mut dice, number * 2 + usize::from(name == other));
        }
        let theirs = entries(&repository);
        repository.git(&["checkout", "--quiet", one]);
        let ours = entries(&repository);
        let what = format!("seed {seed}, {number}: {other} into {one}");
        let union: BTreeSet<String> = ours.union(&theirs).cloned().collect();
        let way = dice.roll(12);
        let what = format!("{what}, way {way}, driver {driver}");
        let all = match way {
            0 | 1 => {
                let args = ["cherry-pick", "--keep-redundant-commits", other];
                go_on(&repository, &mut dice, &args, "cherry-pick");
                ours
            }
            2 => {
                go_on(&repository, &mut dice, &["rebase", "--quiet", other], "rebase");
                union
            }
            3 => {
                go_on(&repository, &mut dice, &["revert", "--no-edit", "HEAD"], "revert");
                bring_back(&repository, &ours, &what);
                ours
            }
            4 => octopus(&repository, &mut dice, one),
            _ => {
                if !repository.merges(other) {
                    settle(&repository, &mut dice);
                    repository.commit("merged");
                }
                union
            }
        };
        has_picked |= way < 4;
        let by_git: &[&str] = match (driver, has_picked) {
            (true, _) => &[],
            (false, false) => &MERGED_BY_LINES,
            (false, true) => &PICKED_BY_LINES,
        };
        check(&repository, by_git, &all, &what);
    }
}
#[test]
fn generated_merges_lose_nothing_and_stay_readable() {
    let slice = sweep_size::Slice::wanted().unwrap_or(sweep_size::Slice { size: 3, seed: 1 });
    for seed in 0..slice.size {
        sweep(slice.seed.wrapping_mul(1000) + seed, 5);
    }
    println!("proved: {} histories of 5 merges", slice.size);
}

#[test]
fn the_control_sees_a_lost_and_a_torn_entry() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    project.ok(&["history", "add", "One"]);
    project.ok(&["history", "add", "Two"]);
    let (all, good) = (entries(&repository), project.read("history.md"));
    check(&repository, &[], &all, "as it is");
    let fails = |text: String| {
        project.write("history.md", text);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check(&repository, &[], &all, "damaged");
        }))
        .is_err()
    };
    assert!(fails(good[..good.find("\n### Two").unwrap()].to_owned()));
    assert!(fails(good.replace("### One", "### Uno")));
    assert!(!fails(good));
}
