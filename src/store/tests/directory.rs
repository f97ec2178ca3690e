//! Directories that a stranger filled: links, pipes and directories at every place.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::store::{
    Directory, FileKind,
    disk::{Access, directory::WrongKind},
};

/// A directory to work in, and beside it what must never be reached.
struct Scene {
    _root: tempfile::TempDir,
    inside: PathBuf,
    victim: PathBuf,
    victims: PathBuf,
}

const KEPT: &[u8] = b"kept";

fn scene() -> Scene {
    let root = tempfile::tempdir().unwrap();
    let [inside, victims] = ["inside", "victims"].map(|name| root.path().join(name));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&victims).unwrap();
    let victim = victims.join("victim");
    fs::write(&victim, KEPT).unwrap();
    Scene { _root: root, inside, victim, victims }
}

impl Scene {
    fn directory(&self) -> Directory {
        Directory::open(&self.inside).unwrap()
    }

    fn assert_untouched(&self) {
        assert_eq!(fs::read(&self.victim).unwrap(), KEPT);
        assert_eq!(fs::read_dir(&self.victims).unwrap().count(), 1);
    }

    /// Puts something that is not a regular file at `name`, one kind after the other.
    fn for_each_wrong_file(&self, name: &str, mut check: impl FnMut(&Directory, FileKind)) {
        let path = self.inside.join(name);
        for shape in ["link", "dangling", "loop", "relative", "pipe", "socket", "directory"] {
            let mut socket = None;
            let kind = match shape {
                "link" => symlink(&self.victim, &path).map(|()| FileKind::Link),
                "dangling" => symlink(self.victims.join("new"), &path).map(|()| FileKind::Link),
                "loop" => symlink(&path, &path).map(|()| FileKind::Link),
                "relative" => symlink("../victims/victim", &path).map(|()| FileKind::Link),
                "pipe" => make_pipe(&path).map(|()| FileKind::Other),
                "socket" => std::os::unix::net::UnixListener::bind(&path)
                    .map(|made| socket = Some(made))
                    .map(|()| FileKind::Other),
                _ => fs::create_dir(&path).map(|()| FileKind::Directory),
            };
            check(&self.directory(), kind.unwrap());
            self.assert_untouched();
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => fs::remove_dir(&path).unwrap(),
                Ok(_) => fs::remove_file(&path).unwrap(),
                Err(_) => {}
            }
        }
    }
}

fn make_pipe(path: &Path) -> std::io::Result<()> {
    let made = std::process::Command::new("mkfifo").arg(path).status()?;
    assert!(made.success());
    Ok(())
}

fn found_instead(error: &std::io::Error) -> Option<FileKind> {
    error.get_ref()?.downcast_ref::<WrongKind>().map(|wrong| wrong.found)
}

#[test]
fn only_regular_files_are_read_and_written() {
    let scene = scene();
    scene.for_each_wrong_file("f", |dir, kind| {
        assert_eq!(dir.stat("f").unwrap().unwrap().kind, kind);
        assert_eq!(found_instead(&dir.read("f", 100).unwrap_err()), Some(kind));
        assert_eq!(found_instead(&dir.append("f", b"bad").unwrap_err()), Some(kind));
        for access in [Access::Read, Access::Append, Access::AppendOrCreate, Access::WriteOrCreate]
        {
            let error = dir.open_file("f", access).unwrap_err();
            assert_eq!(found_instead(&error), Some(kind), "{access:?}: {error}");
        }
        let error = dir.open_file("f", Access::CreateNew).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    });
}

#[test]
fn the_same_through_a_path_reaches_the_victim() {
    let scene = scene();
    let link = scene.inside.join("f");
    symlink(&scene.victim, &link).unwrap();
    assert_eq!(fs::read(&link).unwrap(), KEPT);
    fs::OpenOptions::new().append(true).open(&link).unwrap().write_all(b"bad").unwrap();
    assert_ne!(fs::read(&scene.victim).unwrap(), KEPT);
    let links = scene.inside.join("d");
    symlink(&scene.victims, &links).unwrap();
    fs::remove_file(links.join("victim")).unwrap();
    assert!(!scene.victim.exists());
}

#[test]
fn replacing_takes_the_name_and_not_what_a_link_points_to() {
    let scene = scene();
    scene.for_each_wrong_file("f", |dir, kind| {
        let replaced = dir.replace("f", b"mine");
        if kind == FileKind::Directory {
            assert!(replaced.is_err());
        } else {
            replaced.unwrap();
            assert_eq!(dir.read("f", 4).unwrap().unwrap(), b"mine");
        }
        assert_eq!(dir.list().unwrap(), ["f"], "a temporary file stayed");
    });
}

#[test]
fn removing_and_renaming_move_the_link_itself() {
    let scene = scene();
    scene.for_each_wrong_file("f", |dir, kind| {
        dir.rename("f", dir, "g").unwrap();
        assert!(dir.stat("f").unwrap().is_none());
        assert!(dir.rename_new("g", dir, "f").unwrap());
        dir.append("other", b"x").unwrap();
        assert!(dir.exchange("f", dir, "other").unwrap());
        assert_eq!(dir.stat("other").unwrap().unwrap().kind, kind);
        assert!(dir.exchange("f", dir, "other").unwrap());
        dir.remove("other").unwrap();
        if kind == FileKind::Link {
            dir.link("f", dir, "second").unwrap();
            assert_eq!(dir.stat("second").unwrap().unwrap().kind, FileKind::Link);
            dir.remove("second").unwrap();
        }
        assert_eq!(dir.remove("f").is_ok(), kind != FileKind::Directory);
    });
}

