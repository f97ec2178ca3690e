//! Elements put into JSON settings as one piece of text, and cut out again to the byte.
//!
//! A piece goes right behind what was last in its container, so that cutting it out leaves the
//! text around it as it was. What has to be known for that is in the white space: a container
//! that was there and empty has the piece directly behind its bracket and one blank behind the
//! piece; one that came with the piece never has. A client that lays the file out anew loses
//! only this: an empty container then goes with the piece.

use serde_json::Value;

use crate::text::json::{JsonDocument, Path};

/// Reads settings that are one JSON object. Where a client allows comments and a comma behind the
/// last element, they are kept: every place in the document is one in the text.
pub(super) fn parse(text: &str) -> Result<JsonDocument, String> {
    let document = JsonDocument::parse(text)
        .or_else(|_| JsonDocument::parse(without_comments(text)))
        .map_err(|error| error.to_string())?;
    match document.to_value() {
        Value::Object(_) => Ok(document),
        _ => Err("it is not a JSON object".to_owned()),
    }
}

/// The text with blanks in the place of comments and of commas before a closing bracket.
fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut last) = (0, None);
    while let Some(byte) = bytes.get(at).copied() {
        let end = match byte {
            b'"' => at + string_length(&text[at..]),
            b'/' if text[at..].starts_with("//") => {
                at + text[at..].find('\n').unwrap_or(text.len() - at)
            }
            b'/' if text[at..].starts_with("/*") => {
                at + text[at..].find("*/").map_or(text.len() - at, |end| end + 2)
            }
            _ => at + 1,
        };
        match byte {
            b'/' if end > at + 1 => {
                let comment = bytes[at..end].iter_mut();
                comment.filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
            }
            b'}' | b']' => {
                if let Some((comma, b',')) = last {
                    bytes[comma] = b' ';
                }
                last = Some((at, byte));
            }
            byte if byte.is_ascii_whitespace() => {}
            byte => last = Some((at, byte)),
        }
        at = end;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// How long the string is that a text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let is_end = |(_, c): &(usize, char)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    };
    text.char_indices().skip(1).find(is_end).map_or(text.len(), |(at, _)| at + 1)
}

/// The text with one more element, the last one of its container: `path` is where it will be.
pub(super) fn add(text: &str, path: &Path, value: &Value) -> Result<String, String> {
    let document = parse(text)?;
    let parent = path.parent().unwrap_or_default();
    let around = document.element(&parent).ok_or_else(|| format!("there is no `{parent}`"))?;
    let is_object = document.keys(&parent).is_some();
    let key = path.last().filter(|_| is_object).map(|key| Value::from(key).to_string() + ": ");
    let written = |indent: Option<&str>| {
        let mut out = key.clone().unwrap_or_default();
        Writer { newline: newline(text), unit: &unit(&document) }.write(&mut out, value, indent);
        out
    };
    let (at, piece) = match children(&document, &parent).last() {
        Some(last) => {
            let last = document.element(last).ok_or("an element has no place")?;
            let gap = gap_before(text, last.start);
            let indent = gap.rfind('\n').map(|at| &gap[at + 1..]);
            let lead = indent.map_or(gap.to_owned(), |indent| newline(text).to_owned() + indent);
            (last.end, format!(",{lead}{}", written(indent)))
        }
        None => {
            let open = around.end - document.raw(&parent).map_or(0, str::len) + 1;
            let piece = if parent.is_root() {
                let (newline, unit) = (newline(text), unit(&document));
                format!("{newline}{unit}{}{newline}", written(Some(&unit)))
            } else {
                let indent = text.contains('\n').then(|| line_indent(text, open));
                format!("{} ", written(indent))
            };
            (open, piece)
        }
    };
    Ok([&text[..at], &piece, &text[at..]].concat())
}

