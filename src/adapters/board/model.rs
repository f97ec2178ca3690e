//! What the board shows: the state that was read, the view, the selection, what is being asked.
//!
//! Nothing here reads or writes anything.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use super::{lists, prompt::Prompt, source::Loaded, text::Charset};
use crate::{
    history::Entry,
    workspace::{Overview, StepOverview},
};

/// The views of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum View {
    #[default]
    Steps,
    Board,
    Graph,
    Timeline,
    History,
    Operations,
    Rules,
    Reviews,
}

impl View {
    /// All of them, in the order of their keys.
    pub(super) const ALL: [Self; 8] = [
        Self::Steps,
        Self::Board,
        Self::Graph,
        Self::Timeline,
        Self::History,
        Self::Operations,
        Self::Rules,
        Self::Reviews,
    ];

    /// The name on its tab.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Steps => "Steps",
            Self::Board => "Board",
            Self::Graph => "Graph",
            Self::Timeline => "Timeline",
            Self::History => "History",
            Self::Operations => "Operations",
            Self::Rules => "Rules",
            Self::Reviews => "Reviews",
        }
    }
}

/// How the board is shown, and what it may do.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) charset: Charset,
    pub(super) has_colour: bool,
    pub(super) is_read_only: bool,
    pub(super) is_dry_run: bool,
    /// Arguments that other commands need for the same state, such as `-C DIR`.
    pub(super) names_directory: bool,
}

/// Where the user is in a list.
#[derive(Clone, Debug, Default)]
pub(super) struct ListPosition {
    /// The rows that are shown, by their place in the unfiltered list.
    pub(super) visible: Vec<usize>,
    /// Which of them is selected.
    pub(super) selected: usize,
    /// The first that is on the screen.
    pub(super) top: usize,
    /// What is filtered for.
    pub(super) filter: String,
    /// How far the detail is scrolled.
    pub(super) scroll: usize,
}

impl ListPosition {
    /// The selected row of the unfiltered list.
    pub(super) fn item(&self) -> Option<usize> {
        self.visible.get(self.selected).copied()
    }

    /// Selects a row that is there.
    pub(super) fn select(&mut self, row: usize) {
        let row = row.min(self.visible.len().saturating_sub(1));
        if row != self.selected {
            self.scroll = 0;
        }
        self.selected = row;
    }

    /// Scrolls so that the selected row is among those on the screen.
    pub(super) fn follow(&mut self, height: usize) {
        let most = self.visible.len().saturating_sub(height);
        let lowest = (self.selected + 1).saturating_sub(height);
        self.top = self.top.clamp(lowest.min(self.selected), self.selected).min(most.max(lowest));
    }
}

/// A column of the board.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    pub(super) name: String,
    /// The steps by their place in the plan, filtered.
    pub(super) steps: Vec<usize>,
}

/// Which part keys move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Focus {
    #[default]
    List,
    Detail,
}

/// A state below a directory.
#[derive(Debug)]
pub(super) struct StateLine {
    pub(super) dir: PathBuf,
    pub(super) name: String,
    pub(super) overview: Result<Overview, String>,
}

/// The result of an action, or another notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) is_refusal: bool,
    pub(super) text: String,
}

/// What lies over the view.
#[derive(Clone, Debug)]
pub(super) enum Overlay {
    Help {
        scroll: usize,
    },
    Prompt(Prompt),
    /// Things to choose from: what can be done.
    Menu {
        title: String,
        offers: Vec<super::actions::Offer>,
        selected: usize,
    },
    /// Why something was refused, and what to do.
    Refusal {
        title: String,
        lines: Vec<String>,
        scroll: usize,
    },
    /// The filter is being typed.
    Filter {
        before: String,
    },
}

/// Entries that a search in the whole history found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) needle: String,
    pub(super) entries: Vec<Entry>,
    pub(super) total: u64,
}

/// Everything that a frame is made from.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) settings: Settings,
    /// Columns and rows of the terminal.
    pub(super) size: (u16, u16),
    /// The directory whose states are listed, if there may be several.
    pub(super) root: Option<PathBuf>,
    pub(super) states: Vec<StateLine>,
    pub(super) states_place: ListPosition,
    /// The state that is shown; else the list of states.
    pub(super) dir: Option<PathBuf>,
    pub(super) loaded: Option<Arc<Loaded>>,
    /// Why the state cannot be read now.
    pub(super) trouble: Option<String>,
    pub(super) view: View,
    pub(super) places: [ListPosition; 8],
    pub(super) columns: Vec<Column>,
    /// The selected column of the board.
    pub(super) column: usize,
    /// Whether the columns are groups rather than statuses.
    pub(super) by_group: bool,
    pub(super) focus: Focus,
    pub(super) overlay: Option<Overlay>,
    pub(super) message: Option<Message>,
    /// The prompt whose command runs or was refused, to be asked again.
    pub(super) asked: Option<Prompt>,
    /// The command that is running.
    pub(super) running: Option<String>,
    pub(super) found: Option<Found>,
    /// What operations changed, by their id, as far as it was asked for.
    pub(super) differences: BTreeMap<String, Vec<String>>,
    pub(super) is_over: bool,
}

impl Model {
    /// Where the user is in the current list.
    pub(super) fn place(&self) -> &ListPosition {
        match self.dir {
            Some(_) => &self.places[self.view as usize],
            None => &self.states_place,
        }
    }

    pub(super) fn place_mut(&mut self) -> &mut ListPosition {
        match self.dir {
            Some(_) => &mut self.places[self.view as usize],
            None => &mut self.states_place,
        }
    }

