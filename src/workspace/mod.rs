//! Where pure logic meets the disk: the façade that the command line and servers call.

mod adapt;
mod adopted;
mod capture;
mod change;
mod check;
mod draft;
mod environment;
mod error;
mod log;
mod overview;
mod recover;
mod reports;
mod setup;
mod snapshot;
pub(crate) mod state;
mod transact;
mod version_control;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

#[cfg(feature = "fleet")]
pub(crate) use self::log::receive::Received;
#[cfg(feature = "board")]
pub(crate) use self::reports::attempts::Attempts;
pub(crate) use self::{
    adapt::Event,
    capture::{Captured, ClientTask, TaskChange, TaskEvent, clean_line},
    draft::Draft,
    environment::Identity,
    error::{ErrorKind, OpenedReview},
    log::changes_since::ChangesSince,
    log::checkpoint::{CheckpointDetails, CheckpointLine, CheckpointRequest},
    log::diff::{Comparison, DiffSide, GivenSide},
    overview::{Artefact, StepTimes, TicketOverview},
    recover::{DecidedBy, Examined, RecoverRequest, Surroundings, WantedFile},
    reports::dashboard::{Dashboard, Extent},
    reports::metrics::{Breakdown, Metrics},
    reports::rules::{ActiveRules, RuleLine},
    reports::step_actions::step_actions,
    setup::archive::{Archived, ArchivedState},
    setup::builtin_templates::BUILTIN as BUILTIN_TEMPLATES,
    snapshot::cached_facts::CachedFacts,
    snapshot::readiness::Readiness,
    snapshot::resolve::Resolver,
    snapshot::usage::Usage,
};
use self::{adapt::InOperation, adopted::FileSet, change::Needed};
pub use self::{
    adapt::LimitUse,
    change::{Change, ContextText, Cost, Span, StepMove, StepResult, StepShape},
    check::{Checked, Fixed},
    environment::Environment,
    error::{Error, FileLocation},
    log::operations::UndoOutcome,
    log::removed::{RemovedEntry, Remover},
    log::restore::RestoreOptions,
    overview::{Overview, Spending, StepOverview, StepOverviews},
    reports::brief::{BriefRequest, Briefed},
    reports::rules::ConstraintReading,
    setup::init::{InitOptions, Initialised},
    setup::templates::{Mode, TemplateSet},
    snapshot::Snapshot,
    state::{ImportOptions, StateDocument},
    transact::outcome::{Answer, FileDiff, Outcome},
    version_control::{NoVersionControl, VersionControl},
};
use crate::{
    domain::{ErrorCode, StateFile},
    store::{Cancellation, LockHolder, NewOperation, Report, Revision, Store, StoreError, View},
};

/// The largest rewritable file that is read or written.
const MAX_BYTES: u64 = 64 << 20;
/// How often in a row an editor that saves meanwhile is given way to.
const MOST_OVERTAKEN: usize = 3;
/// How many characters of the beginning of a revision stand for it.
const LEAST_OF_REVISION: usize = 6;

/// How a command is to be carried out.
#[derive(Clone, Debug)]
pub struct Options {
    /// Refuse unless the state is at this revision.
    pub if_match: Option<String>,
    /// Work everything out, write nothing.
    pub dry_run: bool,
    /// How long to wait for the lock.
    pub wait: Duration,
    /// The command as the user gave it, for the log.
    pub command: String,
    /// Asked once the lock is held: whether the caller has cancelled the change.
    pub(crate) cancellation: Cancellation,
    /// Called with the number of bytes of a long history that have been read.
    pub(crate) progress: fn(u64),
    /// The version control around the state.
    pub(crate) version_control: Arc<dyn VersionControl>,
}

impl Options {
    /// The usual way to carry out a command: writes, and waits ten seconds for the lock.
    ///
    /// `version_control` is [`GitControl`](crate::GitControl), or [`NoVersionControl`] for a state
    /// that is in no repository.
    pub fn new(version_control: impl VersionControl + 'static) -> Self {
        Self {
            if_match: None,
            dry_run: false,
            wait: Duration::from_secs(10),
            command: String::new(),
            cancellation: Cancellation::default(),
            progress: |_| {},
            version_control: Arc::new(version_control),
        }
    }
}

