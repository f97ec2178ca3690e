//! A log that is damaged, cut or has lost its images: the files never depend on it.

use super::script::*;
use crate::store::{
    disk::sim::{Fault, SimDisk},
    *,
};

fn segment() -> PathBuf {
    state_dir().join(".statedir/log/00000001.log")
}

fn three_operations() -> (SimDisk, Store) {
    let (disk, store) = sim();
    init(&store);
    for text in ["A", "B", "C"] {
        commit(&store, "step", vec![write("a.md", text)], "- e\n");
    }
    (disk, store)
}

/// Readers see the files and are told; writers refuse and change nothing; then there is a way out.
fn state_lives_on(disk: &SimDisk, store: &Store, what: &str) {
    let on_disk = |name: &str| disk.peek(&state_dir().join(name));
    let before: Vec<_> = ["a.md", "b.md", GROWING].map(on_disk).into();
    disk.freeze(true);
    let view = store.read(WAIT).unwrap();
    disk.freeze(false);
    assert_eq!(view.bytes("a.md").map(<[u8]>::to_vec), before[0], "{what}");
    assert_eq!(Some(view.appended().read_tail(u64::MAX).unwrap()), before[2], "{what}");
    assert_eq!(view.log_damage().map(|damage| &damage.path), Some(&segment()), "{what}");
    assert!(view.has_log() && !view.adopted() && view.reports().is_empty(), "{what}");
    let error = store.begin(WAIT, &holder("t1")).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{what}: {error}");
    assert_eq!(Vec::from(["a.md", "b.md", GROWING].map(on_disk)), before, "{what}");
    store.set_log_aside(WAIT, &holder("t1")).unwrap();
    let transaction = store.begin(WAIT, &holder("t1")).unwrap();
    assert_eq!(transaction.view().revision, view.revision, "{what}: the revision was foretold");
    transaction.commit(operation("step", vec![write("a.md", "on")], "- on\n")).unwrap();
    assert!(store.read(WAIT).unwrap().log_damage().is_none(), "{what}");
}

#[test]
fn a_damaged_log_stops_writers_and_no_reader() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 6] = [
        ("emptied", |bytes| bytes.clear()),
        ("header", |bytes| bytes[20] ^= 1),
        ("middle", |bytes| bytes[900] ^= 1),
        ("last record", |bytes| {
            let at = bytes.len() - 10;
            bytes[at] ^= 1;
        }),
        ("cut", |bytes| bytes.truncate(bytes.len() - 3)),
        ("half", |bytes| bytes.truncate(bytes.len() / 2)),
    ];
    for (what, damage) in damages {
        for edited in [false, true] {
            let (disk, store) = three_operations();
            disk.damage(&segment(), damage);
            if edited {
                disk.edit(&state_dir().join("b.md"), b"an edit, so that the log is read\n");
            } else if ["header", "middle"].contains(&what) {
                // The head cache fits, and nobody needs these records now.
                continue;
            }
            state_lives_on(&disk, &store, what);
        }
    }
}

#[test]
fn nothing_is_committed_behind_a_damaged_record() {
    let (disk, store) = three_operations();
    let line = disk.peek(&segment()).unwrap();
    let last = line[..line.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for at in last..line.len() {
        disk.damage(&segment(), |bytes| bytes[at] ^= 1);
        let error = store.begin(WAIT, &holder("t1")).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "byte {at}: {error}");
        disk.damage(&segment(), |bytes| bytes[at] ^= 1);
    }
    commit(&store, "step", vec![write("a.md", "D")], "");
}

#[test]
fn the_cache_of_a_log_that_is_gone_is_not_held_against_the_next_one() {
    for call in 1.. {
        let (disk, store) = three_operations();
        Disk::remove(&disk, &segment()).unwrap();
        disk.arm(call, Fault::CrashAfter, false);
        drop(store.begin(WAIT, &holder("t1")));
        if !disk.fired() {
            return;
        }
        disk.restart();
        assert_eq!(store.read(WAIT).unwrap().log_damage(), None, "call {call}");
        drop(store.begin(WAIT, &holder("t1")).unwrap());
    }
}

