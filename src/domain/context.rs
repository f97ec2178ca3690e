//! context.md: knowledge, findings, decisions, in sections of free text.

use serde::Serialize;

use super::{ModelError, StateFile};
use crate::text::markdown::{Document, SectionId};

const FILE: StateFile = StateFile::Context;

/// One section of free text.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ContextSection {
    /// Its heading.
    pub title: String,
    /// The headings above it, outermost first, without the document's title.
    pub path: Vec<String>,
    /// Its own text, without subsections, trimmed.
    pub text: String,
    /// The section in the document.
    #[serde(skip)]
    pub section: SectionId,
}

/// The context and the document it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// The text with its spans.
    pub document: Document,
    /// The sections below the title, in order.
    pub sections: Vec<ContextSection>,
    /// What stands directly under the title, or before any heading, trimmed.
    pub preface: String,
}

impl Context {
    /// Where a text goes when nobody says where.
    pub(crate) const DEFAULT_SECTION: &str = "Key Findings";

    /// Reads the context out of a document.
    pub(crate) fn read(document: Document) -> Self {
        let sections = document
            .sections()
            .filter(|id| document.section(*id).level > 1)
            .map(|id| ContextSection {
                title: document.section(id).title.clone(),
                path: path(&document, id),
                text: document.body_text(id).trim().to_owned(),
                section: id,
            })
            .collect();
        let above = document.sections().filter(|id| document.section(*id).level <= 1);
        let above: Vec<&str> = above.map(|id| document.body_text(id).trim()).collect();
        let preface = above.join("\n\n").trim().to_owned();
        Self { document, sections, preface }
    }

    /// The section that `name` means: a heading, or a path such as `Knowledge/Key Findings`.
    ///
    /// # Errors
    /// There is none, or several.
    pub(crate) fn section(&self, name: &str) -> Result<SectionId, ModelError> {
        let whole = self.document.find(&[name.trim()]);
        if whole.is_ok() || !name.contains('/') {
            return whole.map_err(|error| ModelError::lookup(FILE, error));
        }
        let parts: Vec<&str> = name.split('/').map(str::trim).collect();
        self.document.find(&parts).map_err(|error| ModelError::lookup(FILE, error))
    }
}

fn path(document: &Document, section: SectionId) -> Vec<String> {
    let parents =
        std::iter::successors(document.section(section).parent, |id| document.section(*id).parent);
    let mut path: Vec<String> = parents
        .filter(|id| document.section(*id).level > 1)
        .map(|id| document.section(id).title.clone())
        .collect();
    path.reverse();
    path
}
