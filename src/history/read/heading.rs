//! Headings: the line `### {title} - {time}` that an entry starts with, and those of sections.

use crate::history::HistoryError;

const MARK: &str = "### ";
const SEPARATOR: &str = " - ";
const MAX_BYTES: usize = 4096;
const MAX_TIME_BYTES: usize = 64;

/// Writes the heading line without a line end.
///
/// # Errors
/// Refuses a title or a time that would not read back.
pub(in crate::history) fn write(title: &str, time: &str) -> Result<String, HistoryError> {
    check(title, time)?;
    Ok(format!("{MARK}{title}{SEPARATOR}{time}"))
}

/// Refuses a title or a time that no entry can have.
///
/// # Errors
/// For what is not one visible line, or would be taken for something else.
pub(in crate::history) fn check(title: &str, time: &str) -> Result<(), HistoryError> {
    check_line("title", title, MAX_BYTES)?;
    check_line("time", time, MAX_TIME_BYTES)?;
    if time.contains(SEPARATOR) || time.starts_with("- ") || time.ends_with('#') {
        let problem = "holds a separator, or ends with `#`";
        return Err(HistoryError::Heading { part: "time", problem });
    }
    Ok(())
}

/// Splits the heading of a signed entry, which always has a time.
pub(in crate::history) fn split_signed(line: &str) -> (&str, Option<&str>) {
    let text = line.strip_prefix(MARK).unwrap_or(line);
    text.rsplit_once(SEPARATOR).map_or((text, None), |(title, time)| (title, Some(time)))
}

/// Splits the first line of an entry by hand; `None` if it is not that of an entry.
///
/// A heading is one if it begins with a date, ends with a time, or says `Step 3 Execution`; one of
/// level 2 if it begins with a date or ends with one in parentheses, a bullet if it begins with one.
pub(in crate::history) fn split_unsigned(line: &str) -> Option<(&str, Option<&str>)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let text = match level {
        0 => line.strip_prefix(['-', '*', '+'])?.trim(),
        _ => line[level..].trim().trim_end_matches('#').trim_end(),
    };
    if let Some((title, date)) = split_dated(text) {
        return Some((title, Some(date)));
    }
    if let Some((title, date)) = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("))
        && level > 1
        && split_dated(date).is_some_and(|(rest, _)| rest.is_empty())
    {
        return Some((title.trim_end(), Some(date)));
    }
    if level != 3 {
        return None;
    }
    let dash = [" - ", " – ", " — "].into_iter().find_map(|dash| text.rsplit_once(dash));
    match dash {
        Some((title, time)) if is_time(time.trim()) => Some((title.trim_end(), Some(time.trim()))),
        _ => is_execution(text).then_some((text, None)),
    }
}

/// Whether a line is a bullet that begins with a date.
pub(in crate::history) fn is_dated_bullet(line: &[u8]) -> bool {
    let Some(text) = line.strip_prefix(b"- ").or_else(|| line.strip_prefix(b"* ")) else {
        return false;
    };
    let start = text.trim_ascii_start();
    let start = &start[..start.len().min(8)];
    // Most bullets are none, which shows at once.
    start.iter().any(u8::is_ascii_digit)
        && std::str::from_utf8(line).is_ok_and(|line| split_unsigned(line).is_some())
}

/// Splits `2024-01-15 10:30: Fixed it`, `[2024-01-15] Fixed it` or `**2024-01-15** - Fixed it`.
fn split_dated(text: &str) -> Option<(&str, &str)> {
    let open = text.trim_start_matches(['[', '(', '*', '_', '`']);
    let date = open.find(|c: char| !c.is_ascii_digit() && !matches!(c, '-' | '/' | '.'));
    let date = open[..date.unwrap_or(open.len())].trim_end_matches(['-', '/', '.']);
    let parts: Vec<&str> = date.split(['-', '/', '.']).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let is_date = matches!(lengths[..], [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 4]);
    if !is_date {
        return None;
    }
    let behind = &open[date.len()..];
    let clock = behind.strip_prefix(['T', ' ']).unwrap_or_default();
    let width = clock.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.'));
    let width = clock[..width.unwrap_or(clock.len())].trim_end_matches([':', '.']).len();
    let has_clock = clock[..width].contains(':') && width >= 4;
    let end = if has_clock { date.len() + 1 + width } else { date.len() };
    let end = if has_clock && open[end..].starts_with('Z') { end + 1 } else { end };
    let title =
        open[end..].trim_start_matches([']', ')', '*', '_', '`', ' ', ':', '-', '–', '—', ',']);
    let is_apart = title.is_empty() || title.len() < open.len() - end;
    is_apart.then_some((title, &open[..end]))
}

/// Whether a line makes the paragraph above it a heading.
pub(in crate::history) fn is_underline(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    !text.is_empty()
        && (text.iter().all(|byte| *byte == b'-') || text.iter().all(|byte| *byte == b'='))
}

