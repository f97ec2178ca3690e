//! The rows of every view: how many there are, what each is, and the text that a filter matches.

use std::borrow::Cow;

use super::{
    model::{Column, Found, View},
    source::Loaded,
};
use crate::history::Entry;

/// How many attempts are listed.
pub(super) const ATTEMPTS: usize = 500;
/// How many rules that fired are listed.
pub(super) const FIRED: usize = 100;

/// A row of the view of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleRow {
    Setting(usize),
    Directive(usize),
    Rule(usize),
    Fired(usize),
}

/// How many rows a view has.
pub(super) fn count(loaded: &Loaded, found: Option<&Found>, view: View) -> usize {
    let dashboard = &loaded.dashboard;
    match view {
        View::Steps | View::Board => dashboard.overview.steps.len(),
        View::Graph => dashboard.graph.order.len(),
        View::Timeline => loaded.attempts.len(),
        View::History => entries(loaded, found).len(),
        View::Operations => dashboard.operations.len(),
        View::Rules => {
            let constraints = &dashboard.state.constraints;
            constraints.settings.len()
                + constraints.directives.len()
                + constraints.rules.len()
                + dashboard.fired_rules().take(FIRED).count()
        }
        View::Reviews => dashboard.state.reviews.len(),
    }
}

/// The entries that are listed, oldest first.
pub(super) fn entries<'a>(loaded: &'a Loaded, found: Option<&'a Found>) -> &'a [Entry] {
    found.map_or(&loaded.dashboard.entries, |found| &found.entries)
}

/// The entry in a row: the newest is the first.
pub(super) fn entry<'a>(
    loaded: &'a Loaded,
    found: Option<&'a Found>,
    at: usize,
) -> Option<&'a Entry> {
    let entries = entries(loaded, found);
    entries.len().checked_sub(at + 1).and_then(|place| entries.get(place))
}

/// The position of a step in the graph that is in a row: every step behind those it waits for.
pub(super) fn node(loaded: &Loaded, at: usize) -> Option<usize> {
    loaded.dashboard.graph.order.get(at).copied()
}

/// What a row of the view of rules is.
pub(super) fn rule_row(loaded: &Loaded, at: usize) -> RuleRow {
    let constraints = &loaded.dashboard.state.constraints;
    let fired = loaded.dashboard.fired_rules().take(FIRED).count();
    let parts = [constraints.rules.len(), constraints.directives.len(), fired];
    let kinds = [RuleRow::Rule, RuleRow::Directive, RuleRow::Fired];
    let mut left = at;
    for (count, kind) in parts.into_iter().zip(kinds) {
        if left < count {
            return kind(left);
        }
        left -= count;
    }
    RuleRow::Setting(left)
}

/// The key of a row, which is the same after the state is read again.
pub(super) fn key(loaded: &Loaded, found: Option<&Found>, view: View, at: usize) -> Option<String> {
    let dashboard = &loaded.dashboard;
    let of_entry = |entry: &Entry| match &entry.id {
        Some(id) => id.to_string(),
        None => format!("at {}", entry.offset),
    };
    Some(match view {
        View::Steps | View::Board => {
            let step = dashboard.overview.steps.get(at)?;
            step.id.clone().unwrap_or_else(|| step.number.to_string())
        }
        View::Graph => dashboard.graph.nodes.get(node(loaded, at)?)?.number.to_string(),
        View::Timeline => of_entry(loaded.attempt(at)?),
        View::History => of_entry(entry(loaded, found, at)?),
        View::Operations => dashboard.operations.get(at)?.id.as_str().to_owned(),
        View::Rules => match rule_row(loaded, at) {
            RuleRow::Fired(nth) => {
                let fired = dashboard.fired_rules().nth(nth)?;
                format!("{} {}", fired.time, fired.rule)
            }
            _ => text(loaded, found, view, at).into_owned(),
        },
        View::Reviews => dashboard.reviews().get(at)?.id.clone(),
    })
}

