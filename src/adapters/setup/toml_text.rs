//! Our MCP server in TOML settings: lines between markers at the end of the file.

use toml_edit::{DocumentMut, TomlError};

use super::{
    block::TOML,
    outcome::{FileOutcome, Wish},
};

/// The lines.
pub(super) fn lines(program: &str) -> String {
    // A JSON string is a TOML string, too.
    let program = serde_json::Value::from(program).to_string();
    format!("[mcp_servers.statedir]\ncommand = {program}\nargs = [\"mcp\"]\n")
}

/// The settings with our server; an existing one of that name is kept.
pub(super) fn put(there: Option<&str>, wish: Wish<'_>) -> Result<FileOutcome, String> {
    let outside = parse(&TOML.outside(there.unwrap_or_default())?)?;
    if let Some(servers) = outside.get("mcp_servers") {
        if servers.as_table_like().is_some_and(|servers| servers.contains_key("statedir")) {
            let note = "it already has a server named `statedir`, which is kept";
            return Ok(FileOutcome::same(there).noting(note));
        }
        if !servers.is_table() {
            return Err("`mcp_servers` is not a table that lines can be added to".to_owned());
        }
    }
    let outcome = TOML.put(there, &lines(wish.program), wish)?;
    // The proof that the lines mean what they say where they are.
    let read = parse(outcome.text.as_deref().unwrap_or_default())?;
    let server = read.get("mcp_servers").and_then(|servers| servers.get("statedir"));
    let command = server.and_then(|server| server.get("command")).and_then(|item| item.as_str());
    match command == Some(wish.program) || outcome.note.is_some() {
        true => Ok(outcome),
        false => Err("an entry `mcp_servers.statedir` cannot be added at its end".to_owned()),
    }
}

/// The settings without our server.
pub(super) fn take(there: Option<&str>, wish: Wish<'_>) -> Result<FileOutcome, String> {
    TOML.take(there, &lines(wish.program), wish)
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.parse().map_err(|error: TomlError| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        format!("line {line} is not TOML: {}", error.message().replace('\n', ", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::setup::HookOptions;

    fn put(there: Option<&str>, program: &str) -> Result<Option<String>, String> {
        let wish = Wish { program, force: false, folders: 0, options: HookOptions::NONE };
        super::put(there, wish).map(|outcome| outcome.text)
    }

    fn take(there: Option<&str>) -> Result<Option<String>, String> {
        let wish = Wish { program: "", force: false, folders: 0, options: HookOptions::NONE };
        super::take(there, wish).map(|outcome| outcome.text)
    }

    #[test]
    fn what_somebody_added_to_our_lines_stays() {
        let with = put(None, "statedir").unwrap().unwrap();
        let mine = with.replace("args", "startup_timeout_sec = 30\nargs");
        assert_eq!(put(Some(&mine), "/opt/statedir").unwrap().as_ref(), Some(&mine));
        assert_eq!(take(Some(&mine)).unwrap().as_ref(), Some(&mine));
        let moved = put(Some(&with), "/opt/statedir").unwrap();
        assert_eq!(moved, put(None, "/opt/statedir").unwrap());
    }

    #[test]
    fn what_is_no_toml_or_has_such_a_table_is_left_alone() {
        for bad in ["{", "a = \"x", "just words\n", "a = [1\n", "]", "a =\n", "k = '''x"] {
            assert!(put(Some(bad), "statedir").is_err(), "{bad}");
        }
        for own in [
            "[mcp_servers.statedir]\ncommand = \"mine\"\n",
            "[mcp_servers]\nstatedir = {command=\"x\"}\n",
            "mcp_servers.statedir.command = \"x\"\n",
            "mcp_servers = { 'statedir' = { command = \"x\" } }\n",
        ] {
            assert_eq!(put(Some(own), "statedir").unwrap().as_deref(), Some(own));
            assert_eq!(take(Some(own)).unwrap().as_deref(), Some(own));
        }
    }

    #[test]
    fn what_would_not_be_toml_with_our_lines_is_refused() {
        for bad in [
            "mcp_servers = { a = { command = \"x\" } }\n",
            "[[mcp_servers]]\na = 1\n",
            "mcp_servers = 7\n",
            "bad = = toml\n",
            "a = 1\na = 2\n",
        ] {
            assert!(put(Some(bad), "statedir").is_err(), "{bad}");
        }
        // A line of a string is no table, a table beside ours is none in its way, and
        // dotted keys leave their table open for a table below it.
        for good in [
            "a = '''\n[mcp_servers.statedir]\n'''\n",
            "[mcp_servers.a]\ncommand = \"x\"\n",
            "mcp_servers.a.command = \"x\"\n",
        ] {
            let with = put(Some(good), "/a \"b").unwrap().unwrap();
            assert!(with.ends_with("# statedir:end\n"), "{with}");
            assert_eq!(take(Some(&with)).unwrap().as_deref(), Some(good));
        }
    }
}
