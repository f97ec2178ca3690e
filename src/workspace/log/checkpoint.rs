//! Checkpoints: creates, lists, shows and removes them.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    domain::{ErrorCode, FilesByName, Problem, StateFile, nearest},
    store::{Checkpoint, CheckpointChange, StoreError, View},
    workspace::{Answer, Error, Fixed, Outcome, Overview, Snapshot, Workspace, change},
};

/// A request for a new checkpoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckpointRequest {
    /// Its name; a free one is chosen if absent.
    pub name: Option<String>,
    /// A description.
    pub message: Option<String>,
    /// The reason of an automatic checkpoint, such as `before compaction`. `gc` removes old ones.
    pub automatic: Option<String>,
}

/// All checkpoints.
#[derive(Clone, Debug)]
pub(crate) struct CheckpointList {
    /// Oldest first.
    pub checkpoints: Vec<Checkpoint>,
    /// Names of those that cannot be read.
    pub damaged: Vec<String>,
    /// The revision of the state.
    pub revision: String,
}

/// A checkpoint with what the plan said then.
#[derive(Debug)]
pub(crate) struct CheckpointDetails {
    pub checkpoint: Checkpoint,
    /// Where the execution was; `None` when its plan cannot be read.
    pub overview: Option<Overview>,
    /// Files whose images are missing or damaged.
    pub unreadable: Vec<String>,
}

