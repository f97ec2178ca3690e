//! The board without a terminal: states on disk, keys, and what a test screen shows.

mod actions;
mod hostile;
mod screens;

use std::{path::PathBuf, sync::Arc};

use jiff::Timestamp;
use ratatui::{
    Terminal,
    backend::TestBackend,
    buffer::Buffer,
    crossterm::event::{
        Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
    },
};
use serde_json::{Value, json};

use super::{
    draw,
    model::{Model, Overlay},
    source::{Loaded, Source},
    update::{Effect, on_news, update},
};
use crate::{
    adapters::cli::in_process::Caller,
    workspace::{Change, Environment, InitOptions, NoVersionControl, Options, Workspace},
};

/// The words of the built-in lifecycle, and others for the same roles.
const WORDS: [(&str, &str); 10] = [
    ("COMPLETED_SUCCESS", "DELIVERED_AS_SOLD"),
    ("COMPLETED_FAILURE", "FORSAKEN_BY_OTHER"),
    ("PLANNING", "SKETCHED"),
    ("IN_PROGRESS", "BEING_BUILT"),
    ("PAUSED", "PARKED"),
    ("PENDING", "BACKLOG"),
    ("RUNNING", "AT_WORK"),
    ("COMPLETED", "DELIVERED"),
    ("FAILED", "BOGGED"),
    ("SKIPPED", "OMITTED"),
];

/// A person at a board.
struct Desk {
    root: tempfile::TempDir,
    dir: PathBuf,
    source: Source,
    model: Model,
    /// Files that an editor was to open.
    edited: Vec<(PathBuf, usize)>,
    minutes: i64,
}

impl Desk {
    /// A board on a fresh state, with the built-in statuses or others.
    fn new(is_renamed: bool) -> Self {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("workspace/state");
        let caller = Caller::of_person(Some("ada".to_owned()), "board");
        let source = Source { caller, root: None, dir: Some(dir.clone()), names_directory: false };
        let mut model = Model { dir: Some(dir.clone()), size: (80, 24), ..Model::default() };
        model.settings.has_colour = true;
        let desk = Self { root, dir, source, model, edited: Vec::new(), minutes: 0 };
        let goal = Some("Compare three vector databases".to_owned());
        desk.workspace("ada").init(&InitOptions { goal, ..InitOptions::default() }).unwrap();
        if is_renamed {
            let other = |text: String| {
                WORDS.iter().fold(text, |text, (word, other)| text.replace(word, other))
            };
            let lifecycle = include_str!("../../../../templates/default/workflow.yaml");
            std::fs::write(desk.dir.join("workflow.yaml"), other(lifecycle.to_owned())).unwrap();
            let plan = desk.dir.join("plan.md");
            let text = std::fs::read_to_string(&plan).unwrap();
            std::fs::write(&plan, other(text)).unwrap();
        }
        desk
    }

    /// The state for somebody, at a time that is the same in each run.
    fn workspace(&self, actor: &str) -> Workspace {
        let start: Timestamp = "2026-11-17T08:00:00Z".parse().unwrap();
        let now = start + jiff::SignedDuration::from_mins(self.minutes);
        let seed = 7 + self.minutes.unsigned_abs();
        let options = Options::new(NoVersionControl);
        Workspace::new(&self.dir, Environment::fixed(now, actor, seed), options)
    }

    /// Changes that somebody else makes, a minute later.
    fn change(&mut self, actor: &str, changes: Value) {
        self.minutes += 1;
        let changes: Vec<Change> = serde_json::from_value(changes).unwrap();
        self.workspace(actor).apply(&changes).unwrap();
    }

