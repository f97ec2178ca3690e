//! Telling a lost rename, a torn file and an edit apart after the machine was started again.

use super::script::*;
use crate::store::{disk::sim::SimDisk, *};

fn after_two_operations() -> (SimDisk, Store) {
    let (disk, store) = sim();
    init(&store);
    commit(&store, "step", vec![write("a.md", "the newest text\n")], "- entry\n");
    (disk, store)
}

fn kinds(store: &Store) -> Vec<String> {
    store.operations(None).unwrap().into_iter().map(|op| op.kind).collect()
}

#[test]
fn an_edit_before_a_proper_shutdown_is_an_edit() {
    let (disk, store) = after_two_operations();
    for text in ["written in the evening\n", "one\n"] {
        disk.edit(&state_dir().join("a.md"), text.as_bytes());
        disk.reboot();
        let transaction = store.begin(WAIT, &holder("t1")).unwrap();
        assert_eq!(transaction.view().bytes("a.md").unwrap(), text.as_bytes());
        assert!(matches!(transaction.view().reports(), [Report::External { .. }]));
    }
}

#[test]
fn an_edit_after_the_boot_is_an_edit_even_without_the_head_cache() {
    let (disk, store) = after_two_operations();
    disk.reboot();
    disk.edit(&state_dir().join(".statedir/head"), b"");
    disk.edit(&state_dir().join("a.md"), b"one\n");
    let transaction = store.begin(WAIT, &holder("t1")).unwrap();
    assert_eq!(transaction.view().bytes("a.md").unwrap(), b"one\n");
    drop(transaction);
    assert_eq!(kinds(&store), ["external", "step", "init"]);
}

#[test]
fn a_torn_file_is_set_aside_and_restored() {
    for torn in [&b""[..], b"\0\0\0\0\0\0", b"the new", b"some other file's bytes"] {
        let (disk, store) = after_two_operations();
        disk.damage(&state_dir().join("a.md"), |bytes| *bytes = torn.to_vec());
        disk.reboot();
        let reader = store.read(WAIT).unwrap();
        assert_eq!(reader.bytes("a.md").unwrap(), b"the newest text\n");
        let pending = [Report::Salvaged { file: "a.md".into(), copy: None }];
        assert_eq!(reader.reports(), pending);
        let transaction = store.begin(WAIT, &holder("2026-01-01T10:00:00Z")).unwrap();
        let [Report::Salvaged { copy: Some(copy), .. }] = transaction.view().reports() else {
            panic!("{:?}", transaction.view().reports());
        };
        assert_eq!(disk.peek(copy).unwrap(), torn);
        assert!(copy.ends_with(".statedir/salvage/2026-01-01T10.00.00Z-a.md"));
        assert_eq!(disk.peek(&state_dir().join("a.md")).unwrap(), b"the newest text\n");
    }
}

#[test]
fn a_torn_end_of_the_growing_file_is_completed_from_the_log() {
    let (disk, store) = after_two_operations();
    let path = state_dir().join(GROWING);
    disk.damage(&path, |bytes| bytes.truncate(9));
    disk.reboot();
    drop(store.begin(WAIT, &holder("t1")).unwrap());
    assert_eq!(disk.peek(&path).unwrap(), b"# log\n- entry\n");
    disk.damage(&path, |bytes| bytes[8..].fill(0));
    disk.reboot();
    let transaction = store.begin(WAIT, &holder("t1")).unwrap();
    assert!(matches!(
        transaction.view().reports(),
        [Report::CompletedAppend { .. }, Report::Salvaged { .. }]
    ));
    assert_eq!(disk.peek(&path).unwrap(), b"# log\n- entry\n");
}

#[test]
fn where_boots_are_not_known_blank_files_count_as_torn() {
    let (disk, store) = sim();
    disk.forget_boots();
    init(&store);
    disk.damage(&state_dir().join("a.md"), |bytes| bytes.fill(0));
    assert_eq!(store.read(WAIT).unwrap().bytes("a.md").unwrap(), b"one\n");
    disk.damage(&state_dir().join("a.md"), |bytes| *bytes = b"typed".to_vec());
    assert_eq!(store.read(WAIT).unwrap().bytes("a.md").unwrap(), b"typed");
}

#[test]
fn what_somebody_appends_before_an_interrupted_append_stays_with_it() {
    use crate::store::disk::sim::Fault;
    for call in 1.. {
        let (disk, store) = after_two_operations();
        disk.arm(call, Fault::CrashBefore, false);
        let crashed = store
            .begin(WAIT, &holder("t1"))
            .and_then(|transaction| transaction.commit(operation("step", vec![], "- ours\n")));
        if !disk.fired() {
            return;
        }
        assert!(crashed.is_err() || disk.fired());
        disk.restart();
        let path = state_dir().join(GROWING);
        let mut bytes = disk.peek(&path).unwrap();
        bytes.extend_from_slice(b"theirs\n");
        disk.edit(&path, &bytes);
        drop(store.begin(WAIT, &holder("t1")).unwrap());
        let text = String::from_utf8(disk.peek(&path).unwrap()).unwrap();
        assert_eq!(text.matches("theirs\n").count(), 1, "{text}");
        let committed =
            store.operations(None).unwrap().iter().filter(|op| op.kind == "step").count();
        assert_eq!(text.matches("- ours\n").count(), committed - 1, "{text}");
    }
}
