//! The one place that prints.
//!
//! stdout carries the answer and nothing else; notes and errors go to stderr. A command gives its
//! answer twice: as a document, which is printed with `--json`, and in lines, which are printed
//! without. A closed pipe is a quiet end.

pub(super) mod progress;
pub(super) mod terminal;
mod word_diff;

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use anstyle::{AnsiColor, Effects, Style};
use clap::error::ErrorKind;
use serde::Serialize;
use serde_json::{Value, json};

use self::{
    terminal::{for_hint, for_stderr},
    word_diff::{WordLine, word_lines},
};
use super::Failure;
use crate::{
    domain::ErrorCode,
    text::{display::escape_controls, shell::in_directory},
    workspace::{FileDiff, Outcome},
};

/// Collects the answer of a command.
#[derive(Debug)]
pub(super) struct Output {
    json: bool,
    /// Whether a person may see it: control characters are escaped.
    terminal: bool,
    colour: bool,
    /// Where lines are broken.
    columns: Option<usize>,
    text: String,
    /// Why nothing can be written any more.
    failed: Option<io::Error>,
    broken: bool,
    /// Whether something was changed; a failure to print the answer does not undo it.
    committed: bool,
    /// Whether the answer is kept for another adapter; nothing is printed then.
    kept: bool,
    /// The answer for machines, of which there is one.
    document: Option<Value>,
    /// The directory that was named, for the commands that a hint names.
    pub(super) dir: Option<String>,
}

/// A colour for a whole line, where colours are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Colour {
    None,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Colour {
    fn style(self) -> Style {
        match self {
            Self::None => Style::new(),
            Self::Bold => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Red => AnsiColor::Red.on_default(),
            Self::Green => AnsiColor::Green.on_default(),
            Self::Yellow => AnsiColor::Yellow.on_default(),
            Self::Cyan => AnsiColor::Cyan.on_default(),
        }
    }

    /// The colour of a line of a diff, by the sign it begins with.
    fn of_diff(sign: Option<char>) -> Self {
        match sign {
            Some('+') => Self::Green,
            Some('-') => Self::Red,
            Some('@') => Self::Cyan,
            Some('~') => Self::Bold,
            _ => Self::None,
        }
    }
}

/// Writes straight to where the answer goes.
struct Through<'o>(&'o mut Output);

