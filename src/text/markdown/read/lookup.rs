//! Finding sections and fields by name.

use crate::text::markdown::field::same_key;
use crate::text::markdown::{Document, ItemId, LookupError, SectionId};
use crate::text::{Place, nearest::nearest};

/// How many places an ambiguity names: each costs a walk through the source.
const MAX_PLACES: usize = 10;

impl Document {
    /// The section with that path of headings.
    ///
    /// The first element matches at any depth, each further one among the sections directly
    /// below. A title matches exactly, or else without regard to ASCII letter case. Of a section and
    /// one of the same title inside it, the outer one is meant.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn find(&self, path: &[&str]) -> Result<SectionId, LookupError> {
        match self.find_all(path)?.as_slice() {
            [only] => Ok(*only),
            several => Err(self.ambiguous(path.last().copied().unwrap_or_default(), several)),
        }
    }

    /// Every section with that path of headings, as in [`Self::find`]; never none.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn find_all(&self, path: &[&str]) -> Result<Vec<SectionId>, LookupError> {
        let Some((first, rest)) = path.split_first() else {
            return Ok(vec![self.root()]);
        };
        let mut found = self.named(first, (1..self.sections.len()).map(SectionId::nth))?;
        for element in rest {
            let below: Vec<SectionId> = found.iter().flat_map(|id| self.children(*id)).collect();
            found = self.named(element, below.into_iter())?;
        }
        let is_inside = |id: &SectionId| self.ancestors(*id).any(|outer| found.contains(&outer));
        Ok(found.iter().copied().filter(|id| !is_inside(id)).collect())
    }

    /// Every section that a heading names, or else a path of headings such as `Knowledge/Findings`; never
    /// none.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn find_named(&self, name: &str) -> Result<Vec<SectionId>, LookupError> {
        let whole = self.find_all(&[name.trim()]);
        if whole.is_ok() || !name.contains('/') {
            return whole;
        }
        let path: Vec<&str> = name.split('/').map(str::trim).collect();
        self.find_all(&path)
    }

    /// The sections that a section is in, the innermost first.
    fn ancestors(&self, section: SectionId) -> impl Iterator<Item = SectionId> {
        std::iter::successors(self.section(section).parent, |id| self.section(*id).parent)
    }

    /// The top-level item with that key in the section's own body.
    ///
    /// Letter case and the kind of separator do not matter: `Tool Mapping` is `tool_mapping`.
    ///
    /// # Errors
    /// When several items have it.
    pub fn field(&self, section: SectionId, key: &str) -> Result<Option<ItemId>, LookupError> {
        self.keyed(self.items(section), key)
    }

    /// The item with that key directly nested in `item`.
    ///
    /// # Errors
    /// When several items have it.
    pub fn child(&self, item: ItemId, key: &str) -> Result<Option<ItemId>, LookupError> {
        self.keyed(&self.item(item).children, key)
    }

    fn keyed(&self, items: &[ItemId], key: &str) -> Result<Option<ItemId>, LookupError> {
        let key = key.trim();
        let matches =
            |id: &ItemId| self.item(*id).key.as_deref().is_some_and(|found| same_key(found, key));
        let mut found = items.iter().copied().filter(matches);
        match (found.next(), found.next()) {
            (Some(first), Some(second)) => {
                let all = [first, second].into_iter().chain(found);
                Err(self.ambiguous_at(key, all.map(|id| self.item(id).span.start)))
            }
            (first, _) => Ok(first),
        }
    }

    /// The section of the document's title: the first of level one.
    pub(crate) fn title_section(&self) -> Option<SectionId> {
        self.sections.iter().position(|section| section.level == 1).map(SectionId::nth)
    }

    /// The only section with that title, matched as in [`Self::find`]: for sections that need not
    /// be there, so nobody looks for what else could have been meant.
    pub(crate) fn section_titled(&self, title: &str) -> Option<SectionId> {
        match self.titled(title.trim(), (1..self.sections.len()).map(SectionId::nth)).as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Whether a section has that title, matched as in [`Self::find`].
    pub(crate) fn has_section(&self, title: &str) -> bool {
        self.sections[1..]
            .iter()
            .any(|section| section.title(&self.source).trim().eq_ignore_ascii_case(title))
    }

    /// The sections among `candidates` with that title; never none.
    fn named(
        &self,
        name: &str,
        candidates: impl Iterator<Item = SectionId> + Clone,
    ) -> Result<Vec<SectionId>, LookupError> {
        let name = name.trim();
        let found = self.titled(name, candidates.clone());
        if !found.is_empty() {
            return Ok(found);
        }
        let titles = candidates.map(|id| self.section(id).title.trim());
        Err(LookupError::NotFound {
            name: name.to_owned(),
            nearest: likely(name, titles).map(str::to_owned),
            hidden: self.hidden(),
        })
    }

    /// The sections among `candidates` with exactly that title, else with other letter case.
    fn titled(
        &self,
        name: &str,
        candidates: impl Iterator<Item = SectionId> + Clone,
    ) -> Vec<SectionId> {
        let named = |id: &SectionId, is: fn(&str, &str) -> bool| {
            let section = &self.sections[id.number()];
            section.may_be_titled(name) && is(section.title(&self.source).trim(), name)
        };
        let exact: Vec<_> =
            candidates.clone().filter(|id| named(id, |title, name| title == name)).collect();
        if !exact.is_empty() {
            return exact;
        }
        candidates.filter(|id| named(id, str::eq_ignore_ascii_case)).collect()
    }

    /// The error that several sections have a name.
    pub(crate) fn ambiguous(&self, name: &str, sections: &[SectionId]) -> LookupError {
        self.ambiguous_at(name, sections.iter().map(|id| self.section(*id).heading.start))
    }

    fn ambiguous_at(&self, name: &str, offsets: impl Iterator<Item = usize>) -> LookupError {
        let places: Vec<Place> =
            offsets.take(MAX_PLACES).map(|offset| self.place(offset)).collect();
        LookupError::Ambiguous { name: name.to_owned(), places }
    }
}

/// The name that `name` was most likely meant to be: one that it is the beginning of, else one
/// that differs in few letters.
fn likely<'n>(name: &str, names: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    let begins = |other: &&str| {
        let head = other.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        head && !other[name.len()..].starts_with(char::is_alphanumeric)
    };
    if !name.is_empty()
        && let Some(found) = names.clone().find(begins)
    {
        return Some(found);
    }
    nearest(name, names)
}
