//! Words as a shell takes them.

use std::borrow::Cow;

/// The word so that a shell reads it back as it is: bare where that is safe, else in single quotes.
pub(crate) fn shell_word(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    // A word that begins with `=` is looked up as a command by zsh.
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// A command line of statedir, ready to be pasted.
pub(crate) fn command_line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let mut line = String::from("statedir");
    for word in words {
        line.push(' ');
        line.push_str(&shell_word(word));
    }
    line
}

/// A command as markdown shows it within a sentence, also if there are backticks in it.
pub(crate) fn code_span(command: &str) -> String {
    let runs = command.split(|c| c != '`').map(str::len);
    match runs.max().unwrap_or_default() {
        0 => format!("`{command}`"),
        longest => {
            let marks = "`".repeat(longest + 1);
            format!("{marks} {command} {marks}")
        }
    }
}

/// The same text with every command in backticks for the state in that directory, unless it names
/// one itself.
pub(crate) fn in_directory<'t>(text: &'t str, dir: &str) -> Cow<'t, str> {
    const COMMAND: &str = "`statedir ";
    if !text.contains(COMMAND) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(COMMAND);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        all.push_str(COMMAND);
        let command = rest.split_once('`').map_or(rest, |(command, _)| command);
        if !command.split(' ').any(|word| word.starts_with("-C")) {
            all.push_str(&format!("-C {} ", shell_word(dir)));
        }
        all.push_str(rest);
    }
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_for_the_directory_that_was_named() {
        for (text, with) in [
            ("`statedir check` lists it", "`statedir -C a/b check` lists it"),
            (
                "`statedir undo`, or `statedir -C x undo`",
                "`statedir -C a/b undo`, or `statedir -C x undo`",
            ),
            ("see statedir and `git log`", "see statedir and `git log`"),
        ] {
            assert_eq!(in_directory(text, "a/b"), with);
        }
        assert_eq!(in_directory("`statedir undo`", "my state"), "`statedir -C 'my state' undo`");
    }

    #[test]
    fn a_word_is_quoted_only_where_a_shell_would_change_it() {
        for (word, quoted) in [
            ("step", "step"),
            ("a.b=1,2", "a.b=1,2"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("{{steps.1.x}}", "'{{steps.1.x}}'"),
            ("=ls", "'=ls'"),
            ("a\nb", "'a\nb'"),
            ("#7", "'#7'"),
            ("naïve", "'naïve'"),
        ] {
            assert_eq!(shell_word(word), quoted);
        }
    }
}
