//! English words that are one token in both vocabularies, with and without a capital and a space.
//!
//! The hash table is built at compile time, because a brief takes only about a millisecond.

const WORDS: &[u8] = include_bytes!("frequent_words.txt");

/// A power of two, several times the number of words.
const SLOTS: usize = 16384;

/// For each slot, the offset of a word plus one; 0 if the slot is empty.
static TABLE: [u16; SLOTS] = table();

/// Whether it is one of them, without regard to letter case.
pub(super) fn contains(word: &[u8]) -> bool {
    let mut slot = slot(word);
    while TABLE[slot] != 0 {
        let found = &WORDS[usize::from(TABLE[slot]) - 1..];
        let ends = found.get(word.len()).is_none_or(u8::is_ascii_whitespace);
        if ends && found.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)) {
            return true;
        }
        slot = (slot + 1) % SLOTS;
    }
    false
}

/// The first slot to look at (FNV-1a).
const fn slot(word: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < word.len() {
        hash = (hash ^ word[at].to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ (hash >> 16)) as usize % SLOTS
}

const fn table() -> [u16; SLOTS] {
    assert!(WORDS.len() < u16::MAX as usize);
    let mut table = [0; SLOTS];
    let mut start = 0;
    while start < WORDS.len() {
        let mut end = start;
        while end < WORDS.len() && !WORDS[end].is_ascii_whitespace() {
            end += 1;
        }
        if end > start {
            let (_, rest) = WORDS.split_at(start);
            let (word, _) = rest.split_at(end - start);
            let mut at = slot(word);
            while table[at] != 0 {
                at = (at + 1) % SLOTS;
            }
            table[at] = start as u16 + 1;
        }
        start = end + 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_and_nothing_else() {
        let all: Vec<&str> = std::str::from_utf8(WORDS).unwrap().split_whitespace().collect();
        assert!(all.len() > 500);
        for word in &all {
            assert!(
                contains(word.as_bytes()) && contains(word.to_uppercase().as_bytes()),
                "{word}"
            );
            for other in [format!("{word}q"), word[1..].to_owned(), format!("z{word}")] {
                assert_eq!(contains(other.as_bytes()), all.contains(&other.as_str()), "{other}");
            }
        }
        assert!(!contains(b""));
    }
}
