//! The new content of the files while a command is being worked out.

mod history;
mod plan_table;

use std::{
    borrow::Cow,
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use self::history::HistoryEnd;
use super::{
    CachedFacts, Environment, Error, FileDiff, adapt,
    snapshot::{
        self, bytes,
        liveness::{Liveness, running_ms},
        workflow,
    },
    version_control::Location,
};
use crate::{
    domain::{
        Claim, Constraints, Context, ModelError, Plan, StateFile, Step, StepRole, Variables,
        Workflow, layout::ForeignLayout,
    },
    recovery::{Holder, Signs, ends_of},
    store::{ByteSplice, ChangeKind, CheckpointChange, Content, FileChange, Moment, View},
    text::{Splice, json, markdown},
};

/// A file that the command has changed so far.
#[derive(Clone)]
struct ChangedFile {
    bytes: Content,
    /// The splices against the file on disk, as long as there was one edit only.
    splices: Option<Vec<Splice>>,
}

/// An edit of the plan, and the plan before it.
struct EditedPlan {
    before: Option<Rc<Plan>>,
    edited: markdown::Edited,
}

/// Everything a command is about to change. Dropping it changes nothing.
pub(crate) struct Draft<'a> {
    view: &'a View,
    pub(super) env: &'a Environment,
    workflow: OnceCell<Cow<'static, Workflow>>,
    changed: BTreeMap<StateFile, ChangedFile>,
    removed: Option<StateFile>,
    /// The files that were never there, and are made when something is written into them.
    pub(super) unwritten: Vec<StateFile>,
    appended: Vec<u8>,
    /// What goes into the history before an offset of it.
    inserted: Vec<(u64, Vec<u8>)>,
    history_end: OnceCell<HistoryEnd>,
    facts: Option<CachedFacts>,
    plan: Cached<Plan>,
    /// An edit of the plan that has not been read yet.
    edited_plan: RefCell<Option<EditedPlan>>,
    /// Whether the plan on disk was read from its file, which takes longer than need be.
    has_parsed_plan: Cell<bool>,
    constraints: Cached<Constraints>,
    pub(super) rules: RefCell<adapt::KnownRules>,
    variables: Cached<Variables>,
    progress: fn(u64),
    /// Whether an entry tells what was counted since the one before.
    pub(super) records_usage: bool,
    /// The files of an adopted state.
    pub(super) layout: Option<&'a ForeignLayout>,
    /// Where the state is, for steps that say where they are worked on.
    pub(super) location: Option<Location<'a>>,
    /// Who looks for signs of life of those who hold steps.
    pub(super) liveness: Option<Liveness>,
    pub(super) notices: Vec<String>,
    pub(super) checkpoints: Vec<CheckpointChange>,
    /// Who asked for what is made now that it was approved: their questions are theirs.
    pub(super) on_behalf_of: Option<Claim>,
    /// Whether a change of this operation has taken into account that time has passed.
    pub(super) time_has_passed: bool,
}

/// A moment at which something is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountedAt {
    /// When the state was last changed.
    LastChange,
    /// When the command runs.
    Now,
}

impl<'a> Draft<'a> {
    /// Who holds a step, for the one who acts.
    pub(super) fn holder(&self, step: &Step) -> Holder {
        match &self.liveness {
            Some(liveness) => liveness.holder(step, self.workflow()),
            None => {
                let claim = self.env.identity().claim();
                let stale_after_ms = self.workflow().stale_after_ms();
                let claimed = step.claimed_by.as_ref();
                let signs = Signs::default();
                let holder = Holder::of(step.number, claimed, &claim, &signs, stale_after_ms);
                Holder { ends: ends_of(step, self.workflow()), ..holder }
            }
        }
    }

    pub(super) fn new(
        view: &'a View,
        env: &'a Environment,
        progress: fn(u64),
    ) -> Result<Self, Error> {
        // A lifecycle of one's own must be readable; the built-in one is made when it is needed.
        let own = match view.bytes(StateFile::Workflow.name()) {
            Some(_) => Some(workflow(view)?),
            None => None,
        };
        Ok(Self::with_workflow(view, env, progress, own))
    }

    /// A draft for what has to work with damaged files, too: a lifecycle that cannot be read
    /// counts as the built-in one.
    pub(super) fn lenient(view: &'a View, env: &'a Environment, progress: fn(u64)) -> Self {
        let own = view.bytes(StateFile::Workflow.name()).and_then(|_| workflow(view).ok());
        Self::with_workflow(view, env, progress, own)
    }

