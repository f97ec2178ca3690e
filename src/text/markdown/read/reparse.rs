//! Sections one at a time: the outline of a document is known, and of its sections only those are
//! read by the parser that an edit touches or somebody asks for.
//!
//! A heading at the top level ends every list, quote, paragraph and table before it, and it is one
//! only if no fence and no block of HTML is open there. So a section, from its heading to the next,
//! means the same alone as in its document, with one exception: a link may be defined anywhere.
//! A document in which one may be defined is always read as a whole, as is one in which something
//! hides headings.
//!
//! After an edit the sections that it touches are read again, together with the heading that follows
//! them. If the parser still finds that heading there, nothing that was left open reaches beyond it, so
//! that the rest of the document means what it meant. If it does not, or if anything else is unusual,
//! the whole document is read.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::text::LazyList;
use crate::text::markdown::change::Applied;
use crate::text::markdown::document::Body;
use crate::text::markdown::index::Index;
use crate::text::markdown::section::{SectionEntry, link};
use crate::text::markdown::{Document, MAX_BYTES, SectionId, line, preamble, title};

/// Whether a link may be defined in `source`.
pub(crate) fn may_define_links(source: &str) -> bool {
    source.contains("]:")
}

/// Sections of a document before an edit, and those that took their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// A document after an edit, and which of its sections were read anew.
pub(crate) struct Derived {
    pub document: Document,
    pub runs: Vec<Run>,
}

impl Derived {
    /// The sections that were read again, if all those of `old` are still there in their order, with
    /// the levels that they had.
    pub(crate) fn touched(&self, old: &Document) -> Option<Touched> {
        let mut touched = Touched::default();
        for Run { old: was, new: is } in &self.runs {
            let (was, is) = (was.clone(), is.clone());
            let (before, after) = (&old.sections[was.clone()], &self.document.sections[is.clone()]);
            let added = after.len().checked_sub(before.len())?;
            // Where some are added, the others are told by their titles.
            let (was_in, is_in) = (&*old.source, &*self.document.source);
            let same = |(one, other): &(&SectionEntry, &SectionEntry)| {
                one.level == other.level && (added == 0 || one.title(was_in) == other.title(is_in))
            };
            let head = before.iter().zip(after).take_while(same).count();
            let tail = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
            if was.start == 0 || head + tail < before.len() {
                return None;
            }
            touched.added.extend((is.start + head..is.start + head + added).map(SectionId::nth));
            touched.kept.extend(was.map(SectionId::nth));
        }
        Some(touched)
    }
}

/// What an edit may have changed, where all other sections are as they were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    /// The sections that may have changed, by their names before the edit.
    pub kept: Vec<SectionId>,
    /// The sections that are new, in order.
    pub added: Vec<SectionId>,
}

impl Touched {
    /// What a section is called after the edit.
    pub(crate) fn renamed(&self, old: SectionId) -> SectionId {
        let follow = |name: usize, added: &SectionId| name + usize::from(added.number() <= name);
        SectionId::nth(self.added.iter().fold(old.number(), follow))
    }
}

impl Document {
    /// The document that `applied` makes of this one, with `source` as its text, if the sections
    /// that are touched can be read without the others.
    pub(crate) fn derive(&self, source: String, applied: &[Applied]) -> Result<Derived, String> {
        match self.reparse_touched(&source, applied) {
            Some(reparsed) => Ok(self.put_together(source, reparsed)),
            None => Err(source),
        }
    }

    /// The same after a full reading of `source`.
    pub(crate) fn derive_whole(&self, document: Document) -> Derived {
        let run = Run { old: 0..self.sections.len(), new: 0..document.sections.len() };
        Derived { document, runs: vec![run] }
    }

    /// The sections that are touched, read again.
    fn reparse_touched(&self, source: &str, applied: &[Applied]) -> Option<Vec<ReparsedRun>> {
        if !self.is_divisible || source.len() > MAX_BYTES {
            return None;
        }
        if preamble::preamble(source).end != self.start_of(0) {
            return None;
        }
        let mut reparsed: Vec<ReparsedRun> = Vec::new();
        let mut shift = Shift { applied, at: 0, removed: 0, added: 0 };
        for old in self.touched(applied) {
            let (first, next) = (self.sections.get(old.start)?, self.sections.get(old.end));
            let start = shift.of(first.start());
            let end = next.map_or(source.len(), |next| shift.of(next.start()));
            let piece = start..end;
            let heading_len = next.map_or(0, |next| next.heading().len());
            let text = source.get(piece.start..piece.end + heading_len)?;
            let is_known = old.start > 0
                && self.begins_alike(first, &source[start..])
                && next.is_none_or(|next| self.is_atx(next))
                && !may_define_links(text)
                && !text.contains('\0');
            if !is_known {
                return None;
            }
            let read = piece.start..piece.start + text.len();
            let number = reparsed.last().map_or(old.start, |before| before.renumbered(old.start));
            let mut found = Index::build_piece(source, read, SectionId::nth(number)).ok()?;
            if let Some(next) = next {
                let last = found.sections.pop().filter(|last| last.start() == piece.end)?;
                let body = found.bodies.pop()?;
                let is_same =
                    last.level == next.level && last.title(source) == next.title(&self.source);
                if !is_same || body.blocks.len() != 1 {
                    return None;
                }
            }
            let begins = found.sections.get(1).is_some_and(|first| first.start() == start);
            if found.hidden.is_some() || !begins {
                return None;
            }
            found.sections.remove(0);
            found.bodies.remove(0);
            let new = number..number + found.sections.len();
            let run = Run { old, new };
            reparsed.push(ReparsedRun { run, end, sections: found.sections, bodies: found.bodies });
        }
        Some(reparsed)
    }

