//! Adding, changing, moving and removing steps.

use crate::domain::plan::{
    bookkeeping::{ATTEMPTS, Bookkeeping, CLAIMED_BY, COMPLETED_AT, STARTED_AT},
    key_of,
    step::{
        heading::{Heading, HeadingText},
        read::{is_one_line, typed_below},
    },
};
use crate::{
    domain::{
        ModelError, Plan, StateFile, Step, StepId, StepRole, literal, plan::step::BookkeepingForm,
    },
    text::markdown::{Edit, EditError, ItemId},
};

/// The fields of a step in the order in which they are written; others come before `result`.
const ORDER: [&str; 11] = [
    "component", "tool_mapping", "status", "inputs", "expected_outputs", "estimated_cost",
    "estimated_time", "side_effects", "depends_on", "result", "id",
];

fn rank(key: &str) -> usize {
    let known = ORDER.iter().position(|name| *name == key);
    // Behind `depends_on` and before `result`.
    known.map_or(2 * 8 + 1, |at| 2 * at)
}

/// What a new step is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NewStep {
    pub title: String,
    /// The component that does it.
    pub component: Option<String>,
    /// The tool it maps to.
    pub tool: Option<String>,
    /// Parameters, in order.
    pub inputs: Vec<(String, String)>,
    /// Results it should give, in order.
    pub expected_outputs: Vec<(String, String)>,
    /// The estimate.
    pub cost: Option<String>,
    /// The estimate.
    pub time: Option<String>,
    /// What it changes in the world.
    pub side_effects: Option<String>,
    /// The steps that come before it, as a list.
    pub depends_on: String,
    /// Fields without a meaning, in order.
    pub other: Vec<(String, String)>,
}

/// What is to change in a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepUpdate {
    fields: Vec<(String, Option<String>)>,
    title: Option<String>,
    number: Option<u32>,
    /// What the status means afterwards, for the mark.
    role: Option<Option<StepRole>>,
}

impl StepUpdate {
    /// Sets a field.
    pub(crate) fn set(&mut self, key: &str, value: &str) {
        self.put(key, Some(value.to_owned()));
    }

    /// Takes a field away, where it is.
    pub(crate) fn clear(&mut self, key: &str) {
        self.put(key, None);
    }

    /// Sets the title after the number.
    pub(crate) fn set_title(&mut self, title: &str) {
        self.title = Some(title.to_owned());
    }

    /// Gives the step another number.
    pub(crate) fn set_number(&mut self, number: u32) {
        self.number = Some(number);
    }

    /// Says what the status of the step means, so that the mark in its heading can follow.
    pub(crate) fn set_role(&mut self, role: Option<StepRole>) {
        self.role = Some(role);
    }

    /// The number and title that the step has afterwards.
    pub(crate) fn name<'s>(&'s self, step: &'s Step) -> (u32, &'s str) {
        let title = self.title.as_deref().unwrap_or_else(|| step.title());
        (self.number.unwrap_or(step.number), title)
    }

    /// What a field is set to by this change.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == key)?.1.as_deref()
    }

    /// Whether anything but the number changes.
    pub(crate) fn is_of_step(&self) -> bool {
        !self.fields.is_empty() || self.title.is_some()
    }

    fn put(&mut self, key: &str, value: Option<String>) {
        match self.fields.iter_mut().find(|(name, _)| name == key) {
            Some((_, slot)) => *slot = value,
            None => self.fields.push((key.to_owned(), value)),
        }
    }
}

impl Plan {
    /// Adds a step after `after`, or at the end. Steps after it get their numbers elsewhere.
    pub(crate) fn add_step(
        &self,
        edit: &mut Edit<'_>,
        (id, number): (&StepId, u32),
        new: &NewStep,
        status: &str,
        after: Option<&Step>,
    ) -> Result<HeadingText, ModelError> {
        let body = self.step_body(id, new, status)?;
        let heading = Heading::new(number, &new.title).write(Some(number), &new.title, None);
        let last = after.or_else(|| self.steps.last());
        if last.is_none() && self.steps_section().is_none() {
            let text = format!("\n### {}\n{body}", self.title_source(&heading)?);
            let title = self.document.title_section();
            let (parent, level) = match title {
                Some(title) => (title, 2),
                None => (self.document.root(), 2),
            };
            edit.insert_section(parent, None, level, "Steps", &text);
            return Ok(HeadingText { ends_like_mark: false, ..heading });
        }
        let level = last.map_or_else(
            || self.steps_section().map_or(3, |id| self.document.section(id).level + 1),
            |step| self.document.section(step.section).level,
        );
        let parent = last
            .and_then(|step| self.document.section(step.section).parent)
            .or_else(|| self.steps_section())
            .unwrap_or_else(|| self.document.root());
        edit.insert_section(parent, last.map(|step| step.section), level, &heading.text, &body);
        Ok(heading)
    }

