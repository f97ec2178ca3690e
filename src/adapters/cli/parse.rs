//! Reading a command line.
//!
//! Commands describe themselves to the parser when they are named (`defer`), because an agent calls
//! us hundreds of times and describing all of them takes longer than most of them run. Help and
//! messages are given by the same description, built whole.

use std::ffi::OsString;

use clap::{CommandFactory as _, FromArgMatches as _, Parser as _};

use super::{args::Arguments, hyphens};

/// The arguments, or what is to be said instead: help, the version, or what is wrong with them.
///
/// # Errors
/// They ask for help, or they make no sense; the error is about the arguments as they were given.
pub(super) fn parse(args: &[OsString]) -> Result<Arguments, clap::Error> {
    Arguments::try_parse_from(args)
        .or_else(|error| hyphens::as_text(args).find_map(|args| read(&args)).ok_or(error))
        .or_else(|_| {
            let matches = described().try_get_matches_from(args)?;
            Arguments::from_arg_matches(&matches)
        })
}

fn read(args: &[OsString]) -> Option<Arguments> {
    Arguments::try_parse_from(args).ok()
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
