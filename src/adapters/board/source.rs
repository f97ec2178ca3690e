//! Where the board gets what it shows: states are read and commands run here, and nowhere else.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    lists::ATTEMPTS,
    model::{Found, StateLine},
    prompt::literal,
};
use crate::{
    adapters::{
        Scan,
        cli::in_process::{self, Caller, CommandAnswer},
        scan,
    },
    domain::ErrorCode,
    history::{self, Entry},
    workspace::{Dashboard, Error, Extent, RuleLine, Workspace},
};

/// How much of long lists is read: what is older is found by a search.
const EXTENT: Extent = Extent { entries: 500, bytes: 4 << 20, operations: 500, graph: true };
/// How many entries a search lists.
const MOST_FOUND: usize = 200;
/// How many lines of a difference are kept.
const MOST_LINES: usize = 2000;

/// A state as it was read, all of one revision.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) dir: PathBuf,
    pub(super) dashboard: Dashboard,
    /// What the lines of constraints.md mean.
    pub(super) rules: Vec<RuleLine>,
    /// The attempts by their place among the entries, the newest first.
    pub(super) attempts: Vec<usize>,
    /// The rows of the graph, drawn with the lines between them.
    pub(super) rails: Vec<String>,
}

impl Loaded {
    pub(super) fn read(workspace: &Workspace) -> Result<Self, Error> {
        let dashboard = Dashboard::read(workspace, EXTENT)?;
        let rules = workspace.read().and_then(|snapshot| snapshot.rule_lines());
        let place =
            |entry: &Entry| dashboard.entries.iter().position(|one| std::ptr::eq(one, entry));
        let attempts = dashboard.attempts(ATTEMPTS).list;
        let attempts = attempts.iter().filter_map(|attempt| place(attempt.entry)).collect();
        let rails = crate::graph::rails(&dashboard.graph);
        let dir = workspace.directory().to_owned();
        Ok(Self { dir, dashboard, rules: rules.unwrap_or_default(), attempts, rails })
    }

    /// The entry of an attempt.
    pub(super) fn attempt(&self, at: usize) -> Option<&Entry> {
        self.dashboard.entries.get(*self.attempts.get(at)?)
    }
}

/// What the board asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// The states below the directory.
    States,
    /// Another state.
    Open(PathBuf),
    /// The state as it is now.
    Look,
    /// A command, on the revision that was shown.
    Run { words: Vec<String>, revision: String },
    /// The entries of the whole history that hold a text.
    Search(String),
    /// What an operation changed.
    Compare { from: String, to: String },
    /// Where a step is in its file.
    Locate(u32),
}

/// Messages to the board.
#[derive(Debug)]
pub(super) enum News {
    States(Vec<StateLine>),
    Loaded(Arc<Loaded>),
    /// The state cannot be read.
    Unread {
        dir: PathBuf,
        why: String,
    },
    /// What a command answered.
    Ran {
        command: String,
        answer: CommandAnswer,
    },
    Found(Result<Found, String>),
    Compared {
        id: String,
        lines: Vec<String>,
    },
    Located {
        path: PathBuf,
        line: usize,
    },
    /// Something else that was asked for cannot be had.
    Failed(String),
}

/// The states, the one that is open, and who acts.
#[derive(Debug)]
pub(super) struct Source {
    /// Who acts; the directory, the command and the revision are added for each request.
    pub(super) caller: Caller,
    pub(super) root: Option<PathBuf>,
    pub(super) dir: Option<PathBuf>,
    /// Whether commands need `-C DIR` to refer to this state.
    pub(super) names_directory: bool,
}