    /// Shows the state as it is, at the time of the last change.
    fn look(&mut self) {
        let loaded = Loaded::read(&self.workspace("ada")).unwrap();
        let news = super::source::News::Loaded(Arc::new(loaded));
        let effects = on_news(&mut self.model, news);
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Ask(request) => {
                    for news in self.source.answer(request) {
                        let more = on_news(&mut self.model, news);
                        self.carry_out(more);
                    }
                }
                Effect::Edit { path, line } => self.edited.push((path, line)),
                Effect::Suspend => {}
            }
        }
    }

    fn send(&mut self, event: Event) {
        let effects = update(&mut self.model, event);
        self.carry_out(effects);
    }

    fn key(&mut self, code: KeyCode) {
        self.send(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    /// Types; `⏎` is Enter, `⎋` is Escape.
    fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            self.key(match key {
                '⏎' => KeyCode::Enter,
                '⎋' => KeyCode::Esc,
                c => KeyCode::Char(c),
            });
        }
    }

    fn control(&mut self, key: char) {
        self.send(Event::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::CONTROL)));
    }

    fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        let modifiers = KeyModifiers::NONE;
        self.send(Event::Mouse(MouseEvent { kind, column, row, modifiers }));
    }

    fn click(&mut self, column: u16, row: u16) {
        self.mouse(MouseEventKind::Down(MouseButton::Left), column, row);
    }

    /// What the terminal would hold.
    fn buffer(&self) -> Buffer {
        let (width, height) = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let shown = terminal.draw(|frame| {
            draw::draw(&self.model, frame.buffer_mut());
        });
        shown.unwrap();
        terminal.backend().buffer().clone()
    }

    /// The same as lines of text.
    fn screen(&self) -> String {
        let buffer = self.buffer();
        let mut text = String::new();
        for y in 0..buffer.area.height {
            let mut line = String::new();
            let mut skip = 0;
            for x in 0..buffer.area.width {
                let symbol = buffer[(x, y)].symbol();
                if skip == 0 {
                    line.push_str(symbol);
                }
                let wide = ratatui::text::Span::raw(symbol).width();
                skip = if skip > 0 { skip - 1 } else { wide.saturating_sub(1) };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    #[track_caller]
    fn shows(&self, text: &str) {
        let screen = self.screen();
        assert!(screen.contains(text), "`{text}` is not on the screen:\n{screen}");
    }

    #[track_caller]
    fn lacks(&self, text: &str) {
        let screen = self.screen();
        assert!(!screen.contains(text), "`{text}` is on the screen:\n{screen}");
    }

    /// What a refusal says.
    #[track_caller]
    fn refusal(&self) -> String {
        match &self.model.overlay {
            Some(Overlay::Refusal { title, lines, .. }) => format!("{title}\n{}", lines.join("\n")),
            other => panic!("nothing was refused: {other:?}\n{}", self.screen()),
        }
    }

    /// The status of a step, by what it means.
    fn role(&self, number: u32) -> String {
        let overview = self.workspace("ada").overview().unwrap();
        let step = overview.steps.iter().find(|step| step.number == number).unwrap();
        crate::graph::role_word(step.role)
    }

    /// The newest operations.
    fn operations(&self) -> Vec<crate::store::OperationSummary> {
        self.workspace("ada").operations(Some(20)).unwrap()
    }
}

/// A board on a state in which much has happened.
fn worked(is_renamed: bool) -> Desk {
    let mut desk = Desk::new(is_renamed);
    desk.change(
        "ada",
        json!([
            { "op": "step.add", "title": "Collect benchmarks", "time": "10m", "tool": "WebFetch",
              "set": { "group": "research" }, "output": { "pages": "how many" } },
            { "op": "step.add", "title": "Measure recall", "time": "30m", "depends_on": ["1"],
              "set": { "group": "research" } },
            { "op": "step.add", "title": "Measure latency", "time": "20m", "depends_on": ["1"],
              "set": { "group": "research" },
              "description": "Use the same machine for all three.\n\nWarm caches first." },
            { "op": "step.add", "title": "Compare costs", "depends_on": ["1"], "time": "15m" },
            { "op": "step.add", "title": "Write the summary", "depends_on": ["2", "3", "4"],
              "time": "25m", "set": { "group": "writing" } },
            { "op": "step.add", "title": "Tell the team", "depends_on": ["5"] },
            { "op": "step.add", "title": "Archive the raw data" },
            { "op": "constraint.set", "name": "max_cost_per_task", "value": "$1.00", "create": true },
            { "op": "rule.add", "text": "If cost exceeds 40% of budget → add directive \"Ask before spending more\"" },
            { "op": "directive.add", "text": "Cite every source" },
        ]),
    );
    desk.change("agent-a", json!([{ "op": "step.start", "step": "1" }]));
    desk.minutes += 8;
    desk.change(
        "agent-a",
        json!([{ "op": "step.done", "step": "1", "cost": "0.25", "time": "9m", "output": { "pages": 12 } }]),
    );
    desk.change("agent-a", json!([{ "op": "step.start", "step": "2" }]));
    desk.change("agent-b", json!([{ "op": "step.start", "step": "3" }]));
    desk.minutes += 5;
    desk.change(
        "agent-b",
        json!([{ "op": "step.fail", "step": "3", "cost": "0.20", "time": "6m", "error": "HTTP 503 from the index" }]),
    );
    desk.change("ada", json!([{ "op": "step.skip", "step": "7", "note": "not needed any more" }]));
    desk.change("ada", json!([{ "op": "history.add", "title": "Asked the user", "fields": { "question": "Which region?", "answer": "EU" } }]));
    desk.look();
    desk
}

/// The same, with a question that everything waits for.
fn busy(is_renamed: bool) -> Desk {
    let mut desk = worked(is_renamed);
    desk.change("agent-a", json!([{ "op": "review.open", "text": "Is the budget fine?" }]));
    desk.look();
    // That it happened meanwhile is not what the tests are about.
    desk.model.message = None;
    desk
}
