//! Files that need not be hashed because nobody can have changed them.

use std::fs::{File, FileTimes};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::script::*;
use crate::store::{
    disk::{Stat, read::require_file},
    inspect::inspect,
    log::head::Head,
    *,
};

fn long(letter: &str) -> String {
    letter.repeat(WORTH_SEALING + 7)
}

fn real() -> (tempfile::TempDir, Store, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(layout(&dir.path().join("state")));
    init(&store);
    let path = store.layout().dir.join("a.md");
    (dir, store, path)
}

fn head(store: &Store) -> Head {
    Head::load(&*store.disk, &store.paths).unwrap().unwrap()
}

fn stat(store: &Store, path: &Path) -> Stat {
    require_file(&*store.disk, path).unwrap().unwrap()
}

fn is_sealed(store: &Store) -> bool {
    inspect(store, false).unwrap().files["a.md"].is_sealed
}

/// Saves in place, with as many bytes as before, and hides that it did.
fn edit_in_hiding(path: &Path, text: &str) {
    edit_in_hiding_at(path, 5, text);
}

fn edit_in_hiding_at(path: &Path, offset: u64, text: &str) {
    let times = std::fs::metadata(path).unwrap();
    let mut file = File::options().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let times = FileTimes::new()
        .set_modified(times.modified().unwrap())
        .set_accessed(times.accessed().unwrap());
    file.set_times(times).unwrap();
}

/// Each round falls somewhere else between two ticks of the clock that stamps files.
#[test]
fn an_edit_that_hides_is_noticed_at_once() {
    let (_dir, store, path) = real();
    let mut sealed = 0;
    for round in 0..100 {
        let letter = if round % 2 == 0 { "x" } else { "z" };
        let committed = commit(&store, "step", vec![write("a.md", &long(letter))], "");
        let was = head(&store);
        sealed += usize::from(was.sealed.contains_key("a.md"));
        edit_in_hiding(&path, "y");
        let now = stat(&store, &path);
        assert!(was.recognises("a.md", Some(&now)), "length, time and number say nothing");
        assert_eq!(was.sealed_hash("a.md", &now), None, "round {round}");
        let view = store.read(WAIT).unwrap();
        assert_ne!(view.revision, committed.revision, "round {round}");
        assert!(view.bytes("a.md").unwrap().contains(&b'y'));
        let transaction = store.begin(WAIT, &holder("t2")).unwrap();
        assert!(
            matches!(transaction.view().reports(), [Report::External { files, .. }] if files == &["a.md"]),
            "{:?}",
            transaction.view().reports()
        );
        drop(transaction);
        assert!(!is_sealed(&store), "somebody else wrote it");
        assert_eq!(head(&store).sealed.get("a.md"), None);
    }
    println!("{sealed} of 100 were sealed");
}

/// The control: with a seal that the edit did not break, nobody would notice it.
#[test]
fn a_seal_is_what_the_hash_is_taken_from() {
    let (_dir, store, path) = real();
    let committed = commit(&store, "step", vec![write("a.md", &long("x"))], "");
    edit_in_hiding(&path, "y");
    let mut head = head(&store);
    head.sealed.insert("a.md".to_owned(), stat(&store, &path).ctime);
    head.save(&*store.disk, &store.paths);
    assert_eq!(store.read(WAIT).unwrap().revision, committed.revision);
    head.boot = Some("another boot".to_owned());
    head.save(&*store.disk, &store.paths);
    assert_ne!(store.read(WAIT).unwrap().revision, committed.revision, "it holds for one boot");
}

