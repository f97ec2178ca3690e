//! Lists of phrases, most of which the first letter of a sentence rules out at once.

use crate::rules::parse::lexer::{Kind, Token};

/// Phrases that mean the same, and the letters they begin with.
#[derive(Debug)]
pub(in crate::rules) struct Phrases {
    texts: &'static [&'static str],
    initials: u32,
}

/// The phrases given, prepared when the program is compiled.
macro_rules! phrases {
    ($($text:literal),+ $(,)?) => {
        const { &$crate::rules::parse::phrases::Phrases::of(&[$($text),+]) }
    };
}
pub(in crate::rules) use phrases;

impl Phrases {
    /// Phrases none of which is empty.
    pub(in crate::rules) const fn of(texts: &'static [&'static str]) -> Self {
        let mut initials = 0;
        let mut at = 0;
        while at < texts.len() {
            initials |= bit(texts[at].as_bytes()[0].to_ascii_lowercase());
            at += 1;
        }
        Self { texts, initials }
    }

    /// The longest phrase that the tokens begin with, and how many of them spell it.
    pub(in crate::rules) fn longest(&self, tokens: &[Token<'_>]) -> Option<(usize, &'static str)> {
        let initial = initial(tokens)?;
        if self.initials & bit(initial) == 0 {
            return None;
        }
        longest_from(initial, tokens, self.texts.iter().map(|text| (*text, *text)))
    }
}

/// Of several names the longest one that the tokens spell, with what it stands for.
pub(in crate::rules) fn longest<'n, T>(
    tokens: &[Token<'_>],
    names: impl IntoIterator<Item = (&'n str, T)>,
) -> Option<(usize, T)> {
    longest_from(initial(tokens)?, tokens, names)
}

/// How many tokens spell `name`; `None` if they do not.
pub(in crate::rules) fn spelled(tokens: &[Token<'_>], name: &str) -> Option<usize> {
    (begins_with(name, initial(tokens)?)).then(|| spelled_out(tokens, name))?
}

fn longest_from<'n, T>(
    initial: u8,
    tokens: &[Token<'_>],
    names: impl IntoIterator<Item = (&'n str, T)>,
) -> Option<(usize, T)> {
    let mut best: Option<(usize, T)> = None;
    for (name, meaning) in names {
        if begins_with(name, initial)
            && let Some(count) = spelled_out(tokens, name)
            && best.as_ref().is_none_or(|(longest, _)| count > *longest)
        {
            best = Some((count, meaning));
        }
    }
    best
}

/// The first letter. Nearly all names are ruled out by it.
fn initial(tokens: &[Token<'_>]) -> Option<u8> {
    match tokens.first()?.kind {
        Kind::Word(word) => word.as_bytes().first().map(u8::to_ascii_lowercase),
        _ => None,
    }
}

fn begins_with(name: &str, initial: u8) -> bool {
    name.as_bytes().first().is_some_and(|first| first.to_ascii_lowercase() == initial)
}

/// A bit for each letter; other bytes share them, which only makes a list be looked through.
const fn bit(byte: u8) -> u32 {
    1 << (byte & 31)
}

fn spelled_out(tokens: &[Token<'_>], name: &str) -> Option<usize> {
    let mut expected = Letters(name.chars());
    let mut wanted = expected.next();
    for (i, token) in tokens.iter().enumerate() {
        let Kind::Word(word) = token.kind else { return None };
        for letter in Letters(word.chars()) {
            if wanted != Some(letter) {
                return None;
            }
            wanted = expected.next();
        }
        if wanted.is_none() {
            return Some(i + 1);
        }
    }
    None
}

/// What counts when names are compared: no separators, no letter case, one kind of apostrophe.
struct Letters<'s>(std::str::Chars<'s>);

impl Iterator for Letters<'_> {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        loop {
            match self.0.next()? {
                ' ' | '_' | '-' => {}
                '’' => return Some('\''),
                c => return Some(c.to_ascii_lowercase()),
            }
        }
    }
}
