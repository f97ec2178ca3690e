//! The one place that prints.
//!
//! stdout carries the answer and nothing else; notes and errors go to stderr. A closed pipe is a
//! quiet end.

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use serde_json::{Value, json};

use super::{
    Failure,
    escape::escape_controls,
    word_diff::{WordLine, word_lines},
};
use crate::workspace::{FileDiff, Outcome};

/// Collects the answer of a command.
#[derive(Debug)]
pub(super) struct Output {
    json: bool,
    terminal: bool,
    text: String,
    /// Why nothing can be written any more.
    failed: Option<io::Error>,
    broken: bool,
    /// Whether something was changed, which a failure to say so does not take back.
    committed: bool,
    /// Whether the answer is kept for another adapter; nothing is printed then.
    kept: bool,
    /// The answer for machines, if it is kept.
    document: Option<Value>,
}

/// A colour for a whole line; a pipe gets none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Colour {
    None,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
}

impl Colour {
    fn code(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Bold => "\u{1b}[1m",
            Self::Dim => "\u{1b}[2m",
            Self::Red => "\u{1b}[31m",
            Self::Green => "\u{1b}[32m",
            Self::Yellow => "\u{1b}[33m",
        }
    }
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        let terminal = !json && io::stdout().is_terminal();
        Self {
            json,
            terminal,
            text: String::new(),
            failed: None,
            broken: false,
            committed: false,
            kept: false,
            document: None,
        }
    }

    /// An answer that is not printed but handed over.
    pub(super) fn kept(json: bool) -> Self {
        Self { json, terminal: false, kept: true, ..Self::new(true) }
    }

    /// Whether nothing was collected.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text and the document that were collected.
    pub(super) fn into_parts(self) -> (String, Option<Value>) {
        (self.text, self.document)
    }

    /// Whether the answer is one JSON document.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Adds a line for people.
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        self.raw(text.as_ref());
        self.text.push('\n');
    }

    /// Adds a line with colours of our own; what it holds is escaped already.
    fn line_in_colour(&mut self, line: &str) {
        self.text.push_str(PAINT);
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds one line, in colour on a terminal.
    pub(super) fn painted(&mut self, colour: Colour, line: &str) {
        if self.terminal && colour != Colour::None {
            // A line end inside would leave the rest unmarked, and so shown as it is.
            let line = line.replace('\n', " ");
            let line = escape_controls(&line);
            self.line_in_colour(&format!("{}{line}\u{1b}[0m", colour.code()));
        } else {
            self.line(line);
        }
    }

    /// Adds text as it is, but for what on a terminal would pass for a mark of our own.
    pub(super) fn raw(&mut self, text: &str) {
        match self.terminal && text.contains(PAINT) {
            true => self.text.push_str(&text.replace(PAINT, "\\u{0}")),
            false => self.text.push_str(text),
        }
    }

    /// The answer for machines; `ok` is added.
    pub(super) fn value(&mut self, value: Value) {
        let mut answer = json!({ "ok": true });
        if let (Value::Object(members), Some(all)) = (value, answer.as_object_mut()) {
            all.extend(members);
        }
        if self.kept {
            self.document = Some(answer);
            return;
        }
        self.text.push_str(&answer.to_string());
        self.text.push('\n');
    }

    /// A remark besides the answer.
    pub(super) fn note(&self, text: &str) {
        if !self.json && !self.kept {
            let _ = writeln!(io::stderr(), "note: {}", said(text));
        }
    }

    /// Writes bytes straight through, without collecting them.
    pub(super) fn stream(&mut self, bytes: &[u8]) -> bool {
        if self.kept {
            self.text.push_str(&String::from_utf8_lossy(bytes));
            return true;
        }
        self.flush();
        if !self.broken {
            let result = if self.terminal {
                io::stdout().write_all(escape_controls(&String::from_utf8_lossy(bytes)).as_bytes())
            } else {
                io::stdout().write_all(bytes)
            };
            self.note_failure(result);
        }
        !self.broken
    }

    /// The answer of a mutating command.
    pub(super) fn outcome(&mut self, outcome: &Outcome, dry_run: bool) {
        self.committed |= outcome.committed;
        if self.json {
            return self.value(outcome_json(outcome, dry_run));
        }
        for notice in &outcome.notices {
            self.note(notice);
        }
        if dry_run {
            self.diff(&outcome.diff);
            return;
        }
        let messages: Vec<&str> = outcome.answers.iter().map(|a| a.message.as_str()).collect();
        let unchanged = if outcome.committed { "" } else { " (nothing changed)" };
        self.line(format!("{}{unchanged}  [{}]", messages.join("\n"), outcome.revision));
    }

    /// Changes as a unified diff.
    pub(super) fn diff(&mut self, files: &[FileDiff]) {
        if files.is_empty() {
            self.line("nothing would change");
        }
        for file in files {
            let text = file.unified();
            for line in text.lines() {
                let colour = match line.as_bytes().first() {
                    Some(b'+') => "\u{1b}[32m",
                    Some(b'-') => "\u{1b}[31m",
                    Some(b'@') => "\u{1b}[36m",
                    _ => "",
                };
                if self.terminal && !colour.is_empty() {
                    let line = escape_controls(line);
                    self.line_in_colour(&format!("{colour}{line}\u{1b}[0m"));
                } else {
                    self.line(line);
                }
            }
        }
    }

    /// Changes as text; on a terminal, and in a pipe where asked for, with the words that differ
    /// marked.
    pub(super) fn text_diff(&mut self, files: &[FileDiff], words: bool) {
        if !self.terminal && !words {
            files.iter().for_each(|file| self.raw(&file.unified()));
            return;
        }
        for line in files.iter().flat_map(word_lines) {
            if self.terminal {
                self.word_line(&line);
            } else {
                self.line(line.marked());
            }
        }
    }

    fn word_line(&mut self, line: &WordLine) {
        let (colour, sign) = match line.sign {
            '+' => ("\u{1b}[32m", "+"),
            '-' => ("\u{1b}[31m", "-"),
            '@' => ("\u{1b}[36m", ""),
            '~' => ("\u{1b}[1m", ""),
            _ => ("", " "),
        };
        let mut text = format!("{colour}{sign}");
        for (differs, part) in &line.parts {
            // A line end inside would leave the rest unmarked, and so shown as it is.
            let part = part.replace('\n', " ");
            let part = escape_controls(&part);
            match differs {
                true => text.push_str(&format!("\u{1b}[7m{part}\u{1b}[27m")),
                false => text.push_str(&part),
            }
        }
        self.line_in_colour(&format!("{text}\u{1b}[0m"));
    }

    /// Prints the answer and gives the exit code.
    pub(super) fn finish(mut self, code: u8) -> ExitCode {
        self.flush();
        // A reader that has gone away is fine; a full disk behind stdout is not.
        let lost = self.failed.take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        match lost {
            Some(error) if code == 0 && !self.committed => {
                let _ = writeln!(io::stderr(), "error: the answer could not be written: {error}");
                ExitCode::from(1)
            }
            _ => ExitCode::from(code),
        }
    }

    /// Prints a failure and gives its exit code.
    pub(super) fn fail(mut self, failure: &Failure) -> ExitCode {
        if self.json {
            self.text.clear();
            self.text.push_str(&failure.to_json().to_string());
            self.text.push('\n');
        } else {
            self.flush();
            let mut text = format!("error: {}\n", failure.message);
            if let Some(place) = &failure.place {
                text.push_str(&format!("  --> {place}\n"));
            }
            if let Some(hint) = &failure.hint {
                text.push_str(&format!("hint: {hint}\n"));
            }
            let _ = io::stderr().write_all(said(&text).as_bytes());
        }
        self.finish(failure.exit)
    }

    /// What clap has to say: help and version are answers, everything else is a wrong usage.
    pub(super) fn usage(mut self, error: &clap::Error) -> ExitCode {
        let text = error.render().to_string();
        if !error.use_stderr() {
            if self.json {
                self.value(json!({ "text": text }));
            } else {
                self.raw(&text);
            }
            return self.finish(0);
        }
        if self.json {
            return self.fail(&Failure::from(error));
        }
        let _ = io::stderr().write_all(text.as_bytes());
        ExitCode::from(2)
    }

    fn flush(&mut self) {
        if self.text.is_empty() || self.broken {
            return;
        }
        let text = if self.terminal { shown(&self.text) } else { std::mem::take(&mut self.text) };
        self.text.clear();
        let result = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
        self.note_failure(result);
    }

    fn note_failure(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.broken = true;
            self.failed = Some(error);
        }
    }
}

