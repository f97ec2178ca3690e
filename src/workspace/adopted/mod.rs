//! Adopted states between workspace and store: reads see the files of a native state, and changes of
//! those become edits of the files that the layout names.

mod conflict;
mod findings;
mod insert;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::Path,
    rc::Rc,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use super::{Environment, Error, FileDiff, MAX_BYTES, Options, Outcome, Workspace, setup};
use crate::{
    domain::{
        ErrorCode, FilesByName, ModelError, Plan, StateFile, Workflow,
        adopted::{Adopted, CachedPlan, Composed, Decomposed, Documents, FileEdit, cache_sources},
        layout::{self, ForeignLayout, LAYOUT_FILE},
    },
    merge::may_conflict,
    rules::workflow_or_builtin,
    store::{
        ByteSplice, ChangeKind, DerivedPlace, Directory, FileChange, Layout, LazyFile, MadeFile,
        NewOperation, SharedBytes, Store, View, WORTHWHILE,
    },
    text::markdown::Document,
    workspace::transact::Proposal,
};

/// The files that a state consists of.
#[derive(Clone, Debug)]
pub(super) enum FileSet {
    /// The five files under their own names.
    Native,
    /// Those that a layout file names.
    Adopted(Arc<ForeignLayout>),
    /// Those that a layout names that is about to be written.
    Adopting(Arc<ForeignLayout>),
    /// There is a layout file, and it cannot be used.
    Unusable(String),
}

/// An adopted state seen as a native one.
pub(super) struct AdoptedView {
    /// The native files.
    pub view: View,
    plan: Arc<LazyPlan>,
}

/// The plan of an adopted state, composed only when it is needed.
struct LazyPlan {
    layout: Arc<ForeignLayout>,
    raw: FilesByName,
    composed: OnceLock<Result<Composed, String>>,
    /// Where it may be cached.
    place: Option<DerivedPlace>,
    cached: OnceLock<Option<Arc<CachedPlan>>>,
}

impl LazyPlan {
    fn cached(&self) -> Option<&Arc<CachedPlan>> {
        let load = || self.place.as_ref().and_then(DerivedPlace::load).and_then(CachedPlan::read);
        self.cached.get_or_init(|| load().map(Arc::new)).as_ref()
    }

    fn composed(&self) -> Result<&Composed, ModelError> {
        let compose = || {
            let workflow = workflow_in(&self.layout, &self.raw);
            let adopted = Adopted { layout: &self.layout, workflow: &workflow };
            adopted.compose_cached(self.cached(), &self.raw).map_err(|error| error.to_string())
        };
        let composed = self.composed.get_or_init(compose).as_ref();
        composed.map_err(|message| ModelError::BadValue { message: message.clone(), hint: None })
    }

    /// The cache for files that do not change, with the plan if it was read; `None` if it is there
    /// already, or not worth reading the files for.
    fn new_cache(&self, adopted: &Adopted<'_>, plan: Option<Rc<Plan>>) -> Option<Vec<u8>> {
        let lists = self.layout.plan.iter().filter_map(|one| self.raw.get(one.file.as_str()));
        let is_long = || lists.map(Vec::len).sum::<usize>() >= WORTHWHILE;
        let is_cached = || self.place.as_ref().is_none_or(DerivedPlace::is_filled);
        if plan.is_none() && (!is_long() || is_cached()) {
            return None;
        }
        let composed = self.composed().ok()?;
        let read = || Some(Rc::new(Plan::read(Document::parse(composed.plan.as_str()).ok()?)));
        adopted.to_cache(composed, &*plan.or_else(read)?)
    }

    /// The text of the plan. If a file cannot be read, the bytes of that file, so that reading the
    /// plan reports why.
    fn plan(&self) -> MadeFile {
        if let Some(cached) = self.cached() {
            let derived = cached.shared_table().map(|table| Arc::new(table) as SharedBytes);
            return MadeFile { bytes: Arc::new(cached.shared_text()), derived };
        }
        let bytes = match self.composed() {
            Ok(composed) => composed.plan.as_str().as_bytes().to_vec(),
            Err(_) => {
                let read = |one: &layout::PlanFile| self.raw.get(one.file.as_str());
                let is_bad = |bytes: &&Vec<u8>| Document::from_bytes(bytes.to_vec()).is_err();
                let bad = self.layout.plan.iter().filter_map(read).find(is_bad);
                bad.cloned().unwrap_or_else(|| vec![0xff])
            }
        };
        MadeFile { bytes: Arc::new(bytes), derived: None }
    }
}