/// A state directory.
#[derive(Debug)]
pub struct Workspace {
    store: Store,
    env: Environment,
    options: Options,
    files: FileSet,
}

impl Workspace {
    /// The state directory at `dir`, whether or not there is anything yet.
    pub fn new(dir: impl Into<PathBuf>, env: Environment, options: Options) -> Self {
        let dir = dir.into();
        let files = FileSet::of(&dir);
        let store = Store::new(files.store_layout(&dir));
        let store = setup::with_trust_level(store, &*options.version_control);
        Self { store, env, options, files }
    }

    /// The same state for one who has waited before and can wait only so long now.
    #[must_use]
    pub(crate) fn with_wait(&self, wait: Duration) -> Self {
        let options = Options { wait, ..self.options.clone() };
        let files = self.files.clone();
        Self { store: self.store.clone(), env: self.env.again(), options, files }
    }

    /// Where the files are.
    pub fn directory(&self) -> &Path {
        &self.store.layout().dir
    }

    /// Time, actor and chance.
    pub(crate) fn environment(&self) -> &Environment {
        &self.env
    }

    /// The version control around the state.
    fn version_control(&self) -> &dyn VersionControl {
        &*self.options.version_control
    }

    /// The store below.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Reads all files at one revision. Writes nothing.
    ///
    /// # Errors
    /// There is no state here, or it cannot be read.
    pub fn read(&self) -> Result<Snapshot, Error> {
        let raw = self.store.read(self.options.wait)?;
        self.refuse_lost_lists(&raw)?;
        let view = self.seen_whole(raw)?;
        if is_absent(&view) {
            return Err(self.no_state(&view));
        }
        self.expect(&view.revision)?;
        Ok(self.snapshot(view))
    }

    /// Reads the files, after the log knows them as they are.
    pub(crate) fn adopt_files(&self) -> Result<Snapshot, Error> {
        drop(self.store.begin(self.options.wait, &self.holder())?);
        self.read()
    }

    /// Reads the state, after its files are as it says: what a change recorded and could not write
    /// is written now. For whoever goes by the files alone, as git does.
    pub(crate) fn read_written(&self) -> Result<Snapshot, Error> {
        let snapshot = self.read()?;
        let is_late = |report: &Report| {
            use Report::{CompletedAppend, RolledForward, Salvaged};
            matches!(report, RolledForward { .. } | CompletedAppend { .. } | Salvaged { .. })
        };
        match !self.options.dry_run && snapshot.view().reports().iter().any(is_late) {
            true => self.adopt_files(),
            false => Ok(snapshot),
        }
    }

    /// All files at one revision, as those of a native state.
    pub(super) fn read_view(&self) -> Result<View, Error> {
        self.seen_whole(self.store.read(self.options.wait)?)
    }

    /// A picture of the store as the files of a native state; those that were never written say
    /// nothing.
    pub(super) fn seen_whole(&self, view: View) -> Result<View, Error> {
        Ok(self.with_unwritten_files(self.native_view(view)?))
    }

    /// The picture of a native state, where files that were never written say nothing.
    fn with_unwritten_files(&self, view: View) -> View {
        if view.bytes(StateFile::Plan.name()).is_none() {
            return view;
        }
        let unwritten = self.unwritten(&view);
        let blank = |file: &StateFile| (file.name().to_owned(), file.blank().to_vec());
        let is_history = |file: &StateFile| *file == StateFile::History;
        let files = unwritten.iter().filter(|file| !is_history(file)).map(blank).collect();
        view.with_unwritten(files, unwritten.iter().any(is_history))
    }

    /// A picture of the state for the one who acts.
    fn snapshot(&self, view: View) -> Snapshot {
        Snapshot::new(view, self.options.progress, snapshot::liveness::Liveness::new(self))
    }

