//! The machine's own file system.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::script::*;
use crate::store::*;

fn real() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(layout(&dir.path().join("deep/state")));
    (dir, store)
}

#[test]
fn the_script_gives_the_same_on_a_real_disk() {
    let (_dir, store) = real();
    let dir = store.layout().dir.clone();
    let mut seen = Vec::new();
    for (step, expected) in script().iter().zip(&pictures(u64::MAX)[1..]) {
        match step {
            ScriptStep::Edit(name, text) => fs_err::write(dir.join(name), text).unwrap(),
            ScriptStep::EditAppend(text) => {
                let mut bytes = fs_err::read(dir.join(GROWING)).unwrap();
                bytes.extend_from_slice(text.as_bytes());
                fs_err::write(dir.join(GROWING), bytes).unwrap();
            }
            // The other steps touch no disk but the store's.
            step => run(&store, &sim().0, step).unwrap(),
        }
        let view = store.read(WAIT).unwrap();
        assert_eq!(picture(&view), *expected, "{step:?}");
        seen.push(view.revision);
    }
    assert!(
        seen.windows(2).filter(|pair| pair[0] == pair[1]).count() == 1,
        "only gc changes nothing"
    );
    let private = fs_err::metadata(dir.join(".statedir")).unwrap();
    assert_eq!(private.permissions().mode() & 0o777, 0o700);
    assert_eq!(fs_err::read(dir.join(".statedir/.gitignore")).unwrap(), b"*\n");
}

#[test]
fn a_file_keeps_its_permissions() {
    let (_dir, store) = real();
    init(&store);
    let path = store.layout().dir.join("a.md");
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    commit(&store, "step", vec![write("a.md", "x")], "");
    assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn links_and_other_odd_files_are_refused() {
    let (dir, store) = real();
    init(&store);
    let secret = dir.path().join("secret");
    fs_err::write(&secret, "secret").unwrap();
    for name in ["b.md", GROWING, ".statedir/head", ".statedir/lock"] {
        let path = store.layout().dir.join(name);
        let kept = fs_err::read(&path).unwrap();
        fs_err::remove_file(&path).unwrap();
        symlink(&secret, &path).unwrap();
        let error = store.begin(WAIT, &holder("t1")).unwrap_err();
        assert!(matches!(error, StoreError::NotRegular { .. }), "{name}: {error}");
        fs_err::remove_file(&path).unwrap();
        fs_err::create_dir(&path).unwrap();
        assert!(store.begin(WAIT, &holder("t1")).is_err());
        fs_err::remove_dir(&path).unwrap();
        fs_err::write(&path, kept).unwrap();
    }
    drop(store.begin(WAIT, &holder("t1")).unwrap());
    assert_eq!(fs_err::read(&secret).unwrap(), b"secret");
}

#[test]
fn the_growing_file_can_be_read_in_pieces() {
    let (_dir, store) = real();
    init(&store);
    commit(&store, "step", vec![], "- entry\n");
    let view = store.read(WAIT).unwrap();
    commit(&store, "step", vec![], "- later\n");
    let mut reader = view.appended().reader().unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "# log\n- entry\n");
    reader.seek(SeekFrom::End(-6)).unwrap();
    text.clear();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "entry\n");
    assert_eq!(view.appended().read_tail(3).unwrap(), b"ry\n");
}
