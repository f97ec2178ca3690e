//! Titles: written so that they read back identical, replaced without touching their heading.

use std::ops::Range;

use super::{Document, EditError, Section, SectionId, line};

/// The source of `title` as it follows the `#` marks of a heading.
///
/// # Errors
/// Refuses what no heading can say: several lines, or NUL.
pub(super) fn write_title(title: &str) -> Result<String, EditError> {
    // Most titles are just words: what they read back as need not be tried.
    if is_plain(title) {
        return Ok(title.to_owned());
    }
    fitting(title, End::Plain, |raw| format!("## {raw}\n"))
}

/// How the last character of a title is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As it reads best.
    Plain,
    /// As a character reference, which looks the same to readers and is told from it in the source.
    Encoded,
}

impl Document {
    /// The exact source of a section's title, without the marks of the heading.
    pub fn raw_title(&self, section: SectionId) -> &str {
        let (source, heading) = (self.source(), &self.section(section).heading);
        let start = line::skip_blanks(source, heading.start).min(heading.end);
        match is_atx(&source[..heading.end], start) {
            true => &source[atx_text(source, start).0],
            false => &source[start..setext_text_end(source, heading).max(start)],
        }
    }
}

/// A whole heading with its line end.
///
/// # Errors
/// As [`write_title`].
pub(super) fn heading(level: u8, title: &str, newline: &str) -> Result<String, EditError> {
    let raw = write_title(title)?;
    let marks = "#".repeat(usize::from(level));
    match raw.is_empty() {
        true => Ok(format!("{marks}{newline}")),
        false => Ok(format!("{marks} {raw}{newline}")),
    }
}

/// What to replace in the heading of `section`, and with what, to change its title; the flag
/// says that the heading itself is written anew.
///
/// # Errors
/// As [`write_title`].
pub(super) fn replacement(
    document: &Document,
    section: &Section<'_>,
    title: &str,
    end: End,
) -> Result<(Range<usize>, String, bool), EditError> {
    let source = document.source();
    let start = line::skip_blanks(source, section.heading.start);
    let kept = |frame: &dyn Fn(&str) -> String| {
        let forms = with_markup_kept(section.title, document.raw_title(section.id), title, end);
        forms.into_iter().find(|raw| reads_as(title, frame(raw)))
    };
    if is_atx(source, start) {
        let frame = |raw: &str| format!("## {raw}\n");
        let raw = match (kept(&frame), end) {
            (Some(raw), _) => raw,
            (None, End::Plain) => write_title(title)?,
            (None, End::Encoded) => fitting(title, end, frame)?,
        };
        let (at, apart) = atx_text(source, start);
        let new = if apart || raw.is_empty() { raw } else { format!(" {raw}") };
        return Ok((at, new, false));
    }
    let text_end = setext_text_end(source, &section.heading);
    let frame = |raw: &str| format!("{raw}\n---\n");
    match kept(&frame).map_or_else(|| fitting(title, end, frame), Ok) {
        Ok(raw) if !raw.is_empty() => Ok((start..text_end, raw, true)),
        _ => {
            let end = line::trim_end(source, start, section.heading.end);
            let new = heading(section.level, title, "")?;
            Ok((start..end, new, true))
        }
    }
}

/// Whether the heading at `start` begins with marks; the text of one that is underlined may
/// begin with `#` too, as in `#1`.
pub(super) fn is_atx(source: &str, start: usize) -> bool {
    let rest = source[start..].trim_start_matches('#');
    let marks = source.len() - start - rest.len();
    (1..=6).contains(&marks) && rest.bytes().next().is_none_or(line::is_space)
}

/// Whether the heading that begins at `start` has marks, instead of being underlined.
pub(super) fn is_marked(source: &str, start: usize) -> bool {
    is_atx(source, line::skip_blanks(source, start))
}

/// Where the text of the setext heading `heading` ends.
pub(super) fn setext_text_end(source: &str, heading: &Range<usize>) -> usize {
    let end = line::trim_end(source, heading.start, heading.end);
    line::trim_end(source, heading.start, line::line_start(source, end))
}

/// The range of the title in the ATX heading at `start`, and whether a space precedes it.
fn atx_text(source: &str, start: usize) -> (Range<usize>, bool) {
    let marks = source[start..].bytes().take_while(|b| *b == b'#').count();
    let from = start + marks;
    let end = line::text_end(source, from);
    let text = line::skip_blanks(source, from);
    let last = line::trim_end(source, text, end);
    let open = source[text..last].trim_end_matches('#');
    let closed = open.is_empty() || open.ends_with([' ', '\t']);
    let last = if closed { line::trim_end(source, text, text + open.len()) } else { last };
    match text < last {
        true => (text..last, true),
        // Nothing between the marks: the title goes right after them.
        false => (from..from, false),
    }
}

