//! Text of a state, made fit for cells: cleaned, cut, wrapped.

use crate::text::display::{char_width, escape_controls};

/// The most characters of one text that are looked at.
const MOST: usize = 20_000;
/// The most marks upon one character.
const MOST_MARKS: usize = 4;

/// Which characters the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Charset {
    /// All of them.
    #[default]
    Unicode,
    /// Those of ASCII.
    Ascii,
}

impl Charset {
    /// What the variables of the locale ask for: the first that is set counts.
    pub(crate) fn of_locale(variable: impl Fn(&str) -> Option<String>) -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(|name| variable(name).filter(|value| !value.is_empty()));
        let locale = locale.unwrap_or_default().to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") {
            Self::Unicode
        } else {
            Self::Ascii
        }
    }

    /// One of two texts for the same thing.
    pub(super) fn choose<T>(self, unicode: T, ascii: T) -> T {
        match self {
            Self::Unicode => unicode,
            Self::Ascii => ascii,
        }
    }

    /// Text from a state as it can be shown: nothing in it commands the terminal or turns the
    /// direction of a line. Lines stay lines.
    pub(super) fn clean(self, text: &str) -> String {
        let end = text.char_indices().nth(MOST).map_or(text.len(), |(end, _)| end);
        let mut out = String::with_capacity(end);
        let mut marks = 0;
        for c in escape_controls(&text[..end]).chars() {
            marks = if c != '\n' && c != '\t' && char_width(c) == 0 { marks + 1 } else { 0 };
            match c {
                '\n' => out.push('\n'),
                '\t' => out.push_str("    "),
                // Separators that some terminals take for an end of the line.
                '\u{2028}' | '\u{2029}' => out.push(' '),
                c if c.is_ascii() => out.push(c),
                _ if marks > MOST_MARKS => {}
                c if self == Self::Unicode => out.push(c),
                '…' => out.push('~'),
                '→' => out.push('>'),
                '←' => out.push('<'),
                '·' | '–' | '—' => out.push('-'),
                '✓' => out.push('x'),
                '✗' => out.push('!'),
                '▶' => out.push('>'),
                '⏸' => out.push('='),
                _ => out.push('?'),
            }
        }
        if end < text.len() {
            out.push(self.choose('…', '~'));
        }
        out
    }

    /// The same as one line of at most `most` columns; a cut is marked.
    pub(super) fn line(self, text: &str, most: usize) -> String {
        // More characters than columns are of use for marks only.
        let enough = (most + 1).saturating_mul(1 + MOST_MARKS);
        let end = text.char_indices().nth(enough).map_or(text.len(), |(end, _)| end);
        let clean = self.clean(&text[..end]).replace('\n', " ");
        if end == text.len() && columns(&clean) <= most {
            return clean;
        }
        let mut out = String::new();
        let mut used = 0;
        for c in clean.chars() {
            used += char_width(c);
            if used >= most {
                break;
            }
            out.push(c);
        }
        if most > 0 {
            out.push(self.choose('…', '~'));
        }
        out
    }

    /// The same in exactly `width` columns.
    pub(super) fn cell(self, text: &str, width: usize) -> String {
        let line = self.line(text, width);
        let used = columns(&line);
        line + &" ".repeat(width.saturating_sub(used))
    }

    /// The same in lines of at most `width` columns, broken between words where possible.
    pub(super) fn wrap(self, text: &str, width: usize) -> Vec<String> {
        let width = width.max(1);
        self.clean(text).split('\n').flat_map(|line| wrap_line(line, width)).collect()
    }
}

/// How many columns a cleaned text takes.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut current, mut used) = (String::new(), 0);
    // Where the current line could be broken: the bytes and columns before the last blank.
    let mut blank: Option<usize> = None;
    for c in line.trim_end().chars() {
        let wide = char_width(c);
        if used + wide > width {
            if c == ' ' {
                lines.push(std::mem::take(&mut current).trim_end().to_owned());
                (used, blank) = (0, None);
                continue;
            }
            let rest = match blank.filter(|at| *at > 0) {
                Some(at) => current.split_off(at),
                None => String::new(),
            };
            lines.push(std::mem::take(&mut current));
            current = rest.trim_start().to_owned();
            used = columns(&current);
            blank = None;
        }
        if c == ' ' {
            blank = Some(current.len());
        }
        // A line does not begin with the blanks at which it was broken.
        if c == ' ' && current.is_empty() && !lines.is_empty() {
            continue;
        }
        current.push(c);
        used += wide;
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNICODE: Charset = Charset::Unicode;

    #[test]
    fn the_first_variable_that_is_set_names_the_locale() {
        let of = |set: &[(&str, &str)]| {
            let set: Vec<(String, String)> =
                set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            Charset::of_locale(|name| {
                set.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
            })
        };
        assert_eq!(of(&[("LANG", "en_GB.UTF-8")]), Charset::Unicode);
        assert_eq!(of(&[("LANG", "C.utf8")]), Charset::Unicode);
        assert_eq!(of(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]), Charset::Ascii);
        assert_eq!(of(&[("LC_ALL", ""), ("LC_CTYPE", "de_DE.UTF-8")]), Charset::Unicode);
        assert_eq!(of(&[("LC_CTYPE", "de_DE.ISO-8859-1")]), Charset::Ascii);
        assert_eq!(of(&[]), Charset::Ascii);
    }

    #[test]
    fn nothing_in_a_text_commands_the_terminal() {
        let hostile = "a\u{1b}]0;x\u{7}\u{202e}b\r\u{9b}1m\u{2028}c\u{85}";
        for charset in [Charset::Unicode, Charset::Ascii] {
            let clean = charset.clean(hostile);
            assert!(!clean.contains(|c: char| c.is_control()), "{clean:?}");
            assert!(!clean.contains(['\u{202e}', '\u{2028}']), "{clean:?}");
        }
        let marks = format!("e{}", "\u{301}".repeat(500));
        assert_eq!(UNICODE.clean(&marks).chars().count(), 1 + MOST_MARKS);
        assert_eq!(Charset::Ascii.clean("naïve → 数 ✓\tx"), "na?ve > ? x    x");
    }

    #[test]
    fn a_cell_has_its_width_whatever_is_in_it() {
        let long = "x".repeat(1 << 20);
        for text in ["", "short", "数据库数据库数据库", "a\nb", "👍🏽👍🏽👍🏽👍🏽👍🏽", &long]
        {
            for width in [0, 1, 2, 5, 9] {
                let cell = UNICODE.cell(text, width);
                assert_eq!(columns(&cell), width, "{cell:?}");
                assert!(!cell.contains('\n'));
            }
        }
        assert_eq!(UNICODE.line("one two", 6), "one t…");
        assert_eq!(Charset::Ascii.line("one two", 6), "one t~");
    }

    #[test]
    fn text_is_broken_between_words_and_loses_none() {
        assert_eq!(UNICODE.wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(UNICODE.wrap("one  two", 4), ["one", "two"]);
        assert_eq!(UNICODE.wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(UNICODE.wrap("a\n\nb", 4), ["a", "", "b"]);
        assert_eq!(UNICODE.wrap("数据库", 4), ["数据", "库"]);
        assert_eq!(UNICODE.wrap("", 4), [""]);
    }
}
