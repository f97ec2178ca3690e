//! What a word of a shell may stand for: alternatives in braces, patterns of names.

use std::path::{Path, PathBuf};

use super::{
    place::{expand_home, real_path},
    shell::Word,
};

/// How many words one with braces becomes at most; the rest stays as it is written.
const MOST_WORDS: usize = 64;
/// The longest word that is taken apart.
const LONGEST: usize = 4096;

/// The words that a word with braces stands for: `{plan,history}.md` is two.
pub(super) fn alternatives(word: &Word) -> Vec<Word> {
    if !word.braces || word.text.len() > LONGEST {
        return vec![word.clone()];
    }
    let (mut done, mut todo) = (Vec::new(), vec![word.text.clone()]);
    while let Some(text) = todo.pop() {
        match split(&text).filter(|_| done.len() + todo.len() < MOST_WORDS) {
            Some((head, parts, tail)) => {
                todo.extend(parts.iter().rev().map(|part| format!("{head}{part}{tail}")));
            }
            None => done.push(Word { text, ..word.clone() }),
        }
    }
    done
}

/// What stands before the first braces with a comma, between their commas, and behind them.
fn split(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    text.match_indices('{').find_map(|(open, _)| {
        let (mut depth, mut from, mut parts) = (0, open + 1, Vec::new());
        for (at, c) in text[open..].char_indices().map(|(at, c)| (open + at, c)) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => {
                    parts.push(&text[from..at]);
                    from = at + 1;
                }
                _ => {}
            }
            if depth == 0 {
                parts.push(&text[from..at]);
                return (parts.len() > 1).then_some((&text[..open], parts, &text[at + 1..]));
            }
        }
        None
    })
}

/// What a pattern, seen from `cwd`, fits of the way to what is protected in the state directory.
pub(super) fn fitting(state: &Path, cwd: &Path, pattern: &str) -> Vec<PathBuf> {
    let is_pattern = |part: &str| part.contains(['*', '?', '[']);
    let Some((at, _)) = pattern.split('/').enumerate().find(|(_, part)| is_pattern(part)) else {
        return Vec::new();
    };
    let known: Vec<&str> = pattern.split('/').take(at).collect();
    let known = if known == [""] { "/".to_owned() } else { known.join("/") };
    let base = real_path(&cwd.join(expand_home(&known)));
    let wanted = pattern.split('/').skip(at).filter(|part| !part.is_empty() && *part != ".");
    let wanted: Vec<&str> = wanted.collect();
    let fits = |name: &str| {
        let target = state.join(name);
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
    ["history.md", ".statedir"].into_iter().filter_map(fits).collect()
}

/// Whether a pattern of a shell fits a name; a bracket stands for any one character.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let mut pattern_chars = pattern.chars();
    match pattern_chars.next() {
        None => name.is_empty(),
        Some('*') => {
            // Stars in a row are one star; else a long row of them would take for ever.
            let rest = pattern_chars.as_str().trim_start_matches('*');
            name.char_indices()
                .map(|(at, _)| at)
                .chain([name.len()])
                .any(|at| matches(rest, &name[at..]))
        }
        Some(first) => {
            let mut name_chars = name.chars();
            let Some(c) = name_chars.next() else { return false };
            let rest = match first {
                '[' => pattern.split_once(']').map_or("", |(_, rest)| rest),
                _ => pattern_chars.as_str(),
            };
            (matches!(first, '?' | '[') || first == c) && matches(rest, name_chars.as_str())
        }
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
    fn a_pattern_fits_part_of_the_way() {
        let fit = |pattern: &str| fitting(Path::new("/p/w/state"), Path::new("/p"), pattern);
        assert_eq!(fit("*").first(), Some(&PathBuf::from("/p/w")));
        assert_eq!(fit("w/*/h*"), [PathBuf::from("/p/w/state/history.md")]);
        assert_eq!(fit("/*/w/state/.s*/log"), [PathBuf::from("/p/w/state/.statedir")]);
        for none in ["x*", "w/x/*", "/q/*", "w/state/*.bak", "w/state"] {
            assert_eq!(fit(none), Vec::<PathBuf>::new(), "{none}");
        }
    }
}
