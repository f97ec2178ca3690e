//! The one way of a change to the disk: open, work out in memory, commit.

pub(in crate::workspace) mod conflict;
pub(in crate::workspace) mod external_edit;
pub(in crate::workspace) mod notice;
pub(in crate::workspace) mod outcome;

use std::{path::PathBuf, rc::Rc};

use self::notice::{findings, notices};
use super::{
    Answer, Draft, Error, FileDiff, Outcome, Workspace, adopted::AdoptedView, check, is_absent,
    snapshot::liveness::Liveness, version_control::Location,
};
use crate::{
    domain::{ErrorCode, Plan, StateFile},
    store::{Committed, NewOperation, SignOfLife, Transaction, View},
};

/// The state as a change finds it.
pub(super) struct Opened {
    access: Access,
    /// The native files, where the state is made of others.
    seen: Option<AdoptedView>,
}

enum Access {
    /// For a dry run.
    ToLook(Box<View>),
    /// With the lock.
    ToChange(Box<Transaction>),
}

impl Opened {
    /// The state as the files of a native one.
    pub(super) fn view(&self) -> &View {
        self.seen.as_ref().map_or_else(|| self.raw(), |seen| &seen.view)
    }

    /// The files as they are.
    pub(super) fn raw(&self) -> &View {
        match &self.access {
            Access::ToLook(view) => view,
            Access::ToChange(transaction) => transaction.view(),
        }
    }

    /// The same with what it was composed of, where the state is made of others.
    pub(super) fn seen(&self) -> Option<&AdoptedView> {
        self.seen.as_ref()
    }

    /// The right to change the state; `None` in a dry run.
    pub(super) fn transaction(&self) -> Option<&Transaction> {
        match &self.access {
            Access::ToLook(_) => None,
            Access::ToChange(transaction) => Some(transaction),
        }
    }
}

/// What a change comes to, worked out completely before anything is written.
#[derive(Default)]
pub(super) struct Proposal {
    /// What the store is to do; nothing happens if it is empty.
    pub operation: NewOperation,
    /// The plan that it leads to, if it was read.
    pub plan: Option<Rc<Plan>>,
    /// Whether it speaks of the files as they are, not of those of a native state.
    pub is_raw: bool,
    /// Where the whole directory goes with the operation.
    pub move_to: Option<PathBuf>,
    /// The files that change.
    pub changed: Vec<StateFile>,
    /// The answers, one per change.
    pub answers: Vec<Answer>,
    /// What the caller should know besides.
    pub notices: Vec<String>,
    /// The change as a dry run shows it.
    pub diff: Vec<FileDiff>,
}

impl Proposal {
    fn is_empty(&self) -> bool {
        self.operation.is_empty() && self.move_to.is_none()
    }
}

