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

/// A step without its details, which follow as so many bytes.
#[derive(Serialize, Deserialize)]
struct Row<'a> {
    section: usize,
    item: Option<usize>,
    number: u32,
    heading_number: Option<u32>,
    mark: Option<StepRole>,
    is_mark_first: bool,
    has_unknown_mark: bool,
    has_line: bool,
    #[serde(borrow)]
    id: Option<&'a str>,
    status: Option<&'a str>,
    #[serde(borrow)]
    depends_on: Vec<Named<'a>>,
    attempts: u32,
    failures: Option<u32>,
    started_at: Option<&'a str>,
    details: usize,
    sum: u32,
    has_description: bool,
}

/// A step that another one waits for.
#[derive(Serialize, Deserialize)]
enum Named<'a> {
    Number(u32),
    Id(&'a str),
    Label(&'a str),
}

impl Plan {
    /// What is kept of the plan; `None` if it has to be read from its file in any case.
    pub(crate) fn to_table(&self) -> Option<Vec<u8>> {
        let contents = self.document.contents().filter(|_| self.problems.is_empty())?;
        let preface = Preface {
            format: FORMAT,
            sections: self.document.section_count(),
            steps: self.steps.len(),
        };
        let mut table = Vec::with_capacity(self.document.source().len() / 2);
        write(&mut table, &preface)?;
        for line in contents {
            write(&mut table, &line)?;
        }
        for step in &self.steps {
            let details = step.details.to_bytes()?;
            write(&mut table, &Row::of(step, &details))?;
            table.extend_from_slice(&details);
        }
        Some(table)
    }

    /// The plan with that source, of which a table was kept; `None` if that cannot be used.
    pub(crate) fn from_table(source: &str, table: Vec<u8>) -> Option<Self> {
        let table = Arc::new(table);
        let mut rest = table.as_slice();
        let Preface { format, sections, steps } = read(&mut rest)?;
        // Each takes more than a byte of those that follow, but for the root.
        let is_possible = (1..=rest.len() + 1).contains(&sections) && steps <= rest.len();
        if format != FORMAT || !is_possible {
            return None;
        }
        let lines = std::iter::from_fn(|| read::<HeadingLine<'_>>(&mut rest));
        let document = Document::with_contents(source.to_owned(), sections, lines)?;
        let mut found = Vec::with_capacity(steps);
        for _ in 0..steps {
            let row = read::<Row<'_>>(&mut rest)?;
            let start = table.len() - rest.len();
            rest = rest.get(row.details..)?;
            let size = (row.details, row.sum);
            let details = LateDetails::kept(&table, start, size, row.has_description)?;
            found.push(row.into_step(&document, details)?);
        }
        let plan = Self::around(document, found);
        (rest.is_empty() && plan.problems.is_empty()).then_some(plan)
    }
}

impl<'a> Row<'a> {
    fn of(step: &'a Step, details: &[u8]) -> Self {
        Self {
            section: step.section.number(),
            item: step.item.map(ItemId::number),
            number: step.number,
            heading_number: step.heading.number,
            mark: step.heading.mark,
            is_mark_first: step.heading.is_mark_first,
            has_unknown_mark: step.heading.has_unknown_mark,
            has_line: step.bookkeeping == BookkeepingForm::Line,
            id: step.id.as_ref().map(StepId::as_str),
            status: step.status.as_deref(),
            depends_on: step.depends_on.iter().map(Named::of).collect(),
            attempts: step.attempts,
            failures: step.failures,
            started_at: step.started_at.as_deref(),
            details: details.len(),
            sum: details::sum(details),
            has_description: step.has_description(),
        }
    }

    fn into_step(self, document: &Document, details: LateDetails) -> Option<Step> {
        let section = document.nth_section(self.section)?;
        let item = self.item.map(|number| ItemId::numbered(section, number));
        let offset = match item {
            Some(item) => document.get_item(item)?.span.start,
            None => document.section(section).heading.start,
        };
        let heading = HeadingForm {
            number: self.heading_number,
            mark: self.mark,
            is_mark_first: self.is_mark_first,
            has_unknown_mark: self.has_unknown_mark,
        };
        let bookkeeping =
            if self.has_line { BookkeepingForm::Line } else { BookkeepingForm::Fields };
        Some(Step {
            number: self.number,
            id: self.id.map(|id| StepId::kept(id.to_owned())),
            status: self.status.map(str::to_owned),
            depends_on: self.depends_on.into_iter().map(Named::into_ref).collect(),
            attempts: self.attempts,
            failures: self.failures,
            started_at: self.started_at.map(str::to_owned),
            details,
            heading,
            bookkeeping,
            offset,
            section,
            item,
        })
    }
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
            let kept = Plan::from_table(source, table).unwrap();
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
            assert!(Plan::from_table(source, table[..end].to_vec()).is_none(), "{end}");
        }
        let longer = [table.as_slice(), b"x"].concat();
        assert!(Plan::from_table(source, longer).is_none());
        let mut other = table;
        other[1] ^= 1;
        assert!(Plan::from_table(source, other).is_none());
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
                assert!(Plan::from_table(source, damaged).is_none(), "{at}: {source}");
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
                let kept = Plan::from_table(&source, table.clone()).unwrap();
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
            if let Some(plan) = Plan::from_table(&source, table) {
                let _ = samples::all_of(&plan);
            }
        }
    }
}
