//! The two spellings of a path: pointers and dotted paths.

use super::scan::{string_end, unescape};
use super::{Path, PathError};

/// The segments of a pointer, given without its first slash; `text` is the whole of it.
pub(super) fn pointer_segments(text: &str, pointer: &str) -> Result<Vec<String>, PathError> {
    let mut offset = 1;
    let mut segments = Vec::new();
    for escaped in pointer.split('/') {
        let tilde = escaped
            .match_indices('~')
            .find(|(at, _)| !matches!(escaped.as_bytes().get(at + 1), Some(b'0' | b'1')));
        if let Some((at, _)) = tilde {
            let known = "`~0` is a tilde, `~1` is a slash";
            return Err(PathError::BadEscape { path: text.to_owned(), offset: offset + at, known });
        }
        segments.push(escaped.replace("~1", "/").replace("~0", "~"));
        offset += escaped.len() + 1;
    }
    Ok(segments)
}

/// A dotted path while it is read.
pub(super) struct Dotted<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Dotted<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn segments(mut self) -> Result<Vec<String>, PathError> {
        let mut segments = Vec::new();
        while self.at < self.text.len() {
            if self.peek() == Some('[') {
                segments.push(self.bracket()?);
            } else {
                if !segments.is_empty() {
                    self.dot()?;
                }
                segments.push(self.plain()?);
            }
        }
        Ok(segments)
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn dot(&mut self) -> Result<(), PathError> {
        match self.peek() {
            Some('.') => self.at += 1,
            _ => return Err(self.bad_bracket(self.at)),
        }
        Ok(())
    }

    fn plain(&mut self) -> Result<String, PathError> {
        let start = self.at;
        let mut segment = String::new();
        while let Some(c) = self.peek() {
            match c {
                '.' | '[' => break,
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some(escaped @ ('.' | '\\' | '[' | ']' | '"' | '/')) => {
                            segment.push(escaped)
                        }
                        _ => return Err(self.bad_escape(self.at - 1)),
                    }
                    self.at += 1;
                }
                c => {
                    segment.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        if self.at == start {
            return Err(PathError::EmptySegment { path: self.text.to_owned(), offset: start });
        }
        Ok(segment)
    }

    fn bracket(&mut self) -> Result<String, PathError> {
        let open = self.at;
        let inner = open + 1;
        let rest = self.text.get(inner..).unwrap_or_default();
        let end = if rest.starts_with('"') {
            string_end(self.text.as_bytes(), inner).map_err(|_| self.bad_bracket(open))?
        } else {
            inner + rest.find(']').ok_or_else(|| self.bad_bracket(open))?
        };
        let raw = self.text.get(inner..end).unwrap_or_default();
        let quoted = raw.starts_with('"');
        if !self.text.get(end..).unwrap_or_default().starts_with(']')
            || !(quoted || raw == "-" || Path::index(raw).is_some())
        {
            return Err(self.bad_bracket(open));
        }
        self.at = end + 1;
        Ok(if quoted { unescape(raw).into_owned() } else { raw.to_owned() })
    }

    fn bad_bracket(&self, offset: usize) -> PathError {
        PathError::BadBracket { path: self.text.to_owned(), offset }
    }

    fn bad_escape(&self, offset: usize) -> PathError {
        let known = "a backslash goes before `.`, `[`, `]`, `\"`, `/` or a backslash";
        PathError::BadEscape { path: self.text.to_owned(), offset, known }
    }
}
