//! Another program saves a file at the worst moment.

use super::script::*;
use crate::store::{
    disk::sim::{Fault, SimDisk},
    *,
};

const WORDS: &[u8] = b"the words of the editor\n";

/// The change during which somebody saves the file that it changes.
fn changes() -> [FileChange; 3] {
    [splice("a.md", 0..3, "ONE"), remove("b.md"), write("c.json", "{}")]
}

fn fresh(exchange: bool) -> (SimDisk, Store) {
    let (disk, store) = sim();
    if !exchange {
        disk.forget_exchange();
    }
    init(&store);
    (disk, store)
}

/// Whether the save can be found in its file, in the log or below `salvage/`.
fn is_somewhere(disk: &SimDisk, name: &str) -> bool {
    let private = state_dir().join(".statedir");
    let mut paths = vec![state_dir().join(name)];
    for dir in ["log", "salvage"].map(|dir| private.join(dir)) {
        let names = disk.list(&dir).unwrap_or_default();
        paths.extend(names.into_iter().map(|name| dir.join(name)));
    }
    let text = |path: &PathBuf| String::from_utf8(disk.peek(path).unwrap_or_default()).unwrap();
    paths.iter().any(|path| text(path).contains("the words of the editor"))
}

/// Saves at every call of a change; gives how many saves there were and how many are nowhere.
fn save_everywhere(exchange: bool, in_place: bool) -> (u64, u64) {
    let (mut saves, mut lost) = (0, 0);
    for change in changes() {
        for call in 1.. {
            let (disk, store) = fresh(exchange);
            let name = change.name.clone();
            disk.meddle(call, &state_dir().join(&name), WORDS, in_place);
            let result = store.begin(WAIT, &holder("t1")).and_then(|transaction| {
                transaction.commit(operation("step", vec![change.clone()], "- e\n"))
            });
            if disk.withdraw_meddler() {
                break;
            }
            saves += 1;
            drop(store.read(WAIT));
            drop(store.begin(WAIT, &holder("t2")).unwrap());
            let found = is_somewhere(&disk, &name);
            lost += u64::from(!found);
            // What is kept elsewhere is told, and at once.
            let kept = disk.list(&state_dir().join(".statedir/salvage")).unwrap_or_default();
            if let Ok(committed) = result {
                assert_eq!(committed.warnings.len(), kept.len(), "{name}, call {call}: {kept:?}");
            }
        }
    }
    (saves, lost)
}

#[test]
fn a_save_by_renaming_is_never_lost() {
    let (saves, lost) = save_everywhere(true, false);
    assert!(saves > 80, "only {saves}");
    assert_eq!(lost, 0, "of {saves}");
}

#[test]
fn a_save_in_place_is_lost_at_most_between_the_very_last_look_and_the_removal() {
    let (saves, lost) = save_everywhere(true, true);
    assert!(saves > 80, "only {saves}");
    // One moment for each of the two files that are taken out of their place.
    assert!(lost <= 2, "{lost} of {saves}");
}

/// The control: renaming over a file loses what is saved after the last look.
#[test]
fn the_sweep_notices_a_disk_that_cannot_exchange() {
    let (_, lost) = save_everywhere(false, false);
    assert!(lost > 0);
}

/// A command that dies right after it took out an editor's save leaves it for the next one.
#[test]
fn a_save_taken_out_by_a_command_that_died_is_kept() {
    let mut met = 0;
    for (save, stop) in (1..120).flat_map(|save| (save..save + 12).map(move |stop| (save, stop))) {
        let (disk, store) = fresh(true);
        disk.arm(stop, Fault::CrashBefore, true);
        disk.meddle(save, &state_dir().join("a.md"), WORDS, false);
        drop(store.begin(WAIT, &holder("t1")).and_then(|transaction| {
            transaction.commit(operation("step", vec![changes()[0].clone()], ""))
        }));
        if disk.withdraw_meddler() {
            break;
        }
        disk.restart();
        store.gc(None, &[], false).unwrap();
        let left = disk.peek(&state_dir().join(".statedir/tmp/a.md"));
        met += usize::from(left.as_deref() == Some(WORDS));
        commit(&store, "step", vec![write("a.md", "next")], "");
        assert!(is_somewhere(&disk, "a.md"), "save at {save}, stop at {stop}");
    }
    assert!(met > 0, "no command died with a save in its hands");
}

#[test]
fn what_a_command_that_died_left_of_its_own_is_not_kept() {
    for stop in 1.. {
        let (disk, store) = fresh(true);
        disk.arm(stop, Fault::CrashAfter, false);
        drop(store.begin(WAIT, &holder("t1")).and_then(|transaction| {
            transaction.commit(operation("step", changes().into(), "- e\n"))
        }));
        if !disk.fired() {
            break;
        }
        disk.restart();
        commit(&store, "step", vec![write("a.md", "1"), write("b.md", "2")], "");
        commit(&store, "step", vec![write("c.json", "3")], "");
        let kept = disk.list(&state_dir().join(".statedir/salvage")).unwrap_or_default();
        assert!(kept.is_empty(), "stop at {stop}: {kept:?}");
        let left = disk.list(&state_dir().join(".statedir/tmp")).unwrap();
        assert!(left.is_empty(), "stop at {stop}: {left:?}");
    }
}
