//! How keys, clicks and news change what is shown.

use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Position;

use super::{
    actions::{self, Offer},
    dialog, layout,
    model::{Focus, Message, Model, Overlay, View},
    source::{News, Request},
};
use crate::adapters::{cli::in_process::CommandAnswer, offers::Ask};

/// What is to be done besides drawing anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Something is to be read or run.
    Ask(Request),
    /// A file is to be edited.
    Edit { path: std::path::PathBuf, line: usize },
    /// The terminal is given back until the user returns.
    Suspend,
}

/// Answers a key, a click, or a new size.
pub(super) fn update(model: &mut Model, event: Event) -> Vec<Effect> {
    let effects = match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => on_key(model, key),
        Event::Paste(text) => {
            paste(model, &text);
            Vec::new()
        }
        Event::Mouse(mouse) => on_mouse(model, mouse),
        Event::Resize(width, height) => {
            model.size = (width, height);
            Vec::new()
        }
        _ => Vec::new(),
    };
    keep_in_view(model, effects)
}

/// Takes what was read or what a command answered.
pub(super) fn on_news(model: &mut Model, news: News) -> Vec<Effect> {
    let mut effects = Vec::new();
    match news {
        News::States(states) => {
            model.states = states;
            if model.dir.is_none() {
                model.filter();
            }
        }
        News::Loaded(loaded) => {
            if model.dir.as_ref() == Some(&loaded.dir) {
                note_news(model, &loaded.dashboard.operations);
                model.take(loaded);
            }
        }
        News::Unread { dir, why } => {
            if model.dir.as_ref() == Some(&dir) {
                model.trouble = Some(why);
            }
        }
        News::Ran { command, answer } => show_result(model, &command, &answer),
        News::Found(Ok(found)) => {
            // A search that was given up meanwhile.
            if model.places[View::History as usize].filter == found.needle {
                model.found = Some(found);
                model.take_found();
            }
        }
        News::Found(Err(why)) | News::Failed(why) => {
            model.message = Some(Message { is_refusal: true, text: why });
        }
        News::Compared { id, lines } => {
            // A few are enough: going back and forth.
            if model.differences.len() > 64 {
                model.differences.clear();
            }
            model.differences.insert(id, lines);
        }
        News::Located { path, line } => effects.push(Effect::Edit { path, line }),
    }
    keep_in_view(model, effects)
}

/// Says what somebody else has done meanwhile.
fn note_news(model: &mut Model, operations: &[crate::store::OperationSummary]) {
    let known = model.loaded.as_ref().and_then(|loaded| loaded.dashboard.operations.first());
    let (Some(known), Some(newest)) = (known, operations.first()) else { return };
    let is_ours = newest.command.starts_with("board: ");
    if known.id != newest.id && !is_ours && model.overlay.is_none() {
        let what = newest.message.lines().next().unwrap_or(&newest.kind);
        let text = format!("{}: {what}", newest.actor);
        model.message = Some(Message { is_refusal: false, text });
    }
}

/// Shows the result of a command.
fn show_result(model: &mut Model, command: &str, answer: &CommandAnswer) {
    model.running = None;
    if answer.exit == 0 {
        let document = &answer.document;
        let message = ["message", "text"].iter().find_map(|key| document[*key].as_str());
        let done = message.and_then(|text| text.lines().next()).unwrap_or("done");
        let text = match model.settings.is_dry_run {
            true => format!("dry run, nothing was changed: {command}"),
            false => format!("$ {command}: {done}"),
        };
        model.message = Some(Message { is_refusal: false, text });
        model.asked = None;
        return;
    }
    let mut lines = answer.reasons();
    lines.push(format!("$ {command}"));
    let title = match answer.exit {
        3 => "The state has changed meanwhile: nothing was done",
        _ => "Nothing was changed",
    };
    model.overlay = Some(Overlay::Refusal { title: title.to_owned(), lines, scroll: 0 });
}

