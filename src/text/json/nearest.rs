//! The name that was perhaps meant.

/// More names than this are not compared: a hint is not worth the wait.
const MOST_NAMES: usize = 4096;
const LONGEST_NAME: usize = 64;

/// The name most like `wanted`, if one is like it at all.
pub(super) fn nearest<'n>(wanted: &str, names: &'n [String]) -> Option<&'n str> {
    if wanted.is_empty() || wanted.len() > LONGEST_NAME {
        return None;
    }
    let furthest = 1 + wanted.chars().count() / 4;
    let comparable = names.iter().take(MOST_NAMES).filter(|name| name.len() <= LONGEST_NAME);
    let rated =
        comparable.map(|name| (distance(&wanted.to_lowercase(), &name.to_lowercase()), name));
    let (distance, name) = rated.min_by_key(|(distance, _)| *distance)?;
    (distance <= furthest).then_some(name)
}

/// How many characters to add, drop or change to make one text of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(&b) {
            let up = *cell;
            let changed = diagonal + usize::from(x != *y);
            left = changed.min(up + 1).min(left + 1);
            diagonal = up;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_changes() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn only_similar_names_are_offered() {
        let names = ["timeout".to_owned(), "retries".to_owned()];
        assert_eq!(nearest("timeuot", &names), Some("timeout"));
        assert_eq!(nearest("Retries", &names), Some("retries"));
        assert_eq!(nearest("colour", &names), None);
    }
}
