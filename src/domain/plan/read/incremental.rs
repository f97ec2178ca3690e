//! The plan after an edit: the steps that it touches are read again, the others are reused.

use std::{cell::LazyCell, collections::BTreeSet, rc::Rc};

use crate::domain::plan::{
    Heading, Plan, dependencies,
    dependencies::{StepLabel, StepLabels},
    read::locate::LocatedStep,
    step::{self, read::Dependencies},
};
use crate::{
    domain::{Step, StepId},
    text::markdown::{Document, Edited, SectionId, Touched},
};

/// The steps that an edit concerns, as they are after it.
#[derive(Default)]
struct ReadAgain {
    /// Those that were there before, by their place among all.
    changed: Vec<(usize, Step)>,
    /// Those that are new, in order.
    added: Vec<Step>,
}

impl Plan {
    /// The plan that an edit makes of `before`, the same as [`Plan::read`] makes of its document.
    pub(crate) fn reread(before: Rc<Self>, edited: Edited) -> Self {
        let is_of = edited.is_of(&before.document);
        let Edited { document, touched, .. } = edited;
        let touched = touched.filter(|_| is_of);
        let again = touched.and_then(|touched| {
            let again = before.read_again(&document, &touched)?;
            Some((touched, again))
        });
        let Some((touched, ReadAgain { changed, added })) = again else {
            return Self::read(document);
        };
        let mut steps = match Rc::try_unwrap(before) {
            Ok(before) => before.steps,
            Err(shared) => shared.steps.clone(),
        };
        for step in &mut steps {
            step.section = touched.renamed(step.section);
            step.offset = document.heading_start(step.section);
        }
        for (at, step) in changed {
            steps[at] = step;
        }
        for step in added {
            let at = steps.partition_point(|other| other.section < step.section);
            steps.insert(at, step);
        }
        let mut plan = Self::around(document, steps);
        plan.note_missing_metadata();
        match plan.problems.is_empty() {
            true => plan,
            false => Self::read(plan.document),
        }
    }

    /// The steps that differ once the sections `touched` are as in `new`, and those that are new;
    /// `None` if others may differ, too.
    ///
    /// Which headings are steps depends on titles, levels, boxes and, where a heading does not say
    /// `Step 4`, on the fields below it. So all steps must have a number of their own, a step that
    /// is touched must keep its name, and nothing else that is touched may be below *Steps*, unless
    /// it is part of a step.
    fn read_again(&self, new: &Document, touched: &Touched) -> Option<ReadAgain> {
        let is_usual = |step: &Step| step.item.is_none() && step.heading.number.is_some();
        if !self.problems.is_empty() || !self.steps.iter().all(is_usual) {
            return None;
        }
        let old = &self.document;
        let step_at =
            |id: SectionId| self.steps.binary_search_by_key(&id, |step| step.section).ok();
        let mut concerned = BTreeSet::new();
        for &section in &touched.kept {
            let now = touched.renamed(section);
            let (was, is) = (old.section(section), new.section(now));
            let own = step_at(section);
            if let Some(at) = own {
                let step = &self.steps[at];
                Heading::read(old, section, false)?;
                let heading = Heading::read(new, now, false)?;
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
                if !is_in_step && is_steps(old, id) {
                    return None;
                }
                around = old.section(id).parent;
            }
        }
        let mut added: Vec<(Step, Dependencies)> = Vec::new();
        let mut problems = Vec::new();
        for &section in &touched.added {
            let heading = new_step(new, section)?;
            let number = heading.number?;
            let is_taken = |step: &Step| step.number == number;
            if self.steps.iter().chain(added.iter().map(|(step, _)| step)).any(is_taken) {
                return None;
            }
            let located = LocatedStep { section, item: None, heading, number };
            added.push(step::read::read(new, located, &mut problems));
        }
        if !added.is_empty() {
            // A new title can be the one that somebody waits for.
            let waits = |(_, step): &(usize, &Step)| !step.depends_on.is_empty();
            concerned.extend(self.steps.iter().enumerate().filter(waits).map(|(at, _)| at));
        }
        let mut changed = Vec::new();
        for at in concerned {
            let was = &self.steps[at];
            let section = touched.renamed(was.section);
            let heading = match touched.kept.contains(&was.section) {
                true => Heading::read(new, section, false)?,
                false => was.written_heading(),
            };
            let located = LocatedStep { section, item: None, heading, number: was.number };
            let (step, list) = step::read::read(new, located, &mut problems);
            // Others may name it by its id.
            if step.id != was.id {
                return None;
            }
            changed.push((at, step, list));
        }
        if !problems.is_empty() {
            return None;
        }
        // Only a list of steps asks for the names of all others.
        let names = LazyCell::new(|| StepLabels::from(self.names_with(&added, touched)));
        let waits_for = |list: &Dependencies| {
            let Some((_, list)) = list else { return Some(Vec::new()) };
            let found = dependencies::parse(list, &names).ok()?;
            Some(found.into_iter().map(|one| one.step).collect())
        };
        let mut again = ReadAgain::default();
        let mut lists = Vec::new();
        for (_, list) in &added {
            lists.push(waits_for(list)?);
        }
        for (at, mut step, list) in changed {
            step.depends_on = waits_for(&list)?;
            again.changed.push((at, step));
        }
        drop(names);
        for ((mut step, _), list) in added.into_iter().zip(lists) {
            step.depends_on = list;
            again.added.push(step);
        }
        Some(again)
    }

