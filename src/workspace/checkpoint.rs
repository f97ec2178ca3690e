//! Checkpoints: taking, listing, looking at and removing them.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Answer, Error, Outcome, Snapshot, Status, StepLine, Workspace, change};
use crate::{
    engine::nearest,
    model::StateFile,
    store::{Checkpoint, CheckpointChange, StoreError, View},
};

/// What a new checkpoint is to be.
#[derive(Clone, Debug, Default)]
pub struct CheckpointRequest {
    /// Its name; a free one is chosen if absent.
    pub name: Option<String>,
    /// What is to be said about it.
    pub message: Option<String>,
    /// Why, if nobody asked for it, such as `before compaction`. Old ones go with a collection.
    pub automatic: Option<String>,
}

/// All checkpoints.
#[derive(Clone, Debug)]
pub struct CheckpointList {
    /// Oldest first.
    pub checkpoints: Vec<Checkpoint>,
    /// Names of those that cannot be read.
    pub damaged: Vec<String>,
    /// The revision of the state.
    pub revision: String,
}

/// A checkpoint with what the plan said then.
#[derive(Debug)]
pub struct CheckpointDetails {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Where the execution was; `None` when its plan cannot be read.
    pub status: Option<Status>,
    /// The steps as they were.
    pub steps: Vec<StepLine>,
    /// Files whose images are missing or damaged.
    pub unreadable: Vec<String>,
}

/// A checkpoint as machines read it.
#[derive(Clone, Debug, Serialize)]
pub struct CheckpointLine {
    name: String,
    automatic: bool,
    reason: Option<String>,
    message: Option<String>,
    time: String,
    actor: String,
    revision: String,
    seq: u64,
    bytes: u64,
    history_bytes: u64,
}

impl CheckpointLine {
    /// What a list says about a checkpoint.
    pub fn of(checkpoint: &Checkpoint) -> Self {
        Self {
            name: checkpoint.name.clone(),
            automatic: checkpoint.automatic.is_some(),
            reason: checkpoint.automatic.clone(),
            message: checkpoint.message.clone(),
            time: checkpoint.time.clone(),
            actor: checkpoint.actor.clone(),
            revision: checkpoint.revision.as_str().to_owned(),
            seq: checkpoint.seq,
            bytes: checkpoint.files.values().map(|image| image.len).sum(),
            history_bytes: checkpoint.appended_len,
        }
    }
}

impl Workspace {
    /// Takes a checkpoint of all files as one operation. Works with damaged files, too.
    ///
    /// # Errors
    /// The name is refused or taken, or there is no state.
    pub fn checkpoint(&self, request: &CheckpointRequest) -> Result<Outcome, Error> {
        self.change("checkpoint.create", |draft| {
            let answer = match &request.automatic {
                Some(reason) => change::create_automatic(draft, request.name.as_deref(), reason),
                None => {
                    let (name, message) = (request.name.clone(), request.message.clone());
                    change::Change::CheckpointCreate { name, message }.apply(draft)
                }
            };
            Ok(vec![answer?])
        })
    }

    /// All checkpoints, oldest first. Writes nothing.
    ///
    /// # Errors
    /// There is no state here, or it cannot be read.
    pub fn checkpoints(&self) -> Result<CheckpointList, Error> {
        let snapshot = self.read()?;
        let all = snapshot.view().checkpoints()?;
        let revision = snapshot.revision().as_str().to_owned();
        Ok(CheckpointList { checkpoints: all.found, damaged: all.damaged, revision })
    }

