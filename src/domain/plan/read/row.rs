//! The row of a step in the table that is kept of a plan.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::plan::{
    Step, StepRef,
    read::table::{read, write},
    step::{BookkeepingForm, details::LazyDetails, heading::HeadingForm},
};
use crate::{
    domain::{StepId, StepRole},
    text::markdown::{Document, ItemId},
};

/// A table and the text that it is about: most texts of a step are kept as places in it.
///
/// The row of a step begins with `HEAD` numbers of four bytes: its section, which is the only one that
/// can change while the step stays as it is; its flags; its number; the lengths of its details and of
/// what is between. There, what the flags say is there follows in the order of the flags. The details
/// end the row.
pub(crate) struct StepTable {
    pub(super) bytes: Vec<u8>,
    pub(super) source: Arc<String>,
}

/// How many numbers a row begins with.
const HEAD: usize = 5;

const WORD: usize = size_of::<u32>();

impl StepTable {
    /// The row of a step.
    pub(crate) fn row(&self, start: usize) -> Option<&[u8]> {
        let row = self.bytes.get(start..)?;
        let [_, _, _, details, between] = head(row)?;
        row.get(..(HEAD * WORD).checked_add(between as usize)?.checked_add(details as usize)?)
    }

    /// The details in a row.
    pub(crate) fn details(&self, start: usize) -> Option<&[u8]> {
        let row = self.row(start)?;
        let [_, _, _, details, _] = head(row)?;
        row.get(row.len().checked_sub(details as usize)?..)
    }

    /// The status in the row of the step whose section begins at `section`.
    pub(crate) fn status(&self, start: usize, section: usize) -> Option<&str> {
        let mut fields = self.fields(start).filter(|fields| fields.has(flag::STATUS))?;
        fields.text(|| self.text_from(section))
    }

    /// When that step was started.
    pub(crate) fn started_at<'t>(&'t self, start: usize, step: &'t str) -> Option<&'t str> {
        self.fields(start).filter(|fields| fields.has(flag::START))?.texts(step)?[2]
    }

    fn fields(&self, start: usize) -> Option<Fields<'_>> {
        let row = self.bytes.get(start..)?;
        let [_, flags, ..] = head(row)?;
        Some(Fields { flags, rest: row.get(HEAD * WORD..)? })
    }

    /// Whether the step of a row has a description.
    pub(crate) fn has_description(&self, start: usize) -> bool {
        self.fields(start).is_some_and(|fields| fields.has(flag::HAS_DESCRIPTION))
    }

    /// The text from there on.
    pub(crate) fn text_from(&self, start: usize) -> &str {
        self.source.get(start..).unwrap_or_default()
    }
}

/// The numbers that a row begins with.
fn head(row: &[u8]) -> Option<[u32; HEAD]> {
    let (words, _) = row.first_chunk::<{ HEAD * WORD }>()?.as_chunks();
    Some(<[[u8; WORD]; HEAD]>::try_from(words).ok()?.map(u32::from_le_bytes))
}

/// Where a text is in its section, if both numbers are small: the place above, the length below. Or else
/// [`OWN`] and a length, and the text follows; so does one of few bytes, because others are looked up one
/// by one all over the plan.
fn place(section: &str, text: &str) -> Option<u32> {
    let (at, len) = (section.find(text)?, text.len());
    let fits = at < OWN as usize >> LEN && len < 1 << LEN && len > SHORT;
    fits.then_some((at << LEN | len) as u32)
}

const SHORT: usize = 16;

const LEN: u32 = 10;

const OWN: u32 = 1 << 31;

/// Takes what is between the head of a row and its details.
struct Fields<'t> {
    flags: u32,
    rest: &'t [u8],
}

impl<'t> Fields<'t> {
    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// A number, if the flag says that it is there.
    fn number(&mut self, flag: u32) -> Option<Option<u32>> {
        if self.has(flag) { self.word().map(Some) } else { Some(None) }
    }

    /// A text, if the flag says that it is there.
    fn text_if<'s: 't>(&mut self, flag: u32, step: &'s str) -> Option<Option<&'t str>> {
        if self.has(flag) { self.text(|| step).map(Some) } else { Some(None) }
    }

    /// The texts that come first: status, id, start.
    fn texts<'s: 't>(&mut self, step: &'s str) -> Option<[Option<&'t str>; 3]> {
        Some([
            self.text_if(flag::STATUS, step)?,
            self.text_if(flag::ID, step)?,
            self.text_if(flag::START, step)?,
        ])
    }

    fn word(&mut self) -> Option<u32> {
        let (word, behind) = self.rest.split_first_chunk()?;
        self.rest = behind;
        Some(u32::from_le_bytes(*word))
    }

    fn bytes(&mut self, len: u32) -> Option<&'t [u8]> {
        let (bytes, behind) = self.rest.split_at_checked(len as usize)?;
        self.rest = behind;
        Some(bytes)
    }

