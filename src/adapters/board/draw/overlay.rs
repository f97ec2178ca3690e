//! What covers the view: help, a prompt, a menu, a refusal.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use crate::adapters::board::{
    actions::Offer,
    model::{Model, Overlay},
    prompt::{Prompt, literal},
    text::columns,
    theme::Theme,
};

/// How wide a box is at most.
const WIDEST: u16 = 100;

/// The keys, by subject.
const KEYS: [(&str, &[(&str, &str)]); 4] = [
    (
        "Moving",
        &[
            ("j k  arrows", "next, previous"),
            ("g G  Home End", "first, last"),
            ("Ctrl-d Ctrl-u  PageDown PageUp", "by half a page, by a page"),
            ("h l  arrows", "list, detail; on the board, columns"),
            ("J K", "scroll the detail"),
            ("Tab  1 to 8", "the next view, a view"),
            ("Enter  Esc", "into, back"),
            ("/", "filter; in History, Enter searches all of it"),
            ("b", "on the board: by status or by group"),
            ("mouse", "a click selects, the wheel scrolls"),
        ],
    ),
    (
        "Steps",
        &[
            ("c", "claim it: statedir step start N"),
            ("C", "claim the next: statedir step next --claim"),
            ("d f s", "done, fail, skip: statedir step done N …"),
            ("r z", "retry, reset: statedir step retry N …"),
            ("m", "move it to a status that the lifecycle allows"),
            ("t", "take it over: statedir step take N"),
            ("n", "note: statedir history add TEXT step=N"),
            ("e", "edit plan.md at the step in $EDITOR"),
        ],
    ),
    (
        "The plan",
        &[
            ("a x", "approve, reject: statedir review approve r1 …"),
            ("p P", "pause, resume: statedir pause --why TEXT"),
            ("u U", "undo, redo: statedir undo, statedir redo"),
            ("o", "in Operations: statedir restore ID"),
            ("Space", "everything that can be done now"),
        ],
    ),
    ("The board", &[("?", "this help"), ("Ctrl-z", "suspend"), ("q  Ctrl-c", "quit")]),
];

/// Draws the overlay; answers where the cursor is.
pub(super) fn draw(model: &Model, theme: Theme, buffer: &mut Buffer) -> Option<(u16, u16)> {
    match model.overlay.as_ref()? {
        Overlay::Filter { .. } => None,
        Overlay::Help { scroll } => {
            help(theme, *scroll, buffer);
            None
        }
        Overlay::Prompt(prompt) => ask(model, theme, prompt, buffer),
        Overlay::Menu { title, offers, selected } => {
            menu(model, theme, title, offers, *selected, buffer);
            None
        }
        Overlay::Refusal { title, lines, scroll } => {
            let width = inner_width(buffer);
            let mut shown: Vec<Line<'_>> = Vec::new();
            for (nth, line) in lines.iter().enumerate() {
                let style = if nth == 0 { theme.warning() } else { Style::new() };
                let broken = theme.charset.wrap(line, width);
                shown.extend(broken.into_iter().map(|line| Line::styled(line, style)));
            }
            shown.push(Line::default());
            let keys = match model.asked.is_some() {
                true => "Enter tries again on the state as it is now, Esc closes",
                false => "Esc closes",
            };
            shown.push(Line::styled(keys, theme.quiet()));
            framed(theme, title, &shown, *scroll, buffer);
            None
        }
    }
}

fn inner_width(buffer: &Buffer) -> usize {
    usize::from(buffer.area.width.saturating_sub(8).min(WIDEST))
}

fn help(theme: Theme, scroll: usize, buffer: &mut Buffer) {
    let mut lines = Vec::new();
    for (subject, keys) in KEYS {
        lines.push(Line::styled(subject, theme.title()));
        for (key, what) in keys {
            lines.push(Line::from(vec![
                Span::styled(format!("  {key:<31}"), theme.label()),
                Span::raw(theme.charset.line(what, inner_width(buffer).saturating_sub(33))),
            ]));
        }
    }
    lines.push(Line::default());
    let note = "Each command is shown as it is run, with the revision that was on the screen: if \
                somebody has changed the state meanwhile, nothing is done and the board says what \
                happened.";
    lines.extend(theme.charset.wrap(note, inner_width(buffer)).into_iter().map(Line::raw));
    framed(theme, "Keys (j and k scroll, Esc closes)", &lines, scroll, buffer);
}

