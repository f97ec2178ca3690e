//! What can be done with what is selected, as commands of the command line.

use super::{
    model::{Model, View},
    prompt::Prompt,
};
use crate::{
    adapters::offers::{Ask, can_be_taken, plan_command},
    domain::Decision,
    workspace::{StepOverview, step_actions},
};

/// Something that can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    /// The key that does it without a menu.
    pub(super) key: Option<char>,
    pub(super) label: String,
    /// The words of the command.
    pub(super) words: Vec<String>,
    pub(super) ask: Ask,
}

/// An offer of a command, with what that asks.
fn offer(key: Option<char>, label: &str, words: &[&str]) -> Offer {
    let ask = Ask::of(words).unwrap_or(Ask::Whether);
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Offer { key, label: label.to_owned(), words, ask }
}

/// The command that a key stands for, whether or not it will be refused: the answer says why.
pub(super) fn by_key(model: &Model, key: char) -> Option<Offer> {
    let step = model.step().map(|step| step.number.to_string());
    if let Some(number) = &step {
        let verb = match key {
            'c' => Some("start"),
            'd' => Some("done"),
            'f' => Some("fail"),
            's' => Some("skip"),
            'r' => Some("retry"),
            'z' => Some("reset"),
            't' => Some("take"),
            _ => None,
        };
        if let Some(verb) = verb {
            return Some(offer(Some(key), verb, &["step", verb, number]));
        }
    }
    match key {
        'C' => Some(offer(Some(key), "claim the next", &["step", "next", "--claim"])),
        'n' => {
            let about = step.map(|number| format!("step={number}"));
            let mut words = vec!["history", "add"];
            words.extend(about.as_deref());
            Some(offer(Some(key), "note", &words))
        }
        'p' => Some(offer(Some(key), "pause the plan", &["pause"])),
        'P' => Some(offer(Some(key), "resume the plan", &["resume"])),
        'u' => Some(offer(Some(key), "undo", &["undo"])),
        'U' => Some(offer(Some(key), "redo", &["redo"])),
        'o' if model.view == View::Operations => {
            let loaded = model.loaded.as_ref()?;
            let operation = loaded.dashboard.operations.get(model.item()?)?;
            Some(offer(Some(key), "restore", &["restore", operation.id.as_str()]))
        }
        'a' | 'x' if model.view == View::Reviews => {
            let loaded = model.loaded.as_ref()?;
            let reviews = loaded.dashboard.reviews();
            let review = reviews.get(model.item()?)?;
            let verb = if key == 'a' { "approve" } else { "reject" };
            Some(offer(Some(key), verb, &["review", verb, &review.id]))
        }
        _ => None,
    }
}

/// The moves that the lifecycle allows a step.
pub(super) fn moves(model: &Model, step: &StepOverview) -> Vec<Offer> {
    let Some(loaded) = &model.loaded else { return Vec::new() };
    let mut offers = Vec::new();
    for action in step_actions(&loaded.dashboard.workflow, step) {
        let verb = action.words.get(1).map(String::as_str).unwrap_or_default();
        let key = match verb {
            "start" => Some('c'),
            "done" => Some('d'),
            "fail" => Some('f'),
            "skip" => Some('s'),
            "retry" => Some('r'),
            "reset" => Some('z'),
            _ => None,
        };
        let label = format!("{} ({})", action.label.to_lowercase(), action.to);
        let label = if verb == "move" { format!("move to {}", action.to) } else { label };
        let words: Vec<&str> = action.words.iter().map(String::as_str).collect();
        offers.push(offer(key, &label, &words));
    }
    offers
}

/// Everything that can be done now.
pub(super) fn all(model: &Model) -> Vec<Offer> {
    let mut offers = model.step().map(|step| moves(model, step)).unwrap_or_default();
    if model.step().is_some_and(can_be_taken) {
        offers.extend(by_key(model, 't'));
    }
    if model.view == View::Reviews {
        let loaded = model.loaded.as_ref();
        let reviews = loaded.map(|loaded| loaded.dashboard.reviews()).unwrap_or_default();
        let selected = model.item().and_then(|at| reviews.get(at));
        if selected.is_some_and(|review| review.decision == Decision::Open) {
            offers.extend(['a', 'x'].into_iter().filter_map(|key| by_key(model, key)));
        }
    }
    let overview = model.loaded.as_ref().map(|loaded| &loaded.dashboard.overview);
    let plan = overview.and_then(plan_command).map(|word| if word == "pause" { 'p' } else { 'P' });
    let others = ['C', 'o', 'n'].into_iter().chain(plan).chain(['u', 'U']);
    offers.extend(others.filter_map(|key| by_key(model, key)));
    offers
}

/// The prompt for an offer, on the revision that is shown.
pub(super) fn prompt(model: &Model, offer: Offer) -> Option<Prompt> {
    let loaded = model.loaded.as_ref()?;
    let revision = loaded.dashboard.overview.revision.clone();
    let mut about = Vec::new();
    if offer.words == ["undo"] {
        let newest = loaded.dashboard.operations.first();
        about.extend(newest.map(|operation| {
            format!("the newest operation is {}: {}", operation.actor, operation.message)
        }));
    }
    Some(Prompt::new(offer, revision, about))
}