impl FileSet {
    /// The files according to the layout file of a directory; the native ones if there is none.
    pub(super) fn of(dir: &Path) -> Self {
        match Directory::read_in(dir, LAYOUT_FILE, layout::MAX_BYTES) {
            Ok(None) => Self::Native,
            Ok(Some(bytes)) => match ForeignLayout::parse(&bytes) {
                Ok(layout) => Self::Adopted(Arc::new(layout)),
                Err(error) => {
                    let line = error.line.map(|line| format!(":{line}")).unwrap_or_default();
                    Self::Unusable(format!("`{LAYOUT_FILE}{line}` cannot be used: {error}"))
                }
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Native,
            // A directory that cannot be opened is for the store to report.
            Err(_) if !dir.is_dir() => Self::Native,
            Err(error) => Self::Unusable(format!("`{LAYOUT_FILE}` cannot be read: {error}")),
        }
    }

    /// The layout, if there is one.
    pub(super) fn layout(&self) -> Option<&ForeignLayout> {
        match self {
            Self::Adopted(layout) | Self::Adopting(layout) => Some(layout),
            Self::Native | Self::Unusable(_) => None,
        }
    }

    /// The files for the store.
    pub(super) fn store_layout(&self, dir: &Path) -> Layout {
        static NATIVE: [&str; 5] = {
            let [plan, context, variables, constraints, workflow] = StateFile::REWRITABLE;
            [plan.name(), context.name(), variables.name(), constraints.name(), workflow.name()]
        };
        let (rewritable, appended) = match self.layout() {
            None => (NATIVE.as_slice(), StateFile::History.name()),
            Some(layout) => {
                let appended = interned(&[layout.added.history.as_str()]);
                (interned(&layout.names()), appended.first().copied().unwrap_or_default())
            }
        };
        let keeps_former = self.layout().is_some();
        Layout { dir: dir.to_owned(), rewritable, appended, max_bytes: MAX_BYTES, keeps_former }
    }
}

/// The names with a `'static` lifetime, because a store copies them freely. The leak is bounded by
/// the number of layouts.
fn interned(names: &[&str]) -> &'static [&'static str] {
    static KNOWN: Mutex<Vec<&'static [&'static str]>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(same) = known.iter().find(|list| **list == names) {
        return same;
    }
    let leak = |name: &&str| -> &'static str { Box::leak((*name).to_owned().into_boxed_str()) };
    let list: &'static [&'static str] = Box::leak(names.iter().map(leak).collect());
    known.push(list);
    list
}

impl Workspace {
    /// The state in `dir` as it will be once it has that layout.
    pub(crate) fn adopting(
        dir: &Path,
        layout: ForeignLayout,
        env: Environment,
        options: Options,
    ) -> Self {
        let files = FileSet::Adopting(Arc::new(layout));
        let store = Store::new(files.store_layout(dir));
        let store = setup::with_trust_level(store, &*options.version_control);
        Self { store, env, options, files }
    }

    /// The layout, if the state is adopted.
    pub(crate) fn layout(&self) -> Option<&ForeignLayout> {
        self.files.layout()
    }

    /// The names of the files that a native file is made of, which is that file itself unless the
    /// state was adopted.
    pub(super) fn sources_of(&self, file: StateFile, native: &View) -> String {
        let composed = native.bytes(file.name()).unwrap_or_default();
        self.layout()
            .map_or_else(|| file.name().to_owned(), |layout| layout.sources_of(file, composed))
    }