fn ask(model: &Model, theme: Theme, prompt: &Prompt, buffer: &mut Buffer) -> Option<(u16, u16)> {
    let width = inner_width(buffer);
    let named = directory(model);
    let mut lines: Vec<Line<'_>> = Vec::new();
    for about in &prompt.about {
        let broken = theme.charset.wrap(about, width);
        lines.extend(broken.into_iter().take(3).map(|line| Line::styled(line, theme.quiet())));
    }
    let command = format!("$ {}", prompt.command(named.as_deref()));
    let broken = theme.charset.wrap(&command, width);
    lines.extend(broken.into_iter().take(8).map(|line| Line::styled(line, theme.title())));
    lines.push(Line::default());
    let mut field = None;
    if let Some(question) = prompt.question() {
        lines.push(Line::styled(question, theme.label()));
        // The part around the cursor.
        let before = theme.charset.clean(&prompt.text[..prompt.cursor]);
        let mut start = 0;
        while columns(&before[start..]) >= width {
            start += before[start..].chars().next().map_or(1, char::len_utf8);
        }
        let shown =
            format!("{}{}", &before[start..], theme.charset.clean(&prompt.text[prompt.cursor..]));
        field = Some((lines.len(), columns(&before[start..])));
        lines.push(Line::styled(theme.charset.cell(&shown, width), theme.selected(false)));
    }
    if let Some(complaint) = &prompt.complaint {
        lines.push(Line::styled(complaint.clone(), theme.warning()));
    }
    let keys = match prompt.question() {
        Some(_) => "Enter runs it, Esc cancels",
        None => "Enter or y runs it, Esc or n cancels",
    };
    lines.push(Line::styled(keys, theme.quiet()));
    let area = framed(theme, &prompt.offer.label, &lines, 0, buffer);
    field.map(|(row, column)| (area.x + column as u16, area.y + row as u16))
}

/// The directory that commands name, if they have to.
fn directory(model: &Model) -> Option<String> {
    let dir = model.dir.as_ref().filter(|_| model.settings.names_directory)?;
    Some(dir.display().to_string())
}

fn menu(
    model: &Model,
    theme: Theme,
    title: &str,
    offers: &[Offer],
    selected: usize,
    buffer: &mut Buffer,
) {
    let width = inner_width(buffer);
    let named = directory(model);
    let overview = model.loaded.as_ref().map(|loaded| &loaded.dashboard.overview);
    let revision = overview.map_or("", |overview| overview.revision.as_str());
    let mut lines = Vec::new();
    for (nth, offer) in offers.iter().enumerate() {
        let key = offer.key.map_or(' ', |key| key);
        let start = format!("{key} {} ", theme.charset.cell(&offer.label, 24));
        let command = literal(&offer.words, revision, named.as_deref());
        let room = width.saturating_sub(columns(&start));
        let style = if nth == selected { theme.selected(true) } else { Style::new() };
        let line = format!("{start}{}", theme.charset.cell(&command, room));
        lines.push(Line::styled(line, style));
    }
    let height = usize::from(buffer.area.height).saturating_sub(6);
    let scroll = (selected + 1).saturating_sub(height);
    framed(theme, title, &lines, scroll, buffer);
}

/// A box in the middle with lines in it; answers where the lines are.
fn framed(
    theme: Theme,
    title: &str,
    lines: &[Line<'_>],
    scroll: usize,
    buffer: &mut Buffer,
) -> Rect {
    let screen = buffer.area;
    let width = inner_width(buffer) as u16;
    let height = (lines.len() as u16).min(screen.height.saturating_sub(4));
    let area = Rect::new(
        screen.x + (screen.width - width) / 2,
        screen.y + (screen.height - height) / 2,
        width,
        height,
    );
    let outer = Rect::new(area.x - 2, area.y - 1, area.width + 4, area.height + 2);
    let blank = " ".repeat(outer.width.into());
    for y in outer.y..outer.bottom() {
        buffer.set_string(outer.x, y, &blank, Style::reset());
    }
    let across = theme.horizontal();
    let corners = theme.charset.choose(["╭", "╮", "╰", "╯"], ["+"; 4]);
    let inner = usize::from(outer.width) - 2;
    let title = theme.charset.line(title, inner.saturating_sub(4));
    let rest = across.repeat(inner - 3 - columns(&title));
    let top = format!("{}{across} {title} {rest}{}", corners[0], corners[1]);
    let bottom = format!("{}{}{}", corners[2], across.repeat(inner), corners[3]);
    buffer.set_string(outer.x, outer.y, top, theme.title());
    buffer.set_string(outer.x, outer.bottom() - 1, bottom, theme.title());
    for y in outer.y + 1..outer.bottom() - 1 {
        buffer.set_string(outer.x, y, theme.vertical(), theme.title());
        buffer.set_string(outer.right() - 1, y, theme.vertical(), theme.title());
    }
    let from = scroll.min(lines.len().saturating_sub(height.into()));
    super::put(buffer, area, lines.iter().skip(from));
    area
}