    /// The number of a step that is added after `after`, or at the end.
    pub(crate) fn new_number(&self, after: Option<&Step>) -> u32 {
        let highest = self.steps.iter().map(|step| step.number).max().unwrap_or(0);
        after.map_or(highest, |step| step.number) + 1
    }

    /// Changes a step. A field that is missing is put where the order of the fields has it.
    ///
    /// # Errors
    /// A field appears more than once.
    pub(crate) fn update_step(
        &self,
        edit: &mut Edit<'_>,
        step: &Step,
        update: &StepUpdate,
    ) -> Result<(), ModelError> {
        let id = self.step_field(step, "id")?;
        let written = id.map(|item| self.document.own_lines(item)).unwrap_or_default();
        let mut line = Bookkeeping::parse(&written);
        for (key, value) in &update.fields {
            let item = self.step_field(step, key)?;
            let is_line = step.bookkeeping == BookkeepingForm::Line || line.has(key);
            match (item, value) {
                _ if key == "id" => line.set(key, value.as_deref()),
                (item, value) if key == "status" && step.item.is_some() => {
                    self.update_box_status(
                        edit,
                        step,
                        item,
                        value.as_deref(),
                        update.role.flatten(),
                    );
                }
                (None, Some(value))
                    if key == "status" && self.set_status_line(edit, step, value)? => {}
                (Some(item), Some(value)) if is_one_line(key) => {
                    literal::set_line(edit, item, value)
                }
                (Some(item), Some(value)) => literal::set(edit, item, value),
                (Some(item), None) => {
                    self.refuse_typed_below(step, item, key)?;
                    edit.remove_item(item);
                    line.set(key, None);
                }
                (None, value) if is_bookkeeping(key) && is_line => line.set(key, value.as_deref()),
                (None, Some(value)) => self.insert_field(edit, step, key, value),
                (None, None) => {}
            }
        }
        let text = line.write();
        match id {
            Some(item) if text != written => literal::set_line(edit, item, &text),
            None if !text.is_empty() => match step.item {
                Some(item) => literal::insert_child(edit, item, "id", &text),
                None => self.insert_field(edit, step, "id", &text),
            },
            _ => {}
        }
        let number = self.written_number(step, update);
        match step.item {
            Some(item) => update_box(edit, step, item, update, number),
            None => update_heading(edit, step, update, number),
        }
        Ok(())
    }

    /// Refuses to remove a field with the text that somebody typed right below it.
    fn refuse_typed_below(&self, step: &Step, item: ItemId, key: &str) -> Result<(), ModelError> {
        if typed_below(&self.document, item).is_none() {
            return Ok(());
        }
        Err(ModelError::text_below(&format!("`{key}` of {}", step.name())))
    }

    /// The number that is written into a heading or a box. Where none has a number, each has the one
    /// of its place, and nothing is written.
    fn written_number(&self, step: &Step, update: &StepUpdate) -> Option<u32> {
        let is_written = step.heading.number.is_some() || !self.counts_by_place();
        update.number.filter(|_| is_written).or(step.heading.number)
    }

    pub(crate) fn insert_field(&self, edit: &mut Edit<'_>, step: &Step, key: &str, value: &str) {
        match step.item {
            Some(item) => literal::insert_child(edit, item, key, value),
            None => literal::insert(edit, step.section, self.place_of(step, key), key, value),
        }
    }

    /// Gives a step without bookkeeping that line, a list of dependencies and a mark.
    ///
    /// # Errors
    /// A field appears more than once.
    pub(crate) fn write_anew(
        &self,
        edit: &mut Edit<'_>,
        step: &Step,
        line: &str,
        depends_on: Option<&str>,
        role: Option<StepRole>,
    ) -> Result<(), ModelError> {
        let mut update = StepUpdate::default();
        if let Some(list) = depends_on {
            update.set("depends_on", list);
        }
        // Also where nothing else changes.
        update.set_title(&step.title);
        update.set_role(role);
        self.update_step(edit, step, &update)?;
        self.insert_field(edit, step, "id", line);
        Ok(())
    }

