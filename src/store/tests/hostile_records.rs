//! Records as a stranger would write them: every field replaced, every checksum right.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::script::*;
use crate::store::log::hash::hex_prefix;
use crate::store::*;

/// A directory with a state that has a log of two segments, checkpoints, a head and a tally, and
/// beside the state a file that nothing may touch.
struct Scene {
    _root: tempfile::TempDir,
    victim: PathBuf,
    store: Store,
}

const VICTIM: &[u8] = b"not yours\n";

impl Scene {
    fn new() -> Scene {
        // In memory where there is such a place: durability is not what these are about.
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let store = Store::new(layout(&root.path().join("state")));
        let victim = root.path().join("victim");
        std::fs::write(&victim, VICTIM).unwrap();
        Scene { _root: root, victim, store }
    }

    /// A scene with the files of another.
    fn of(files: &[(PathBuf, Vec<u8>)]) -> Scene {
        let scene = Scene::new();
        for (path, bytes) in files {
            let path = scene.store.layout().dir.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        scene
    }

    fn template() -> Vec<(PathBuf, Vec<u8>)> {
        let scene = Scene::new();
        let store = scene.store.clone().rotating_at(1500);
        init(&store);
        let run = |op| store.begin(WAIT, &holder("t1")).unwrap().commit(op).unwrap();
        run(checkpoint("first", None));
        run(checkpoint("auto-1", Some("because")));
        run(operation("step", vec![splice("a.md", 0..3, "ONE"), remove("b.md")], "- two\n"));
        let known = store.read(WAIT).unwrap().checkpoint("first").unwrap().unwrap();
        let mut forget = operation("forget", vec![write("c.json", "{}")], "- gone\n");
        forget.checkpoints = vec![CheckpointChange::Remove(known)];
        run(forget);
        run(checkpoint("second", None));
        store.count("x").unwrap();
        let mut files = Vec::new();
        collect(&store.layout().dir, &store.layout().dir, &mut files);
        files
    }

    /// Everything that the store does, one after another; errors are answers, too.
    fn use_it(&self) {
        let store = &self.store;
        if let Ok(view) = store.read(WAIT) {
            let _ = view.appended().read_tail(u64::MAX);
            for known in view.checkpoints().unwrap_or_default().found {
                let _ = store.checkpoint_files(&known);
                let _ = view.appended_at(&known);
            }
        }
        let _ = (store.operations(None), store.last_known_files(), store.appended_from_log());
        let _ = (store.appended_missing_tail(), store.log_size(), store.count("x"));
        for undo in [true, true, false] {
            let _ = self.turn(undo);
        }
        let _ = self.restore();
        let _ = store.gc(Some("t9".into()), &[], false);
        if let Ok(begun) = store.begin(WAIT, &holder("t1")) {
            let _ = begun.commit(checkpoint("third", None));
        }
        for name in ["first", "second", "auto-1", "third"] {
            let _ = store.set_checkpoint_aside(name, WAIT, &holder("t1"));
        }
        if store.begin(WAIT, &holder("t1")).is_err() {
            // There is always a way out.
            store.set_log_aside(WAIT, &holder("t1")).unwrap();
            drop(store.begin(WAIT, &holder("t1")).unwrap());
        }
        commit(store, "step", vec![write("a.md", "on\n")], "- on\n");
        assert_eq!(store.read(WAIT).unwrap().bytes("a.md").unwrap(), b"on\n");
    }

    fn turn(&self, undo: bool) -> Result<()> {
        let begun = self.store.begin(WAIT, &holder("t2"))?;
        let target = match undo {
            true => begun.undo_target()?,
            false => begun.redo_target()?.map(|(target, _)| target),
        };
        let Some(target) = target else { return Ok(()) };
        let changes = if undo { begun.inverse(&target) } else { begun.reapply(&target) }?;
        let mut op = operation("undo", changes, "- turned\n");
        op.checkpoints = begun.checkpoint_changes(&target, undo)?;
        (op.undoes, op.redoes) =
            if undo { (Some(target.id), None) } else { (None, Some(target.id)) };
        begun.commit(op).map(drop)
    }

    fn restore(&self) -> Result<()> {
        let begun = self.store.begin(WAIT, &holder("t2"))?;
        let Some(known) = begun.view().last_checkpoint()? else { return Ok(()) };
        let then = self.store.checkpoint_files(&known)?.into_iter();
        let changes =
            then.map(|(name, bytes)| FileChange { name, kind: ChangeKind::Write(bytes) }).collect();
        begun.commit(operation("restore", changes, "- back\n")).map(drop)
    }

    /// Nothing but the state and the untouched file is there.
    fn is_untouched_outside(&self) -> bool {
        let root = self.victim.parent().unwrap();
        let beside = std::fs::read_dir(root).unwrap().count();
        beside == 2 && std::fs::read(&self.victim).is_ok_and(|bytes| bytes == VICTIM)
    }
}

fn collect(root: &Path, dir: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            files.push((path.strip_prefix(root).unwrap().to_owned(), bytes));
        }
    }
}

