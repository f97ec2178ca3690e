//! What lossless JSON promises, in cases.

mod laying_out;
mod merging;
mod patching;
mod properties;
mod reading;
mod setting;
mod size;

use super::{JsonDocument, JsonEdit, JsonError, Path};
use crate::text::apply_splices;

fn document(source: &str) -> JsonDocument {
    JsonDocument::parse(source).unwrap()
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

/// The source after one change, checked against the splices that the edit hands out.
fn edited(source: &str, change: impl FnOnce(&mut JsonEdit) -> Result<(), JsonError>) -> String {
    let mut edit = document(source).edit();
    change(&mut edit).unwrap();
    let mut edited = edit.finish();
    assert!(edited.splices.windows(2).all(|pair| pair[0].at.end <= pair[1].at.start));
    assert_eq!(apply_splices(source, &mut edited.splices).unwrap(), edited.document.source());
    edited.document.into_source()
}

fn refused<T: std::fmt::Debug>(
    source: &str,
    change: impl FnOnce(&mut JsonEdit) -> Result<T, JsonError>,
) -> JsonError {
    let mut edit = document(source).edit();
    let error = change(&mut edit).unwrap_err();
    let edited = edit.finish();
    assert_eq!(edited.document.source(), source);
    assert!(edited.splices.is_empty());
    error
}
