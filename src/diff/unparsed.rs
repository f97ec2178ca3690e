//! Comparing what is not understood, and naming what is only layout.

use std::{borrow::Cow, collections::HashMap};

use super::difference::{Difference, Subject};
use crate::domain::{StateFile, outline::one_line};

/// How many lines differ, in time proportional to the texts.
pub(super) fn compare(file: StateFile, before: &[u8], after: &[u8], why: String) -> Difference {
    fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        bytes.split_inclusive(|byte| *byte == b'\n')
    }
    let mut counts: HashMap<&[u8], i64> = HashMap::new();
    for line in lines(before) {
        *counts.entry(line).or_default() += 1;
    }
    for line in lines(after) {
        *counts.entry(line).or_default() -= 1;
    }
    let gone: i64 = counts.values().filter(|count| **count > 0).sum();
    let came: i64 = -counts.values().filter(|count| **count < 0).sum::<i64>();
    Difference::new(file, Subject::Text { why }, Some(gone), Some(came))
}

/// What is known of a difference that changes nothing in meaning.
pub(super) fn layout(before: &[u8], after: &[u8]) -> String {
    let (old, new) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let marked = |text: &Cow<'_, str>| text.starts_with('\u{feff}');
    let unmarked = |text: &Cow<'_, str>| text.trim_start_matches('\u{feff}').to_owned();
    let ends = |text: &Cow<'_, str>| text.replace("\r\n", "\n");
    let detail = if marked(&old) != marked(&new) && unmarked(&old) == unmarked(&new) {
        "a byte order mark only"
    } else if ends(&old) == ends(&new) {
        "line ends only"
    } else if old.trim_end() == new.trim_end() {
        "the end of the file only"
    } else if one_line(&old) == one_line(&new) {
        "white space only"
    } else {
        "wording or layout only"
    };
    detail.to_owned()
}
