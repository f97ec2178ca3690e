//! What a command gets: the options of every command, the state directory they mean, a place to
//! print to.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use super::{
    CliResult, Failure,
    args::Global,
    missing_file,
    output::{Output, progress},
};
use crate::{
    adapters::{
        Acting, ChooseError,
        adopt::{self, Proposed},
        choose, choose_for_ticket, foreign,
        git::GitControl,
        identify, tickets_in,
    },
    domain::{ErrorCode, StateFile},
    store::Cancellation,
    text::shell::{command_line, shell_word},
    workspace::{Change, Environment, Options, Outcome, Workspace},
};

/// What every command gets: the options and the place to print to.
pub(super) struct Session<'o> {
    pub(super) global: Global,
    pub(super) command: String,
    /// The client of a server, which is a session of its own.
    pub(super) client: Option<String>,
    /// Where the command was given, if not on a command line.
    pub(super) via: Option<&'static str>,
    /// The id of the session that a hook's event names.
    pub(super) event_session: Option<String>,
    /// Whether nobody waits for the answer any more.
    pub(super) cancellation: Cancellation,
    pub(super) output: &'o mut Output,
}

impl<'o> Session<'o> {
    /// A command line of a person or a script.
    pub(super) fn new(global: Global, command: String, output: &'o mut Output) -> Self {
        let (client, via, event_session) = (None, None, None);
        let cancellation = Cancellation::default();
        Self { global, command, client, via, event_session, cancellation, output }
    }
}

