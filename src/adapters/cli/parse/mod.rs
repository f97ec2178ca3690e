//! Reading a command line.
//!
//! An agent calls us hundreds of times, and describing all commands to the parser takes longer than
//! most of them run. So only those commands and verbs are described that the line names: the parser
//! copies the options of every command into each. Help and messages are given by the same
//! descriptions, all of them.

mod hyphens;

use std::ffi::OsString;

use clap::{Args as _, CommandFactory as _, FromArgMatches as _, error::ErrorKind};

use super::{
    args::{Arguments, Global},
    commands::{Describe, named},
    suggest, synonyms,
};

/// A line that was understood.
pub(super) struct Parsed {
    pub(super) arguments: Arguments,
    /// The line in our own words, if it came in others.
    pub(super) in_our_words: Option<Vec<OsString>>,
}

/// What is to be said instead: help, the version, or what is wrong with the line.
#[derive(Debug)]
pub(super) struct Unparsed {
    pub(super) error: clap::Error,
    /// What to type instead.
    pub(super) hint: Option<String>,
}

/// The arguments, or what is to be said instead: help, the version, or what is wrong with them.
///
/// # Errors
/// They ask for help, or they make no sense; the error is about the arguments as they were given.
pub(super) fn parse(args: &[OsString]) -> Result<Parsed, Unparsed> {
    let error = match read_text(args) {
        Ok(arguments) => return Ok(Parsed { arguments, in_our_words: None }),
        Err(error) => error,
    };
    if error.kind() == ErrorKind::DisplayVersion {
        return Err(Unparsed { error, hint: None });
    }
    let error = match read(described(), args) {
        Ok(arguments) => return Ok(Parsed { arguments, in_our_words: None }),
        Err(error) => error,
    };
    if !error.use_stderr() {
        return Err(Unparsed { error, hint: None });
    }
    let reading = synonyms::read(args, is_understood);
    // What can follow the command is told in full, unless the table says what is meant by it alone.
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        && reading.as_ref().is_none_or(|reading| !reading.works || !is_understood(&reading.args))
    {
        return Err(Unparsed { error, hint: None });
    }
    let Some(reading) = reading else {
        let hint = suggest::quoted(args).or_else(|| suggest::noted(args));
        let hint = hint.or_else(|| suggest::with_missing(args, &error));
        let hint = hint.unwrap_or_else(|| suggest::nearest(args));
        return Err(Unparsed { error, hint: Some(hint) });
    };
    if !reading.works {
        let line = Some(&reading.args).filter(|args| is_understood(args));
        let hint = line.and_then(|args| suggest::line(args));
        let hint = hint.unwrap_or_else(|| suggest_rest(&reading.args));
        return Err(Unparsed { error, hint: Some(hint) });
    }
    match read_text(&reading.args) {
        Ok(arguments) => Ok(Parsed { arguments, in_our_words: Some(reading.args) }),
        Err(_) => {
            // What is still missing is said of the command that is meant.
            let error = read(described(), &reading.args).err().unwrap_or(error);
            let hint = error.use_stderr().then(|| suggest_rest(&reading.args));
            Err(Unparsed { error, hint })
        }
    }
}

/// What to type instead of a line that names a command and is not whole.
fn suggest_rest(args: &[OsString]) -> String {
    let missing = || suggest::with_missing(args, &read(described(), args).err()?);
    let said = suggest::quoted(args).or_else(|| suggest::noted(args));
    said.or_else(missing).unwrap_or_else(|| suggest::help(args))
}

/// Whether a line is a command, or asks for help in the right way.
pub(super) fn is_understood(args: &[OsString]) -> bool {
    let asks = |error: clap::Error| {
        matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
    };
    read_text(args).map_or_else(asks, |_| true)
}

/// The arguments; text that begins with a hyphen is text where it can be no option.
fn read_text(args: &[OsString]) -> Result<Arguments, clap::Error> {
    match read_named(args) {
        Err(error)
            if !matches!(error.kind(), ErrorKind::DisplayVersion | ErrorKind::DisplayHelp) =>
        {
            let in_other_ways = hyphens::as_text(args).find_map(|args| read_named(&args).ok());
            in_other_ways.ok_or(error)
        }
        refusal => refusal,
    }
}

/// What the commands that the arguments name make of them. An error is not for people, unless it
/// says the version: it knows nothing of the other commands.
fn read_named(args: &[OsString]) -> Result<Arguments, clap::Error> {
    let mut root = Global::augment_args(clap::Command::new("statedir"))
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .subcommand_negates_reqs(true);
    for (command, describe) in args.iter().skip(1).filter_map(|word| named(word)) {
        if root.find_subcommand(command.get_name()).is_none() {
            root = root.subcommand(with_named_verbs(command, describe, args));
        }
    }
    read(root, args)
}