    /// One checkpoint with what the plan said then. Writes nothing.
    ///
    /// # Errors
    /// There is none of that name, or it is damaged.
    pub fn checkpoint_details(&self, name: &str) -> Result<CheckpointDetails, Error> {
        let snapshot = self.read()?;
        let checkpoint = find(snapshot.view(), name)?;
        let mut files = std::collections::BTreeMap::new();
        let mut unreadable = Vec::new();
        for (file, image) in &checkpoint.files {
            match self.store.object(image.hash) {
                Ok(bytes) => _ = files.insert(file.clone(), bytes),
                Err(StoreError::NotFound { .. } | StoreError::Damaged { .. }) => {
                    unreadable.push(file.clone());
                }
                Err(error) => return Err(error.into()),
            }
        }
        let then = Snapshot::new(snapshot.view().with_files(files), self.options.progress);
        let (mut status, mut steps) = (None, Vec::new());
        if let (Ok(plan), Ok(workflow)) = (then.plan(), then.workflow()) {
            status = Some(then.sum_up(&plan, &workflow));
            steps = then.step_lines()?;
        }
        Ok(CheckpointDetails { checkpoint, status, steps, unreadable })
    }

    /// Removes a checkpoint as one operation, which `undo` takes back.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn delete_checkpoint(&self, name: &str) -> Result<Outcome, Error> {
        self.change("checkpoint.delete", |draft| {
            let checkpoint = find(draft.view(), name)?;
            let fields = vec![
                ("kind".to_owned(), "note".to_owned()),
                ("name".to_owned(), name.to_owned()),
                ("revision".to_owned(), checkpoint.revision.as_str().to_owned()),
                ("actor".to_owned(), draft.env.actor().to_owned()),
            ];
            if draft.has_history() {
                draft.log("Checkpoint Deleted", fields)?;
            }
            let line = json!(CheckpointLine::of(&checkpoint));
            draft.checkpoints.push(CheckpointChange::Remove(checkpoint));
            let message = format!("deleted checkpoint {name} (`statedir undo` brings it back)");
            Ok(vec![Answer::new(message).with("checkpoint", line)])
        })
    }
}

impl Snapshot {
    /// The newest checkpoint for the state document.
    pub(super) fn last_checkpoint(&self) -> Option<Value> {
        let checkpoint = self.view().last_checkpoint().ok().flatten()?;
        Some(json!(CheckpointLine::of(&checkpoint)))
    }
}

/// The checkpoint of that name.
pub(super) fn find(view: &View, name: &str) -> Result<Checkpoint, Error> {
    if let Some(checkpoint) = view.checkpoint(name)? {
        return Ok(checkpoint);
    }
    let names = view.checkpoint_names()?;
    let hint = match nearest(name, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`statedir checkpoint list` shows what there is".to_owned(),
    };
    Err(Error::refused_with("not_found", format!("there is no checkpoint `{name}`"), hint))
}

/// The files of a checkpoint, from its images or else from the log.
pub(super) fn files_of(
    workspace: &Workspace,
    checkpoint: &Checkpoint,
) -> Result<std::collections::BTreeMap<String, Vec<u8>>, Error> {
    let store = &workspace.store;
    store.checkpoint_files(checkpoint).or_else(|error| match error {
        StoreError::NotFound { .. } | StoreError::Damaged { .. } => {
            let known = store.files_at(checkpoint.revision.as_str());
            known.map_err(|_| Error::Store(error))
        }
        error => Err(error.into()),
    })
}

/// The problems of a checkpoint, for `check`.
pub(super) fn problems(workspace: &Workspace, view: &View) -> Vec<crate::model::Problem> {
    let problem = |name: &str, what: String| {
        let message = format!("checkpoint `{name}` {what}");
        crate::model::Problem::warning("checkpoint_damaged", StateFile::Log, message)
            .hint("the state is intact; `statedir checkpoint create` takes a new one")
    };
    let Ok(all) = view.checkpoints() else { return Vec::new() };
    let mut found: Vec<_> =
        all.damaged.iter().map(|name| problem(name, "is damaged".to_owned())).collect();
    for checkpoint in &all.found {
        let missing = workspace.store.incomplete_images(checkpoint).unwrap_or_default();
        if !missing.is_empty() {
            found.push(problem(&checkpoint.name, format!("lacks {}", missing.join(", "))));
        }
    }
    found
}
