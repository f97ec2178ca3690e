//! Text of a state in a page: it stays text.

use std::fmt::Write as _;

use super::display::is_control;

/// Text as it is between tags and in attributes in quotes.
///
/// Characters that turn the direction of text or that XML has no place for are shown by their
/// number, as on a terminal.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\r' => {}
            c if is_control(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_an_attribute_or_begins_a_tag() {
        assert_eq!(
            escape("<a href='x' b=\"&amp;\">"),
            "&lt;a href=&#39;x&#39; b=&quot;&amp;amp;&quot;&gt;"
        );
        assert_eq!(escape("a\u{202e}b\u{0}\r\nc"), "a\\u{202e}b\\u{0}\nc");
    }
}