#[test]
fn only_directories_are_entered() {
    let scene = scene();
    let path = scene.inside.join("d");
    let targets = [scene.victims.clone(), scene.victims.join("new"), path.clone(), "..".into()];
    for target in targets {
        symlink(target, &path).unwrap();
        let dir = scene.directory();
        assert_eq!(found_instead(&dir.open_dir("d").unwrap_err()), Some(FileKind::Link));
        assert_eq!(dir.create_dir("d", 0o700).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert!(dir.remove_dir("d").is_err());
        dir.remove("d").unwrap();
        scene.assert_untouched();
    }
    make_pipe(&path).unwrap();
    assert_eq!(found_instead(&scene.directory().open_dir("d").unwrap_err()), Some(FileKind::Other));
    fs::remove_file(&path).unwrap();
    fs::write(&path, b"").unwrap();
    let error = scene.directory().open_dir("d").unwrap_err();
    assert_eq!(
        (found_instead(&error), error.kind()),
        (Some(FileKind::File), ErrorKind::NotADirectory)
    );
    assert!(scene.directory().open_dir("absent").unwrap().is_none());
}

#[test]
fn a_name_is_one_component() {
    let scene = scene();
    fs::create_dir(scene.inside.join("d")).unwrap();
    let dir = scene.directory();
    let absolute = scene.victim.to_str().unwrap().to_owned();
    let names =
        ["", ".", "..", "/", "d/", "d/.", "./d", "d/f", "../victims/victim", "f\0", &absolute];
    for name in names {
        let refused = |result: std::io::Result<()>| {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidInput, "{name:?}");
        };
        refused(dir.open_dir(name).map(drop));
        refused(dir.stat(name).map(drop));
        refused(dir.read(name, 10).map(drop));
        refused(dir.append(name, b"bad"));
        refused(dir.replace(name, b"bad"));
        refused(dir.create_dir(name, 0o700));
        refused(dir.remove(name));
        refused(dir.remove_dir(name));
        refused(dir.rename(name, &dir, "f"));
        refused(dir.rename("d", &dir, name));
        refused(dir.rename_new("d", &dir, name).map(drop));
        refused(dir.exchange("d", &dir, name).map(drop));
        refused(dir.link("d", &dir, name));
    }
    scene.assert_untouched();
    for name in ["..f", "f..", "a b", "-f", "ä", "f\n"] {
        dir.replace(name, b"x").unwrap();
        assert!(dir.stat(name).unwrap().is_some(), "{name:?}");
    }
}

#[test]
fn what_is_read_has_a_limit() {
    let scene = scene();
    let dir = scene.directory();
    dir.append("f", b"12").unwrap();
    dir.append("f", b"34").unwrap();
    assert_eq!(dir.read("f", 4).unwrap().unwrap(), b"1234");
    assert_eq!(dir.read("f", 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
    assert!(dir.read("absent", 3).unwrap().is_none());
    // A file without bytes on the disk, larger than any memory.
    fs::File::create(scene.inside.join("huge")).unwrap().set_len(1 << 42).unwrap();
    assert_eq!(dir.read("huge", 1 << 20).unwrap_err().kind(), ErrorKind::FileTooLarge);
}

#[test]
fn the_handle_stays_with_a_directory_that_is_moved() {
    let scene = scene();
    let dir = scene.directory();
    dir.create_dir("d", 0o750).unwrap();
    let mode = fs::metadata(scene.inside.join("d")).unwrap().permissions().mode();
    assert_eq!(mode & 0o700, 0o700);
    let below = dir.open_dir("d").unwrap().unwrap();
    fs::rename(scene.inside.join("d"), scene.inside.join("moved")).unwrap();
    symlink(&scene.victims, scene.inside.join("d")).unwrap();
    below.append("f", b"x").unwrap();
    below.sync().unwrap();
    assert_eq!(below.list().unwrap(), ["f"]);
    assert_eq!(below.list().unwrap(), ["f"], "the second listing begins anew");
    below.rename("f", &dir, "g").unwrap();
    assert_eq!(dir.read("g", 1).unwrap().unwrap(), b"x");
    scene.assert_untouched();
}

#[test]
fn a_root_that_is_a_link_is_what_the_user_named() {
    let scene = scene();
    let link = scene.inside.join("named");
    symlink(&scene.victims, &link).unwrap();
    assert_eq!(Directory::open(&link).unwrap().list().unwrap(), ["victim"]);
    assert_eq!(Directory::open(&scene.victim).unwrap_err().kind(), ErrorKind::NotADirectory);
    assert_eq!(Directory::open(&link.join("absent")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn removing_a_directory_with_everything_in_it_follows_no_link() {
    let scene = scene();
    let dir = scene.directory();
    fs::create_dir_all(scene.inside.join("d/e")).unwrap();
    fs::write(scene.inside.join("d/e/f"), "x").unwrap();
    symlink(&scene.victims, scene.inside.join("d/e/link")).unwrap();
    symlink(&scene.victims, scene.inside.join("link")).unwrap();
    symlink(&scene.victim, scene.inside.join("d/file")).unwrap();
    for name in ["d", "link", "absent"] {
        dir.remove_all(name).unwrap();
    }
    assert!(dir.remove_all("../victims").is_err());
    assert_eq!(fs::read_dir(&scene.inside).unwrap().count(), 0);
    scene.assert_untouched();
}