/// Whether a title behind marks has nothing in it that can be markup: words with single blanks
/// between them, the commonest marks within or after a word, and signs that mean nothing.
fn is_plain(title: &str) -> bool {
    let mut before = ' ';
    let is_fitting = title.chars().all(|c| {
        let last = std::mem::replace(&mut before, c);
        match c {
            ' ' => last != ' ',
            ',' | '.' | ':' | '-' => last.is_ascii_alphanumeric(),
            '✓' | '✗' | '▶' | '⏸' | '–' => last == ' ',
            c => c.is_ascii_alphanumeric(),
        }
    });
    is_fitting && before != ' '
}

/// The plainest source of `title` with which the heading made by `frame` says just that.
fn fitting(title: &str, end: End, frame: impl Fn(&str) -> String) -> Result<String, EditError> {
    let bad = |reason| EditError::BadTitle { title: title.to_owned(), reason };
    if title.contains(['\n', '\r']) {
        return Err(bad("a title is one line"));
    }
    if title.contains('\0') {
        return Err(bad("it contains a NUL byte"));
    }
    let says_so = |raw: &String| reads_as(title, frame(raw));
    let forms: [fn(&str) -> String; 6] =
        [str::to_owned, closing_escaped, backslashes_escaped, markup_escaped, escaped, encoded];
    let last = title.chars().next_back().filter(|_| end == End::Encoded);
    let (open, last) = match last {
        Some(last) => (&title[..title.len() - last.len_utf8()], format!("&#{};", u32::from(last))),
        None => (title, String::new()),
    };
    let found = forms.iter().map(|form| form(open) + &last).find(says_so);
    found.ok_or_else(|| bad("it cannot be written as a heading"))
}

/// Whether a heading says just that.
fn reads_as(title: &str, heading: String) -> bool {
    Document::parse(heading).is_ok_and(|document| {
        let mut sections = document.sections().skip(1).map(|id| document.section(id));
        let (first, second) = (sections.next(), sections.next());
        second.is_none()
            && first.is_some_and(|section| {
                section.title == title && section.body.is_empty() && section.heading.start == 0
            })
            && document.all_bodies().all(|body| body.items.is_empty())
    })
}

/// Sources of a new title in which links, code and emphasis of the old one stay as they are written,
/// where the new one still says what they say.
fn with_markup_kept(old: &str, raw: &str, new: &str, end: End) -> Vec<String> {
    // What is written as it reads at both ends, and between them what is not.
    let same = |(a, b): &(char, char)| a == b;
    let length = |(a, _): (char, char)| a.len_utf8();
    let from: usize = old.chars().zip(raw.chars()).take_while(same).map(length).sum();
    let (rest, raw_rest) = (&old[from..], &raw[from..]);
    let behind = rest.chars().rev().zip(raw_rest.chars().rev()).take_while(same);
    let behind: usize = behind.map(length).sum();
    let core = &rest[..rest.len() - behind];
    let written = &raw_rest[..raw_rest.len() - behind];
    if core.trim().is_empty() {
        return Vec::new();
    }
    let Some(at) = new.find(core) else { return Vec::new() };
    let (before, after) = (&new[..at], &new[at + core.len()..]);
    let last = after.chars().next_back().filter(|_| end == End::Encoded);
    if end == End::Encoded && last.is_none() {
        return Vec::new();
    }
    let open = &after[..after.len() - last.map_or(0, char::len_utf8)];
    let last = last.map(|last| format!("&#{};", u32::from(last))).unwrap_or_default();
    let forms: [fn(&str) -> String; 2] = [str::to_owned, markup_escaped];
    forms.iter().map(|form| format!("{}{written}{}{last}", form(before), form(open))).collect()
}

/// `title` with a backslash before the marks at its end, which would close the heading.
fn closing_escaped(title: &str) -> String {
    let open = title.trim_end_matches('#');
    format!("{open}\\{}", &title[open.len()..])
}

/// `title` with its backslashes and the marks at its end escaped.
fn backslashes_escaped(title: &str) -> String {
    let doubled = title.replace('\\', "\\\\");
    if doubled.ends_with('#') { closing_escaped(&doubled) } else { doubled }
}