/// What follows from every change of the model: the selected row is on the screen, and what the
/// detail needs is asked for.
fn keep_in_view(model: &mut Model, mut effects: Vec<Effect>) -> Vec<Effect> {
    let height = usize::from(layout::areas(model).list.height);
    if model.dir.is_some() && model.view == View::Board {
        // Columns have a title of their own.
        let rows = model.columns.get(model.column).map_or(0, |column| column.steps.len());
        let place = model.place_mut();
        let fit = height.saturating_sub(1).max(1);
        place.top = place.top.min(place.selected).max((place.selected + 1).saturating_sub(fit));
        place.top = place.top.min(rows.saturating_sub(1));
    } else {
        model.place_mut().follow(height.max(1));
    }
    if let Some((from, to)) = wanted_difference(model) {
        effects.push(Effect::Ask(Request::Compare { from, to }));
    }
    effects
}

/// The operation whose difference is shown and not known yet.
fn wanted_difference(model: &mut Model) -> Option<(String, String)> {
    if model.dir.is_none() || model.view != View::Operations {
        return None;
    }
    let loaded = model.loaded.clone()?;
    let operation = loaded.dashboard.operations.get(model.item()?)?;
    let id = operation.id.as_str().to_owned();
    if model.differences.contains_key(&id) {
        return None;
    }
    // Asked for once.
    model.differences.insert(id.clone(), vec!["reading …".to_owned()]);
    Some((operation.parent.as_str().to_owned(), id))
}

fn on_key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    if is_control && key.code == KeyCode::Char('c') {
        model.is_over = true;
        return Vec::new();
    }
    if is_control && key.code == KeyCode::Char('z') {
        return vec![Effect::Suspend];
    }
    match model.overlay.take() {
        Some(Overlay::Prompt(prompt)) => dialog::on_prompt(model, prompt, key),
        Some(Overlay::Filter { before }) => dialog::on_filter(model, before, key),
        Some(Overlay::Menu { title, offers, selected }) => {
            dialog::on_menu(model, title, offers, selected, key)
        }
        Some(Overlay::Help { scroll }) => {
            if let Some(scroll) = dialog::scrolled(scroll, key) {
                model.overlay = Some(Overlay::Help { scroll });
            }
            Vec::new()
        }
        Some(Overlay::Refusal { title, lines, scroll }) => {
            dialog::on_refusal(model, title, lines, scroll, key)
        }
        None => on_plain_key(model, key, is_control),
    }
}

fn on_plain_key(model: &mut Model, key: KeyEvent, is_control: bool) -> Vec<Effect> {
    model.message = None;
    let page = usize::from(layout::areas(model).list.height.max(2)) - 1;
    match key.code {
        KeyCode::Char('d') if is_control => move_selection(model, Go::Down(page / 2)),
        KeyCode::Char('u') if is_control => move_selection(model, Go::Up(page / 2)),
        KeyCode::Char('f') if is_control => move_selection(model, Go::Down(page)),
        KeyCode::Char('b') if is_control => move_selection(model, Go::Up(page)),
        KeyCode::Char('l') if is_control => {}
        KeyCode::Char(_) if is_control => {}
        KeyCode::PageDown => move_selection(model, Go::Down(page)),
        KeyCode::PageUp => move_selection(model, Go::Up(page)),
        KeyCode::Down | KeyCode::Char('j') => move_selection(model, Go::Down(1)),
        KeyCode::Up | KeyCode::Char('k') => move_selection(model, Go::Up(1)),
        KeyCode::Home | KeyCode::Char('g') => move_selection(model, Go::First),
        KeyCode::End | KeyCode::Char('G') => move_selection(model, Go::Last),
        KeyCode::Char('J') => scroll_detail(model, 1),
        KeyCode::Char('K') => scroll_detail(model, -1),
        KeyCode::Left | KeyCode::Char('h') => sideways(model, false),
        KeyCode::Right | KeyCode::Char('l') => sideways(model, true),
        KeyCode::Tab => turn_view(model, 1),
        KeyCode::BackTab => turn_view(model, View::ALL.len() - 1),
        KeyCode::Char('?') | KeyCode::F(1) => model.overlay = Some(Overlay::Help { scroll: 0 }),
        KeyCode::Char('/') => {
            model.overlay = Some(Overlay::Filter { before: model.place().filter.clone() });
        }
        KeyCode::Char('q') => model.is_over = true,
        KeyCode::Esc | KeyCode::Backspace => return back(model),
        KeyCode::Enter => return enter(model),
        KeyCode::Char(digit @ '1'..='8') if model.dir.is_some() => {
            let nth = digit as usize - '1' as usize;
            show_view(model, View::ALL[nth]);
        }
        KeyCode::Char('b') if model.dir.is_some() && model.view == View::Board => {
            model.by_group = !model.by_group;
            model.filter();
        }
        KeyCode::Char(c) if model.dir.is_some() => return on_command_key(model, c),
        _ => {}
    }
    Vec::new()
}

