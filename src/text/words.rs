//! Lists of words.

/// Words with blanks between them.
///
/// They are one text: a text for every word would be an address for every word, which every start of
/// the program would have to work out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words(pub(crate) &'static str);

impl Words {
    /// Whether `word` is one of them.
    pub(crate) fn contains(self, word: &str) -> bool {
        self.iter().any(|one| one == word)
    }

    /// One after another.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.split_ascii_whitespace()
    }
}
