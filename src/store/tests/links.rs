//! State directories that a stranger filled with links: nothing outside is reached.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::script::*;
use crate::store::*;

const PARTS: [&str; 6] = ["log", "tmp", "objects", "checkpoints", "salvage", "rebuild"];

struct Scene {
    root: tempfile::TempDir,
    store: Store,
}

/// A state that has been used for a while, and files elsewhere.
fn scene() -> Scene {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(layout(&root.path().join("state"))).rotating_at(200);
    init(&store);
    for n in 0..5 {
        commit(&store, &format!("step-{n}"), vec![write("a.md", &format!("{n}\n"))], "- x\n");
    }
    fs_err::create_dir(root.path().join("victims")).unwrap();
    Scene { root, store }
}

impl Scene {
    fn victims(&self) -> PathBuf {
        self.root.path().join("victims")
    }

    fn private(&self, name: &str) -> PathBuf {
        self.store.paths.private.join(name)
    }

    /// Moves what is at a path away, and links to it from there.
    fn replace_by_link(&self, path: &Path) {
        if path.symlink_metadata().is_ok() {
            fs_err::remove_dir(self.victims()).unwrap();
            fs_err::rename(path, self.victims()).unwrap();
        }
        fs_err::write(self.victims().join("00000000-victim"), "kept").unwrap();
        fs_err::write(self.victims().join("victim"), "kept").unwrap();
        symlink(self.victims(), path).unwrap();
    }

    /// Everything that the store can be asked for.
    fn use_all(&self) {
        let store = &self.store;
        let _ = store.exists();
        let _ = store.read(WAIT).map(|view| {
            let _ = view.appended().read_tail(10);
            let _ = view.checkpoints();
        });
        let _ = store.read_loosely();
        let _ = store.log_size();
        let _ = store.operations(None).map(|ops| {
            ops.iter().for_each(|op| {
                let _ = store.files_at(op.id.as_str());
            });
        });
        let _ = store.last_known_files();
        let _ = store.appended_from_log();
        let _ = store.appended_missing_tail();
        let _ = store.undo_target();
        let _ = store.count("x");
        let _ = store.gc(Some("9999".into()), &[], true);
        let _ = store.gc(Some("9999".into()), &[], false);
        for n in 0..3 {
            if let Ok(transaction) = store.begin(WAIT, &holder("t9")) {
                let files = vec![write("a.md", &format!("later {n}\n")), write("b.md", "y")];
                let _ = transaction.commit(operation("step", files, "- z\n"));
            }
        }
        let _ = store.set_log_aside(WAIT, &holder("t9"));
        let _ = store.install_rebuilt_log(WAIT, &holder("t9"), |site| {
            fs_err::create_dir_all(&site.layout().dir).ok();
            let transaction = site.begin(WAIT, &holder("t9"))?;
            transaction.commit(operation("init", vec![write("a.md", "x")], "")).map(drop)
        });
        let _ = store.gc(None, &[], false);
    }
}

/// All files below a directory with their content.
fn tree(dir: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let entries =
        walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.path().to_owned(), fs_err::read(entry.path()).ok())).collect()
}

#[test]
fn a_directory_of_the_store_that_is_a_link_leads_nowhere() {
    for part in PARTS {
        let scene = scene();
        scene.replace_by_link(&scene.private(part));
        let before = tree(&scene.victims());
        assert!(before.len() >= 3, "{part}");
        scene.use_all();
        assert_eq!(tree(&scene.victims()), before, "{part}");
    }
}

#[test]
fn the_private_directory_that_is_a_link_leads_nowhere() {
    let scene = scene();
    scene.replace_by_link(&scene.store.paths.private);
    let (victims, link) = (scene.victims(), &scene.store.paths.private);
    assert!(link.is_symlink());
    let before = tree(&victims);
    scene.use_all();
    assert_eq!(tree(&victims), before);
    for error in [
        scene.store.read(WAIT).unwrap_err(),
        scene.store.begin(WAIT, &holder("t")).unwrap_err(),
        scene.store.gc(None, &[], false).unwrap_err(),
        scene.store.operations(None).unwrap_err(),
    ] {
        let expected = "expected a directory, found a symbolic link";
        assert!(matches!(&error, StoreError::Damaged { message, .. } if message == expected));
    }
}

