//! Our MCP server in a client's JSON settings.

use serde_json::{Value, json};

use super::{
    json_text::{self, parse},
    outcome::{FileOutcome, Wish, changed_by_hand},
    own_file::Origin,
};
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

/// Our file, where it is one: what was there before it.
fn own_file(text: &str) -> Option<Origin> {
    let program = parse(text).ok()?.get(&path().join("command"))?;
    Origin::before(text, &fresh(program.as_str()?))
}

fn path() -> Path {
    Path::root().join("mcpServers").join("statedir")
}

/// The settings with our server; one of that name that somebody changed stays.
pub(super) fn put(there: Option<&str>, wish: Wish<'_>) -> Result<FileOutcome, String> {
    let own = there.and_then(own_file);
    if let Some(origin) = own.or_else(|| Origin::of(there, wish.folders)) {
        return Ok(FileOutcome::text(origin.file(&fresh(wish.program))));
    }
    let text = there.unwrap_or_default();
    let document = parse(text)?;
    let servers = Path::root().join("mcpServers");
    let wanted = entry(wish.program);
    match (document.get(&servers), document.get(&path())) {
        (None, _) => json_text::add(text, &servers, &json!({ "statedir": wanted })),
        (Some(Value::Object(_)), None) => json_text::add(text, &path(), &wanted),
        (_, Some(there)) if there == wanted => Ok(text.to_owned()),
        (_, Some(there)) if is_ours(&there) => {
            json_text::replace(text, &path().join("command"), &Value::from(wish.program))
        }
        (_, Some(_)) if wish.force => json_text::replace(text, &path(), &wanted),
        (_, Some(_)) => {
            return Ok(
                FileOutcome::same(there).noting(changed_by_hand("the entry `statedir`", false))
            );
        }
        _ => Err("`mcpServers` is not an object".to_owned()),
    }
    .map(FileOutcome::text)
}

/// The settings without our server; one that somebody changed stays.
pub(super) fn take(there: Option<&str>, wish: Wish<'_>) -> Result<FileOutcome, String> {
    // What never names us is not even read: it may have a form of its own.
    let Some(text) = there.filter(|text| text.contains("statedir")) else {
        return Ok(FileOutcome::same(there));
    };
    match own_file(text) {
        Some(Origin::Absent(folders)) => return Ok(FileOutcome::gone(folders)),
        Some(Origin::Blank(text)) => return Ok(FileOutcome::text(text)),
        None => {}
    }
    match parse(text)?.get(&path()) {
        None => Ok(FileOutcome::same(there)),
        Some(there) if is_ours(&there) || wish.force => {
            json_text::cut(text, &path()).map(FileOutcome::text)
        }
        Some(_) => {
            Ok(FileOutcome::same(there).noting(changed_by_hand("the entry `statedir`", true)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(program: &str) -> Wish<'_> {
        Wish { program, force: false, folders: 0 }
    }

    fn with(there: Option<&str>, program: &str) -> Option<String> {
        put(there, wish(program)).unwrap().text
    }

    fn without(there: Option<&str>) -> Option<String> {
        take(there, wish("")).unwrap().text
    }

    #[test]
    fn what_was_there_keeps_its_bytes_and_comes_back() {
        for there in [
            "{}",
            "",
            " \n",
            "{ }",
            "{\r\n}",
            "{\"mcpServers\":{}}",
            "{\n    \"mcpServers\": {\n    }\n}\n",
            "{\n\t\"mcpServers\":{\"other\":{\"command\":\"x\"} }\n}",
            "{\"a\": [1,2]}\n",
        ] {
            let first = with(Some(there), "statedir").unwrap();
            assert!(first.contains("\"statedir\""));
            assert_eq!(with(Some(&first), "statedir").as_deref(), Some(first.as_str()));
            assert_eq!(without(Some(&first)).as_deref(), Some(there), "{first}");
        }
        let first = with(None, "statedir").unwrap();
        assert_eq!(serde_json::from_str::<Value>(&first).unwrap(), whole("statedir"));
        assert_eq!(without(Some(&first)), None);
    }

    #[test]
    fn another_program_takes_the_place_of_the_first() {
        for there in [None, Some("{}"), Some("{ \"mcpServers\": {\"a\": {}} }\n")] {
            let first = with(there, "statedir");
            let second = with(first.as_deref(), "/opt/statedir");
            assert_eq!(second, with(there, "/opt/statedir"));
            assert_ne!(second, first);
            assert_eq!(without(second.as_deref()).as_deref(), there);
        }
    }

    #[test]
    fn an_entry_that_somebody_changed_stays_unless_it_is_forced() {
        let own =
            r#"{"mcpServers":{"statedir":{"command":"statedir","args":["mcp"],"env":{"A":"b"}}}}"#;
        for outcome in [put(Some(own), wish("statedir")), take(Some(own), wish(""))] {
            let outcome = outcome.unwrap();
            assert_eq!(outcome.text.as_deref(), Some(own));
            assert!(outcome.note.unwrap().contains("--force"));
        }
        let force = Wish { force: true, ..wish("statedir") };
        assert!(!put(Some(own), force).unwrap().text.unwrap().contains("env"));
        assert_eq!(take(Some(own), force).unwrap().text.as_deref(), Some("{}"));
        assert!(put(Some("{\"mcpServers\":7}"), wish("statedir")).is_err());
    }

    #[test]
    fn what_is_not_json_and_has_nothing_of_ours_is_left_alone() {
        let commented = "// mine\n{}";
        assert!(put(Some(commented), wish("statedir")).is_err());
        assert_eq!(without(Some(commented)).as_deref(), Some(commented));
    }
}
