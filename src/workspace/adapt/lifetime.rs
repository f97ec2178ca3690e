//! Directives that hold for a number of steps count down in the file itself.

use super::super::{Draft, Error};
use super::Event;
use crate::{
    domain::{ModelError, StateFile},
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
                let Some(text) = with_steps(&directive.text, left) else { continue };
                edit.set_item_text(directive.item, &text);
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

/// The text with another number before `steps`: `For the next 2 steps` → `For the next 1 step`.
fn with_steps(text: &str, left: u32) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let next = lower.find("next ")? + "next ".len();
    let number = text[next..].find(' ')? + next;
    let after = text[number..].trim_start();
    let rest = after.get(4..).filter(|_| after[..4].eq_ignore_ascii_case("step"))?;
    let rest = rest.strip_prefix(['s', 'S']).unwrap_or(rest);
    let noun = if left == 1 { "step" } else { "steps" };
    Some(format!("{}{left} {noun}{rest}", &text[..next]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_counts_down_in_words_and_digits() {
        assert_eq!(
            with_steps("For the next 2 steps, be brief", 1).unwrap(),
            "For the next 1 step, be brief"
        );
        assert_eq!(
            with_steps("Be brief for the next three steps.", 2).unwrap(),
            "Be brief for the next 2 steps."
        );
        assert_eq!(with_steps("no lifetime", 1), None);
    }
}
