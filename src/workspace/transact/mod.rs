//! The one way of a change to the disk: open, work out in memory, commit.

pub(in crate::workspace) mod conflict;
pub(in crate::workspace) mod external_edit;
pub(in crate::workspace) mod outcome;

use std::{path::PathBuf, rc::Rc};

use super::{
    Answer, Draft, Error, FileDiff, Outcome, Workspace, adopted::AdoptedView, check, is_absent,
    is_missing, snapshot::liveness::Liveness, version_control::Location,
};
use crate::{
    domain::{ErrorCode, Plan, StateFile},
    store::{Committed, NewOperation, SignOfLife, Transaction, View},
};

/// The state as a change finds it.
pub(super) struct OpenedState {
    access: StateAccess,
    /// An adopted state, translated into the five files.
    adopted: Option<AdoptedView>,
}

enum StateAccess {
    /// For a dry run.
    ReadOnly(Box<View>),
    Locked(Box<Transaction>),
}

impl StateAccess {
    /// The files on disk.
    fn view(&self) -> &View {
        match self {
            Self::ReadOnly(view) => view,
            Self::Locked(transaction) => transaction.view(),
        }
    }
}

impl OpenedState {
    /// The state as the five files, also where other files hold it.
    pub(super) fn view(&self) -> &View {
        self.adopted.as_ref().map_or_else(|| self.raw(), |adopted| &adopted.view)
    }

    /// The files on disk.
    pub(super) fn raw(&self) -> &View {
        self.access.view()
    }

    /// The translation of an adopted state, with what it was made of.
    pub(super) fn adopted(&self) -> Option<&AdoptedView> {
        self.adopted.as_ref()
    }

    /// `None` in a dry run.
    pub(super) fn transaction(&self) -> Option<&Transaction> {
        match &self.access {
            StateAccess::ReadOnly(_) => None,
            StateAccess::Locked(transaction) => Some(transaction),
        }
    }
}

/// A change, worked out completely before anything is written.
#[derive(Default)]
pub(super) struct Proposal {
    /// What the store commits; nothing if it is empty.
    pub operation: NewOperation,
    /// The plan after the change, if it was read.
    pub plan: Option<Rc<Plan>>,
    /// Whether the operation is about the files on disk, and not about the five files.
    pub is_raw: bool,
    /// Where the operation moves the whole directory.
    pub move_to: Option<PathBuf>,
    pub changed: Vec<StateFile>,
    /// The answers, one per change.
    pub answers: Vec<Answer>,
    /// What the caller should know besides.
    pub notices: Vec<String>,
    /// Filled for a dry run only.
    pub diff: Vec<FileDiff>,
}

impl Proposal {
    fn is_empty(&self) -> bool {
        self.operation.is_empty() && self.move_to.is_none()
    }
}

impl Workspace {
    /// Opens the state, calls `work` under the lock, and commits what it proposes. A dry run takes no
    /// lock and stops before the commit.
    pub(super) fn transact(
        &self,
        dry_run: bool,
        work: impl FnOnce(&OpenedState) -> Result<Proposal, Error>,
    ) -> Result<Outcome, Error> {
        let access = self.access(dry_run)?;
        let found = match dry_run {
            true => outcome::pending_notices(access.view().reports()),
            false => outcome::notices(access.view().reports()),
        };
        // What opening the state did is done, whatever comes of the change.
        self.transact_in(access, found.clone(), work).map_err(|error| error.noting(found))
    }

    fn transact_in(
        &self,
        access: StateAccess,
        mut notices: Vec<String>,
        work: impl FnOnce(&OpenedState) -> Result<Proposal, Error>,
    ) -> Result<Outcome, Error> {
        let opened = self.open(access)?;
        let dry_run = opened.transaction().is_none();
        let mut proposal = work(&opened)?;
        if let Some(adopted) = &opened.adopted {
            if proposal.move_to.is_some() {
                let message = "an adopted state stays where its files are";
                return Err(Error::refused(ErrorCode::NotMoved, message));
            }
            if !proposal.is_raw {
                let plan = proposal.plan.take();
                self.to_adopted_files(adopted, &mut proposal.operation, plan)?;
            }
            // What undo would do is compared as a native state.
            if dry_run && !proposal.is_empty() {
                self.show_adopted_files(opened.raw(), &mut proposal);
            }
        }
        let view = opened.view();
        if !dry_run {
            notices.extend(self.loss_notice(view));
        }
        notices.append(&mut proposal.notices);
        let is_empty = proposal.is_empty();
        let mut outcome = Outcome {
            revision: view.revision.clone(),
            committed: false,
            changed: proposal.changed,
            answers: proposal.answers,
            notices,
            diff: if dry_run { proposal.diff } else { Vec::new() },
        };
        let transaction = match opened.access {
            StateAccess::Locked(transaction) if !is_empty => transaction,
            StateAccess::Locked(transaction) => {
                transaction.keep_derived(proposal.operation.derived);
                return Ok(outcome);
            }
            StateAccess::ReadOnly(_) => return Ok(outcome),
        };
        let Committed { revision, warnings, .. } = match proposal.move_to {
            None => transaction.commit(proposal.operation)?,
            Some(target) => {
                let relocated = transaction.commit_and_move(proposal.operation, &target)?;
                if let Some(error) = relocated.failed {
                    let message = format!("the state could not be moved: {error}");
                    return Err(Error::refused(ErrorCode::NotMoved, message));
                }
                relocated.committed
            }
        };
        outcome.revision = revision;
        outcome.committed = true;
        self.record_process();
        outcome.notices.extend(warnings);
        Ok(outcome)
    }