    /// The step that is selected, or that the selected row is about.
    pub(super) fn step(&self) -> Option<&StepOverview> {
        let loaded = self.loaded.as_ref()?;
        let steps = &loaded.dashboard.overview.steps;
        match self.view {
            View::Steps | View::Board => steps.get(self.item()?),
            View::Graph => {
                let node = lists::node(loaded, self.item()?)?;
                steps.get(node)
            }
            View::Timeline => {
                let number = loaded.attempt(self.item()?)?.step_number()?;
                let number = u32::try_from(number).ok()?;
                steps.iter().find(|step| step.number == number)
            }
            _ => None,
        }
    }

    /// The selected row of the unfiltered list; on the board, the place of the step in the plan.
    pub(super) fn item(&self) -> Option<usize> {
        if self.dir.is_some() && self.view == View::Board {
            let column = self.columns.get(self.column)?;
            return column.steps.get(self.place().selected).copied();
        }
        self.place().item()
    }

    /// Switches to another state, which is not loaded yet.
    pub(super) fn open(&mut self, dir: PathBuf) {
        let settings = std::mem::take(&mut self.settings);
        *self = Self {
            settings,
            size: self.size,
            root: self.root.take(),
            states: std::mem::take(&mut self.states),
            states_place: std::mem::take(&mut self.states_place),
            dir: Some(dir),
            ..Self::default()
        };
    }

    /// Takes a state that was read; what was selected stays selected.
    pub(super) fn take(&mut self, loaded: Arc<Loaded>) {
        let kept: Vec<Option<String>> =
            View::ALL.into_iter().map(|view| self.key_in(view)).collect();
        self.trouble = None;
        self.loaded = Some(loaded);
        for (view, key) in View::ALL.into_iter().zip(kept) {
            self.filter_view(view, key);
        }
    }

    /// What the selected row of a view is, whatever its place.
    fn key_in(&self, view: View) -> Option<String> {
        let loaded = self.loaded.as_ref()?;
        let item = match view {
            View::Board => {
                let column = self.columns.get(self.column)?;
                *column.steps.get(self.places[view as usize].selected)?
            }
            _ => self.places[view as usize].item()?,
        };
        lists::key(loaded, self.found.as_ref(), view, item)
    }

    /// Filters the current list again.
    pub(super) fn filter(&mut self) {
        if self.dir.is_some() {
            let key = self.key_in(self.view);
            return self.filter_view(self.view, key);
        }
        let place = &mut self.states_place;
        let states = self.states.iter().enumerate();
        let fits = |state: &StateLine| {
            let title = state.overview.as_ref().map_or("", |overview| overview.title.as_str());
            lists::holds(&format!("{} {title}", state.name), &place.filter)
        };
        place.visible = states.filter(|(_, state)| fits(state)).map(|(at, _)| at).collect();
        place.select(place.selected);
    }

    /// Shows what a search found instead of the newest entries; all of it fits.
    pub(super) fn take_found(&mut self) {
        let place = &mut self.places[View::History as usize];
        place.visible = (0..self.found.as_ref().map_or(0, |found| found.entries.len())).collect();
        place.select(0);
        place.top = 0;
    }

    /// Works out which rows of a view are shown, and selects the one with that key.
    fn filter_view(&mut self, view: View, key: Option<String>) {
        let Some(loaded) = self.loaded.clone() else { return };
        let found = self.found.as_ref();
        let filter = self.places[view as usize].filter.clone();
        let count = lists::count(&loaded, found, view);
        let fits = |at: &usize| {
            // Search results are not filtered again: they match the text as a whole, not word by
            // word.
            let is_found = view == View::History && found.is_some();
            filter.is_empty()
                || is_found
                || lists::holds(&lists::text(&loaded, found, view, *at), &filter)
        };
        let visible: Vec<usize> = (0..count).filter(fits).collect();
        let is_key = |at: usize| key.is_some() && lists::key(&loaded, found, view, at) == key;
        if view == View::Board {
            let columns = lists::columns(&loaded, self.by_group, &visible);
            let kept = columns.iter().enumerate().find_map(|(number, column)| {
                let row = column.steps.iter().position(|at| is_key(*at))?;
                Some((number, row))
            });
            self.columns = columns;
            self.places[view as usize].visible = visible;
            let (column, row) = match kept {
                Some(kept) => kept,
                None => (self.column, self.places[view as usize].selected),
            };
            return self.select_card(column, row);
        }
        let place = &mut self.places[view as usize];
        let kept = visible.iter().position(|at| is_key(*at));
        place.visible = visible;
        match kept {
            // What the user reads stays where it is.
            Some(row) if row == place.selected => {}
            Some(row) => {
                place.top = (place.top + row).saturating_sub(place.selected);
                place.selected = row;
            }
            None => place.select(place.selected),
        }
    }

    /// Selects a card of the board; an empty column has none.
    pub(super) fn select_card(&mut self, column: usize, row: usize) {
        self.column = column.min(self.columns.len().saturating_sub(1));
        let rows = self.columns.get(self.column).map_or(0, |column| column.steps.len());
        let place = &mut self.places[View::Board as usize];
        let row = row.min(rows.saturating_sub(1));
        if row != place.selected {
            place.scroll = 0;
        }
        place.selected = row;
    }

    /// Shows a step in the list of steps.
    pub(super) fn show_step(&mut self, number: u32) {
        let Some(loaded) = self.loaded.clone() else { return };
        let steps = &loaded.dashboard.overview.steps;
        let Some(at) = steps.iter().position(|step| step.number == number) else { return };
        self.view = View::Steps;
        if !self.places[View::Steps as usize].visible.contains(&at) {
            self.places[View::Steps as usize].filter.clear();
            self.filter_view(View::Steps, None);
        }
        let place = &mut self.places[View::Steps as usize];
        if let Some(row) = place.visible.iter().position(|found| *found == at) {
            place.select(row);
        }
    }
}
