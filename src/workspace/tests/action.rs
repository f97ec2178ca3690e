//! What can happen to a state, and how it is made to happen.

use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;

use crate::{
    domain::StateFile,
    store::{
        Store,
        sim_disk::{Fault, Loss, SimDisk},
    },
    workspace::{
        Change, CheckpointRequest, Environment, Error, InitOptions, NoVersionControl, Options,
        RestoreOptions, Workspace, adopted::FileSet,
    },
};

/// One thing that happens.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Apply(Change),
    Checkpoint(u8),
    Forget(u8),
    Restore {
        name: u8,
        only: Option<StateFile>,
        rewind: bool,
    },
    RestoreOperation(usize),
    Undo,
    Redo,
    Collect,
    /// Another program saves a file.
    Edit(StateFile, Vec<u8>),
    /// Another program adds a line to the history.
    Note,
}

/// An accident in the middle of an action.
#[derive(Clone, Debug)]
pub(super) struct Crash {
    pub call: u64,
    pub fault: Fault,
    pub power: Option<(Loss, u64)>,
}

pub(super) fn dir() -> PathBuf {
    PathBuf::from("/s/workspace/state")
}

/// A fresh disk with a state on it.
pub(super) fn start() -> SimDisk {
    let disk = SimDisk::new(std::path::Path::new("/s"));
    let options = InitOptions { goal: Some("Stay whole".to_owned()), ..Default::default() };
    workspace(&disk, 0).init(&options).unwrap();
    disk
}

/// The state as the command with that number sees it: later, and with chance of its own.
pub(super) fn workspace(disk: &SimDisk, number: u64) -> Workspace {
    let now = jiff::Timestamp::from_second(1_800_000_000 + number as i64).unwrap();
    // Small segments, so that the log is rotated and collected within a short sequence.
    let store = Store::with_disk(FileSet::Native.store_layout(&dir()), Arc::new(disk.clone()))
        .rotating_at(6_000);
    let env = Environment::fixed(now, "tester", number);
    Workspace { store, env, options: Options::new(NoVersionControl), files: FileSet::Native }
}

impl Action {
    /// Whether another program does it.
    pub(super) fn is_outside(&self) -> bool {
        matches!(self, Action::Edit(..) | Action::Note)
    }

    /// Whether it is a command that brings files and log together.
    pub(super) fn opens(&self) -> bool {
        !self.is_outside() && !matches!(self, Action::Collect)
    }

    /// Makes it happen; a refusal is an answer, too.
    pub(super) fn run(&self, disk: &SimDisk, number: u64) -> Result<(), Error> {
        let workspace = workspace(disk, number);
        match self {
            Action::Apply(change) => workspace.apply(std::slice::from_ref(change)).map(drop),
            Action::Checkpoint(name) => {
                let request = CheckpointRequest { name: Some(named(*name)), ..Default::default() };
                workspace.checkpoint(&request).map(drop)
            }
            Action::Forget(name) => workspace.delete_checkpoint(&named(*name)).map(drop),
            Action::Restore { name, only, rewind } => {
                let options =
                    RestoreOptions { only: only.iter().copied().collect(), rewind: *rewind };
                workspace.restore(&named(*name), &options).map(drop)
            }
            Action::RestoreOperation(back) => {
                workspace.restore(&format!("@-{back}"), &RestoreOptions::default()).map(drop)
            }
            Action::Undo => workspace.undo().map(drop),
            Action::Redo => workspace.redo().map(drop),
            Action::Collect => workspace.gc(8_000).map(drop),
            Action::Edit(file, bytes) => {
                disk.edit(&dir().join(file.name()), bytes);
                Ok(())
            }
            Action::Note => {
                let path = dir().join(StateFile::History.name());
                let mut bytes = disk.peek(&path).unwrap_or_default();
                bytes.extend_from_slice(b"\nA person wrote this.\n");
                disk.edit(&path, &bytes);
                Ok(())
            }
        }
    }
}

/// The name of a checkpoint; there are only a few, so that they meet again.
pub(super) fn named(name: u8) -> String {
    format!("point-{}", name % 4)
}

pub(super) fn actions() -> impl Strategy<Value = Vec<(Action, Option<Crash>)>> {
    let crash = (1..80u64, fault(), proptest::option::weighted(0.5, (loss(), any::<u64>())))
        .prop_map(|(call, fault, power)| Crash { call, fault, power });
    proptest::collection::vec((action(), proptest::option::weighted(0.3, crash)), 1..40)
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => change().prop_map(Action::Apply),
        4 => any::<u8>().prop_map(Action::Checkpoint),
        2 => any::<u8>().prop_map(Action::Forget),
        4 => (any::<u8>(), proptest::option::of(file()), any::<bool>())
            .prop_map(|(name, only, rewind)| Action::Restore { name, only, rewind }),
        1 => (0..6usize).prop_map(Action::RestoreOperation),
        4 => Just(Action::Undo),
        3 => Just(Action::Redo),
        1 => Just(Action::Collect),
        2 => (file(), proptest::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(file, bytes)| Action::Edit(file, bytes)),
        1 => Just(Action::Edit(StateFile::Context, b"# Context\n\n## Notes\n\n- by hand\n".to_vec())),
        1 => Just(Action::Note),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let from = |text: String| serde_json::from_str::<Change>(&text).unwrap();
    prop_oneof![
        any::<u16>()
            .prop_map(|n| format!(r#"{{"op": "var.set", "path": "v{}", "value": {n}}}"#, n % 5)),
        any::<u8>().prop_map(|n| format!(r#"{{"op": "step.add", "title": "Do {n}"}}"#)),
        Just(r#"{"op": "step.start"}"#.to_owned()),
        Just(r#"{"op": "step.done", "output": {"a": 1}}"#.to_owned()),
        Just(r#"{"op": "step.fail", "error": "it broke"}"#.to_owned()),
        any::<u8>().prop_map(|n| format!(r#"{{"op": "history.add", "title": "Note {n}"}}"#)),
        any::<u8>().prop_map(|n| format!(r#"{{"op": "directive.add", "text": "rule {n}"}}"#)),
        Just(r#"{"op": "checkpoint.create"}"#.to_owned()),
    ]
    .prop_map(from)
}

fn file() -> impl Strategy<Value = StateFile> {
    proptest::sample::select(StateFile::REWRITABLE.to_vec())
}

fn fault() -> impl Strategy<Value = Fault> {
    let all = [Fault::CrashBefore, Fault::CrashWithin, Fault::CrashAfter];
    proptest::sample::select(all.to_vec())
}

fn loss() -> impl Strategy<Value = Loss> {
    let all = [Loss::Old, Loss::Kept, Loss::Zeros, Loss::Half, Loss::Garbage];
    proptest::sample::select(all.to_vec())
}
