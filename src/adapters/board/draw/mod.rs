//! Draws a model as a frame.

mod detail;
mod overlay;
mod rows;

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use super::{
    layout::{self, Areas, SMALLEST},
    lists,
    model::{Focus, Model, Overlay, View},
    text::columns,
    theme::Theme,
};

/// Draws everything; answers where the cursor is, if text is being typed.
pub(super) fn draw(model: &Model, buffer: &mut Buffer) -> Option<(u16, u16)> {
    let theme = Theme::new(&model.settings);
    let area = buffer.area;
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let (width, height) = SMALLEST;
        let lines = [
            format!("the board needs {width}x{height}"),
            format!("this terminal has {}x{}", area.width, area.height),
            "make it larger, or q".to_owned(),
        ];
        for (line, y) in lines.iter().zip(area.y..area.bottom()) {
            buffer.set_stringn(0, y, line, area.width.into(), Style::new());
        }
        return None;
    }
    let areas = layout::areas(model);
    header(model, theme, areas.header, buffer);
    tabs(model, theme, areas.tabs, buffer);
    match (&model.dir, &model.loaded) {
        (None, _) => states(model, theme, &areas, buffer),
        (Some(_), Some(_)) => {
            list(model, theme, &areas, buffer);
            border(model, theme, areas.border, buffer);
            let lines = detail::lines(model, theme, areas.detail.width.into());
            let most = lines.len().saturating_sub(areas.detail.height.into());
            let from = model.place().scroll.min(most);
            put(buffer, areas.detail, lines.iter().skip(from));
        }
        (Some(_), None) => {}
    }
    if let Some(why) = &model.trouble {
        trouble(model, theme, why, &areas, buffer);
    }
    let cursor = footer(model, theme, areas.footer, buffer);
    overlay::draw(model, theme, buffer).or(cursor)
}

/// Puts lines one under the other, as many as fit.
fn put<'l>(buffer: &mut Buffer, area: Rect, lines: impl Iterator<Item = &'l Line<'l>>) {
    for (line, y) in lines.zip(area.y..area.bottom()) {
        buffer.set_line(area.x, y, line, area.width);
    }
}

fn header(model: &Model, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let charset = theme.charset;
    let Some(loaded) = model.loaded.as_ref().filter(|_| model.dir.is_some()) else {
        let text = match (&model.root, &model.dir) {
            (Some(root), None) => format!("States below {}", root.display()),
            _ => "reading …".to_owned(),
        };
        let text = charset.line(&text, area.width.into());
        buffer.set_stringn(area.x, area.y, text, area.width.into(), theme.title());
        return;
    };
    let overview = &loaded.dashboard.overview;
    let counts = &overview.counts;
    let mut right: Vec<Span<'_>> = vec![
        Span::styled(charset.line(&overview.status, 24), theme.title()),
        Span::raw(" "),
        Span::styled(
            theme.bar(counts.percent() as usize / 10, 10),
            theme.role(Some(crate::domain::StepRole::Done)),
        ),
        Span::raw(format!(" {}/{}", counts.finished(), counts.total)),
    ];
    let numbers = [
        (counts.running, "running", theme.role(Some(crate::domain::StepRole::Active))),
        (counts.failed, "failed", theme.warning()),
        (overview.problems.len(), "problems", theme.warning()),
    ];
    for (count, what, style) in numbers {
        if count > 0 {
            right.push(Span::styled(format!(" {count} {what}"), style));
        }
    }
    for (is_set, what) in
        [(model.settings.is_read_only, " read-only"), (model.settings.is_dry_run, " dry-run")]
    {
        if is_set {
            right.push(Span::styled(what, theme.notice()));
        }
    }
    let right = Line::from(right);
    let room = usize::from(area.width).saturating_sub(right.width() + 2);
    let title = charset.line(&overview.title, room);
    buffer.set_stringn(area.x, area.y, title, room, theme.title());
    let at = area.right().saturating_sub(right.width() as u16);
    buffer.set_line(at, area.y, &right, right.width() as u16);
}

fn tabs(model: &Model, theme: Theme, area: Rect, buffer: &mut Buffer) {
    if model.dir.is_none() {
        return;
    }
    for (view, text, at) in layout::tabs(model) {
        let style = match view == model.view {
            true => theme.selected(true),
            false if view == View::Reviews && text.ends_with(')') => theme.notice(),
            false => theme.quiet(),
        };
        buffer.set_stringn(area.x + at, area.y, text, area.width.saturating_sub(at).into(), style);
    }
}

