//! The headings and steps of a plan in a form that is read quickly, kept beside plan.md by the store
//! and used only for exactly the bytes that it was made of.
//!
//! What is in it follows from plan.md alone. Wherever it is missing, or from another version, the file
//! is read instead.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::plan::{
    Plan, Step, StepRef,
    step::{
        BookkeepingForm,
        details::{self, LateDetails},
        heading::HeadingForm,
    },
};
use crate::{
    domain::{StepId, StepRole},
    text::markdown::{Document, HeadingLine, ItemId},
};

/// Who wrote a table. To be counted up whenever a plan is read in another way than before.
const FORMAT: &str = concat!(env!("CARGO_PKG_VERSION"), "+6");

/// What a table begins with; the headings follow, then the steps.
#[derive(Serialize, Deserialize)]
struct Preface<'a> {
    format: &'a str,
    sections: usize,
    steps: usize,
}

/// A step that another one waits for.
#[derive(Serialize, Deserialize)]
enum Named<'a> {
    Number(u32),
    Id(&'a str),
    Label(&'a str),
}

/// The numbers that a row begins with, each of four bytes. Its texts follow: id, status, start,
/// dependencies, details.
#[derive(Clone, Copy)]
enum Word {
    /// First, as it is the only one that can change while the step stays as it is.
    Section,
    Flags,
    Item,
    Number,
    HeadingNumber,
    Attempts,
    Failures,
    IdLen,
    StatusLen,
    StartLen,
    DependenciesLen,
    DetailsLen,
    /// Of the texts.
    Sum,
    Count,
}

const WORDS: usize = Word::Count as usize;

/// What is there, and what holds.
mod flag {
    pub(super) const ITEM: u32 = 1;
    pub(super) const HEADING_NUMBER: u32 = 1 << 1;
    pub(super) const FAILURES: u32 = 1 << 2;
    pub(super) const ID: u32 = 1 << 3;
    pub(super) const STATUS: u32 = 1 << 4;
    pub(super) const START: u32 = 1 << 5;
    pub(super) const IS_MARK_FIRST: u32 = 1 << 6;
    pub(super) const HAS_UNKNOWN_MARK: u32 = 1 << 7;
    pub(super) const HAS_LINE: u32 = 1 << 8;
    pub(super) const HAS_DESCRIPTION: u32 = 1 << 9;
    /// From here on, the place of the mark in [`MARKS`](super::MARKS), counted from one.
    pub(super) const MARK: u32 = 10;
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

impl Plan {
    /// What is kept of the plan; `None` if it has to be read from its file in any case.
    pub(crate) fn to_table(&self) -> Option<Vec<u8>> {
        let contents = self.document.contents().filter(|_| self.problems.is_empty())?;
        let preface = Preface {
            format: FORMAT,
            sections: self.document.section_count(),
            steps: self.steps.len(),
        };
        let mut table = Vec::with_capacity(self.document.source().len());
        write(&mut table, &preface)?;
        for line in contents {
            line.write(&mut table)?;
        }
        for step in &self.steps {
            match step.details.row() {
                // What was not read again since is as it was, but for its place.
                Some(row) => {
                    let section = u32::try_from(step.section.number()).ok()?;
                    table.extend_from_slice(&section.to_le_bytes());
                    table.extend_from_slice(row.get(size_of::<u32>()..)?);
                }
                None => write_row(&mut table, step)?,
            }
        }
        Some(table)
    }

    /// The plan with that source, of which a table was kept; `None` if that cannot be used.
    pub(crate) fn from_table(source: impl Into<Arc<String>>, table: Vec<u8>) -> Option<Self> {
        let table = Arc::new(table);
        let mut rest = table.as_slice();
        let Preface { format, sections, steps } = read(&mut rest)?;
        // Each takes more than a byte of those that follow, but for the root.
        let is_possible = (1..=rest.len() + 1).contains(&sections) && steps <= rest.len();
        if format != FORMAT || !is_possible {
            return None;
        }
        let lines = std::iter::from_fn(|| HeadingLine::read(&mut rest));
        let document = Document::with_contents(source.into(), sections, lines)?;
        let mut found = Vec::with_capacity(steps);
        let mut at = table.len() - rest.len();
        for _ in 0..steps {
            let (step, end) = read_row(&table, at, &document)?;
            found.push(step);
            at = end;
        }
        let plan = Self::around(document, found);
        (at == table.len() && plan.problems.is_empty()).then_some(plan)
    }
}

/// Adds the row of a step.
fn write_row(table: &mut Vec<u8>, step: &Step) -> Option<()> {
    let heading = &step.heading;
    let flags = [
        (flag::ITEM, step.item.is_some()),
        (flag::HEADING_NUMBER, heading.number.is_some()),
        (flag::FAILURES, step.failures.is_some()),
        (flag::ID, step.id.is_some()),
        (flag::STATUS, step.status.is_some()),
        (flag::START, step.started_at.is_some()),
        (flag::IS_MARK_FIRST, heading.is_mark_first),
        (flag::HAS_UNKNOWN_MARK, heading.has_unknown_mark),
        (flag::HAS_LINE, step.bookkeeping == BookkeepingForm::Line),
        (flag::HAS_DESCRIPTION, step.has_description()),
    ];
    let mark = heading.mark.and_then(|mark| MARKS.iter().position(|known| *known == mark));
    let flags = flags.into_iter().filter(|(_, holds)| *holds).fold(0, |all, (flag, _)| all | flag)
        | mark.map_or(0, |at| (at as u32 + 1) << flag::MARK);
    let mut dependencies = Vec::new();
    if !step.depends_on.is_empty() {
        let names: Vec<Named<'_>> = step.depends_on.iter().map(Named::of).collect();
        write(&mut dependencies, &names)?;
    }
    let details = step.details.to_bytes()?;
    let texts = [
        step.id.as_ref().map_or("", StepId::as_str).as_bytes(),
        step.status.as_deref().unwrap_or_default().as_bytes(),
        step.started_at.as_deref().unwrap_or_default().as_bytes(),
        &dependencies,
        &details,
    ];
    let mut words = [0; WORDS];
    let mut put = |word: Word, value: u32| words[word as usize] = value;
    put(Word::Section, u32::try_from(step.section.number()).ok()?);
    put(Word::Flags, flags);
    put(Word::Item, u32::try_from(step.item.map_or(0, ItemId::number)).ok()?);
    put(Word::Number, step.number);
    put(Word::HeadingNumber, heading.number.unwrap_or_default());
    put(Word::Attempts, step.attempts);
    put(Word::Failures, step.failures.unwrap_or_default());
    put(Word::Sum, details::sum(&texts.concat()));
    for (at, text) in (Word::IdLen as usize..).zip(&texts) {
        words[at] = u32::try_from(text.len()).ok()?;
    }
    words.iter().for_each(|word| table.extend_from_slice(&word.to_le_bytes()));
    texts.iter().for_each(|text| table.extend_from_slice(text));
    Some(())
}

/// The step whose row begins there, and where the row ends.
fn read_row(table: &Arc<Vec<u8>>, start: usize, document: &Document) -> Option<(Step, usize)> {
    let (numbers, rest) = table.get(start..)?.split_at_checked(WORDS * size_of::<u32>())?;
    let (numbers, _) = numbers.as_chunks();
    let get = |word: Word| u32::from_le_bytes(numbers[word as usize]);
    let flags = get(Word::Flags);
    let has = |flag: u32| flags & flag != 0;
    let mut texts = rest;
    let mut text = |word: Word| {
        let (text, behind) = texts.split_at_checked(get(word) as usize)?;
        texts = behind;
        Some(text)
    };
    let id = text(Word::IdLen)?;
    let status = text(Word::StatusLen)?;
    let started_at = text(Word::StartLen)?;
    let dependencies = text(Word::DependenciesLen)?;
    let details = text(Word::DetailsLen)?.len();
    let end = table.len() - texts.len();
    if details::sum(table.get(table.len() - rest.len()..end)?) != get(Word::Sum) {
        return None;
    }
    let string = |flag: u32, text: &[u8]| match has(flag) {
        true => std::str::from_utf8(text).ok().map(|text| Some(text.to_owned())),
        false => Some(None),
    };
    let depends_on = match dependencies.is_empty() {
        true => Vec::new(),
        false => {
            let names: Vec<Named<'_>> = read(&mut &*dependencies)?;
            names.into_iter().map(Named::into_ref).collect()
        }
    };
    let section = document.nth_section(get(Word::Section) as usize)?;
    let item = has(flag::ITEM).then(|| ItemId::numbered(section, get(Word::Item) as usize));
    let offset = match item {
        Some(item) => document.get_item(item)?.span.start,
        None => document.heading_start(section),
    };
    let mark = (flags >> flag::MARK).checked_sub(1).map(|at| MARKS.get(at as usize).copied());
    let heading = HeadingForm {
        number: has(flag::HEADING_NUMBER).then(|| get(Word::HeadingNumber)),
        mark: mark.map_or(Some(None), |mark| mark.map(Some))?,
        is_mark_first: has(flag::IS_MARK_FIRST),
        has_unknown_mark: has(flag::HAS_UNKNOWN_MARK),
    };
    let step = Step {
        number: get(Word::Number),
        id: string(flag::ID, id)?.map(StepId::kept),
        status: string(flag::STATUS, status)?,
        depends_on,
        attempts: get(Word::Attempts),
        failures: has(flag::FAILURES).then(|| get(Word::Failures)),
        started_at: string(flag::START, started_at)?,
        details: LateDetails::kept(table, start..end, end - details, has(flag::HAS_DESCRIPTION))?,
        heading,
        bookkeeping: match has(flag::HAS_LINE) {
            true => BookkeepingForm::Line,
            false => BookkeepingForm::Fields,
        },
        offset,
        section,
        item,
    };
    Some((step, end))
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
            Self::Id(id) => StepRef::Id(StepId::kept(id.to_owned())),
            Self::Label(label) => StepRef::Label(label.to_owned()),
        }
    }
}

