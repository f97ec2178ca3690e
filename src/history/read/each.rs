//! Going through all entries without holding them.

use std::io::BufRead;

use crate::history::{Entry, HistoryError, read::scan::scan};

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