/// The rows of the list that are on the screen, and nothing else of it.
fn list(model: &Model, theme: Theme, areas: &Areas, buffer: &mut Buffer) {
    let place = model.place();
    if model.view == View::Board {
        heading(model, theme, "", areas.heading, buffer);
        return board(model, theme, areas.list, buffer);
    }
    heading(model, theme, &rows::heading(model, areas.list.width.into()), areas.heading, buffer);
    if place.visible.is_empty() {
        let text = match place.filter.is_empty() {
            true => rows::nothing(model.view).to_owned(),
            false => format!("nothing matches `{}`", place.filter),
        };
        let text = theme.charset.line(&text, areas.list.width.into());
        buffer.set_stringn(
            areas.list.x,
            areas.list.y,
            text,
            areas.list.width.into(),
            theme.quiet(),
        );
        return;
    }
    let drawn = rows::Rows::new(model, theme, areas.list.width.into());
    for (row, y) in (place.top..place.visible.len()).zip(areas.list.y..areas.list.bottom()) {
        let line = drawn.line(place.visible[row]);
        buffer.set_line(areas.list.x, y, &line, areas.list.width);
        if row == place.selected {
            let whole = Rect { y, height: 1, ..areas.list };
            buffer.set_style(whole, theme.selected(model.focus == Focus::List));
        }
    }
}

/// What the columns are, with the filter and how much of the list is shown.
fn heading(model: &Model, theme: Theme, text: &str, area: Rect, buffer: &mut Buffer) {
    let place = model.place();
    let total = match (&model.loaded, model.dir.is_some()) {
        (Some(loaded), true) => lists::count(loaded, model.found.as_ref(), model.view),
        _ => model.states.len(),
    };
    let mut right = match place.visible.len() {
        shown if shown < total => format!("{shown} of {total}"),
        _ => total.to_string(),
    };
    if !place.filter.is_empty() {
        right = format!("/{}  {right}", theme.charset.line(&place.filter, 30));
    }
    let found = model.found.as_ref().filter(|_| model.view == View::History && model.dir.is_some());
    if let Some(found) = found {
        right = format!("{right}, {} in the whole history", found.total);
    }
    if model.view == View::Board && model.dir.is_some() {
        right = format!("by {} (b)  {right}", if model.by_group { "group" } else { "status" });
    }
    let room = usize::from(area.width).saturating_sub(columns(&right) + 1);
    let left = theme.charset.cell(text, room);
    buffer.set_stringn(area.x, area.y, format!("{left} {right}"), area.width.into(), theme.quiet());
}

fn board(model: &Model, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let (first, parts) = layout::columns(model, area);
    let Some(loaded) = &model.loaded else { return };
    for (nth, part) in parts.iter().enumerate() {
        let number = first + nth;
        let Some(column) = model.columns.get(number) else { break };
        let width = usize::from(part.width).saturating_sub(1);
        let is_own = number == model.column;
        let role = loaded.dashboard.workflow.step_role(&column.name);
        let mut title = theme.charset.line(&column.name, width.saturating_sub(6));
        title = format!("{title} {}", column.steps.len());
        let style = if is_own { theme.title() } else { theme.quiet() };
        let style = if model.by_group { style } else { style.patch(theme.role(role)) };
        buffer.set_stringn(part.x, part.y, theme.charset.cell(&title, width), width, style);
        let top = if is_own { model.place().top } else { 0 };
        let rows = (top..column.steps.len()).zip(part.y + 1..part.bottom());
        for (row, y) in rows {
            let step = &loaded.dashboard.overview.steps[column.steps[row]];
            let line = rows::card(theme, step, width, model.by_group);
            buffer.set_line(part.x, y, &line, part.width);
            if is_own && row == model.place().selected {
                let whole = Rect { y, height: 1, width: width as u16, ..*part };
                buffer.set_style(whole, theme.selected(model.focus == Focus::List));
            }
        }
        let below = column.steps.len().saturating_sub(top + usize::from(part.height) - 1);
        if below > 0 {
            let text = format!("{below} more");
            buffer.set_stringn(
                part.x,
                part.bottom() - 1,
                theme.charset.cell(&text, width),
                width,
                theme.quiet(),
            );
        }
    }
    let hidden = model.columns.len().saturating_sub(first + parts.len());
    if hidden > 0 || first > 0 {
        let (left, right) = theme.charset.choose(("◀", "▶"), ("<", ">"));
        if first > 0 {
            buffer.set_string(area.x, area.y, left, theme.notice());
        }
        if hidden > 0 {
            buffer.set_string(area.right() - 1, area.y, right, theme.notice());
        }
    }
}

