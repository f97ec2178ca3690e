//! What the store promises when nothing goes wrong.

use super::script::*;
use crate::store::*;

#[test]
fn an_edit_made_outside_is_recorded_and_undo_gives_back_the_exact_bytes() {
    let (disk, store) = sim();
    init(&store);
    disk.edit(&state_dir().join("a.md"), b"one\r\n\xff\x00 odd \xe2\x98");
    let reader = store.read(WAIT).unwrap();
    let transaction = store.begin(WAIT, &holder("t2")).unwrap();
    assert_eq!(transaction.view().revision, reader.revision);
    let target = transaction.undo_target().unwrap().unwrap();
    assert_eq!((target.kind.as_str(), &target.id), ("external", &reader.revision));
    let report = Report::External { op: target.id.clone(), files: vec!["a.md".into()] };
    assert_eq!(transaction.view().reports(), [report]);
    let mut op = operation("undo", transaction.inverse(&target).unwrap(), "");
    op.undoes = Some(target.id.clone());
    transaction.commit(op).unwrap();
    assert_eq!(disk.peek(&state_dir().join("a.md")).unwrap(), b"one\n");

    let transaction = store.begin(WAIT, &holder("t3")).unwrap();
    assert!(transaction.undo_target().unwrap().is_none(), "init cannot be undone");
    let (target, _) = transaction.redo_target().unwrap().unwrap();
    let mut op = operation("redo", transaction.reapply(&target).unwrap(), "");
    op.redoes = Some(target.id.clone());
    transaction.commit(op).unwrap();
    let bytes = disk.peek(&state_dir().join("a.md")).unwrap();
    assert_eq!(bytes, b"one\r\n\xff\x00 odd \xe2\x98");
}

#[test]
fn undo_and_redo_walk_the_stack_across_segments() {
    walk_the_stack(true);
}

/// Logs of earlier versions do not say how far an undo reached.
#[test]
fn the_stack_is_the_same_where_nobody_noted_what_is_settled() {
    walk_the_stack(false);
}

fn walk_the_stack(is_noted: bool) {
    let (_, store) = sim();
    let store = store.rotating_at(600);
    init(&store);
    for text in ["A", "B", "C"] {
        commit(&store, "step", vec![write("a.md", text)], "- entry\n");
    }
    let step = |redo: bool| {
        let transaction = store.begin(WAIT, &holder("t5")).unwrap();
        let (target, settles) = match redo {
            true => transaction.redo_target().unwrap()?,
            false => transaction.undo_target().unwrap().map(|op| (op.clone(), op.seq))?,
        };
        let id = Some(target.id.clone());
        let mut op = match redo {
            true => operation("redo", transaction.reapply(&target).unwrap(), ""),
            false => operation("undo", transaction.inverse(&target).unwrap(), ""),
        };
        (op.undoes, op.redoes) = if redo { (None, id) } else { (id, None) };
        op.settles = is_noted.then_some(settles);
        transaction.commit(op).unwrap();
        let view = store.read(WAIT).unwrap();
        Some(String::from_utf8(view.bytes("a.md").unwrap().to_vec()).unwrap())
    };
    let walk = [false, false, true, false, false, true, true, true];
    let seen: Vec<_> = walk.into_iter().map(|redo| step(redo).unwrap()).collect();
    assert_eq!(seen, ["B", "A", "B", "A", "one\n", "A", "B", "C"]);
    assert_eq!(step(true), None);
    step(false);
    commit(&store, "step", vec![write("a.md", "D")], "");
    assert_eq!(step(true), None, "a change clears what could be redone");
}

/// However much was undone before, the next undo reads the newest segment and the one that its
/// target is in, and of those between the first line.
#[test]
fn the_hundredth_undo_reads_no_more_than_the_first() {
    for (is_noted, is_flat) in [(true, true), (false, false)] {
        let (disk, store) = sim();
        let store = store.rotating_at(30_000);
        init(&store);
        for number in 0..100 {
            commit(&store, "step", vec![write("a.md", &number.to_string().repeat(500))], "");
        }
        let undo = || {
            let transaction = store.begin(WAIT, &holder("t5")).unwrap();
            let before = disk.bytes_read();
            let target = transaction.undo_target().unwrap().unwrap();
            let read = disk.bytes_read() - before;
            let mut op = operation("undo", transaction.inverse(&target).unwrap(), "- undo\n");
            (op.undoes, op.settles) = (Some(target.id), is_noted.then_some(target.seq));
            transaction.commit(op).unwrap();
            read
        };
        let costs: Vec<u64> = (0..100).map(|_| undo()).collect();
        assert_eq!(store.read(WAIT).unwrap().bytes("a.md").unwrap(), b"one\n");
        let (first, worst) = (costs[..5].iter().max().unwrap(), costs.iter().max().unwrap());
        assert_eq!(*worst < 5 * first, is_flat, "first {first}, worst {worst}: {costs:?}");
    }
}

