//! One pass over a log: what is a signed entry, what is a section by hand, what is other text.
//!
//! The text above a trailer, up to the last `### ` at column 0, is a signed body. In text by hand
//! there are code fences, and what looks like an entry inside one is a quotation. Two things can
//! go wrong with a fence, and neither may hide entries:
//!
//! - it is never closed, and swallows the log below;
//! - it is closed by accident, by the fence of a value inside an entry further down.
//!
//! So what is found inside a fence is held back. When the fence ends with the file, or in the
//! middle of an entry whose trailer fits, the fence is broken and the entries count; when it ends
//! properly they are dropped.

use std::io::BufRead;

use crate::history::{
    Entry, HistoryError,
    read::{
        block::{Block, Blocks, LineKind},
        entry_body::{EntryBody, Text},
        fence_content::{FenceContent, FencedPiece},
        heading,
        lines::{Lines, Progress, RawLine},
    },
    trailer::Trailer,
};

/// This many NUL bytes in a row are left by a power loss; a single one may just be odd text.
const LOST: [u8; 4] = [0; 4];

/// Bytes of a line that are kept in case the next line underlines it.
const MAX_TITLE_BYTES: usize = 200;

/// Something found in the log, in the order of the file.
pub(in crate::history) enum HistoryItem<'a> {
    /// A body with its trailer; `intact` says whether they fit.
    Signed { trailer: &'a Trailer, text: Text<'a>, intact: bool },
    /// A level 3 section without a trailer; one of level 2 or a bullet if a date is in front.
    Unsigned(Text<'a>),
    /// The title of a level 1 or level 2 section.
    Heading(&'a [u8]),
    /// A line that starts like a trailer but is not one; `torn` when the file ends in it.
    BadTrailer { offset: u64, line: u64, torn: bool },
    /// A line that may be the mark of an unresolved merge conflict.
    Unmerged,
    /// A line with a row of NUL bytes: a power loss leaves them where text was.
    Nul { offset: u64, line: u64 },
}

/// How a log ends.
pub(in crate::history) struct End {
    /// The block that was never closed.
    pub(in crate::history) open: Option<Block>,
    /// The length of the log in bytes.
    pub(in crate::history) length: u64,
}

/// Reads a log, or the continuation of one that ended in the block `open`.
pub(in crate::history) fn scan(
    reader: impl BufRead,
    open: Option<Block>,
    progress: &mut dyn FnMut(u64),
    mut sink: impl FnMut(HistoryItem<'_>),
) -> Result<End, HistoryError> {
    let mut lines = Lines::new(reader);
    let mut scanner = Scanner { blocks: Blocks::resume(open), ..Scanner::default() };
    let mut progress = Progress::new(progress);
    while let Some(line) = lines.next()? {
        progress.at(line.offset);
        scanner.line(&line, &mut sink);
    }
    Ok(End { open: scanner.finish(&mut sink), length: lines.offset() })
}

#[derive(Default)]
struct Scanner {
    blocks: Blocks,
    /// The section under the last real heading.
    outer: Option<EntryBody>,
    /// How many bytes of `outer` stand before the last block at column 0.
    outer_before_block: usize,
    /// The section under the last `### ` inside a block.
    inner: Option<EntryBody>,
    fenced: FenceContent,
    /// The line before, if an underline would make it a heading.
    paragraph: Vec<u8>,
}

impl Scanner {
    fn line(&mut self, line: &RawLine<'_>, sink: &mut impl FnMut(HistoryItem<'_>)) {
        if line.text.contains(&0) && line.text.windows(LOST.len()).any(|bytes| bytes == LOST) {
            sink(HistoryItem::Nul { offset: line.offset, line: line.number });
        }
        if is_torn(line) && self.blocks.at_column_zero().is_none() {
            sink(HistoryItem::BadTrailer { offset: line.offset, line: line.number, torn: true });
        }
        if Trailer::is_meant(line.text) {
            self.paragraph.clear();
            match Trailer::parse(line.text) {
                Some(trailer) => self.trailer(trailer, line, sink),
                None => self.bad_trailer(line, sink),
            }
            return;
        }
        match self.blocks.feed(line.text) {
            LineKind::Outside => {
                if line.text.starts_with(b"<<<<<<< ") {
                    sink(HistoryItem::Unmerged);
                }
                if self.heading(line, sink) {
                    return;
                }
            }
            LineKind::Opens => {
                self.paragraph.clear();
                if self.inner.is_none() && self.blocks.open().is_some_and(Block::is_at_column_zero)
                {
                    self.outer_before_block = self.outer.as_ref().map_or(0, EntryBody::len);
                }
            }
            LineKind::Inside => {
                if self.blocks.open().is_none() {
                    self.fenced.close();
                }
                if line.text.starts_with(b"### ") {
                    self.fenced.drop_if_closed();
                    self.inner = Some(EntryBody::empty_at(line));
                } else if self.fenced.has_entries() && heading::atx_level(line.text).is_some() {
                    self.fenced.push(FencedPiece::Heading(line.text.to_vec()));
                }
            }
        }
        for section in [&mut self.outer, &mut self.inner].into_iter().flatten() {
            section.push(line.text);
        }
    }

    /// Takes the line if it is a heading that ends a section, or underlines one.
    fn heading(&mut self, line: &RawLine<'_>, sink: &mut impl FnMut(HistoryItem<'_>)) -> bool {
        let is_underline = !self.paragraph.is_empty() && heading::is_underline(line.text);
        match heading::atx_level(line.text) {
            Some(level @ (1 | 2)) => {
                self.end_section(sink);
                sink(HistoryItem::Heading(heading::atx_title(line.text)));
                let is_entry = |text| heading::split_unsigned(text).is_some();
                if level == 2 && std::str::from_utf8(line.text).is_ok_and(is_entry) {
                    self.outer = Some(EntryBody::starting_with(line));
                }
            }
            Some(3) => {
                self.end_section(sink);
                self.outer = Some(EntryBody::starting_with(line));
            }
            _ if is_underline => {
                self.end_section(sink);
                sink(HistoryItem::Heading(&self.paragraph));
            }
            // Below a heading of level 3 they may be fields of an entry.
            _ if self.outer.as_ref().is_none_or(EntryBody::is_bullet)
                && heading::is_dated_bullet(line.text) =>
            {
                self.end_section(sink);
                self.outer = Some(EntryBody::starting_with(line));
            }
            _ => {
                self.remember_paragraph(line.text);
                return false;
            }
        }
        self.paragraph.clear();
        true
    }

    fn end_section(&mut self, sink: &mut impl FnMut(HistoryItem<'_>)) {
        self.fenced.clear();
        self.inner = None;
        if let Some(outer) = self.outer.take() {
            sink(HistoryItem::Unsigned(outer.text()));
        }
    }

    fn trailer(
        &mut self,
        trailer: Trailer,
        line: &RawLine<'_>,
        sink: &mut impl FnMut(HistoryItem<'_>),
    ) {
        let fits = |section: &Option<EntryBody>| section.as_ref().is_some_and(|s| s.fits(&trailer));
        let outer_fits = fits(&self.outer);
        let inner_fits = !outer_fits && fits(&self.inner);
        let breaks_fence = outer_fits || (inner_fits && self.fenced.is_closed());
        match self.blocks.at_column_zero() {
            Some(Block::Fence { .. }) if !breaks_fence => {
                return self.hold_fenced_trailer(trailer, inner_fits, line, sink);
            }
            Some(Block::Comment { .. }) if self.inner.is_some() && !inner_fits => {
                self.blocks.reset();
                return;
            }
            _ => {}
        }
        if inner_fits {
            self.accept_fenced(sink);
        }
        let (outer, inner) = (self.outer.take(), self.inner.take());
        let section = if inner_fits { inner } else { outer.or(inner) };
        let section = section.unwrap_or_else(|| EntryBody::empty_at(line));
        let intact = outer_fits || inner_fits;
        sink(HistoryItem::Signed { trailer: &trailer, text: section.text(), intact });
        self.fenced.clear();
        self.blocks.reset();
    }

    fn hold_fenced_trailer(
        &mut self,
        trailer: Trailer,
        intact: bool,
        line: &RawLine<'_>,
        sink: &mut impl FnMut(HistoryItem<'_>),
    ) {
        self.fenced.drop_if_closed();
        let section = self.inner.take().unwrap_or_else(|| EntryBody::empty_at(line));
        self.fenced.push(FencedPiece::Signed { trailer, section, intact });
        if self.fenced.is_too_long_to_quote() {
            self.accept_fenced(sink);
            self.blocks.reset();
        }
    }

    fn bad_trailer(&mut self, line: &RawLine<'_>, sink: &mut impl FnMut(HistoryItem<'_>)) {
        let (offset, number, torn) = (line.offset, line.number, !line.ended);
        match self.blocks.at_column_zero() {
            Some(Block::Fence { .. }) => {
                self.fenced.drop_if_closed();
                self.fenced.push(FencedPiece::BadTrailer { offset, line: number, torn });
                return;
            }
            Some(Block::Comment { .. }) => {}
            None => {
                self.end_section(sink);
                sink(HistoryItem::BadTrailer { offset, line: number, torn });
            }
        }
        // It ends a comment, or starts one that it does not end itself.
        self.blocks.feed(line.text);
    }

    /// The fence is broken: what was found in it counts.
    fn accept_fenced(&mut self, sink: &mut impl FnMut(HistoryItem<'_>)) {
        if let Some(mut outer) = self.outer.take() {
            outer.truncate(self.outer_before_block);
            sink(HistoryItem::Unsigned(outer.text()));
        }
        for found in self.fenced.take() {
            match found {
                FencedPiece::Signed { trailer, section, intact } => {
                    sink(HistoryItem::Signed { trailer: &trailer, text: section.text(), intact });
                }
                FencedPiece::Heading(line) => sink(HistoryItem::Heading(heading::atx_title(&line))),
                FencedPiece::BadTrailer { offset, line, torn } => {
                    sink(HistoryItem::BadTrailer { offset, line, torn });
                }
            }
        }
    }

    fn finish(mut self, sink: &mut impl FnMut(HistoryItem<'_>)) -> Option<Block> {
        self.fenced.drop_if_closed();
        if self.fenced.has_entries() {
            self.accept_fenced(sink);
            return None;
        }
        self.end_section(sink);
        self.blocks.open()
    }

    fn remember_paragraph(&mut self, text: &[u8]) {
        self.paragraph.clear();
        let is_text = match text.first() {
            None => false,
            Some(b'*') => text.starts_with(b"**"),
            Some(first) => !b"#>-+|<`~ \t0123456789".contains(first),
        };
        if is_text {
            self.paragraph.extend(text.iter().take(MAX_TITLE_BYTES));
        }
    }
}

fn is_torn(line: &RawLine<'_>) -> bool {
    !line.ended && Trailer::may_begin_with(line.text)
}

/// Gives every entry to `sink`, in the order of the file.
pub(crate) fn each_entry<R: BufRead>(
    reader: R,
    mut sink: impl FnMut(Entry),
) -> Result<(), HistoryError> {
    scan(reader, None, &mut |_| {}, |piece| {
        if let Some(entry) = Entry::read(&piece) {
            sink(entry);
        }
    })?;
    Ok(())
}
