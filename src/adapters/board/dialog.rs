//! Keys while something covers the view: a prompt, a menu, the filter.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{
    actions::Offer,
    model::{Model, Overlay, View},
    prompt::Prompt,
    source::Request,
    update::{Effect, begin, run},
};

/// The longest filter.
const MOST: usize = 200;

/// A key for a prompt: the command is run, cancelled, or its text edited.
pub(super) fn on_prompt(model: &mut Model, mut prompt: Prompt, key: KeyEvent) -> Vec<Effect> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    let takes_text = prompt.question().is_some();
    match key.code {
        KeyCode::Esc => return Vec::new(),
        KeyCode::Char('n' | 'q') if !takes_text => return Vec::new(),
        KeyCode::Enter => return confirm(model, prompt),
        KeyCode::Char('y') if !takes_text => return confirm(model, prompt),
        KeyCode::Backspace if key.modifiers.contains(KeyModifiers::ALT) => prompt.delete_word(),
        KeyCode::Backspace => prompt.delete_back(),
        KeyCode::Delete => prompt.delete(),
        KeyCode::Left => prompt.step(false),
        KeyCode::Right => prompt.step(true),
        KeyCode::Home => prompt.cursor = 0,
        KeyCode::End => prompt.cursor = prompt.text.len(),
        KeyCode::Char('a') if is_control => prompt.cursor = 0,
        KeyCode::Char('e') if is_control => prompt.cursor = prompt.text.len(),
        KeyCode::Char('u') if is_control => prompt.delete_line(),
        KeyCode::Char('w') if is_control => prompt.delete_word(),
        KeyCode::Char(_) if is_control => {}
        KeyCode::Char(c) => prompt.insert(c.encode_utf8(&mut [0; 4])),
        _ => {}
    }
    model.overlay = Some(Overlay::Prompt(prompt));
    Vec::new()
}

fn confirm(model: &mut Model, mut prompt: Prompt) -> Vec<Effect> {
    match prompt.words() {
        Ok(words) => {
            let revision = prompt.revision.clone();
            model.asked = Some(prompt);
            run(model, words, revision)
        }
        Err(why) => {
            prompt.complaint = Some(why.to_owned());
            model.overlay = Some(Overlay::Prompt(prompt));
            Vec::new()
        }
    }
}

/// A key for a menu: an offer is taken by Enter or by its own key.
pub(super) fn on_menu(
    model: &mut Model,
    title: String,
    offers: Vec<Offer>,
    selected: usize,
    key: KeyEvent,
) -> Vec<Effect> {
    let last = offers.len().saturating_sub(1);
    let selected = match key.code {
        KeyCode::Esc | KeyCode::Char('q') => return Vec::new(),
        KeyCode::Down | KeyCode::Char('j') => (selected + 1).min(last),
        KeyCode::Up | KeyCode::Char('k') => selected.saturating_sub(1),
        KeyCode::Home | KeyCode::Char('g') => 0,
        KeyCode::End | KeyCode::Char('G') => last,
        KeyCode::Enter => match offers.into_iter().nth(selected) {
            Some(offer) => return begin(model, offer),
            None => return Vec::new(),
        },
        KeyCode::Char(c) if offers.iter().any(|offer| offer.key == Some(c)) => {
            let chosen = offers.into_iter().find(|offer| offer.key == Some(c));
            return chosen.map(|offer| begin(model, offer)).unwrap_or_default();
        }
        _ => selected,
    };
    model.overlay = Some(Overlay::Menu { title, offers, selected });
    Vec::new()
}

/// A key for the filter, which applies immediately.
pub(super) fn on_filter(model: &mut Model, before: String, key: KeyEvent) -> Vec<Effect> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    let filter = &mut model.place_mut().filter;
    match key.code {
        KeyCode::Esc => {
            *filter = before;
            filter_changed(model);
            return Vec::new();
        }
        KeyCode::Enter => {
            let needle = filter.clone();
            // The whole history, not only what was read of it.
            let is_search = model.dir.is_some() && model.view == View::History;
            let searches = is_search && !needle.trim().is_empty();
            return searches.then_some(Effect::Ask(Request::Search(needle))).into_iter().collect();
        }
        KeyCode::Backspace => drop(filter.pop()),
        KeyCode::Char('u') if is_control => filter.clear(),
        KeyCode::Char(_) if is_control => {}
        KeyCode::Char(c) if filter.len() < MOST => filter.push(c),
        _ => {}
    }
    filter_changed(model);
    model.overlay = Some(Overlay::Filter { before });
    Vec::new()
}

/// The filter of the current list has changed.
pub(super) fn filter_changed(model: &mut Model) {
    if model.dir.is_some() && model.view == View::History {
        model.found = None;
    }
    model.filter();
}

/// A key for a refusal: scroll it, close it, or try again on the current state.
pub(super) fn on_refusal(
    model: &mut Model,
    title: String,
    lines: Vec<String>,
    scroll: usize,
    key: KeyEvent,
) -> Vec<Effect> {
    if let Some(scroll) = scrolled(scroll, key) {
        model.overlay = Some(Overlay::Refusal { title, lines, scroll });
        return Vec::new();
    }
    let asked = model.asked.take().filter(|_| key.code == KeyCode::Enter);
    if let (Some(mut prompt), Some(loaded)) = (asked, &model.loaded) {
        prompt.revision.clone_from(&loaded.dashboard.overview.revision);
        model.overlay = Some(Overlay::Prompt(prompt));
    }
    Vec::new()
}

/// How far a text is scrolled after a key; `None` closes it.
pub(super) fn scrolled(scroll: usize, key: KeyEvent) -> Option<usize> {
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => Some(scroll + 1),
        KeyCode::Up | KeyCode::Char('k') => Some(scroll.saturating_sub(1)),
        KeyCode::PageDown => Some(scroll + 10),
        KeyCode::PageUp => Some(scroll.saturating_sub(10)),
        _ => None,
    }
}