#[test]
fn an_older_operation_can_be_taken_back_unless_a_later_one_overlaps_it() {
    let (_, store) = sim();
    commit(&store, "init", vec![write("a.md", "one two three\n")], "");
    let first = commit(&store, "step", vec![splice("a.md", 4..7, "TWO!")], "").revision;
    commit(&store, "step", vec![splice("a.md", 0..3, "number one")], "");
    let transaction = store.begin(WAIT, &holder("t5")).unwrap();
    let op = store.operation(first.as_str()).unwrap();
    let changes = transaction.inverse(&op).unwrap();
    transaction.commit(operation("undo", changes, "")).unwrap();
    assert_eq!(store.read(WAIT).unwrap().bytes("a.md").unwrap(), b"number one two three\n");
    let transaction = store.begin(WAIT, &holder("t5")).unwrap();
    assert!(matches!(transaction.inverse(&op), Err(StoreError::Overlap { .. })));
}

#[test]
fn every_past_state_can_be_read_again() {
    let (_, store) = sim();
    let store = store.rotating_at(700);
    let mut expected = Vec::new();
    init(&store);
    for i in 0..20 {
        let committed = commit(&store, "step", vec![write("a.md", &"x".repeat(i * 7))], "- e\n");
        expected.push((committed.revision, "x".repeat(i * 7).into_bytes()));
    }
    for (revision, bytes) in &expected {
        assert_eq!(store.files_at(revision.as_str()).unwrap()["a.md"], *bytes);
        assert_eq!(store.operation(&revision.as_str()[..9]).unwrap().id, *revision);
    }
    let all = store.operations(None).unwrap();
    assert_eq!(all.len(), 21);
    assert!(all.windows(2).all(|pair| pair[0].parent == pair[1].id));
    assert_eq!(store.operations(Some(3)).unwrap(), all[..3]);
    assert!(matches!(store.operation(""), Err(StoreError::Ambiguous { .. })));
    assert!(matches!(store.operation("zz"), Err(StoreError::NotFound { .. })));
}

#[test]
fn a_collection_drops_old_segments_and_nothing_that_is_needed() {
    let (_, store) = sim();
    let store = store.rotating_at(700);
    let first = init(&store).revision;
    let first_image = Hash::of(b"one\n");
    store.begin(WAIT, &holder("t5")).unwrap().commit(checkpoint("first", None)).unwrap();
    for i in 0..20 {
        commit(&store, "step", vec![write("a.md", &format!("text {i}\n"))], "- e\n");
    }
    let before = picture(&store.read(WAIT).unwrap());
    assert_eq!(store.gc(Some("t5".into()), &[], true).unwrap().operations_dropped, 0);
    assert_eq!(
        store.gc(Some("t6".into()), &[first.to_string()], true).unwrap().segments_dropped,
        0
    );
    let promised = store.gc(Some("t6".into()), &[], true).unwrap();
    let report = store.gc(Some("t6".into()), &[], false).unwrap();
    assert_eq!(report, promised);
    assert!(report.operations_dropped > 10 && report.bytes_freed > 1000, "{report:?}");
    assert_eq!(picture(&store.read(WAIT).unwrap()), before);
    assert_eq!(store.object(first_image).unwrap(), b"one\n");
    assert_eq!(store.operations(None).unwrap().len() as u64, 22 - report.operations_dropped);
    let newest = store.operations(Some(1)).unwrap()[0].id.clone();
    assert_eq!(store.files_at(newest.as_str()).unwrap(), before.files);
}

#[test]
fn files_without_a_log_are_adopted_at_the_revision_that_readers_saw() {
    let (disk, store) = sim();
    init(&store);
    let (clone, cloned) = sim();
    clone.freeze(false);
    Disk::create_dir(&clone, &state_dir(), false).unwrap();
    for name in ["a.md", "b.md", GROWING] {
        clone.edit(&state_dir().join(name), &disk.peek(&state_dir().join(name)).unwrap());
    }
    let reader = cloned.read(WAIT).unwrap();
    assert!(reader.adopted() && !reader.revision.is_root());
    assert!(!cloned.exists().unwrap().log, "a reader writes nothing");
    let transaction = cloned.begin(WAIT, &holder("t1")).unwrap();
    assert_eq!(transaction.view().revision, reader.revision);
    assert!(matches!(transaction.view().reports(), [Report::Adopted { .. }]));
    assert!(transaction.undo_target().unwrap().is_none());
    drop(transaction);
    let again = cloned.begin(WAIT, &holder("t2")).unwrap();
    assert_eq!(again.view().revision, reader.revision);
    assert!(again.view().reports().is_empty());
}

#[test]
fn an_editor_that_saves_between_reading_and_committing_wins() {
    let (disk, store) = sim();
    init(&store);
    for name in ["a.md", GROWING] {
        let transaction = store.begin(WAIT, &holder("t1")).unwrap();
        let revision = transaction.view().revision.clone();
        disk.edit(&state_dir().join(name), b"saved by an editor\n");
        let result = transaction.commit(operation("step", vec![write("a.md", "ours")], "- x\n"));
        assert!(matches!(result, Err(StoreError::Conflict { name: at }) if at == name));
        assert_eq!(store.operations(Some(1)).unwrap()[0].id, revision);
    }
    assert_eq!(store.read(WAIT).unwrap().bytes("a.md").unwrap(), b"saved by an editor\n");
}