/// `title` with a backslash before what can be markup.
fn markup_escaped(title: &str) -> String {
    let mut out = String::with_capacity(title.len() + 8);
    for c in title.chars() {
        if r"\`*_[]<>&#~|!".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// `title` with a backslash before all punctuation.
fn escaped(title: &str) -> String {
    let mut out = String::with_capacity(title.len() + 8);
    for c in title.chars() {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// `title` with character references for all that is neither letter nor digit.
fn encoded(title: &str) -> String {
    let mut out = String::with_capacity(title.len() + 8);
    for c in title.chars() {
        match c.is_alphanumeric() {
            true => out.push(c),
            false => out.push_str(&format!("&#{};", u32::from(c))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_read_back_identical() {
        for title in [
            "Plain",
            "a #",
            "# a",
            " lead and trail ",
            "*x* _y_ `z` <b> &amp; \\ [a](b)",
            "a  b",
            "\ttab",
            "",
            "----",
            "\u{a0}",
            "<!-- x -->",
            "é 漢字 \u{202e}rtl",
            "[status]: x",
            "- item",
            "\u{b}\u{c}",
        ] {
            let source = heading(3, title, "\r\n").unwrap();
            let document = Document::parse(source.as_str()).unwrap();
            assert_eq!(document.sections.len(), 2, "{source:?}");
            assert_eq!(document.section(SectionId::nth(1)).title, title, "{source:?}");
        }
    }

    #[test]
    fn only_words_are_written_without_a_look() {
        for plain in ["Step 12: Write the report", "a, b. c", "x-y", "1. Send", "T.", "Tick ✓"] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in ["", " ", "a ", " a", "a  b", "- a", "a -", "a--b", "a...", "a #", "é", "a*b"]
        {
            assert!(!is_plain(other), "{other}");
        }
    }

    /// Words and signs with a blank between them; most of these titles are plain.
    const PLAIN_OR_NEARLY: &str =
        "([a-zA-Z0-9]{1,3}[,.:-]{0,2}|[✓✗▶⏸–])( ([a-zA-Z0-9]{1,3}[,.:-]?|[✓✗▶⏸–])){0,3}";

    proptest::proptest! {
        #[test]
        fn what_is_plain_means_itself(title in PLAIN_OR_NEARLY) {
            proptest::prop_assume!(is_plain(&title));
            let tried = fitting(&title, End::Plain, |raw| format!("## {raw}\n")).unwrap();
            proptest::prop_assert_eq!(tried, title);
        }
    }

    #[test]
    fn markup_stays_where_a_title_changes_beside_it() {
        let changed = |source: &str, from: &str, to: &str| {
            let document = Document::parse(source).unwrap();
            let section = document.section(SectionId::nth(1));
            let title = section.title.replace(from, to);
            let mut edit = document.edit();
            edit.set_title(section.id, &title);
            let edited = edit.finish().unwrap().document;
            assert_eq!(edited.section(SectionId::nth(1)).title, title);
            edited.into_source()
        };
        let long = "### Step 1: See [the log](http://x/y_z) and `cargo *` **now**\n";
        assert_eq!(changed(long, "now", "now ✓"), long.replace("now**", "now** ✓"));
        assert_eq!(changed(long, "Step 1", "Step 2"), long.replace("Step 1", "Step 2"));
        assert_eq!(changed("## a_b *c* ✓ ##\n", "✓", "✗"), "## a_b *c* ✗ ##\n");
        assert_eq!(changed("*A* b\n---\n", "b", "b ✓"), "*A* b ✓\n---\n");
        assert_eq!(changed("## AT&amp;T \\*x\n", "x", "x ✓"), "## AT&amp;T \\*x ✓\n");
        // What the markup is around was replaced: it goes.
        assert_eq!(changed("## See *this*\n", "this", "that"), "## See that\n");
    }

    #[test]
    fn a_title_of_several_lines_is_refused() {
        for title in ["a\nb", "a\rb", "a\0"] {
            assert!(matches!(write_title(title), Err(EditError::BadTitle { .. })), "{title:?}");
        }
    }

    #[test]
    fn closing_marks_stay_around_a_new_title() {
        let text = |source: &str| source[atx_text(source, 0).0].to_owned();
        assert_eq!(text("## T ##\n"), "T");
        assert_eq!(text("## T#\n"), "T#");
        assert_eq!(text("## ##\n"), "");
        assert_eq!(text("##\n"), "");
    }
}