    fn with_workflow(
        view: &'a View,
        env: &'a Environment,
        progress: fn(u64),
        own: Option<Cow<'static, Workflow>>,
    ) -> Self {
        env.mix_in(view.revision.as_str());
        Self {
            workflow: own.map_or_else(OnceCell::new, OnceCell::from),
            view,
            env,
            changed: BTreeMap::new(),
            removed: None,
            unwritten: Vec::new(),
            appended: Vec::new(),
            inserted: Vec::new(),
            history_end: OnceCell::new(),
            facts: None,
            plan: RefCell::new(None),
            edited_plan: RefCell::new(None),
            has_parsed_plan: Cell::new(false),
            constraints: RefCell::new(None),
            rules: RefCell::default(),
            variables: RefCell::new(None),
            progress,
            records_usage: false,
            layout: None,
            location: None,
            liveness: None,
            notices: Vec::new(),
            checkpoints: Vec::new(),
            on_behalf_of: None,
            time_has_passed: false,
        }
    }

    /// The files before the command.
    pub(super) fn view(&self) -> &'a View {
        self.view
    }

    /// The lifecycle in force.
    pub(super) fn workflow(&self) -> &Workflow {
        self.workflow.get_or_init(|| Cow::Borrowed(Workflow::builtin()))
    }

    /// The plan as changed so far.
    pub(super) fn plan(&self) -> Result<Rc<Plan>, Error> {
        cached(&self.plan, || {
            // By now whoever made the edit has let go of the plan before it, which can be taken over.
            if let Some(EditedPlan { before, edited }) = self.edited_plan.take() {
                return Ok(match before {
                    Some(before) => Plan::reread(before, edited),
                    None => Plan::read(edited.document),
                });
            }
            if self.changed.contains_key(&StateFile::Plan) {
                return self.markdown(StateFile::Plan).map(Plan::read);
            }
            let (plan, is_parsed) = snapshot::plan(self.view)?;
            self.has_parsed_plan.set(is_parsed);
            Ok(plan)
        })
    }

    /// The plan as it is after the change, if that was read from a text.
    pub(super) fn new_plan(&self) -> Option<Rc<Plan>> {
        let is_changed = self.changed.contains_key(&StateFile::Plan);
        (is_changed || self.has_parsed_plan.get()).then(|| self.plan().ok())?
    }

    /// The context as changed so far.
    pub(super) fn context(&self) -> Result<Context, Error> {
        let read = |document| Context::read(document).followed_by(self.layout);
        self.markdown(StateFile::Context).map(read)
    }

    /// The constraints as changed so far.
    pub(super) fn constraints(&self) -> Result<Rc<Constraints>, Error> {
        let read = |document| Constraints::read(document).followed_by(self.layout);
        cached(&self.constraints, || self.markdown(StateFile::Constraints).map(read))
    }

    /// The variables as changed so far.
    pub(super) fn variables(&self) -> Result<Rc<Variables>, Error> {
        cached(&self.variables, || {
            let bytes = self.bytes(StateFile::Variables)?;
            Ok(Variables::parse(bytes.to_vec())?)
        })
    }

    /// The facts as changed so far.
    pub(super) fn facts(&mut self) -> Result<&mut CachedFacts, Error> {
        if self.facts.is_none() {
            self.facts = Some(CachedFacts::load(self.view, &mut |bytes| (self.progress)(bytes))?);
        }
        Ok(self.facts.get_or_insert_default())
    }

    /// Takes over an edit of a markdown file.
    pub(super) fn put(&mut self, file: StateFile, edited: markdown::Edited) {
        let text = edited.document.shared_source().into();
        self.put_text(file, text, edited.splices.clone());
        match file {
            StateFile::Plan => {
                let before = self.plan.get_mut().take();
                *self.edited_plan.get_mut() = Some(EditedPlan { before, edited });
            }
            StateFile::Constraints => {
                let read = Constraints::read(edited.document).followed_by(self.layout);
                *self.constraints.get_mut() = Some(Rc::new(read));
            }
            _ => {}
        }
    }

    /// Takes over an edit of variables.json.
    pub(super) fn put_variables(&mut self, edited: json::Edited) {
        let text = edited.document.source().to_owned();
        *self.variables.get_mut() = Some(Rc::new(Variables { document: edited.document }));
        self.put_text(StateFile::Variables, text.into(), edited.splices);
    }

    /// Takes a file away, if it is there.
    pub(super) fn remove(&mut self, file: StateFile) {
        self.removed = self.view.bytes(file.name()).map(|_| file);
    }

    /// The text of a file as changed so far.
    pub(super) fn text_of(&self, file: StateFile) -> Result<Cow<'_, str>, Error> {
        self.bytes(file).map(String::from_utf8_lossy)
    }

    /// Writes a whole file.
    pub(super) fn put_whole(&mut self, file: StateFile, text: String) {
        self.put_bytes(file, text.into_bytes());
    }

    /// Writes a whole file, whatever is in it.
    pub(super) fn put_bytes(&mut self, file: StateFile, bytes: Vec<u8>) {
        self.forget();
        self.changed.insert(file, ChangedFile { bytes: bytes.into(), splices: None });
    }

    /// Lets everything be read again.
    fn forget(&mut self) {
        *self.plan.get_mut() = None;
        *self.edited_plan.get_mut() = None;
        *self.constraints.get_mut() = None;
        *self.variables.get_mut() = None;
    }

    fn put_text(&mut self, file: StateFile, bytes: Content, splices: Vec<Splice>) {
        if splices.is_empty() {
            return;
        }
        let first = !self.changed.contains_key(&file) && !self.unwritten.contains(&file);
        self.changed.insert(file, ChangedFile { bytes, splices: first.then_some(splices) });
    }

    /// What is to be done to the checkpoints. Those of the state that this change makes are
    /// anchored in the last entry it writes.
    pub(super) fn take_checkpoints(&mut self) -> Result<Vec<CheckpointChange>, Error> {
        let mut changes = std::mem::take(&mut self.checkpoints);
        for change in &mut changes {
            if let CheckpointChange::Take(new) = change
                && new.moment == Moment::After
            {
                let heads = &self.facts()?.history.heads;
                new.marks = heads.iter().map(ToString::to_string).collect();
            }
        }
        Ok(changes)
    }

    /// The bytes of a rewritable file as changed so far; `None` when it is not there.
    pub(super) fn bytes_of(&self, file: StateFile) -> Option<&[u8]> {
        self.bytes(file).ok().filter(|_| self.removed != Some(file))
    }

    /// What is to be appended to the history.
    pub(super) fn appended(&self) -> &[u8] {
        &self.appended
    }

    /// Whether constraints.md looks at variables at all.
    pub(super) fn mentions_variables(&self) -> bool {
        let bytes = self.bytes(StateFile::Constraints).unwrap_or_default();
        [b"variables.".as_slice(), b"vars."]
            .iter()
            .any(|word| bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word)))
    }

    /// Whether a rule or a limit is about time, and a step is running: then time alone can make a
    /// condition true.
    pub(super) fn watches_time(&self) -> bool {
        let bytes = self.bytes(StateFile::Constraints).unwrap_or_default();
        if !std::str::from_utf8(bytes).is_ok_and(adapt::limits_time) {
            return false;
        }
        let Ok(plan) = self.plan() else { return false };
        plan.steps.iter().any(|step| self.workflow().role_of(step) == Some(StepRole::Active))
    }

    /// How long the running steps have been running, added up: now, or when the state was last
    /// changed.
    pub(super) fn running_ms(
        &self,
        plan: &Plan,
        roles: &[Option<StepRole>],
        when: CountedAt,
    ) -> u64 {
        let last = || {
            let time = self.liveness.as_ref()?.last_change()?;
            Some(time.min(self.env.timestamp()))
        };
        let moment = match when {
            CountedAt::LastChange if !self.time_has_passed && self.watches_time() => last(),
            _ => None,
        };
        running_ms(plan, roles, moment.unwrap_or_else(|| self.env.timestamp()))
    }

    /// Whether anything differs from the files on disk.
    pub(super) fn is_empty(&self) -> bool {
        let unchanged = |(file, changed): (&StateFile, &ChangedFile)| {
            self.view.bytes(file.name()) == Some(&*changed.bytes)
        };
        self.appended.is_empty()
            && self.inserted.is_empty()
            && self.removed.is_none()
            && self.checkpoints.is_empty()
            && self.changed.iter().all(unchanged)
    }

    /// The files that differ.
    pub(super) fn changed_files(&self) -> Vec<StateFile> {
        let differs = |file: &&StateFile| {
            let new = self.changed.get(file).map(|changed| &*changed.bytes);
            self.view.bytes(file.name()) != new
        };
        let mut files: Vec<_> = self.changed.keys().filter(differs).copied().collect();
        files.extend(self.removed);
        if !self.appended.is_empty() || !self.inserted.is_empty() {
            files.push(StateFile::History);
        }
        files
    }

    /// Before and after of every changed file; for the history, the end of it.
    pub(super) fn diff(&self) -> Vec<FileDiff> {
        let mut diff: Vec<FileDiff> = Vec::new();
        for (&file, changed) in &self.changed {
            let old = self.view.bytes(file.name()).unwrap_or_default();
            diff.push(FileDiff::new(file, old, &changed.bytes));
        }
        if let Some(file) = self.removed {
            let old = self.view.bytes(file.name()).unwrap_or_default();
            diff.push(FileDiff::new(file, old, b""));
        }
        if !self.appended.is_empty() || !self.inserted.is_empty() {
            let inserted = self.inserted.iter().flat_map(|(_, bytes)| bytes);
            let added: Vec<u8> = inserted.chain(&self.appended).copied().collect();
            diff.push(FileDiff::new(StateFile::History, b"", &added));
        }
        diff
    }

    /// Begins to hash long files that differ, which the store will ask for.
    pub(super) fn hash_ahead(&self) {
        self.changed.values().for_each(|changed| changed.bytes.hash_ahead());
    }

    /// The state as it will be, except for what is inserted into the history.
    pub(super) fn view_after(&self) -> View {
        let mut files = self.view.files();
        for (file, changed) in &self.changed {
            files.insert(file.name().to_owned(), changed.bytes.to_vec());
        }
        files.retain(|name, _| self.removed.is_none_or(|removed| name != removed.name()));
        self.view.with_files(files).with_appended(&self.appended)
    }

    /// What the store is to do.
    pub(super) fn into_changes(mut self) -> (Vec<FileChange>, Vec<u8>, Option<Vec<u8>>) {
        let view = self.view;
        let removed = self
            .removed
            .map(|file| FileChange { name: file.name().to_owned(), kind: ChangeKind::Remove });
        let changes = std::mem::take(&mut self.changed)
            .into_iter()
            .filter(|(file, changed)| view.bytes(file.name()) != Some(&*changed.bytes))
            .map(|(file, changed)| FileChange {
                name: file.name().to_owned(),
                kind: match changed.splices {
                    Some(splices) => {
                        let splices = splices.into_iter().map(bytes_of).collect();
                        ChangeKind::Edit(splices, changed.bytes)
                    }
                    None => ChangeKind::Write(changed.bytes.to_vec()),
                },
            })
            .chain(removed)
            .collect();
        let facts = self.facts.as_ref().map(CachedFacts::to_bytes);
        (changes, self.appended, facts)
    }

    fn markdown(&self, file: StateFile) -> Result<markdown::Document, Error> {
        let bytes = self.bytes(file)?.to_vec();
        markdown::Document::from_bytes(bytes)
            .map_err(|error| ModelError::markdown(file, &error).into())
    }

    fn bytes(&self, file: StateFile) -> Result<&[u8], Error> {
        match self.changed.get(&file) {
            Some(changed) => Ok(&changed.bytes),
            None if self.unwritten.contains(&file) => Ok(file.blank()),
            None => bytes(self.view, file),
        }
    }
}

