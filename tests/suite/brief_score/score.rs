//! How much of what a reader needs is in a brief, and how much of the brief is waste.

use std::sync::LazyLock;

use serde_json::Value;
use tiktoken_rs::{CoreBPE, o200k_base};

use super::state::Fact;

static TOKENIZER: LazyLock<CoreBPE> = LazyLock::new(|| o200k_base().unwrap());

/// What title, notice, headings and the list of what was left out may cost; more is waste.
const FRAME: usize = 150;

/// The score of one brief.
pub struct Score {
    /// How many facts there are.
    pub facts: usize,
    /// Those that are not in the brief.
    pub missing: Vec<String>,
    /// Real tokens.
    pub tokens: usize,
    /// Real tokens of title, notice, headings and what was left out.
    pub frame: usize,
    /// Real tokens that belong to no fact.
    pub waste: usize,
    /// The lines that were counted as waste, with how much of them.
    pub wasted: Vec<(usize, String)>,
}

impl Score {
    /// Scores a brief in markdown.
    ///
    /// Each line is one of three things. It **covers a fact**: it has all the texts of a fact that no
    /// line before it had; then it may cost half as much again as the texts of its facts, and fifteen
    /// tokens, and what it costs beyond that is waste. It is **frame**: the title, the notice, a
    /// heading with at least one fact below it, the list of what was left out; [`FRAME`] tokens in all.
    /// Anything else is **waste**, including a repeated fact.
    pub fn of(text: &str, facts: &[Fact]) -> Self {
        let texts: Vec<Vec<String>> = facts.iter().map(Fact::texts).collect();
        let mut covered = vec![false; facts.len()];
        let (mut tokens, mut frame, mut waste, mut wasted) = (0, 0, 0, Vec::new());
        let mut heading: Option<(usize, String)> = None;
        let mut left_out = false;
        let mut charge = |cost: usize, line: &str, wasted: &mut Vec<(usize, String)>| {
            if cost > 0 {
                waste += cost;
                wasted.push((cost, line.to_owned()));
            }
        };
        for (at, line) in text.lines().enumerate() {
            let cost = count(&format!("{line}\n"));
            tokens += cost;
            left_out |= line.starts_with("## Left out") || line.starts_with("Left out");
            if at < 2 || line.is_empty() || (left_out && line.starts_with('#')) {
                frame += cost;
                continue;
            }
            if line.starts_with("## ") {
                if let Some((cost, line)) = heading.replace((cost, line.to_owned())) {
                    charge(cost, &line, &mut wasted);
                }
                continue;
            }
            let lower = line.to_lowercase();
            let mut allowed = 0;
            for (texts, covered) in texts.iter().zip(&mut covered) {
                if !*covered && texts.iter().all(|text| holds(&lower, text)) {
                    *covered = true;
                    allowed += count(&texts.join(" ")) * 3 / 2;
                }
            }
            if left_out {
                frame += cost;
                continue;
            }
            if allowed == 0 {
                charge(cost, line, &mut wasted);
                continue;
            }
            frame += heading.take().map_or(0, |(cost, _)| cost);
            charge(cost.saturating_sub(allowed + 15), line, &mut wasted);
        }
        if let Some((cost, line)) = heading {
            charge(cost, &line, &mut wasted);
        }
        charge(frame.saturating_sub(FRAME), "frame", &mut wasted);
        let missing = texts.iter().zip(&covered).filter(|(_, covered)| !**covered);
        let missing = missing.map(|(texts, _)| texts.join(" + ")).collect();
        Self { facts: facts.len(), missing, tokens, frame, waste, wasted }
    }

    /// How many of the facts are there, in percent.
    pub fn recall(&self) -> f64 {
        100.0 * (self.facts - self.missing.len()) as f64 / self.facts as f64
    }

    /// How many of the tokens are waste, in percent.
    pub fn waste_share(&self) -> f64 {
        100.0 * self.waste as f64 / self.tokens.max(1) as f64
    }
}

impl Fact {
    fn texts(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let texts = match self {
            Self::One(one) => vec![one.clone()],
            Self::All(all) => all.iter().map(text).collect(),
        };
        texts.iter().map(|text| text.to_lowercase()).collect()
    }
}

/// Whether a line contains a text; a number must not be part of a longer one.
fn holds(line: &str, text: &str) -> bool {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == text);
    }
    line.contains(text)
}

fn count(text: &str) -> usize {
    TOKENIZER.encode_ordinary(text).len()
}
