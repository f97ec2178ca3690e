//! What differs between two contexts.

use std::collections::{HashMap, HashSet};

use super::sections::{self, Found, Side};
use crate::{domain::StateFile, text::markdown::Document};

/// Compares two contexts, section by section.
pub(super) fn compare(before: &Document, after: &Document) -> Found {
    sections::compare(StateFile::Context, &side(before), &side(after))
}

/// All sections, none of them special.
pub(super) fn side(document: &Document) -> Side<'_> {
    let sections = document.sections().collect();
    Side { document, sections, roles: HashMap::new(), leave_out: HashSet::new() }
}
