//! What the log gives back of files that are gone.

use super::script::*;
use crate::store::{disk::sim::SimDisk, *};

fn delete(disk: &SimDisk, name: &str) {
    Disk::remove(disk, &state_dir().join(name)).unwrap();
}

/// States with one and with several segments, their content known.
fn states() -> Vec<(SimDisk, Store, Picture)> {
    [u64::MAX, 700]
        .map(|rotate_at| {
            let (disk, store) = sim();
            let store = store.rotating_at(rotate_at);
            init(&store);
            for i in 0..9 {
                commit(&store, "step", vec![write("a.md", &format!("text {i}\n"))], "- e\n");
            }
            commit(&store, "step", vec![write("c.json", "{}")], "- last\n");
            let picture = picture(&store.read(WAIT).unwrap());
            (disk, store, picture)
        })
        .into()
}

#[test]
fn files_that_are_gone_are_known_to_the_log() {
    for (disk, store, picture) in states() {
        assert!(store.read(WAIT).unwrap().has_log());
        assert_eq!(store.last_known_files().unwrap(), picture.files);
        for name in FILES.iter().chain([&GROWING]) {
            delete(&disk, name);
        }
        for recorded in [false, true] {
            let view = store.read(WAIT).unwrap();
            assert!(view.has_log() && view.names().count() == 0 && !view.appended().exists());
            assert_eq!(store.last_known_files().unwrap(), picture.files, "{recorded}");
            assert_eq!(store.appended_from_log().unwrap().unwrap(), picture.appended);
            assert_eq!(store.appended_missing_tail().unwrap().unwrap(), picture.appended);
            let transaction = store.begin(WAIT, &holder("t1")).unwrap();
            assert!(transaction.view().has_log());
        }
    }
    assert!(!sim().1.read(WAIT).unwrap().has_log());
}

#[test]
fn a_file_of_which_the_image_is_gone_is_left_out_and_the_others_are_given() {
    let (disk, store, picture) = states().remove(1);
    for name in disk.list(&store.paths.objects()).unwrap() {
        Disk::remove(&disk, &store.paths.objects().join(name)).unwrap();
    }
    let known = store.last_known_files().unwrap();
    assert_eq!(known["c.json"], picture.files["c.json"]);
    assert!(known.iter().all(|(name, bytes)| name != "b.md" || picture.files["b.md"] == *bytes));
}

#[test]
fn the_sound_part_of_a_damaged_log_still_gives_files() {
    let (disk, store, picture) = states().remove(0);
    let segment = state_dir().join(".statedir/log/00000001.log");
    disk.damage(&segment, |bytes| {
        let at = bytes.len() - 900;
        bytes[at] ^= 1;
    });
    let known = store.last_known_files().unwrap();
    assert_eq!(known["b.md"], picture.files["b.md"]);
    assert!(known["a.md"].starts_with(b"text "));
    assert!(matches!(store.appended_from_log(), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_cut_growing_file_gets_its_tail_back_and_a_changed_one_does_not() {
    for (disk, store, picture) in states() {
        let path = state_dir().join(GROWING);
        assert_eq!(store.appended_missing_tail().unwrap().unwrap(), b"");
        let (kept, tail) = picture.appended.split_at(11);
        disk.edit(&path, kept);
        for _ in 0..2 {
            assert_eq!(store.appended_missing_tail().unwrap().unwrap(), tail);
            assert_eq!(store.appended_from_log().unwrap().unwrap(), picture.appended);
            drop(store.begin(WAIT, &holder("t1")).unwrap());
        }
        disk.edit(&path, b"# lig\n");
        assert_eq!(store.appended_missing_tail().unwrap(), None);
        disk.edit(&path, &[&picture.appended[..], b"more"].concat());
        assert_eq!(store.appended_missing_tail().unwrap(), None);
    }
}

#[test]
fn what_is_added_after_a_recorded_cut_is_the_content() {
    let (disk, store, _) = states().remove(0);
    disk.edit(&state_dir().join(GROWING), b"# log\n");
    commit(&store, "step", vec![], "- new\n");
    assert_eq!(store.appended_from_log().unwrap().unwrap(), b"# log\n- new\n");
    assert_eq!(store.appended_missing_tail().unwrap().unwrap(), b"");
}

#[test]
fn what_was_there_before_the_log_is_not_invented() {
    let (clone, store) = sim();
    Disk::create_dir(&clone, &state_dir(), false).unwrap();
    let path = state_dir().join(GROWING);
    clone.edit(&path, b"# log\n- from before\n");
    commit(&store, "step", vec![write("a.md", "x")], "- ours\n");
    assert_eq!(store.appended_from_log().unwrap(), None);
    clone.damage(&path, |bytes| bytes.truncate(bytes.len() - 3));
    assert_eq!(store.appended_missing_tail().unwrap().unwrap(), b"rs\n");
    delete(&clone, GROWING);
    for _ in 0..2 {
        assert_eq!(store.appended_from_log().unwrap(), None);
        assert_eq!(store.appended_missing_tail().unwrap(), None);
        drop(store.begin(WAIT, &holder("t1")).unwrap());
    }
}
