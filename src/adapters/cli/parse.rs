//! Reading a command line.
//!
//! An agent calls us hundreds of times, and describing all commands to the parser takes longer than
//! most of them run. So commands describe themselves when they are reached (`defer`), and only
//! those that the line names are kept: the parser copies the options of every command into each.
//! Help and messages are given by the same description, built whole.

use std::ffi::OsString;

use clap::{Args as _, CommandFactory as _, FromArgMatches as _};

use super::{
    args::{Arguments, Global},
    hyphens,
};

/// The arguments, or what is to be said instead: help, the version, or what is wrong with them.
///
/// # Errors
/// They ask for help, or they make no sense; the error is about the arguments as they were given.
pub(super) fn parse(args: &[OsString]) -> Result<Arguments, clap::Error> {
    let in_other_ways = || hyphens::as_text(args).find_map(|args| read_named(&args));
    match read_named(args).or_else(in_other_ways) {
        Some(arguments) => Ok(arguments),
        None => {
            let matches = described().try_get_matches_from(args)?;
            Arguments::from_arg_matches(&matches)
        }
    }
}

/// The arguments, if the commands that they name make sense of them.
fn read_named(args: &[OsString]) -> Option<Arguments> {
    let is_named = |command: &&mut clap::Command| {
        let names = || command.get_all_aliases().chain([command.get_name()]);
        args.iter().any(|arg| names().any(|name| arg == name))
    };
    let mut all = Arguments::command();
    let named = all.get_subcommands_mut().filter(is_named).map(std::mem::take);
    let command = Global::augment_args(clap::Command::new("statedir")).subcommands(named);
    Arguments::from_arg_matches(&command.try_get_matches_from(args).ok()?).ok()
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
        ] {
            let named = read_named(&words(line)).unwrap_or_else(|| panic!("{line}"));
            let matches = described().try_get_matches_from(words(line)).unwrap();
            let whole = Arguments::from_arg_matches(&matches).unwrap();
            assert_eq!(format!("{named:?}"), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn help_and_mistakes_are_left_to_the_whole_description() {
        for line in [
            "statedir",
            "statedir --help",
            "statedir --version",
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
            assert!(read_named(&words(line)).is_none(), "{line}");
            assert!(parse(&words(line)).is_err(), "{line}");
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
