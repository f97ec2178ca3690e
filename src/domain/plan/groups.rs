//! Groups of steps, such as the layers of a build: one group is finished before the next begins.

use std::collections::HashMap;

use serde::Serialize;

use crate::domain::{Plan, StepRole};

/// A group of steps and its progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Group {
    /// The common value of its steps.
    pub name: String,
    /// How far it is.
    pub progress: GroupProgress,
    /// How many steps it has.
    pub total: usize,
    /// How many of them are done or left out.
    pub finished: usize,
    /// How many have failed and were not retried.
    pub failed: usize,
    /// How many are being worked on.
    pub running: usize,
    /// The index of a step that failed for good and so stops the group.
    #[serde(skip)]
    pub(crate) stopped_by: Option<usize>,
}

/// How far a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupProgress {
    /// Groups before it are not finished, or none of its steps has begun.
    Open,
    /// It is being worked on.
    Active,
    /// All its steps are finished.
    Finished,
    /// One of its steps has failed for good.
    Stopped,
}

/// The groups of a plan, in the order in which they are worked on.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    pub(crate) field: String,
    pub(crate) all: Vec<Group>,
    /// The group of each step, by the step's index in the plan.
    of_step: Vec<Option<usize>>,
    /// The first group that is not finished.
    current: usize,
}

/// Why a step of a group cannot be started yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold<'g> {
    /// An earlier group is not finished.
    Earlier(&'g Group),
    /// Its own group is stopped.
    Stopped(&'g Group),
}

impl<'g> Hold<'g> {
    /// The group that blocks the step.
    pub(crate) fn group(self) -> &'g Group {
        match self {
            Self::Earlier(group) | Self::Stopped(group) => group,
        }
    }
}

impl Groups {
    /// Sorts the steps of a plan by the value of `field`. `roles` are those of the steps in order,
    /// and `is_final` says whether a failed step cannot be tried again.
    pub(crate) fn new(
        field: &str,
        plan: &Plan,
        roles: &[Option<StepRole>],
        is_final: impl Fn(usize) -> bool,
    ) -> Self {
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        let mut all: Vec<Group> = Vec::new();
        let mut of_step = Vec::with_capacity(plan.steps.len());
        for (at, (step, role)) in plan.steps.iter().zip(roles).enumerate() {
            let name = step.field(field).map(str::trim).filter(|name| !name.is_empty());
            let Some(name) = name else {
                of_step.push(None);
                continue;
            };
            let index = *by_name.entry(name).or_insert_with(|| {
                all.push(Group::new(name));
                all.len() - 1
            });
            of_step.push(Some(index));
            let group = &mut all[index];
            group.total += 1;
            match role {
                Some(StepRole::Done | StepRole::Skipped) => group.finished += 1,
                Some(StepRole::Active) => group.running += 1,
                Some(StepRole::Failed) => {
                    group.failed += 1;
                    if group.stopped_by.is_none() && is_final(at) {
                        group.stopped_by = Some(at);
                    }
                }
                _ => {}
            }
        }
        let mut groups = Self { field: field.to_owned(), all, of_step, current: 0 };
        groups.sort();
        groups.set_progress();
        groups
    }

    /// Sorts by the leading numbers if every name has one; else the order of the plan stays.
    fn sort(&mut self) {
        let numbers: Option<Vec<u64>> =
            self.all.iter().map(|group| leading_number(&group.name)).collect();
        let Some(numbers) = numbers else { return };
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_by_key(|at| numbers[*at]);
        let mut places = vec![0; order.len()];
        for (to, from) in order.iter().enumerate() {
            places[*from] = to;
        }
        self.all = order.iter().map(|at| self.all[*at].clone()).collect();
        for group in self.of_step.iter_mut().flatten() {
            *group = places[*group];
        }
    }

    fn set_progress(&mut self) {
        let is_finished = |group: &Group| group.finished == group.total;
        self.current =
            self.all.iter().position(|group| !is_finished(group)).unwrap_or(self.all.len());
        for (at, group) in self.all.iter_mut().enumerate() {
            let has_begun = group.finished + group.failed + group.running > 0;
            group.progress = match () {
                () if group.finished == group.total => GroupProgress::Finished,
                () if group.stopped_by.is_some() => GroupProgress::Stopped,
                () if at == self.current || has_begun => GroupProgress::Active,
                () => GroupProgress::Open,
            };
        }
    }

    /// Why groups keep a step, by its index in the plan, from being started.
    pub(crate) fn hold(&self, at: usize) -> Option<Hold<'_>> {
        let group = (*self.of_step.get(at)?)?;
        let current = self.all.get(self.current)?;
        match group {
            later if later > self.current => Some(Hold::Earlier(current)),
            own if self.all[own].stopped_by.is_some() => Some(Hold::Stopped(&self.all[own])),
            _ => None,
        }
    }

    /// The current group, if a step that failed for good stops it.
    pub(crate) fn stopped(&self) -> Option<&Group> {
        self.all.get(self.current).filter(|group| group.stopped_by.is_some())
    }
}

impl Group {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            progress: GroupProgress::Open,
            total: 0,
            finished: 0,
            failed: 0,
            running: 0,
            stopped_by: None,
        }
    }
}

fn leading_number(name: &str) -> Option<u64> {
    let end = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
    name[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::markdown::Document;

    fn groups(steps: &[(&str, StepRole)]) -> Groups {
        let mut text =
            "# Execution Plan: x\n\n## Metadata\n- **status**: x\n\n## Steps\n".to_owned();
        for (at, (layer, _)) in steps.iter().enumerate() {
            text += &format!("\n### Step {}: Do\n- **status**: x\n", at + 1);
            if !layer.is_empty() {
                text += &format!("- **layer**: {layer}\n");
            }
        }
        let plan = Plan::read(Document::parse(text).unwrap());
        let roles: Vec<_> = steps.iter().map(|(_, role)| Some(*role)).collect();
        Groups::new("layer", &plan, &roles, |_| true)
    }

    #[test]
    fn groups_go_by_their_numbers_or_else_as_they_stand() {
        let names = |list: &[&str]| {
            let steps: Vec<_> = list.iter().map(|name| (*name, StepRole::Open)).collect();
            groups(&steps).all.into_iter().map(|group| group.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["10-ui", "2-api", "10-ui", "0-setup"]), ["0-setup", "2-api", "10-ui"]);
        assert_eq!(names(&["setup", "2-api", "1-db"]), ["setup", "2-api", "1-db"]);
    }

    #[test]
    fn a_group_waits_for_all_before_it_and_a_step_without_one_for_none() {
        use StepRole::{Active, Done, Open};
        let found = groups(&[("b", Done), ("b", Active), ("a", Open), ("", Open)]);
        assert_eq!(found.hold(2).map(|hold| hold.group().name.as_str()), Some("b"));
        assert_eq!((found.hold(1), found.hold(3)), (None, None));
        let found = groups(&[("b", Done), ("b", Done), ("a", Open), ("", Open)]);
        assert_eq!(found.hold(2), None);
    }

    #[test]
    fn a_failure_for_good_stops_its_group() {
        use StepRole::{Failed, Open};
        let found = groups(&[("a", Failed), ("a", Open), ("b", Open)]);
        assert!(matches!(found.hold(1), Some(Hold::Stopped(_))));
        assert!(matches!(found.hold(2), Some(Hold::Earlier(group)) if group.name == "a"));
        assert_eq!(found.stopped().map(|group| group.progress), Some(GroupProgress::Stopped));
    }
}