/// Keys that stand for commands.
fn on_command_key(model: &mut Model, key: char) -> Vec<Effect> {
    match key {
        ' ' | ':' => {
            let offers = actions::all(model);
            open_menu(model, "What can be done".to_owned(), offers);
            return Vec::new();
        }
        'm' => {
            let Some(step) = model.step() else { return Vec::new() };
            let title = format!("Move step {}", step.number);
            let offers = actions::moves(model, step);
            open_menu(model, title, offers);
            return Vec::new();
        }
        'e' => {
            let number = model.step().map(|step| step.number);
            let effect = number.map(|number| Effect::Ask(Request::Locate(number)));
            return effect.filter(|_| may_change(model)).into_iter().collect();
        }
        'a' | 'x' if model.view != View::Reviews => {
            show_view(model, View::Reviews);
            let text = "select a review, then a approves and x rejects".to_owned();
            model.message = Some(Message { is_refusal: false, text });
            return Vec::new();
        }
        _ => {}
    }
    match actions::by_key(model, key) {
        Some(offer) => begin(model, offer),
        None => Vec::new(),
    }
}

fn open_menu(model: &mut Model, title: String, offers: Vec<Offer>) {
    if offers.is_empty() {
        let text = "nothing can be done with it now".to_owned();
        model.message = Some(Message { is_refusal: true, text });
    } else {
        model.overlay = Some(Overlay::Menu { title, offers, selected: 0 });
    }
}

/// Whether changes may be made; shows a notice if not.
fn may_change(model: &mut Model) -> bool {
    if model.settings.is_read_only {
        let text = "this board is read-only".to_owned();
        model.message = Some(Message { is_refusal: true, text });
    }
    !model.settings.is_read_only
}

/// Runs a command, or asks first.
pub(super) fn begin(model: &mut Model, offer: Offer) -> Vec<Effect> {
    if !may_change(model) {
        return Vec::new();
    }
    let is_asked = offer.ask != Ask::Nothing;
    let Some(prompt) = actions::prompt(model, offer) else { return Vec::new() };
    model.asked = None;
    if is_asked {
        model.overlay = Some(Overlay::Prompt(prompt));
        return Vec::new();
    }
    run(model, prompt.offer.words, prompt.revision)
}

/// Runs a command on the revision that was shown.
pub(super) fn run(model: &mut Model, words: Vec<String>, revision: String) -> Vec<Effect> {
    model.running = Some(words.join(" "));
    vec![Effect::Ask(Request::Run { words, revision })]
}

/// A movement in a list.
#[derive(Clone, Copy)]
enum Go {
    Up(usize),
    Down(usize),
    First,
    Last,
}

fn move_selection(model: &mut Model, go: Go) {
    if model.focus == Focus::Detail && model.dir.is_some() {
        let place = model.place_mut();
        place.scroll = match go {
            Go::Up(by) => place.scroll.saturating_sub(by),
            Go::Down(by) => place.scroll.saturating_add(by),
            Go::First => 0,
            Go::Last => usize::MAX / 2,
        };
        return;
    }
    let row = match go {
        Go::Up(by) => model.place().selected.saturating_sub(by),
        Go::Down(by) => model.place().selected.saturating_add(by),
        Go::First => 0,
        Go::Last => usize::MAX / 2,
    };
    if model.dir.is_some() && model.view == View::Board {
        model.select_card(model.column, row);
    } else {
        model.place_mut().select(row);
    }
}

fn scroll_detail(model: &mut Model, by: isize) {
    let place = model.place_mut();
    place.scroll = place.scroll.saturating_add_signed(by);
}

fn sideways(model: &mut Model, right: bool) {
    if model.dir.is_some() && model.view == View::Board && model.focus == Focus::List {
        let column = match right {
            true => model.column + 1,
            false => model.column.saturating_sub(1),
        };
        let row = model.place().selected;
        model.select_card(column, row);
        return;
    }
    model.focus = if right { Focus::Detail } else { Focus::List };
}

