//! Updates references by number when steps are renumbered.

use crate::{
    domain::{
        Plan, Step, StepId, StepRef, literal,
        plan::dependencies::{self, StepLabels},
        references, replace_references,
    },
    text::markdown::{Edit, ItemId},
};

/// How numbers change when a step is inserted, removed or moved.
#[derive(Clone, Debug)]
pub struct Renumbering {
    /// The first number that changes.
    from: u32,
    /// Whether numbers increase; else they decrease.
    up: bool,
    /// The removed step, if no other has its number.
    gone: Option<(u32, Option<StepId>)>,
    /// The numbers of moved steps before and after.
    moved: Vec<(u32, u32)>,
}

impl Renumbering {
    /// A step is inserted after `after`.
    pub fn behind(after: &Step) -> Self {
        Self { from: after.number + 1, up: true, gone: None, moved: Vec::new() }
    }

    /// `step` is removed from `plan`.
    pub fn without(plan: &Plan, step: &Step) -> Self {
        let alone = plan.steps.iter().filter(|other| other.number == step.number).count() == 1;
        let gone = alone.then(|| (step.number, step.id.clone()));
        Self { from: step.number + 1, up: false, gone, moved: Vec::new() }
    }

    /// Steps are moved: their numbers before and after.
    pub(crate) fn moved(moved: Vec<(u32, u32)>) -> Self {
        Self { from: u32::MAX, up: true, gone: None, moved }
    }

    /// The new number of a step, if it changes.
    fn number(&self, number: u32) -> Option<u32> {
        if let Some((_, to)) = self.moved.iter().find(|(from, _)| *from == number) {
            return Some(*to);
        }
        (number >= self.from).then(|| if self.up { number + 1 } else { number - 1 })
    }

    /// The new form of a path such as `steps.3.key`, if it changes.
    ///
    /// The outputs of a removed step stay in variables.json, so its full path is used.
    fn path(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix("steps.")?;
        let digits = rest.split('.').next().unwrap_or_default();
        let number = digits.parse().ok()?;
        let tail = &rest[digits.len()..];
        if let Some((gone, Some(id))) = &self.gone
            && *gone == number
        {
            return Some(format!("step_data.outputs.{id}{tail}"));
        }
        self.number(number).map(|number| format!("steps.{number}{tail}"))
    }

    /// The text with updated references. A path for which `is_variable` holds is a variable, not a
    /// step.
    pub fn text(&self, text: &str, is_variable: &dyn Fn(&str) -> bool) -> String {
        let new = |path: &str| self.path(path).filter(|_| !is_variable(path));
        replace_references(text, new).unwrap_or_else(|| text.to_owned())
    }
}

impl Plan {
    /// Updates the references by number in the fields of all steps except `gone`.
    pub fn update_references(
        &self,
        edit: &mut Edit<'_>,
        renumbering: &Renumbering,
        gone: Option<&Step>,
        is_variable: &dyn Fn(&str) -> bool,
    ) {
        for step in &self.steps {
            if gone.is_some_and(|gone| gone.offset == step.offset) {
                continue;
            }
            let dependencies = self.step_field(step, "depends_on").ok().flatten();
            for item in self.items_of(step) {
                // The text of a box is written together with its number.
                if Some(item) == dependencies || Some(item) == step.item {
                    continue;
                }
                let value = self.document.value(item);
                let changed = renumbering.text(&value, is_variable);
                if changed != value {
                    literal::set(edit, item, &changed);
                }
            }
        }
    }

    /// The lists of dependencies that read otherwise when steps have the numbers and titles that
    /// `renamed` gives.
    pub(crate) fn renamed_dependencies(
        &self,
        renamed: &dyn Fn(&StepRef) -> Option<(u32, String)>,
    ) -> Vec<(&Step, String)> {
        let names = StepLabels::from(self.names());
        let mut lists = Vec::new();
        for step in self.steps.iter().filter(|step| !step.depends_on.is_empty()) {
            let item = self.step_field(step, "depends_on").ok().flatten();
            let Some(list) = item.map(|item| self.document.value(item)) else { continue };
            let Ok(found) = dependencies::parse(&list, &names) else { continue };
            let changed = dependencies::rename(&list, &found, renamed);
            if changed != list {
                lists.push((step, changed));
            }
        }
        lists
    }

    /// The steps whose fields refer to `step` by its number.
    pub fn referring_to(&self, step: &Step) -> Vec<&Step> {
        let refers = |other: &&Step| {
            other.offset != step.offset
                && self.items_of(other).iter().any(|item| {
                    references(&self.document.value(*item)).iter().any(|reference| {
                        let rest = reference.path.strip_prefix("steps.").unwrap_or_default();
                        rest.split('.').next().and_then(|n| n.parse().ok()) == Some(step.number)
                    })
                })
        };
        self.steps.iter().filter(refers).collect()
    }

    /// All items of a step, those in its subsections included.
    fn items_of(&self, step: &Step) -> Vec<ItemId> {
        let mut sections = if step.item.is_some() { Vec::new() } else { vec![step.section] };
        let mut open: Vec<ItemId> = step.item.into_iter().collect();
        let mut items = Vec::new();
        while let Some(id) = sections.pop() {
            sections.extend(self.document.children(id));
            open.extend(self.document.items(id));
        }
        while let Some(item) = open.pop() {
            open.extend(&self.document.item(item).children);
            items.push(item);
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up() -> Renumbering {
        Renumbering { from: 2, up: true, gone: None, moved: Vec::new() }
    }

    #[test]
    fn references_follow_and_everything_else_stays() {
        let none = |_: &str| false;
        let text =
            "{{ steps.2.a }} {{steps.1.a}} {{steps.20}} {{stepsize.2}} steps.2 {{a.steps.2}}";
        let after =
            "{{ steps.3.a }} {{steps.1.a}} {{steps.21}} {{stepsize.2}} steps.2 {{a.steps.2}}";
        assert_eq!(up().text(text, &none), after);
        assert_eq!(up().text("{{steps.2.a}}", &|path| path == "steps.2.a"), "{{steps.2.a}}");
    }

    #[test]
    fn what_a_removed_step_gave_is_named_in_full() {
        let down = Renumbering {
            from: 3,
            up: false,
            gone: Some((2, StepId::parse("k3f9"))),
            moved: Vec::new(),
        };
        let after = down.text("{{steps.2.a.b}} {{steps.3.a}}", &|_| false);
        assert_eq!(after, "{{step_data.outputs.k3f9.a.b}} {{steps.2.a}}");
    }
}