    /// The names of all steps, those that are new among them, in the order of the file.
    fn names_with<'s>(
        &'s self,
        added: &'s [(Step, Dependencies)],
        touched: &Touched,
    ) -> Vec<StepLabel<'s>> {
        let mut names = self.names();
        for (before, (step, _)) in added.iter().enumerate() {
            let is_earlier = |other: &Step| touched.renamed(other.section) < step.section;
            let at = before + self.steps.partition_point(is_earlier);
            let id = step.id.as_ref().map(StepId::as_str);
            names.insert(at, StepLabel { number: step.number, id, title: &step.title });
        }
        names
    }
}

/// The heading of a section that was added, if it is a step that changes nothing about the headings
/// around it: directly below *Steps*, with nothing below it.
fn new_step(document: &Document, section: SectionId) -> Option<Heading> {
    let this = document.section(section);
    let has_children = document.children(section).next().is_some();
    let steps = this.parent.filter(|id| !has_children && is_steps(document, *id))?;
    let mut around = document.section(steps).parent;
    while let Some(id) = around {
        if is_steps(document, id) || Heading::read(document, id, false).is_some() {
            return None;
        }
        around = document.section(id).parent;
    }
    let heading = Heading::read(document, section, false)?;
    // A list that says `none` must not begin to mean a step.
    let says_nothing = dependencies::parse(&heading.title, &StepLabels::default())
        .is_ok_and(|list| list.is_empty());
    (!says_nothing).then_some(heading)
}

fn is_steps(document: &Document, section: SectionId) -> bool {
    document.section(section).title.trim().eq_ignore_ascii_case("steps")
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
        let followed = Plan::reread(Rc::clone(plan), edited);
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
                let kept = read.to_table().and_then(|table| Plan::from_table(source.to_owned(), table));
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

    #[test]
    fn a_step_that_is_added_is_read_without_the_others() {
        let plan = Rc::new(Plan::read(Document::parse(samples::PLANS[0]).unwrap()));
        let (steps, first) = (plan.steps_section().unwrap(), plan.steps[0].section);
        let add = |parent, after, level, title: &str| {
            let mut edit = plan.document.edit();
            let body = "- **status**: PENDING\n- **depends_on**: 3 Send\n- **id**: g7n2\n";
            edit.insert_section(parent, after, level, title, body);
            follows(&plan, edit.finish().unwrap()).unwrap()
        };
        assert!(add(steps, None, 3, "Step 4: Tell"));
        assert!(add(steps, Some(first), 3, "Step 4: Collect"), "others are read again by name");
        assert!(!add(steps, None, 3, "Step 3: Tell"), "a number that is there twice");
        assert!(!add(steps, None, 3, "Tell"), "the fields decide whether it is one");
        assert!(!add(steps, None, 3, "Step 4: none"), "that would be what nobody waits for");
        assert!(!add(first, None, 4, "Step 4: Tell"), "part of another step");
    }

    /// Red without the check that an edit is of the current plan.
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
        assert_eq!(samples::all_of(&Plan::reread(plan, edited)), samples::all_of(&read));
    }
}
