//! For how many steps a directive still holds.

use crate::domain::quantity::number_word;

/// A directive with `for the next N steps` in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lifetime<'t> {
    /// What is before the number.
    before: &'t str,
    /// In digits or as a word.
    number: &'t str,
    /// What follows `steps`.
    after: &'t str,
}

impl<'t> Lifetime<'t> {
    /// Finds the lifetime in a directive, if it has one.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let next = text.to_ascii_lowercase().find("next ")? + "next ".len();
        let (before, rest) = text.split_at(next);
        let (number, rest) = rest.split_at(rest.find(' ')?);
        let rest = rest.trim_start();
        let tail = rest.get(4..).filter(|_| rest[..4].eq_ignore_ascii_case("step"))?;
        Some(Self { before, number, after: tail.strip_prefix(['s', 'S']).unwrap_or(tail) })
    }

    /// For how many steps it still holds, if the number can be read.
    pub(crate) fn steps(&self) -> Option<u32> {
        let digits = self.number.parse().ok();
        digits.or_else(|| number_word(self.number).map(|number| number as u32))
    }

    /// Whether both are the same directive, for however many steps.
    pub(crate) fn is_of_same(&self, other: &Self) -> bool {
        (self.before, self.after) == (other.before, other.after)
    }

    /// The directive with another number of steps.
    pub(crate) fn with_steps(&self, steps: u32) -> String {
        let noun = if steps == 1 { "step" } else { "steps" };
        format!("{}{steps} {noun}{}", self.before, self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_counts_down_in_words_and_digits() {
        let less = |text: &str, steps| Lifetime::parse(text).map(|life| life.with_steps(steps));
        assert_eq!(
            less("For the next 2 steps, be brief", 1).unwrap(),
            "For the next 1 step, be brief"
        );
        assert_eq!(
            less("Be brief for the next three steps.", 2).unwrap(),
            "Be brief for the next 2 steps."
        );
        assert_eq!(less("no lifetime", 1), None);
    }
}