fn turn_view(model: &mut Model, by: usize) {
    if model.dir.is_some() {
        let next = (model.view as usize + by) % View::ALL.len();
        show_view(model, View::ALL[next]);
    }
}

fn show_view(model: &mut Model, view: View) {
    model.view = view;
    model.focus = Focus::List;
}

/// Goes into what is selected.
fn enter(model: &mut Model) -> Vec<Effect> {
    if model.dir.is_none() {
        let chosen = model.states_place.item().and_then(|at| model.states.get(at));
        let Some(dir) = chosen.map(|state| state.dir.clone()) else { return Vec::new() };
        model.open(dir.clone());
        return vec![Effect::Ask(Request::Open(dir))];
    }
    match model.view {
        View::Board | View::Graph | View::Timeline => {
            if let Some(number) = model.step().map(|step| step.number) {
                model.show_step(number);
                model.focus = Focus::Detail;
            }
        }
        _ => {
            model.focus = match model.focus {
                Focus::List => Focus::Detail,
                Focus::Detail => Focus::List,
            };
        }
    }
    Vec::new()
}

/// Goes back by one: from the detail, from a filter, from a state.
fn back(model: &mut Model) -> Vec<Effect> {
    if model.focus == Focus::Detail {
        model.focus = Focus::List;
    } else if !model.place().filter.is_empty() {
        model.place_mut().filter.clear();
        dialog::filter_changed(model);
    } else if model.dir.is_some() && model.root.is_some() {
        model.dir = None;
        model.message = None;
        return vec![Effect::Ask(Request::States)];
    }
    Vec::new()
}

fn paste(model: &mut Model, text: &str) {
    match &mut model.overlay {
        Some(Overlay::Prompt(prompt)) => prompt.insert(text),
        Some(Overlay::Filter { .. }) => {
            let line: String = text.chars().filter(|c| !c.is_control()).take(200).collect();
            model.place_mut().filter.push_str(&line);
            dialog::filter_changed(model);
        }
        _ => {}
    }
}

fn on_mouse(model: &mut Model, mouse: MouseEvent) -> Vec<Effect> {
    let at = Position::new(mouse.column, mouse.row);
    let areas = layout::areas(model);
    let down = match mouse.kind {
        MouseEventKind::ScrollDown => true,
        MouseEventKind::ScrollUp => false,
        MouseEventKind::Down(MouseButton::Left) => {
            click(model, at);
            return Vec::new();
        }
        _ => return Vec::new(),
    };
    match &mut model.overlay {
        Some(Overlay::Help { scroll } | Overlay::Refusal { scroll, .. }) => {
            *scroll = if down { *scroll + 3 } else { scroll.saturating_sub(3) };
            return Vec::new();
        }
        Some(_) => return Vec::new(),
        None => {}
    }
    if areas.detail.contains(at) {
        scroll_detail(model, if down { 3 } else { -3 });
    } else {
        model.focus = Focus::List;
        move_selection(model, if down { Go::Down(3) } else { Go::Up(3) });
    }
    Vec::new()
}

fn click(model: &mut Model, at: Position) {
    if model.overlay.is_some() {
        return;
    }
    model.message = None;
    let areas = layout::areas(model);
    if areas.tabs.contains(at) && model.dir.is_some() {
        let hit = |(_, text, start): &(View, String, u16)| {
            (*start..start + text.len() as u16).contains(&at.x)
        };
        if let Some((view, ..)) = layout::tabs(model).into_iter().find(hit) {
            show_view(model, view);
        }
    } else if areas.list.contains(at) {
        model.focus = Focus::List;
        let row = usize::from(at.y - areas.list.y);
        if model.dir.is_some() && model.view == View::Board {
            let (first, columns) = layout::columns(model, areas.list);
            let Some(nth) = columns.iter().position(|area| area.contains(at)) else { return };
            let column = first + nth;
            let top = if column == model.column { model.place().top } else { 0 };
            let rows = model.columns.get(column).map_or(0, |column| column.steps.len());
            if row > 0 && top + row - 1 < rows {
                model.select_card(column, top + row - 1);
            }
            return;
        }
        let place = model.place_mut();
        if place.top + row < place.visible.len() {
            place.select(place.top + row);
        }
    } else if areas.detail.contains(at) {
        model.focus = Focus::Detail;
    }
}