    /// The name of the file, and the line in it, that a place in the text of a native file is written at.
    pub(crate) fn source_at(
        &self,
        file: StateFile,
        document: &Document,
        offset: usize,
    ) -> (String, usize) {
        match self.layout() {
            Some(layout) if matches!(file, StateFile::Context | StateFile::Constraints) => {
                let (path, line) = layout.source_at(file, document, offset);
                (path.as_str().to_owned(), line)
            }
            _ => (file.name().to_owned(), document.place(offset).line),
        }
    }

    /// Writes the layout file and nothing else. Documents in `read` are not parsed again.
    ///
    /// # Errors
    /// It could not be written. The operation may be in the log then; repeating it completes it.
    pub(crate) fn adopt(&self, message: &str, read: &Documents) -> Result<Outcome, Error> {
        let outcome = self.write_layout(message, read)?;
        // Commands find an adopted state by this file, so none of them could complete it later.
        if outcome.committed && !self.has_layout_file() {
            self.transact(false, |_| Ok(Proposal::default()))?;
            if !self.has_layout_file() {
                let message = format!("`{LAYOUT_FILE}` could not be written");
                let hint = "`statedir adopt` again completes it";
                return Err(Error::refused_with(ErrorCode::Io, message, hint));
            }
        }
        Ok(outcome)
    }

    fn has_layout_file(&self) -> bool {
        self.directory().join(LAYOUT_FILE).exists()
    }

    fn write_layout(&self, message: &str, read: &Documents) -> Result<Outcome, Error> {
        self.transact(self.options.dry_run, |opened| {
            let Some(layout) = self.files.layout() else { return Ok(Proposal::default()) };
            let view = opened.raw();
            let text = layout.write();
            if view.bytes(LAYOUT_FILE) == Some(text.as_bytes()) {
                return Ok(Proposal::default());
            }
            let kind = if view.bytes(LAYOUT_FILE).is_some() { "adopt.layout" } else { "init" };
            let change = FileChange {
                name: LAYOUT_FILE.to_owned(),
                kind: ChangeKind::Write(text.into_bytes()),
            };
            let derived = match self.options.dry_run {
                true => None,
                false => cache_of(layout, &view.files(), read),
            };
            let operation = NewOperation {
                changes: vec![change],
                derived,
                ..self.operation(kind, message.to_owned())
            };
            Ok(Proposal { operation, is_raw: true, ..Proposal::default() })
        })
    }

    /// The native files that a view of the store stands for; `None` if they are native already.
    pub(super) fn adopted_view(&self, raw: &View) -> Result<Option<AdoptedView>, Error> {
        let layout = match &self.files {
            FileSet::Native | FileSet::Adopting(_) => return Ok(None),
            FileSet::Unusable(message) => {
                let hint = "correct the file, or remove it and run `statedir adopt` again";
                return Err(Error::refused_with(ErrorCode::Unreadable, message.clone(), hint));
            }
            FileSet::Adopted(layout) => layout.clone(),
        };
        let files = raw.files();
        for one in &layout.plan {
            let bytes = files.get(one.file.as_str());
            if let Some(Err(error)) = bytes.map(|bytes| std::str::from_utf8(bytes)) {
                let message = format!("`{}` cannot be read: {error}", one.file);
                return Err(Error::refused(ErrorCode::Unreadable, message));
            }
        }
        let adopted = Adopted { layout: &layout, workflow: Workflow::builtin() };
        let shown = adopted.compose_other_files(&files);
        // A conflict in a checklist is reported at its place there; one in our own file, in the plan.
        let is_lazy =
            !files.get(layout.added.steps.as_str()).is_some_and(|bytes| may_conflict(bytes));
        let place = raw.derived_place(&cache_sources(&layout));
        let (composed, cached) = (OnceLock::new(), OnceLock::new());
        let plan = Arc::new(LazyPlan { layout, raw: files, composed, place, cached });
        let (name, of) = (StateFile::Plan.name(), plan.clone());
        let late = LazyFile { name, make: Arc::new(move || of.plan()), made: OnceLock::new() };
        let view = raw.shown_as(shown, late);
        if !is_lazy {
            view.bytes(name);
        }
        Ok(Some(AdoptedView { view, plan }))
    }

