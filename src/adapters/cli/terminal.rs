//! What a terminal needs besides the text: lines that are broken between words, and the variables
//! that users set to have it their way.

use std::io::{self, IsTerminal as _};

/// How narrow a terminal may say it is; below that, breaking lines helps nobody.
const NARROWEST: usize = 20;

/// How many columns standard output or standard error has, if it is a terminal: what `COLUMNS` says,
/// else what the terminal says.
pub(super) fn columns(stream: &impl std::os::fd::AsFd) -> Option<usize> {
    if !stream.as_fd().is_terminal() {
        return None;
    }
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let measured = || rustix::termios::tcgetwinsize(stream).ok().map(|size| size.ws_col.into());
    let columns: Option<usize> = said.filter(|columns| *columns > 0).or_else(measured);
    columns.filter(|columns| *columns >= NARROWEST)
}

/// Whether to colour, as users expect it: `NO_COLOR` and `TERM=dumb` switch colours off,
/// `CLICOLOR_FORCE` switches them on in a pipe, too, and `CLICOLOR=0` off on a terminal.
pub(super) fn wants_colour(terminal: bool) -> bool {
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
    let text = super::escape::escape_controls(text);
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

/// The words of a line with the blanks before them; what stands in backticks is one word.
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

/// How many columns a text takes: two for a wide character, none for a mark upon the one before.
pub(super) fn width(text: &str) -> usize {
    let mut joined = false;
    let mut columns = 0;
    for c in text.chars() {
        // What a joiner ties to the character before it is shown as one with it.
        columns += if joined { 0 } else { width_of(c) };
        joined = c == '\u{200d}';
    }
    columns
}

fn width_of(c: char) -> usize {
    let within = |ranges: &[(u32, u32)]| {
        let at = ranges.partition_point(|(_, last)| *last < u32::from(c));
        ranges.get(at).is_some_and(|(first, _)| *first <= u32::from(c))
    };
    match c {
        ' '..='~' => 1,
        _ if within(&MARKS) => 0,
        _ if within(&WIDE) => 2,
        _ => 1,
    }
}

/// Marks that take no room of their own, vowel points of Hebrew and Arabic among them.
const MARKS: [(u32, u32); 45] = [
    (0x0300, 0x036f),
    (0x0483, 0x0489),
    (0x0591, 0x05bd),
    (0x05bf, 0x05bf),
    (0x05c1, 0x05c2),
    (0x05c4, 0x05c5),
    (0x05c7, 0x05c7),
    (0x0610, 0x061a),
    (0x064b, 0x065f),
    (0x0670, 0x0670),
    (0x06d6, 0x06dc),
    (0x06df, 0x06e4),
    (0x06e7, 0x06e8),
    (0x06ea, 0x06ed),
    (0x0711, 0x0711),
    (0x0730, 0x074a),
    (0x07a6, 0x07b0),
    (0x0900, 0x0902),
    (0x093a, 0x093a),
    (0x093c, 0x093c),
    (0x0941, 0x0948),
    (0x094d, 0x094d),
    (0x0951, 0x0957),
    (0x0981, 0x0981),
    (0x09bc, 0x09bc),
    (0x0a01, 0x0a02),
    (0x0e31, 0x0e31),
    (0x0e34, 0x0e3a),
    (0x0e47, 0x0e4e),
    (0x0eb1, 0x0eb1),
    (0x0eb4, 0x0ebc),
    (0x0f18, 0x0f19),
    (0x102d, 0x1030),
    (0x135d, 0x135f),
    (0x1ab0, 0x1aff),
    (0x1dc0, 0x1dff),
    (0x200b, 0x200f),
    (0x2060, 0x2064),
    (0x20d0, 0x20ff),
    (0xfe00, 0xfe0f),
    (0xfe20, 0xfe2f),
    (0xfeff, 0xfeff),
    (0x1f3fb, 0x1f3ff),
    (0xe0020, 0xe007f),
    (0xe0100, 0xe01ef),
];

/// Characters of two columns: those of East Asia, and pictures.
const WIDE: [(u32, u32); 56] = [
    (0x1100, 0x115f),
    (0x231a, 0x231b),
    (0x2329, 0x232a),
    (0x23e9, 0x23ec),
    (0x23f0, 0x23f0),
    (0x23f3, 0x23f3),
    (0x25fd, 0x25fe),
    (0x2614, 0x2615),
    (0x2648, 0x2653),
    (0x267f, 0x267f),
    (0x2693, 0x2693),
    (0x26a1, 0x26a1),
    (0x26aa, 0x26ab),
    (0x26bd, 0x26be),
    (0x26c4, 0x26c5),
    (0x26ce, 0x26ce),
    (0x26d4, 0x26d4),
    (0x26ea, 0x26ea),
    (0x26f2, 0x26f3),
    (0x26f5, 0x26f5),
    (0x26fa, 0x26fa),
    (0x26fd, 0x26fd),
    (0x2705, 0x2705),
    (0x270a, 0x270b),
    (0x2728, 0x2728),
    (0x274c, 0x274c),
    (0x274e, 0x274e),
    (0x2753, 0x2755),
    (0x2757, 0x2757),
    (0x2795, 0x2797),
    (0x27b0, 0x27b0),
    (0x27bf, 0x27bf),
    (0x2b1b, 0x2b1c),
    (0x2b50, 0x2b50),
    (0x2b55, 0x2b55),
    (0x2e80, 0x303e),
    (0x3041, 0x33ff),
    (0x3400, 0x4dbf),
    (0x4e00, 0xa4cf),
    (0xa960, 0xa97f),
    (0xac00, 0xd7a3),
    (0xf900, 0xfaff),
    (0xfe30, 0xfe6f),
    (0xff01, 0xff60),
    (0xffe0, 0xffe6),
    (0x1f004, 0x1f004),
    (0x1f0cf, 0x1f0cf),
    (0x1f18e, 0x1f18e),
    (0x1f191, 0x1f19a),
    (0x1f200, 0x1f265),
    (0x1f300, 0x1f64f),
    (0x1f680, 0x1f6ff),
    (0x1f7e0, 0x1f7eb),
    (0x1f900, 0x1f9ff),
    (0x1fa70, 0x1faff),
    (0x20000, 0x3fffd),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_in_order() {
        for table in [&MARKS[..], &WIDE[..]] {
            assert!(table.iter().all(|(first, last)| first <= last));
            assert!(table.windows(2).all(|pair| pair[0].1 < pair[1].0));
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
