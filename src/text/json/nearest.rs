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
    let wanted = wanted.to_lowercase();
    let rated = comparable.map(|name| (strsim::levenshtein(&wanted, &name.to_lowercase()), name));
    let (distance, name) = rated.min_by_key(|(distance, _)| *distance)?;
    (distance <= furthest).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_names_are_offered() {
        let names = ["timeout".to_owned(), "retries".to_owned()];
        assert_eq!(nearest("timeuot", &names), Some("timeout"));
        assert_eq!(nearest("Retries", &names), Some("retries"));
        assert_eq!(nearest("colour", &names), None);
    }
}
