//! What precedes the command that is really run: assignments, keywords of the shell, and programs
//! that run another one.

use super::{base_name, parser::ShellWord};
use crate::text::Words;

/// Keywords after which a command follows.
const KEYWORDS: Words = Words("! { } if then elif else while until do done fi coproc");

/// Programs that run the command in their words, with those of their options that take a value.
const WRAPPERS: [(&str, &str); 16] = [
    ("sudo", "ugpChDRTUrt"),
    ("doas", "uC"),
    ("env", "uC"),
    ("xargs", "IiLnPdsEa"),
    ("timeout", "ks"),
    ("nice", "n"),
    ("ionice", "cn"),
    ("stdbuf", "ioe"),
    ("time", "fo"),
    ("watch", "n"),
    ("exec", "a"),
    ("command", ""),
    ("builtin", ""),
    ("nohup", ""),
    ("setsid", ""),
    ("busybox", ""),
];

/// The words from the program's name on, and whether `xargs` adds more to them.
///
/// Where there are only assignments, all words are returned.
pub(super) fn strip_wrappers(words: &[ShellWord]) -> (&[ShellWord], bool) {
    let (mut rest, mut by_xargs) = (words, false);
    let mut options: Option<&str> = None;
    while let [first, more @ ..] = rest {
        let text = first.text.as_str();
        let name = base_name(text);
        let wrapper = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name);
        if let Some((_, values)) = wrapper {
            by_xargs |= name == "xargs";
            options = Some(*values);
            rest = more;
        } else if let Some(values) = options.filter(|_| text.starts_with('-')) {
            let takes = text.len() == 2 && text.chars().nth(1).is_some_and(|c| values.contains(c));
            rest = if takes { more.get(1..).unwrap_or_default() } else { more };
        } else if options.is_some() && text.starts_with(|c: char| c.is_ascii_digit()) {
            rest = more;
        } else if name == "function" {
            rest = more.get(1..).unwrap_or_default();
        } else if KEYWORDS.contains(text) || is_assignment(text) {
            rest = more;
        } else {
            return (rest, by_xargs);
        }
    }
    let assigns = words.iter().all(|word| is_assignment(&word.text));
    (if assigns { words } else { rest }, by_xargs)
}

/// Whether a word sets a variable.
pub(super) fn is_assignment(text: &str) -> bool {
    let name = text.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
