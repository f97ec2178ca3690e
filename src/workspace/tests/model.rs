//! What a state must be after everything that has happened to it, told without the store.

use std::collections::BTreeMap;

use super::action::{Action, named, workspace};
use crate::{history, store::sim_disk::SimDisk, workspace::Error};

/// The content of the rewritable files.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// Everything that can be seen of a state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Picture {
    pub files: Files,
    pub history: Vec<u8>,
    /// Those with a name, each with what it holds.
    pub checkpoints: BTreeMap<String, Files>,
    pub automatic: BTreeMap<String, Files>,
}

impl Picture {
    /// Looks at a state. Every file of every checkpoint is read and checked.
    pub(super) fn take(disk: &SimDisk) -> Result<Picture, String> {
        let workspace = workspace(disk, 999_999);
        let snapshot = workspace.read().map_err(|error| format!("cannot be read: {error}"))?;
        let view = snapshot.view();
        let all = view.checkpoints().map_err(|error| error.to_string())?;
        if !all.damaged.is_empty() {
            return Err(format!("damaged checkpoints: {:?}", all.damaged));
        }
        let (mut checkpoints, mut automatic) = (BTreeMap::new(), BTreeMap::new());
        for checkpoint in &all.found {
            let files = workspace.store.checkpoint_files(checkpoint);
            let files = files.map_err(|error| format!("{}: {error}", checkpoint.name))?;
            let kind =
                if checkpoint.automatic.is_some() { &mut automatic } else { &mut checkpoints };
            kind.insert(checkpoint.name.to_string(), files);
        }
        let history = view.appended().read_from(0).map_err(|error| error.to_string())?;
        let anchors = workspace.evidence(view).anchors();
        let verified = history::verify(history.as_slice(), &anchors, &mut |_| {});
        let verified = verified.map_err(|error| error.to_string())?;
        if !verified.is_intact() {
            return Err(format!("the history is broken: {:?}", verified.problems));
        }
        Ok(Picture { files: view.files(), history, checkpoints, automatic })
    }
}

impl Picture {
    /// Whether a collection came so far: of the automatic checkpoints some may be gone already,
    /// and nothing else.
    pub(super) fn is_between(&self, before: &Picture, after: &Picture) -> bool {
        let has = |all: &Picture, (name, held): (&String, &Files)| {
            all.automatic.get(name).is_some_and(|found| found == held)
        };
        let rest = |picture: &Picture| Picture { automatic: BTreeMap::new(), ..picture.clone() };
        self.automatic.iter().all(|one| has(before, one))
            && after.automatic.iter().all(|one| has(self, one))
            && rest(self) == rest(before)
            && rest(before) == rest(after)
    }

    /// What is different in another picture, in a few words.
    pub(super) fn differences(&self, other: &Picture) -> String {
        let mut words = Vec::new();
        let names: std::collections::BTreeSet<_> =
            self.files.keys().chain(other.files.keys()).collect();
        for name in names {
            let text = |files: &Files| {
                files.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            };
            if self.files.get(name) != other.files.get(name) {
                words.push(format!("{name}: {:?} not {:?}", text(&self.files), text(&other.files)));
            }
        }
        if self.history != other.history {
            let (len, wanted) = (self.history.len(), other.history.len());
            words.push(format!("{len} bytes of history, not {wanted}"));
        }
        for (known, wanted) in
            [(&self.checkpoints, &other.checkpoints), (&self.automatic, &other.automatic)]
        {
            if known != wanted {
                let (known, wanted) = (known.keys(), wanted.keys());
                words.push(format!("checkpoints {known:?}, not {wanted:?}"));
            }
        }
        words.join("; ")
    }
}

/// One step back.
#[derive(Clone, Debug)]
enum Done {
    Files(Files),
    Forgot(String, Files),
}

/// The state and the ways back.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub now: Picture,
    undo: Vec<Done>,
    redo: Vec<Done>,
    /// The ways forward that edits close as soon as a command records them.
    set_aside: Vec<Done>,
    /// Whether the newest step back is an edit made outside that no command has recorded yet.
    pub unrecorded: bool,
    /// Whether the last command was stopped on its way.
    pub crashed: bool,
    /// Whether a collection may have shortened the ways back.
    collected: bool,
}

impl Model {
    pub(super) fn new(now: Picture) -> Model {
        Model {
            now,
            undo: Vec::new(),
            redo: Vec::new(),
            set_aside: Vec::new(),
            unrecorded: false,
            crashed: false,
            collected: false,
        }
    }