fn hostile() -> Vec<Value> {
    let mut nested = json!(1);
    for _ in 0..100 {
        nested = json!([nested]);
    }
    vec![
        json!("d/../../../../victim"),
        json!("../../../victim"),
        json!("../victim"),
        json!("/etc/passwd"),
        json!(""),
        json!("x".repeat(300)),
        json!(u64::MAX),
        json!(u64::MAX - 1),
        json!(1u64 << 60),
        json!(-1),
        json!(1.5),
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        nested,
    ]
}

/// Where the values of a document are.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{i}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                places(item, &format!("{at}/{}", name.replace('/', "~1")), found);
            }
        }
        _ => {}
    }
}

/// The line with one value replaced, its id and its checksum made right again.
fn forged(line: &str, at: &str, new: &Value) -> Option<String> {
    let mut value: Value = serde_json::from_str(line.split_once(' ')?.1).ok()?;
    *value.pointer_mut(at)? = new.clone();
    if let Ok(mut op) = serde_json::from_value::<Operation>(value.clone()) {
        op.id = op.compute_id();
        value["id"] = json!(op.id);
    }
    Some(with_sum(&value.to_string()))
}

fn with_sum(json: &str) -> String {
    format!("{} {json}", hex_prefix(json.as_bytes(), log::record::SUM_LEN))
}

fn is_record(path: &Path) -> bool {
    path.starts_with(".statedir/log")
        || path.starts_with(".statedir/checkpoints")
        || path == Path::new(".statedir/head")
}

#[test]
fn no_field_of_any_record_leads_outside_or_stops_the_store() {
    let template = Scene::template();
    let values = hostile();
    let full = std::env::var("STATEDIR_SWEEP").is_ok_and(|wanted| wanted == "full");
    let step = if full { 1 } else { values.len() };
    let mut tried = 0;
    for (file, (path, bytes)) in template.iter().enumerate() {
        if !is_record(path) {
            continue;
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let Some((_, json)) = line.split_once(' ') else { continue };
            let Ok(value) = serde_json::from_str::<Value>(json) else { continue };
            let mut at = Vec::new();
            places(&value, "", &mut at);
            for (n, at) in at.iter().enumerate() {
                // Each place meets some of the values, and each value many places.
                for new in values.iter().skip((n + i + file) % step).step_by(step) {
                    let Some(bad) = forged(line, at, new) else { continue };
                    let mut lines = lines.clone();
                    lines[i] = &bad;
                    let mut files = template.clone();
                    files[file].1 = (lines.join("\n") + "\n").into_bytes();
                    if !path.ends_with("head") {
                        files.retain(|(path, _)| !path.ends_with("head"));
                    }
                    let scene = Scene::of(&files);
                    scene.use_it();
                    assert!(scene.is_untouched_outside(), "{path:?} {i} {at} {new}");
                    tried += 1;
                }
            }
        }
    }
    eprintln!("{tried} forged records");
    assert!(tried > 300, "only {tried}");
}

/// A state whose last record, sound but for that, adds and removes a checkpoint of a hostile name.
fn with_hostile_checkpoint(name: &str) -> Scene {
    let mut files = Scene::template();
    files.retain(|(path, _)| !path.ends_with("head"));
    for (_, bytes) in files.iter_mut().filter(|(path, _)| path.starts_with(".statedir/log")) {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let replace = |line: &str| {
            let json = line.split_once(' ').unwrap().1;
            with_sum(&json.replace("\"name\":\"second\"", &format!("\"name\":\"{name}\"")))
        };
        *bytes = text.lines().map(|line| replace(line) + "\n").collect::<String>().into_bytes();
    }
    Scene::of(&files)
}

#[test]
fn a_checkpoint_whose_name_is_a_path_is_damage_with_a_place() {
    let scene = with_hostile_checkpoint("d/../../../../victim");
    let view = scene.store.read(WAIT).unwrap();
    assert_eq!(view.bytes("a.md").unwrap(), b"ONE\n");
    let damage = view.log_damage().unwrap();
    assert!(damage.offset > 0 && damage.message.contains("checkpoint"), "{damage:?}");
    let error = scene.store.begin(WAIT, &holder("t1")).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(scene.is_untouched_outside());
}

#[test]
fn the_harness_notices_a_path_made_of_an_unchecked_name() {
    let scene = with_hostile_checkpoint("second");
    let dir = scene.store.layout().dir.join(".statedir/checkpoints");
    std::fs::create_dir(dir.join("00000009-d")).unwrap();
    let unchecked = dir.join(format!("{:08}-{}", 9, "d/../../../../victim"));
    assert!(scene.is_untouched_outside());
    std::fs::remove_file(unchecked).unwrap();
    assert!(!scene.is_untouched_outside());
}

#[test]
fn a_checkpoint_of_a_file_that_is_none_of_ours_is_damaged() {
    for name in ["../../x", "workflow.yaml", GROWING] {
        let mut files = Scene::template();
        for (path, bytes) in &mut files {
            if path.starts_with(".statedir/checkpoints") {
                let line = String::from_utf8(bytes.clone()).unwrap();
                let json = line.trim_end().split_once(' ').unwrap().1;
                let json = json.replace("\"a.md\"", &format!("\"{name}\""));
                *bytes = (with_sum(&json) + "\n").into_bytes();
            }
        }
        files.retain(|(path, _)| !path.starts_with(".statedir/log"));
        let all = Scene::of(&files).store.read(WAIT).unwrap().checkpoints().unwrap();
        assert!(all.found.is_empty() && all.damaged.len() == 2, "{name}: {all:?}");
    }
}