/// A state whose images, which the newest segment relies on, are gone.
fn without_images() -> (SimDisk, Store) {
    let (disk, store) = sim();
    let store = store.rotating_at(600);
    init(&store);
    while disk.list(&store.paths.objects()).is_err() {
        commit(&store, "step", vec![write("a.md", "A"), write("b.md", "B")], "- e\n");
        commit(&store, "step", vec![write("a.md", "one\n"), write("b.md", "two\n")], "- e\n");
    }
    for name in disk.list(&store.paths.objects()).unwrap() {
        Disk::remove(&disk, &store.paths.objects().join(name)).unwrap();
    }
    (disk, store.rotating_at(u64::MAX))
}

#[test]
fn an_edit_is_recorded_also_when_what_was_there_is_not_known() {
    let (disk, store) = without_images();
    disk.edit(&state_dir().join("a.md"), b"by hand\n");
    let reader = store.read(WAIT).unwrap();
    assert_eq!(reader.bytes("a.md").unwrap(), b"by hand\n");
    let transaction = store.begin(WAIT, &holder("t1")).unwrap();
    assert_eq!(transaction.view().revision, reader.revision);
    let op = store.operation(reader.revision.as_str()).unwrap();
    assert!(op.files[0].whole && op.notes.len() == 1, "{op:?}");
    assert!(transaction.undo_target().unwrap().is_none());
    assert!(matches!(transaction.inverse(&op), Err(StoreError::NotFound { .. })));
    assert!(matches!(transaction.reapply(&op), Err(StoreError::NotFound { .. })));
    transaction.commit(operation("step", vec![splice("a.md", 3..7, "foot")], "")).unwrap();
    // From here on the bytes are known again: the next edit can be taken back.
    disk.edit(&state_dir().join("a.md"), b"again\n");
    let transaction = store.begin(WAIT, &holder("t1")).unwrap();
    let target = transaction.undo_target().unwrap().unwrap();
    let changes = transaction.inverse(&target).unwrap();
    transaction.commit(operation("undo", changes, "")).unwrap();
    assert_eq!(disk.peek(&state_dir().join("a.md")).unwrap(), b"by foot\n");
}

#[test]
fn an_interrupted_operation_is_completed_without_the_images() {
    let mut completed = 0;
    for call in 1.. {
        let (disk, store) = without_images();
        disk.arm(call, Fault::CrashBefore, false);
        let changes = vec![splice("a.md", 0..3, "ONE"), splice("b.md", 0..3, "TWO")];
        drop(
            store
                .begin(WAIT, &holder("t1"))
                .and_then(|open| open.commit(operation("step", changes, ""))),
        );
        if !disk.fired() {
            break;
        }
        disk.restart();
        let transaction = store.begin(WAIT, &holder("t1")).unwrap();
        let seen = picture(transaction.view()).files;
        assert!(seen["a.md"] == b"one\n" && seen["b.md"] == b"two\n" || seen["b.md"] == b"TWO\n");
        completed +=
            usize::from(matches!(transaction.view().reports(), [Report::RolledForward { .. }, ..]));
    }
    assert!(completed > 1);
}

#[test]
fn an_oversize_private_file_is_not_read_into_memory() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(layout(&dir.path().join("state")));
    let revision = init(&store).revision;
    let enlarge = |name: &str| {
        let path = store.layout().dir.join(".statedir").join(name);
        fs_err::OpenOptions::new().write(true).open(path).unwrap().set_len(1 << 42).unwrap();
    };
    enlarge("head");
    enlarge("lock");
    assert_eq!(store.read(WAIT).unwrap().revision, revision);
    commit(&store, "step", vec![write("a.md", "x")], "");
    enlarge("log/00000001.log");
    assert!(store.read(WAIT).unwrap().log_damage().is_some());
    let error = store.begin(WAIT, &holder("t1")).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn a_collection_that_cannot_be_finished_says_so_and_succeeds() {
    let mut warned = 0;
    for call in 1.. {
        let (disk, store) = sim();
        let store = store.rotating_at(700);
        init(&store);
        for i in 0..8 {
            commit(&store, "step", vec![write("a.md", &format!("text {i}\n"))], "- e\n");
        }
        let before = store.operations(None).unwrap().len();
        disk.arm(call, Fault::Fails(5), false);
        let result = store.gc(Some("t9".into()), &[], false);
        if !disk.fired() {
            break;
        }
        disk.restart();
        let after = store.operations(None).unwrap().len();
        match result {
            Ok(report) => warned += usize::from(!report.warnings.is_empty()),
            Err(error) => assert_eq!(after, before, "failed and dropped: {error}"),
        }
        store.gc(Some("t9".into()), &[], false).unwrap();
        store.read(WAIT).unwrap();
    }
    assert!(warned > 2, "only {warned}");
}

