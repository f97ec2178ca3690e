//! Commands that another adapter runs in this process, so that its answers are exactly the
//! documents that `--json` prints.

use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};

use super::{CliResult, Failure, Session, args::Global, commands, output::Output, pairs};
use crate::{domain::ErrorCode, store::Cancellation, workspace::Change};

pub(in crate::adapters) use super::commands::Command as Request;

/// Where a command runs, for whom, and on what condition.
#[derive(Clone, Debug)]
pub(in crate::adapters) struct Caller {
    /// The directory that was named, if any.
    pub(in crate::adapters) dir: Option<PathBuf>,
    /// The actor, if the call names one.
    pub(in crate::adapters) actor: Option<String>,
    /// The client's name with a word for its server: the session, and the actor by default.
    pub(in crate::adapters) client: Option<String>,
    /// Where the command was given, if not on a command line.
    pub(in crate::adapters) via: Option<&'static str>,
    /// Refuse unless the state is at this revision.
    pub(in crate::adapters) if_match: Option<String>,
    /// Work everything out, write nothing.
    pub(in crate::adapters) dry_run: bool,
    /// How long to wait for the lock.
    pub(in crate::adapters) wait: Duration,
    /// Whether nobody waits for the answer any more.
    pub(in crate::adapters) cancellation: Cancellation,
    /// The command for the log.
    pub(in crate::adapters) command: String,
}

/// What a command answered.
#[derive(Clone, Debug)]
pub(in crate::adapters) struct CommandAnswer {
    /// The document, with `ok`.
    pub(in crate::adapters) document: Value,
    /// The exit code that goes with it.
    pub(in crate::adapters) exit: u8,
}