/// The level of a heading of level 1 to 3.
pub(in crate::history) fn atx_level(line: &[u8]) -> Option<usize> {
    let level = line.iter().take(4).take_while(|byte| **byte == b'#').count();
    let is_apart = matches!(line.get(level), None | Some(b' ' | b'\t'));
    (is_apart && (1..=3).contains(&level)).then_some(level)
}

/// The text of a heading line without its marks.
pub(in crate::history) fn atx_title(line: &[u8]) -> &[u8] {
    let mut title = line;
    while let Some(rest) = title.strip_prefix(b"#") {
        title = rest;
    }
    let title = title.trim_ascii();
    let mut bare = title;
    while let Some(rest) = bare.strip_suffix(b"#") {
        bare = rest;
    }
    if bare.is_empty() || bare.ends_with(b" ") { bare.trim_ascii_end() } else { title }
}

fn check_line(part: &'static str, text: &str, limit: usize) -> Result<(), HistoryError> {
    let problem = if text.is_empty() {
        "is empty"
    } else if text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        "holds a line break or another control character"
    } else if text.trim() != text {
        "starts or ends with a space"
    } else if text.len() > limit {
        "is too long"
    } else {
        return Ok(());
    };
    Err(HistoryError::Heading { part, problem })
}

/// A date or a time of day, in whatever notation: a digit first, a few digits in all.
fn is_time(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let separated = text.contains([':', '-', '/', '.']);
    text.starts_with(|c: char| c.is_ascii_digit())
        && digits >= 3
        && separated
        && text.len() <= MAX_TIME_BYTES
}

fn is_execution(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let word =
        |word: Option<&str>, expected| word.is_some_and(|w| w.eq_ignore_ascii_case(expected));
    word(words.next(), "step")
        && words.next().is_some_and(|number| number.parse::<u64>().is_ok())
        && word(words.next(), "execution")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_reads_back_even_with_dashes_in_the_title() {
        let line = write("Note - about - this", "2026-11-16T08:00:00Z").unwrap();
        assert_eq!(line, "### Note - about - this - 2026-11-16T08:00:00Z");
        assert_eq!(split_signed(&line), ("Note - about - this", Some("2026-11-16T08:00:00Z")));
    }

    #[test]
    fn what_would_not_read_back_is_refused() {
        let long = "x".repeat(5000);
        for title in ["", " a", "a ", "a\nb", "a\rb", "a\u{85}b", "a\u{2028}b", &long] {
            assert!(write(title, "now").is_err(), "{title:?}");
        }
        for time in ["", "a - b", "- b", "now #", "a\nb"] {
            assert!(write("x", time).is_err(), "{time:?}");
        }
    }

    #[test]
    fn headings_by_hand_are_entries_if_they_tell_a_time_or_an_execution() {
        let table = [
            (
                "### Step 1 Execution - 2024-01-15T10:30:00Z",
                Some(("Step 1 Execution", Some("2024-01-15T10:30:00Z"))),
            ),
            ("### Fixed it — 10:30", Some(("Fixed it", Some("10:30")))),
            ("###  Note - 2024/01/15 10:30 ###", Some(("Note", Some("2024/01/15 10:30")))),
            ("### Step 2 Execution - [timestamp]", Some(("Step 2 Execution - [timestamp]", None))),
            ("### Step 2 Execution", Some(("Step 2 Execution", None))),
            ("### 2024-01-15: Fixed it", Some(("Fixed it", Some("2024-01-15")))),
            ("## [2024-01-15 10:30] Fixed it", Some(("Fixed it", Some("2024-01-15 10:30")))),
            ("## Session 4 (2024-01-15)", Some(("Session 4", Some("2024-01-15")))),
            ("## Session 4 (see 2024-01-15)", None),
            ("# Session 4 (2024-01-15)", None),
            ("## 2024-01-15", Some(("", Some("2024-01-15")))),
            ("- **2024-01-15** - Fixed it", Some(("Fixed it", Some("2024-01-15")))),
            ("* 2024-01-15T10:30:00Z Fixed it", Some(("Fixed it", Some("2024-01-15T10:30:00Z")))),
            ("- 15.1.2024: fixed", Some(("fixed", Some("15.1.2024")))),
            ("## Fixed it - 10:30", None),
            ("- 2024 was good", None),
            ("- 3.14.15 is a version", None),
            ("- 2024-01-15x", None),
            ("- Fixed it - 2024-01-15", None),
            ("### Step 2", None),
            ("### Web Content - 3 pages", None),
            ("### Range - 100", None),
            ("### ", None),
        ];
        for (line, expected) in table {
            assert_eq!(split_unsigned(line), expected, "{line}");
        }
    }
}