#[test]
fn collecting_leaves_what_tmp_and_objects_link_to() {
    for part in ["tmp", "objects"] {
        let scene = scene();
        let path = scene.private(part);
        scene.replace_by_link(&path);
        // Of a name that the store gives its own files.
        let name = "00000009.log";
        fs_err::write(scene.victims().join(name), "mine").unwrap();
        let before = tree(&scene.victims());
        let error = scene.store.gc(None, &[], false).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert_eq!(tree(&scene.victims()), before);
        // The control: the same files in a directory of the store's own are collected.
        fs_err::remove_file(&path).unwrap();
        fs_err::rename(scene.victims(), &path).unwrap();
        scene.store.gc(None, &[], false).unwrap();
        assert!(!path.join(name).exists());
    }
}

#[test]
fn files_that_are_links_lead_nowhere() {
    let names = ["a.md", "b.md", GROWING, ".statedir/head", ".statedir/lock", ".statedir/tally"];
    let more = [".statedir/.gitignore", ".statedir/tmp/a.md", ".statedir/tmp/head"];
    for name in names.into_iter().chain(more) {
        for target in ["victims/kept", "victims/absent", "state"] {
            let scene = scene();
            fs_err::write(scene.victims().join("kept"), "kept").unwrap();
            let path = scene.store.paths.dir.join(name);
            let _ = fs_err::remove_file(&path);
            symlink(scene.root.path().join(target), &path).unwrap();
            let before = tree(&scene.victims());
            scene.use_all();
            assert_eq!(tree(&scene.victims()), before, "{name} -> {target}");
        }
    }
}

#[test]
fn a_segment_or_an_image_that_is_a_link_leads_nowhere() {
    for part in ["log", "objects"] {
        let scene = scene();
        for entry in fs_err::read_dir(scene.private(part)).unwrap() {
            let path = entry.unwrap().path();
            let moved = scene.victims().join(path.file_name().unwrap());
            fs_err::rename(&path, &moved).unwrap();
            symlink(&moved, &path).unwrap();
        }
        let before = tree(&scene.victims());
        assert!(before.len() > 1);
        scene.use_all();
        assert_eq!(tree(&scene.victims()), before, "{part}");
    }
}

#[test]
fn pipes_and_directories_in_the_place_of_files_make_nobody_wait() {
    let names = ["a.md", GROWING, ".statedir/head", ".statedir/lock", ".statedir/tally"];
    for name in names.into_iter().chain([".statedir/log/00000001.log", ".statedir/tmp/a.md"]) {
        for pipe in [true, false] {
            let scene = scene();
            let path = scene.store.paths.dir.join(name);
            let _ = fs_err::remove_file(&path);
            if pipe {
                let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
                assert!(made.success());
            } else {
                fs_err::create_dir(&path).unwrap();
            }
            scene.use_all();
        }
    }
}

#[test]
fn files_in_the_place_of_directories_are_reported() {
    for part in PARTS {
        let scene = scene();
        let path = scene.private(part);
        let _ = fs_err::remove_dir_all(&path);
        fs_err::write(&path, "kept").unwrap();
        scene.use_all();
    }
    let scene = scene();
    fs_err::remove_dir_all(scene.private("log")).unwrap();
    fs_err::write(scene.private("log"), "").unwrap();
    let error = scene.store.operations(None).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn the_next_call_sees_a_directory_that_was_put_in_the_place_of_another() {
    let scene = scene();
    let dir = scene.store.paths.dir.clone();
    let before = scene.store.read(WAIT).unwrap();
    fs_err::rename(&dir, scene.root.path().join("old")).unwrap();
    assert!(scene.store.exists().unwrap().files.is_empty());
    init(&scene.store);
    let now = scene.store.read(WAIT).unwrap();
    assert_ne!(now.revision, before.revision);
    // What was read before still belongs to the directory that was moved.
    assert_eq!(before.appended().read_from(0).unwrap().len() as u64, before.appended().len());
}

#[test]
fn a_directory_that_is_moved_while_the_lock_is_waited_for_is_not_written_to() {
    let scene = scene();
    let (dir, old) = (scene.store.paths.dir.clone(), scene.root.path().join("old"));
    let held = scene.store.begin(WAIT, &holder("t1")).unwrap();
    let store = scene.store.clone();
    let wait = Duration::from_secs(20);
    let waiting = std::thread::spawn(move || store.begin(wait, &holder("t2")).map(drop));
    std::thread::sleep(Duration::from_millis(300));
    fs_err::rename(&dir, &old).unwrap();
    let other = Store::new(layout(&dir));
    init(&other);
    let before = tree(&old);
    drop(held);
    let error = waiting.join().unwrap().unwrap_err();
    assert!(matches!(error, StoreError::Moved { .. }), "{error}");
    assert_eq!(tree(&old), before);
}
