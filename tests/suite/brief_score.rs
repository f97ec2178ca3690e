//! The brief contains what its reader needs, and little else: twenty states with the facts that a
//! person must know. `cargo bench --bench brief` prints the figures of each.

mod score;
mod state;

use self::score::Score;

/// The mean of recall and waste that every change has to keep, in percent, at each budget.
const GOALS: [(usize, f64, f64); 3] = [(500, 93.0, 8.0), (1000, 99.0, 8.0), (2000, 99.0, 8.0)];

/// What each state has to keep, in percent.
const LEAST_RECALL: f64 = 95.0;
const MOST_WASTE: f64 = 15.0;

/// Plans of twenty steps and long text, for which 500 tokens are too few.
const LONG: [(&str, f64); 5] = [
    ("03-mid", 55.0),
    ("04-failed", 80.0),
    ("13-right-to-left", 65.0),
    ("18-two-agents", 70.0),
    ("20-old-template", 85.0),
];

#[test]
fn a_brief_tells_what_its_reader_needs_and_little_else() {
    let states = state::all();
    assert_eq!(states.len(), 20);
    let mut sums = [(0.0, 0.0); GOALS.len()];
    let (mut figures, mut short) = (String::new(), Vec::new());
    for state in &states {
        for (at, brief) in state.briefs(GOALS.map(|(budget, ..)| budget)).iter().enumerate() {
            let score = Score::of(&brief.text, &state.facts);
            let (budget, recall, waste) = (GOALS[at].0, score.recall(), score.waste_share());
            figures.push_str(&format!(
                "{} ({}) at {budget}: {recall:.1} % told, {waste:.1} % waste\n  missing: {:?}\n  \
                 {} tokens of frame, waste: {:?}\n",
                state.name, state.about, score.missing, score.frame, score.wasted
            ));
            let long = LONG.iter().find(|(name, _)| budget == 500 && *name == state.name);
            let least = long.map_or(LEAST_RECALL, |(_, least)| *least);
            let kept = recall >= least && waste <= MOST_WASTE;
            short.extend((!kept).then(|| {
                format!(
                    "{} at {budget}: {recall:.1} % told, {waste:.1} % waste\n{}",
                    state.name, brief.text
                )
            }));
            sums[at] = (sums[at].0 + recall, sums[at].1 + waste);
        }
    }
    assert!(short.is_empty(), "{figures}\n{}", short.join("\n"));
    for ((budget, least, most), (recall, waste)) in GOALS.into_iter().zip(sums) {
        let count = states.len() as f64;
        let (recall, waste) = (recall / count, waste / count);
        println!("briefs of {budget} tokens: {recall:.1} % told, {waste:.1} % waste");
        assert!(recall >= least, "{recall:.1} % told at {budget} tokens\n{figures}");
        assert!(waste <= most, "{waste:.1} % waste at {budget} tokens\n{figures}");
    }
}

#[test]
fn the_score_sees_what_is_missing_said_twice_or_padded() {
    let state = state::all().into_iter().find(|state| state.name == "09-merged").unwrap();
    let [brief] = state.briefs([2000]);
    let whole = Score::of(&brief.text, &state.facts);
    assert_eq!((whole.recall(), whole.waste), (100.0, 0));

    let without: String = brief
        .text
        .lines()
        .filter(|line| !line.contains("Two of the five fonts"))
        .map(|line| format!("{line}\n"))
        .collect();
    let score = Score::of(&without, &state.facts);
    assert_eq!(score.missing, ["two of the five fonts are never used before sign-in."]);

    let twice = brief.text.clone() + "\n## Again\n> 5 Measure again\n";
    assert!(Score::of(&twice, &state.facts).waste >= 8);

    let padded = brief
        .text
        .replace("> 5 Measure again", &format!("> 5 Measure again {}", "and so on ".repeat(20)));
    assert!(Score::of(&padded, &state.facts).waste >= 40);

    let framed = "## Nothing\n\n".repeat(60) + &brief.text;
    assert!(Score::of(&framed, &state.facts).waste >= 100);
}
