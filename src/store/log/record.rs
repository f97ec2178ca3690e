//! One line of the log or of the head cache: a checksum, a space, JSON, a line feed.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::log::hash::hex_prefix;

/// Digits of SHA-256 that guard a line.
pub(in crate::store) const SUM_LEN: usize = 16;

/// Encodes a value as a line.
pub(in crate::store) fn encode(value: &impl Serialize) -> io::Result<Vec<u8>> {
    Ok(guarded(&serde_json::to_vec(value)?))
}

/// The line that JSON without line feeds becomes.
pub(in crate::store) fn guarded(json: &[u8]) -> Vec<u8> {
    let mut line = hex_prefix(json, SUM_LEN).into_bytes();
    line.push(b' ');
    line.extend_from_slice(json);
    line.push(b'\n');
    line
}

/// The JSON of the line that begins `bytes` and the line's length, if its checksum holds.
pub(in crate::store) fn first_line(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let line = bytes.get(..end)?;
    let (sum, rest) = line.split_at_checked(SUM_LEN)?;
    let json = rest.strip_prefix(b" ")?;
    (hex_prefix(json, SUM_LEN).as_bytes() == sum).then_some((json, end + 1))
}

/// Decodes the line that begins `bytes`; anything after it is ignored.
pub(in crate::store) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(first_line(bytes)?.0).ok()
}

/// Whether an intact line begins anywhere after the first line feed of `bytes`.
pub(in crate::store) fn intact_line_follows(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        rest = rest.get(end + 1..).unwrap_or_default();
        if first_line(rest).is_some() {
            return true;
        }
    }
    false
}
