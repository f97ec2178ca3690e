//! Entries other than executions: which value ends their heading, and what their title implies.
//!
//! `### Paused: waiting for the database team` is an entry `Paused` with these notes.

/// What is known of entries with a certain title.
struct Family {
    /// The field whose value may end the heading.
    headline: &'static str,
    /// Fields that such an entry has anyway.
    implied: &'static [(&'static str, &'static str)],
}

const NOTE: (&str, &str) = ("kind", "note");
const ADAPTATION: (&str, &str) = ("kind", "adaptation");
const REVIEW: (&str, &str) = ("kind", "review");
const RESTORE: (&str, &str) = ("kind", "restore");

fn family(words: &[&str]) -> Option<Family> {
    let (headline, implied): (_, &[_]) = match words {
        ["Adaptation"] => ("state_changes", &[ADAPTATION]),
        ["Limit", "Exceeded"] => ("values", &[ADAPTATION, ("event", "limit_exceeded")]),
        ["Paused" | "Resumed"] => ("notes", &[]),
        ["Step", _, "Reset"] => ("notes", &[]),
        ["Review", _, "Opened"] => ("notes", &[REVIEW, ("decision", "open")]),
        ["Review", _, "Approved"] => ("reason", &[REVIEW, ("decision", "approved")]),
        ["Review", _, "Rejected"] => ("reason", &[REVIEW, ("decision", "rejected")]),
        ["Checkpoint"] | ["Checkpoint", "Deleted"] => ("name", &[NOTE]),
        ["Undo" | "Redo"] => ("command", &[RESTORE]),
        ["Restored"] => ("checkpoint", &[RESTORE]),
        ["Turn", _] => ("intent", &[]),
        _ => return None,
    };
    Some(Family { headline, implied })
}

/// The fields that a title can imply, or that can end a heading.
#[cfg(test)]
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    let titles = [
        "Adaptation: x",
        "Limit Exceeded: x",
        "Paused: x",
        "Step 3 Reset: x",
        "Review r1 Opened: x",
        "Review r1 Approved: x",
        "Checkpoint: x",
        "Undo: x",
        "Restored: x",
        "Turn 3: x",
        "Recovery: x",
        "Event x",
    ];
    titles.into_iter().flat_map(|heading| {
        let mut values = Vec::new();
        let (_, headline) = parse(heading, &mut values);
        values.into_iter().chain(headline).map(|(key, _)| key)
    })
}

/// The title in a heading, and the value behind it; what the title implies goes to `values`.
pub(super) fn parse<'a>(
    heading: &'a str,
    values: &mut Vec<(&'static str, &'a str)>,
) -> (&'a str, Option<(&'static str, &'a str)>) {
    let (title, value) =
        heading.split_once(": ").map_or((heading, None), |(title, value)| (title, Some(value)));
    let mut words = title.split(' ');
    let mut first = [""; 4];
    for (place, word) in first.iter_mut().zip(&mut words) {
        *place = word;
    }
    let count = first.iter().take_while(|word| !word.is_empty()).count();
    let Some(family) = family(first.get(..count).unwrap_or_default()) else {
        match title {
            "Recovery" => {
                values.push(("kind", "recover"));
                values.extend(value.map(|action| ("decision", action)));
            }
            _ if count == 2 && first[0] == "Event" => values.push(("event", first[1])),
            _ => {}
        }
        return (heading, None);
    };
    values.extend(family.implied);
    if first[0] == "Review" {
        values.push(("review", first[1]));
    }
    (title, value.map(|value| (family.headline, value)))
}

/// Takes what a title implies out of `fields`, and says which field can end the heading. `None`
/// if the title alone would be read as more or less than the entry says.
pub(super) fn take(title: &str, fields: &mut Vec<(&str, &str)>) -> Option<Option<&'static str>> {
    let mut values = Vec::new();
    // A value as there might be one, to see where it goes.
    let with_value = format!("{title}: x");
    let mut of_value = Vec::new();
    let (short, headline) = parse(&with_value, &mut of_value);
    if parse(title, &mut values) != (title, None) {
        return None;
    }
    for implied in values {
        let at = fields.iter().position(|field| *field == implied)?;
        fields.remove(at);
    }
    Some(headline.filter(|_| short == title).map(|(key, _)| key))
}
