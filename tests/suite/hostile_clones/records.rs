//! Records of the log whose names are paths.

use std::fs;

use serde_json::json;

use super::{
    forgery,
    ground::{Ground, clear},
    ways::{harmless, writes_the_victim},
};

/// The last record of the log gets a checkpoint whose name leads to the victim.
fn forge_checkpoint(ground: &Ground, kind: &str, name: &str) {
    let path = ground.private("log/00000001.log");
    let mut records = forgery::decode(&fs::read(&path).unwrap());
    let checkpoints = fs::read(ground.private("checkpoints/00000001-one")).unwrap();
    let mut checkpoint = forgery::decode(&checkpoints).swap_remove(0);
    checkpoint["name"] = json!(name);
    checkpoint["number"] = json!(7);
    let last = records.last_mut().unwrap();
    last["checkpoints"] = json!([{ kind: checkpoint }]);
    forgery::chain(&mut records);
    ground.put(&path, forgery::encode(&records));
    clear(&ground.private("head"));
    // The first part of the path must be a directory that is there.
    ground.put(&ground.private("checkpoints/00000007-d/file"), "");
}

#[test]
fn a_log_record_whose_checkpoint_is_a_path_writes_and_removes_nothing() {
    for kind in ["added", "removed"] {
        for name in ["d/../../../../../../outside/victim", "d/../../../../../precious.txt"] {
            let spoil = |ground: &Ground| forge_checkpoint(ground, kind, name);
            harmless(&["var set a.b 1", "undo", "gc --older-than 0s"], spoil, writes_the_victim);
        }
    }
}
