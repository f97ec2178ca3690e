//! The result of a step, in one line for plan.md: `best=qdrant (40s, $0.02)`.

use crate::{
    domain::StepRole,
    workspace::change::{Span, StepResult, text_of},
};

/// How many characters of one value, and of the line as a whole, are shown.
const VALUE: usize = 60;
const LINE: usize = 120;

/// The line; history.md has the whole.
pub(super) fn result_line(
    result: &StepResult,
    role: StepRole,
    time: Option<Span>,
) -> Option<String> {
    let outputs: Vec<String> = result
        .output
        .iter()
        .map(|(key, value)| format!("{key}={}", first_line(&text_of(value), VALUE)))
        .collect();
    let note = result.note.as_deref().filter(|note| !note.trim().is_empty());
    let said = match (role, &result.error) {
        (StepRole::Failed, Some(error)) => first_line(error, LINE),
        _ if !outputs.is_empty() => first_line(&outputs.join(", "), LINE),
        _ => first_line(note.unwrap_or_default(), LINE),
    };
    let time = time.filter(|time| time.millis() > 0).map(|time| time.to_string());
    let spent: Vec<String> =
        time.into_iter().chain(result.cost.map(|cost| cost.0.to_string())).collect();
    let spent = spent.join(", ");
    match (said.is_empty(), spent.is_empty()) {
        (true, true) => None,
        (true, false) => Some(spent),
        (false, true) => Some(said),
        (false, false) => Some(format!("{said} ({spent})")),
    }
}

/// The first line with something in it, cut at `width`.
fn first_line(text: &str, width: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let is_whole = line.chars().count() <= width && text.trim() == line;
    match is_whole {
        true => line.to_owned(),
        false => format!("{} …", line.chars().take(width).collect::<String>().trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{domain::Money, workspace::change::Cost};

    #[test]
    fn a_result_is_one_line() {
        let mut result = StepResult { time: Some(Span(40_000)), ..StepResult::default() };
        result.cost = Some(Cost(Money(20_000)));
        assert_eq!(result_line(&result, StepRole::Done, result.time).unwrap(), "40s, $0.02");
        result.output.insert("best".to_owned(), json!("qdrant"));
        result.output.insert("rows".to_owned(), json!([1, 2]));
        let line = result_line(&result, StepRole::Done, result.time).unwrap();
        assert_eq!(line, "best=qdrant, rows=[1,2] (40s, $0.02)");
        result.error = Some("mypy: 12 errors\nin a.py".to_owned());
        let line = result_line(&result, StepRole::Failed, None).unwrap();
        assert_eq!(line, "mypy: 12 errors … ($0.02)");
        assert_eq!(result_line(&StepResult::default(), StepRole::Done, Some(Span(0))), None);
    }
}
