//! Steps that are boxes in a list: `- [ ] Send the letters`.
//!
//! A box shows whether a step is done. What else there is to know is in a list below it, once
//! there is something: a box without fields is a line of a to-do list and nothing more.

use std::ops::Range;

use crate::{
    domain::{NewStep, Plan, Step, StepRole, Workflow, literal},
    text::markdown::{Edit, ItemId, SectionId},
};

impl Workflow {
    /// Whether new steps are boxes in a list rather than headings.
    pub(crate) fn has_boxes(&self) -> bool {
        self.checkboxes
    }
}

/// Where a new box goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxPlace {
    section: SectionId,
    after: Option<ItemId>,
}

impl Plan {
    /// Whether no step has a number of its own, so that each has the one of its place.
    pub(crate) fn counts_by_place(&self) -> bool {
        let in_place = |(at, step): (u32, &Step)| step.number == at;
        self.steps.iter().all(|step| step.heading.number.is_none())
            && (1..).zip(&self.steps).all(in_place)
    }

    /// Where a step that is added after `after`, or at the end, is a box: after one, or where
    /// `has_boxes` wants it and there are no steps yet.
    pub(crate) fn place_of_box(&self, after: Option<&Step>, has_boxes: bool) -> Option<BoxPlace> {
        match after.or_else(|| self.steps.last()) {
            Some(step) => {
                step.item.map(|item| BoxPlace { section: step.section, after: Some(item) })
            }
            None if has_boxes => {
                self.steps_section().map(|section| BoxPlace { section, after: None })
            }
            None => None,
        }
    }

    /// Adds a box with that title. A number is written where the others have theirs.
    pub(crate) fn add_box(&self, edit: &mut Edit<'_>, place: BoxPlace, number: u32, title: &str) {
        let text = match self.counts_by_place() {
            true => title.to_owned(),
            false => format!("{number}. {title}"),
        };
        edit.insert_checkbox(place.section, place.after, false, &text);
    }

    /// A box shows whether a step is done; any other status is in a field below it.
    pub(crate) fn update_box_status(
        &self,
        edit: &mut Edit<'_>,
        step: &Step,
        item: Option<ItemId>,
        status: Option<&str>,
        role: Option<StepRole>,
    ) {
        let is_shown = matches!(role, Some(StepRole::Open | StepRole::Done));
        match (item, status.filter(|_| !is_shown)) {
            (Some(item), Some(status)) => literal::set(edit, item, status),
            (None, Some(status)) => self.insert_field(edit, step, "status", status),
            (Some(item), None) => {
                edit.remove_item(item);
            }
            (None, None) => {}
        }
    }

    /// The whole lines of a box, up to the next one in its list.
    pub(crate) fn lines_of_box(&self, item: ItemId) -> Range<usize> {
        let source = self.document.source();
        let begin = |item: ItemId| {
            let start = self.document.item(item).span.start;
            source[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1)
        };
        let found = self.document.item(item);
        let siblings = self.document.items(found.section);
        let next =
            siblings.iter().position(|other| *other == item).and_then(|at| siblings.get(at + 1));
        let line_end = || {
            let rest = &source[found.span.end..];
            let width = rest.split_inclusive('\n').next().map_or(0, str::len);
            found.span.end + width
        };
        begin(item)..next.map_or_else(line_end, |next| begin(*next))
    }
}

impl NewStep {
    /// Whether there is nothing to say about it but its title.
    pub(crate) fn is_title_alone(&self) -> bool {
        self.box_fields().is_empty() && self.inputs.is_empty() && self.expected_outputs.is_empty()
    }

    /// The fields that stand below a box, in order; lists have their own.
    pub(crate) fn box_fields(&self) -> Vec<(&str, &str)> {
        let known = [
            ("component", self.component.as_deref()),
            ("tool_mapping", self.tool.as_deref()),
            ("estimated_cost", self.cost.as_deref()),
            ("estimated_time", self.time.as_deref()),
            ("side_effects", self.side_effects.as_deref()),
            ("depends_on", Some(self.depends_on.as_str())),
        ];
        let other = self.other.iter().map(|(key, value)| (key.as_str(), Some(value.as_str())));
        let all = known.into_iter().chain(other);
        all.filter_map(|(key, value)| Some((key, value.filter(|value| !value.is_empty())?)))
            .collect()
    }
}