/// A state with a log of several segments.
fn several_segments() -> (SimDisk, Store, Vec<PathBuf>) {
    let (disk, store) = sim();
    let store = store.rotating_at(700);
    init(&store);
    for i in 0..8 {
        commit(&store, "step", vec![write("a.md", &format!("text {i}\n"))], "- e\n");
    }
    // The newest segment has an operation of its own.
    let store = store.rotating_at(u64::MAX);
    commit(&store, "step", vec![write("a.md", "the newest\n")], "- e\n");
    let mut names = disk.list(&store.paths.log()).unwrap();
    names.sort();
    assert!(names.len() > 3, "{names:?}");
    let segments = names.into_iter().map(|name| store.paths.log().join(name)).collect();
    (disk, store, segments)
}

#[test]
fn what_a_lost_segment_held_is_never_taken_for_an_edit_made_outside() {
    let (_, _, segments) = several_segments();
    for lost in 1..segments.len() {
        let (disk, store, segments) = several_segments();
        for segment in &segments[lost..] {
            Disk::remove(&disk, segment).unwrap();
        }
        let view = store.read(WAIT).unwrap();
        assert_eq!(view.bytes("a.md").unwrap(), b"the newest\n");
        assert_eq!(view.log_damage().map(|damage| &damage.path), segments.last(), "{lost}");
        let error = store.begin(WAIT, &holder("t1")).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{lost}: {error}");
        assert!(store.set_damaged_log_aside(WAIT, &holder("t1")).unwrap().is_some());
        commit(&store, "step", vec![write("b.md", "on\n")], "");
        let target = store.undo_target().unwrap().unwrap();
        assert_eq!(target.kind, "step");
        let transaction = store.begin(WAIT, &holder("t1")).unwrap();
        let changes = transaction.inverse(&target).unwrap();
        transaction.commit(operation("undo", changes, "")).unwrap();
        assert_eq!(disk.peek(&state_dir().join("a.md")).unwrap(), b"the newest\n");
    }
}

#[test]
fn a_segment_missing_in_between_is_noticed() {
    let (disk, store, segments) = several_segments();
    assert_eq!(store.log_losses().unwrap(), []);
    Disk::remove(&disk, &segments[1]).unwrap();
    assert!(store.log_losses().unwrap().contains(&LogLoss::Segment(2)));
}

#[test]
fn a_damaged_image_is_noticed_and_put_back_from_the_segment_before() {
    for name in several_segments().0.list(&several_segments().1.paths.objects()).unwrap() {
        for damage in [true, false] {
            let (disk, store, _) = several_segments();
            let path = store.paths.objects().join(&name);
            let sound = disk.peek(&path).unwrap();
            match damage {
                true => disk.damage(&path, |bytes| bytes[0] ^= 1),
                false => Disk::remove(&disk, &path).unwrap(),
            }
            let losses = store.log_losses().unwrap();
            let found = |loss: &LogLoss| matches!(loss, LogLoss::Image { bytes: Some(bytes), .. } if *bytes == sound);
            assert!(!losses.is_empty() && losses.iter().all(found), "{losses:?}");
            assert_eq!(store.restore_images(WAIT, &holder("t1")).unwrap(), losses.len());
            assert_eq!(store.log_losses().unwrap(), []);
            assert_eq!(disk.peek(&path).unwrap(), sound);
        }
    }
}
