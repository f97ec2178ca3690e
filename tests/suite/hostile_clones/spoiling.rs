//! What a stranger can do to a repository before it is cloned, drawn from a seed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::{
    fake_repository::make_fake_repository,
    forgery,
    ground::{Carrier, Ground, clear},
};
use crate::random::Random;

/// Places in a project that some command reads or writes.
pub const PLACES: [&str; 49] = [
    "workspace",
    "workspace/state",
    "workspace/archive",
    "workspace/archive/exec_x",
    "workspace/state/plan.md",
    "workspace/state/context.md",
    "workspace/state/variables.json",
    "workspace/state/history.md",
    "workspace/state/constraints.md",
    "workspace/state/workflow.yaml",
    "workspace/state/.gitattributes",
    "workspace/state/.statedir",
    "workspace/state/.statedir/.gitignore",
    "workspace/state/.statedir/lock",
    "workspace/state/.statedir/head",
    "workspace/state/.statedir/tally",
    "workspace/state/.statedir/log",
    "workspace/state/.statedir/log/00000001.log",
    "workspace/state/.statedir/log/00000002.log",
    "workspace/state/.statedir/tmp",
    "workspace/state/.statedir/tmp/plan.md",
    "workspace/state/.statedir/objects",
    "workspace/state/.statedir/objects/00000000000000000000000000000001",
    "workspace/state/.statedir/checkpoints",
    "workspace/state/.statedir/checkpoints/00000001-one",
    "workspace/state/.statedir/checkpoints/00000009-nine",
    "workspace/state/.statedir/sessions",
    "workspace/state/.statedir/sessions/aaaa0000.json",
    "workspace/state/.statedir/sessions/3f2a9c1e.json",
    "workspace/state/.statedir/hook.log",
    "workspace/state/.statedir/hook.new",
    "workspace/state/.statedir/salvage",
    "workspace/state/.statedir/rebuild",
    "workspace/state/.statedir/origin",
    "templates",
    "templates/plan.md.hbs",
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    ".mcp.json",
    ".claude",
    ".claude/settings.json",
    ".claude/skills",
    ".codex/config.toml",
    ".cursor",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".gitattributes",
    ".gitignore",
];

/// Spoils a repository in one to three ways; returns what was done.
pub fn spoil(ground: &Ground, carrier: Carrier, dice: &mut Random) -> Vec<String> {
    (0..1 + dice.below(3))
        .map(|_| match dice.below(10) {
            0..5 => shape(ground, carrier, dice),
            5..8 => record(ground, dice),
            8 => notes(ground, dice),
            _ => look_alike(ground, dice),
        })
        .collect()
}

/// Puts something of another kind at a place.
fn shape(ground: &Ground, carrier: Carrier, dice: &mut Random) -> String {
    let name = *dice.pick(&PLACES);
    let at = ground.at(name);
    let up = "../".repeat(name.matches('/').count() + 1);
    let linked = |target: PathBuf| {
        ground.link(&at, &target);
        format!("{name} -> {}", target.display())
    };
    match dice.below(13) {
        0 => linked(ground.victim()),
        1 => linked(ground.victims()),
        2 => linked(Path::new(&up).join("outside/victim")),
        3 | 4 => linked(Path::new(&up).join("outside/victims")),
        5 => linked(ground.place().join("outside/new")),
        6 => linked(Path::new(&up[3..]).join("precious.txt")),
        7 => linked(Path::new(&up[3..]).join("precious")),
        8 => linked(at.file_name().unwrap().into()),
        9 => linked("/dev/zero".into()),
        // git itself waits for its own files, and cannot carry a FIFO.
        10 if carrier == Carrier::Copy && !name.contains(".git") => {
            clear(&at);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            assert!(Command::new("mkfifo").arg(&at).status().unwrap().success());
            format!("{name} is a FIFO")
        }
        11 => {
            ground.put(&at, dice.pick(&["", "{}", "\0\u{1}", "# A heading\n"]));
            format!("{name} is a file")
        }
        _ => {
            clear(&at);
            ground.put(&at.join("file"), "x");
            format!("{name} is a directory")
        }
    }
}