    /// The item behind which a new field of that name belongs: one of the other fields, also where a
    /// list of the description follows them.
    fn place_of(&self, step: &Step, key: &str) -> Option<ItemId> {
        let list = self.list_of_fields(step);
        let items = list.unwrap_or_else(|| self.document.items(step.section));
        let name = |item: &ItemId| key_of(&self.document, *item);
        let is_field_before = |item: &ItemId| {
            name(item).is_some_and(|name| rank(&name) <= rank(key) && (name != "id" || key == "id"))
        };
        // A numbered list is a text of its own.
        let is_bullet = |item: &ItemId| name(item).is_none() && !self.is_numbered(*item);
        let last_of = |is_meant: &dyn Fn(&ItemId) -> bool| {
            items.iter().rev().find(|item| is_meant(item)).copied()
        };
        let last = match list {
            Some(_) => last_of(&is_field_before).or_else(|| {
                // What ranks first goes before the other fields, behind a list that is above them.
                items.iter().take_while(|item| is_bullet(item)).last().copied()
            }),
            None => last_of(&|item| is_field_before(item) || is_bullet(item)),
        };
        // A missing status stands where it always stood, whatever is around it.
        let status = || self.document.field(step.section, "status").ok().flatten();
        let any = || last_of(&|item| name(item).is_some()).filter(|_| list.is_some());
        match step.bookkeeping {
            BookkeepingForm::Line => last.or_else(status).or_else(any),
            BookkeepingForm::Fields => status().or_else(any),
        }
    }

    /// The items of the list that the first known field of a step is in.
    fn list_of_fields(&self, step: &Step) -> Option<&[ItemId]> {
        let document = &self.document;
        let is_known = |item: &ItemId| {
            key_of(document, *item).is_some_and(|name| ORDER.contains(&name.as_ref()))
        };
        let is_next = |one: &ItemId, other: &ItemId| {
            let between = document.item(*one).span.end..document.item(*other).span.start;
            document.source().get(between).is_some_and(|text| text.trim().is_empty())
                && self.is_numbered(*one) == self.is_numbered(*other)
        };
        let mut lists = document.items(step.section).chunk_by(is_next);
        lists.find(|list| list.iter().any(is_known))
    }

    fn is_numbered(&self, item: ItemId) -> bool {
        let start = self.document.item(item).span.start;
        self.document.source()[start..].starts_with(|c: char| c.is_ascii_digit())
    }

    /// Adds the head of a nested list such as `inputs`, if it is not there.
    ///
    /// # Errors
    /// The list appears more than once.
    pub fn ensure_nested(
        &self,
        edit: &mut Edit<'_>,
        step: &Step,
        list: &str,
    ) -> Result<(), ModelError> {
        if self.step_field(step, list)?.is_none() {
            match step.item {
                Some(item) => edit.insert_raw_child_field(item, list, ""),
                None => edit.insert_raw_field(step.section, self.place_of(step, list), list, ""),
            };
        }
        Ok(())
    }

    /// Sets named parameters in a nested list such as `inputs`.
    ///
    /// # Errors
    /// The list is not there, or it or a parameter appears more than once.
    pub fn set_nested(
        &self,
        edit: &mut Edit<'_>,
        step: &Step,
        list: &str,
        pairs: &[(String, String)],
    ) -> Result<(), ModelError> {
        let Some(item) = self.step_field(step, list)? else {
            let message = format!("{} has no `{list}`", step.name());
            return Err(ModelError::NotFound { file: StateFile::Plan, message, hint: None });
        };
        for (key, value) in pairs {
            let child: Option<ItemId> = self
                .document
                .child(item, key)
                .map_err(|error| ModelError::lookup(StateFile::Plan, error))?;
            match child {
                Some(child) => literal::set(edit, child, value),
                None => literal::insert_child(edit, item, key, value),
            }
        }
        Ok(())
    }