    /// The model after an action that ended so and left that picture, or what is wrong with it.
    pub(super) fn follow(
        &self,
        action: &Action,
        ended: &Result<(), Error>,
        seen: Picture,
    ) -> Result<Model, String> {
        let mut next = self.clone();
        let before = self.now.clone();
        let expect = |what: bool, why: &str| what.then_some(()).ok_or_else(|| why.to_owned());
        expect(seen.history.starts_with(&before.history), "the history did not only grow")?;
        if action.opens() {
            next.unrecorded = false;
        }
        if ended.is_err() {
            self.may_refuse(action)?;
            expect(seen == before, "a refused action changed something")?;
            if matches!(action, Action::Undo) && self.collected {
                next.undo.clear();
            }
            return Ok(next);
        }
        let mut named_ones = before.checkpoints.clone();
        let mut files = before.files.clone();
        match action {
            Action::Apply(_) => {
                files = seen.files.clone();
                let taken = |name: &&String| !before.checkpoints.contains_key(*name);
                let taken: Vec<String> = seen.checkpoints.keys().filter(taken).cloned().collect();
                for name in &taken {
                    named_ones.insert(name.clone(), files.clone());
                }
                if taken.is_empty() {
                    next.done(&before, &seen);
                }
            }
            Action::Checkpoint(name) => {
                expect(!named_ones.contains_key(&named(*name)), "a checkpoint was replaced")?;
                named_ones.insert(named(*name), files.clone());
            }
            Action::Forget(name) => {
                let held = named_ones.remove(&named(*name)).ok_or("what was forgotten?")?;
                next.undo.push(Done::Forgot(named(*name), held));
                next.redo.clear();
            }
            Action::Restore { name, only, rewind } => {
                let held = named_ones.get(&named(*name)).ok_or("restored from nothing")?;
                match only {
                    None => files = held.clone(),
                    Some(only) => match held.get(only.name()) {
                        Some(bytes) => _ = files.insert(only.name().to_owned(), bytes.clone()),
                        None => _ = files.remove(only.name()),
                    },
                }
                if *rewind {
                    // Which steps go back is tested elsewhere; here only where that may show.
                    for name in ["plan.md", "variables.json"] {
                        match seen.files.get(name) {
                            Some(bytes) => files.insert(name.to_owned(), bytes.clone()),
                            None => files.remove(name),
                        };
                    }
                }
                next.done(&before, &seen);
            }
            Action::RestoreOperation(_) => {
                files = seen.files.clone();
                next.done(&before, &seen);
            }
            Action::Undo => match next.undo.pop() {
                Some(Done::Files(then)) => {
                    next.redo.push(Done::Files(std::mem::replace(&mut files, then)));
                }
                Some(Done::Forgot(name, held)) => {
                    // A name that was given away since is not taken from the new one.
                    let taken = |name: &String| {
                        named_ones.contains_key(name) || before.automatic.contains_key(name)
                    };
                    let others = (2..).map(|number| format!("{name}-{number}"));
                    let mut names = std::iter::once(name.clone()).chain(others);
                    let name = names.find(|name| !taken(name)).unwrap_or(name);
                    named_ones.insert(name.clone(), held.clone());
                    next.redo.push(Done::Forgot(name, held));
                }
                None => return Err("something was undone that never happened".to_owned()),
            },
            Action::Redo => match next.redo.pop() {
                Some(Done::Files(then)) => {
                    next.undo.push(Done::Files(std::mem::replace(&mut files, then)));
                }
                Some(Done::Forgot(name, held)) => {
                    named_ones.remove(&name);
                    next.undo.push(Done::Forgot(name, held));
                }
                None => return Err("something was redone that was not undone".to_owned()),
            },
            Action::Collect => {
                next.collected = true;
                let lost = |name: &&String| !before.automatic.contains_key(*name);
                expect(!seen.automatic.keys().any(|name| lost(&name)), "a collection made one")?;
            }
            Action::Edit(file, bytes) => {
                files.insert(file.name().to_owned(), bytes.clone());
                if files != before.files {
                    // Edits that no command has seen are one step back, whatever their number,
                    // and none at all if the last one takes back what the others did.
                    if !next.unrecorded {
                        next.undo.push(Done::Files(before.files.clone()));
                        next.set_aside = std::mem::take(&mut next.redo);
                        next.unrecorded = true;
                    } else if matches!(next.undo.last(), Some(Done::Files(then)) if *then == files)
                    {
                        next.undo.pop();
                        next.redo = std::mem::take(&mut next.set_aside);
                        next.unrecorded = false;
                    }
                }
            }
            Action::Note => {}
        }
        expect(seen.files == files, "the files are not what they must be")?;
        expect(seen.checkpoints == named_ones, "the checkpoints are not what they must be")?;
        if !matches!(action, Action::Collect) {
            let kept =
                before.automatic.iter().all(|(name, held)| seen.automatic.get(name) == Some(held));
            expect(kept, "an automatic checkpoint was lost")?;
        }
        next.now = seen;
        Ok(next)
    }

    /// Counts an operation, unless it changed nothing.
    fn done(&mut self, before: &Picture, seen: &Picture) {
        if before.history != seen.history || before.files != seen.files {
            self.undo.push(Done::Files(before.files.clone()));
            self.redo.clear();
        }
    }

    /// Whether an action may be refused at all.
    fn may_refuse(&self, action: &Action) -> Result<(), String> {
        let known = |name: u8| self.now.checkpoints.contains_key(&named(name));
        let wrong = match action {
            Action::Checkpoint(name) => !known(*name),
            Action::Forget(name) => known(*name),
            // To rewind, the plan and the variables must be readable.
            Action::Restore { name, rewind, .. } => known(*name) && !rewind,
            Action::Undo => !self.undo.is_empty() && !self.collected,
            Action::Redo => !self.redo.is_empty() && !self.collected,
            Action::Collect => true,
            _ => false,
        };
        if wrong { Err("it was refused for no reason".to_owned()) } else { Ok(()) }
    }
}
