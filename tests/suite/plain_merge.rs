//! How much plain `git merge` unites without the driver, as behind the merge button of a hosting
//! site: two branches that work on different steps, merged by lines.
//!
//! `STATEDIR_SWEEP=full` measures 200 pairs of branches; a part of them is measured always.

use std::{
    collections::BTreeMap,
    thread::sleep,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{merge::repository::Repository, random::Random};

/// A plan at the time when branches leave it.
struct Base {
    steps: u64,
    done: u64,
    /// The least share of pairs, in per cent, that must be united, and of those of which neither side
    /// puts in a new step.
    least: usize,
    least_of_finishing: usize,
}

/// Results are in variables.json in the order of the ids: two new ones conflict where no other is
/// between them, so the fewer there are, the more often.
const YOUNG: Base = Base { steps: 8, done: 2, least: 60, least_of_finishing: 80 };
const HALF_WAY: Base = Base { steps: 20, done: 10, least: 65, least_of_finishing: 85 };

/// So many pairs leave one plan; the next ones leave another with other ids.
const PAIRS_OF_A_PLAN: usize = 20;

/// What came of many pairs of branches.
#[derive(Default)]
struct Measure {
    pairs: usize,
    /// Pairs that git united and `check` accepts.
    good: usize,
    /// Those, and pairs that git would unite but for what both add to history.md and context.md.
    but_for_ends: usize,
    /// Pairs of which neither side put in a step, and those of them that are good.
    finishing: usize,
    good_finishing: usize,
    /// How often each file was in conflict, and how often each finding was made.
    against: BTreeMap<String, usize>,
}

impl Measure {
    fn percent(&self) -> usize {
        self.good * 100 / self.pairs.max(1)
    }

    fn percent_of_finishing(&self) -> usize {
        self.good_finishing * 100 / self.finishing.max(1)
    }
}

/// One step, from its start to its end, on the branch that is checked out.
fn work(repository: &Repository, dice: &mut Random, step: u64, side: &str) {
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

/// One or two steps, and now and then a new one; whether there is one.
fn branch(
    repository: &Repository,
    dice: &mut Random,
    base: &Base,
    name: &str,
    steps: &[u64],
) -> bool {
    repository.git(&["checkout", "--quiet", "-B", name, "main"]);
    for step in steps {
        work(repository, dice, *step, name);
    }
    let has_new = dice.one_in(4);
    if has_new {
        let title = format!("Look again at {}", steps[0]);
        let before = (dice.roll(base.steps - base.done - 2) + base.done + 2).to_string();
        match dice.one_in(2) {
            true => repository.project.ok(&["step", "add", &title]),
            false => repository.project.ok(&["step", "add", &title, "--after", &before]),
        };
    }
    repository.commit(name);
    has_new
}

/// Branches are not made within the same second: a time that both write must differ.
fn later(repository: &Repository) {
    if repository.project.read("plan.md").contains("last_updated") {
        let past = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_millis();
        sleep(Duration::from_millis(u64::from(1005 - past)));
    }
}

/// Some of the open steps for one side, and others for the other.
fn share_out(dice: &mut Random, base: &Base) -> [Vec<u64>; 2] {
    let mut steps: Vec<u64> = (base.done + 1..=base.steps).collect();
    let mut take = |dice: &mut Random| {
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

/// Merges `b` into `a` line by line; returns what prevents it.
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

/// A plan of which some steps are done, with the attributes that `init` writes or, as hosting sites
/// ignore them, without. Its ids follow from `seed`.
fn begin(base: &Base, seed: u64, has_attributes: bool) -> Option<Repository> {
    const LETTERS: &[u8] = b"bcdfghjkmnpqrstvwxz";
    let repository = Repository::begun_in_git(usize::try_from(base.steps).unwrap())?;
    let attributes = repository.project.path(".gitattributes");
    assert!(attributes.exists(), "history.md is united by lines where git is asked to");
    if !has_attributes {
        std::fs::remove_file(attributes).unwrap();
    }
    // Which results are neighbours follows from the ids: the same in every run.
    let mut dice = Random::new(seed);
    let mut plan = repository.project.read("plan.md");
    let listed = repository.project.json(&["step", "list"]);
    for (at, step) in listed["steps"].as_array().unwrap().iter().enumerate() {
        let letters = |_| char::from(*dice.pick(LETTERS));
        let id = format!("{}{at}", (0..3).map(letters).collect::<String>());
        plan = plan.replace(step["id"].as_str().unwrap(), &id);
    }
    repository.project.write("plan.md", plan);
    for step in 1..=base.done {
        let step = step.to_string();
        repository.project.ok(&["step", "start", &step]);
        repository.project.ok(&["step", "done", &step, "--output", "rows=7", "--cost", "0.01"]);
    }
    repository.commit("some steps are done");
    Some(repository)
}

/// Measures so many pairs.
fn measure(base: &Base, pairs: usize, has_attributes: bool) -> Option<Measure> {
    let mut measure = Measure { pairs, ..Measure::default() };
    let mut repository = begin(base, 1, has_attributes)?;
    for pair in 1..=pairs {
        if pair > 1 && pair % PAIRS_OF_A_PLAN == 1 {
            repository = begin(base, pair as u64, has_attributes)?;
        }
        let mut dice = Random::new(pair as u64);
        let [ours, theirs] = share_out(&mut dice, base);
        let mut has_new = branch(&repository, &mut dice, base, "a", &ours);
        later(&repository);
        has_new |= branch(&repository, &mut dice, base, "b", &theirs);
        let against = unite(&repository);
        let is_at_end =
            |what: &String| ["history.md", "context.md"].iter().any(|name| what.ends_with(name));
        measure.but_for_ends += usize::from(against.iter().all(is_at_end));
        measure.good += usize::from(against.is_empty());
        measure.finishing += usize::from(!has_new);
        measure.good_finishing += usize::from(!has_new && against.is_empty());
        for what in against {
            *measure.against.entry(what).or_default() += 1;
        }
    }
    Some(measure)
}

fn is_full() -> bool {
    std::env::var("STATEDIR_SWEEP").is_ok_and(|wanted| wanted == "full")
}

fn assert_merges(base: &Base, pairs: usize) {
    let Some(measure) = measure(base, pairs, true) else { return };
    println!(
        "plain merges, {} of {} steps done: {} of {} ({} %); without new steps {} of {} ({} %)",
        base.done,
        base.steps,
        measure.good,
        measure.pairs,
        measure.percent(),
        measure.good_finishing,
        measure.finishing,
        measure.percent_of_finishing()
    );
    for (what, times) in &measure.against {
        println!("  {times} × {what}");
    }
    assert!(measure.percent() >= base.least, "only {} %", measure.percent());
    let finishing = measure.percent_of_finishing();
    assert!(finishing >= base.least_of_finishing, "only {finishing} %");
}

#[test]
fn branches_that_finish_different_steps_merge_as_text() {
    assert_merges(&YOUNG, if is_full() { 200 } else { 20 });
}

#[test]
fn half_way_through_a_plan_most_branches_merge_as_text() {
    // A few pairs say little about a plan of twenty steps.
    if is_full() {
        assert_merges(&HALF_WAY, 200);
    }
}

/// Both branches add to the end of history.md, and often of context.md, which only `merge=union` or the
/// driver can unite.
#[test]
fn without_attributes_only_what_both_add_to_is_in_the_way_more_often() {
    let pairs = if is_full() { 200 } else { 6 };
    let Some(measure) = measure(&YOUNG, pairs, false) else { return };
    println!(
        "without attributes: {} of {}, and {} but for the ends of history.md and context.md",
        measure.good, measure.pairs, measure.but_for_ends
    );
    assert_eq!(measure.good, 0, "this has become better: say so");
    if is_full() {
        assert!(measure.but_for_ends * 100 / pairs >= YOUNG.least);
    }
}

/// Red while only entries that the log knows were looked for on other branches.
#[test]
fn a_picked_entry_may_follow_one_that_stayed_on_its_branch() {
    let Some(repository) = Repository::without_driver(3) else { return };
    let project = &repository.project;
    for name in ["a", "b"] {
        repository.git(&["branch", name]);
    }
    repository.on("a", &[&["history", "add", "Only on a"]]);
    repository.on("b", &[&["history", "add", "On both"]]);
    repository.git(&["checkout", "--quiet", "a"]);
    if !repository.merges("b") {
        project.ok(&["merge", "--resolve"]);
        repository.commit("merged");
    }
    repository.on("a", &[&["history", "add", "Picked"]]);
    repository.git(&["checkout", "--quiet", "b"]);
    repository.git(&["cherry-pick", "a"]);
    let history = project.read("history.md");
    assert!(history.contains("### Picked") && !history.contains("### Only on a"), "{history}");
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);

    // In a clone without that branch nobody has it.
    let clone = project.root().join("clone");
    let path = clone.to_string_lossy().into_owned();
    repository.git(&["clone", "--quiet", "--single-branch", "--branch", "b", ".", &path]);
    let verified = repository.ours_in(&clone, &["history", "verify"]);
    assert_eq!(verified.code, 4, "{}", verified.stdout);
}
