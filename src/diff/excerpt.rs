//! Values on one line, shortened so that what differs can be seen.

use serde_json::Value;

/// Text on one line with at most `width` characters; a cut says how much was left out.
pub(super) fn excerpt(text: &str, width: usize) -> String {
    let line = one_line(text);
    let count = line.chars().count();
    if count <= width {
        return line;
    }
    let cut: String = line.chars().take(width).collect();
    format!("{}… (+{} characters)", cut.trim_end(), count - width)
}

/// Text in quotes, shortened.
pub(super) fn quoted(text: &str, width: usize) -> String {
    quote(text, 0, width)
}

/// A value as people write it: words and numbers bare, other text in quotes, the rest as JSON.
pub(super) fn display_value(value: &Value, width: usize) -> String {
    view(value, 0, width)
}

/// Both values, each shortened around the place where they differ.
pub(super) fn display_pair(before: &Value, after: &Value, width: usize) -> (String, String) {
    let (old, new) = (plain(before), plain(after));
    let common = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    let long = old.chars().count() > width || new.chars().count() > width;
    // What both begin with is only shown as far as it helps to find the place.
    let skip = if long { common.saturating_sub(width / 3) } else { 0 };
    (view(before, skip, width), view(after, skip, width))
}

/// As many of `texts` as fit, and how many more there are.
pub(super) fn excerpts<'t>(texts: impl Iterator<Item = &'t str>, width: usize) -> String {
    let mut out = String::new();
    let (mut used, mut left) = (0, 0usize);
    for text in texts {
        let length = text.chars().count();
        if !out.is_empty() && (left > 0 || used + length > width) {
            left += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(text);
        used += length + 2;
    }
    match left {
        0 => out,
        left => format!("{out}, and {left} more"),
    }
}

/// The text that is compared when two values are shown side by side.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text),
        other => other.to_string(),
    }
}

fn view(value: &Value, skip: usize, width: usize) -> String {
    match value {
        Value::String(text) if skip == 0 && is_word(text) => excerpt(text, width),
        Value::String(text) => quote(text, skip, width),
        other => cut(&other.to_string(), skip, width),
    }
}

/// Whether text can stand without quotes: a status, a number, an amount, a time.
fn is_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_$.%:+-".contains(c);
    text.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '$')
        && text.chars().all(plain)
}

fn quote(text: &str, skip: usize, width: usize) -> String {
    let line = one_line(text).replace('"', "\\\"");
    let count = line.chars().count();
    let part: String = line.chars().skip(skip).take(width).collect();
    let left = count.saturating_sub(skip + width);
    let front = if skip > 0 { "…" } else { "" };
    match left {
        0 => format!("\"{front}{part}\""),
        left => format!("\"{front}{}…\" (+{left} characters)", part.trim_end()),
    }
}

fn cut(text: &str, skip: usize, width: usize) -> String {
    let count = text.chars().count();
    let part: String = text.chars().skip(skip).take(width).collect();
    let front = if skip > 0 { "…" } else { "" };
    match count.saturating_sub(skip + width) {
        0 => format!("{front}{part}"),
        left => format!("{front}{part}… (+{left} characters)"),
    }
}

/// SummaryLine ends and tabs as `\n` and `\t`, other control characters escaped.
fn one_line(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}
