//! Text of a state in a page: it stays text.

use std::fmt::Write as _;

/// Text as it stands between tags and in attributes in quotes.
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
            c if is_unsafe(c) => {
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
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
