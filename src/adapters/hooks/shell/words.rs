//! What a word of a shell may stand for: alternatives in braces, variables, patterns of names.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    rc::Rc,
};

use super::{VARIABLE, Word};
use crate::adapters::hooks::place::{Guarded, LONGEST, expand_home, names};

/// How many words one becomes at most; the rest stays as it is written.
const MOST_WORDS: usize = 64;
/// How many characters all words of an event become at most.
const MOST_CHARACTERS: usize = 64 << 10;

/// What is known where a command runs.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// The directory, unless it is not known.
    pub(super) cwd: Option<PathBuf>,
    /// What variables stand for; a loop's variable stands for several words.
    pub(super) variables: Rc<HashMap<String, Vec<Word>>>,
}

impl Scope {
    fn variable(&self, name: &str) -> Option<Vec<Word>> {
        if let Some(words) = self.variables.get(name) {
            return Some(words.clone());
        }
        let text = match name {
            "PWD" => self.cwd.as_ref()?.to_str()?.to_owned(),
            "HOME" | "STATEDIR" | "CLAUDE_PROJECT_DIR" => std::env::var(name).ok()?,
            _ => return None,
        };
        Some(vec![Word { text, ..Word::default() }])
    }
}

/// The words that words stand for, as long as there are not too many.
#[derive(Debug)]
pub(super) struct Expansion {
    left: usize,
}

impl Expansion {
    pub(super) fn new() -> Self {
        Self { left: MOST_CHARACTERS }
    }

    /// The words that a word stands for.
    pub(super) fn expand(&mut self, word: &Word, scope: &Scope) -> Vec<Word> {
        if !word.braces && !word.text.contains(VARIABLE) {
            return vec![word.clone()];
        }
        let words = if self.left > 0 { alternatives(word) } else { vec![word.clone()] };
        let words: Vec<Word> = words.iter().flat_map(|word| self.fill_in(word, scope)).collect();
        self.left = self.left.saturating_sub(words.iter().map(|word| word.text.len() + 1).sum());
        words
    }

    /// The word with its variables filled in; one that is not known becomes `$`.
    fn fill_in(&self, word: &Word, scope: &Scope) -> Vec<Word> {
        let mut words = vec![Word { text: String::new(), ..word.clone() }];
        for (at, part) in word.text.split(VARIABLE).enumerate() {
            let unknown = || vec![Word { text: "$".to_owned(), dynamic: true, ..Word::default() }];
            let values = match at % 2 {
                0 => vec![Word { text: part.to_owned(), ..Word::default() }],
                _ if self.left == 0 => unknown(),
                _ => scope.variable(part).unwrap_or_else(unknown),
            };
            let most = (MOST_WORDS / words.len()).max(1);
            let join = |head: &Word, value: &Word| Word {
                text: format!("{}{}", head.text, value.text),
                dynamic: head.dynamic || value.dynamic,
                glob: head.glob || value.glob,
                braces: false,
            };
            words = (words.iter())
                .filter(|head| head.text.len() <= LONGEST)
                .flat_map(|head| values.iter().take(most).map(|value| join(head, value)))
                .collect();
            if words.is_empty() {
                return Vec::new();
            }
        }
        words
    }
}

/// The words that a word with braces stands for: `{plan,history}.md` is two.
fn alternatives(word: &Word) -> Vec<Word> {
    if !word.braces || word.text.len() > LONGEST {
        return vec![word.clone()];
    }
    let (mut done, mut todo) = (Vec::new(), vec![word.text.clone()]);
    while let Some(text) = todo.pop() {
        match split(&text).filter(|_| done.len() + todo.len() < MOST_WORDS) {
            Some((head, parts, tail)) => {
                let parts = parts.iter().take(MOST_WORDS).rev();
                todo.extend(parts.map(|part| format!("{head}{part}{tail}")));
            }
            None => done.push(Word { text, ..word.clone() }),
        }
    }
    done
}

/// What is before the first braces with a comma, between their commas, and behind them.
fn split(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut first: Option<(usize, Vec<usize>, usize)> = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open.push((at, Vec::new())),
            b',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            b'}' => {
                let Some((start, commas)) = open.pop().filter(|(_, commas)| !commas.is_empty())
                else {
                    continue;
                };
                if first.as_ref().is_none_or(|(before, ..)| start < *before) {
                    first = Some((start, commas, at));
                }
                if open.is_empty() {
                    break;
                }
            }
            _ => {}
        }
    }
    let (start, commas, end) = first?;
    let begins = [start].into_iter().chain(commas.iter().copied()).map(|at| at + 1);
    let ends = commas.iter().copied().chain([end]);
    let parts = begins.zip(ends).map(|(from, to)| &text[from..to]).collect();
    Some((&text[..start], parts, &text[end + 1..]))
}

