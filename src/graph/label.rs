//! Short texts that fit into a box or a line.

use crate::domain::StepRole;

/// The word for what a status means: `open`, `active`, `done`, …; `unknown` for none.
pub(crate) fn role_word(role: Option<StepRole>) -> String {
    let word = role.and_then(|role| serde_json::to_value(role).ok());
    word.as_ref().and_then(|word| word.as_str()).unwrap_or("unknown").to_owned()
}

/// How many columns a character takes on a terminal.
pub(super) fn columns(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// One line of at most so many columns; what is cut off is marked.
pub(super) fn cut(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut used = 0;
    let mut words = text.chars().map(|c| if is_unsafe(c) { ' ' } else { c }).peekable();
    while let Some(c) = words.next() {
        let room = if words.peek().is_some() { most.saturating_sub(1) } else { most };
        if used + columns(c) > room {
            line.push('…');
            break;
        }
        used += columns(c);
        line.push(c);
    }
    line
}

/// Whether a character would break the line or turn its direction.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