    /// A view of the store as the files of a native state.
    pub(super) fn native_view(&self, view: View) -> Result<View, Error> {
        Ok(match self.adopted_view(&view)? {
            Some(seen) => seen.view,
            None => view,
        })
    }

    /// Files of an earlier revision as those of a native state.
    pub(super) fn native_files(&self, files: FilesByName) -> Result<FilesByName, Error> {
        match &self.files {
            FileSet::Adopted(layout) => {
                let workflow = workflow_in(layout, &files);
                Ok(Adopted { layout, workflow: &workflow }.native(&files)?)
            }
            _ => Ok(files),
        }
    }

    /// The native plan once `changes` are made to the files as they are.
    pub(super) fn plan_after(
        &self,
        raw: &View,
        changes: &[FileChange],
    ) -> Result<Option<Vec<u8>>, Error> {
        let mut files = raw.files();
        for FileChange { name, kind } in changes {
            let old = files.remove(name).unwrap_or_default();
            files.extend(after(&old, kind).map(|new| (name.clone(), new)));
        }
        Ok(self.native_files(files)?.remove(StateFile::Plan.name()))
    }

    /// The file and line of a step, for an editor; in an adopted file, the first line with its
    /// title.
    ///
    /// # Errors
    /// The state cannot be read.
    #[cfg(feature = "board")]
    pub(crate) fn place_of_step(
        &self,
        number: u32,
    ) -> Result<Option<(std::path::PathBuf, usize)>, Error> {
        let state = self.read()?.state(true);
        let Some(step) = state.steps.iter().find(|step| step.number == number) else {
            return Ok(None);
        };
        if self.files.layout().is_none() {
            let place =
                step.place.map(|place| (self.directory().join(place.file.name()), place.line));
            return Ok(place);
        }
        let view = self.store.read(self.options.wait)?;
        let names = self.store.layout().rewritable.iter();
        let plans = names.filter(|name| self.role_of_file(name) == Some(StateFile::Plan));
        let found = plans.copied().find_map(|name| {
            let text = String::from_utf8_lossy(view.bytes(name)?);
            let line = text.lines().position(|line| line.contains(step.title.as_str()))?;
            Some((self.directory().join(name), line + 1))
        });
        Ok(found)
    }

    /// The native file whose role a file of the store has.
    pub(super) fn role_of_file(&self, name: &str) -> Option<StateFile> {
        match self.files.layout() {
            Some(layout) => layout.role_of(name),
            None => StateFile::from_name(name),
        }
    }

    /// Turns an operation on native files into one on the adopted files; the resulting plan can be
    /// passed parsed.
    pub(super) fn to_adopted_files(
        &self,
        seen: &AdoptedView,
        operation: &mut NewOperation,
        plan: Option<Rc<Plan>>,
    ) -> Result<(), Error> {
        let FileSet::Adopted(layout) = &self.files else { return Ok(()) };
        let mut native = BTreeMap::new();
        let is_planned =
            operation.changes.iter().any(|change| change.name == StateFile::Plan.name());
        for change in &operation.changes {
            let Some(file) = StateFile::from_name(&change.name) else { continue };
            if file == StateFile::Plan && plan.is_some() && change.kind != ChangeKind::Remove {
                continue;
            }
            let old = seen.view.bytes(&change.name).unwrap_or_default();
            let Some(new) = after(old, &change.kind) else {
                let message = format!("`{file}` cannot be removed from an adopted state");
                return Err(Error::refused(ErrorCode::BadValue, message));
            };
            native.insert(file, new);
        }
        let workflow = workflow_or_builtin(seen.view.bytes(StateFile::Workflow.name()));
        let adopted = Adopted { layout, workflow: &workflow };
        let before = is_planned.then(|| seen.plan.composed()).transpose()?;
        let Decomposed { changes, mut cached } = adopted.decompose(
            &seen.plan.raw,
            before,
            &native,
            plan.clone().filter(|_| is_planned),
        )?;
        if !is_planned {
            cached = seen.plan.new_cache(&adopted, plan);
        }
        let cached = cached.filter(|cached| cached.len() >= WORTHWHILE);
        let names = || cache_sources(layout).into_iter().map(str::to_owned).collect();
        operation.derived = cached.map(|cached| (names(), cached));
        let bytes = |splice: crate::text::Splice| ByteSplice {
            at: splice.at,
            new: splice.new.into_bytes(),
        };
        let change = |(name, change): (String, FileEdit)| FileChange {
            name,
            kind: match change {
                FileEdit::Splice(splices) => {
                    ChangeKind::Splice(splices.into_iter().map(bytes).collect())
                }
                FileEdit::Write(bytes) => ChangeKind::Write(bytes),
            },
        };
        operation.changes = changes.into_iter().map(change).collect();
        Ok(())
    }