#[test]
fn what_stays_is_sealed_as_long_as_nobody_touches_it() {
    let (_dir, store, path) = real();
    commit(&store, "step", vec![write("a.md", &long("x"))], "");
    if head(&store).sealed.is_empty() {
        println!("no exact times here: files are hashed");
        return;
    }
    assert!(is_sealed(&store));
    commit(&store, "step", vec![write("b.md", "another file")], "");
    assert!(is_sealed(&store), "a change of another file keeps it");
    assert_eq!(head(&store).sealed.len(), 1, "a short file is hashed");
    for touch in [
        |path: &Path| {
            let mode = std::fs::metadata(path).unwrap().permissions();
            std::fs::set_permissions(path, mode).unwrap();
        },
        |path: &Path| edit_in_hiding(path, "x"),
        |path: &Path| {
            let copy = path.with_extension("new");
            std::fs::copy(path, &copy).unwrap();
            std::fs::rename(&copy, path).unwrap();
        },
        |path: &Path| {
            let moved = path.with_extension("moved");
            std::fs::rename(path, &moved).unwrap();
            std::fs::rename(&moved, path).unwrap();
        },
    ] {
        let known = head(&store);
        touch(&path);
        assert_eq!(known.sealed_hash("a.md", &stat(&store, &path)), None);
        assert!(!is_sealed(&store));
        let revision = store.read(WAIT).unwrap().revision;
        assert_eq!(revision, known.id, "the bytes are the same");
        // A seal is not given to what others may have open.
        commit(&store, "step", vec![write("b.md", "again")], "");
        assert!(!is_sealed(&store));
        commit(&store, "step", vec![write("a.md", &long("z"))], "");
        commit(&store, "step", vec![write("a.md", &long("x"))], "");
        assert!(is_sealed(&store));
    }
}

/// Damages the last record of the log, and hides it.
fn damage_last_record(store: &Store) {
    let head = head(store);
    let middle = head.last + (head.end - head.last) / 2;
    edit_in_hiding_at(&store.paths.segment(head.segment), middle, "y");
}

fn is_damage_seen(store: &Store) -> bool {
    store.read(WAIT).unwrap().log_damage().is_some()
}

#[test]
fn readers_see_that_a_long_record_was_damaged_in_hiding() {
    let (_dir, store, _) = real();
    let mut sealed = 0;
    for letter in ["x", "z", "x", "z"] {
        commit(&store, "step", vec![write("a.md", &long(letter))], "");
        let was = head(&store);
        let segment = store.paths.segment(was.segment);
        let is_sealed = was.is_log_sealed(&stat(&store, &segment));
        assert_eq!(is_sealed, was.sealed_log.is_some());
        sealed += usize::from(is_sealed);
        assert!(!is_damage_seen(&store));
    }
    println!("{sealed} of 4 were sealed");
    let was = head(&store);
    damage_last_record(&store);
    let now = stat(&store, &store.paths.segment(was.segment));
    assert_eq!(now.len, was.end, "the length says nothing");
    assert!(!was.is_log_sealed(&now));
    assert!(is_damage_seen(&store));
}

/// The control: readers rely on the seal. With a forged one they would not look at the record; a
/// change looks at it in any case, and so does every command after the next boot.
#[test]
fn a_forged_seal_hides_the_damage_from_readers_alone() {
    let (_dir, store, _) = real();
    commit(&store, "step", vec![write("a.md", &long("x"))], "");
    let mut head = head(&store);
    damage_last_record(&store);
    assert!(is_damage_seen(&store));
    let segment = store.paths.segment(head.segment);
    head.sealed_log = Some(stat(&store, &segment).ctime);
    head.save(&*store.disk, &store.paths);
    assert!(!is_damage_seen(&store));
    assert!(matches!(store.begin(WAIT, &holder("t2")), Err(StoreError::Damaged { .. })));
    // The seal is about a length, too.
    head.end -= 1;
    assert!(!head.is_log_sealed(&stat(&store, &segment)));
    head.end += 1;
    head.boot = Some("another boot".to_owned());
    head.save(&*store.disk, &store.paths);
    assert!(is_damage_seen(&store), "it holds for one boot");
}

#[test]
fn a_short_record_is_read_instead_of_sealed() {
    let (_dir, store, _) = real();
    commit(&store, "step", vec![write("a.md", "short")], "");
    assert_eq!(head(&store).sealed_log, None);
    damage_last_record(&store);
    assert!(is_damage_seen(&store));
}