    /// Takes a step away. Steps after it get their numbers elsewhere.
    pub(crate) fn remove_step(&self, edit: &mut Edit<'_>, step: &Step) {
        match step.item {
            Some(item) => edit.remove_item(item),
            None => edit.remove_section(step.section),
        };
    }

    fn title_source(&self, heading: &HeadingText) -> Result<String, ModelError> {
        let document = crate::text::markdown::Document::parse("### x\n")
            .map_err(|error| ModelError::BadValue { message: error.to_string(), hint: None })?;
        let section = document.sections().last().unwrap_or_else(|| document.root());
        let mut edit = document.edit();
        edit.set_title_ending(section, &heading.text, heading.ends_like_mark);
        let edited = edit.finish().map_err(refused)?.document;
        let section = edited.sections().last().unwrap_or_else(|| edited.root());
        Ok(edited.raw_title(section).to_owned())
    }

    fn step_body(&self, id: &StepId, new: &NewStep, status: &str) -> Result<String, ModelError> {
        let newline = self.document.newline();
        let mut body = String::new();
        let put = |body: &mut String, key: &str, value: Option<&str>| -> Result<(), ModelError> {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                body.push_str(&literal::field(newline, 0, true, key, value).map_err(refused)?);
            }
            Ok(())
        };
        put(&mut body, "component", new.component.as_deref())?;
        put(&mut body, "tool_mapping", new.tool.as_deref())?;
        put(&mut body, "status", Some(status))?;
        if !new.inputs.is_empty() {
            body.push_str(&render_list(newline, "inputs", &new.inputs)?);
        }
        if !new.expected_outputs.is_empty() {
            body.push_str(&render_list(newline, "expected_outputs", &new.expected_outputs)?);
        }
        put(&mut body, "estimated_cost", new.cost.as_deref())?;
        put(&mut body, "estimated_time", new.time.as_deref())?;
        put(&mut body, "side_effects", new.side_effects.as_deref())?;
        put(&mut body, "depends_on", Some(&new.depends_on))?;
        for (key, value) in &new.other {
            put(&mut body, key, Some(value))?;
        }
        put(&mut body, "id", Some(id.as_str()))?;
        Ok(body)
    }
}

/// The heading with number, title and mark as they are afterwards. Steps of older states have
/// no mark.
fn update_heading(edit: &mut Edit<'_>, step: &Step, update: &StepUpdate, number: Option<u32>) {
    let heading = step.written_heading();
    let is_marked = step.bookkeeping == BookkeepingForm::Line || heading.mark.is_some();
    let mark = match update.role {
        Some(role) if is_marked && update.is_of_step() => role,
        _ => heading.mark,
    };
    let (_, title) = update.name(step);
    if (number, title) == (heading.number, &heading.title) && heading.has_mark(mark) {
        return;
    }
    let HeadingText { text, ends_like_mark } = heading.write(number, title, mark);
    edit.set_title_ending(step.section, &text, ends_like_mark);
}

/// The box with the mark, the number and the title that the step has afterwards.
fn update_box(
    edit: &mut Edit<'_>,
    step: &Step,
    item: ItemId,
    update: &StepUpdate,
    number: Option<u32>,
) {
    let is_done = match update.role {
        Some(role) if update.is_of_step() => role == Some(StepRole::Done),
        _ if number == step.heading.number => return,
        _ => step.heading.mark == Some(StepRole::Done),
    };
    let heading = step.written_heading();
    let title = update.title.as_deref().unwrap_or(&heading.title);
    let is_same = (number, title) == (heading.number, &heading.title);
    // A mark that is not known stays where another would say no more.
    if heading.has_unknown_mark && is_same && !is_done {
        return;
    }
    edit.set_box(item, is_done, &heading.write_behind_box(number, title));
}

fn is_bookkeeping(key: &str) -> bool {
    matches!(key, "id" | ATTEMPTS | CLAIMED_BY | STARTED_AT | COMPLETED_AT)
}

fn render_list(newline: &str, key: &str, pairs: &[(String, String)]) -> Result<String, ModelError> {
    let mut text = format!("- **{key}**:{newline}");
    for (name, value) in pairs {
        text.push_str(&literal::field(newline, 2, false, name, value).map_err(refused)?);
    }
    Ok(text)
}

fn refused(error: EditError) -> ModelError {
    ModelError::edit(StateFile::Plan, &error)
}