/// A command, described; of verbs only those that the arguments name.
fn with_named_verbs(
    command: clap::Command,
    describe: Describe,
    args: &[OsString],
) -> clap::Command {
    let mut described = describe(command.clone());
    if described.get_arguments().next().is_some() || !described.has_subcommands() {
        return described;
    }
    let is_named = |verb: &&mut clap::Command| {
        let names = || verb.get_all_aliases().chain([verb.get_name()]);
        args.iter().any(|arg| names().any(|name| arg == name))
    };
    let verbs = described.get_subcommands_mut().filter(is_named).map(std::mem::take);
    command.subcommands(verbs).disable_help_subcommand(true).subcommand_negates_reqs(true)
}

fn read(command: clap::Command, args: &[OsString]) -> Result<Arguments, clap::Error> {
    Arguments::from_arg_matches_mut(&mut command.try_get_matches_from(args)?)
}

/// The command that was named, also in arguments that make no sense otherwise.
pub(super) fn named_command(args: &[OsString]) -> Option<String> {
    let matches = Arguments::command().ignore_errors(true).try_get_matches_from(args).ok()?;
    matches.subcommand_name().map(str::to_owned)
}

/// The whole description, for help, completions and manual pages.
pub(super) fn described() -> clap::Command {
    let mut command = Arguments::command();
    command.build();
    command
}

/// The same with the verbs of every command under `help`, too, for completions: the parser outlines
/// the commands there before they have described themselves.
pub(super) fn described_with_help() -> clap::Command {
    let mut outline = Arguments::command();
    for known in outline.get_subcommands_mut() {
        *known = std::mem::take(known).disable_help_subcommand(true);
        known.build();
    }
    outline.build();
    let mut command = described();
    let help = (command.find_subcommand_mut("help"), outline.find_subcommand_mut("help"));
    if let (Some(help), Some(whole)) = help {
        std::mem::swap(help, whole);
    }
    command
}

/// Every command of ours, described: all but the parser's own `help`.
pub fn command() -> clap::Command {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn what_the_named_commands_make_of_a_line_is_what_all_of_them_make_of_it() {
        for line in [
            "statedir status",
            "statedir --json -C /tmp/x status",
            "statedir -C/tmp/x status --json",
            "statedir step done 3 --output a=1 --cost 0.02 --if-match abc --actor me",
            "statedir --actor step step done",
            "statedir --actor var step fail --error hook --json",
            "statedir step complete 1 --wait 3s",
            "statedir --actor=me step next --claim --dry-run",
            "statedir var set a.b -5 --json",
            "statedir variables get status",
            "statedir history search help",
            "statedir context add -- --help",
            "statedir brief --max-tokens 500 --for 3 --json",
            "statedir hook --max-tokens 500 --wait 1s",
            "statedir archive --force",
            "statedir archive list",
            "statedir var set x.y status --json",
            "statedir step add step",
        ] {
            let named = read_named(&words(line)).unwrap_or_else(|error| panic!("{line}: {error}"));
            let whole = read(described(), &words(line)).unwrap();
            assert_eq!(format!("{named:?}"), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn help_and_mistakes_are_left_to_the_whole_description() {
        for line in [
            "statedir",
            "statedir --help",
            "statedir help",
            "statedir help status",
            "statedir --json",
            "statedir step",
            "statedir step bogus",
            "statedir step done --bogus",
            "statedir bogus status",
            "statedir bogus",
            "statedir status --bogus",
            "statedir status --version",
        ] {
            let error = read_named(&words(line)).unwrap_err();
            assert_ne!(error.kind(), ErrorKind::DisplayVersion, "{line}");
            let (refusal, whole) = (parse(&words(line)), read(described(), &words(line)));
            let refusal = refusal.err().unwrap().error;
            assert_eq!(refusal.to_string(), whole.unwrap_err().to_string(), "{line}");
        }
    }

    #[test]
    fn the_version_is_printed_without_describing_any_command() {
        for line in ["statedir --version", "statedir -V", "statedir --json -V status"] {
            let named = read_named(&words(line)).unwrap_err();
            let whole = read(described(), &words(line)).unwrap_err();
            assert_eq!(named.kind(), ErrorKind::DisplayVersion, "{line}");
            assert_eq!(named.render().to_string(), whole.render().to_string(), "{line}");
        }
    }

    #[test]
    fn every_command_and_verb_is_found_by_each_of_its_names() {
        for known in command().get_subcommands() {
            for name in known.get_all_aliases().chain([known.get_name()]) {
                let (found, describe) = named(name.as_ref()).unwrap_or_else(|| panic!("{name}"));
                assert_eq!(found.get_name(), known.get_name());
                let mut described = describe(found);
                described.build();
                let verbs = |command: &clap::Command| -> Vec<String> {
                    let verbs = command.get_subcommands().map(|verb| verb.get_name().to_owned());
                    verbs.filter(|verb| verb != "help").collect()
                };
                assert_eq!(verbs(&described), verbs(known), "{name}");
            }
        }
    }

    #[test]
    fn the_named_command_is_known_though_its_arguments_are_wrong() {
        for (line, name) in [
            ("statedir hook --bogus", Some("hook")),
            ("statedir hook --max-tokens x", Some("hook")),
            ("statedir -C hook status --bogus", Some("status")),
            ("statedir --bogus", None),
        ] {
            assert_eq!(named_command(&words(line)).as_deref(), name, "{line}");
        }
    }
}
