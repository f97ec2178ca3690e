//! How much plain `git merge` unites without the driver, as behind the merge button of a hosting
//! site: two branches that work on different steps, merged by lines.
//!
//! `STATEDIR_SWEEP=full` measures 200 pairs of branches; a part of them is measured always.

use std::{
    collections::BTreeMap,
    thread::sleep,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{dice::Dice, merge::repository::Repository};

/// The least share of pairs, in per cent, that must be united: of 200 pairs 66 were measured, and
/// a few pairs vary with the ids of their steps.
const LEAST: usize = 50;
const LEAST_OF_MANY: usize = 60;

/// The ids of the steps.
const IDS: [&str; 8] = ["mq4t", "c7xd", "w2hk", "f9rb", "t3jn", "b8vs", "p5gz", "h6wc"];

/// What came of many pairs of branches.
#[derive(Default)]
struct Measure {
    pairs: usize,
    /// Pairs that git united and `check` accepts.
    good: usize,
    /// Those, and pairs that git would unite but for what both add to history.md and context.md.
    but_for_ends: usize,
    /// How often each file was in conflict, and how often each finding was made.
    against: BTreeMap<String, usize>,
}

impl Measure {
    fn percent(&self) -> usize {
        self.good * 100 / self.pairs.max(1)
    }
}

/// One step, from its start to its end, on the branch that is checked out.
fn work(repository: &Repository, dice: &mut Dice, step: u64, side: &str) {
    let project = &repository.project;
    let step = step.to_string();
    project.ok(&["step", "start", &step]);
    if dice.one_in(2) {
        let text = format!("Part {step} as {side} saw it: {} of 100.", dice.roll(100));
        project.ok(&["context", "add", "--section", "Key Findings", &text]);
    }
    let rows = format!("rows={}", dice.roll(1000));
    let file = format!("file=out/part-{step}.csv");
    let cost = format!("0.0{}", dice.roll(9) + 1);
    let why = format!("exit status {}", dice.roll(9) + 1);
    let mut end = vec!["step", "done", step.as_str()];
    if dice.one_in(4) {
        end = vec!["step", "fail", step.as_str(), "--error", &why];
    }
    if dice.one_in(2) {
        end.extend(["--output", &rows]);
        if dice.one_in(2) {
            end.extend(["--output", &file]);
        }
    }
    if dice.one_in(2) {
        end.extend(["--cost", &cost]);
    }
    project.ok(&end);
}

/// One or two steps, and now and then a new one.
fn branch(repository: &Repository, dice: &mut Dice, name: &str, steps: &[u64]) {
    repository.git(&["checkout", "--quiet", "-B", name, "main"]);
    for step in steps {
        work(repository, dice, *step, name);
    }
    if dice.one_in(4) {
        let title = format!("Look again at {}", steps[0]);
        let before = (dice.roll(4) + 4).to_string();
        match dice.one_in(2) {
            true => repository.project.ok(&["step", "add", &title]),
            false => repository.project.ok(&["step", "add", &title, "--after", &before]),
        };
    }
    repository.commit(name);
}

/// Branches are not made within the same second: a time that both write must differ.
fn later(repository: &Repository) {
    if repository.project.read("plan.md").contains("last_updated") {
        let past = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_millis();
        sleep(Duration::from_millis(u64::from(1005 - past)));
    }
}

/// Some of the steps from 3 to 8 for one side, and others for the other.
fn share_out(dice: &mut Dice) -> [Vec<u64>; 2] {
    let mut steps: Vec<u64> = (3..=8).collect();
    let mut take = |dice: &mut Dice| {
        let at = usize::try_from(dice.roll(steps.len() as u64)).unwrap();
        steps.remove(at)
    };
    let mut sides = [vec![take(dice)], vec![take(dice)]];
    for side in &mut sides {
        if dice.one_in(3) {
            side.push(take(dice));
        }
    }
    sides
}

/// Merges `b` into `a` by lines and says what stands against it.
fn unite(repository: &Repository) -> Vec<String> {
    repository.git(&["checkout", "--quiet", "a"]);
    if !repository.merges("b") {
        let files = repository.git(&["diff", "--name-only", "--diff-filter=U"]);
        repository.git(&["merge", "--abort"]);
        let name = |path: &str| format!("conflict in {}", path.rsplit('/').next().unwrap());
        return files.lines().map(name).collect();
    }
    let checked = repository.project.run(&["check", "--json"]);
    let findings = checked.json()["findings"].clone();
    let is_error = |finding: &&serde_json::Value| finding["severity"] == "error";
    let errors = findings.as_array().unwrap().iter().filter(is_error);
    let mut found: Vec<String> =
        errors.map(|finding| format!("check: {}", finding["code"].as_str().unwrap())).collect();
    found.dedup();
    if checked.code != 0 && found.is_empty() {
        found.push(format!("check: exit {}", checked.code));
    }
    found
}

/// Measures so many pairs, with the attributes that `init` writes or, as hosting sites ignore them,
/// without.
fn measure(pairs: usize, has_attributes: bool) -> Option<Measure> {
    let repository = Repository::begun_in_git(8)?;
    let attributes = repository.project.path(".gitattributes");
    assert!(attributes.exists(), "history.md is united by lines where git is asked to");
    if !has_attributes {
        std::fs::remove_file(attributes).unwrap();
    }
    // Which outputs are neighbours follows from the ids: the same in every run.
    let mut plan = repository.project.read("plan.md");
    let listed = repository.project.json(&["step", "list"]);
    for (step, id) in listed["steps"].as_array().unwrap().iter().zip(IDS) {
        plan = plan.replace(step["id"].as_str().unwrap(), id);
    }
    repository.project.write("plan.md", plan);
    for step in ["1", "2"] {
        repository.project.ok(&["step", "start", step]);
        repository.project.ok(&["step", "done", step, "--output", "rows=7", "--cost", "0.01"]);
    }
    repository.commit("two steps are done");
    let mut measure = Measure { pairs, ..Measure::default() };
    for pair in 1..=pairs {
        let mut dice = Dice::new(pair as u64);
        let [ours, theirs] = share_out(&mut dice);
        branch(&repository, &mut dice, "a", &ours);
        later(&repository);
        branch(&repository, &mut dice, "b", &theirs);
        let against = unite(&repository);
        let is_at_end =
            |what: &String| ["history.md", "context.md"].iter().any(|name| what.ends_with(name));
        measure.but_for_ends += usize::from(against.iter().all(is_at_end));
        measure.good += usize::from(against.is_empty());
        for what in against {
            *measure.against.entry(what).or_default() += 1;
        }
    }
    Some(measure)
}

#[test]
fn branches_that_finish_different_steps_merge_as_text() {
    let full = std::env::var("STATEDIR_SWEEP").is_ok_and(|wanted| wanted == "full");
    let Some(measure) = measure(if full { 200 } else { 20 }, true) else { return };
    println!("plain merges: {} of {} ({} %)", measure.good, measure.pairs, measure.percent());
    for (what, times) in &measure.against {
        println!("  {times} × {what}");
    }
    let least = if full { LEAST_OF_MANY } else { LEAST };
    assert!(measure.percent() >= least, "only {} %", measure.percent());
}

/// Both branches add to the end of history.md, and often of context.md, which only `merge=union` or the
/// driver can unite.
#[test]
fn without_attributes_only_what_both_add_to_is_in_the_way_more_often() {
    let full = std::env::var("STATEDIR_SWEEP").is_ok_and(|wanted| wanted == "full");
    let pairs = if full { 200 } else { 6 };
    let Some(measure) = measure(pairs, false) else { return };
    println!(
        "without attributes: {} of {}, and {} but for the ends of history.md and context.md",
        measure.good, measure.pairs, measure.but_for_ends
    );
    assert_eq!(measure.good, 0, "this has become better: say so");
    if full {
        assert!(measure.but_for_ends * 100 / pairs >= LEAST_OF_MANY);
    }
}
