//! The headings and steps of a plan in a form that is read quickly, kept beside plan.md by the store
//! and used only for exactly the bytes that it was made of.
//!
//! What is in it follows from plan.md alone. Wherever it is missing, or from another version, the file
//! is read instead. The store notices damage; what is damaged anyway must do no harm.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    domain::plan::{
        Plan,
        read::row::{StepTable, read_row, write_row},
    },
    text::markdown::{Document, HeadingLine},
};

/// Who wrote a table. To be counted up whenever a plan is read in another way than before.
const FORMAT: &str = concat!(env!("CARGO_PKG_VERSION"), "+10");

/// What a table begins with; then come the headings and the steps.
#[derive(Serialize, Deserialize)]
struct Preface<'a> {
    format: &'a str,
    sections: usize,
    steps: usize,
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
            line.write(&mut table)?;
        }
        for step in &self.steps {
            match step.details.row() {
                // What was not read again since is as it was, but for its place.
                Some(row) => {
                    let section = u32::try_from(step.section.number()).ok()?.to_le_bytes();
                    table.extend_from_slice(&section);
                    table.extend_from_slice(row.get(section.len()..)?);
                }
                None => write_row(&mut table, step, &self.document)?,
            }
        }
        Some(table)
    }

    /// The plan with that source, of which a table was kept; `None` if that cannot be used.
    pub(crate) fn from_table(source: impl Into<Arc<String>>, table: Vec<u8>) -> Option<Self> {
        let mut rest = table.as_slice();
        let Preface { format, sections, steps } = read(&mut rest)?;
        // Each takes more than a byte of those that follow, but for the root.
        let is_possible = (1..=rest.len() + 1).contains(&sections) && steps <= rest.len();
        if format != FORMAT || !is_possible {
            return None;
        }
        let source = source.into();
        let lines = std::iter::from_fn(|| HeadingLine::read(&mut rest));
        let document = Document::with_contents(Arc::clone(&source), sections, lines)?;
        let mut found = Vec::with_capacity(steps);
        let mut at = table.len() - rest.len();
        let table = Arc::new(StepTable { bytes: table, source });
        for _ in 0..steps {
            let (step, len) = read_row(&table, at, &document)?;
            found.push(step);
            at += len;
        }
        let plan = Self::around(document, found);
        (at == table.bytes.len() && plan.problems.is_empty()).then_some(plan)
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
    use crate::domain::{Step, plan::samples};

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
        assert_eq!((FORMAT, sum), ("0.1.0+10", 15_954_100_978_912_052_968));
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
                for (kept, read) in kept.steps.iter().zip(&read.steps) {
                    for (key, _) in &read.details().other {
                        prop_assert_eq!(kept.field(key), read.field(key), "{}", key);
                    }
                }
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
