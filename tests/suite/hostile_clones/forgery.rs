//! Records as a stranger would write them: any field replaced, every checksum and id right.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The lines of a file of records whose checksums hold.
pub fn decode(bytes: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(bytes)
        .lines()
        .filter_map(|line| serde_json::from_str(line.split_once(' ')?.1).ok())
        .collect()
}

/// Lines with the checksums that the store expects.
pub fn encode(records: &[Value]) -> Vec<u8> {
    let line = |record: &Value| {
        let json = record.to_string();
        format!("{} {json}\n", digits(json.as_bytes(), 16))
    };
    records.iter().map(line).collect::<String>().into_bytes()
}

/// Makes the ids of a log's operations, and the parents that name them, right again.
pub fn chain(log: &mut [Value]) {
    let mut parent = None;
    for record in log.iter_mut().filter(|record| record.get("parent").is_some()) {
        if let Some(parent) = &parent {
            record["parent"] = json!(parent);
        }
        let id = id(record);
        record["id"] = json!(id);
        parent = Some(id);
    }
}

fn id(record: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |key: &str| record[key].as_array().cloned().unwrap_or_default();
    let mut all = format!("{}\0{}\0", text(&record["parent"]), text(&record["kind"]));
    for file in list("files") {
        let after = file["after"].as_str().unwrap_or("-");
        all.push_str(&format!("{}\0{after}\0", text(&file["name"])));
    }
    if let Some(append) = record.get("appended").filter(|append| append.is_object()) {
        all.push_str(&format!("{}\0{}\0", append["len"], text(&append["tail_after"])));
    }
    for change in list("checkpoints") {
        let (sign, what) = match change.get("added") {
            Some(added) => ('+', added.clone()),
            None => ('-', change["removed"].clone()),
        };
        all.push_str(&format!("{sign}{}\0", text(&what["name"])));
    }
    digits(all.as_bytes(), 12)
}

fn digits(bytes: &[u8], count: usize) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    hex[..count].to_owned()
}

/// The places of all values in a record, lists and objects included.
pub fn fields(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((at, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                open.extend(members.iter().map(|(key, value)| {
                    (format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), value)
                }));
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(n, value)| (format!("{at}/{n}"), value)))
            }
            _ => {}
        }
        if !at.is_empty() {
            found.push(at);
        }
    }
    found.sort();
    found
}

#[test]
fn a_log_made_anew_is_the_log_of_the_store() {
    let project = crate::builder::Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    project.ok(&["checkpoint", "create", "one"]);
    project.ok(&["checkpoint", "delete", "one"]);
    let bytes = std::fs::read(project.path(".statedir/log/00000001.log")).unwrap();
    let mut records = decode(&bytes);
    assert!(records.len() > 4);
    chain(&mut records);
    assert_eq!(String::from_utf8(encode(&records)), String::from_utf8(bytes));
    assert!(fields(&records[1]).contains(&"/files/0/splices/0/new".to_owned()));
}
