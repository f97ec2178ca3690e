//! "Did you mean": the known name closest to one that is not known.

/// The candidate closest to `word`, if it is close enough to be what was meant.
///
/// Letter case, spaces, hyphens and underscores do not count. Up to a third of the letters may
/// differ; a swap of two neighbours is one difference. Of several equally close candidates the
/// first is taken.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    let word: Vec<char> = fold(word).take(LONGEST + 1).collect();
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    let mut letters = Vec::with_capacity(LONGEST + 1);
    let mut rows = Rows::default();
    for candidate in candidates {
        letters.clear();
        letters.extend(fold(candidate).take(LONGEST + 1));
        let allowed = (word.len().max(letters.len()) / 3).max(1);
        if letters.len().abs_diff(word.len()) > allowed {
            continue;
        }
        // Only what is closer than the best so far is of interest.
        let at_most = match best {
            Some((0, _)) => break,
            Some((least, _)) => allowed.min(least - 1),
            None => allowed,
        };
        if let Some(distance) = rows.distance(&word, &letters, at_most) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Whether two names differ only in letter case, spaces, hyphens and underscores.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    if let ([x, ..], [y, ..]) = (a.as_bytes(), b.as_bytes())
        && x.is_ascii_alphanumeric()
        && y.is_ascii_alphanumeric()
        && !x.eq_ignore_ascii_case(y)
    {
        return false;
    }
    if a.is_ascii() && b.is_ascii() {
        return ascii_letters(a).eq(ascii_letters(b));
    }
    fold(a).eq(fold(b))
}

/// The same letters as [`fold`] gives, much faster.
fn ascii_letters(text: &str) -> impl Iterator<Item = u8> {
    let letters = text.bytes().filter(|byte| !matches!(byte, b' ' | b'_' | b'-'));
    letters.map(|byte| byte.to_ascii_lowercase())
}

fn fold(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase)
}

/// The rows of the table that the distance of two words is computed in.
#[derive(Default)]
struct Rows {
    before: Vec<usize>,
    last: Vec<usize>,
    row: Vec<usize>,
}

impl Rows {
    /// How many letters differ, if there are not more than `at_most`.
    fn distance(&mut self, a: &[char], b: &[char], at_most: usize) -> Option<usize> {
        let Self { before, last, row } = self;
        before.clear();
        last.clear();
        last.extend(0..=b.len());
        let mut least_before = 0;
        for (i, x) in a.iter().enumerate() {
            row.clear();
            row.push(i + 1);
            let mut least = i + 1;
            for (j, y) in b.iter().enumerate() {
                let mut cost = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
                if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                    cost = cost.min(before[j - 1] + 1);
                }
                least = least.min(cost);
                row.push(cost);
            }
            // Later rows are built on two rows, and never get below both.
            if least.min(least_before) > at_most {
                return None;
            }
            least_before = least;
            std::mem::swap(before, last);
            std::mem::swap(last, row);
        }
        last.get(b.len()).copied().filter(|distance| *distance <= at_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_a_stranger_finds_none() {
        let names = ["priority", "error_tolerance", "active_persona"];
        assert_eq!(nearest("prioritty", names), Some("priority"));
        assert_eq!(nearest("eror tolerence", names), Some("error_tolerance"));
        assert_eq!(nearest("Active-Persona", names), Some("active_persona"));
        assert_eq!(nearest("budget", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"x".repeat(10_000), names), None);
    }

    #[test]
    fn names_are_the_same_in_any_script_and_spelling() {
        assert!(same_name("Max-Cost per_task", "maxcostPERtask"));
        assert!(same_name("Straße_Ä", "straße-ä"));
        assert!(same_name("\u{212a}elvin", "kelvin"));
        assert!(!same_name("max_cost", "max_costs") && !same_name("", "a"));
    }

    #[test]
    fn swapped_neighbours_count_once() {
        assert_eq!(nearest("hihg", ["low", "high"]), Some("high"));
        assert_eq!(nearest("lwo", ["low", "high"]), Some("low"));
    }

    proptest::proptest! {
        #[test]
        fn giving_up_early_changes_no_answer(
            a in "[abc]{0,9}",
            b in "[abc]{0,9}",
            at_most in 0usize..6,
        ) {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let whole = Rows::default().distance(&a, &b, usize::MAX);
            let mut rows = Rows::default();
            let _ = rows.distance(&b, &a, at_most);
            let found = rows.distance(&a, &b, at_most);
            proptest::prop_assert_eq!(found, whole.filter(|distance| *distance <= at_most));
        }
    }
}