impl Session<'_> {
    /// The state directory that is meant.
    pub(super) fn workspace(&self) -> Result<Workspace, Failure> {
        self.workspace_at(false)
    }

    /// The state directory for a new state.
    pub(super) fn new_workspace(&self) -> Result<Workspace, Failure> {
        self.workspace_at(true)
    }

    /// The state directory for a ticket.
    pub(super) fn ticket_workspace(&self, name: &str) -> Result<Workspace, Failure> {
        let dir = choose_for_ticket(self.named_dir().as_deref(), name)?;
        self.workspace_in(dir, self.global.if_match.clone())
    }

    /// The same directory without an expected revision, to look at what a change has made.
    pub(super) fn workspace_as_it_is(&self) -> Result<Workspace, Failure> {
        self.workspace_with(false, None)
    }

    fn workspace_at(&self, new: bool) -> Result<Workspace, Failure> {
        self.workspace_with(new, self.global.if_match.clone())
    }

    fn workspace_with(&self, new: bool, if_match: Option<String>) -> Result<Workspace, Failure> {
        let dir = choose(self.named_dir().as_deref(), new).map_err(with_way_in)?;
        self.workspace_in(dir, if_match)
    }

    /// The directory that the user named, if any.
    pub(super) fn named_dir(&self) -> Option<PathBuf> {
        let variable =
            std::env::var_os("STATEDIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        self.global.dir.clone().or(variable)
    }

    pub(super) fn workspace_in(
        &self,
        dir: PathBuf,
        if_match: Option<String>,
    ) -> Result<Workspace, Failure> {
        Ok(Workspace::new(dir, self.environment()?, self.options(if_match)))
    }

    fn options(&self, if_match: Option<String>) -> Options {
        Options {
            if_match,
            dry_run: self.global.dry_run,
            wait: self.global.wait(),
            cancellation: self.cancellation.clone(),
            command: self.command.clone(),
            progress: progress::reading,
            version_control: Arc::new(GitControl),
        }
    }

    /// The directory as it will be once it has the layout that was proposed.
    pub(super) fn adopting(&self, proposed: &Proposed) -> Result<Workspace, Failure> {
        let (dir, layout) = (proposed.dir.clone(), proposed.layout.clone());
        Ok(Workspace::adopting(&dir, layout, self.environment()?, self.options(None)))
    }

    /// The same failure with the way out that there is: the log may not know a missing file.
    pub(super) fn explain(&self, failure: Failure) -> Failure {
        if failure.code != ErrorCode::FileMissing {
            return failure;
        }
        let file = failure.location.as_ref().and_then(|place| place["file"].as_str());
        let Some(file) = file.and_then(StateFile::from_name) else { return failure };
        let workspace = self.workspace_as_it_is().ok();
        match workspace.and_then(|workspace| missing_file::hint_for(&workspace, file)) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// Makes changes as one operation and prints the answer.
    pub(super) fn apply(&mut self, changes: &[Change]) -> CliResult {
        let outcome = self.workspace()?.apply(changes)?;
        self.changed(&outcome)
    }

    /// Prints what a change did.
    pub(super) fn changed(&mut self, outcome: &Outcome) -> CliResult {
        self.output.outcome(outcome, self.global.dry_run);
        Ok(0)
    }

    /// Ends with the answer for machines, or with a failure that carries it.
    pub(super) fn end(
        &mut self,
        failure: Option<Failure>,
        document: impl FnOnce() -> Value,
    ) -> CliResult {
        let Some(failure) = failure else {
            self.output.value(document);
            return Ok(0);
        };
        let data = self.output.is_json().then(|| Box::new(document()));
        Err(Failure { data, ..failure })
    }

    pub(super) fn environment(&self) -> Result<Environment, Failure> {
        let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
        let mut identity = identify(&Acting {
            actor: self.global.actor.as_deref(),
            event_session: self.event_session.as_deref(),
            client: self.client.as_deref(),
        });
        identity.via = self.via;
        let actor = &identity.actor;
        if actor.trim().is_empty() {
            return Err(Failure::usage("the actor's name is empty"));
        }
        if actor.contains(|c: char| c.is_control()) {
            return Err(Failure::usage("the actor's name must be one line"));
        }
        let (now, seed) = (variable("STATEDIR_NOW"), variable("STATEDIR_SEED"));
        if now.is_none() && seed.is_none() {
            return Ok(Environment::real("").acting_as(identity));
        }
        let now = match now {
            Some(text) => text.parse().map_err(|_| {
                Failure::usage(format!(
                    "STATEDIR_NOW is `{text}`, not a time such as 2026-01-31T12:00:00Z"
                ))
            })?,
            None => jiff::Timestamp::now(),
        };
        let seed = match seed {
            Some(text) => text.parse().map_err(|_| {
                Failure::usage(format!("STATEDIR_SEED is `{text}`, not a whole number"))
            })?,
            None => Environment::real("").random(),
        };
        Ok(Environment::fixed(now, "", seed).acting_as(identity))
    }
}

/// Where there is no state: what could be adopted or imported.
fn with_way_in(error: ChooseError) -> Failure {
    if let ChooseError::NoneAbove(here) = &error
        && let [first, rest @ ..] = tickets_in(here).as_slice()
    {
        let more = match rest.len() {
            0 => String::new(),
            more => format!(", and there are {more} more"),
        };
        let first = shell_word(&first.to_string_lossy()).into_owned();
        let hint = format!("`statedir -C {first} status` shows a ticket{more}");
        return Failure::from(error).hint(hint);
    }
    let ChooseError::NoneAbove(here) = &error else { return Failure::from(error) };
    let hint = way_in(here, None).or_else(|| {
        let (above, found) = adopt::above(here)?;
        way_in(&above, Some(found))
    });
    match hint {
        Some(hint) => Failure::from(error).hint(hint),
        None => error.into(),
    }
}

/// What could be adopted or imported in a directory, and how; one above the working directory comes
/// with what was found there.
fn way_in(dir: &Path, above: Option<Vec<adopt::Detected>>) -> Option<String> {
    let is_above = above.is_some();
    let found = above.unwrap_or_else(|| adopt::look(dir));
    let best = adopt::best(&found).map(|at| &found[at]);
    let name = dir.display().to_string();
    let (place, adopting) = match is_above {
        true => (format!("in `{name}`"), command_line(["adopt", name.as_str()])),
        false => ("here".to_owned(), command_line(["adopt"])),
    };
    if let Some(found) = best.filter(|found| found.count() > 0) {
        return Some(format!(
            "there is a plan {place} ({}): `{adopting}` works in it",
            found.line()
        ));
    }
    if is_above {
        let foreign = foreign::found_in(dir)?;
        let state = dir.join("workspace/state").display().to_string();
        let copying = ["-C", state.as_str(), "import", "--from", foreign.name, name.as_str()];
        let copying = command_line(copying);
        return Some(format!("there is a plan of {} {place}: `{copying}` copies it", foreign.name));
    }
    foreign::way_to_import(dir).or_else(|| {
        let profile = &best?.profile.profile;
        Some(format!(
            "there are files of {profile} here: `{adopting}` begins a plan beside them, with what they say"
        ))
    })
}
