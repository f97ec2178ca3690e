//! Parsing without building the whole command line.
//!
//! Describing every command to the parser costs more than most commands do. An agent calls us
//! hundreds of times, so only the command that was named is described; whatever this cannot
//! parse is parsed again in full, which gives the complete help and error messages.

use std::ffi::OsString;

use clap::{Args as _, FromArgMatches as _};

use super::{
    args::{Arguments, Command, Global},
    commands, plain,
};

/// The arguments, if they are plainly those of one known command.
pub(super) fn parse(args: &[OsString]) -> Option<Arguments> {
    if let Ok(plain) = plain::parse(args) {
        return Some(plain);
    }
    let name = command_name(args)?;
    let root = Global::augment_args(clap::Command::new("statedir"));
    let verb = args.iter().skip_while(|word| **word != *name).nth(1).and_then(|word| word.to_str());
    let matches = root.subcommand(describe(&name, verb)?).try_get_matches_from(args).ok()?;
    let (_, inner) = matches.subcommand()?;
    // Global options may stand before or behind the command; the inner matches hold both.
    let global = Global::from_arg_matches(inner).ok()?;
    let command = read(&name, inner)?;
    Some(Arguments { global, command })
}

/// The first word that is not an option nor the value of one.
pub(super) fn command_name(args: &[OsString]) -> Option<String> {
    let mut words = args.iter().skip(1);
    while let Some(word) = words.next() {
        let word = word.to_str()?;
        match word {
            "-C" | "--dir" | "--if-match" | "--actor" | "--wait" => {
                words.next();
            }
            "--json" | "--dry-run" => {}
            option if option.starts_with('-') => {
                let joined = option.starts_with("-C") || option.contains('=');
                if !joined {
                    return None;
                }
            }
            name => return Some(name.to_owned()),
        }
    }
    None
}

/// The command with that verb alone, if it is nothing but verbs: the parser copies every global
/// option into each of them.
fn with_one_verb(
    name: &'static str,
    mut command: clap::Command,
    verb: Option<&str>,
) -> clap::Command {
    if command.get_arguments().next().is_some() {
        return command;
    }
    let found = command.get_subcommands_mut().find(|known| Some(known.get_name()) == verb);
    let Some(found) = found.map(std::mem::take) else { return command };
    clap::Command::new(name).subcommand(found)
}

macro_rules! quick_commands {
    ($($name:literal => $variant:ident($args:ty),)*) => {
        fn describe(name: &str, verb: Option<&str>) -> Option<clap::Command> {
            let command = clap::Command::new;
            match name {
                $($name => Some(with_one_verb($name, <$args>::augment_args(command($name)), verb)),)*
                _ => None,
            }
        }

        fn read(name: &str, matches: &clap::ArgMatches) -> Option<Command> {
            match name {
                $($name => <$args>::from_arg_matches(matches).ok().map(Command::$variant),)*
                _ => None,
            }
        }
    };
}

quick_commands! {
    "status" => Status(commands::status::Args),
    "state" => State(commands::state::Args),
    "brief" => Brief(commands::brief::Args),
    "show" => Show(commands::show::Args),
    "plan" => Plan(commands::plan::Args),
    "step" => Step(commands::step::Args),
    "context" => Context(commands::context::Args),
    "var" => Var(commands::var::Args),
    "history" => History(commands::history::Args),
    "turn" => Turn(commands::turn::Args),
    "memory" => Memory(commands::memory::Args),
    "constraint" => Constraint(commands::constraint::Args),
    "directive" => Directive(commands::directive::Args),
    "resume" => Resume(commands::pause::ResumeArgs),
    "event" => Event(commands::event::Args),
    "review" => Review(commands::review::Args),
    "apply" => Apply(commands::apply::Args),
    "checkpoint" => Checkpoint(commands::checkpoint::Args),
    "undo" => Undo(commands::undo::UndoArgs),
    "hook" => Hook(commands::hook::Args),
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn both_ways_of_parsing_agree() {
        for line in [
            "statedir status",
            "statedir --json -C /tmp/x status",
            "statedir -C/tmp/x status --json",
            "statedir step done 3 --output a=1 --cost 0.02 --if-match abc --actor me",
            "statedir --actor step step done",
            "statedir step fail --error step --json",
            "statedir step skip k3f9 --note done",
            "statedir step complete 1",
            "statedir --actor=me step next --claim --dry-run",
            "statedir var set a.b -5 --json",
            "statedir var get",
            "statedir --wait 3s history list --limit 5",
            "statedir brief --max-tokens 500 --for 3 --json",
            "statedir hook --max-tokens 500 --wait 1s",
            "statedir turn add --user hello --error one --error two",
        ] {
            let quick = parse(&words(line)).unwrap_or_else(|| panic!("{line}"));
            let full = Arguments::try_parse_from(words(line)).unwrap();
            assert_eq!(format!("{quick:?}"), format!("{full:?}"), "{line}");
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_full_parser() {
        for line in [
            "statedir",
            "statedir --help",
            "statedir step",
            "statedir step bogus",
            "statedir step done --bogus",
            "statedir bogus",
            "statedir status --bogus",
        ] {
            assert!(parse(&words(line)).is_none(), "{line}");
        }
    }
}
