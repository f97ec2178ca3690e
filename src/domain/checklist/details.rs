//! The text below a task that is not itself a task.

use super::{Found, label};
use crate::text::markdown::Document;

/// The longest text that is kept; the file has the rest.
const LONGEST: usize = 1500;

/// What is said below the first lines of a task, without the tasks nested in it, which `behind`
/// begins with; and the requirements that it lists.
pub(super) fn read(
    document: &Document,
    one: &Found,
    behind: &[Found],
) -> (Option<String>, Option<String>) {
    let Some(item) = one.item else { return (None, None) };
    let end = document.item(item).span.end;
    let start = one.marker.end + 1;
    let Some(text) = document.source().get(start..end) else { return (None, None) };
    let mut lines: Vec<&str> = Vec::new();
    let mut requirements = None;
    let mut nested = behind.iter().take_while(|other| other.span.start < end).peekable();
    let mut at = start;
    for (count, line) in text.split_inclusive('\n').enumerate() {
        let begins = at;
        at += line.len();
        while nested.next_if(|other| other.span.end <= begins).is_some() {}
        let is_nested = nested.peek().is_some_and(|other| other.span.start < at);
        if count < one.lines || is_nested {
            continue;
        }
        match label::requirements(line) {
            Some((_, list)) => requirements = Some(list),
            None => lines.push(line.trim_end()),
        }
    }
    (joined(&lines), requirements)
}

/// The lines without the indentation that they share and without blank ones around them.
fn joined(lines: &[&str]) -> Option<String> {
    let is_blank = |line: &&str| line.trim().is_empty();
    let indent = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let shared = lines.iter().filter(|line| !is_blank(line)).map(indent).min()?;
    let mut text = String::new();
    for line in lines {
        if is_blank(line) && (text.is_empty() || text.ends_with("\n\n")) {
            continue;
        }
        text.push_str(line.get(shared..).unwrap_or_default());
        text.push('\n');
    }
    let text = text.trim_end();
    if text.chars().count() > LONGEST {
        let cut: String = text.chars().take(LONGEST).collect();
        return Some(format!("{}…", cut.trim_end()));
    }
    (!text.is_empty()).then(|| text.to_owned())
}