/// What a pattern, seen from `cwd`, fits of the way to what the state directory holds.
pub(super) fn fitting(guarded: &Guarded, cwd: &Path, pattern: &str) -> Vec<PathBuf> {
    let is_pattern = |part: &str| part.contains(['*', '?', '[']);
    if pattern.len() > LONGEST {
        return Vec::new();
    }
    let Some((at, _)) = pattern.split('/').enumerate().find(|(_, part)| is_pattern(part)) else {
        return Vec::new();
    };
    let known: Vec<&str> = pattern.split('/').take(at).collect();
    let known = if known == [""] { "/".to_owned() } else { known.join("/") };
    let Some(base) = guarded.look_up(&cwd.join(expand_home(&known))) else { return Vec::new() };
    let wanted = pattern.split('/').skip(at).filter(|part| !part.is_empty() && *part != ".");
    let wanted: Vec<&str> = wanted.collect();
    let fits = |name: &str| {
        let target = guarded.state().join(name);
        let parts: Vec<String> = (target.strip_prefix(&base).ok()?.components())
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        let mut pairs = wanted.iter().zip(&parts);
        let all = pairs.all(|(pattern, name)| {
            matches(pattern, name) && (!name.starts_with('.') || pattern.starts_with('.'))
        });
        let way: PathBuf = parts.iter().take(wanted.len()).collect();
        (all && !parts.is_empty()).then(|| base.join(way))
    };
    names().filter_map(fits).collect()
}

/// Whether a pattern of a shell fits a name; a bracket stands for any one character.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (mut rest, mut left) = (pattern, name);
    // Where the last star stands, and what of the name it has not taken yet.
    let mut star: Option<(&str, &str)> = None;
    loop {
        let mut chars = rest.chars();
        let next = chars.next();
        if next == Some('*') {
            rest = chars.as_str();
            star = Some((rest, left));
            continue;
        }
        let mut letters = left.chars();
        let letter = letters.next();
        if next.is_none() && letter.is_none() {
            return true;
        }
        if next.is_some() && letter.is_some() && (matches!(next, Some('?' | '[')) || next == letter)
        {
            let bracket = next == Some('[');
            rest = match bracket {
                true => chars.as_str().split_once(']').map_or("", |(_, rest)| rest),
                false => chars.as_str(),
            };
            left = letters.as_str();
            continue;
        }
        let Some((pattern, name)) = star else { return false };
        let mut taken = name.chars();
        if taken.next().is_none() {
            return false;
        }
        (rest, left) = (pattern, taken.as_str());
        star = Some((rest, left));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_alternatives_and_stay_few() {
        let texts = |text: &str| -> Vec<String> {
            let word = Word { text: text.to_owned(), braces: true, ..Word::default() };
            alternatives(&word).into_iter().map(|word| word.text).collect()
        };
        assert_eq!(texts("a/{b,c{d,e}}.f"), ["a/b.f", "a/cd.f", "a/ce.f"]);
        assert_eq!(texts("{}"), ["{}"]);
        assert_eq!(texts("{x}{a,}"), ["{x}a", "{x}"]);
        assert_eq!(texts("}{a,b"), ["}{a,b"]);
        assert!(texts(&"{a,b}".repeat(400)).len() <= 2 * MOST_WORDS);
    }

    #[test]
    fn variables_stand_for_what_is_known_of_them() {
        let word = |text: &str| Word { text: text.replace('%', "\0"), ..Word::default() };
        let variables = [("F", vec![word("a"), word("b")]), ("X", vec![word("x/%F%")])];
        let variables = variables.map(|(name, words)| (name.to_owned(), words));
        let scope = Scope { cwd: Some(PathBuf::from("/p")), variables: Rc::new(variables.into()) };
        let texts = |text: &str| -> Vec<(String, bool)> {
            let words = Expansion::new().expand(&word(text), &scope);
            words.into_iter().map(|word| (word.text, word.dynamic)).collect()
        };
        assert_eq!(texts("%PWD%/w"), [("/p/w".to_owned(), false)]);
        assert_eq!(texts("s/%F%.md"), [("s/a.md".to_owned(), false), ("s/b.md".to_owned(), false)]);
        assert_eq!(texts("%NONE%/w"), [("$/w".to_owned(), true)]);
        assert!(texts(&"%F%".repeat(40)).len() <= MOST_WORDS);
    }

    #[test]
    fn a_pattern_fits_part_of_the_way() {
        let guarded = Guarded::new(Path::new("/p/w/state"));
        let fit = |pattern: &str| fitting(&guarded, Path::new("/p"), pattern);
        assert_eq!(fit("*").first(), Some(&PathBuf::from("/p/w")));
        assert_eq!(fit("w/*/h*"), [PathBuf::from("/p/w/state/history.md")]);
        assert_eq!(fit("w/state/*.json"), [PathBuf::from("/p/w/state/variables.json")]);
        assert_eq!(fit("/*/w/state/.s*/log"), [PathBuf::from("/p/w/state/.statedir")]);
        for none in ["x*", "w/x/*", "/q/*", "w/state/*.bak", "w/state"] {
            assert_eq!(fit(none), Vec::<PathBuf>::new(), "{none}");
        }
    }
}