impl CommandAnswer {
    /// A refusal before anything was run.
    pub(in crate::adapters) fn refusal(
        code: ErrorCode,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Self {
        let mut failure = Failure::new(code, message);
        failure.hint = hint;
        Self::from(&failure)
    }

    /// The same refusal with the total waiting time; its message has only that of the last attempt.
    pub(in crate::adapters) fn after_waiting(mut self, waited: Duration) -> Self {
        let message = self.document["error"]["message"].as_str().unwrap_or_default();
        let reason = message.rsplit_once("; waited ").map_or(message, |(reason, _)| reason);
        self.document["error"]["message"] = json!(format!("{reason}; waited {waited:.0?}"));
        self
    }

    /// The same refusal with another way out.
    pub(in crate::adapters) fn with_hint(mut self, hint: String) -> Self {
        self.document["error"]["hint"] = json!(hint);
        self
    }

    /// Why nothing was done, line by line: the message, the hint, and what others did meanwhile.
    #[cfg(any(feature = "board", feature = "web"))]
    pub(in crate::adapters) fn reasons(&self) -> Vec<String> {
        let error = &self.document["error"];
        let mut lines = vec![error["message"].as_str().unwrap_or("the command failed").to_owned()];
        lines.extend(error["hint"].as_str().map(|hint| format!("hint: {hint}")));
        for operation in self.document["changed"].as_array().into_iter().flatten() {
            let text = |key: &str| operation[key].as_str().unwrap_or_default();
            lines.push(format!("{} {}: {}", text("time"), text("actor"), text("message")));
        }
        lines
    }

    /// Whether nothing was done because somebody else held the lock all the time.
    pub(in crate::adapters) fn is_lock_timeout(&self) -> bool {
        self.document["error"]["code"] == ErrorCode::LockTimeout.as_str()
    }
}

impl From<&Failure> for CommandAnswer {
    fn from(failure: &Failure) -> Self {
        Self { document: failure.to_json(), exit: failure.exit }
    }
}

/// The refusal of JSON with a number that would not be kept as it was given.
pub(in crate::adapters) fn refused_digits(json: &str) -> Option<CommandAnswer> {
    let failure = pairs::refuse_rounded(json).err()?;
    Some(CommandAnswer::from(&failure).with_hint("give it as text, in quotes".to_owned()))
}

/// The change that an object describes.
pub(in crate::adapters) fn read_change(value: Value) -> Result<Change, CommandAnswer> {
    serde_json::from_value(value).map_err(|error| {
        CommandAnswer::from(&Failure::new(ErrorCode::BadChange, error.to_string()))
    })
}

/// The changes that objects describe, as `apply` takes them.
pub(in crate::adapters) fn read_changes(values: Vec<Value>) -> Result<Vec<Change>, CommandAnswer> {
    commands::apply::changes(values).map_err(|failure| CommandAnswer::from(&failure))
}

/// The arguments of a command that needs none, as if none were given.
pub(in crate::adapters) fn defaults<T: clap::Args>() -> T {
    let described = T::augment_args(clap::Command::new("statedir"));
    let matches = described.try_get_matches_from(["statedir"]);
    let arguments = matches.and_then(|matches| T::from_arg_matches(&matches));
    arguments.unwrap_or_else(|error| unreachable!("a command that needs an argument: {error}"))
}

/// The request that words make on the command line.
///
/// # Errors
/// They make none.
pub(in crate::adapters) fn request(words: &[impl AsRef<str>]) -> Result<Request, CommandAnswer> {
    let words = std::iter::once("statedir").chain(words.iter().map(AsRef::as_ref));
    let words: Vec<_> = words.map(std::ffi::OsString::from).collect();
    match super::parse::parse(&words) {
        Ok(parsed) => Ok(parsed.arguments.command),
        Err(unparsed) => Err(CommandAnswer::from(&Failure::from(&unparsed.error))),
    }
}

/// A state to look at.
#[cfg(any(feature = "board", feature = "web"))]
pub(in crate::adapters) fn open(caller: &Caller) -> Result<crate::workspace::Workspace, String> {
    let mut output = Output::collecting(true);
    caller.session(&mut output).workspace().map_err(|failure| failure.message)
}

/// Where the execution of a state is.
#[cfg(any(feature = "board", feature = "web"))]
pub(in crate::adapters) fn overview(caller: &Caller) -> Result<crate::workspace::Overview, String> {
    open(caller)?.overview().map_err(|error| error.to_string())
}

/// Makes changes as one operation.
pub(in crate::adapters) fn apply(caller: &Caller, changes: &[Change]) -> CommandAnswer {
    let mut output = Output::collecting(true);
    let result = caller.with_session(&mut output, |session| session.apply(changes));
    finish(output, result)
}

/// Runs a command.
pub(in crate::adapters) fn run(caller: &Caller, request: Request) -> CommandAnswer {
    let mut output = Output::collecting(true);
    let result = dispatch(caller, request, &mut output);
    finish(output, result)
}

/// The same for people: the text that is printed without `--json`.
pub(in crate::adapters) fn text(
    caller: &Caller,
    request: Request,
) -> Result<String, CommandAnswer> {
    let mut output = Output::collecting(false);
    match dispatch(caller, request, &mut output) {
        Err(failure) if output.is_empty() => Err(CommandAnswer::from(&failure)),
        // A brief of a damaged state is more useful than the error alone.
        Err(failure) => Ok(format!("{}\nerror: {}\n", output.into_parts().0, failure.message)),
        Ok(_) => Ok(output.into_parts().0),
    }
}

fn dispatch(caller: &Caller, request: Request, output: &mut Output) -> CliResult {
    caller.with_session(output, |session| commands::dispatch(request, session))
}

fn finish(output: Output, result: CliResult) -> CommandAnswer {
    match result {
        Err(failure) => CommandAnswer::from(&failure),
        Ok(exit) => {
            let document = output.into_parts().1.unwrap_or_else(|| json!({ "ok": true }));
            CommandAnswer { document, exit }
        }
    }
}

impl Caller {
    /// The person at the page or the board of this process, which acts under the same name as its
    /// commands.
    #[cfg(any(feature = "board", feature = "web"))]
    pub(in crate::adapters) fn of_person(actor: Option<String>, via: &'static str) -> Self {
        Self {
            dir: None,
            actor,
            client: None,
            via: Some(via),
            if_match: None,
            dry_run: false,
            wait: Duration::from_secs(5),
            cancellation: Cancellation::default(),
            command: via.to_owned(),
        }
    }

    fn with_session(
        &self,
        output: &mut Output,
        work: impl FnOnce(&mut Session<'_>) -> CliResult,
    ) -> CliResult {
        let mut session = self.session(output);
        work(&mut session).map_err(|failure| session.explain(failure))
    }

    fn session<'o>(&self, output: &'o mut Output) -> Session<'o> {
        let global = Global {
            dir: self.dir.clone(),
            json: true,
            dry_run: self.dry_run,
            if_match: self.if_match.clone(),
            actor: self.actor.clone(),
            wait: Some(self.wait),
        };
        Session {
            client: self.client.clone(),
            via: self.via,
            cancellation: self.cancellation.clone(),
            ..Session::new(global, self.command.clone(), output)
        }
    }
}
