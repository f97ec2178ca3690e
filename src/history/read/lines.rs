//! Lines of a stream, with their places, in bounded memory.

use std::io::{self, BufRead, Read};

use crate::history::MAX_ENTRY_BYTES;

/// Bytes of a line that are kept: one more than an entry may have, so that a longer line shows.
const KEPT: u64 = MAX_ENTRY_BYTES as u64 + 1;
const PROGRESS_STEP: u64 = 1 << 20;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// One line without its line end.
pub(in crate::history) struct RawLine<'a> {
    pub(in crate::history) text: &'a [u8],
    pub(in crate::history) offset: u64,
    pub(in crate::history) number: u64,
    /// Whether a line end follows; only the last line can lack it.
    pub(in crate::history) ended: bool,
}

/// Reads lines that end with LF or CRLF; a byte order mark at the start is skipped.
pub(in crate::history) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    offset: u64,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(in crate::history) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), offset: 0, number: 0 }
    }

    /// The bytes read so far.
    pub(in crate::history) fn offset(&self) -> u64 {
        self.offset
    }

    pub(in crate::history) fn next(&mut self) -> io::Result<Option<RawLine<'_>>> {
        self.buffer.clear();
        let mut taken = self.reader.by_ref().take(KEPT).read_until(b'\n', &mut self.buffer)? as u64;
        if taken == 0 {
            return Ok(None);
        }
        let mut text = self.buffer.as_slice();
        let mut ended = false;
        if let Some(rest) = text.strip_suffix(b"\n") {
            ended = true;
            text = rest.strip_suffix(b"\r").unwrap_or(rest);
        } else if taken == KEPT {
            let skipped = self.reader.skip_until(b'\n')? as u64;
            ended = skipped > 0;
            taken += skipped;
        }
        let mut offset = self.offset;
        if let (0, Some(rest)) = (self.offset, text.strip_prefix(BOM)) {
            offset += BOM.len() as u64;
            text = rest;
        }
        self.offset += taken;
        self.number += 1;
        Ok(Some(RawLine { text, offset, number: self.number, ended }))
    }
}

/// Reports how far a reader has come, but not for every line.
pub(in crate::history) struct Progress<'a> {
    report: &'a mut dyn FnMut(u64),
    next: u64,
}

impl<'a> Progress<'a> {
    pub(in crate::history) fn new(report: &'a mut dyn FnMut(u64)) -> Self {
        Self { report, next: PROGRESS_STEP }
    }

    pub(in crate::history) fn at(&mut self, offset: u64) {
        if offset >= self.next {
            (self.report)(offset);
            self.next = offset + PROGRESS_STEP;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(source: &[u8]) -> Vec<(Vec<u8>, u64, u64, bool)> {
        let mut lines = Lines::new(source);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push((line.text.to_vec(), line.offset, line.number, line.ended));
        }
        assert_eq!(lines.offset(), source.len() as u64);
        found
    }

    #[test]
    fn lines_have_offsets_and_numbers() {
        let expected = [
            (b"a".to_vec(), 3, 1, true),
            (b"".to_vec(), 6, 2, true),
            (b"b\rc".to_vec(), 7, 3, false),
        ];
        assert_eq!(all(b"\xef\xbb\xbfa\r\n\nb\rc"), expected);
        assert_eq!(all(b""), []);
    }

    #[test]
    fn an_endless_line_is_cut_and_the_next_one_is_found() {
        let mut source = vec![b'x'; MAX_ENTRY_BYTES + 100];
        source.extend_from_slice(b"\nnext");
        let found = all(&source);
        assert_eq!(found[0].0.len(), MAX_ENTRY_BYTES + 1);
        assert_eq!(found[1], (b"next".to_vec(), source.len() as u64 - 4, 2, false));
    }
}