    /// Records the process that lives as long as this session, if there is one, so that others can
    /// tell whether the session is alive.
    fn record_process(&self) {
        let identity = self.env.identity();
        if let (Some(session), Some(_)) = (&identity.session, &identity.process) {
            // The change is made; failing loses only evidence.
            let _ = self.store.record_sign(session, &self.sign_of_life(false));
        }
    }

    /// The sign of life of this session, now.
    pub(crate) fn sign_of_life(&self, ended: bool) -> SignOfLife {
        let process = self.env.identity().process.clone();
        SignOfLife { time: self.env.now(), ended, process, ..SignOfLife::default() }
    }

    /// Works out a change of the files' content and commits it as one operation.
    pub(crate) fn change(
        &self,
        kind: &str,
        work: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Answer>, Error>,
    ) -> Result<Outcome, Error> {
        self.transact(self.options.dry_run, |opened| self.propose(kind, false, opened, work))
    }

    /// The same, also where there is no state yet.
    pub(super) fn change_or_create(
        &self,
        kind: &str,
        work: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Answer>, Error>,
    ) -> Result<Outcome, Error> {
        self.transact(self.options.dry_run, |opened| self.propose(kind, true, opened, work))
    }

    /// Works out a change and writes nothing.
    pub(super) fn change_dry_run(
        &self,
        kind: &str,
        work: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Answer>, Error>,
    ) -> Result<Outcome, Error> {
        self.transact(true, |opened| self.propose(kind, false, opened, work))
    }

    fn propose(
        &self,
        kind: &str,
        may_create: bool,
        opened: &OpenedState,
        work: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Answer>, Error>,
    ) -> Result<Proposal, Error> {
        let view = opened.view();
        if !may_create && is_absent(view) {
            return Err(self.no_state(view));
        }
        self.refuse_unmerged(view, kind)?;
        self.refuse_lost_lists(opened.raw())?;
        self.refuse_unmerged_lists(opened.raw())?;
        let mut draft = self.draft(kind, view)?;
        let answers = work(&mut draft)?;
        conflict::refuse_lookalike(&draft, kind)?;
        let changed = draft.changed_files();
        let is_dry_run = opened.transaction().is_none();
        let diff = if is_dry_run { draft.diff() } else { Vec::new() };
        let notices = std::mem::take(&mut draft.notices);
        let mut proposal = Proposal { changed, answers, notices, diff, ..Proposal::default() };
        let derived = match opened.adopted {
            None if !is_dry_run => {
                draft.hash_ahead();
                draft.plan_table()
            }
            _ => None,
        };
        if opened.adopted.is_some() {
            proposal.plan = draft.new_plan();
        }
        if draft.is_empty() {
            proposal.operation.derived = derived;
            return Ok(proposal);
        }
        let messages: Vec<&str> =
            proposal.answers.iter().map(|answer| answer.message.as_str()).collect();
        let (records_tally, insert) = (draft.records_usage, draft.take_inserted());
        let checkpoints = draft.take_checkpoints()?;
        let (changes, append, facts) = draft.into_changes();
        proposal.operation = NewOperation {
            changes,
            append,
            insert,
            facts,
            derived,
            checkpoints,
            records_tally,
            ..self.operation(kind, messages.join("\n"))
        };
        Ok(proposal)
    }

    /// A draft of the change. A checkpoint does not depend on what the files mean, and a repair has to
    /// work with damaged ones: both get a lenient draft.
    fn draft<'a>(&'a self, kind: &str, view: &'a View) -> Result<Draft<'a>, Error> {
        if kind.starts_with("checkpoint.") || kind == check::FIX {
            return Ok(Draft::lenient(view, &self.env, self.options.progress));
        }
        let mut draft = Draft::new(view, &self.env, self.options.progress)?;
        let version_control = self.version_control();
        draft.liveness = Some(Liveness::new(self));
        draft.location = Some(Location { dir: self.directory(), version_control });
        draft.unwritten = self.unwritten(view);
        draft.layout = self.layout();
        Ok(draft)
    }

    /// Missing files that never existed, as beside a plan that somebody brought along. A file that the
    /// log or version control knows can be restored instead.
    pub(super) fn unwritten(&self, view: &View) -> Vec<StateFile> {
        // A log may begin later than the history that it belongs to.
        let is_logged = |file: &StateFile| match file {
            StateFile::History => self.store.has_known_appended().unwrap_or(true),
            file => self.is_in_log(*file).unwrap_or(true),
        };
        let is_unknown = |file: &StateFile| {
            !is_logged(file) && self.version_control().committed(self.directory(), *file).is_none()
        };
        let mut files = StateFile::FIVE.to_vec();
        files
            .retain(|file| *file != StateFile::Plan && is_missing(view, *file) && is_unknown(file));
        files
    }

    /// Reads for a dry run, else takes the lock and brings files and log together.
    fn access(&self, dry_run: bool) -> Result<StateAccess, Error> {
        Ok(match dry_run {
            true => StateAccess::ReadOnly(Box::new(self.store.read(self.options.wait)?)),
            false => {
                let transaction = self.store.begin(self.options.wait, &self.holder())?;
                StateAccess::Locked(Box::new(transaction))
            }
        })
    }

    /// Translates an adopted state, and checks the expected revision.
    fn open(&self, access: StateAccess) -> Result<OpenedState, Error> {
        let mut opened = OpenedState { access, adopted: None };
        opened.adopted = self.adopted_view(opened.raw())?;
        self.expect(&opened.view().revision)?;
        Ok(opened)
    }
}
