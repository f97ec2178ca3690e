//! A script of everything the store does, run step by step against any disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::store::{disk::sim::SimDisk, *};

pub(super) const FILES: &[&str] = &["a.md", "b.md", "c.json"];
pub(super) const GROWING: &str = "h.md";
pub(super) const WAIT: Duration = Duration::from_millis(200);

/// Content of all files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Picture {
    pub files: BTreeMap<String, Vec<u8>>,
    pub appended: Vec<u8>,
    /// Every checkpoint with the content of its files.
    pub checkpoints: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
}

/// One thing that happens.
#[derive(Debug, Clone)]
pub(super) enum ScriptStep {
    Op(&'static str, Vec<FileChange>, &'static str),
    Edit(&'static str, &'static str),
    EditAppend(&'static str),
    Undo,
    Redo,
    Gc,
    /// A name, and whether it is automatic.
    Checkpoint(&'static str, bool),
    /// Back to a checkpoint; what is there becomes another one.
    Restore(&'static str, &'static str),
    Forget(&'static str),
}

impl ScriptStep {
    pub(super) fn is_edit(&self) -> bool {
        matches!(self, ScriptStep::Edit(..) | ScriptStep::EditAppend(_))
    }
}

pub(super) fn layout(dir: &Path) -> Layout {
    Layout {
        dir: dir.to_owned(),
        rewritable: FILES,
        appended: GROWING,
        max_bytes: 1 << 20,
        keeps_former: false,
    }
}

pub(super) fn state_dir() -> PathBuf {
    PathBuf::from("/s/state")
}

pub(super) fn sim() -> (SimDisk, Store) {
    let disk = SimDisk::new(Path::new("/s"));
    let store = Store::with_disk(layout(&state_dir()), Arc::new(disk.clone()));
    (disk, store)
}

pub(super) fn holder(time: &str) -> LockHolder {
    LockHolder {
        actor: "tester".into(),
        command: "test".into(),
        time: time.into(),
        ..LockHolder::default()
    }
}

pub(super) fn write(name: &str, text: &str) -> FileChange {
    FileChange { name: name.into(), kind: ChangeKind::Write(text.into()) }
}

pub(super) fn splice(name: &str, at: std::ops::Range<usize>, new: &str) -> FileChange {
    let splices = vec![ByteSplice { at, new: new.into() }];
    FileChange { name: name.into(), kind: ChangeKind::Splice(splices) }
}

pub(super) fn remove(name: &str) -> FileChange {
    FileChange { name: name.into(), kind: ChangeKind::Remove }
}

pub(super) fn operation(kind: &str, changes: Vec<FileChange>, append: &str) -> NewOperation {
    NewOperation {
        kind: kind.into(),
        time: "t5".into(),
        actor: "tester".into(),
        changes,
        append: append.into(),
        facts: Some(b"facts".to_vec()),
        ..NewOperation::default()
    }
}

/// An operation that takes a checkpoint of what is there.
pub(super) fn checkpoint(name: &str, automatic: Option<&str>) -> NewOperation {
    let new = NewCheckpoint {
        name: CheckpointName::parse(name).unwrap(),
        automatic: automatic.map(Into::into),
        message: None,
        moment: Moment::After,
        marks: vec!["mark".into()],
    };
    let checkpoints = vec![CheckpointChange::Take(new)];
    NewOperation { checkpoints, ..operation("checkpoint", vec![], "- checkpoint\n") }
}

pub(super) fn commit(
    store: &Store,
    kind: &str,
    changes: Vec<FileChange>,
    append: &str,
) -> Committed {
    let transaction = store.begin(WAIT, &holder("t5")).unwrap();
    transaction.commit(operation(kind, changes, append)).unwrap()
}

pub(super) fn init(store: &Store) -> Committed {
    commit(store, "init", vec![write("a.md", "one\n"), write("b.md", "two\n")], "# log\n")
}

pub(super) fn picture(view: &View) -> Picture {
    let files = view.names().map(|n| (n.to_owned(), view.bytes(n).unwrap().to_vec())).collect();
    let registry = &view.registry;
    // Damage shows as a difference, so that a sweep can count it.
    let load = |image: &Image| {
        let loaded = checkpoint::objects::load(&*registry.disk, &registry.paths, image.hash);
        loaded.unwrap_or_else(|error| format!("damaged: {error}").into_bytes())
    };
    let content = |checkpoint: &Checkpoint| -> BTreeMap<String, Vec<u8>> {
        checkpoint.files.iter().map(|(name, image)| (name.clone(), load(image))).collect()
    };
    let all = view.checkpoints().unwrap_or_default();
    let damaged = all.damaged.iter().map(|name| (name.clone(), BTreeMap::new()));
    let found = all.found.iter().map(|known| (known.name.to_string(), content(known)));
    let checkpoints = damaged.chain(found).collect();
    let appended = view.appended().read_tail(u64::MAX).unwrap();
    Picture { files, appended, checkpoints }
}

pub(super) fn script() -> Vec<ScriptStep> {
    use ScriptStep::*;
    vec![
        Op("init", vec![write("a.md", "alpha beta\n"), write("b.md", "bee\n")], "# history\n"),
        Op("step", vec![splice("a.md", 0..5, "ALPHA"), splice("b.md", 3..3, "s")], "- one\n"),
        Op("var", vec![write("c.json", "{\"x\": 1}\n")], ""),
        Checkpoint("early", false),
        Edit("a.md", "edited by hand\nin two lines\n"),
        Op("step", vec![splice("b.md", 0..1, "B")], "- two\n"),
        Undo,
        Checkpoint("auto", true),
        Op("drop", vec![remove("c.json")], "- three\n"),
        Restore("early", "before"),
        Undo,
        Forget("early"),
        Undo,
        EditAppend("a person wrote this\n"),
        Undo,
        Redo,
        Op("step", vec![write("a.md", "a whole new text, and a longer one\n")], "- four\n"),
        Gc,
        Op("note", vec![], "- five\n"),
        Op("step", vec![splice("a.md", 2..7, "little"), write("c.json", "{}\n")], "- six\n"),
    ]
}

/// Runs one step; an error means that the step was not acknowledged.
pub(super) fn run(store: &Store, disk: &SimDisk, step: &ScriptStep) -> Result<()> {
    match step {
        ScriptStep::Op(kind, changes, append) => {
            let transaction = store.begin(WAIT, &holder("t1"))?;
            transaction.commit(operation(kind, changes.clone(), append))?;
        }
        ScriptStep::Edit(name, text) => disk.edit(&state_dir().join(name), text.as_bytes()),
        ScriptStep::EditAppend(text) => {
            let path = state_dir().join(GROWING);
            let mut bytes = disk.peek(&path).unwrap_or_default();
            bytes.extend_from_slice(text.as_bytes());
            disk.edit(&path, &bytes);
        }
        ScriptStep::Undo => {
            let transaction = store.begin(WAIT, &holder("t2"))?;
            let target = transaction.undo_target()?.expect("something to undo");
            let changes = transaction.inverse(&target)?;
            let mut op = operation("undo", changes, "- undone\n");
            op.checkpoints = transaction.checkpoint_changes(&target, true)?;
            (op.undoes, op.settles) = (Some(target.id.clone()), Some(target.seq));
            transaction.commit(op)?;
        }
        ScriptStep::Redo => {
            let transaction = store.begin(WAIT, &holder("t3"))?;
            let (target, settles) = transaction.redo_target()?.expect("something to redo");
            let changes = transaction.reapply(&target)?;
            let mut op = operation("redo", changes, "- redone\n");
            op.checkpoints = transaction.checkpoint_changes(&target, false)?;
            (op.redoes, op.settles) = (Some(target.id.clone()), Some(settles));
            transaction.commit(op)?;
        }
        ScriptStep::Checkpoint(name, automatic) => {
            let transaction = store.begin(WAIT, &holder("t1"))?;
            transaction.commit(checkpoint(name, automatic.then_some("because")))?;
        }
        ScriptStep::Restore(name, kept) => {
            let transaction = store.begin(WAIT, &holder("t1"))?;
            let known = transaction.view().checkpoint(name)?.expect("the checkpoint");
            let then = store.checkpoint_files(&known)?;
            let changes = FILES.iter().map(|file| match then.get(*file) {
                Some(bytes) => {
                    FileChange { name: (*file).into(), kind: ChangeKind::Write(bytes.clone()) }
                }
                None => remove(file),
            });
            let mut op = checkpoint(kept, None);
            if let [CheckpointChange::Take(new)] = op.checkpoints.as_mut_slice() {
                new.moment = Moment::Before;
            }
            op.changes = changes.collect();
            transaction.commit(op)?;
        }
        ScriptStep::Forget(name) => {
            let transaction = store.begin(WAIT, &holder("t1"))?;
            let known = transaction.view().checkpoint(name)?.expect("the checkpoint");
            let mut op = operation("forget", vec![], "- forgotten\n");
            op.checkpoints = vec![CheckpointChange::Remove(known)];
            transaction.commit(op)?;
        }
        ScriptStep::Gc => {
            store.gc(Some("t9".into()), &[], false)?;
        }
    }
    Ok(())
}

/// The pictures after each step of an undisturbed run; the first is before all of them.
pub(super) fn pictures(rotate_at: u64) -> Vec<Picture> {
    let (disk, store) = sim();
    let store = store.rotating_at(rotate_at);
    let mut pictures = vec![Picture::default()];
    for step in script() {
        run(&store, &disk, &step).unwrap();
        pictures.push(picture(&store.read(WAIT).unwrap()));
    }
    pictures
}
