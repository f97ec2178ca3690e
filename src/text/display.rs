//! Text made fit to show: on one line, of a bounded length, with nothing hidden in it.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The words of a text on one line.
pub(crate) fn one_line(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain && !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ") {
        return text.to_owned();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first `most` characters of a text; `…` stands for the rest.
pub(crate) fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The first `most` bytes of a text, without half a character at the end.
pub(crate) fn byte_prefix(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rfind(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// The text with `#` in the place of every number: `timeout after #s`.
pub(crate) fn mask_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii_digit() && out.ends_with('#') => {}
            c if c.is_ascii_digit() => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

/// A number with its noun: `1 entry`, `3 entries`.
pub(crate) fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// How many columns a text takes on a terminal: two for a wide character, none for a mark upon the
/// one before.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// How many columns a character takes by itself.
pub(crate) fn char_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// One line of at most `columns` columns; `…` marks a cut.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let mut line = String::new();
    let mut used = 0;
    let ends_line = |c: char| is_control(c) || matches!(c, '\u{2028}' | '\u{2029}');
    let mut chars = text.chars().map(|c| if ends_line(c) { ' ' } else { c }).peekable();
    while let Some(c) = chars.next() {
        let room = columns - usize::from(chars.peek().is_some() && columns > 0);
        // The selector after a narrow sign makes a wide picture of it.
        let wide = if c == '\u{fe0f}' { 1 } else { char_width(c) };
        if used + wide > room {
            line.push('…');
            break;
        }
        used += wide;
        line.push(c);
    }
    line
}

/// Whether a character acts on the text around it: controls, and marks that turn its direction.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Shows such characters as `\u{…}`; line ends and tabs stay.
pub(crate) fn escape_controls(text: &str) -> Cow<'_, str> {
    let is_shown = |c: char| is_control(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_shown) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_shown(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_direction_marks_are_shown() {
        assert_eq!(escape_controls("a\u{1b}[31mb\u{202e}c\n"), "a\\u{1b}[31mb\\u{202e}c\n");
        assert!(matches!(escape_controls("שלום\tñ\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shorten("naïve", 5), "naïve");
        assert_eq!(shorten("naïve", 3), "naï…");
        assert_eq!(shorten("", 0), "");
    }

    #[test]
    fn a_line_that_is_too_wide_is_cut() {
        assert_eq!(fit("数据库", 6), "数据库");
        assert_eq!(fit("数据库", 5), "数据…");
        assert_eq!(fit("a\u{202e}b\nc", 9), "a b c");
        for columns in 1..9 {
            assert!(width(&fit("☺\u{fe0f}☺\u{fe0f}☺\u{fe0f}☺\u{fe0f}", columns)) <= columns);
        }
    }

    #[test]
    fn characters_take_the_room_they_have_on_a_screen() {
        for (text, columns) in [
            ("plain", 5),
            ("naïve", 5),
            ("nai\u{308}ve", 5),
            ("数据库", 6),
            ("ﾊﾝｶｸ", 4),
            ("שָׁלוֹם", 4),
            ("مَرحبًا", 5),
            ("🎉 ok", 5),
            ("👨\u{200d}👩\u{200d}👧", 2),
            ("👍🏽", 2),
            ("한국어", 6),
            ("", 0),
        ] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }
}