/// The sound files with one field of the head cache replaced.
fn with_head(at: &str, change: impl Fn(&Value) -> Value) -> Scene {
    let scene = Scene::of(&Scene::template());
    // The signatures are those of the files there, as somebody who made them would write.
    scene.store.begin(WAIT, &holder("t1")).unwrap().commit(checkpoint("kept", None)).unwrap();
    let path = scene.store.layout().dir.join(".statedir/head");
    let line = std::fs::read_to_string(&path).unwrap();
    let mut value: Value =
        serde_json::from_str(line.split_once(' ').unwrap().1.trim_end()).unwrap();
    let place = value.pointer_mut(at).unwrap();
    *place = change(place);
    std::fs::write(&path, with_sum(&value.to_string()) + "\n").unwrap();
    scene
}

#[test]
fn a_head_that_lies_does_not_lead_to_a_record_that_does_not_follow() {
    let more = |value: &Value| json!(value.as_u64().unwrap() + 1);
    let scenes = [
        with_head("/seq", more),
        with_head("/appended/len", |value| json!(value.as_u64().unwrap() - 1)),
        with_head("/appended/hash", |_| json!(Hash::of(b"another"))),
        with_head("/id", |_| json!("0123456789ab")),
        with_head("/seq", Value::clone),
    ];
    for (n, scene) in scenes.iter().enumerate() {
        commit(&scene.store, "step", vec![write("a.md", "on\n")], "- on\n");
        std::fs::remove_file(scene.store.layout().dir.join(".statedir/head")).unwrap();
        let view = scene.store.read(WAIT).unwrap();
        assert!(view.log_damage().is_none(), "{n}: {:?}", view.log_damage());
        scene.store.operations(None).unwrap();
        drop(scene.store.begin(WAIT, &holder("t1")).unwrap());
    }
}

#[test]
fn segments_that_do_not_follow_each_other_are_damage() {
    let mut files = Scene::template();
    let segments: Vec<PathBuf> = files
        .iter()
        .map(|(path, _)| path.clone())
        .filter(|path| path.starts_with(".statedir/log"))
        .collect();
    assert!(Scene::of(&files).store.operations(None).is_ok() && segments.len() > 1);
    let newest = segments.iter().max().unwrap();
    for (path, bytes) in &mut files {
        if path == newest {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let first = forged(text.lines().next().unwrap(), "/seq", &json!(77)).unwrap();
            *bytes = (first + "\n").into_bytes();
        }
    }
    let error = Scene::of(&files).store.operations(None).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { offset: 0, .. }), "{error}");
}

#[test]
fn a_collection_removes_only_what_has_a_name_of_ours() {
    let scene = Scene::of(&Scene::template());
    let private = scene.store.layout().dir.join(".statedir");
    let (foreign, ours) = (["notes.txt", "0001.log", "ABC"], "00000009.log");
    for dir in ["tmp", "objects"] {
        std::fs::create_dir_all(private.join(dir)).unwrap();
        for name in foreign.iter().chain(&[ours]) {
            std::fs::write(private.join(dir).join(name), "x").unwrap();
        }
    }
    scene.store.gc(None, &[], false).unwrap();
    for dir in ["tmp", "objects"] {
        assert!(foreign.iter().all(|name| private.join(dir).join(name).exists()), "{dir}");
        assert!(!private.join(dir).join(ours).exists(), "{dir}");
    }
}

#[test]
fn a_huge_appended_file_is_not_read_into_memory() {
    let scene = Scene::of(&Scene::template());
    let dir = &scene.store.layout().dir;
    // Nothing says that the last operation was applied, and the file is one of many terabytes.
    std::fs::remove_file(dir.join(".statedir/head")).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(dir.join(GROWING)).unwrap();
    let added = "- checkpoint\n".len() as u64;
    file.set_len(file.metadata().unwrap().len() - added).unwrap();
    assert!(file.set_len(1 << 42).is_ok() || file.set_len(1 << 36).is_ok());
    let view = scene.store.read(WAIT).unwrap();
    assert!(view.log_damage().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_byte_of_any_private_file_stops_the_store(
        pick in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        headless in any::<bool>(),
    ) {
        use std::sync::LazyLock;
        static TEMPLATE: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(Scene::template);
        let mut files = TEMPLATE.clone();
        if headless {
            files.retain(|(path, _)| !path.ends_with("head"));
        }
        let private: Vec<usize> = (0..files.len())
            .filter(|i| files[*i].0.starts_with(".statedir") && !files[*i].1.is_empty())
            .collect();
        let bytes = &mut files[private[pick.index(private.len())]].1;
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let scene = Scene::of(&files);
        scene.use_it();
        prop_assert!(scene.is_untouched_outside());
    }
}
