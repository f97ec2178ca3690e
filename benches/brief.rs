//! How much of what its reader needs is in a brief, at three budgets, for twenty states.
//!
//! `cargo bench --bench brief` prints the table; with names of states behind `--` it prints their
//! briefs, what is missing from them and what is waste.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

#[path = "../tests/suite/brief_score/score.rs"]
mod score;
#[path = "../tests/suite/brief_score/state.rs"]
mod state;

use score::Score;

const BUDGETS: [usize; 3] = [500, 1000, 2000];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--test" || arg == "--list") {
        return;
    }
    let mut names = args.iter().filter(|arg| !arg.starts_with('-')).peekable();
    if names.peek().is_some() {
        names.for_each(|name| show(name));
        return;
    }
    println!("{:<20} {:>23} {:>23} {:>23}", "", "500 tokens", "1,000 tokens", "2,000 tokens");
    let head = format!("{:>7} {:>7} {:>7}", "recall", "waste", "tokens");
    println!("{:<20} {head} {head} {head}", "");
    let mut sums = [[0.0; 3]; BUDGETS.len()];
    let states = state::all();
    for state in &states {
        print!("{:<20}", state.name);
        for (at, brief) in state.briefs(BUDGETS).iter().enumerate() {
            let score = Score::of(&brief.text, &state.facts);
            let figures = [score.recall(), score.waste_share(), score.tokens as f64];
            print!(" {}", line(figures));
            sums[at].iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
        println!();
    }
    print!("{:<20}", "mean");
    sums.iter().for_each(|sum| print!(" {}", line(sum.map(|sum| sum / states.len() as f64))));
    println!();
}

fn line([recall, waste, tokens]: [f64; 3]) -> String {
    format!("{recall:>6.1}% {waste:>6.1}% {tokens:>7.0}")
}

fn show(name: &str) {
    for state in state::all().iter().filter(|state| state.name.contains(name)) {
        for (budget, brief) in BUDGETS.iter().zip(state.briefs(BUDGETS)) {
            let score = Score::of(&brief.text, &state.facts);
            println!("=== {} at {budget}: {}\n{}", state.name, state.about, brief.text);
            println!("--- frame: {} of {} tokens", score.frame, score.tokens);
            score.missing.iter().for_each(|fact| println!("--- missing: {fact}"));
            score.wasted.iter().for_each(|(cost, line)| println!("--- waste {cost}: {line}"));
        }
    }
}
