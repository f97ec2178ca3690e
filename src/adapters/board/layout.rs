//! Where everything is on the screen; for drawing, and for finding what was clicked.

use ratatui::layout::Rect;

use super::{
    lists,
    model::{Model, View},
};

/// The smallest terminal.
pub(super) const SMALLEST: (u16, u16) = (80, 24);
/// From this width on, the detail is beside the list.
const WIDE: u16 = 120;
/// How wide a column of the board is at least.
const NARROWEST: u16 = 20;

/// The parts of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Areas {
    /// Title, status and progress.
    pub(super) header: Rect,
    /// The views.
    pub(super) tabs: Rect,
    /// The list, without its heading.
    pub(super) list: Rect,
    /// What the columns of the list are.
    pub(super) heading: Rect,
    /// The line between list and detail.
    pub(super) border: Rect,
    pub(super) detail: Rect,
    pub(super) footer: Rect,
}

/// The parts of the screen for what is shown.
pub(super) fn areas(model: &Model) -> Areas {
    let (width, height) = model.size;
    let header = Rect::new(0, 0, width, 1);
    let tabs = Rect::new(0, 1, width, 1);
    let footer = Rect::new(0, height.saturating_sub(1), width, 1);
    let main = Rect::new(0, 2, width, height.saturating_sub(3));
    let heading = Rect { height: main.height.min(1), ..main };
    let below = Rect { y: main.y + 1, height: main.height.saturating_sub(1), ..main };
    if model.dir.is_none() {
        let none = Rect::default();
        return Areas { header, tabs, list: below, heading, border: none, detail: none, footer };
    }
    if width >= WIDE && model.view != View::Board {
        let left = width / 2;
        let list = Rect { width: left, ..below };
        let border = Rect { x: left, width: 1, ..main };
        let detail = Rect { x: left + 2, width: width - left - 2, ..main };
        let heading = Rect { width: left, ..heading };
        return Areas { header, tabs, list, heading, border, detail, footer };
    }
    // A short list leaves its room to the detail.
    let most = below.height.saturating_sub(below.height * 2 / 5 + 1);
    let list_height = u16::try_from(rows(model)).unwrap_or(most).max(3).min(most);
    let detail_height = below.height.saturating_sub(list_height + 1);
    let list = Rect { height: list_height, ..below };
    let border = Rect { y: list.bottom(), height: 1, ..below };
    let detail = Rect { y: border.bottom(), height: detail_height, ..below };
    Areas { header, tabs, list, heading, border, detail, footer }
}

/// How many rows the list has without its filter, so that nothing jumps while one is typed.
fn rows(model: &Model) -> usize {
    let Some(loaded) = &model.loaded else { return usize::MAX };
    match model.view {
        // Columns have a title of their own.
        View::Board => 1 + model.columns.iter().map(|column| column.steps.len()).max().unwrap_or(0),
        view => lists::count(loaded, model.found.as_ref(), view),
    }
}

/// The columns of the board that fit on the screen: the first of them, and how wide each is.
pub(super) fn columns(model: &Model, area: Rect) -> (usize, Vec<Rect>) {
    let count = model.columns.len().max(1);
    let fit = usize::from((area.width / NARROWEST).max(1)).min(count);
    let first = (model.column + 1).saturating_sub(fit);
    let width = area.width / fit as u16;
    let column = |nth: usize| Rect {
        x: area.x + width * nth as u16,
        width: if nth + 1 == fit { area.width - width * nth as u16 } else { width },
        ..area
    };
    (first, (0..fit).map(column).collect())
}

/// The tabs with the columns they take.
pub(super) fn tabs(model: &Model) -> Vec<(View, String, u16)> {
    let reviews =
        model.loaded.as_ref().map_or(0, |loaded| loaded.dashboard.overview.open_reviews.len());
    let mut at = 0;
    View::ALL
        .into_iter()
        .enumerate()
        .map(|(nth, view)| {
            let mut text = format!("{} {}", nth + 1, view.name());
            if view == View::Reviews && reviews > 0 {
                text.push_str(&format!(" ({})", reviews.min(99)));
            }
            let start = at;
            at += text.len() as u16 + 1;
            (view, text, start)
        })
        .collect()
}
