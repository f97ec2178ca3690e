//! Content hashes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The first half of a SHA-256, printed as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Hash([u8; 16]);

impl Hash {
    /// Hashes bytes.
    pub(crate) fn of(bytes: &[u8]) -> Hash {
        Self::of_all(&[bytes])
    }

    /// Hashes bytes that stand in several places, one behind the other.
    pub(in crate::store) fn of_all(parts: &[&[u8]]) -> Hash {
        let mut hasher = Sha256::new();
        parts.iter().for_each(|part| hasher.update(part));
        let full: [u8; 32] = hasher.finalize().into();
        let mut half = [0; 16];
        half.copy_from_slice(&full[..16]);
        Hash(half)
    }

    /// The hash itself.
    pub(in crate::store) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Hash {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Hash, Self::Err> {
        // A hash names a file, so there is one way to write it.
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err("not lower case");
        }
        let bytes = unhex(text).ok_or("not hexadecimal")?;
        Ok(Hash(bytes.try_into().map_err(|_| "not 32 hexadecimal digits")?))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hash, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The first digits of the SHA-256 of some bytes.
pub(in crate::store) fn hex_prefix(bytes: &[u8], digits: usize) -> String {
    let mut text = hex(&Sha256::digest(bytes));
    text.truncate(digits);
    text
}

/// Bytes as hexadecimal digits.
pub(in crate::store) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The bytes that hexadecimal digits stand for.
pub(in crate::store) fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    // Plain loops: without optimisation, as in the tests, iterators made this a fifth of opening a log.
    let mut bytes = Vec::with_capacity(pairs.len());
    for [high, low] in pairs {
        bytes.push(digit(*high)? << 4 | digit(*low)?);
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digit_is_what_the_standard_library_says() {
        for byte in 0..=u8::MAX {
            let known = char::from(byte).to_digit(16).map(|value| value as u8);
            assert_eq!(digit(byte), known, "{byte:#x}");
        }
        assert_eq!(unhex("00fF7a"), Some(vec![0, 255, 122]));
        assert_eq!((unhex("0"), unhex("0g"), unhex("é")), (None, None, None));
    }
}
