//! The newest entries, read from the end of the file.

use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};

use crate::history::{
    Entry, HistoryError,
    read::{entry_body::EntryBody, lines::Lines, scan::scan, search::Newest},
    trailer::Trailer,
};

const FIRST_WINDOW: u64 = 16 << 10;
const GROWTH: u64 = 4;
/// A window without any signed entry is trusted from this size on: a fence by hand that is longer
/// would be misread.
const TRUSTED_WINDOW: u64 = 1 << 20;
/// Larger windows are not held in memory; the file is read from its start instead.
const LAST_WINDOW: u64 = 16 << 20;

/// The last `limit` entries, signed or by hand, in the order of the file.
///
/// Reads blocks from the end, and only as much as it takes.
pub(crate) fn last_entries<R: Read + Seek>(
    reader: R,
    limit: usize,
) -> Result<Vec<Entry>, HistoryError> {
    last_entries_where(reader, limit, |_| true)
}

/// The last `limit` entries that `keep` accepts, in the order of the file.
pub(crate) fn last_entries_where<R: Read + Seek>(
    reader: R,
    limit: usize,
    keep: impl Fn(&Entry) -> bool,
) -> Result<Vec<Entry>, HistoryError> {
    last_entries_within(reader, limit, u64::MAX, keep)
}

/// The last `limit` entries that `keep` accepts among those in about the last `bytes` of the log.
///
/// Entries that are rare in a long log cost no more than this; fewer than `limit` are returned
/// when the others lie further up.
pub(crate) fn last_entries_within<R: Read + Seek>(
    mut reader: R,
    limit: usize,
    bytes: u64,
    keep: impl Fn(&Entry) -> bool,
) -> Result<Vec<Entry>, HistoryError> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let length = reader.seek(SeekFrom::End(0))?;
    let most = bytes;
    let mut window = FIRST_WINDOW.min(most);
    while window < length && window <= LAST_WINDOW {
        let base = reader.seek(SeekFrom::Start(length - window))?;
        let mut bytes = Vec::new();
        reader.by_ref().take(window).read_to_end(&mut bytes)?;
        let (sure, trusted) = first_bytes(&bytes)?;
        // Where few entries are signed, the file is not read from its start for the sake of those by hand.
        let enough = if sure.is_some() { LAST_WINDOW } else { TRUSTED_WINDOW };
        let trusted = trusted.filter(|_| window >= enough);
        for start in [sure, trusted].into_iter().flatten() {
            let mut newest = Newest::new(limit);
            scan(bytes.get(start..).unwrap_or_default(), None, &mut |_| {}, |piece| {
                let Some(mut entry) = Entry::read(&piece) else { return };
                entry.offset += base + start as u64;
                entry.line = None;
                if keep(&entry) {
                    newest.push(entry);
                }
            })?;
            if newest.is_full() || window >= most {
                return Ok(newest.into_vec());
            }
        }
        if window >= most {
            return Ok(Vec::new());
        }
        window *= GROWTH;
    }
    reader.seek(SeekFrom::Start(0))?;
    let mut newest = Newest::new(limit);
    let reader = BufReader::with_capacity(FIRST_WINDOW as usize, reader);
    scan(reader, None, &mut |_| {}, |piece| {
        if let Some(entry) = Entry::read(&piece).filter(&keep) {
            newest.push(entry);
        }
    })?;
    Ok(newest.into_vec())
}

/// The first place where no fence can be open, behind an entry whose trailer fits, and the end of the first
/// line.
fn first_bytes(window: &[u8]) -> Result<(Option<usize>, Option<usize>), HistoryError> {
    let mut lines = Lines::new(Cursor::new(window));
    let mut section: Option<EntryBody> = None;
    let mut first_line_end = None;
    while let Some(line) = lines.next()? {
        if line.text.starts_with(b"### ") {
            section = Some(EntryBody::starting_with(&line));
        } else if Trailer::is_meant(line.text) {
            let trailer = Trailer::parse(line.text);
            let fits = |(trailer, section): (Trailer, EntryBody)| section.fits(&trailer);
            if trailer.zip(section.take()).is_some_and(fits) {
                return Ok((usize::try_from(lines.offset()).ok(), first_line_end));
            }
        } else if let Some(section) = &mut section {
            section.push(line.text);
        }
        if first_line_end.is_none() {
            first_line_end = usize::try_from(lines.offset()).ok();
        }
    }
    Ok((None, first_line_end))
}
