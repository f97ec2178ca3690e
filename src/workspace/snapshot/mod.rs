//! All files at one revision, read into typed views on demand, and what follows from them.

pub(in crate::workspace) mod cached_facts;
pub(in crate::workspace) mod liveness;
pub(in crate::workspace) mod readiness;
pub(in crate::workspace) mod resolve;
pub(in crate::workspace) mod usage;

use std::{
    borrow::Cow,
    io::BufReader,
    sync::{Arc, OnceLock},
};

use self::liveness::Liveness;
use super::{CachedFacts, Error};
use crate::{
    domain::{Constraints, Context, ModelError, Plan, StateFile, Variables, Workflow},
    history,
    store::{self, AppendedReader, AppendedView, Revision, View},
    text::markdown::Document,
};

/// A consistent picture of the state directory.
#[derive(Debug)]
pub struct Snapshot {
    view: View,
    progress: fn(u64),
    liveness: Liveness,
    plan: OnceLock<Arc<Plan>>,
}

/// Reads the history through a buffer no larger than it: every page of one is paid for at the start.
pub(super) fn buffered(history: &AppendedView) -> store::Result<BufReader<AppendedReader>> {
    let capacity = history.len().clamp(1, 1 << 16) as usize;
    Ok(BufReader::with_capacity(capacity, history.reader()?))
}

impl Snapshot {
    pub(super) fn new(view: View, progress: fn(u64), liveness: Liveness) -> Self {
        Self { view, progress, liveness, plan: OnceLock::new() }
    }

    /// Who looks for signs of life of those who hold steps.
    pub(super) fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    /// What the store gave.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// The revision.
    pub fn revision(&self) -> &Revision {
        &self.view.revision
    }

    /// The plan, read once.
    pub(crate) fn plan(&self) -> Result<Arc<Plan>, Error> {
        if let Some(plan) = self.plan.get() {
            return Ok(Arc::clone(plan));
        }
        let (plan, _) = plan(&self.view)?;
        Ok(Arc::clone(self.plan.get_or_init(|| Arc::new(plan))))
    }

    /// The context.
    pub(crate) fn context(&self) -> Result<Context, Error> {
        markdown(&self.view, StateFile::Context).map(Context::read)
    }

    /// The constraints.
    pub(crate) fn constraints(&self) -> Result<Constraints, Error> {
        markdown(&self.view, StateFile::Constraints).map(Constraints::read)
    }

    /// The variables.
    pub(crate) fn variables(&self) -> Result<Variables, Error> {
        let bytes = bytes(&self.view, StateFile::Variables)?;
        Ok(Variables::parse(bytes.to_vec())?)
    }

    /// The lifecycle in force.
    ///
    /// # Errors
    /// A custom workflow.yaml cannot be used.
    pub(crate) fn workflow(&self) -> Result<Cow<'static, Workflow>, Error> {
        workflow(&self.view)
    }

    /// The whole history, from its beginning.
    pub(crate) fn history(&self) -> Result<BufReader<AppendedReader>, Error> {
        if !self.view.appended().exists() {
            return Err(ModelError::Missing { file: StateFile::History }.into());
        }
        Ok(buffered(self.view.appended())?)
    }

    /// Refuses a state of which a file is missing or cannot be read.
    ///
    /// # Errors
    /// The first such file, and why.
    pub(crate) fn refuse_damaged(&self) -> Result<(), Error> {
        self.plan()?;
        self.context()?;
        self.variables()?;
        self.constraints()?;
        self.history()?;
        self.workflow().map(|_| ())
    }

    /// The newest entries of the history, newest last.
    pub(crate) fn last_entries(&self, limit: usize) -> Result<Vec<history::Entry>, Error> {
        let mut reader = self.history()?;
        history::last_entries(&mut reader, limit).map_err(Error::from)
    }

    /// The newest entries in about the last `bytes` of the history, newest last: a long history
    /// costs no more than a short one.
    pub(crate) fn recent_entries(
        &self,
        limit: usize,
        bytes: u64,
    ) -> Result<Vec<history::Entry>, Error> {
        let mut reader = self.history()?;
        history::last_entries_within(&mut reader, limit, bytes, |_| true).map_err(Error::from)
    }

    /// What is derived from the history, from the cache where it is valid.
    pub(crate) fn facts(&self) -> Result<CachedFacts, Error> {
        CachedFacts::load(&self.view, &mut |bytes| (self.progress)(bytes))
    }
}

pub(super) fn bytes(view: &View, file: StateFile) -> Result<&[u8], Error> {
    view.bytes(file.name()).ok_or_else(|| ModelError::Missing { file }.into())
}

pub(super) fn markdown(view: &View, file: StateFile) -> Result<Document, Error> {
    let document = match view.text(file.name()) {
        Some(text) => Document::parse_shared(text),
        None => Document::from_bytes(bytes(view, file)?.to_vec()),
    };
    document.map_err(|error| ModelError::markdown(file, &error).into())
}

/// The plan, and whether it had to be read from its file: otherwise it was kept with exactly these
/// bytes.
pub(super) fn plan(view: &View) -> Result<(Plan, bool), Error> {
    let file = StateFile::Plan;
    if let Some(table) = view.derived(file.name())
        && let Some(source) = view.text(file.name())
        && let Some(plan) = Plan::from_table(source, table)
    {
        return Ok((plan, false));
    }
    let document = markdown(view, file)?;
    // An editor's accident or a full disk: whoever takes this for a plan without steps starts
    // another one over it.
    if document.source().trim_start_matches('\u{feff}').trim().is_empty() {
        let message = "it is empty".to_owned();
        let (place, snippet) = (None, None);
        return Err(ModelError::Unreadable { file, place, snippet, message }.into());
    }
    Ok((Plan::read(document), true))
}

pub(super) fn workflow(view: &View) -> Result<Cow<'static, Workflow>, Error> {
    let Some(bytes) = view.bytes(StateFile::Workflow.name()) else {
        return Ok(Cow::Borrowed(Workflow::builtin()));
    };
    let text = std::str::from_utf8(bytes).map_err(|error| ModelError::Unreadable {
        file: StateFile::Workflow,
        place: None,
        snippet: None,
        message: error.to_string(),
    })?;
    Ok(Cow::Owned(crate::rules::parse_workflow(text)?))
}
