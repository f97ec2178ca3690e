//! The command line: parse, call the library once, print.

mod args;
pub(super) mod commands;
mod completion;
mod failure;
pub(super) mod in_process;
mod missing_file;
mod output;
mod pairs;
mod parse;
mod session;
mod suggest;
mod synonyms;
mod templates;

use std::{ffi::OsString, process::ExitCode};

use self::{failure::Failure, output::Output, parse::Unparsed, session::Session};

/// Runs one command and says how it went: 0 done, 1 refused, 2 usage, 3 conflict, 4 damaged.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    if args.get(1).is_some_and(|word| word == completion::WORD) {
        return complete(&args[2..]);
    }
    let wants_json = args.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| arg == "--json");
    let mut output = Output::new(wants_json);
    report_bugs(wants_json);
    let parsed = match parse::parse(&args) {
        Ok(parsed) => parsed,
        Err(Unparsed { error, hint }) => {
            let code = output.usage(&error, hint.as_deref());
            // For the client of a hook, code 2 means that the agent has to be stopped.
            let is_hook = || parse::named_command(&args).as_deref() == Some("hook");
            return if error.exit_code() != 0 && is_hook() { ExitCode::SUCCESS } else { code };
        }
    };
    output.dir = parsed.arguments.global.dir.as_ref().map(|dir| dir.to_string_lossy().into_owned());
    let args = parsed.in_our_words.unwrap_or(args);
    match commands::run(parsed.arguments, command_line(&args), &mut output) {
        Ok(code) => output.finish(code),
        Err(mut failure) => {
            failure.hint = failure.hint.map(|hint| suggest::in_full(&hint, &args));
            output.fail(&failure)
        }
    }
}

/// Answers a shell that completes a command line; it prints only how the line can continue.
fn complete(words: &[OsString]) -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let mut output = Output::new(false);
    let mut session = Session::new(args::Global::default(), String::new(), &mut output);
    completion::answer(&mut session, words);
    output.finish(0)
}

/// A panic is our bug: say so in the caller's language and exit with 255.
fn report_bugs(json: bool) {
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = panic.payload().downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.payload().downcast_ref::<&str>().copied());
        let message = format!("this is a bug in statedir: {} ({place})", text.unwrap_or("panic"));
        let hint = "the state files were not left half-written; please report this";
        output::write_bug(json, &message, hint);
        std::process::exit(255);
    }));
}

/// The command as typed, for the log; long values are cut, and who acts is noted elsewhere.
fn command_line(args: &[OsString]) -> String {
    let mut text = String::new();
    let mut args = args.iter().skip(1).map(|arg| arg.to_string_lossy());
    let mut has_options = true;
    while let Some(arg) = args.next() {
        has_options &= arg != "--";
        if has_options && arg == "--actor" {
            args.next();
            continue;
        }
        if has_options && arg.starts_with("--actor=") {
            continue;
        }
        let short: String = arg.chars().take(80).collect();
        if !text.is_empty() {
            text.push(' ');
        }
        let cut = if short.len() < arg.len() { "…" } else { "" };
        if short.is_empty() || short.contains(|c: char| c.is_whitespace() || c == '"') {
            text.push_str(&format!("{:?}{cut}", short));
        } else {
            text.push_str(&short);
            text.push_str(cut);
        }
        if text.len() > 400 {
            text.push('…');
            break;
        }
    }
    text
}

pub use parse::command;
type CliResult = Result<u8, Failure>;
