//! Adding, changing, moving and removing steps.

use std::fmt::Write as _;

use crate::{
    domain::{ModelError, Plan, StateFile, Step, StepId, StepRef, literal, plan::field},
    text::markdown::{Edit, EditError, ItemId},
};

/// What a new step is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewStep {
    /// The title.
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
    /// The steps that come before it.
    pub depends_on: Vec<StepRef>,
    /// Fields without a meaning, in order.
    pub other: Vec<(String, String)>,
}

impl Plan {
    /// Adds a step after `after`, or at the end; steps behind it are renumbered.
    ///
    /// # Errors
    /// The title or a value cannot be written, or `after` is not a step.
    pub fn add_step(
        &self,
        edit: &mut Edit<'_>,
        id: &StepId,
        new: &NewStep,
        status: &str,
        after: Option<&Step>,
    ) -> Result<u32, ModelError> {
        let last = after.or_else(|| self.steps.last());
        let highest = self.steps.iter().map(|step| step.number).max().unwrap_or(0);
        let number = match after {
            Some(step) => step.number + 1,
            None => highest + 1,
        };
        if after.is_some() {
            for step in self.steps.iter().filter(|step| step.number >= number) {
                edit.set_title(step.section, &heading(step.number + 1, &step.title));
            }
        }
        let level = last.map_or_else(
            || self.steps_section().map_or(3, |id| self.document.section(id).level + 1),
            |step| self.document.section(step.section).level,
        );
        let parent = last
            .and_then(|step| self.document.section(step.section).parent)
            .or_else(|| self.steps_section())
            .unwrap_or_else(|| self.document.root());
        let body = self.step_body(id, new, status)?;
        edit.insert_section(
            parent,
            last.map(|step| step.section),
            level,
            &heading(number, &new.title),
            &body,
        );
        Ok(number)
    }

    /// Sets fields of a step; a missing one is added after `status`, or at the end.
    ///
    /// # Errors
    /// A field appears more than once.
    pub fn set_step(
        &self,
        edit: &mut Edit<'_>,
        step: &Step,
        fields: &[(&str, &str)],
    ) -> Result<(), ModelError> {
        let status = field(&self.document, step.section, "status")?;
        for (key, value) in fields {
            match field(&self.document, step.section, key)? {
                Some(item) => literal::set(edit, item, value),
                None => literal::insert(edit, step.section, status, key, value),
            }
        }
        Ok(())
    }

    /// Sets the title behind the step's number.
    pub fn set_step_title(&self, edit: &mut Edit<'_>, step: &Step, title: &str) {
        edit.set_title(step.section, &heading(step.number, title));
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
        if field(&self.document, step.section, list)?.is_none() {
            let anchor = field(&self.document, step.section, "status")?;
            edit.insert_raw_field(step.section, anchor, list, "");
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
        let Some(item) = field(&self.document, step.section, list)? else {
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

    /// Takes fields of a step away, where they are.
    ///
    /// # Errors
    /// A field appears more than once.
    pub fn clear_step(
        &self,
        edit: &mut Edit<'_>,
        step: &Step,
        keys: &[&str],
    ) -> Result<(), ModelError> {
        for key in keys {
            if let Some(item) = field(&self.document, step.section, key)? {
                edit.remove_item(item);
            }
        }
        Ok(())
    }

    /// Takes a step away; steps behind it are renumbered.
    pub fn remove_step(&self, edit: &mut Edit<'_>, step: &Step) {
        edit.remove_section(step.section);
        for later in self.steps.iter().filter(|later| later.number > step.number) {
            edit.set_title(later.section, &heading(later.number - 1, &later.title));
        }
    }

    fn step_body(&self, id: &StepId, new: &NewStep, status: &str) -> Result<String, ModelError> {
        let newline = self.document.newline();
        let mut body = String::new();
        let mut put = |key: &str, value: Option<&str>| -> Result<(), ModelError> {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                body.push_str(&literal::field(newline, 0, true, key, value).map_err(refused)?);
            }
            Ok(())
        };
        put("id", Some(id.as_str()))?;
        put("component", new.component.as_deref())?;
        put("tool_mapping", new.tool.as_deref())?;
        put("status", Some(status))?;
        let mut depends_on = String::new();
        for step in &new.depends_on {
            let separator = if depends_on.is_empty() { "" } else { ", " };
            let _ = write!(depends_on, "{separator}{step}");
        }
        put("depends_on", Some(&depends_on))?;
        if !new.inputs.is_empty() {
            body.push_str(&render_list(newline, "inputs", &new.inputs)?);
        }
        if !new.expected_outputs.is_empty() {
            body.push_str(&render_list(newline, "expected_outputs", &new.expected_outputs)?);
        }
        let mut put = |key: &str, value: Option<&str>| -> Result<(), ModelError> {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                body.push_str(&literal::field(newline, 0, true, key, value).map_err(refused)?);
            }
            Ok(())
        };
        put("estimated_cost", new.cost.as_deref())?;
        put("estimated_time", new.time.as_deref())?;
        put("side_effects", new.side_effects.as_deref())?;
        for (key, value) in &new.other {
            put(key, Some(value))?;
        }
        Ok(body)
    }
}

/// `Step 3: Title`.
fn heading(number: u32, title: &str) -> String {
    if title.is_empty() { format!("Step {number}") } else { format!("Step {number}: {title}") }
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