    /// The next text. That of the step is only asked for if it is there: of thousands of steps, most of
    /// that is in no cache of the processor.
    fn text<'s: 't>(&mut self, step: impl FnOnce() -> &'s str) -> Option<&'t str> {
        let word = self.word()?;
        if word & OWN != 0 {
            return std::str::from_utf8(self.bytes(word ^ OWN)?).ok();
        }
        let (at, len) = ((word >> LEN) as usize, word as usize & ((1 << LEN) - 1));
        step().get(at..at + len)
    }
}

/// The same while they are written.
#[derive(Default)]
struct NewFields(Vec<u8>);

impl NewFields {
    fn word(&mut self, word: u32) {
        self.0.extend_from_slice(&word.to_le_bytes());
    }

    fn bytes(&mut self, mark: u32, bytes: &[u8]) -> Option<()> {
        let len = u32::try_from(bytes.len()).ok().filter(|len| *len < OWN)?;
        self.word(len | mark);
        self.0.extend_from_slice(bytes);
        Some(())
    }

    fn text(&mut self, step: &str, text: &str) -> Option<()> {
        match place(step, text) {
            Some(place) => self.word(place),
            None => self.bytes(OWN, text.as_bytes())?,
        }
        Some(())
    }
}

/// What is there, and what holds.
mod flag {
    pub(super) const STATUS: u32 = 1;
    pub(super) const ID: u32 = 1 << 1;
    pub(super) const START: u32 = 1 << 2;
    /// The heading has a number other than that of the step.
    pub(super) const HEADING_NUMBER: u32 = 1 << 3;
    pub(super) const ATTEMPTS: u32 = 1 << 4;
    pub(super) const FAILURES: u32 = 1 << 5;
    pub(super) const DEPENDENCIES: u32 = 1 << 6;
    pub(super) const ITEM: u32 = 1 << 7;
    /// The heading has the number of the step.
    pub(super) const IS_NUMBERED: u32 = 1 << 8;
    pub(super) const IS_MARK_FIRST: u32 = 1 << 9;
    pub(super) const HAS_UNKNOWN_MARK: u32 = 1 << 10;
    pub(super) const HAS_LINE: u32 = 1 << 11;
    pub(super) const HAS_DESCRIPTION: u32 = 1 << 12;
    /// From here on, the place of the mark in [`MARKS`](super::MARKS), counted from one.
    pub(super) const MARK: u32 = 13;
}

/// What a mark in a heading can mean.
const MARKS: [StepRole; 6] = [
    StepRole::Open,
    StepRole::Active,
    StepRole::Waiting,
    StepRole::Done,
    StepRole::Failed,
    StepRole::Skipped,
];

/// The text of the section that a step is or is in.
pub(super) fn text_around<'d>(step: &Step, document: &'d Document) -> &'d str {
    &document.source()[document.section(step.section).extent]
}

