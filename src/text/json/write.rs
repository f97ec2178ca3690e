//! Writing new values in the style of the document.

use super::draft::{Draft, Element};
use super::layout::Style;
use super::scan::quote;
use super::tree::{NodeId, Tree};
use super::{JsonError, MAX_BYTES};

/// Arrays of scalars up to this many characters are written on one line.
const SHORT: usize = 60;

/// Writes values into `out`.
///
/// `indent` is the indentation of the line that a value begins on; without it the value must
/// stay on that line.
pub(super) struct Writer<'a> {
    pub(super) tree: &'a Tree,
    pub(super) style: &'a Style,
    pub(super) out: String,
}

impl Writer<'_> {
    pub(super) fn value(&mut self, draft: &Draft, indent: Option<&str>) -> Result<(), JsonError> {
        match draft {
            Draft::Source(node) => self.relocated(*node, indent),
            Draft::Scalar(text) => self.text(text),
            Draft::Object(_) => self.container(draft, indent),
            Draft::Array(_) => self.container(draft, indent.filter(|_| !self.is_short(draft))),
        }
    }

    /// Writes a key, a colon and the value, or the value alone.
    pub(super) fn element(
        &mut self,
        element: &Element<'_>,
        colon: &str,
        indent: Option<&str>,
    ) -> Result<(), JsonError> {
        if let Some(key) = element.key {
            match element.origin {
                Some(origin) => self.text(self.tree.raw_key(origin))?,
                None => self.text(&quote(key))?,
            }
            self.text(colon)?;
        }
        self.value(element.value, indent)
    }

    /// Adds to the output, which must not outgrow what a document may have.
    pub(super) fn text(&mut self, text: &str) -> Result<(), JsonError> {
        self.out.push_str(text);
        if self.out.len() > MAX_BYTES {
            return Err(JsonError::TooLarge { bytes: self.out.len(), limit: MAX_BYTES });
        }
        Ok(())
    }

    fn container(&mut self, draft: &Draft, indent: Option<&str>) -> Result<(), JsonError> {
        let style = self.style;
        let (open, close) = if matches!(draft, Draft::Object(_)) { ("{", "}") } else { ("[", "]") };
        let inner = indent.map(|indent| format!("{indent}{}", style.unit));
        let mut is_empty = true;
        self.text(open)?;
        for element in draft.elements() {
            if !is_empty {
                self.text(",")?;
            }
            match &inner {
                Some(inner) => {
                    self.text(style.newline)?;
                    self.text(inner)?;
                }
                None if is_empty => {}
                None => self.text(style.comma_gap)?,
            }
            self.element(&element, &style.colon, inner.as_deref())?;
            is_empty = false;
        }
        if let Some(indent) = indent.filter(|_| !is_empty) {
            self.text(style.newline)?;
            self.text(indent)?;
        }
        self.text(close)
    }

    /// Writes a value of the source in another place: the same text at another indentation.
    fn relocated(&mut self, node: NodeId, indent: Option<&str>) -> Result<(), JsonError> {
        let raw = self.tree.raw(node);
        if !raw.contains('\n') {
            return self.text(raw);
        }
        let Some(indent) = indent else {
            return self.container(Draft::Source(node).expand(self.tree), None);
        };
        let old = self.tree.line_indent(self.tree.range(node).start);
        for (i, line) in raw.split('\n').enumerate() {
            if i > 0 {
                self.text("\n")?;
                self.text(if line.trim().is_empty() { "" } else { indent })?;
            }
            let moved = if i == 0 {
                line
            } else {
                line.strip_prefix(old).unwrap_or_else(|| line.trim_start())
            };
            self.text(moved)?;
        }
        Ok(())
    }

    fn is_short(&self, array: &Draft) -> bool {
        let mut length = 0;
        array.elements().all(|element| {
            let text = element.value.scalar(self.tree);
            length += text.map_or(0, |text| text.chars().count()) + 2;
            text.is_some() && length <= SHORT
        })
    }
}