fn states(model: &Model, theme: Theme, areas: &Areas, buffer: &mut Buffer) {
    let width = usize::from(areas.list.width);
    heading(model, theme, &rows::states_heading(width), areas.heading, buffer);
    let place = &model.states_place;
    if place.visible.is_empty() {
        let text = match place.filter.is_empty() {
            true => "there is no state here yet: statedir init --goal '…'",
            false => "no state matches",
        };
        buffer.set_stringn(
            areas.list.x,
            areas.list.y,
            theme.charset.line(text, width),
            width,
            theme.quiet(),
        );
    }
    for (row, y) in (place.top..place.visible.len()).zip(areas.list.y..areas.list.bottom()) {
        let line = rows::state(theme, &model.states[place.visible[row]], width);
        buffer.set_line(areas.list.x, y, &line, areas.list.width);
        if row == place.selected {
            buffer.set_style(Rect { y, height: 1, ..areas.list }, theme.selected(true));
        }
    }
}

fn border(model: &Model, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let style = match model.focus {
        Focus::Detail => theme.title(),
        Focus::List => theme.quiet(),
    };
    if area.height == 1 {
        buffer.set_string(area.x, area.y, theme.horizontal().repeat(area.width.into()), style);
        return;
    }
    for y in area.y..area.bottom() {
        buffer.set_string(area.x, y, theme.vertical(), style);
    }
}

fn trouble(model: &Model, theme: Theme, why: &str, areas: &Areas, buffer: &mut Buffer) {
    let area = match model.loaded {
        Some(_) => areas.detail,
        None => areas.list,
    };
    let mut lines = vec![Line::styled("the state cannot be read now:", theme.warning())];
    lines.extend(theme.charset.wrap(why, area.width.into()).into_iter().map(Line::raw));
    for y in area.y..area.bottom() {
        buffer.set_string(area.x, y, " ".repeat(area.width.into()), Style::new());
    }
    put(buffer, area, lines.iter());
}

/// The filter that is typed, else what has just happened, else the keys.
fn footer(model: &Model, theme: Theme, area: Rect, buffer: &mut Buffer) -> Option<(u16, u16)> {
    let width = usize::from(area.width);
    if matches!(model.overlay, Some(Overlay::Filter { .. })) {
        let text = theme.charset.line(&format!("/{}", model.place().filter), width - 1);
        buffer.set_stringn(area.x, area.y, &text, width, theme.title());
        return Some((area.x + columns(&text) as u16, area.y));
    }
    let (text, style) = match (&model.running, &model.message) {
        (Some(words), _) => (format!("running: statedir {words} …"), theme.notice()),
        (None, Some(message)) if message.is_refusal => (message.text.clone(), theme.warning()),
        (None, Some(message)) => (message.text.clone(), theme.good()),
        (None, None) => (keys(model), theme.quiet()),
    };
    buffer.set_stringn(area.x, area.y, theme.charset.line(&text, width), width, style);
    None
}

/// The keys that matter here.
fn keys(model: &Model) -> String {
    if model.dir.is_none() {
        return "j k move   Enter open   / filter   ? help   q quit".to_owned();
    }
    let own = match model.view {
        _ if model.settings.is_read_only => "",
        View::Steps | View::Board | View::Graph | View::Timeline => {
            "c claim  d done  f fail  s skip  r retry  m move  e edit  "
        }
        View::History => "n note  ",
        View::Operations => "u undo  U redo  o restore  ",
        View::Rules => "",
        View::Reviews => "a approve  x reject  ",
    };
    let all = format!("{own}Space more  / filter  ? help  q quit");
    match all.len() > usize::from(model.size.0) {
        true => format!("{own}Space more  ? help"),
        false => all,
    }
}
