//! The fields of an entry, read line by line.
//!
//! A log can have a million entries, so this reads the notation of fields without a markdown
//! parser; it agrees with [`crate::text::markdown`] on everything that is written by `render`.

use std::borrow::Cow;

/// One field, not yet decoded.
#[derive(Clone, Copy, Debug)]
pub(in crate::history) struct Field<'a> {
    pub(in crate::history) key: &'a str,
    inline: &'a str,
    /// The lines below, which belong to the field.
    below: &'a str,
    /// Whether the value is written as it is.
    is_literal: bool,
}

/// The fields of a body, in order.
pub(in crate::history) fn fields(body: &str) -> impl Iterator<Item = Field<'_>> {
    let mut rest = body;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (line, after) = take_line(rest);
            rest = after;
            let Some((key, inline)) = split_key(line) else { continue };
            let length = length_below(rest);
            let (below, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            rest = after;
            return Some(Field { key, inline, below, is_literal: false });
        }
        None
    })
}

impl<'a> Field<'a> {
    /// A value that stands elsewhere than in a field.
    pub(in crate::history) fn literal(key: &'a str, value: &'a str) -> Self {
        Self { key, inline: value, below: "", is_literal: true }
    }

    /// The decoded value.
    pub(in crate::history) fn value(self) -> Cow<'a, str> {
        if self.is_literal {
            return Cow::Borrowed(self.inline);
        }
        let inline = without_comment(self.inline);
        if self.below.trim().is_empty() {
            return unquote(inline);
        }
        if inline.is_empty()
            && let Some(value) = fenced(self.below)
        {
            return Cow::Owned(value);
        }
        let indent = self
            .below
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(indent_of)
            .min()
            .unwrap_or(0);
        let is_paragraph = !self.below.lines().any(|line| line.trim().is_empty() || is_block(line));
        let separator = if is_paragraph { " " } else { "\n" };
        let mut parts = Vec::new();
        if !inline.is_empty() {
            parts.push(inline);
        }
        for line in self.below.trim_end().lines() {
            let line = if is_paragraph { line.trim() } else { line.get(indent..).unwrap_or("") };
            parts.push(line);
        }
        Cow::Owned(parts.join(separator))
    }
}

/// Takes blanks off; a no-break space is text.
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

fn take_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// The length of the lines that are indented, or blank between indented ones.
fn length_below(text: &str) -> usize {
    let mut length = 0;
    let mut taken = 0;
    for line in text.split_inclusive('\n') {
        taken += line.len();
        if line.trim().is_empty() {
            continue;
        }
        if !line.starts_with([' ', '\t']) {
            break;
        }
        length = taken;
    }
    length
}

/// The key and the value on the same line, if the line is a field at column 0.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let item = ["- ", "* ", "+ "].into_iter().find_map(|bullet| line.strip_prefix(bullet));
    let text = item.unwrap_or(line).trim_start();
    for mark in ["**", "__"] {
        if let Some(rest) = text.strip_prefix(mark) {
            let (key, value) = split_at_mark(rest, mark)?;
            let (key, value) = match strip_colon_end(key) {
                Some(key) => (key, value),
                None => (key, strip_colon(value)?),
            };
            return (!key.trim().is_empty()).then_some((key.trim(), trim(value)));
        }
    }
    item?;
    let (key, value) = text.split_once(':')?;
    let is_word = key.len() <= 41
        && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_ -".contains(&b));
    let is_apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_word && is_apart).then_some((key.trim(), trim(value)))
}

/// Splits at the first `mark`, which is two equal ASCII bytes.
fn split_at_mark<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let at = text.as_bytes().windows(2).position(|pair| pair == mark.as_bytes())?;
    Some((text.get(..at)?, text.get(at + mark.len()..)?))
}

fn strip_colon(text: &str) -> Option<&str> {
    let text = text.trim_start();
    text.strip_prefix(':').or_else(|| text.strip_prefix('：'))
}

fn strip_colon_end(text: &str) -> Option<&str> {
    text.strip_suffix(':').or_else(|| text.strip_suffix('：'))
}