/// What a row says, for the filter.
pub(super) fn text<'a>(
    loaded: &'a Loaded,
    found: Option<&'a Found>,
    view: View,
    at: usize,
) -> Cow<'a, str> {
    let dashboard = &loaded.dashboard;
    let of_entry = |entry: &Entry| {
        let mut text = format!("{} {}", entry.title, entry.time.as_deref().unwrap_or_default());
        for (key, value) in &entry.fields {
            text.extend([" ", key, " ", value]);
        }
        text
    };
    let text = match view {
        View::Steps | View::Board => dashboard.overview.steps.get(at).map(|step| {
            let actor = step.claimed_by.as_ref().map_or("", |claim| claim.actor.as_str());
            let id = step.id.as_deref().unwrap_or_default();
            let ready = if step.is_ready { " ready" } else { "" };
            format!("{} {id} {} {} {actor}{ready}", step.number, step.title, step.status)
        }),
        View::Graph => node(loaded, at).map(|at| {
            let node = &dashboard.graph.nodes[at];
            let group = node.group.as_deref().unwrap_or_default();
            let ready = if node.is_ready() { " ready" } else { "" };
            let critical = if node.is_critical { " critical" } else { "" };
            format!("{} {} {} {group}{ready}{critical}", node.number, node.title, node.status)
        }),
        View::Timeline => loaded.attempt(at).map(of_entry),
        View::History => entry(loaded, found, at).map(of_entry),
        View::Operations => dashboard.operations.get(at).map(|operation| {
            let (id, files) = (operation.id.as_str(), operation.files.join(" "));
            format!("{id} {} {} {} {files}", operation.actor, operation.kind, operation.message)
        }),
        View::Rules => match rule_row(loaded, at) {
            RuleRow::Setting(nth) => dashboard.state.constraints.settings.get(nth).map(|setting| {
                let value = setting.written.text.as_deref().unwrap_or_default();
                format!("{} {value}", setting.written.name)
            }),
            RuleRow::Directive(nth) => {
                dashboard.state.constraints.directives.get(nth).map(|line| line.text.clone())
            }
            RuleRow::Rule(nth) => {
                dashboard.state.constraints.rules.get(nth).map(|line| line.text.clone())
            }
            RuleRow::Fired(nth) => dashboard.fired_rules().nth(nth).map(|fired| {
                format!("{} {} {}", fired.rule, fired.because.unwrap_or_default(), fired.did)
            }),
        },
        View::Reviews => dashboard
            .reviews()
            .get(at)
            .map(|review| format!("{} {} {}", review.id, review.decision.word(), review.text)),
    };
    Cow::Owned(text.unwrap_or_default())
}

/// Whether a text holds every word of a filter, whatever the case of its letters.
pub(super) fn holds(text: &str, filter: &str) -> bool {
    let text = text.to_lowercase();
    filter.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
}

/// The columns of the board with the steps that the filter left.
pub(super) fn columns(loaded: &Loaded, by_group: bool, visible: &[usize]) -> Vec<Column> {
    let dashboard = &loaded.dashboard;
    let mut columns: Vec<Column> = Vec::new();
    let mut add = |name: &str, step: Option<usize>| {
        let at = columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            columns.push(Column { name: name.to_owned(), steps: Vec::new() });
            columns.len() - 1
        });
        columns[at].steps.extend(step);
    };
    if by_group {
        for group in &dashboard.overview.groups {
            add(&group.name, None);
        }
        for &at in visible {
            let group = dashboard.graph.nodes.get(at).and_then(|node| node.group.as_deref());
            add(group.unwrap_or("no group"), Some(at));
        }
    } else {
        for column in dashboard.columns() {
            add(column.status, None);
        }
        for &at in visible {
            add(&dashboard.overview.steps[at].status, Some(at));
        }
    }
    columns
}
