//! Finding the steps of a plan by what lists of dependencies call them, also in plans of thousands.

use std::{
    cell::OnceCell,
    collections::{HashMap, HashSet},
};

use crate::domain::{Plan, Step, StepId, StepRef};

/// How a step can be named in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepLabel<'s> {
    pub(crate) number: u32,
    pub(crate) id: Option<&'s str>,
    pub(crate) title: &'s str,
}

/// The steps as lists can name them, in the order of the plan.
///
/// The index is made when it is first asked for: usually the number in a list is right, and then the
/// place says which step it is.
#[derive(Debug, Default)]
pub(crate) struct StepLabels<'s> {
    labels: Vec<StepLabel<'s>>,
    index: OnceCell<Index<'s>>,
}

#[derive(Debug, Default)]
struct Index<'s> {
    titles: HashMap<&'s str, Vec<usize>>,
    numbers: HashMap<u32, Vec<usize>>,
    ids: HashSet<&'s str>,
    longest_title: usize,
}

impl<'s> From<Vec<StepLabel<'s>>> for StepLabels<'s> {
    fn from(labels: Vec<StepLabel<'s>>) -> Self {
        Self { labels, index: OnceCell::new() }
    }
}

impl<'s> StepLabels<'s> {
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, StepLabel<'s>> {
        self.labels.iter()
    }

    /// The step of that number, if steps are numbered in their order.
    pub(super) fn likely(&self, number: u32) -> Option<&StepLabel<'s>> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.labels.get(at).filter(|step| step.number == number)
    }

    pub(super) fn titled(&self, title: &str) -> impl Iterator<Item = &StepLabel<'s>> {
        self.at(self.index().titles.get(title))
    }

    pub(super) fn numbered(&self, number: u32) -> impl Iterator<Item = &StepLabel<'s>> {
        self.at(self.index().numbers.get(&number))
    }

    pub(super) fn has_id(&self, id: &str) -> bool {
        self.index().ids.contains(id)
    }

    /// The length in bytes of the longest title.
    pub(super) fn longest_title(&self) -> usize {
        self.index().longest_title
    }

    fn at<'a>(&'a self, places: Option<&'a Vec<usize>>) -> impl Iterator<Item = &'a StepLabel<'s>> {
        places.into_iter().flatten().map(|at| &self.labels[*at])
    }

    fn index(&self) -> &Index<'s> {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            for (at, label) in self.labels.iter().enumerate() {
                index.titles.entry(label.title).or_default().push(at);
                index.numbers.entry(label.number).or_default().push(at);
                index.ids.extend(label.id);
                index.longest_title = index.longest_title.max(label.title.len());
            }
            index
        })
    }
}

/// The steps of a plan by number and by id, for looking up many of them.
pub(crate) struct StepIndex<'p> {
    plan: &'p Plan,
    numbers: HashMap<u32, Vec<&'p Step>>,
    ids: HashMap<&'p str, Vec<&'p Step>>,
}

impl Plan {
    pub(crate) fn step_index(&self) -> StepIndex<'_> {
        let mut index = StepIndex { plan: self, numbers: HashMap::new(), ids: HashMap::new() };
        for step in &self.steps {
            index.numbers.entry(step.number).or_default().push(step);
            if let Some(id) = &step.id {
                index.ids.entry(id.as_str()).or_default().push(step);
            }
        }
        index
    }
}

impl<'p> StepIndex<'p> {
    /// The step that [`Plan::step`] finds; `None` if there is none, or several.
    pub(crate) fn get(&self, wanted: &StepRef) -> Option<&'p Step> {
        let found = match wanted {
            StepRef::Number(number) => self.numbers.get(number),
            StepRef::Id(id) => self.ids.get(id.as_str()),
            StepRef::Label(_) => return self.plan.step(wanted).ok(),
        };
        match found?.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The first step with that id.
    pub(crate) fn first_with_id(&self, id: &StepId) -> Option<&'p Step> {
        self.ids.get(id.as_str())?.first().copied()
    }
}
