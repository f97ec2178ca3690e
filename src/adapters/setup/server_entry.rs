//! Our MCP server in a client's JSON settings.

use serde_json::{Value, json};

use super::{
    json_text::{self, parse},
    outcome::{FileOutcome, Wish, changed_by_hand},
    own_file::Origin,
};
use crate::text::json::Path;

/// How one client wants its servers written.
#[derive(Debug)]
pub(crate) struct ServerEntry {
    /// The member that holds all servers.
    servers: &'static str,
    /// The form of an entry.
    form: Form,
    /// What a file of ours alone begins with, where the client would add it itself.
    schema: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `{"command": …, "args": […]}`
    Plain,
    /// The same, with tools that need no approval where nobody watches.
    Trusted,
    /// The same, with its kind.
    Stdio,
    /// `{"type": "local", "command": […]}`
    Local,
}

/// Claude Code and Cursor.
pub(super) const PLAIN: ServerEntry =
    ServerEntry { servers: "mcpServers", form: Form::Plain, schema: None };
/// Gemini CLI and Qwen Code.
pub(super) const TRUSTED: ServerEntry =
    ServerEntry { servers: "mcpServers", form: Form::Trusted, schema: None };
/// VS Code.
pub(super) const VSCODE: ServerEntry =
    ServerEntry { servers: "servers", form: Form::Stdio, schema: None };
/// opencode.
pub(super) const OPENCODE: ServerEntry = ServerEntry {
    servers: "mcp",
    form: Form::Local,
    schema: Some("https://opencode.ai/config.json"),
};

impl ServerEntry {
    fn entry(&self, program: &str) -> Value {
        match self.form {
            Form::Plain => json!({ "command": program, "args": ["mcp"] }),
            Form::Trusted => json!({ "command": program, "args": ["mcp"], "trust": true }),
            Form::Stdio => json!({ "type": "stdio", "command": program, "args": ["mcp"] }),
            Form::Local => {
                json!({ "type": "local", "command": [program, "mcp"], "enabled": true })
            }
        }
    }

    /// The entry as settings of its own.
    pub(super) fn whole(&self, program: &str) -> Value {
        let servers = json!({ "statedir": self.entry(program) });
        match self.schema {
            Some(schema) => json!({ "$schema": schema, self.servers: servers }),
            None => json!({ self.servers: servers }),
        }
    }

    /// A file of ours alone; its layout tells it from one that was there and empty.
    fn fresh(&self, program: &str) -> String {
        let (servers, entry) = (json!(self.servers), self.entry(program));
        let schema = self.schema.map(|schema| format!("  \"$schema\": {},\n", json!(schema)));
        let schema = schema.unwrap_or_default();
        format!("{{\n{schema}  {servers}: {{\n    \"statedir\": {entry}\n  }}\n}}\n")
    }

    /// The program of an entry.
    fn program(&self, entry: &Value) -> Option<String> {
        let command = match self.form {
            Form::Local => entry.get("command")?.get(0)?,
            _ => entry.get("command")?,
        };
        command.as_str().map(str::to_owned)
    }

    fn program_path(&self) -> Path {
        let command = self.path().join("command");
        if self.form == Form::Local { command.join("0") } else { command }
    }

    /// Whether an entry is as some program put it; one with more in it is somebody's own.
    fn is_ours(&self, value: &Value) -> bool {
        let Some(program) = self.program(value) else { return false };
        *value == self.entry(&program) || *value == PLAIN.entry(&program)
    }

    /// Our file, where it is one: what was there before it.
    fn own_file(&self, text: &str) -> Option<Origin> {
        let entry = parse(text).ok()?.get(&self.path())?;
        Origin::before(text, &self.fresh(&self.program(&entry)?))
    }

    fn path(&self) -> Path {
        Path::root().join(self.servers).join("statedir")
    }
}

/// The settings with our server; one of that name that somebody changed stays.
pub(super) fn put(
    ours: &ServerEntry,
    there: Option<&str>,
    wish: Wish<'_>,
) -> Result<FileOutcome, String> {
    let own = there.and_then(|text| ours.own_file(text));
    if let Some(origin) = own.or_else(|| Origin::of(there, wish.folders)) {
        return Ok(FileOutcome::text(origin.file(&ours.fresh(wish.program))));
    }
    let text = there.unwrap_or_default();
    let document = parse(text)?;
    let servers = Path::root().join(ours.servers);
    let (path, wanted) = (ours.path(), ours.entry(wish.program));
    match (document.get(&servers), document.get(&path)) {
        (None, _) => json_text::add(text, &servers, &json!({ "statedir": wanted })),
        (Some(Value::Object(_)), None) => json_text::add(text, &path, &wanted),
        (_, Some(there)) if there == wanted => Ok(text.to_owned()),
        // Only the program is another one: the layout stays.
        (_, Some(there)) if ours.program(&there).is_some_and(|p| ours.entry(&p) == there) => {
            json_text::replace(text, &ours.program_path(), &Value::from(wish.program))
        }
        (_, Some(there)) if ours.is_ours(&there) || wish.force => {
            json_text::replace(text, &path, &wanted)
        }
        (_, Some(_)) => {
            return Ok(
                FileOutcome::same(there).noting(changed_by_hand("the entry `statedir`", false))
            );
        }
        _ => Err(format!("`{}` is not an object", ours.servers)),
    }
    .map(FileOutcome::text)
}

