//! Going through all entries without holding them.

use std::io::BufRead;

use crate::history::read::scan::scan;
use crate::history::{Entry, HistoryError};

/// Gives every entry to `sink`, in the order of the file.
///
/// # Errors
/// Fails when reading fails.
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
