//! A log as consecutive pieces of its bytes.

use std::ops::Range;

use crate::history::{
    Entry, EntryId,
    read::scan::{HistoryItem, scan},
};

/// What a piece of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    /// A signed entry; `intact` says whether its trailer fits.
    Signed {
        id: EntryId,
        /// Whether it is what was appended.
        intact: bool,
    },
    /// An entry by hand.
    Unsigned,
    /// Anything else.
    Text,
}

/// A piece of the log. The pieces follow one another without a gap; blank lines belong to what
/// is below them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub kind: SegmentKind,
    /// Its bytes.
    pub span: Range<usize>,
}

/// Takes a log apart.
pub(crate) fn segments(bytes: &[u8]) -> Vec<Segment> {
    let mut known: Vec<(Range<usize>, SegmentKind)> = Vec::new();
    let result = scan(bytes, None, &mut |_| {}, |piece| match &piece {
        HistoryItem::Signed { trailer, text, intact } => {
            let start = usize::try_from(text.offset).unwrap_or(usize::MAX);
            let lines = text.body.iter().filter(|byte| **byte == b'\n').count();
            let end = after_lines(bytes, start, lines + 1);
            known.push((start..end, SegmentKind::Signed { id: trailer.id, intact: *intact }));
        }
        HistoryItem::Unsigned(text) if Entry::is_entry(&piece) => {
            let start = usize::try_from(text.offset).unwrap_or(usize::MAX);
            let lines = text.body.trim_ascii_end().iter().filter(|byte| **byte == b'\n').count();
            // Blank lines at its end belong to what follows.
            known.push((start..after_lines(bytes, start, lines + 1), SegmentKind::Unsigned));
        }
        _ => {}
    });
    if result.is_err() {
        known.clear();
    }
    let mut out: Vec<Segment> = Vec::with_capacity(known.len() + 1);
    let mut done = 0;
    for (span, kind) in known {
        if span.start < done || span.end <= span.start {
            continue;
        }
        let between = bytes.get(done..span.start).unwrap_or_default();
        let text = between.trim_ascii_end().len();
        if text > 0 {
            // The line end belongs to the text, the blank lines to what follows.
            let end = after_lines(bytes, done + text, 1).min(span.start);
            out.push(Segment { kind: SegmentKind::Text, span: done..end });
            done = end;
        }
        let end = span.end.max(span.start);
        out.push(Segment { kind, span: done..end });
        done = end;
    }
    let rest = bytes.get(done..).unwrap_or_default();
    if !rest.trim_ascii().is_empty() {
        out.push(Segment { kind: SegmentKind::Text, span: done..bytes.len() });
    } else if let Some(last) = out.last_mut() {
        last.span.end = bytes.len();
    } else if !bytes.is_empty() {
        out.push(Segment { kind: SegmentKind::Text, span: 0..bytes.len() });
    }
    out
}

/// The offset after that many line ends from `start` on.
fn after_lines(bytes: &[u8], start: usize, lines: usize) -> usize {
    let mut at = start;
    for _ in 0..lines {
        let rest = bytes.get(at..).unwrap_or_default();
        match rest.iter().position(|byte| *byte == b'\n') {
            Some(end) => at += end + 1,
            None => return bytes.len(),
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_the_whole_file() {
        let new = crate::history::NewEntry {
            title: "One".to_owned(),
            time: "2026-01-01T00:00:00Z".to_owned(),
            fields: vec![("notes".to_owned(), "two\nlines".to_owned())],
        };
        for newline in ["\n", "\r\n"] {
            let entry = crate::history::render(&new, 1, &[], newline).unwrap();
            let head = format!("# T{newline}{newline}words{newline}");
            let hand = format!("{newline}### By hand - 2026-01-01T00:00:00Z{newline}- a{newline}");
            let text = [head, entry.text.clone(), hand, entry.text.clone()].concat();
            let pieces = segments(text.as_bytes());
            let joined: String = pieces.iter().map(|s| &text[s.span.clone()]).collect();
            assert_eq!(joined, text);
            let signed = SegmentKind::Signed { id: entry.id, intact: true };
            let kinds: Vec<SegmentKind> = pieces.iter().map(|s| s.kind).collect();
            assert_eq!(kinds, [SegmentKind::Text, signed, SegmentKind::Unsigned, signed]);
            assert_eq!(&text[pieces[1].span.clone()], entry.text);
        }
    }
}