impl Source {
    /// Answers a request.
    pub(super) fn answer(&mut self, request: Request) -> Vec<News> {
        match request {
            Request::States => vec![News::States(self.states())],
            Request::Open(dir) => {
                self.dir = Some(dir);
                self.look()
            }
            Request::Look => self.look(),
            Request::Run { words, revision } => {
                let ran = self.run(&words, &revision);
                std::iter::once(ran).chain(self.look()).collect()
            }
            Request::Search(needle) => vec![News::Found(self.search(needle))],
            Request::Compare { from, to } => {
                let lines = self.compare(&from, &to).unwrap_or_else(|message| vec![message]);
                vec![News::Compared { id: to, lines }]
            }
            Request::Locate(number) => vec![self.locate(number).unwrap_or_else(News::Failed)],
        }
    }

    fn caller(&self, dir: &Path) -> Caller {
        Caller { dir: Some(dir.to_owned()), ..self.caller.clone() }
    }

    fn workspace(&self) -> Result<Workspace, String> {
        let dir = self.dir.as_deref().ok_or("no state is open")?;
        in_process::open(&self.caller(dir))
    }

    fn look(&self) -> Vec<News> {
        let Some(dir) = self.dir.clone() else { return vec![News::States(self.states())] };
        let read = self.workspace().and_then(|workspace| {
            Loaded::read(&workspace).map_err(|error| match error.hint() {
                Some(hint) => format!("{error}\nhint: {hint}"),
                None => error.to_string(),
            })
        });
        vec![match read {
            Ok(loaded) => News::Loaded(Arc::new(loaded)),
            Err(why) => News::Unread { dir, why },
        }]
    }

    fn states(&self) -> Vec<StateLine> {
        let Some(root) = &self.root else { return Vec::new() };
        let lines = scan(root, Scan::QUICK).directories.into_iter().map(|dir| {
            let overview = in_process::overview(&self.caller(&dir));
            let name = dir.strip_prefix(root).unwrap_or(&dir).display().to_string();
            let name = if name.is_empty() { ".".to_owned() } else { name };
            StateLine { dir, name, overview }
        });
        lines.collect()
    }

    fn run(&self, words: &[String], revision: &str) -> News {
        let named = self.dir.as_ref().filter(|_| self.names_directory);
        let named = named.map(|dir| dir.display().to_string());
        let command = literal(words, revision, named.as_deref());
        let answer = match (in_process::request(words), &self.dir) {
            (Ok(request), Some(dir)) => {
                let caller = Caller {
                    if_match: Some(revision.to_owned()),
                    command: format!("board: {}", words.join(" ")),
                    ..self.caller(dir)
                };
                in_process::run(&caller, request)
            }
            _ => {
                CommandAnswer::refusal(ErrorCode::Usage, "this is not a command of the board", None)
            }
        };
        News::Ran { command, answer }
    }

    fn search(&self, needle: String) -> Result<Found, String> {
        let snapshot = self.workspace()?.read().map_err(|error| error.to_string())?;
        let history = snapshot.history().map_err(|error| error.to_string())?;
        let found = history::search(history, &needle, MOST_FOUND);
        let found = found.map_err(|error| error.to_string())?;
        Ok(Found { needle, entries: found.entries, total: found.total })
    }

    fn compare(&self, from: &str, to: &str) -> Result<Vec<String>, String> {
        let dir = self.dir.as_deref().ok_or("no state is open")?;
        let wanted =
            in_process::request(&["diff", from, to]).map_err(|_| "this cannot be compared")?;
        let text = in_process::text(&self.caller(dir), wanted).map_err(|answer| {
            let message = answer.document["error"]["message"].as_str();
            message.unwrap_or("this cannot be compared").to_owned()
        })?;
        let mut lines: Vec<String> = text.lines().take(MOST_LINES).map(str::to_owned).collect();
        if text.lines().count() > lines.len() {
            lines.push(format!("… `statedir diff {from} {to}` prints all of it"));
        }
        Ok(lines)
    }

    fn locate(&self, number: u32) -> Result<News, String> {
        let workspace = self.workspace()?;
        let place = workspace.place_of_step(number).map_err(|error| error.to_string())?;
        let (path, line) = place.ok_or("the step is no longer in the plan")?;
        Ok(News::Located { path, line })
    }
}
