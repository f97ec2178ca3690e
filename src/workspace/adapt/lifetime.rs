//! Directives that hold for a number of steps count down in the file itself.

use super::super::{Draft, Error};
use super::Event;
use crate::{
    domain::{ModelError, StateFile, lifetime::Lifetime},
    rules::Directive,
};

/// One step less for every directive with a lifetime; at none left it goes.
pub(super) fn count_down(draft: &mut Draft<'_>, event: &Event) -> Result<(), Error> {
    if !matches!(event.kind.as_str(), "step_completed" | "step_skipped") {
        return Ok(());
    }
    let constraints = draft.constraints()?;
    let mut edit = constraints.document.edit();
    let mut any = false;
    for directive in &constraints.directives {
        let Directive::Expiring { steps } = Directive::parse(&directive.text, draft.workflow())
        else {
            continue;
        };
        any = true;
        match steps.checked_sub(1).filter(|left| *left > 0) {
            None => {
                edit.remove_item(directive.item);
            }
            Some(left) => {
                let Some(lifetime) = Lifetime::parse(&directive.text) else { continue };
                edit.set_item_text(directive.item, &lifetime.with_steps(left));
            }
        }
    }
    if any {
        let edited =
            edit.finish().map_err(|error| ModelError::edit(StateFile::Constraints, &error))?;
        draft.put(StateFile::Constraints, edited);
    }
    Ok(())
}