/// Replaces one field of one record, and makes the checksums right.
fn record(ground: &Ground, dice: &mut Random) -> String {
    let files: Vec<PathBuf> = ["log", "checkpoints"]
        .iter()
        .flat_map(|dir| fs::read_dir(ground.private(dir)).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .chain([ground.private("head")])
        .filter(|path| path.symlink_metadata().is_ok_and(|meta| meta.is_file()))
        .collect();
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort();
    if files.is_empty() {
        return "no records".to_owned();
    }
    let path = dice.pick(&files).clone();
    let mut records = forgery::decode(&fs::read(&path).unwrap());
    if records.is_empty() {
        return "no records".to_owned();
    }
    let at = dice.below(records.len());
    let field = dice.pick(&forgery::fields(&records[at])).clone();
    let value = hostile(ground, dice);
    let description = format!("{}: {at}{field} = {value:.60}", path.display());
    *records[at].pointer_mut(&field).unwrap() = value;
    if dice.below(2) == 0 {
        forgery::chain(&mut records);
    }
    if dice.below(2) == 0 {
        clear(&ground.private("head"));
    }
    ground.put(&path, forgery::encode(&records));
    description
}

/// A value that no record should have.
pub fn hostile(ground: &Ground, dice: &mut Random) -> Value {
    let victim = ground.victim().display().to_string();
    let deep = (0..100).fold(json!(0), |inner, _| json!([inner]));
    let values = [
        json!("d/../../../../../../outside/victim"),
        json!("../../../../../outside/victim"),
        json!("../../../../outside/victims/plan.md"),
        json!(victim),
        json!("."),
        json!(".."),
        json!(""),
        json!("/"),
        json!("a/b"),
        json!("a\0b"),
        json!("line\nfeed"),
        json!("\u{1b}[31mred"),
        json!("--output=x"),
        json!(".statedir/log"),
        json!("history.md"),
        json!("x".repeat(9000)),
        json!("0".repeat(32)),
        json!("9999-99-99T99:99:99Z"),
        json!(0),
        json!(1),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MAX),
        json!(u64::from(u32::MAX) + 1),
        json!(1e300),
        json!(0.5),
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!([null, "x", {}]),
        json!({ "../../x": { "hash": "0", "len": u64::MAX } }),
        deep,
    ];
    dice.pick(&values).clone()
}

/// The small files that hold no records.
fn notes(ground: &Ground, dice: &mut Random) -> String {
    let victim = ground.victim().display().to_string();
    match dice.below(4) {
        0 => {
            let text = format!("../../x 1\n{victim} 99999999999999999999\nfile_operations -1\n");
            ground.put(&ground.private("tally"), text.repeat(dice.below(3000)));
            "a strange tally".to_owned()
        }
        1 => {
            let text = json!({ "rules": hostile(ground, dice), "told": hostile(ground, dice),
                "asked": ["x"], "linked": hostile(ground, dice) });
            ground.put(&ground.private("sessions/aaaa0000.json"), text.to_string());
            format!("a strange session: {text:.80}")
        }
        2 => {
            let text = "alias x=evil\n".repeat(7000);
            ground.put(&ground.private("hook.log"), text);
            "a long journal".to_owned()
        }
        _ => {
            let text = json!({ "pid": hostile(ground, dice), "actor": hostile(ground, dice),
                "command": hostile(ground, dice), "since": hostile(ground, dice) });
            ground.put(&ground.private("lock"), format!("{text}\n"));
            format!("a strange lock: {text:.80}")
        }
    }
}

/// Makes a directory look like a repository.
fn look_alike(ground: &Ground, dice: &mut Random) -> String {
    let dir = *dice.pick(&["workspace/state", "workspace", "workspace/state/.statedir"]);
    let bare = dice.below(2) == 0;
    make_fake_repository(ground, &ground.at(dir), bare);
    format!("{dir} looks like a repository, bare: {bare}")
}
