//! What a terminal needs besides the text: lines that are broken between words, and the variables
//! that users set to have it their way.

use std::io::{self, IsTerminal as _};

use crate::text::display::{escape_controls, width};

/// How narrow a terminal may say it is; below that, breaking lines helps nobody.
const NARROWEST: usize = 20;

/// How many columns standard output or standard error has, if it is a terminal: what `COLUMNS` says,
/// else what the terminal says.
pub(super) fn columns(stream: &impl std::os::fd::AsFd) -> Option<usize> {
    if !stream.as_fd().is_terminal() {
        return None;
    }
    let from_environment = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let measured = || rustix::termios::tcgetwinsize(stream).ok().map(|size| size.ws_col.into());
    let columns: Option<usize> = from_environment.filter(|columns| *columns > 0).or_else(measured);
    columns.filter(|columns| *columns >= NARROWEST)
}

/// Whether to colour, as users expect it: `NO_COLOR` and `TERM=dumb` switch colours off,
/// `CLICOLOR_FORCE` switches them on in a pipe, too, and `CLICOLOR=0` off on a terminal.
pub(in crate::adapters::cli) fn wants_colour(terminal: bool) -> bool {
    use anstyle_query::{clicolor, no_color, term_supports_color};
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|v| !v.is_empty() && v != "0");
    let usual = || terminal && clicolor() != Some(false) && term_supports_color();
    !no_color() && (forced || usual())
}

/// Text for standard error: as it is, or on a terminal with its long lines broken.
pub(super) fn for_stderr(text: &str) -> String {
    if !io::stderr().is_terminal() {
        return text.to_owned();
    }
    let text = escape_controls(text);
    match columns(&io::stderr()) {
        Some(columns) => wrap(&text, columns),
        None => text.into_owned(),
    }
}

/// Breaks lines that are wider than `columns` between words. What follows is indented as far as the
/// text of the line; a command in backticks stays whole, so that it can be copied.
pub(super) fn wrap(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        // Where a tab leads is for the terminal to say.
        if width(line) <= columns || line.contains('\t') {
            out.push_str(line);
        } else {
            wrap_line(line, columns, &mut out);
        }
        out.push_str(end);
    }
    out
}

fn wrap_line(line: &str, columns: usize, out: &mut String) {
    let indent = indent(line).min(columns / 2);
    let mut at = 0;
    let mut begun = false;
    for (blanks, word) in words(line) {
        let wide = width(word);
        if begun && at + blanks.len() + wide > columns {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else {
            out.push_str(blanks);
            at += blanks.len();
        }
        out.push_str(word);
        at += wide;
        begun = true;
    }
}

/// The words of a line with the blanks before them; what is in backticks is one word.
fn words(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let (before, after) = rest.split_at(blanks);
        if after.is_empty() {
            return None;
        }
        let mut quoted = false;
        let ends = |(_, c): &(usize, char)| {
            quoted ^= *c == '`';
            *c == ' ' && !quoted
        };
        let whole = after.char_indices().find(ends).map_or(after.len(), |(at, _)| at);
        // A backtick that is never closed quotes nothing.
        let plain = after.find(' ').unwrap_or(after.len());
        let closed = after[..whole].matches('`').count() % 2 == 0;
        let (word, behind) = after.split_at(if closed { whole } else { plain });
        rest = behind;
        Some((before, word))
    })
}

/// Where the text of a line begins: behind its bullet, its label or its column of labels.
fn indent(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let blanks = line.len() - text.len();
    for label in ["- ", "* ", "> ", "error: ", "hint: ", "note: ", "warning: ", "directive "] {
        if text.starts_with(label) {
            return blanks + label.len();
        }
    }
    // `next      Step 3 is ready`: the second column.
    let Some(gap) = text.find("  ") else { return blanks };
    let column = text[gap..].trim_start_matches(' ');
    blanks + width(&text[..text.len() - column.len()])
}

/// The message of clap without what a hint makes superfluous: the pointer to the help, and the
/// usage of something that is not a command.
pub(super) fn for_hint(text: &str, is_unknown_command: bool) -> String {
    let is_useful = |part: &&str| {
        let part = part.trim_start();
        let needless = ["For more information", "tip:", "Usage:"];
        let count = if is_unknown_command { 3 } else { 2 };
        !needless[..count].iter().any(|start| part.starts_with(start))
    };
    let parts: Vec<&str> = text.trim_end().split("\n\n").filter(is_useful).collect();
    format!("{}\n", parts.join("\n\n").trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_broken_between_words_and_loses_none() {
        let text = "next      Step 3 has failed twice, and nobody knows why: `statedir step retry 3`.\nshort\n";
        let broken = wrap(text, 40);
        assert_eq!(
            broken,
            "next      Step 3 has failed twice, and\n          nobody knows why:\n          `statedir step retry 3`.\nshort\n"
        );
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&broken), words(text));
        assert_eq!(wrap("- one two three", 9), "- one two\n  three");
        assert_eq!(wrap("hint: one two three", 12), "hint: one\n      two\n      three");
    }

    #[test]
    fn what_cannot_be_broken_stays_whole() {
        let word = "x".repeat(50);
        assert_eq!(wrap(&word, 20), word);
        assert_eq!(wrap(&format!("a {word} b"), 20), format!("a\n{word}\nb"));
        let command = "`statedir step fail 3 --error 'what went wrong'`";
        assert_eq!(wrap(&format!("try {command} now"), 30), format!("try\n{command}\nnow"));
        assert_eq!(wrap("it`s a single backtick here", 20), "it`s a single\nbacktick here");
        assert_eq!(wrap("a\tb c d e f g h i j k l m n", 20), "a\tb c d e f g h i j k l m n");
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(wrap("数据 数据 数据 数据", 10), "数据 数据\n数据 数据");
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_too_wide_unless_one_word_is(text in "[ a-z`数\n-]{0,120}", columns in 20usize..60) {
            let broken = wrap(&text, columns);
            let gist = |text: &str| text.split([' ', '\n']).collect::<String>();
            proptest::prop_assert_eq!(gist(&broken), gist(&text));
            for line in broken.lines().filter(|line| width(line) > columns) {
                proptest::prop_assert!(words(line).count() <= 2, "{:?}", line);
            }
        }
    }
}