/// Adds the row of a step.
pub(super) fn write_row(table: &mut Vec<u8>, step: &Step, document: &Document) -> Option<()> {
    let (own, heading) = (text_around(step, document), &step.heading);
    let mut fields = NewFields::default();
    let mut flags = 0;
    let texts = [
        (flag::STATUS, step.status()),
        (flag::ID, step.id.as_ref().map(StepId::as_str)),
        (flag::START, step.started_at()),
    ];
    for (flag, text) in texts {
        if let Some(text) = text {
            flags |= flag;
            fields.text(own, text)?;
        }
    }
    let is_numbered = heading.number == Some(step.number);
    let numbers = [
        (flag::HEADING_NUMBER, heading.number.filter(|_| !is_numbered)),
        (flag::ATTEMPTS, Some(step.attempts).filter(|count| *count > 0)),
        (flag::FAILURES, step.failures),
    ];
    for (flag, number) in numbers {
        if let Some(number) = number {
            flags |= flag;
            fields.word(number);
        }
    }
    if !step.depends_on.is_empty() {
        flags |= flag::DEPENDENCIES;
        let names: Vec<Named<'_>> = step.depends_on.iter().map(Named::of).collect();
        let mut dependencies = Vec::new();
        write(&mut dependencies, &names)?;
        fields.bytes(0, &dependencies)?;
    }
    if let Some(item) = step.item {
        flags |= flag::ITEM;
        fields.word(u32::try_from(item.number()).ok()?);
    }
    let more = [
        (flag::IS_NUMBERED, is_numbered),
        (flag::IS_MARK_FIRST, heading.is_mark_first),
        (flag::HAS_UNKNOWN_MARK, heading.has_unknown_mark),
        (flag::HAS_LINE, step.bookkeeping == BookkeepingForm::Line),
        (flag::HAS_DESCRIPTION, step.has_description()),
    ];
    flags |= more.into_iter().filter(|(_, holds)| *holds).fold(0, |all, (flag, _)| all | flag);
    let mark = heading.mark.and_then(|mark| MARKS.iter().position(|known| *known == mark));
    flags |= mark.map_or(0, |at| (at as u32 + 1) << flag::MARK);
    let details = step.details.to_bytes(own)?;
    let lengths = (u32::try_from(details.len()).ok()?, u32::try_from(fields.0.len()).ok()?);
    let section = u32::try_from(step.section.number()).ok()?;
    for word in [section, flags, step.number, lengths.0, lengths.1] {
        table.extend_from_slice(&word.to_le_bytes());
    }
    table.extend_from_slice(&fields.0);
    table.extend_from_slice(&details);
    Some(())
}

/// The step whose row begins there, and the length of the row.
pub(super) fn read_row(
    table: &Arc<StepTable>,
    start: usize,
    document: &Document,
) -> Option<(Step, usize)> {
    let row = table.row(start)?;
    let [section, flags, number, ..] = head(row)?;
    let mut fields = Fields { flags, rest: row.get(HEAD * WORD..)? };
    let has = |flag: u32| flags & flag != 0;
    let section = document.nth_section(section as usize)?;
    let around = document.heading_start(section);
    let [_, id, _] = fields.texts(document.source().get(around..)?)?;
    let heading_number = fields.number(flag::HEADING_NUMBER)?;
    let attempts = fields.number(flag::ATTEMPTS)?.unwrap_or_default();
    let failures = fields.number(flag::FAILURES)?;
    let depends_on = match fields.number(flag::DEPENDENCIES)? {
        Some(len) => {
            let names: Vec<Named<'_>> = read(&mut fields.bytes(len)?)?;
            names.into_iter().map(Named::into_ref).collect()
        }
        None => Vec::new(),
    };
    let item = fields.number(flag::ITEM)?.map(|item| ItemId::numbered(section, item as usize));
    let offset = match item {
        Some(item) => document.get_item(item)?.span.start,
        None => around,
    };
    let mark = (flags >> flag::MARK).checked_sub(1).map(|at| MARKS.get(at as usize).copied());
    let heading = HeadingForm {
        number: heading_number.or(has(flag::IS_NUMBERED).then_some(number)),
        mark: mark.map_or(Some(None), |mark| mark.map(Some))?,
        is_mark_first: has(flag::IS_MARK_FIRST),
        has_unknown_mark: has(flag::HAS_UNKNOWN_MARK),
    };
    let step = Step {
        number,
        id: id.map(StepId::kept),
        depends_on,
        attempts,
        failures,
        details: LazyDetails::kept(table, start, around)?,
        heading,
        bookkeeping: match has(flag::HAS_LINE) {
            true => BookkeepingForm::Line,
            false => BookkeepingForm::Fields,
        },
        offset,
        section,
        item,
    };
    Some((step, row.len()))
}

/// A step that another one waits for.
#[derive(Serialize, Deserialize)]
enum Named<'a> {
    Number(u32),
    Id(&'a str),
    Label(&'a str),
}

impl<'a> Named<'a> {
    fn of(step: &'a StepRef) -> Self {
        match step {
            StepRef::Number(number) => Self::Number(*number),
            StepRef::Id(id) => Self::Id(id.as_str()),
            StepRef::Label(label) => Self::Label(label),
        }
    }

    fn into_ref(self) -> StepRef {
        match self {
            Self::Number(number) => StepRef::Number(number),
            Self::Id(id) => StepRef::Id(StepId::kept(id)),
            Self::Label(label) => StepRef::Label(label.to_owned()),
        }
    }
}