    /// The differences between the adopted files as they are and other versions of them.
    pub(super) fn diff_of_adopted_files(&self, raw: &View, then: &FilesByName) -> Vec<FileDiff> {
        let names = self.store.layout().rewritable.iter();
        let diff = names.filter_map(|name| {
            let old = raw.bytes(name).unwrap_or_default();
            let new = then.get(*name).map(Vec::as_slice).unwrap_or_default();
            let file = self.role_of_file(name).unwrap_or(StateFile::Plan);
            let diff = || FileDiff { name: (*name).to_owned(), ..FileDiff::new(file, old, new) };
            (old != new).then(diff)
        });
        diff.collect()
    }

    /// Makes a dry run show the files that an operation on adopted files changes.
    pub(super) fn show_adopted_files(&self, raw: &View, proposal: &mut Proposal) {
        let Some(layout) = self.layout() else { return };
        let mut diff = Vec::new();
        for FileChange { name, kind } in &proposal.operation.changes {
            let old = raw.bytes(name).unwrap_or_default();
            let new = after(old, kind).unwrap_or_default();
            let file = layout.role_of(name).unwrap_or(StateFile::Plan);
            if old != new {
                diff.push(FileDiff { name: name.clone(), ..FileDiff::new(file, old, &new) });
            }
        }
        let history = proposal.diff.drain(..).filter(|file| file.file == StateFile::History);
        let name = layout.added.history.as_str();
        diff.extend(history.map(|file| FileDiff { name: name.to_owned(), ..file }));
        proposal.diff = diff;
    }
}

/// The bytes of a file after a change of it; `None` if it goes.
fn after(old: &[u8], change: &ChangeKind) -> Option<Vec<u8>> {
    match change {
        ChangeKind::Write(bytes) => Some(bytes.clone()),
        ChangeKind::Splice(splices) => Some(spliced(old, splices)),
        ChangeKind::Edit(_, new) => Some(new.to_vec()),
        ChangeKind::Remove => None,
    }
}

/// The workflow of an adopted state.
fn workflow_in(layout: &ForeignLayout, raw: &FilesByName) -> Cow<'static, Workflow> {
    let workflow = layout.added.workflow.as_ref().and_then(|path| raw.get(path.as_str()));
    workflow_or_builtin(workflow.map(Vec::as_slice))
}

/// The cache for the files of a state that is being adopted.
fn cache_of(
    layout: &ForeignLayout,
    raw: &FilesByName,
    read: &Documents,
) -> Option<(Vec<String>, Vec<u8>)> {
    let workflow = workflow_in(layout, raw);
    let adopted = Adopted { layout, workflow: &workflow };
    let composed = adopted.compose_reusing(raw, read).ok()?;
    if composed.plan.as_str().len() < WORTHWHILE {
        return None;
    }
    let plan = Plan::read(Document::parse(composed.plan.as_str()).ok()?);
    let names = cache_sources(layout).into_iter().map(str::to_owned).collect();
    Some((names, adopted.to_cache(&composed, &plan)?))
}

fn spliced(old: &[u8], splices: &[ByteSplice]) -> Vec<u8> {
    let mut new = Vec::with_capacity(old.len());
    let mut at = 0;
    for splice in splices {
        new.extend_from_slice(old.get(at..splice.at.start).unwrap_or_default());
        new.extend_from_slice(&splice.new);
        at = splice.at.end;
    }
    new.extend_from_slice(old.get(at..).unwrap_or_default());
    new
}