    /// The sections that changes touch, also those that they only border on, as few runs.
    fn touched(&self, applied: &[Applied]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for Applied { at, .. } in applied {
            // The body of a section ends where the next one begins.
            let start = self.sections[1..].partition_point(|next| next.start() < at.start);
            let end = self.sections.partition_point(|section| section.start() <= at.end);
            match runs.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => runs.push(start..end.max(start)),
            }
        }
        runs
    }

    /// Whether `text` begins with a heading that stands as that of `section` does: then it ends what
    /// is before it as that one did.
    fn begins_alike(&self, section: &SectionEntry, text: &str) -> bool {
        let mark = line::skip_blanks(&self.source, section.start());
        let lead = &self.source[section.start()..mark];
        let same = text.strip_prefix(lead).filter(|rest| title::is_atx(rest, 0));
        self.is_atx(section) && same.is_some()
    }

    fn is_atx(&self, section: &SectionEntry) -> bool {
        let heading = &self.source[section.heading()];
        title::is_atx(heading, line::skip_blanks(heading, 0))
    }

    /// The sections that stay with those that were read again in their places.
    fn put_together(&self, source: String, reparsed: Vec<ReparsedRun>) -> Derived {
        let mut sections = Vec::with_capacity(self.sections.len());
        let mut bodies = Vec::new();
        let mut runs = Vec::with_capacity(reparsed.len());
        // What of the old sections is done, and where the next one begins: before and now.
        let (mut done, mut old_start, mut new_start) = (0, 0, 0);
        for ReparsedRun { run, end, sections: found, bodies: read } in reparsed {
            self.keep(done..run.old.start, old_start, new_start, &mut sections);
            bodies.extend((sections.len()..).zip(read));
            sections.extend(found);
            done = run.old.end;
            old_start = self.sections.get(done).map_or(0, SectionEntry::start);
            new_start = end;
            runs.push(run);
        }
        self.keep(done..self.sections.len(), old_start, new_start, &mut sections);
        let known = LazyList::new(sections.len());
        for (at, body) in bodies {
            known.get_or_init(at, || body);
        }
        link(&mut sections);
        let document = Document {
            newline: OnceLock::new(),
            lines: OnceLock::new(),
            sections,
            bodies: known,
            front_matter: self.front_matter.clone(),
            hidden: None,
            is_divisible: true,
            source: Arc::new(source),
        };
        Derived { document, runs }
    }

    /// Adds sections that were not touched to those of another document; what began at `old_start`
    /// begins at `new_start` there.
    fn keep(
        &self,
        kept: Range<usize>,
        old_start: usize,
        new_start: usize,
        sections: &mut Vec<SectionEntry>,
    ) {
        let moved =
            |section: &SectionEntry| section.moved_to(section.start() - old_start + new_start);
        sections.extend(self.sections[kept].iter().map(moved));
    }
}

/// A run of sections that was read again.
struct ReparsedRun {
    run: Run,
    /// Where it ends in the new source.
    end: usize,
    sections: Vec<SectionEntry>,
    bodies: Vec<Body>,
}

impl ReparsedRun {
    /// The number of a section after it, by the one that it had.
    fn renumbered(&self, old: usize) -> usize {
        old - self.run.old.end + self.run.new.end
    }
}

/// Where the bytes of the old source are in the new one, asked for in order.
struct Shift<'a> {
    applied: &'a [Applied],
    at: usize,
    removed: usize,
    added: usize,
}

impl Shift<'_> {
    /// Where `offset` is now, which no change touches.
    fn of(&mut self, offset: usize) -> usize {
        while let Some(change) = self.applied.get(self.at)
            && change.at.start < offset
        {
            self.removed += change.at.len();
            self.added += change.new.len();
            self.at += 1;
        }
        offset + self.added - self.removed
    }
}
