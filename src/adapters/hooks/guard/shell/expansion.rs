//! Expands the words of a shell: braces, variables and globs.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    rc::Rc,
};

use super::{
    super::guarded_state::{GuardedState, LONGEST_PATH, expand_home, state_names},
    parser::{ShellWord, VARIABLE},
};

/// How many words one word expands to at most; the rest stays as written.
const MOST_WORDS: usize = 64;
/// How many bytes all words of an event expand to at most.
const MOST_BYTES: usize = 64 << 10;

/// What is known where a command runs.
#[derive(Clone, Debug)]
pub(super) struct ShellScope {
    /// The working directory, if it is known.
    pub(super) cwd: Option<PathBuf>,
    /// The values of variables; the variable of a loop has several.
    pub(super) variables: Rc<HashMap<String, Vec<ShellWord>>>,
}

impl ShellScope {
    fn variable(&self, name: &str) -> Option<Vec<ShellWord>> {
        if let Some(words) = self.variables.get(name) {
            return Some(words.clone());
        }
        let text = match name {
            "PWD" => self.cwd.as_ref()?.to_str()?.to_owned(),
            "HOME" | "STATEDIR" | "CLAUDE_PROJECT_DIR" => std::env::var(name).ok()?,
            _ => return None,
        };
        Some(vec![ShellWord { text, ..ShellWord::default() }])
    }
}

/// Expands words, as long as there are not too many.
#[derive(Debug)]
pub(super) struct Expansion {
    left: usize,
}

impl Expansion {
    pub(super) fn new() -> Self {
        Self { left: MOST_BYTES }
    }

    /// The words that words expand to.
    pub(super) fn expand_all(&mut self, words: &[ShellWord], scope: &ShellScope) -> Vec<ShellWord> {
        words.iter().flat_map(|word| self.expand(word, scope)).collect()
    }

    fn expand(&mut self, word: &ShellWord, scope: &ShellScope) -> Vec<ShellWord> {
        if !word.braces && !word.text.contains(VARIABLE) {
            return vec![word.clone()];
        }
        let words = if self.left > 0 { expand_braces(word) } else { vec![word.clone()] };
        let words: Vec<ShellWord> =
            words.iter().flat_map(|word| self.expand_variables(word, scope)).collect();
        self.left = self.left.saturating_sub(words.iter().map(|word| word.text.len() + 1).sum());
        words
    }

    /// The word with the values of its variables; an unknown one becomes `$`.
    fn expand_variables(&self, word: &ShellWord, scope: &ShellScope) -> Vec<ShellWord> {
        let mut words = vec![ShellWord { text: String::new(), ..word.clone() }];
        for (at, part) in word.text.split(VARIABLE).enumerate() {
            let unknown = || vec![ShellWord { dynamic: true, ..ShellWord::new("$") }];
            let values = match at % 2 {
                0 => vec![ShellWord::new(part)],
                _ if self.left == 0 => unknown(),
                _ => scope.variable(part).unwrap_or_else(unknown),
            };
            let most = (MOST_WORDS / words.len()).max(1);
            let join = |head: &ShellWord, value: &ShellWord| ShellWord {
                text: format!("{}{}", head.text, value.text),
                dynamic: head.dynamic || value.dynamic,
                glob: head.glob || value.glob,
                braces: false,
            };
            words = (words.iter())
                .filter(|head| head.text.len() <= LONGEST_PATH)
                .flat_map(|head| values.iter().take(most).map(|value| join(head, value)))
                .collect();
            if words.is_empty() {
                return Vec::new();
            }
        }
        words
    }
}

/// The words that braces expand to: `{plan,history}.md` is two.
fn expand_braces(word: &ShellWord) -> Vec<ShellWord> {
    if !word.braces || word.text.len() > LONGEST_PATH {
        return vec![word.clone()];
    }
    let (mut done, mut todo) = (Vec::new(), vec![word.text.clone()]);
    while let Some(text) = todo.pop() {
        match split_braces(&text).filter(|_| done.len() + todo.len() < MOST_WORDS) {
            Some((head, parts, tail)) => {
                let parts = parts.iter().take(MOST_WORDS).rev();
                todo.extend(parts.map(|part| format!("{head}{part}{tail}")));
            }
            None => done.push(ShellWord { text, ..word.clone() }),
        }
    }
    done
}

/// What is before the first braces with a comma, between their commas, and after them.
fn split_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
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

/// What a pattern, relative to `cwd`, matches on the path to the files in the state directory.
pub(super) fn expand_glob(guarded: &GuardedState, cwd: &Path, pattern: &str) -> Vec<PathBuf> {
    let is_pattern = |part: &str| part.contains(['*', '?', '[']);
    if pattern.len() > LONGEST_PATH {
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
    let matching = |name: &str| {
        let target = guarded.directory().join(name);
        let parts: Vec<String> = (target.strip_prefix(&base).ok()?.components())
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        let mut pairs = wanted.iter().zip(&parts);
        let all = pairs.all(|(pattern, name)| expands_to(pattern, name));
        let matched: PathBuf = parts.iter().take(wanted.len()).collect();
        (all && !parts.is_empty()).then(|| base.join(matched))
    };
    state_names().filter_map(matching).collect()
}

/// Whether a shell expands a glob to a name: a hidden one has to be asked for.
pub(super) fn expands_to(pattern: &str, name: &str) -> bool {
    glob_matches(pattern, name) && (!name.starts_with('.') || pattern.starts_with('.'))
}

/// Whether a glob matches a name; brackets match any one character.
pub(super) fn glob_matches(pattern: &str, name: &str) -> bool {
    let (mut rest, mut left) = (pattern, name);
    // What follows the last star in the pattern, and what of the name that star has not matched yet.
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
            let word = ShellWord { braces: true, ..ShellWord::new(text) };
            expand_braces(&word).into_iter().map(|word| word.text).collect()
        };
        assert_eq!(texts("a/{b,c{d,e}}.f"), ["a/b.f", "a/cd.f", "a/ce.f"]);
        assert_eq!(texts("{}"), ["{}"]);
        assert_eq!(texts("{x}{a,}"), ["{x}a", "{x}"]);
        assert_eq!(texts("}{a,b"), ["}{a,b"]);
        assert!(texts(&"{a,b}".repeat(400)).len() <= 2 * MOST_WORDS);
    }

    #[test]
    fn variables_stand_for_what_is_known_of_them() {
        let word = |text: &str| ShellWord::new(&text.replace('%', "\0"));
        let variables = [("F", vec![word("a"), word("b")]), ("X", vec![word("x/%F%")])];
        let variables = variables.map(|(name, words)| (name.to_owned(), words));
        let scope =
            ShellScope { cwd: Some(PathBuf::from("/p")), variables: Rc::new(variables.into()) };
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
        let guarded = GuardedState::new(Path::new("/p/w/state"));
        let fit = |pattern: &str| expand_glob(&guarded, Path::new("/p"), pattern);
        assert_eq!(fit("*").first(), Some(&PathBuf::from("/p/w")));
        assert_eq!(fit("w/*/h*"), [PathBuf::from("/p/w/state/history.md")]);
        assert_eq!(fit("w/state/*.json"), [PathBuf::from("/p/w/state/variables.json")]);
        assert_eq!(fit("/*/w/state/.s*/log"), [PathBuf::from("/p/w/state/.statedir")]);
        for none in ["x*", "w/x/*", "/q/*", "w/state/*.bak", "w/state"] {
            assert_eq!(fit(none), Vec::<PathBuf>::new(), "{none}");
        }
    }
}
