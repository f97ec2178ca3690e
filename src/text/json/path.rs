//! The way from the root of a document to one of its values.

use super::scan::{quote, string_end, unescape};
use std::fmt;

/// Segments from the root to a value: keys, and array indices as decimal numbers.
///
/// The segment `-` means the place after the last item of an array, as in RFC 6901.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<String>);

/// Why a path could not be read. Offsets are bytes within the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Two dots in a row, or a dot at the start or the end.
    #[error(
        "the path `{path}` has an empty segment at byte {offset}; an empty key is written `[\"\"]`"
    )]
    EmptySegment {
        /// The whole path.
        path: String,
        /// Where.
        offset: usize,
    },
    /// A backslash or a tilde followed by something it does not go with.
    #[error("the path `{path}` has an unknown escape at byte {offset}: {known}")]
    BadEscape {
        /// The whole path.
        path: String,
        /// Where.
        offset: usize,
        /// What may be written instead.
        known: &'static str,
    },
    /// A bracket that holds neither a quoted key nor an index, or is not closed.
    #[error("the path `{path}` has a bad bracket at byte {offset}; write `[\"key\"]` or `[0]`")]
    BadBracket {
        /// The whole path.
        path: String,
        /// Where.
        offset: usize,
    },
}

impl Path {
    /// The path of the whole document.
    pub fn root() -> Self {
        Self::default()
    }

    /// Reads a JSON pointer (`/a/b~1c/0`, or nothing for the root) or a dotted path.
    ///
    /// In a dotted path (`a.b.0`) a key that contains dots or brackets is written with
    /// backslashes (`a\.b`) or as a JSON string in brackets (`x["a.b"]`, `["a.b"].x`).
    ///
    /// # Errors
    /// Refuses empty segments, unknown escapes and brackets that are not closed.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        match text.strip_prefix('/') {
            Some(pointer) => pointer_segments(text, pointer).map(Self),
            None => Dotted::new(text).segments().map(Self),
        }
    }

    /// Adds a segment at the end.
    pub fn push(&mut self, segment: impl Into<String>) {
        self.0.push(segment.into());
    }

    /// This path with one more segment.
    #[must_use]
    pub fn join(&self, segment: impl Into<String>) -> Self {
        let mut path = self.clone();
        path.push(segment);
        path
    }

    /// The path without its last segment; none for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, front) = self.0.split_last()?;
        Some(Self(front.to_vec()))
    }

    /// The last segment; none for the root.
    pub fn last(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }

    /// The segments from the root on.
    pub fn segments(&self) -> &[String] {
        &self.0
    }

    /// Whether this is the whole document.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path as an RFC 6901 pointer.
    pub fn to_pointer(&self) -> String {
        let escaped =
            |segment: &String| format!("/{}", segment.replace('~', "~0").replace('/', "~1"));
        self.0.iter().map(escaped).collect()
    }

    /// The array index that `segment` is: digits without a leading zero.
    pub(super) fn index(segment: &str) -> Option<usize> {
        let digits = segment.bytes().all(|byte| byte.is_ascii_digit());
        let canonical = digits && (segment == "0" || !segment.starts_with('0'));
        segment.parse().ok().filter(|_| canonical)
    }

    /// The path of the first `length` segments.
    pub(super) fn first(&self, length: usize) -> Self {
        self.0.iter().take(length).cloned().collect()
    }

    /// Whether `other` lies below this path.
    pub(super) fn contains(&self, other: &Self) -> bool {
        other.0.len() > self.0.len() && other.0.starts_with(&self.0)
    }

    /// The path as a message names it.
    pub(super) fn named(&self) -> String {
        if self.is_root() { "the document".to_owned() } else { format!("`{self}`") }
    }
}

impl fmt::Display for Path {
    /// Writes the dotted form, which [`Path::parse`] reads back as the same path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.0.iter().enumerate() {
            let special = |c: char| ".\\[]\"'".contains(c) || c.is_whitespace() || c.is_control();
            let pointer_like = i == 0 && segment.starts_with('/');
            if segment.is_empty() || pointer_like || segment.contains(special) {
                write!(f, "[{}]", quote(segment))?;
            } else {
                let dot = if i == 0 { "" } else { "." };
                write!(f, "{dot}{segment}")?;
            }
        }
        Ok(())
    }
}

impl std::str::FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::parse(text)
    }
}

impl<S: Into<String>> FromIterator<S> for Path {
    fn from_iter<I: IntoIterator<Item = S>>(segments: I) -> Self {
        Self(segments.into_iter().map(Into::into).collect())
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segments(text: &str) -> Vec<String> {
        Path::parse(text).unwrap().segments().to_vec()
    }

    #[test]
    fn dotted_paths_name_keys_and_indices() {
        assert_eq!(segments("a.b.0"), ["a", "b", "0"]);
        assert_eq!(segments("a[0].b"), ["a", "0", "b"]);
        assert_eq!(segments("a.-"), ["a", "-"]);
        assert_eq!(segments("übung.naïve"), ["übung", "naïve"]);
        assert_eq!(segments("a/b"), ["a/b"]);
    }

    #[test]
    fn dots_in_keys_are_escaped_or_quoted() {
        assert_eq!(segments(r"a\.b.c"), ["a.b", "c"]);
        assert_eq!(segments(r#"x["a.b"].c"#), ["x", "a.b", "c"]);
        assert_eq!(segments(r#"["a.b"]["c]\""]"#), ["a.b", "c]\""]);
        assert_eq!(segments(r#"a[""]"#), ["a", ""]);
        assert_eq!(segments(r"\/a"), ["/a"]);
    }

    #[test]
    fn pointers_follow_rfc_6901() {
        assert_eq!(segments(""), Vec::<String>::new());
        assert_eq!(segments("/"), [""]);
        assert_eq!(segments("/a~1b/m~0n/~01"), ["a/b", "m~n", "~1"]);
        assert_eq!(segments("/c%d/e^f/ /0"), ["c%d", "e^f", " ", "0"]);
    }

    #[test]
    fn malformed_paths_are_refused() {
        for text in [
            ".", ".a", "a.", "a..b", "a[", "a[x]", "a[01]", r#"a["b]"#, r#"a["b""#, "a[0]b",
            r"a\q", r"a\", "/~2", "/a~", "a[].b",
        ] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_canonical_numbers_are_indices() {
        assert_eq!(Path::index("0"), Some(0));
        assert_eq!(Path::index("10"), Some(10));
        for segment in ["", "-", "01", "+1", "-1", "1.0", "٣", "99999999999999999999999"] {
            assert_eq!(Path::index(segment), None, "{segment}");
        }
    }

    proptest! {
        #[test]
        fn both_spellings_read_back_as_the_same_path(keys in prop::collection::vec(r#"([a-c./~\[\]"' \\0-9é\n-]|\PC){0,4}"#, 0..4)) {
            let path: Path = keys.into_iter().collect();
            prop_assert_eq!(&Path::parse(&path.to_string()).unwrap(), &path);
            prop_assert_eq!(&Path::parse(&path.to_pointer()).unwrap(), &path);
        }

        #[test]
        fn any_text_is_read_or_refused(text in r#"[a./~\[\]"'\\0é]{0,12}"#) {
            let _ = Path::parse(&text);
        }
    }
}
