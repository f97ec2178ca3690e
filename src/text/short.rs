//! Texts that are usually a word.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
};

use serde::{Serialize, Serializer};

/// A text that needs no memory of its own if it is short: a long plan has thousands of them.
#[derive(Clone)]
pub(crate) struct ShortText(Form);

const ROOM: usize = 22;

#[derive(Clone)]
enum Form {
    Short { len: u8, bytes: [u8; ROOM] },
    Long(Box<str>),
}

impl ShortText {
    pub(crate) fn as_str(&self) -> &str {
        match &self.0 {
            Form::Short { len, bytes } => {
                // They were copied from a text.
                std::str::from_utf8(&bytes[..usize::from(*len)]).unwrap_or_default()
            }
            Form::Long(text) => text,
        }
    }
}

impl From<&str> for ShortText {
    fn from(text: &str) -> Self {
        let mut bytes = [0; ROOM];
        Self(match (bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(room), Ok(len)) => {
                room.copy_from_slice(text.as_bytes());
                Form::Short { len, bytes }
            }
            _ => Form::Long(text.into()),
        })
    }
}

impl fmt::Debug for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for ShortText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl PartialEq for ShortText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ShortText {}

impl Hash for ShortText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialOrd for ShortText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ShortText {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_any_length_comes_back() {
        for len in [0, 1, ROOM - 1, ROOM, ROOM + 1, 300] {
            let text = "é".repeat(len / 2) + &"x".repeat(len % 2);
            assert_eq!(ShortText::from(text.as_str()).as_str(), text);
        }
    }
}
