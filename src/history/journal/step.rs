//! The heading of a step's execution: `✗ Step 4: Write a shim (15m, $0.02): mypy: 12 errors`.

use crate::domain::StepOutcome;

/// Between the statuses that a step moved from and to.
pub(super) const ARROW: &str = " → ";
/// The key under which the byline passes on the move; it becomes other fields.
pub(super) const MOVE: &str = "";

const NAME: &str = "Step ";
const ENTRY: &str = " Execution";

/// What the heading of an execution says, beside values of fields.
pub(super) struct Execution<'a> {
    /// `Step 4`.
    pub(super) name: &'a str,
    outcome: StepOutcome,
}

/// The value at the end of a heading.
type Headline<'a> = (&'static str, &'a str);

impl<'a> Execution<'a> {
    /// Reads a heading. Values go to `values`, the error at its end is returned.
    pub(super) fn parse(
        heading: &'a str,
        values: &mut Vec<(&'static str, &'a str)>,
    ) -> Option<(Self, Option<Headline<'a>>)> {
        let (mark, text) = heading.split_once(' ')?;
        let outcome = StepOutcome::of_mark(mark)?;
        let number = text.strip_prefix(NAME)?;
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return None;
        }
        let (name, rest) = text.split_at_checked(NAME.len() + digits)?;
        let (title, measured, error) = split(rest)?;
        values.extend(title.map(|title| ("title", title)));
        for measure in measured.into_iter().flat_map(|text| text.split(", ")) {
            values.push((if is_cost(measure) { "actual_cost" } else { "actual_time" }, measure));
        }
        match values
            .iter()
            .find(|(key, _)| *key == MOVE)
            .and_then(|(_, text)| text.split_once(ARROW))
        {
            None => values.push(("status", outcome.builtin_status())),
            Some((_, to)) => {
                values.push(("status", to));
                values.extend(outcome.to_write_with(to).map(|word| ("outcome", word)));
            }
        }
        if outcome != StepOutcome::Skipped && !values.iter().any(|(key, _)| *key == "attempt") {
            values.push(("attempt", "1"));
        }
        Some((Self { name, outcome }, error.map(|error| ("errors", error))))
    }

    /// The title that the entry has in the plain notation.
    pub(super) fn entry_title(&self) -> String {
        format!("{}{ENTRY}", self.name)
    }

    /// Puts in what follows from the heading: the first of the state's changes is the step's own.
    pub(super) fn complete(&self, fields: &mut Vec<(String, String)>) {
        let moved = fields.iter().position(|(key, _)| key == MOVE);
        let moved = moved.map(|at| fields.remove(at).1);
        let moved = moved.unwrap_or_else(|| default_move(self.outcome));
        let number = self.name.strip_prefix(NAME).unwrap_or_default();
        let own = format!("step {number} {moved}");
        let is_own = |text: &str| text.starts_with(&format!("step {number} "));
        match fields.iter_mut().find(|(key, _)| key == "state_changes") {
            None => fields.push(("state_changes".to_owned(), own)),
            Some((_, text)) if is_own(text) => {}
            Some((_, text)) => *text = format!("{own}; {text}"),
        }
    }
}

/// What is known of an execution before it is written.
pub(super) struct ToWrite<'a> {
    number: &'a str,
    outcome: StepOutcome,
    /// The move, where it is not the usual one.
    pub(super) moved: Option<&'a str>,
}

impl<'a> ToWrite<'a> {
    /// Takes an execution's status out of `fields`, and what follows from it; `None` if the entry
    /// is none, or says less than this notation would.
    pub(super) fn take(title: &'a str, fields: &mut Vec<(&str, &'a str)>) -> Option<Self> {
        let number = title.strip_prefix(NAME)?.strip_suffix(ENTRY)?;
        let get = |key: &str| fields.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        let status = get("status")?;
        let outcome = StepOutcome::read(get("outcome"), Some(status))?;
        let changes = get("state_changes")?;
        let own = changes.strip_prefix("step ")?.strip_prefix(number)?.strip_prefix(' ')?;
        let (moved, further) = own.split_once("; ").map_or((own, None), |(m, f)| (m, Some(f)));
        if moved.split_once(ARROW)?.1 != status || moved.contains([',', '·', '*']) {
            return None;
        }
        let tried = outcome != StepOutcome::Skipped;
        if tried && get("attempt").is_none() {
            return None;
        }
        fields.retain(|(key, value)| match *key {
            "status" | "outcome" => false,
            "attempt" => !(tried && *value == "1"),
            "state_changes" => further.is_some(),
            _ => true,
        });
        if let Some(further) = further
            && let Some(field) = fields.iter_mut().find(|(key, _)| *key == "state_changes")
        {
            field.1 = further;
        }
        let moved = Some(moved).filter(|moved| *moved != default_move(outcome));
        Some(Self { number, outcome, moved })
    }

    /// The heading without what can stand behind its name.
    pub(super) fn heading(&self) -> String {
        format!("{} {NAME}{}", self.outcome.mark(), self.number)
    }
}

fn default_move(outcome: StepOutcome) -> String {
    [outcome.usual_start(), ARROW, outcome.builtin_status()].concat()
}

/// Title, measures and error behind `Step 4`.
fn split(rest: &str) -> Option<(Option<&str>, Option<&str>, Option<&str>)> {
    if rest.is_empty() {
        return Some((None, None, None));
    }
    let (titled, text) = match rest.strip_prefix(": ") {
        Some(text) => (true, text),
        None => (false, rest),
    };
    for (at, _) in text.match_indices(" (") {
        let (title, inside) = text.split_at_checked(at)?;
        let Some((measured, error)) = inside.get(2..)?.split_once(')') else { break };
        let error = if error.is_empty() { Some(None) } else { error.strip_prefix(": ").map(Some) };
        if let Some(error) = error
            && measured.split(", ").all(is_measure)
            && titled != title.is_empty()
        {
            return Some((titled.then_some(title), Some(measured), error));
        }
    }
    titled.then_some((Some(text), None, None))
}

fn is_measure(text: &str) -> bool {
    is_cost(text) || is_time(text)
}

/// `$0.02`.
pub(super) fn is_cost(text: &str) -> bool {
    let amount = text.strip_prefix('-').unwrap_or(text).strip_prefix('$');
    amount.is_some_and(|text| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// `2h 34m`, `1.5s`, `350ms`.
pub(super) fn is_time(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(['d', 'h', 'm', 's'])
        && text.bytes().all(|byte| byte.is_ascii_digit() || b" .dhms".contains(&byte))
}
