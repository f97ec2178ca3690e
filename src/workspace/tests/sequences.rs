//! Random sequences of changes, checkpoints, restores, undos, redos, edits and crashes.

use proptest::prelude::*;

use super::action::{Action, Crash, actions, dir, start, workspace};
use super::model::{Model, Picture};
use crate::{domain::StateFile, store::sim_disk::SimDisk};

/// Runs a sequence against the model; gives the model at its end, or what went wrong where.
fn follow(disk: &SimDisk, sequence: &[(Action, Option<Crash>)]) -> Result<Model, String> {
    let mut model = Model::new(Picture::take(disk)?);
    let mut unsettled = false;
    // The states before commands that were stopped after they wrote and before they synced: nobody
    // was told that they were done, so a power loss may take them back, the last one alone or with
    // those before it, until a later change is synced.
    let mut unsynced: Vec<Model> = Vec::new();
    for (at, (action, crash)) in sequence.iter().enumerate() {
        let number = at as u64 + 1;
        let place = |why: String| format!("action {number}, {action:?}, {crash:?}: {why}");
        if std::mem::take(&mut unsettled) || model.crashed && !action.opens() {
            // Nobody edits a file that is about to be completed: the next command comes first.
            let opened = workspace(disk, number);
            drop(opened.store.begin(opened.options.wait, &opened.holder()).unwrap());
            model.unrecorded = false;
        }
        // What comes of it undisturbed is learnt on a copy, and held against the model.
        let copy = disk.fork();
        let ended = action.run(&copy, number);
        let seen = Picture::take(&copy).map_err(place)?;
        let next = model.follow(action, &ended, seen).map_err(|why| {
            place(format!(
                "{why}; it ended with {:?}",
                ended.as_ref().err().map(ToString::to_string)
            ))
        })?;
        let crash = crash.as_ref().filter(|_| !action.is_outside());
        if let Some(crash) = crash {
            disk.arm(crash.call, crash.fault, false);
        }
        let outcome = action.run(disk, number);
        let fired = crash.is_some() && disk.fired();
        unsettled = fired && model.unrecorded;
        // A power loss may set aside an edit that no command has recorded.
        let power = crash.filter(|_| fired && !model.unrecorded).and_then(|crash| crash.power);
        match power {
            Some((loss, survivors)) => disk.lose_power(loss, survivors),
            None => disk.restart(),
        }
        let seen = Picture::take(disk).map_err(place)?;
        let changed = next.now != model.now;
        if power.is_some() || !fired && changed && !action.is_outside() {
            let lost = std::mem::take(&mut unsynced).into_iter().rev();
            if let Some(before) = lost.filter(|_| power.is_some()).find(|b| seen == b.now) {
                model = before;
                model.crashed = true;
                continue;
            }
        } else if fired && changed && seen == next.now {
            unsynced.push(model.clone());
        }
        if fired && matches!(action, Action::Collect) && seen.is_between(&model.now, &next.now) {
            // Each automatic checkpoint goes on its own.
            model = next;
            model.now = seen;
        } else if seen == next.now && (fired || outcome.is_ok() == ended.is_ok()) {
            model = next;
        } else if !(fired && seen == model.now) {
            return Err(place(format!(
                "neither old nor new\nfrom the old: {}\nfrom the new: {}",
                seen.differences(&model.now),
                seen.differences(&next.now)
            )));
        } else {
            // The next command records an edit that this one may not have come to.
            model.unrecorded = false;
        }
        model.crashed = fired;
    }
    Ok(model)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn whatever_happens_the_files_equal_the_model_and_no_checkpoint_is_lost(sequence in actions()) {
        if let Err(why) = follow(&start(), &sequence) {
            return Err(TestCaseError::fail(why));
        }
    }
}

/// Does harm to a state without the model's knowledge.
type Sabotage = fn(&SimDisk);

