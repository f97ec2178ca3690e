//! Identifiers that sort by time.

use std::fmt;
use std::str::FromStr;

use crate::text::display::shorten;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The value of each letter of the alphabet, by its byte; `NO_DIGIT` for all other bytes.
const DIGITS: [u8; 256] = digits();
const NO_DIGIT: u8 = 0xff;
/// How many characters an id has.
pub(super) const LENGTH: usize = 26;
const TIME_LENGTH: usize = 10;
const MAX_MILLIS: u64 = (1 << 48) - 1;

/// A ULID: 48 bits of milliseconds since 1970, then 80 further bits; sorts by time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid(u128);

/// A text that is no ULID.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an entry id: 26 letters and digits are expected, the first one 0 to 7")]
pub struct NoUlid(String);

impl Ulid {
    /// The ULID of a time and 80 bits; a time past the year 10889 counts as the last one there is.
    pub fn new(millis: u64, bits: [u8; 10]) -> Self {
        let low = bits.iter().fold(0u128, |all, &byte| (all << 8) | u128::from(byte));
        Self((u128::from(millis.min(MAX_MILLIS)) << 80) | low)
    }

    /// Reads 26 characters of Crockford's base 32, in either letter case.
    ///
    /// # Errors
    /// Refuses any other length or character, and a first character above `7`.
    pub fn parse(text: &str) -> Result<Self, NoUlid> {
        Self::decode(text.as_bytes(), u8::to_ascii_uppercase)
            .ok_or_else(|| NoUlid(shorten(text, 40).into_owned()))
    }

    /// The milliseconds since 1970.
    pub fn millis(self) -> u64 {
        (self.0 >> 80) as u64
    }

    /// The 80 bits below the time.
    pub fn bits(self) -> [u8; 10] {
        let mut bits = [0; 10];
        for (place, byte) in bits.iter_mut().zip(self.0.to_be_bytes().into_iter().skip(6)) {
            *place = byte;
        }
        bits
    }

    /// Reads the one spelling that [`fmt::Display`] writes, and no other.
    pub(super) fn from_canonical(text: &[u8]) -> Option<Self> {
        Self::decode(text, |byte| *byte)
    }

    /// The first ten characters, which say the time.
    pub(super) fn time_text(self) -> [u8; TIME_LENGTH] {
        let mut text = [0; TIME_LENGTH];
        for (place, byte) in text.iter_mut().zip(self.encode()) {
            *place = byte;
        }
        text
    }

    /// The text that [`fmt::Display`] writes.
    pub(super) fn encode(self) -> [u8; LENGTH] {
        let mut text = [b'0'; LENGTH];
        let mut rest = self.0;
        for place in text.iter_mut().rev() {
            *place = ALPHABET[(rest & 31) as usize];
            rest >>= 5;
        }
        text
    }

    fn decode(text: &[u8], fold: impl Fn(&u8) -> u8) -> Option<Self> {
        if text.len() != LENGTH || !matches!(text.first(), Some(b'0'..=b'7')) {
            return None;
        }
        let mut value = 0u128;
        let mut all = 0;
        for byte in text {
            let digit = DIGITS[usize::from(fold(byte))];
            all |= digit;
            value = (value << 5) | u128::from(digit);
        }
        (all != NO_DIGIT).then_some(Self(value))
    }
}

/// How many letters of an id a text starts with, as far as it could be one.
pub(super) fn leading_letters(text: &[u8]) -> usize {
    if !matches!(text.first(), Some(b'0'..=b'7')) {
        return 0;
    }
    let is_letter = |byte: &&u8| DIGITS[usize::from(**byte)] != NO_DIGIT;
    text.iter().take(LENGTH).take_while(is_letter).count()
}

const fn digits() -> [u8; 256] {
    let mut table = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < ALPHABET.len() {
        table[ALPHABET[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.encode();
        f.pad(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ulid({self})")
    }
}

impl FromStr for Ulid {
    type Err = NoUlid;

    fn from_str(text: &str) -> Result<Self, NoUlid> {
        Self::parse(text)
    }
}

/// The id of a history entry: when it was made, and a digest of what it says and what it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub Ulid);

impl EntryId {
    /// Reads an id as `Ulid::parse` does.
    ///
    /// # Errors
    /// Refuses a text that is not a ULID.
    pub fn parse(text: &str) -> Result<Self, NoUlid> {
        Ulid::parse(text).map(Self)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EntryId {
    type Err = NoUlid;

    fn from_str(text: &str) -> Result<Self, NoUlid> {
        Self::parse(text)
    }
}

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EntryId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ulid_reads_back_and_keeps_time_and_bits() {
        let ulid = Ulid::new(1_763_280_000_123, [0, 1, 2, 3, 250, 251, 252, 253, 254, 255]);
        let text = ulid.to_string();
        assert_eq!(text.len(), 26);
        assert_eq!(Ulid::parse(&text).unwrap(), ulid);
        assert_eq!(Ulid::parse(&text.to_lowercase()).unwrap(), ulid);
        assert_eq!(ulid.millis(), 1_763_280_000_123);
        assert_eq!(ulid.bits(), [0, 1, 2, 3, 250, 251, 252, 253, 254, 255]);
    }

    #[test]
    fn the_known_example_of_the_standard_has_its_time() {
        let ulid = Ulid::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV").unwrap();
        assert_eq!(ulid.millis(), 1_469_922_850_259);
        assert_eq!(ulid.time_text(), *b"01ARZ3NDEK");
    }

    #[test]
    fn later_ids_sort_later_as_values_and_as_text() {
        let early = Ulid::new(5, [255; 10]);
        let late = Ulid::new(6, [0; 10]);
        assert!(early < late);
        assert!(early.to_string() < late.to_string());
    }

    #[test]
    fn text_that_is_not_a_ulid_is_refused() {
        let wrong = ["", "01ARZ3NDEKTSV4RRFFQ69G5FA", "81ARZ3NDEKTSV4RRFFQ69G5FAV"];
        for text in
            wrong.into_iter().chain(["01ARZ3NDEKTSV4RRFFQ69G5FAU", "é1ARZ3NDEKTSV4RRFFQ69G5FA"])
        {
            assert!(Ulid::parse(text).is_err(), "{text}");
        }
        assert!(Ulid::from_canonical(b"01arz3ndektsv4rrffq69g5fav").is_none());
    }

    #[test]
    fn a_time_beyond_the_last_is_the_last() {
        assert_eq!(Ulid::new(u64::MAX, [0; 10]).millis(), MAX_MILLIS);
    }
}
