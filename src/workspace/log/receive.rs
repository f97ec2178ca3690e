//! Writes a state that another machine has published, as one operation that can be undone.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    domain::StateFile,
    store::{ChangeKind, FileChange, NewOperation, Revision},
    workspace::{Answer, Error, Outcome, Workspace, transact::Proposal},
};

/// New content of the files and new entries of the history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    /// Files with other content; `None` for one that is gone.
    pub(crate) files: BTreeMap<StateFile, Option<Vec<u8>>>,
    /// Entries, and the offset in the history to insert them at.
    pub(crate) history: Option<(u64, Vec<u8>)>,
    /// One line for people.
    pub(crate) message: String,
}

impl Workspace {
    /// A workspace in another directory with the same environment and options.
    #[must_use]
    pub(crate) fn at(&self, dir: PathBuf) -> Self {
        Self::new(dir, self.environment().again(), self.options.clone())
    }

    /// Writes what was received, if the state is still at `from`.
    pub(crate) fn receive(&self, from: &Revision, received: Received) -> Result<Outcome, Error> {
        self.transact(self.options.dry_run, |opened| {
            let view = opened.view();
            if view.revision != *from {
                return Err(self.moved(from.as_str(), &view.revision));
            }
            let Received { files, history, message } = received;
            let changed: Vec<StateFile> = files.keys().copied().collect();
            let changes = files.into_iter().map(|(file, bytes)| FileChange {
                name: file.name().to_owned(),
                kind: bytes.map_or(ChangeKind::Remove, ChangeKind::Write),
            });
            let mut operation = NewOperation {
                changes: changes.collect(),
                ..self.operation("fleet.pull", message.clone())
            };
            match history {
                Some((at, bytes)) if at == view.appended().len() => operation.append = bytes,
                Some(inserted) => operation.insert = vec![inserted],
                None => {}
            }
            let answers = vec![Answer::new(message)];
            Ok(Proposal { operation, changed, answers, ..Proposal::default() })
        })
    }
}
