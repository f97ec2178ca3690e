//! Commands that another adapter runs in this process, so that its answers are the very documents
//! that `--json` prints.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use serde_json::{Value, json};

use super::{
    CliResult, Failure,
    args::Global,
    commands::{self, Session},
    output::Output,
    pairs, parse,
};
use crate::store::GivenUp;

/// Where a command runs, for whom, and on what condition.
#[derive(Clone, Debug)]
pub(in crate::adapters) struct Caller {
    /// The directory that was named, if any.
    pub(in crate::adapters) dir: Option<PathBuf>,
    /// Who acts, if the call says so.
    pub(in crate::adapters) actor: Option<String>,
    /// Who acts otherwise.
    pub(in crate::adapters) client: String,
    /// Refuse unless the state is at this revision.
    pub(in crate::adapters) if_match: Option<String>,
    /// Work everything out, write nothing.
    pub(in crate::adapters) dry_run: bool,
    /// How long to wait for the lock.
    pub(in crate::adapters) wait: Duration,
    /// Whether nobody waits for the answer any more.
    pub(in crate::adapters) given_up: GivenUp,
    /// The command for the log.
    pub(in crate::adapters) command: String,
}

/// What a command answered.
#[derive(Clone, Debug)]
pub(in crate::adapters) struct Answer {
    /// The document, with `ok`.
    pub(in crate::adapters) document: Value,
    /// The exit code that goes with it.
    pub(in crate::adapters) exit: u8,
}

impl Answer {
    /// A refusal before anything was run.
    pub(in crate::adapters) fn refusal(
        code: &'static str,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Self {
        let mut failure = Failure::refused(code, message);
        failure.hint = hint;
        Self::from(&failure)
    }

    /// The same refusal with the whole time that was waited, of which its message knows the last
    /// stretch only.
    pub(in crate::adapters) fn after_waiting(mut self, waited: Duration) -> Self {
        let message = self.document["error"]["message"].as_str().unwrap_or_default();
        let told = message.rsplit_once("; waited ").map_or(message, |(told, _)| told);
        self.document["error"]["message"] =
            json!(format!("{told}; waited {} ms", waited.as_millis()));
        self
    }

    /// The same refusal with another way out.
    pub(in crate::adapters) fn with_hint(mut self, hint: String) -> Self {
        self.document["error"]["hint"] = json!(hint);
        self
    }

    /// Whether nothing was done because somebody else held the lock all the time.
    pub(in crate::adapters) fn is_lock_timeout(&self) -> bool {
        self.document["error"]["code"] == "lock_timeout"
    }
}

impl From<&Failure> for Answer {
    fn from(failure: &Failure) -> Self {
        Self { document: failure.to_json(), exit: failure.exit }
    }
}

/// The refusal of JSON with a number that would not be kept as it was given.
pub(in crate::adapters) fn refused_digits(json: &str) -> Option<Answer> {
    let failure = pairs::refuse_rounded(json).err()?;
    Some(Answer::from(&failure).with_hint("give it as text, in quotes".to_owned()))
}

/// Makes changes, given as the objects that `apply` takes, as one operation.
pub(in crate::adapters) fn changes(caller: &Caller, values: Vec<Value>) -> Answer {
    answer(caller, |session| {
        let changes = commands::apply::changes(values)?;
        session.apply(&changes)
    })
}

/// Makes one change, given as an object.
pub(in crate::adapters) fn change(caller: &Caller, value: Value) -> Answer {
    answer(caller, |session| {
        let change = serde_json::from_value(value)
            .map_err(|error| Failure::refused("bad_change", error.to_string()))?;
        session.apply(&[change])
    })
}

/// Runs a command given as its words, without the name of the program.
pub(in crate::adapters) fn command(caller: &Caller, words: &[String]) -> Answer {
    let mut output = Output::kept(true);
    let result = run_words(caller, words, &mut output);
    finish(output, result)
}

/// The same for people: the text that is printed without `--json`.
pub(in crate::adapters) fn text(caller: &Caller, words: &[String]) -> Result<String, Answer> {
    let mut output = Output::kept(false);
    match run_words(caller, words, &mut output) {
        Err(failure) if output.is_empty() => Err(Answer::from(&failure)),
        // A brief of a damaged state is worth more than the news of the damage alone.
        Err(failure) => Ok(format!("{}\nerror: {}\n", output.into_parts().0, failure.message)),
        Ok(_) => Ok(output.into_parts().0),
    }
}

fn run_words(caller: &Caller, words: &[String], output: &mut Output) -> CliResult {
    let args: Vec<OsString> = std::iter::once("statedir")
        .chain(words.iter().map(String::as_str))
        .map(From::from)
        .collect();
    let parsed = parse::parse(&args).map_err(|error| Failure::from(&error))?;
    let mut session = caller.session(output);
    let result = commands::dispatch(parsed.command, &mut session);
    result.map_err(|failure| session.explain(failure))
}

fn answer(caller: &Caller, work: impl FnOnce(&mut Session<'_>) -> CliResult) -> Answer {
    let mut output = Output::kept(true);
    let mut session = caller.session(&mut output);
    let result = work(&mut session).map_err(|failure| session.explain(failure));
    finish(output, result)
}

fn finish(output: Output, result: CliResult) -> Answer {
    match result {
        Err(failure) => Answer::from(&failure),
        Ok(exit) => {
            let document = output.into_parts().1.unwrap_or_else(|| json!({ "ok": true }));
            Answer { document, exit }
        }
    }
}

impl Caller {
    fn session<'o>(&self, output: &'o mut Output) -> Session<'o> {
        let global = Global {
            dir: self.dir.clone(),
            json: true,
            dry_run: self.dry_run,
            if_match: self.if_match.clone(),
            actor: self.actor.clone(),
            wait: self.wait,
        };
        Session {
            global,
            command: self.command.clone(),
            client: Some(self.client.clone()),
            given_up: self.given_up.clone(),
            output,
        }
    }
}