/// A typed view of a file as changed so far, read when it is first needed.
type Cached<T> = RefCell<Option<Rc<T>>>;

fn cached<T>(cell: &Cached<T>, read: impl FnOnce() -> Result<T, Error>) -> Result<Rc<T>, Error> {
    if let Some(found) = cell.borrow().as_ref() {
        return Ok(Rc::clone(found));
    }
    let found = Rc::new(read()?);
    *cell.borrow_mut() = Some(Rc::clone(&found));
    Ok(found)
}

fn bytes_of(splice: Splice) -> ByteSplice {
    ByteSplice { at: splice.at, new: splice.new.into_bytes() }
}

impl Draft<'_> {
    /// Who acts, or for whom.
    pub(in crate::workspace) fn actor(&self) -> &str {
        self.on_behalf_of.as_ref().map_or_else(|| self.env.actor(), |claim| &claim.actor)
    }

    /// Works something into the draft, or leaves it as it was where that is refused.
    pub(in crate::workspace) fn attempt<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (changed, facts) = (self.changed.clone(), self.facts.clone());
        let (appended, notices) = (self.appended.len(), self.notices.len());
        let (checkpoints, usage) = (self.checkpoints.len(), self.records_usage);
        let done = work(self);
        if done.is_err() {
            (self.changed, self.facts, self.records_usage) = (changed, facts, usage);
            self.appended.truncate(appended);
            self.notices.truncate(notices);
            self.checkpoints.truncate(checkpoints);
            self.forget();
        }
        done
    }
}
