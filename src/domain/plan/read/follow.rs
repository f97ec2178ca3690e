//! The plan after an edit: the steps that it touches are read again, the others are reused.

use std::{collections::BTreeSet, rc::Rc};

use crate::domain::plan::{Heading, Plan, dependencies, read::locate::Located, step};
use crate::{
    domain::Step,
    text::markdown::{Document, Edited, SectionId},
};

impl Plan {
    /// The plan that an edit makes of `before`, the same as [`Plan::read`] makes of its document.
    pub(crate) fn follow(before: Rc<Self>, edited: Edited) -> Self {
        let touched = edited.touched.as_deref().filter(|_| edited.is_of(&before.document));
        let document = edited.document;
        let Some(again) = touched.and_then(|touched| before.read_again(&document, touched)) else {
            return Self::read(document);
        };
        let mut steps = match Rc::try_unwrap(before) {
            Ok(before) => before.steps,
            Err(shared) => shared.steps.clone(),
        };
        for (at, step) in again {
            steps[at] = step;
        }
        for step in &mut steps {
            step.offset = document.section(step.section).heading.start;
        }
        let plan = Self::around(document, steps);
        match plan.problems.is_empty() {
            true => plan,
            false => Self::read(plan.document),
        }
    }

    /// The steps that differ once the sections `touched` are as in `new`, by their place among all;
    /// `None` if others may differ, too.
    ///
    /// Which headings are steps depends on titles, levels, boxes and, where a heading does not say
    /// `Step 4`, on the fields below it. So all steps must have a number of their own, a step that
    /// is touched must keep its name, and nothing else that is touched may be below *Steps*, unless
    /// it is part of a step.
    fn read_again(&self, new: &Document, touched: &[SectionId]) -> Option<Vec<(usize, Step)>> {
        let is_usual = |step: &Step| step.item.is_none() && step.heading.number.is_some();
        if !self.problems.is_empty() || !self.steps.iter().all(is_usual) {
            return None;
        }
        let old = &self.document;
        let step_at =
            |id: SectionId| self.steps.binary_search_by_key(&id, |step| step.section).ok();
        let mut concerned = BTreeSet::new();
        for &section in touched {
            let (was, is) = (old.section(section), new.section(section));
            let own = step_at(section);
            if let Some(at) = own {
                let step = &self.steps[at];
                Heading::read(old, section, false)?;
                let heading = Heading::read(new, section, false)?;
                if heading.number != Some(step.number) || heading.title != step.title {
                    return None;
                }
            } else if was.title != is.title {
                return None;
            }
            // What is part of a step is read with it.
            let mut is_in_step = own.is_some();
            let mut around = Some(section);
            while let Some(id) = around {
                let found = step_at(id);
                is_in_step |= found.is_some();
                concerned.extend(found);
                if !is_in_step && old.section(id).title.trim().eq_ignore_ascii_case("steps") {
                    return None;
                }
                around = old.section(id).parent;
            }
        }
        let mut again = Vec::new();
        for at in concerned {
            let was = &self.steps[at];
            let heading = match touched.contains(&was.section) {
                true => Heading::read(new, was.section, false)?,
                false => was.heading.clone(),
            };
            let located = Located { section: was.section, item: None, heading, number: was.number };
            let mut problems = Vec::new();
            let (mut step, list) = step::read::read(new, located, &mut problems);
            if let Some((_, list)) = list {
                let found = dependencies::parse(&list, &self.names()).ok()?;
                step.depends_on = found.into_iter().map(|one| one.step).collect();
            }
            // Others may name it by its id.
            if !problems.is_empty() || step.id != was.id {
                return None;
            }
            again.push((at, step));
        }
        Some(again)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::plan::samples;

    /// Edits the plan and compares what follows with what is read; whether anything was reused.
    fn follows(plan: &Rc<Plan>, edited: Edited) -> Result<bool, TestCaseError> {
        let touched = edited.touched.clone();
        let is_short =
            touched.is_some_and(|touched| plan.read_again(&edited.document, &touched).is_some());
        let read = Plan::read(Document::parse(edited.document.source()).unwrap());
        let followed = Plan::follow(Rc::clone(plan), edited);
        prop_assert_eq!(followed.to_table(), read.to_table());
        prop_assert_eq!(samples::all_of(&followed), samples::all_of(&read));
        Ok(is_short)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

        #[test]
        fn what_follows_is_what_would_be_read(
            source in samples::any_plan(),
            edits in prop::collection::vec(samples::any_edit(), 1..4),
        ) {
            let mut plan = Rc::new(Plan::read(Document::parse(source).unwrap()));
            for edit in edits {
                let Some(edited) = edit.make(&plan.document) else { continue };
                let document = edited.document.clone();
                follows(&plan, edited)?;
                // From what is kept of a plan the same has to follow.
                let read = Plan::read(document);
                let source = read.document.source();
                let kept = read.to_table().and_then(|table| Plan::from_table(source, table));
                plan = Rc::new(kept.unwrap_or(read));
            }
        }
    }

    #[test]
    fn the_usual_edit_of_a_step_reads_that_step_alone() {
        let plan = Rc::new(Plan::read(Document::parse(samples::PLANS[0]).unwrap()));
        let step = plan.steps[1].section;
        let metadata = plan.metadata_section().unwrap();
        let set = |section, key: &str, value: &str| {
            let item = plan.document.field(section, key).unwrap().unwrap();
            let mut edit = plan.document.edit();
            edit.set_value(item, value);
            follows(&plan, edit.finish().unwrap()).unwrap()
        };
        assert!(set(step, "status", "DONE"));
        assert!(set(step, "depends_on", "1"));
        assert!(set(metadata, "status", "RUNNING"));
        assert!(!set(step, "id", "zzzz"), "others may name it by its id");
        let mut edit = plan.document.edit();
        edit.set_title(step, &format!("{} ✓", plan.document.section(step).title));
        assert!(follows(&plan, edit.finish().unwrap()).unwrap());
        let mut edit = plan.document.edit();
        edit.set_title(step, "Step 2: Another name");
        assert!(
            !follows(&plan, edit.finish().unwrap()).unwrap(),
            "others may name it by its title"
        );
    }

    /// Red without the check that an edit is of the plan at hand.
    #[test]
    fn an_edit_of_another_document_is_read_as_a_whole() {
        let plan = Rc::new(Plan::read(Document::parse(samples::PLANS[0]).unwrap()));
        let other = samples::PLANS[0].replacen("PENDING", "FAILED", 1);
        let other = Document::parse(other).unwrap();
        let section = plan.steps[1].section;
        let item = other.field(section, "status").unwrap().unwrap();
        let mut edit = other.edit();
        edit.set_value(item, "DONE");
        let edited = edit.finish().unwrap();
        assert!(edited.touched.is_some() && !edited.is_of(&plan.document));
        let read = Plan::read(Document::parse(edited.document.source()).unwrap());
        assert_eq!(samples::all_of(&Plan::follow(plan, edited)), samples::all_of(&read));
    }
}