/// The control: each kind of fault is found out by the same comparison.
#[test]
fn the_model_finds_out_a_state_that_went_wrong() {
    let taken = vec![
        (Action::Apply(serde_json::from_str(r#"{"op": "step.add", "title": "x"}"#).unwrap()), None),
        (Action::Checkpoint(1), None),
        (Action::Checkpoint(2), None),
    ];
    let sabotages: [(&str, Sabotage); 4] = [
        ("a checkpoint is gone", |disk| {
            let path = dir().join(".statedir/checkpoints/00000001-point-1");
            assert!(disk.peek(&path).is_some());
            crate::store::Disk::remove(disk, &path).unwrap();
        }),
        ("a checkpoint is damaged", |disk| {
            let path = dir().join(".statedir/checkpoints/00000002-point-2");
            disk.damage(&path, |bytes| bytes[30] ^= 1);
        }),
        ("the history is cut", |disk| {
            let path = dir().join(StateFile::History.name());
            let bytes = disk.peek(&path).unwrap();
            disk.edit(&path, &bytes[..bytes.len() / 2]);
        }),
        ("a file has another byte", |disk| {
            let path = dir().join(StateFile::Context.name());
            let mut bytes = disk.peek(&path).unwrap();
            bytes[0] ^= 1;
            disk.edit(&path, &bytes);
        }),
    ];
    for (what, sabotage) in sabotages {
        let disk = start();
        let model = follow(&disk, &taken).unwrap();
        sabotage(&disk);
        let seen = Picture::take(&disk);
        let found_out = seen.and_then(|seen| model.follow(&Action::Note, &Ok(()), seen)).is_err();
        assert!(found_out, "{what}");
    }
}

/// Found by the sequences: neither its making nor its removal was synced.
#[test]
fn a_file_that_was_made_and_removed_again_does_not_come_back_in_part() {
    use crate::store::sim_disk::{Fault, Loss};
    let var = || {
        Action::Apply(
            serde_json::from_str(r#"{"op": "var.set", "path": "v0", "value": 0}"#).unwrap(),
        )
    };
    let dir_add =
        Action::Apply(serde_json::from_str(r#"{"op": "directive.add", "text": "rule0"}"#).unwrap());
    let sequence = vec![
        (var(), None),
        (var(), None),
        (var(), None),
        (dir_add, None),
        (Action::Edit(StateFile::Workflow, vec![131, 89]), None),
        (Action::Collect, None),
        (Action::Checkpoint(241), None),
        (
            Action::Undo,
            Some(Crash {
                call: 66,
                fault: Fault::CrashBefore,
                power: Some((Loss::Garbage, 1136106533717462464)),
            }),
        ),
        (Action::Redo, None),
        (
            Action::RestoreOperation(5),
            Some(Crash {
                call: 17,
                fault: Fault::CrashWithin,
                power: Some((Loss::Half, 17460144836659679636)),
            }),
        ),
    ];
    follow(&start(), &sequence).map(drop).unwrap_or_else(|why| panic!("{why}"));
}

/// Found by the sequences: there is nothing to undo in edits that cancel out.
#[test]
fn edits_that_come_to_nothing_before_a_command_sees_them_are_no_step_back() {
    let edit = |text: &str| (Action::Edit(StateFile::Context, text.as_bytes().to_vec()), None);
    let var = r#"{"op": "var.set", "path": "v0", "value": 0}"#;
    let sequence = vec![
        edit("# Context\n"),
        (Action::Apply(serde_json::from_str(var).unwrap()), None),
        edit(""),
        edit("# Context\n"),
        (Action::Undo, None),
        (Action::Redo, None),
    ];
    follow(&start(), &sequence).map(drop).unwrap_or_else(|why| panic!("{why}"));
}

/// Found by the sequences: what was written and not synced was never said to be done.
#[test]
fn a_command_stopped_before_its_sync_may_be_lost_with_the_power_and_nothing_else() {
    use crate::store::sim_disk::{Fault, Loss};
    let crash = |call, power| Some(Crash { call, fault: Fault::CrashBefore, power });
    let var = r#"{"op": "var.set", "path": "v0", "value": 0}"#;
    let sequence = |call| {
        vec![
            (Action::Checkpoint(1), None),
            (Action::Forget(1), crash(call, None)),
            (Action::Apply(serde_json::from_str(var).unwrap()), crash(1, Some((Loss::Old, 0)))),
            (Action::Checkpoint(1), None),
        ]
    };
    let mut kept = 0;
    for call in 1..20 {
        let model = follow(&start(), &sequence(call)).unwrap_or_else(|why| panic!("{why}"));
        kept += usize::from(model.now.checkpoints.contains_key("point-1"));
    }
    assert_eq!(kept, 19);
}

/// Found by the sequences: of two commands stopped one after another, the last alone may go.
#[test]
fn of_two_stopped_commands_the_power_may_take_the_last_alone() {
    use crate::store::sim_disk::{Fault, Loss};
    let var = |n: u8| {
        let change = format!(r#"{{"op": "var.set", "path": "v{n}", "value": 0}}"#);
        Action::Apply(serde_json::from_str(&change).unwrap())
    };
    let stopped = |call, fault, power| Some(Crash { call, fault, power });
    for (first, second) in (1..14).flat_map(|first| (1..14).map(move |second| (first, second))) {
        let sequence = vec![
            (var(0), stopped(first, Fault::CrashAfter, None)),
            (var(1), stopped(second, Fault::CrashBefore, None)),
            (var(2), stopped(3, Fault::CrashWithin, Some((Loss::Half, 13151929679043508818)))),
        ];
        follow(&start(), &sequence).unwrap_or_else(|why| panic!("{first}, {second}: {why}"));
    }
}

/// The control of what a power loss and a collection may do: no more than that is allowed.
#[test]
fn what_was_said_to_be_done_and_what_has_a_name_is_never_forgiven() {
    use crate::store::sim_disk::{Fault, Loss};
    // A change that was acknowledged ends what a power loss may take back.
    let var = |n: u8| {
        let change = format!(r#"{{"op": "var.set", "path": "v{n}", "value": 0}}"#);
        Action::Apply(serde_json::from_str(&change).unwrap())
    };
    let crash = |call, power| Some(Crash { call, fault: Fault::CrashBefore, power });
    for call in 1..20 {
        let sequence = vec![
            (var(0), crash(call, None)),
            (var(1), None),
            (var(2), crash(1, Some((Loss::Old, 0)))),
        ];
        let model = follow(&start(), &sequence).unwrap_or_else(|why| panic!("{why}"));
        let text = String::from_utf8_lossy(&model.now.files["variables.json"]).into_owned();
        assert!(text.contains("\"v1\""), "{text}");
    }
    // Between before and after a collection lie fewer automatic checkpoints, and nothing else.
    let taken = vec![
        (var(0), None),
        (Action::Checkpoint(1), None),
        (var(1), None),
        (Action::Restore { name: 1, only: None, rewind: false }, None),
    ];
    let before = follow(&start(), &taken).unwrap().now;
    let mut after = before.clone();
    assert_eq!(after.automatic.len(), 1);
    after.automatic.clear();
    assert!(before.is_between(&before, &after) && after.is_between(&before, &after));
    let harm: [fn(&mut Picture); 4] = [
        |seen| seen.checkpoints.clear(),
        |seen| seen.history.truncate(10),
        |seen| drop(seen.files.remove("plan.md")),
        |seen| seen.automatic.values_mut().for_each(|files| files.clear()),
    ];
    for (number, harm) in harm.into_iter().enumerate() {
        let mut seen = before.clone();
        harm(&mut seen);
        assert!(!seen.is_between(&before, &after), "{number}");
    }
}

#[test]
fn an_editor_that_saves_meanwhile_goes_first_and_the_change_follows() {
    let plan = dir().join(StateFile::Plan.name());
    let mut seen = 0;
    for call in 1.. {
        let disk = start();
        let add = r#"{"op": "step.add", "title": "One"}"#;
        workspace(&disk, 1).apply(&[serde_json::from_str(add).unwrap()]).unwrap();
        let before = String::from_utf8(disk.peek(&plan).unwrap()).unwrap();
        let edited = before + "\nA word of mine.\n";
        disk.meddle(call, &plan, edited.as_bytes(), false);
        let start = serde_json::from_str(r#"{"op": "step.start", "step": 1}"#).unwrap();
        let done = workspace(&disk, 2).apply(&[start]);
        if disk.withdraw_meddler() {
            break;
        }
        done.unwrap_or_else(|error| panic!("call {call}: {error}"));
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}
