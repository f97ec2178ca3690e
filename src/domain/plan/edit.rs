//! Changing the plan's metadata.

use crate::{
    domain::{
        ErrorCode, ModelError, Plan, Problem, StateFile, literal,
        plan::{field, is_metadata_line},
    },
    text::markdown::{Edit, Edited},
};

impl Plan {
    /// Sets metadata fields; missing ones are added after the last, or below the title of a plan without
    /// metadata.
    ///
    /// # Errors
    /// There is neither metadata nor a title, or a field appears more than once.
    pub fn set_metadata(
        &self,
        edit: &mut Edit<'_>,
        fields: &[(&str, &str)],
    ) -> Result<(), ModelError> {
        let section =
            self.metadata_section().or(self.document.title_section()).ok_or_else(|| {
                let message = "`plan.md` has no `Metadata` section";
                let problem = Problem::error(ErrorCode::NoMetadata, StateFile::Plan, message)
                    .hint("add `## Metadata` with a status; `statedir diff` shows what was edited");
                ModelError::Problem(Box::new(problem))
            })?;
        for (key, value) in fields {
            match field(&self.document, section, key)? {
                Some(item) if is_metadata_line(key) => literal::set_line(edit, item, value),
                Some(item) => literal::set(edit, item, value),
                None if self.set_metadata_line(edit, key, value)? => {}
                None => literal::insert(edit, section, None, key, value),
            }
        }
        Ok(())
    }

    /// Sets the status, and the time at which the plan ended, if it has. A plan with its status in prose
    /// has no place for the time.
    ///
    /// # Errors
    /// There is no metadata section, or a field appears more than once.
    pub(crate) fn set_plan_status(
        &self,
        edit: &mut Edit<'_>,
        status: &str,
        completed_at: Option<&str>,
    ) -> Result<(), ModelError> {
        self.set_metadata(edit, &[("status", status)])?;
        let Some(section) = self.metadata_section() else { return Ok(()) };
        let written = field(&self.document, section, "completed_at")?;
        match (written, completed_at) {
            (Some(item), None) => {
                if self.document.own_lines_end(item) < self.document.item(item).value_span.end {
                    return Err(ModelError::text_below("`completed_at`"));
                }
                edit.remove_item(item);
            }
            (None, None) => {}
            (_, Some(time)) if field(&self.document, section, "status")?.is_some() => {
                self.set_metadata(edit, &[("completed_at", time)])?;
            }
            (_, Some(_)) => {}
        }
        Ok(())
    }

    /// Updates those of the fields that exist: they are copies of derived values.
    ///
    /// # Errors
    /// A field appears more than once.
    pub fn update_copies(
        &self,
        edit: &mut Edit<'_>,
        fields: &[(&str, &str)],
    ) -> Result<(), ModelError> {
        let Some(section) = self.metadata_section() else { return Ok(()) };
        for (key, value) in fields {
            if let Some(item) = field(&self.document, section, key)? {
                literal::set_line(edit, item, value);
            }
        }
        Ok(())
    }

    /// Sets the title after `Execution Plan:`.
    ///
    /// # Errors
    /// The title is not one line, or the plan has no heading.
    pub fn set_title(&self, edit: &mut Edit<'_>, title: &str) -> Result<(), ModelError> {
        let document = &self.document;
        let heading = document.title_section();
        let (Some(heading), false) =
            (heading, title.trim().is_empty() || title.contains(['\n', '\r']))
        else {
            let message = "the title must be one line, and the plan must have a heading".to_owned();
            return Err(ModelError::BadValue { message, hint: None });
        };
        edit.set_title(heading, &format!("Execution Plan: {}", title.trim()));
        Ok(())
    }

    /// Finishes an edit of this plan and reads the result.
    ///
    /// # Errors
    /// The edit would have changed more than it was meant to.
    pub fn finish(edit: Edit<'_>) -> Result<Edited, ModelError> {
        edit.finish().map_err(|error| ModelError::edit(StateFile::Plan, &error))
    }
}