/// Adds a value.
pub(in crate::domain) fn write(table: &mut Vec<u8>, value: &impl Serialize) -> Option<()> {
    *table = postcard::to_extend(value, std::mem::take(table)).ok()?;
    Some(())
}

/// Takes the next value.
pub(in crate::domain) fn read<'t, T: Deserialize<'t>>(rest: &mut &'t [u8]) -> Option<T> {
    let (value, behind) = postcard::take_from_bytes(rest).ok()?;
    *rest = behind;
    Some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::plan::samples;

    fn plan(source: &str) -> Plan {
        Plan::read(Document::parse(source).unwrap())
    }

    #[test]
    fn a_plan_of_every_kind_comes_back_from_its_table() {
        for source in samples::PLANS {
            let read = plan(source);
            let table = read.to_table().unwrap_or_else(|| panic!("{:?}: {source}", read.problems));
            let kept = Plan::from_table(source.to_owned(), table).unwrap();
            assert_eq!(samples::all_of(&kept), samples::all_of(&read), "{source}");
        }
    }

    /// Red when plans are read in another way: then `FORMAT` has to be counted up, so that tables of
    /// earlier builds are not used.
    #[test]
    fn the_format_changes_with_what_is_read() {
        let all: String =
            samples::PLANS.iter().map(|source| samples::all_of(&plan(source))).collect();
        let sum = all.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        assert_eq!((FORMAT, sum), ("0.1.0+6", 11_358_114_608_524_529_346));
    }

    #[test]
    fn a_table_that_is_cut_or_of_another_version_is_not_used() {
        let source = samples::PLANS[0];
        let table = plan(source).to_table().unwrap();
        for end in 0..table.len() {
            assert!(Plan::from_table(source.to_owned(), table[..end].to_vec()).is_none(), "{end}");
        }
        let longer = [table.as_slice(), b"x"].concat();
        assert!(Plan::from_table(source.to_owned(), longer).is_none());
        let mut other = table;
        other[1] ^= 1;
        assert!(Plan::from_table(source.to_owned(), other).is_none());
    }

    /// A table ends with the details of the last step, and those with its list of other fields.
    #[test]
    fn a_table_with_details_that_cannot_be_read_is_not_used() {
        let mut tried = 0;
        for source in samples::PLANS {
            let read = plan(source);
            let (Some(last), Some(table)) = (read.steps.last(), read.to_table()) else { continue };
            let start = table.len() - last.details.to_bytes().unwrap().len();
            for (at, byte) in [(start, 7), (start + 1, 0xff), (table.len() - 1, 0xff)] {
                let mut damaged = table.clone();
                damaged[at] = byte;
                assert!(Plan::from_table(source.to_owned(), damaged).is_none(), "{at}: {source}");
            }
            tried += 1;
        }
        assert!(tried > 3, "only {tried} plans have a table");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_plan_comes_back_from_its_table(source in samples::any_plan()) {
            let read = plan(&source);
            if let Some(table) = read.to_table() {
                let kept = Plan::from_table(source.clone(), table.clone()).unwrap();
                prop_assert_eq!(kept.to_table(), Some(table.clone()), "before its details are read");
                let described = |plan: &Plan| -> Vec<bool> {
                    plan.steps.iter().map(Step::has_description).collect()
                };
                prop_assert_eq!(described(&kept), described(&read));
                prop_assert_eq!(samples::all_of(&kept), samples::all_of(&read));
                prop_assert_eq!(kept.to_table(), Some(table), "and after");
            }
        }

        #[test]
        fn no_table_makes_a_panic(at: prop::sample::Index, bits: u8, source in samples::any_plan()) {
            let Some(mut table) = plan(&source).to_table() else { return Ok(()) };
            let at = at.index(table.len());
            table[at] ^= bits;
            if let Some(plan) = Plan::from_table(source.clone(), table) {
                let _ = samples::all_of(&plan);
            }
        }
    }
}