#[test]
fn damage_in_the_middle_of_the_log_is_named_and_the_files_stay() {
    let (disk, store) = sim();
    init(&store);
    for text in ["A", "B", "C"] {
        commit(&store, "step", vec![write("a.md", text)], "");
    }
    let before = disk.peek(&state_dir().join("a.md"));
    let segment = state_dir().join(".statedir/log/00000001.log");
    disk.damage(&segment, |bytes| bytes[900] ^= 1);
    disk.edit(&state_dir().join("b.md"), b"so that the log is read");
    let error = store.begin(WAIT, &holder("t1")).unwrap_err();
    assert!(
        matches!(&error, StoreError::Damaged { path, offset, .. } if *path == segment && *offset < 900)
    );
    assert_eq!(disk.peek(&state_dir().join("a.md")), before);
    let aside = store.set_log_aside(WAIT, &holder("t1")).unwrap();
    assert!(disk.peek(&aside.join("00000001.log")).is_some());
    let view = store.begin(WAIT, &holder("t1")).unwrap();
    assert_eq!(view.view().bytes("a.md").unwrap(), b"C");
}

#[test]
fn a_torn_tail_is_an_operation_that_never_happened() {
    let (disk, store) = sim();
    let revision = init(&store).revision;
    let segment = state_dir().join(".statedir/log/00000001.log");
    disk.damage(&segment, |bytes| bytes.extend_from_slice(b"0123456789abcdef {\"half\n of it"));
    assert_eq!(store.read(WAIT).unwrap().revision, revision);
    let transaction = store.begin(WAIT, &holder("t1")).unwrap();
    assert!(matches!(transaction.view().reports(), [Report::TornTail { .. }]));
    transaction.commit(operation("step", vec![], "- x\n")).unwrap();
    assert_eq!(store.operations(None).unwrap().len(), 2);
}

#[test]
fn the_head_cache_is_never_needed_nor_believed() {
    let (disk, store) = sim();
    let head = state_dir().join(".statedir/head");
    init(&store);
    let old = disk.peek(&head).unwrap();
    let revision = commit(&store, "step", vec![write("a.md", "new")], "- x\n").revision;
    for bytes in [&old[..], &old[..old.len() / 2], b"", b"junk\n"] {
        disk.edit(&head, bytes);
        assert_eq!(store.read(WAIT).unwrap().revision, revision);
        let transaction = store.begin(WAIT, &holder("t1")).unwrap();
        assert_eq!(transaction.view().revision, revision);
        assert_eq!(transaction.view().bytes("a.md").unwrap(), b"new");
    }
}

#[test]
fn derived_data_is_kept_with_the_length_it_is_valid_for() {
    let (disk, store) = sim();
    init(&store);
    assert_eq!(store.read(WAIT).unwrap().facts(), Some((&b"facts"[..], 6)));
    let transaction = store.begin(WAIT, &holder("t1")).unwrap();
    let op = NewOperation { facts: None, ..operation("step", vec![], "- more\n") };
    transaction.commit(op).unwrap();
    assert_eq!(store.read(WAIT).unwrap().facts(), Some((&b"facts"[..], 6)));
    disk.edit(&state_dir().join(GROWING), b"rewritten");
    assert_eq!(store.read(WAIT).unwrap().facts(), None);
}

#[test]
fn bad_changes_are_refused_before_anything_is_written() {
    let (_, store) = sim();
    let revision = init(&store).revision;
    let big = "x".repeat((1 << 20) + 1);
    let bad = [
        vec![write("../a.md", "x")],
        vec![write("a.md", "x"), write("a.md", "y")],
        vec![splice("a.md", 2..90, "x")],
        vec![write("a.md", &big)],
    ];
    for changes in bad {
        let transaction = store.begin(WAIT, &holder("t1")).unwrap();
        transaction.commit(operation("step", changes, "- x\n")).unwrap_err();
        assert_eq!(store.read(WAIT).unwrap().revision, revision);
    }
}

#[test]
fn authors_are_read_from_the_end_of_the_log_across_segments_and_long_records() {
    for rotate_at in [600, 1 << 30] {
        let (_, store) = sim();
        let store = store.rotating_at(rotate_at);
        init(&store);
        for length in [10, 100_000, 40_000, 5, 33_000, 7] {
            let text = "x".repeat(length);
            let transaction = store.begin(WAIT, &holder("t5")).unwrap();
            let mut op = operation("step", vec![write("a.md", &text)], "- entry\n");
            op.time = format!("t{length}");
            transaction.commit(op).unwrap();
        }
        let whole = store.operations(None).unwrap();
        assert!(whole.len() >= 7);
        let whole: Vec<_> = whole.into_iter().map(|op| (op.time, op.actor, op.session)).collect();
        let read: Vec<_> = store.authors().map(|op| (op.time, op.actor, op.session)).collect();
        assert_eq!(read, whole);
    }
}
