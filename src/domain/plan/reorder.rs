//! Moves a step to another place in plan.md, with every byte of it.

use crate::{
    domain::{ErrorCode, ModelError, Plan, Problem, StateFile, Step},
    text::markdown::Document,
};

impl Plan {
    /// The old and new numbers of the steps that are renumbered when `step` moves after `after`, or to
    /// the front.
    pub(crate) fn numbers_after_move(&self, step: &Step, after: Option<&Step>) -> Vec<(u32, u32)> {
        let numbers = self.steps.iter().map(|step| step.number);
        let moved = self.order_after_move(step, after);
        let pairs = moved.into_iter().map(|at| self.steps[at].number).zip(numbers);
        pairs.filter(|(old, new)| old != new).collect()
    }

    /// The text with `step` after `after`, or at the front. Every step keeps its bytes, except for blank
    /// lines between steps.
    ///
    /// # Errors
    /// The steps are on different levels, or would be read differently.
    pub(crate) fn text_after_move(
        &self,
        step: &Step,
        after: Option<&Step>,
    ) -> Result<String, ModelError> {
        let (source, newline) = (self.document.source(), self.document.newline());
        let extent = |step: &Step| match step.item {
            Some(item) => self.lines_of_box(item),
            None => self.document.section(step.section).extent.clone(),
        };
        let Some(first) = self.steps.first() else { return Ok(source.to_owned()) };
        let beside = after.unwrap_or(first);
        let (level, parent) = self.nesting(step);
        let hint = || Some("move it in an editor; commands understand steps anywhere".to_owned());
        if self.inside(step).is_some() {
            let message = format!("{} holds others", step.name());
            return Err(ModelError::BadValue { message, hint: hint() });
        }
        let is_beside = match (step.item, beside.item) {
            (None, None) => (level, parent) == self.nesting(beside),
            (Some(_), Some(_)) => step.section == beside.section,
            _ => false,
        };
        if !is_beside {
            let (one, other) = (step.name(), beside.name());
            let message = match step.item.is_some() == beside.item.is_some() {
                true => format!("{one} and {other} are in different sections"),
                false => format!("of {one} and {other} only one is a box in a list"),
            };
            return Err(ModelError::BadValue { message, hint: hint() });
        }
        let from = extent(step);
        let to = after.map_or_else(|| extent(first).start, |after| extent(after).end);
        if from.start <= to && to <= from.end {
            return Ok(source.to_owned());
        }
        let mut piece = source[from.clone()].trim_end_matches(['\n', '\r']).to_owned();
        let is_apart = step.item.is_none() || self.is_loose(step);
        piece.push_str(&newline.repeat(1 + usize::from(is_apart)));
        let (before, behind) = match to <= from.start {
            true => (
                source[..to].to_owned(),
                format!("{}{}", &source[to..from.start], &source[from.end..]),
            ),
            false => (
                format!("{}{}", &source[..from.start], &source[from.end..to]),
                source[to..].to_owned(),
            ),
        };
        let mut text = before;
        let wanted = 1 + usize::from(step.item.is_none() || (is_apart && after.is_some()));
        let ends = (1..=wanted).rev().find(|count| text.ends_with(&newline.repeat(*count)));
        text.push_str(&newline.repeat(wanted - ends.unwrap_or(0)));
        text.push_str(&piece);
        text.push_str(&behind);
        // The end of the file stays as it was.
        let end = &source[source.trim_end_matches(['\n', '\r']).len()..];
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
        text.push_str(end);
        self.prove_move(step, after, &text)?;
        Ok(text)
    }

    /// The current indexes of the steps, in the order after the move.
    fn order_after_move(&self, step: &Step, after: Option<&Step>) -> Vec<usize> {
        let place = |step: &Step| self.steps.iter().position(|other| other.offset == step.offset);
        let mut order: Vec<usize> = (0..self.steps.len()).collect();
        let Some(from) = place(step) else { return order };
        order.remove(from);
        let behind = after.and_then(place).and_then(|at| order.iter().position(|old| *old == at));
        order.insert(behind.map_or(0, |at| at + 1), from);
        order
    }

    /// Whether there are blank lines between the boxes of its list.
    fn is_loose(&self, step: &Step) -> bool {
        let beside = self.steps.iter().filter(|other| other.section == step.section);
        let boxes = beside.filter_map(|other| other.item).map(|item| self.lines_of_box(item));
        let newline = self.document.newline().repeat(2);
        boxes.into_iter().any(|lines| self.document.source()[lines].ends_with(&newline))
    }

    fn nesting(&self, step: &Step) -> (u8, Option<crate::text::markdown::SectionId>) {
        let section = self.document.section(step.section);
        (section.level, section.parent)
    }

    /// Refuses a text in which anything but the order of the steps differs.
    fn prove_move(&self, step: &Step, after: Option<&Step>, text: &str) -> Result<(), ModelError> {
        let refused = || {
            let message = "the step cannot be moved: the plan would no longer read the same";
            let problem = Problem::error(ErrorCode::BadValue, StateFile::Plan, message);
            ModelError::Problem(Box::new(problem.at(self.place(step))))
        };
        let document = Document::parse(text).map_err(|_| refused())?;
        let moved = Self::read(document);
        fn lines(text: &str) -> Vec<&str> {
            text.lines().filter(|line| !line.trim().is_empty()).collect()
        }
        let own = |plan: &Self, step: &Step| -> Vec<String> {
            let extent = plan.extent(step);
            lines(&plan.document.source()[extent]).into_iter().map(str::to_owned).collect()
        };
        let order = self.order_after_move(step, after);
        let wanted: Vec<_> = order.iter().map(|at| own(self, &self.steps[*at])).collect();
        let found: Vec<_> = moved.steps.iter().map(|step| own(&moved, step)).collect();
        let (mut all, mut all_found) = (lines(self.document.source()), lines(text));
        all.sort_unstable();
        all_found.sort_unstable();
        if wanted != found || all != all_found { Err(refused()) } else { Ok(()) }
    }
}
