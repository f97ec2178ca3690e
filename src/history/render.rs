//! Writing an entry so that it reads back as it was given.

use std::borrow::Cow;

use crate::text::markdown::render_code_field;

use super::journal::{self, Form};
use super::trailer::Trailer;
use super::{Entry, EntryId, HistoryError, MAX_ENTRY_BYTES, MAX_PARENTS, NewEntry};
use crate::history::read::{
    heading,
    scan::{HistoryItem, scan},
};

/// An entry ready to be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub id: EntryId,
    /// The text to append: a blank line, the entry, its trailer.
    pub text: String,
}

/// Writes an entry as it is appended to the file.
///
/// The id is made of `millis`, which is the time since 1970, and of a digest of the text and of
/// `after`; nothing random is needed. `after` are the heads of the log. An entry names at most
/// `MAX_PARENTS` of them, the oldest first; further ones stay heads for the next entry.
/// `newline` is the line end of the file, `"\n"` or `"\r\n"`.
///
/// # Errors
/// Refuses a title or time that is not a single line, a key that cannot be one, a value with NUL, and
/// an entry that is too large. The text is read again, and refused unless it says the same.
pub fn render(
    entry: &NewEntry,
    millis: u64,
    after: &[EntryId],
    newline: &str,
) -> Result<Rendered, HistoryError> {
    heading::check(&entry.title, &entry.time)?;
    let mut after = after.to_vec();
    after.sort_unstable();
    after.dedup();
    after.truncate(MAX_PARENTS);
    let seal = |body: String, is_journal: bool| -> Result<Rendered, HistoryError> {
        check_size(body.len())?;
        let trailer = Trailer::seal(millis, after.clone(), body.as_bytes());
        let mut text = format!("\n{body}{trailer}\n");
        if newline == "\r\n" {
            text = text.replace('\n', "\r\n");
        }
        prove(entry, is_journal, &trailer, &text)?;
        Ok(Rendered { id: trailer.id, text })
    };
    for form in Form::ALL {
        let Some(body) = journal::write(entry, form)? else { break };
        match seal(body, true) {
            Err(HistoryError::NotReadBack { .. }) => {}
            sealed => return sealed,
        }
    }
    seal(plain(entry)?, false)
}

/// Writes an entry as older versions did.
#[cfg(test)]
pub(super) fn render_older(entry: &NewEntry, millis: u64, after: &[EntryId]) -> Rendered {
    let body = plain(entry).unwrap();
    let trailer = Trailer::seal(millis, after.to_vec(), body.as_bytes());
    let trailer = trailer.older_form(body.as_bytes());
    Rendered { id: trailer.id, text: format!("\n{body}{trailer}\n") }
}

/// The body in the plain notation: all that is not in the heading is a field.
fn plain(entry: &NewEntry) -> Result<String, HistoryError> {
    let mut body = heading::write(&entry.title, &entry.time)?;
    body.push('\n');
    for (key, value) in &entry.fields {
        check_size(body.len() + value.len())?;
        let field = render_code_field("\n", key, value);
        let field = field.map_err(|source| HistoryError::Field { key: key.clone(), source })?;
        body.push_str(&field);
    }
    Ok(body)
}

pub(super) fn check_size(bytes: usize) -> Result<(), HistoryError> {
    if bytes >= MAX_ENTRY_BYTES {
        return Err(HistoryError::TooLarge { bytes, limit: MAX_ENTRY_BYTES });
    }
    Ok(())
}

/// Reads the text as any reader would, and compares.
fn prove(
    given: &NewEntry,
    is_journal: bool,
    trailer: &Trailer,
    text: &str,
) -> Result<(), HistoryError> {
    let mut found = Vec::new();
    let mut pieces = 0;
    scan(text.as_bytes(), None, &mut |_| {}, |piece| {
        pieces += 1;
        if matches!(piece, HistoryItem::Signed { intact: true, .. }) {
            found.extend(Entry::read(&piece));
        }
    })?;
    let part = match found.as_slice() {
        [entry] if pieces == 1 && entry.id == Some(trailer.id) => {
            first_difference(given, is_journal, entry)
        }
        _ => Some("its extent".to_owned()),
    };
    match part {
        Some(part) => Err(HistoryError::NotReadBack { title: given.title.clone(), part }),
        None => Ok(()),
    }
}

fn first_difference(given: &NewEntry, is_journal: bool, read: &Entry) -> Option<String> {
    if given.title != read.title {
        return Some("the title".to_owned());
    }
    if Some(&given.time) != read.time.as_ref() {
        return Some("the time".to_owned());
    }
    let mut fields = Cow::Borrowed(&given.fields);
    if is_journal {
        journal::sort(fields.to_mut());
    }
    let pairs = fields.iter().zip(&read.fields);
    let changed = pairs.filter(|(given, read)| given != read).map(|((key, _), _)| key).next();
    match changed {
        Some(key) => Some(format!("the field `{key}`")),
        None => {
            (given.fields.len() != read.fields.len()).then(|| "the number of fields".to_owned())
        }
    }
}