impl Workspace {
    /// Everything is decided by what `work` finds under the lock; a dry run works the same out on
    /// a view of its own, and stops before the commit.
    pub(super) fn transact(
        &self,
        dry_run: bool,
        work: impl FnOnce(&Opened) -> Result<Proposal, Error>,
    ) -> Result<Outcome, Error> {
        let opened = self.open(dry_run)?;
        let mut proposal = work(&opened)?;
        if let Some(seen) = &opened.seen {
            if proposal.move_to.is_some() {
                let message = "an adopted state stays where its files are";
                return Err(Error::refused(ErrorCode::NotMoved, message));
            }
            if !proposal.is_raw {
                let plan = proposal.plan.take();
                self.to_adopted_files(seen, &mut proposal.operation, plan)?;
            }
            // What undo would do is compared as a native state.
            if dry_run && !proposal.is_empty() {
                self.show_adopted_files(opened.raw(), &mut proposal);
            }
        }
        let view = opened.view();
        let mut seen = match dry_run {
            true => findings(view.reports()),
            false => notices(view.reports()).into_iter().chain(self.loss_notice(view)).collect(),
        };
        seen.append(&mut proposal.notices);
        let is_empty = proposal.is_empty();
        let mut outcome = Outcome {
            revision: view.revision.clone(),
            committed: false,
            changed: proposal.changed,
            answers: proposal.answers,
            notices: seen,
            diff: if dry_run { proposal.diff } else { Vec::new() },
        };
        let transaction = match opened.access {
            Access::ToChange(transaction) if !is_empty => transaction,
            Access::ToChange(transaction) => {
                transaction.keep_derived(proposal.operation.derived);
                return Ok(outcome);
            }
            Access::ToLook(_) => return Ok(outcome),
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
        self.leave_process_sign();
        outcome.notices.extend(warnings);
        Ok(outcome)
    }

    /// Where a process lives as long as its session, it can be told later whether that goes on.
    fn leave_process_sign(&self) {
        let identity = self.env.identity();
        if let (Some(session), Some(_)) = (&identity.session, &identity.process) {
            // What is lost with it is evidence; the change is made.
            let _ = self.store.record_sign(session, &self.sign(false));
        }
    }

    /// What the session leaves behind now.
    pub(crate) fn sign(&self, ended: bool) -> SignOfLife {
        let process = self.env.identity().process.clone();
        SignOfLife { time: self.env.now(), ended, process, ..SignOfLife::default() }
    }

    /// Works out a change of the files' content and commits it as one operation.
    pub(crate) fn change(
        &self,
        kind: &str,
        work: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Answer>, Error>,
    ) -> Result<Outcome, Error> {
        self.change_any(kind, false, work)
    }

    /// The same, also where there is no state yet if the change makes a `new` one.
    pub(crate) fn change_any(
        &self,
        kind: &str,
        new: bool,
        work: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Answer>, Error>,
    ) -> Result<Outcome, Error> {
        self.transact(self.options.dry_run, |opened| self.propose(kind, new, opened, work))
    }

    /// Works out a change and writes nothing.
    pub(super) fn rehearse(
        &self,
        kind: &str,
        work: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Answer>, Error>,
    ) -> Result<Outcome, Error> {
        self.transact(true, |opened| self.propose(kind, false, opened, work))
    }

    fn propose(
        &self,
        kind: &str,
        new: bool,
        opened: &Opened,
        work: impl FnOnce(&mut Draft<'_>) -> Result<Vec<Answer>, Error>,
    ) -> Result<Proposal, Error> {
        let view = opened.view();
        if !new && is_absent(view) {
            return Err(self.no_state(view));
        }
        self.refuse_unmerged(view, kind)?;
        self.refuse_unmerged_lists(opened.raw())?;
        let mut draft = self.draft(kind, view)?;
        let answers = work(&mut draft)?;
        conflict::refuse_lookalike(&draft, kind)?;
        let changed = draft.changed_files();
        let is_dry_run = opened.transaction().is_none();
        let diff = if is_dry_run { draft.diff() } else { Vec::new() };
        let notices = std::mem::take(&mut draft.notices);
        let mut proposal = Proposal { changed, answers, notices, diff, ..Proposal::default() };
        let derived = match opened.seen {
            None if !is_dry_run => draft.plan_table(),
            _ => None,
        };
        if opened.seen.is_some() {
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

    /// Nothing of a checkpoint depends on what the files mean, and a repair has to work with damaged
    /// ones.
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

    /// Files that are not there and never were, as beside a plan that somebody brought along. One
    /// that the log or version control knows is missing, and can be restored.
    pub(super) fn unwritten(&self, view: &View) -> Vec<StateFile> {
        let is_absent = |file: &StateFile| match file {
            StateFile::History => !view.appended().exists(),
            file => view.bytes(file.name()).is_none(),
        };
        // A log may begin later than the history that it belongs to.
        let is_logged = |file: &StateFile| match file {
            StateFile::History => self.store.has_known_appended().unwrap_or(true),
            file => self.is_in_log(*file).unwrap_or(true),
        };
        let is_unknown = |file: &StateFile| {
            !is_logged(file) && self.version_control().committed(self.directory(), *file).is_none()
        };
        let mut files = StateFile::FIVE.to_vec();
        files.retain(|file| *file != StateFile::Plan && is_absent(file) && is_unknown(file));
        files
    }

    /// Reads for a dry run; else takes the lock and brings files and log together. Checks the
    /// expected revision.
    fn open(&self, dry_run: bool) -> Result<Opened, Error> {
        let access = match dry_run {
            true => Access::ToLook(Box::new(self.store.read(self.options.wait)?)),
            false => {
                let transaction = self.store.begin(self.options.wait, &self.holder())?;
                Access::ToChange(Box::new(transaction))
            }
        };
        let mut opened = Opened { access, seen: None };
        opened.seen = self.adopted_view(opened.raw())?;
        self.expect(&opened.view().revision)?;
        Ok(opened)
    }
}