fn without_comment(text: &str) -> &str {
    let Some(start) = text.ends_with("-->").then(|| text.rfind("<!--")).flatten() else {
        return text;
    };
    let (before, comment) = text.split_at(start);
    if comment.find("-->") != Some(comment.len() - 3) {
        return text;
    }
    if before.is_empty() || before.ends_with([' ', '\t']) { trim(before) } else { text }
}

/// A JSON string is decoded; other quotes are taken off if they are a lone pair.
fn unquote(text: &str) -> Cow<'_, str> {
    if text.len() < 2 {
        return Cow::Borrowed(text);
    }
    if text.starts_with('"')
        && text.ends_with('"')
        && let Ok(value) = serde_json::from_str::<String>(text)
    {
        return Cow::Owned(value);
    }
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains(quote)) {
            return Cow::Borrowed(inner);
        }
    }
    Cow::Borrowed(text)
}

/// The content of a fence, if the text is one fence and nothing else.
fn fenced(below: &str) -> Option<String> {
    let mut lines = below.lines().skip_while(|line| line.trim().is_empty());
    let opening = lines.next()?;
    let indent = indent_of(opening);
    let text = opening.trim_start();
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    if length < 3 {
        return None;
    }
    let mut content: Vec<&str> = Vec::new();
    for line in lines.by_ref() {
        let bare = trim(line);
        if bare.len() >= length && bare.chars().all(|c| c == mark) {
            return lines.all(|line| line.trim().is_empty()).then(|| content.join("\n"));
        }
        let spaces = line.bytes().take(indent).take_while(|byte| *byte == b' ').count();
        content.push(line.get(spaces..).unwrap_or_default());
    }
    Some(content.join("\n"))
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn is_block(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with(['>', '|', '#', '`', '~'])
        || ["- ", "* ", "+ "].iter().any(|bullet| text.starts_with(bullet))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Vec<(String, String)> {
        fields(body).map(|field| (field.key.to_owned(), field.value().into_owned())).collect()
    }

    fn one(body: &str) -> (String, String) {
        let mut all = read(body);
        assert_eq!(all.len(), 1, "{body}");
        all.remove(0)
    }

    #[test]
    fn every_notation_of_a_field_is_read() {
        let table = [
            ("- **status**: DONE", "status", "DONE"),
            ("* **status:** DONE", "status", "DONE"),
            ("+ __status__： DONE", "status", "DONE"),
            ("- status: DONE", "status", "DONE"),
            ("**Status:** DONE", "Status", "DONE"),
            ("- **status**: \"a \\\"b\\\"\\n\"", "status", "a \"b\"\n"),
            ("- **status**: 'DONE'", "status", "DONE"),
            ("- **status**: \"a\" and \"b\"", "status", "\"a\" and \"b\""),
            ("- **status**: DONE <!-- as seen -->", "status", "DONE"),
            ("- **status**: a<!-- b -->", "status", "a<!-- b -->"),
            ("- **status**: <!-- -->-->", "status", "<!-- -->-->"),
            ("- **status**:", "status", ""),
            ("- **a b**: x: y", "a b", "x: y"),
            ("- **notes**: one\n  two\n  three", "notes", "one two three"),
            ("- **inputs**:\n  - url: x\n  - depth: 2\n", "inputs", "- url: x\n- depth: 2"),
            ("- **text**:\n  ```text\n  a\n    b\n\n  c\n  ```\n", "text", "a\n  b\n\nc"),
            ("- **text**:\n  ~~~~\n  ~~~\n  ~~~~", "text", "~~~"),
        ];
        for (body, key, value) in table {
            assert_eq!(one(body), (key.to_owned(), value.to_owned()), "{body}");
        }
    }

    #[test]
    fn prose_is_not_a_field() {
        for body in [
            "- If x → y", "- See http://x", "plain: text", "- **bold** text", "- ****: x",
            "### a: b", "- 1st: x",
        ] {
            assert_eq!(read(body), [], "{body}");
        }
    }

    #[test]
    fn a_field_ends_where_the_next_line_is_not_indented() {
        let body = "### x\n- **a**: 1\n\n- **b**:\n  ```\n- **c**: 2\ntext\n- **d**: 3\n";
        let keys: Vec<String> = read(body).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["a", "b", "c", "d"]);
    }
}
