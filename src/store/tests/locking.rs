//! One writer at a time, and everybody else knows who.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::script::*;
use crate::store::*;

#[test]
fn two_transactions_exclude_each_other_and_the_second_names_the_first() {
    let (_, store) = sim();
    init(&store);
    let first = store
        .begin(
            WAIT,
            &LockHolder {
                actor: "ann".into(),
                command: "step done".into(),
                time: "noon".into(),
                ..LockHolder::default()
            },
        )
        .unwrap();
    for error in
        [store.begin(WAIT, &holder("t1")).unwrap_err(), store.read(Duration::ZERO).unwrap_err()]
    {
        let text = error.to_string();
        let pid = std::process::id().to_string();
        for part in ["`ann`", "`step done`", "`noon`", pid.as_str()] {
            assert!(text.contains(part), "{text}");
        }
    }
    drop(first);
    // The one that gave up must not keep the lock it is still queued for.
    std::thread::sleep(Duration::from_millis(50));
    drop(store.begin(WAIT, &holder("t1")).unwrap());
}

#[test]
fn threads_that_count_lose_no_increment() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(layout(&dir.path().join("state")));
    commit(&store, "init", vec![write("a.md", "0")], "");
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let wait = Duration::from_secs(60);
                    let transaction = store.begin(wait, &holder("t1")).unwrap();
                    let text = String::from_utf8_lossy(transaction.view().bytes("a.md").unwrap());
                    let next = text.parse::<u32>().unwrap() + 1;
                    let change = write("a.md", &next.to_string());
                    transaction.commit(operation("count", vec![change], "- one\n")).unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                    store.read(wait).unwrap();
                }
            });
        }
    });
    assert_eq!(done.into_inner(), 100);
    let view = store.read(WAIT).unwrap();
    assert_eq!(view.bytes("a.md").unwrap(), b"100");
    assert_eq!(view.appended().len(), 600);
    assert_eq!(store.operations(None).unwrap().len(), 101);
}

#[test]
fn only_one_of_two_that_found_nothing_can_create_the_state() {
    let (_, store) = sim();
    let first = store.begin(WAIT, &holder("t1")).unwrap();
    let second = store.begin(WAIT, &holder("t1")).unwrap();
    first.commit(operation("init", vec![write("a.md", "first")], "")).unwrap();
    let result = second.commit(operation("init", vec![write("a.md", "second")], ""));
    assert!(matches!(result, Err(StoreError::Conflict { .. })));
    assert_eq!(store.read(WAIT).unwrap().bytes("a.md").unwrap(), b"first");
}