/// A checkpoint as machines read it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CheckpointLine {
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
    pub(crate) fn of(checkpoint: &Checkpoint) -> Self {
        Self {
            name: checkpoint.name.to_string(),
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
    /// Takes a checkpoint of all files as one operation. This also works with damaged files.
    ///
    /// # Errors
    /// The name is refused or taken, or there is no state.
    pub(crate) fn checkpoint(&self, request: &CheckpointRequest) -> Result<Outcome, Error> {
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
    pub(crate) fn checkpoints(&self) -> Result<CheckpointList, Error> {
        let snapshot = self.read()?;
        let all = snapshot.view().checkpoints()?;
        let revision = snapshot.revision().as_str().to_owned();
        Ok(CheckpointList { checkpoints: all.found, damaged: all.damaged, revision })
    }

    /// One checkpoint with what the plan said then. Writes nothing.
    ///
    /// # Errors
    /// There is none of that name, or it is damaged.
    pub(crate) fn checkpoint_details(&self, name: &str) -> Result<CheckpointDetails, Error> {
        let snapshot = self.read()?;
        let checkpoint = find(snapshot.view(), name)?;
        let (files, unreadable) = match files_of(self, &checkpoint) {
            Ok(files) => (files, Vec::new()),
            Err(_) => self.readable_images(&checkpoint)?,
        };
        let then = self.snapshot(snapshot.view().with_files(files));
        Ok(CheckpointDetails {
            checkpoint,
            overview: then.overview().ok().map(Overview::without_holders),
            unreadable,
        })
    }

    /// The files whose images are sound, and the names of the others.
    fn readable_images(
        &self,
        checkpoint: &Checkpoint,
    ) -> Result<(FilesByName, Vec<String>), Error> {
        let (mut files, mut unreadable) = (FilesByName::new(), Vec::new());
        for (file, image) in &checkpoint.files {
            match self.store.object(image.hash) {
                Ok(bytes) => _ = files.insert(file.clone(), bytes),
                Err(StoreError::NotFound { .. } | StoreError::Damaged { .. }) => {
                    unreadable.push(file.clone());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok((files, unreadable))
    }

    /// Sets a damaged checkpoint aside; `None` if it is sound or not there.
    fn drop_damaged(&self, name: &str) -> Result<Option<Outcome>, Error> {
        let view = self.store.read(self.options.wait)?;
        let is_damaged = |error: &StoreError| {
            matches!(error, StoreError::Damaged { .. } | StoreError::NotRegular { .. })
        };
        if !view.checkpoint(name).is_err_and(|error| is_damaged(&error)) {
            return Ok(None);
        }
        self.expect(&view.revision)?;
        let message = if self.options.dry_run {
            format!("checkpoint {name} is damaged and would be set aside")
        } else {
            let kept = self.store.set_checkpoint_aside(name, self.options.wait, &self.holder())?;
            let Some(kept) = kept else { return Ok(None) };
            format!("checkpoint {name} was damaged: set aside as {}", kept.display())
        };
        Ok(Some(Outcome {
            revision: view.revision.clone(),
            committed: false,
            changed: Vec::new(),
            answers: vec![Answer::new(message).with("set_aside", name)],
            notices: Vec::new(),
            diff: Vec::new(),
        }))
    }

    /// Sets damaged checkpoints aside and writes images again that the log still knows.
    pub(in crate::workspace) fn fix_checkpoints(&self) -> Result<Vec<Fixed>, Error> {
        let all = self.store.read(self.options.wait)?.checkpoints()?;
        let (wait, holder) = (self.options.wait, self.holder());
        let mut fixed = Vec::new();
        let mut note = |message| fixed.push(Fixed { file: StateFile::Log, message });
        for name in &all.damaged {
            if let Some(kept) = self.store.set_checkpoint_aside(name, wait, &holder)? {
                note(format!("damaged checkpoint `{name}` set aside as {}", kept.display()));
            }
        }
        for checkpoint in &all.found {
            if let (_, Some(files)) = lost_images(self, checkpoint) {
                self.store.renew_images(&files, wait, &holder)?;
                note(format!("checkpoint `{}` is complete again", checkpoint.name));
            }
        }
        Ok(fixed)
    }

    /// Removes a checkpoint as one operation, which `undo` reverts. The file of a damaged one is
    /// set aside.
    ///
    /// # Errors
    /// There is none of that name.
    pub(crate) fn delete_checkpoint(&self, name: &str) -> Result<Outcome, Error> {
        if let Some(outcome) = self.drop_damaged(name)? {
            return Ok(outcome);
        }
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
            let message = format!("deleted checkpoint {name} (`statedir undo` restores it)");
            Ok(vec![Answer::new(message).with("checkpoint", line)])
        })
    }
}

impl Snapshot {
    /// The newest checkpoint for the state document.
    pub(in crate::workspace) fn last_checkpoint(&self) -> Option<Value> {
        let checkpoint = self.view().last_checkpoint().ok().flatten()?;
        Some(json!(CheckpointLine::of(&checkpoint)))
    }
}

/// The checkpoint of that name.
pub(in crate::workspace) fn find(view: &View, name: &str) -> Result<Checkpoint, Error> {
    if let Some(checkpoint) = view.checkpoint(name)? {
        return Ok(checkpoint);
    }
    let names = view.checkpoint_names()?;
    let hint = match nearest(name, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`statedir checkpoint list` shows what is available".to_owned(),
    };
    Err(Error::refused_with(ErrorCode::NotFound, format!("there is no checkpoint `{name}`"), hint))
}

/// The files of a checkpoint, from its images or else from the log.
pub(in crate::workspace) fn files_of(
    workspace: &Workspace,
    checkpoint: &Checkpoint,
) -> Result<FilesByName, Error> {
    let store = &workspace.store;
    let files = store.checkpoint_files(checkpoint).or_else(|error| match error {
        StoreError::NotFound { .. } | StoreError::Damaged { .. } => {
            let known = store.files_at(checkpoint.revision.as_str());
            known.map_err(|_| Error::from(error))
        }
        error => Err(error.into()),
    })?;
    workspace.native_files(files)
}

/// The files of a checkpoint whose images are lost, and all of its files if the log knows them.
fn lost_images(
    workspace: &Workspace,
    checkpoint: &Checkpoint,
) -> (Vec<String>, Option<FilesByName>) {
    let Ok((_, lost)) = workspace.readable_images(checkpoint) else { return (Vec::new(), None) };
    if lost.is_empty() {
        return (lost, None);
    }
    let known = workspace.store.files_at(checkpoint.revision.as_str()).ok();
    let same = |files: &FilesByName| {
        checkpoint.files.iter().all(|(name, image)| {
            files.get(name).is_some_and(|bytes| crate::store::Hash::of(bytes) == image.hash)
        })
    };
    (lost, known.filter(same))
}

/// The problems of all checkpoints, for `check`.
pub(in crate::workspace) fn problems(workspace: &Workspace, view: &View) -> Vec<Problem> {
    let problem = |name: &str, what: String| {
        let message = format!("checkpoint `{name}` {what}");
        Problem::warning(ErrorCode::CheckpointDamaged, StateFile::Log, message)
    };
    let Ok(all) = view.checkpoints() else { return Vec::new() };
    let mut found = Vec::new();
    for name in &all.damaged {
        let hint = format!(
            "the state is intact; `statedir check --fix` or `statedir checkpoint delete {name}` \
             sets the damaged file aside"
        );
        found.push(problem(name, "is damaged".to_owned()).fixable().hint(hint));
    }
    for checkpoint in &all.found {
        let (lost, known) = lost_images(workspace, checkpoint);
        let name = &checkpoint.name;
        let lost_names = lost.join(", ");
        match (lost.is_empty(), known) {
            (true, _) => {}
            (false, Some(_)) => found.push(
                problem(
                    name,
                    format!("has lost the images of {lost_names}; the log still has them"),
                )
                .fixable()
                .hint("`statedir check --fix` writes them again"),
            ),
            (false, None) => found.push(
                problem(name, format!("lacks {lost_names}"))
                    .hint("the state is intact; `statedir checkpoint create` takes a new one"),
            ),
        }
    }
    found
}