    /// Makes `changes` as one operation: all of them or none.
    ///
    /// # Errors
    /// One of them is refused, or the state has moved on; nothing was changed.
    pub fn apply(&self, changes: &[Change]) -> Result<Outcome, Error> {
        self.apply_and_look(changes, |_, _| ())
    }

    /// Starts a step or takes it over, and says what is needed to begin it: as far as that can be read.
    ///
    /// # Errors
    /// It is refused, or the state has moved on; nothing was changed.
    pub(crate) fn begin_step(&self, change: Change) -> Result<(Outcome, Needed), Error> {
        let is_next = matches!(change, Change::StepStart { step: None });
        let mut needed = Needed::default();
        let outcome = self.apply_and_look(&[change], |draft, answers| {
            let number = answers.first().and_then(|answer| answer.data["step"]["number"].as_u64());
            let number = number.and_then(|number| u32::try_from(number).ok());
            let found = number.and_then(|number| Needed::of(draft, number, is_next).ok());
            needed = found.unwrap_or_default();
        })?;
        Ok((outcome, if self.options.dry_run { Needed::default() } else { needed }))
    }

    /// Makes `changes` as one operation, and lets the caller look at what they come to.
    fn apply_and_look(
        &self,
        changes: &[Change],
        mut look: impl FnMut(&Draft<'_>, &[Answer]),
    ) -> Result<Outcome, Error> {
        if let [Change::StepAdd(shape)] = changes
            && self.layout().is_some()
            && (shape.after.is_some() || shape.before.is_some())
        {
            // Whoever names a place among the tasks of a file asks for a line there.
            return self.insert_task(shape);
        }
        let kind = match changes {
            [one] => one.kind(),
            _ => "apply",
        };
        let mut attempt = || {
            self.change(kind, |draft| {
                // A checkpoint is of what is there.
                if !kind.starts_with("checkpoint.") {
                    transact::external_edit::follow_up(draft);
                }
                let answers = apply_in_order(draft, changes)?;
                look(draft, &answers);
                Ok(answers)
            })
        };
        // An editor that saves meanwhile goes first: the change is worked out anew on what it saved.
        let is_overtaken = |done: &Result<Outcome, Error>| {
            done.as_ref().is_err_and(|error| error.code() == ErrorCode::ChangedMeanwhile)
        };
        let mut done = attempt();
        for _ in 0..MOST_OVERTAKEN {
            if is_overtaken(&done) {
                done = attempt();
            }
        }
        match done {
            Err(error) => Err(self.ask_first(error)?),
            Ok(outcome) => Ok(outcome),
        }
    }

    /// A change that a person has to agree to was not made, but the question is put to them.
    pub(crate) fn ask_first(&self, mut error: Error) -> Result<Error, Error> {
        let is_batch = matches!(error.kind(), ErrorKind::InBatch { .. });
        if let ErrorKind::NeedsReview { question, waiting, step, opened } = error.innermost_mut() {
            // One move of several cannot be made alone.
            let waiting = waiting.as_deref().filter(|_| !is_batch);
            let mut review = String::new();
            let outcome = self.change("review.open", |draft| {
                if let Some((number, id)) = step {
                    change::identify(draft, *number, id)?;
                }
                review = change::open_review(draft, question, waiting)?;
                let message = format!("review {review} is open: {question}");
                Ok(vec![Answer::new(message).with("review", review.clone())])
            })?;
            let revision = outcome.revision;
            *opened = outcome.committed.then_some(OpenedReview { review, revision });
        }
        Ok(error)
    }

    /// Who takes the lock, and for what.
    pub(crate) fn holder(&self) -> LockHolder {
        LockHolder {
            actor: self.env.actor().to_owned(),
            command: self.options.command.clone(),
            time: self.env.now(),
            cancellation: self.options.cancellation.clone(),
        }
    }

    fn expect(&self, found: &Revision) -> Result<(), Error> {
        let Some(expected) = self.options.if_match.as_deref().map(str::trim) else {
            return Ok(());
        };
        if !same_revision(found, expected) {
            return Err(self.moved(expected, found));
        }
        // The beginning of another revision may be the same.
        if found.as_str() != expected
            && let Err(error @ StoreError::Ambiguous { .. }) = self.store.operation(expected)
        {
            return Err(error.into());
        }
        Ok(())
    }

    /// The state is not where it was expected, and what happened since.
    fn moved(&self, expected: &str, found: &Revision) -> Error {
        let since = Box::new(self.changes_since(expected, found));
        ErrorKind::Moved { expected: expected.to_owned(), found: found.clone(), since }.into()
    }

    fn operation(&self, kind: &str, message: String) -> NewOperation {
        NewOperation {
            kind: kind.to_owned(),
            command: self.options.command.clone(),
            message,
            actor: self.env.actor().to_owned(),
            session: self.env.identity().session.clone(),
            time: self.env.now(),
            ..NewOperation::default()
        }
    }

    fn no_state(&self, view: &View) -> Error {
        if view.has_log() {
            let directory = self.directory().display().to_string();
            return ErrorKind::Gone { directory }.into();
        }
        Error::refused_with(
            ErrorCode::NoState,
            format!("there is no state in `{}`", self.directory().display()),
            "start one, for example `statedir init --goal 'Compare three vector databases'`; `-C` \
             chooses another directory",
        )
    }
}

/// The text with everything that looks like a secret replaced by `[masked]`.
pub(crate) fn masked(text: &str) -> String {
    check::mask(text).into_owned()
}

/// Masks everything in a document that looks like a secret.
#[cfg(feature = "fleet")]
pub(crate) fn mask_json(document: &mut serde_json::Value) {
    check::mask_json(document);
}

/// Makes changes one after another; additions in a row by one edit.
fn apply_in_order(draft: &mut Draft<'_>, changes: &[Change]) -> Result<Vec<Answer>, Error> {
    let total = changes.len();
    let mut answers = Vec::with_capacity(total);
    let (mut place, mut refused) = (Some(InOperation::First), false);
    while let Some(change) = changes.get(answers.len()) {
        if let (Some(found), false) = (place, refused) {
            let added = adapt::add_in_a_row(draft, &changes[answers.len()..], found);
            // Refused together, they are made one by one, to say which of them it was.
            refused = added.is_err();
            let added = added.unwrap_or_default();
            if !added.is_empty() {
                answers.extend(added);
                place = Some(InOperation::BehindAddition);
                continue;
            }
        }
        let number = answers.len() + 1;
        let answer = adapted(draft, change).map_err(|error| match total {
            1 => error,
            _ => ErrorKind::InBatch { number, total, source: error }.into(),
        })?;
        answers.push(answer);
        let is_addition = matches!(change, Change::StepAdd(_));
        place = is_addition.then_some(InOperation::BehindAddition);
    }
    Ok(answers)
}

/// Makes a change and lets the rules answer it.
fn adapted(draft: &mut Draft<'_>, change: &Change) -> Result<Answer, Error> {
    let watch = adapt::Watch::begin(draft, change)?;
    let answer = change.apply(draft)?;
    match watch {
        Some(watch) => watch.finish(draft, change, answer),
        None => Ok(answer),
    }
}

/// Whether a file of the state is not there.
fn is_missing(view: &View, file: StateFile) -> bool {
    match file {
        StateFile::History => !view.appended().exists(),
        file => view.bytes(file.name()).is_none(),
    }
}

/// The missing ones of the five files.
fn missing_files(view: &View) -> Vec<StateFile> {
    StateFile::FIVE.into_iter().filter(|file| is_missing(view, *file)).collect()
}

/// Whether none of the files is there.
fn is_absent(view: &View) -> bool {
    let mut files = StateFile::REWRITABLE.into_iter().chain([StateFile::History]);
    files.all(|file| is_missing(view, file))
}

/// Whether `expected` is the revision or enough characters of its beginning.
fn same_revision(found: &Revision, expected: &str) -> bool {
    let expected = expected.trim();
    let is_long = expected.len() >= LEAST_OF_REVISION;
    found.as_str() == expected || (is_long && found.as_str().starts_with(expected))
}

#[cfg(test)]
mod tests;