/// The text with another value in the place of one that is there.
pub(super) fn replace(text: &str, path: &Path, value: &Value) -> Result<String, String> {
    let document = parse(text)?;
    let element = document.element(path).ok_or_else(|| format!("there is no `{path}`"))?;
    let start = element.end - document.raw(path).map_or(0, str::len);
    let indent = text.contains('\n').then(|| line_indent(text, start));
    let mut new = String::new();
    Writer { newline: newline(text), unit: &unit(&document) }.write(&mut new, value, indent);
    Ok([&text[..start], &new, &text[element.end..]].concat())
}

/// The text without the element at `path`, and without the containers that came with it.
pub(super) fn cut(text: &str, path: &Path) -> Result<String, String> {
    let document = parse(text)?;
    let element = document.element(path).ok_or_else(|| format!("there is no `{path}`"))?;
    let parent = path.parent().unwrap_or_default();
    let around = document.element(&parent).ok_or_else(|| format!("there is no `{parent}`"))?;
    let open = around.end - document.raw(&parent).map_or(0, str::len) + 1;
    let siblings = children(&document, &parent);
    let at = siblings.iter().position(|sibling| sibling == path).unwrap_or(0);
    let behind = &text[element.end..];
    let range = match at.checked_sub(1).and_then(|before| document.element(&siblings[before])) {
        Some(before) => before.end..element.end,
        None if siblings.len() > 1 => {
            open..element.end + behind.find(',').map_or(0, |comma| comma + 1)
        }
        None if parent.is_root() => {
            let rest = behind.strip_prefix("\r\n").or(behind.strip_prefix('\n'));
            open..text.len() - rest.unwrap_or(behind).len()
        }
        None if element.start == open && behind.starts_with(' ') => open..element.end + 1,
        None => return cut(text, &parent),
    };
    Ok([&text[..range.start], &text[range.end..]].concat())
}

fn children(document: &JsonDocument, path: &Path) -> Vec<Path> {
    match (document.keys(path), document.get(path)) {
        (Some(keys), _) => keys.into_iter().map(|key| path.join(key)).collect(),
        (_, Some(Value::Array(items))) => {
            (0..items.len()).map(|at| path.join(at.to_string())).collect()
        }
        _ => Vec::new(),
    }
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The white space right before a place.
fn gap_before(text: &str, at: usize) -> &str {
    let before = &text[..at];
    &before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..]
}

/// What the line of a place begins with.
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// One step of indentation, as the first member has it.
fn unit(document: &JsonDocument) -> String {
    let first = children(document, &Path::root()).first().and_then(|path| document.element(path));
    let gap = first.map_or("", |first| gap_before(document.source(), first.start));
    let indent = gap.rfind('\n').map_or("", |at| &gap[at + 1..]);
    if indent.is_empty() { "  ".to_owned() } else { indent.to_owned() }
}

struct Writer<'s> {
    newline: &'static str,
    unit: &'s str,
}

impl Writer<'_> {
    /// Writes on lines of their own behind `indent`, or all in one line. A container with
    /// elements that could be cut out never has one directly behind its bracket.
    fn write(&self, out: &mut String, value: &Value, indent: Option<&str>) {
        let (brackets, elements): (_, Vec<(String, &Value)>) = match value {
            Value::Object(members) if !members.is_empty() => {
                let named =
                    |(key, value)| (Value::from(String::clone(key)).to_string() + ": ", value);
                (['{', '}'], members.iter().map(named).collect())
            }
            Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
                (['[', ']'], items.iter().map(|item| (String::new(), item)).collect())
            }
            plain => return out.push_str(&plain.to_string()),
        };
        let inner = indent.map(|indent| indent.to_owned() + self.unit);
        let lead = |indent: Option<&str>| match indent {
            Some(indent) => self.newline.to_owned() + indent,
            None => " ".to_owned(),
        };
        out.push(brackets[0]);
        for (at, (key, value)) in elements.into_iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            out.push_str(&lead(inner.as_deref()));
            out.push_str(&key);
            self.write(out, value, inner.as_deref());
        }
        out.push_str(&lead(indent));
        out.push(brackets[1]);
    }
}
