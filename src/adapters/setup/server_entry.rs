//! Our MCP server in a client's JSON settings.

use serde_json::{Value, json};

use super::json_text::{parse, remove_if_empty};
use crate::text::json::Path;

fn entry(program: &str) -> Value {
    json!({ "command": program, "args": ["mcp"] })
}

/// The entry as settings of its own.
pub(super) fn whole(program: &str) -> Value {
    json!({ "mcpServers": { "statedir": entry(program) } })
}

/// A file of ours alone; its layout tells it from one that was there and empty.
fn fresh(program: &str) -> String {
    let entry = entry(program).to_string();
    format!("{{\n  \"mcpServers\": {{\n    \"statedir\": {entry}\n  }}\n}}\n")
}

/// Whether an entry is as some program put it; one with more in it is somebody's own.
fn is_ours(value: &Value) -> bool {
    let bare = value.as_object().is_some_and(|members| members.len() == 2);
    bare && value["args"] == json!(["mcp"]) && value["command"].is_string()
}

/// The settings with our server; one of that name that somebody changed stays.
pub(super) fn put(there: Option<&str>, program: &str) -> Result<Option<String>, String> {
    let Some(text) = there.filter(|text| !text.trim().is_empty()) else {
        return Ok(Some(fresh(program)));
    };
    let document = parse(text)?;
    let servers = Path::root().join("mcpServers");
    match document.get(&servers) {
        None | Some(Value::Object(_)) => {}
        Some(_) => return Err("`mcpServers` is not an object".to_owned()),
    }
    let path = servers.join("statedir");
    let (path, value) = match document.get(&path) {
        None => (path, entry(program)),
        Some(there) if is_ours(&there) && there["command"] != program => {
            (path.join("command"), Value::from(program))
        }
        Some(_) => return Ok(Some(text.to_owned())),
    };
    let mut edit = document.edit();
    edit.set(&path, &value).map_err(|error| error.to_string())?;
    Ok(Some(edit.finish().document.into_source()))
}

/// The settings without our server; one that somebody changed stays.
pub(super) fn take(there: Option<&str>) -> Result<Option<String>, String> {
    let Some(text) = there else { return Ok(None) };
    if text.trim().is_empty() {
        return Ok(Some(text.to_owned()));
    }
    let document = parse(text)?;
    let servers = Path::root().join("mcpServers");
    let path = servers.join("statedir");
    let Some(entry) = document.get(&path).filter(is_ours) else {
        return Ok(Some(text.to_owned()));
    };
    // Whatever program it was set up with.
    if entry["command"].as_str().is_some_and(|program| text == fresh(program)) {
        return Ok(None);
    }
    let mut edit = document.edit();
    edit.remove(&path).map_err(|error| error.to_string())?;
    remove_if_empty(&mut edit, &servers)?;
    Ok(Some(edit.finish().document.into_source()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_keeps_its_bytes_and_comes_back() {
        for there in
            ["{}", "{\n\t\"mcpServers\":{\"other\":{\"command\":\"x\"} }\n}", "{\"a\": [1,2]}\n"]
        {
            let with = put(Some(there), "statedir").unwrap().unwrap();
            assert!(with.contains("\"statedir\""));
            assert_eq!(put(Some(&with), "statedir").unwrap().as_deref(), Some(with.as_str()));
            assert_eq!(take(Some(&with)).unwrap().as_deref(), Some(there));
        }
        let with = put(None, "statedir").unwrap().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&with).unwrap(), whole("statedir"));
        assert_eq!(take(Some(&with)).unwrap(), None);
    }

    #[test]
    fn another_program_takes_the_place_of_the_first() {
        for there in [None, Some("{}"), Some("{ \"mcpServers\": {\"a\": {}} }\n")] {
            let first = put(there, "statedir").unwrap();
            let second = put(first.as_deref(), "/opt/statedir").unwrap();
            assert_eq!(second, put(there, "/opt/statedir").unwrap());
            assert_ne!(second, first);
            assert_eq!(take(second.as_deref()).unwrap().as_deref(), there);
        }
    }

    #[test]
    fn an_entry_that_somebody_changed_stays() {
        let own =
            r#"{"mcpServers":{"statedir":{"command":"statedir","args":["mcp"],"env":{"A":"b"}}}}"#;
        assert_eq!(put(Some(own), "statedir").unwrap().as_deref(), Some(own));
        assert_eq!(take(Some(own)).unwrap().as_deref(), Some(own));
        assert!(put(Some("{\"mcpServers\":7}"), "statedir").is_err());
    }
}