/// The settings without our server; one that somebody changed stays.
pub(super) fn take(
    ours: &ServerEntry,
    there: Option<&str>,
    wish: Wish<'_>,
) -> Result<FileOutcome, String> {
    // What never names us is not even read: it may have a form of its own.
    let Some(text) = there.filter(|text| text.contains("statedir")) else {
        return Ok(FileOutcome::same(there));
    };
    match ours.own_file(text) {
        Some(Origin::Absent(folders)) => return Ok(FileOutcome::gone(folders)),
        Some(Origin::Blank(text)) => return Ok(FileOutcome::text(text)),
        None => {}
    }
    match parse(text)?.get(&ours.path()) {
        None => Ok(FileOutcome::same(there)),
        Some(there) if ours.is_ours(&there) || wish.force => {
            json_text::cut(text, &ours.path()).map(FileOutcome::text)
        }
        Some(_) => {
            Ok(FileOutcome::same(there).noting(changed_by_hand("the entry `statedir`", true)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::setup::HookOptions;

    fn wish(program: &str) -> Wish<'_> {
        Wish { program, force: false, folders: 0, options: HookOptions::NONE }
    }

    const FORMS: [&ServerEntry; 4] = [&PLAIN, &TRUSTED, &VSCODE, &OPENCODE];

    fn with(ours: &ServerEntry, there: Option<&str>, program: &str) -> Option<String> {
        put(ours, there, wish(program)).unwrap().text
    }

    fn without(ours: &ServerEntry, there: Option<&str>) -> Option<String> {
        take(ours, there, wish("")).unwrap().text
    }

    #[test]
    fn a_file_of_ours_alone_says_what_is_printed() {
        for ours in FORMS {
            let first = with(ours, None, "statedir").unwrap();
            assert_eq!(serde_json::from_str::<Value>(&first).unwrap(), ours.whole("statedir"));
        }
    }

    #[test]
    fn another_program_takes_the_place_of_the_first() {
        for there in [None, Some("{}"), Some("{ \"mcpServers\": {\"a\": {}} }\n")] {
            for ours in FORMS {
                let first = with(ours, there, "statedir");
                let second = with(ours, first.as_deref(), "/opt/statedir");
                assert_eq!(second, with(ours, there, "/opt/statedir"));
                assert_ne!(second, first);
                assert_eq!(without(ours, second.as_deref()).as_deref(), there);
            }
        }
    }

    #[test]
    fn an_entry_that_somebody_changed_stays_unless_it_is_forced() {
        let own =
            r#"{"mcpServers":{"statedir":{"command":"statedir","args":["mcp"],"env":{"A":"b"}}}}"#;
        for outcome in [put(&PLAIN, Some(own), wish("statedir")), take(&PLAIN, Some(own), wish(""))]
        {
            let outcome = outcome.unwrap();
            assert_eq!(outcome.text.as_deref(), Some(own));
            assert!(outcome.note.unwrap().contains("--force"));
        }
        let force = Wish { force: true, ..wish("statedir") };
        assert!(!put(&PLAIN, Some(own), force).unwrap().text.unwrap().contains("env"));
        assert_eq!(take(&PLAIN, Some(own), force).unwrap().text.as_deref(), Some("{}"));
        assert!(put(&PLAIN, Some("{\"mcpServers\":7}"), wish("statedir")).is_err());
    }

    #[test]
    fn an_entry_of_an_earlier_version_is_brought_up_to_date() {
        let earlier = r#"{"mcpServers":{"statedir":{"command":"statedir","args":["mcp"]}}}"#;
        let now = with(&TRUSTED, Some(earlier), "statedir").unwrap();
        let now: Value = serde_json::from_str(&now).unwrap();
        assert_eq!(now["mcpServers"]["statedir"]["trust"], true);
        assert_eq!(without(&TRUSTED, Some(earlier)).as_deref(), Some("{}"));
    }

    #[test]
    fn what_is_not_json_and_has_nothing_of_ours_is_left_alone() {
        let broken = "// mine\n{";
        assert!(put(&PLAIN, Some(broken), wish("statedir")).is_err());
        assert_eq!(without(&PLAIN, Some(broken)).as_deref(), Some(broken));
    }

    #[test]
    fn comments_and_a_last_comma_are_kept() {
        for commented in [
            "// mine\n{}",
            "{\n  // a \"comment\", with {\n  \"x\": \"http://y/*z*/\", // behind\n}\n",
            "{ \"mcpServers\": { /* none */ }, }",
        ] {
            let with = with(&PLAIN, Some(commented), "statedir").unwrap();
            let read = parse(&with).unwrap().to_value();
            assert_eq!(read["mcpServers"]["statedir"]["args"], json!(["mcp"]), "{with}");
            assert_eq!(with.matches("//").count(), commented.matches("//").count(), "{with}");
            assert_eq!(without(&PLAIN, Some(&with)).as_deref(), Some(commented));
        }
    }
}