impl io::Write for Through<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.stream(bytes) {
            true => Ok(bytes.len()),
            false => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        let terminal = !json && io::stdout().is_terminal();
        Self {
            json,
            terminal,
            colour: !json && terminal::wants_colour(terminal),
            columns: if terminal { terminal::columns(&io::stdout()) } else { None },
            text: String::new(),
            failed: None,
            broken: false,
            committed: false,
            kept: false,
            document: None,
            dir: None,
        }
    }

    /// Our own text, with `-C DIR` added to its commands where they need it.
    pub(super) fn with_directory<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.dir.as_deref().map_or(Cow::Borrowed(text), |dir| in_directory(text, dir))
    }

    /// Adds a line that says what can be done.
    pub(super) fn advice(&mut self, text: impl AsRef<str>) {
        let text = self.with_directory(text.as_ref()).into_owned();
        self.line(text);
    }

    /// Collects the answer instead of printing it.
    pub(super) fn collecting(json: bool) -> Self {
        Self { json, kept: true, ..Self::new(true) }
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

    /// Adds a line for people; on a terminal it is broken where it is too long.
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        match self.columns {
            Some(columns) => {
                self.verbatim(terminal::wrap(&escape_controls(text.as_ref()), columns))
            }
            None => self.verbatim(text),
        }
    }

    /// Adds a line that is never broken: a document, a value, a difference.
    pub(super) fn verbatim(&mut self, text: impl AsRef<str>) {
        self.raw(text.as_ref());
        self.raw("\n");
    }

    /// Adds one line, in colour where that is wanted.
    pub(super) fn painted(&mut self, colour: Colour, line: &str) {
        if self.colour && colour != Colour::None {
            // A line end inside would leave the rest unmarked, and therefore unescaped.
            let line = line.replace('\n', " ");
            let line = escape_controls(&line);
            let broken = self.columns.map(|columns| terminal::wrap(&line, columns));
            broken.as_deref().unwrap_or(&line).lines().for_each(|line| self.paint(colour, line));
        } else {
            self.line(line);
        }
    }

    fn paint(&mut self, colour: Colour, escaped: &str) {
        let style = colour.style();
        self.coloured(&format!("{style}{escaped}{style:#}"));
    }

    /// Adds text as it is, except for characters that would look like our own marks on a terminal.
    pub(super) fn raw(&mut self, text: &str) {
        if self.json {
            return;
        }
        // Only our own lines have the mark that permits colours.
        match (self.terminal || self.colour) && text.contains(PAINT) {
            true => self.text.push_str(&text.replace(PAINT, "\\u{0}")),
            false => self.text.push_str(text),
        }
    }

    /// Adds a line with colours in it; what it quotes is escaped already.
    fn coloured(&mut self, line: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push(PAINT);
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The answer for machines, instead of one that was given before; `ok` is added. Without
    /// `--json` it is not even made.
    pub(super) fn value(&mut self, value: impl FnOnce() -> Value) {
        if !self.json {
            return;
        }
        let mut answer = json!({ "ok": true });
        if let (Value::Object(members), Some(all)) = (value(), answer.as_object_mut()) {
            all.extend(members);
        }
        self.document = Some(answer);
    }

    /// A remark besides the answer.
    pub(super) fn note(&self, text: &str) {
        if !self.json && !self.kept {
            let note = format!("note: {}", self.with_directory(text));
            let _ = writeln!(io::stderr(), "{}", for_stderr(&note));
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

    /// Streams a document as JSON, however large it is. Does nothing and returns `false` if the text
    /// is needed as a whole first, for a terminal or another adapter.
    pub(super) fn serialized(&mut self, document: &impl Serialize, is_pretty: bool) -> bool {
        if self.kept || self.terminal {
            return false;
        }
        let mut through = io::BufWriter::with_capacity(1 << 16, Through(self));
        let written = match is_pretty {
            true => serde_json::to_writer_pretty(&mut through, document),
            false => serde_json::to_writer(&mut through, document),
        };
        // What fails is kept for the end of the command.
        let _ = written.map_err(io::Error::from).and_then(|()| through.write_all(b"\n"));
        let _ = through.flush();
        true
    }

    /// The answer of a mutating command.
    pub(super) fn outcome(&mut self, outcome: &Outcome, dry_run: bool) {
        self.committed |= outcome.committed;
        self.value(|| outcome_json(outcome, dry_run));
        for notice in &outcome.notices {
            self.note(notice);
        }
        if dry_run {
            self.diff(&outcome.diff);
            return;
        }
        let messages: Vec<&str> = outcome.answers.iter().map(|a| a.message.as_str()).collect();
        let unchanged = if outcome.committed { "" } else { " (nothing changed)" };
        self.advice(format!("{}{unchanged}  [{}]", messages.join("\n"), outcome.revision));
    }

    /// Changes as a unified diff.
    pub(super) fn diff(&mut self, files: &[FileDiff]) {
        if files.is_empty() {
            self.line("nothing would change");
        }
        for file in files {
            let text = file.unified();
            for line in text.lines() {
                match Colour::of_diff(line.chars().next()) {
                    colour if self.colour && colour != Colour::None => {
                        self.paint(colour, &escape_controls(line));
                    }
                    _ => self.verbatim(line),
                }
            }
        }
    }

    /// Changes as text, with the words that differ marked on a terminal or on request.
    pub(super) fn text_diff(&mut self, files: &[FileDiff], words: bool) {
        if !self.terminal && !self.colour && !words {
            files.iter().for_each(|file| self.raw(&file.unified()));
            return;
        }
        for line in files.iter().flat_map(word_lines) {
            if self.colour {
                self.word_line(&line);
            } else {
                self.verbatim(line.marked());
            }
        }
    }

    fn word_line(&mut self, line: &WordLine) {
        let style = Colour::of_diff(Some(line.sign)).style();
        let differing = style.effects(style.get_effects() | Effects::INVERT);
        let sign = match line.sign {
            '+' => "+",
            '-' => "-",
            '@' | '~' => "",
            _ => " ",
        };
        let mut text = format!("{style}{sign}{style:#}");
        for (differs, part) in &line.parts {
            // A line end inside would leave the rest unmarked, and therefore unescaped.
            let part = part.replace('\n', " ");
            let part = escape_controls(&part);
            let style = if *differs { differing } else { style };
            text.push_str(&format!("{style}{part}{style:#}"));
        }
        self.coloured(&text);
    }

    /// Prints the answer and gives the exit code.
    pub(super) fn finish(mut self, code: u8) -> ExitCode {
        self.text.extend(self.document.take().map(|answer| format!("{answer}\n")));
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
            let mut answer = failure.to_json();
            answer["error"]["hint"] =
                json!(failure.hint.as_deref().map(|hint| self.with_directory(hint)));
            self.document = Some(answer);
        } else {
            self.flush();
            for notice in &failure.notices {
                self.note(notice);
            }
            let mut text =
                for_stderr(&format!("error: {}\n", self.with_directory(&failure.message)));
            // The caret below the line is at its place only if the line is whole.
            if let Some(place) = &failure.place {
                let place = format!("  --> {place}\n");
                text.push_str(&match io::stderr().is_terminal() {
                    true => escape_controls(&place),
                    false => place.as_str().into(),
                });
            }
            if let Some(hint) = &failure.hint {
                text.push_str(&for_stderr(&format!("hint: {}\n", self.with_directory(hint))));
            }
            let _ = io::stderr().write_all(text.as_bytes());
        }
        self.finish(failure.exit)
    }

    /// What clap has to say: help and version are answers, everything else is a wrong usage.
    pub(super) fn usage(mut self, error: &clap::Error, hint: Option<&str>) -> ExitCode {
        let text = error.render().to_string();
        if !error.use_stderr() {
            self.value(|| json!({ "text": text }));
            self.line(text.trim_end_matches('\n'));
            return self.finish(0);
        }
        if self.json {
            let mut failure = Failure::from(error);
            failure.hint = hint.map(str::to_owned);
            return self.fail(&failure);
        }
        let mut text = text;
        if let Some(hint) = hint {
            text = for_hint(&text, error.kind() == ErrorKind::InvalidSubcommand);
            text.push_str(&for_stderr(&format!("hint: {hint}\n")));
        }
        let _ = io::stderr().write_all(text.as_bytes());
        ExitCode::from(2)
    }

    fn flush(&mut self) {
        if self.text.is_empty() || self.broken {
            return;
        }
        let text = match self.terminal || self.colour {
            true => printable(&self.text, self.terminal),
            false => std::mem::take(&mut self.text),
        };
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

/// Marks a line whose colours are our own; what it holds is escaped already.
const PAINT: char = '\u{0}';

fn printable(text: &str, terminal: bool) -> String {
    let line = |line: &str| match line.strip_prefix(PAINT) {
        Some(painted) => painted.to_owned(),
        None if terminal => escape_controls(line).into_owned(),
        None => line.to_owned(),
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
        let failure = Failure::new(ErrorCode::Bug, message).hint(hint);
        let _ = writeln!(io::stdout(), "{}", failure.to_json());
    } else {
        let _ = writeln!(io::stderr(), "error: {message}\nhint: {hint}");
    }
}

#[cfg(test)]
mod tests;