/// A remark or a failure, in which nothing is coloured.
fn said(text: &str) -> Cow<'_, str> {
    if io::stderr().is_terminal() { escape_controls(text) } else { Cow::Borrowed(text) }
}

/// Marks a line whose colours are our own.
const PAINT: &str = "\u{0}";

/// The text for a terminal.
fn shown(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix(PAINT) {
        Some(painted) => painted.to_owned(),
        None => escape_controls(line).into_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// The answer of a mutating command, for machines.
pub(super) fn outcome_json(outcome: &Outcome, dry_run: bool) -> Value {
    let mut answer = json!({});
    if let [one] = outcome.answers.as_slice() {
        answer = json!(one);
    } else if !outcome.answers.is_empty() {
        answer["answers"] = json!(outcome.answers);
    }
    add_outcome(&mut answer, outcome, dry_run);
    answer
}

/// Adds what every change tells: its revision, the files it changed, and what was noticed.
pub(super) fn add_outcome(answer: &mut Value, outcome: &Outcome, dry_run: bool) {
    answer["revision"] = json!(outcome.revision.as_str());
    answer["committed"] = json!(outcome.committed);
    let changed: Vec<&str> = outcome.changed.iter().map(|file| file.name()).collect();
    answer["changed"] = json!(changed);
    if !outcome.notices.is_empty() {
        answer["notices"] = json!(outcome.notices);
    }
    if dry_run {
        let diff: String = outcome.diff.iter().map(FileDiff::unified).collect();
        answer["dry_run"] = json!(true);
        answer["diff"] = json!(diff);
    }
}

/// Reports a bug when nothing else works any more.
pub(super) fn write_bug(json: bool, message: &str, hint: &str) {
    if json {
        let failure = Failure::new("bug", message, 255).hint(hint);
        let _ = writeln!(io::stdout(), "{}", failure.to_json());
    } else {
        let _ = writeln!(io::stderr(), "error: {message}\nhint: {hint}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_record_reaches_a_terminal_as_a_command() {
        let mut output = Output { terminal: true, ..Output::new(true) };
        let hostile = "actor\u{1b}]0;x\u{7}\n\0\u{1b}[2J\n\0\0\u{1b}[31m\r\u{9b}1m";
        output.line(hostile);
        output.raw(hostile);
        let text = shown(&output.text);
        let is_bare = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(is_bare), "{text:?}");
        output.painted(Colour::Green, hostile);
        let painted = shown(&output.text);
        // The only commands are those that switch our colour on and off.
        assert_eq!(painted.matches(is_bare).count(), 2, "{painted:?}");
    }
}
