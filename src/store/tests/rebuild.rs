//! A lost log that is made again.

use super::script::*;
use crate::store::{
    disk::sim::{Fault, Loss, SimDisk},
    *,
};

/// Files without a log: `a.md` is as it was before the last of the operations to come.
fn lost() -> (SimDisk, Store) {
    let (disk, store) = sim();
    init(&store);
    store.set_log_aside(WAIT, &holder("t1")).unwrap();
    for (name, text) in [("a.md", "second"), ("b.md", "mine"), (GROWING, "- 1\n- 2\n- 3\n- 4\n")] {
        disk.edit(&state_dir().join(name), text.as_bytes());
    }
    (disk, store.rotating_at(700))
}

fn three(site: &Store) -> Result<usize> {
    let operations = [
        (vec![write("a.md", "first"), write("b.md", "b")], "- 1\n"),
        (vec![write("a.md", "second")], "- 2\n"),
        (vec![write("a.md", "third")], "- 3\n"),
    ];
    for (changes, append) in operations {
        site.begin(WAIT, &holder("t2"))?.commit(operation("git", changes, append))?;
    }
    Ok(3)
}

fn files(disk: &SimDisk) -> Vec<Option<Vec<u8>>> {
    FILES.iter().chain(&[GROWING]).map(|name| disk.peek(&state_dir().join(name))).collect()
}

#[test]
fn the_files_stay_as_they_are_and_their_difference_is_an_edit() {
    let (disk, store) = lost();
    let before = files(&disk);
    let founded = store.install_rebuilt_log(WAIT, &holder("t3"), three).unwrap().unwrap();
    assert_eq!(founded.built, 3);
    assert_eq!(files(&disk), before);
    let kinds: Vec<String> =
        store.operations(None).unwrap().into_iter().map(|op| op.kind).collect();
    assert_eq!(kinds, ["external", "git", "git", "git"]);
    assert_eq!(store.read(WAIT).unwrap().revision, founded.revision);
    // The edit can be taken back, then the commits, but not the first.
    for expected in ["third", "second", "first"] {
        let transaction = store.begin(WAIT, &holder("t4")).unwrap();
        let target = transaction.undo_target().unwrap().unwrap();
        let mut op = operation("undo", transaction.inverse(&target).unwrap(), "");
        op.undoes = Some(target.id.clone());
        transaction.commit(op).unwrap();
        let text = disk.peek(&state_dir().join("a.md")).unwrap();
        assert_eq!(String::from_utf8_lossy(&text), expected);
    }
    assert!(store.undo_target().unwrap().is_none());
}

#[test]
fn a_log_that_is_there_is_never_replaced_and_without_operations_there_is_none() {
    let (_, store) = sim();
    let none = store.install_rebuilt_log(WAIT, &holder("t3"), |_| Ok::<_, StoreError>(())).unwrap();
    assert!(none.is_none() && !store.exists().unwrap().log);
    init(&store);
    let log = store.operations(None).unwrap();
    let build = |_: &Store| -> Result<()> { panic!("nothing is to be built") };
    assert!(store.install_rebuilt_log(WAIT, &holder("t3"), build).unwrap().is_none());
    assert_eq!(store.operations(None).unwrap(), log);
}

#[test]
fn a_crash_or_a_power_loss_at_any_call_leaves_no_log_or_a_whole_one_and_the_files() {
    let mut outcomes = [0, 0];
    for power in [None, Some(Loss::Old), Some(Loss::Zeros), Some(Loss::Kept)] {
        for call in 1.. {
            let (disk, store) = lost();
            let before = files(&disk);
            disk.arm(call, Fault::CrashWithin, false);
            let result = store.install_rebuilt_log(WAIT, &holder("t3"), three);
            if !disk.fired() {
                result.unwrap();
                break;
            }
            match power {
                None => disk.restart(),
                Some(loss) => disk.lose_power(loss, 0),
            }
            let log = store.exists().unwrap().log;
            outcomes[usize::from(log)] += 1;
            drop(store.begin(WAIT, &holder("t5")).unwrap());
            assert_eq!(files(&disk), before, "{power:?} at call {call}");
            let operations = store.operations(None).unwrap();
            assert_eq!(operations.len(), if log { 4 } else { 1 }, "{power:?} at call {call}");
        }
    }
    assert!(outcomes.iter().all(|count| *count > 10), "{outcomes:?}");
}

/// The control: what the head cache is put beside the log for.
#[test]
fn without_the_head_cache_a_file_would_be_taken_for_unfinished() {
    let (disk, store) = lost();
    let store = store.rotating_at(u64::MAX);
    three(&store.at(state_dir().join("site"))).unwrap();
    let (site, log) = (state_dir().join("site/.statedir/log"), state_dir().join(".statedir/log"));
    disk.rename(&site, &log).unwrap();
    disk.remove(&state_dir().join(".statedir/head")).unwrap();
    drop(store.begin(WAIT, &holder("t5")).unwrap());
    assert_eq!(disk.peek(&state_dir().join("a.md")).unwrap(), b"third");
}
