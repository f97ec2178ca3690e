//! Which part of one version is the same thing as a part of another.

use super::tree::{Kind, Node};
use crate::domain::StateFile;

/// Where in a file the parts that are being matched stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) file: StateFile,
    /// The name of the section or field around them, folded.
    pub(super) parent: Option<&'a str>,
}

impl Place<'_> {
    /// Whether list items here are fields, which a key names whatever their value is.
    fn has_fields(self) -> bool {
        match self.file {
            StateFile::Plan => true,
            StateFile::Constraints => !self.is_list_of_sentences(),
            _ => false,
        }
    }

    /// Directives and rules are sentences, even where they begin like a field.
    pub(super) fn is_list_of_sentences(self) -> bool {
        self.file == StateFile::Constraints
            && self.parent.is_some_and(|name| {
                matches!(name, "active_directives" | "directives" | "adaptation_rules")
            })
    }

    pub(super) fn holds_reviews(self) -> bool {
        self.file == StateFile::Plan && self.parent == Some("reviews")
    }

    /// The name that a part has for good, if it has one.
    pub(super) fn identity(self, node: &Node) -> Option<String> {
        match (node.kind, &node.step) {
            (Kind::Section(_), Some(step)) => match &step.id {
                Some(id) => Some(format!("step {id}")),
                None => Some(format!("step titled {}", step.title)),
            },
            (Kind::Section(_), None) => Some(format!("section {}", node.folded()?)),
            (Kind::Item, _) if self.has_fields() => Some(format!("field {}", node.folded()?)),
            _ => None,
        }
    }
}
