//! "Did you mean": the known name closest to one that is not known.

/// The candidate closest to `word`, if it is close enough to be what was meant.
///
/// Letter case, spaces, hyphens and underscores do not count. Up to a third of the letters may
/// differ; a swap of two neighbours is one difference. Of several equally close candidates the
/// first is taken.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    const LONGEST: usize = 64;
    let (word, length) = folded(word, LONGEST);
    if length == 0 || length > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let (letters, count) = folded(candidate, LONGEST);
        let allowed = (length.max(count) / 3).max(1);
        if count.abs_diff(length) > allowed {
            continue;
        }
        let distance = strsim::osa_distance(&word, &letters);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
        if distance == 0 {
            break;
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Whether two names differ only in letter case, spaces, hyphens and underscores.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    // Statuses are nearly always written as the lifecycle has them, and there are thousands.
    if a == b {
        return true;
    }
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

/// The letters that count, up to one more than `most`, and how many they are.
fn folded(text: &str, most: usize) -> (String, usize) {
    let mut count = 0;
    let letters = fold(text).take(most + 1).inspect(|_| count += 1).collect();
    (letters, count)
}

fn fold(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase)
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
    fn only_similar_names_are_offered() {
        let names = ["timeout", "retries"];
        assert_eq!(nearest("timeuot", names), Some("timeout"));
        assert_eq!(nearest("Retries", names), Some("retries"));
        assert_eq!(nearest("colour", names), None);
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
}
