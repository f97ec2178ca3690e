//! Completing a command line.
//!
//! The scripts for bash, zsh and fish ask `statedir __complete WORD…`, whose last word is the one
//! to be completed. The answer has a line for each possible word: the whole word, a tab, and what
//! it is. Commands and options come from the same descriptions as the help, names from the state.
//! It never fails and never writes.

mod state;

use std::ffi::OsString;

use clap::{Arg, Command};

use self::state::Source;
use super::{Session, parse};
use crate::text::display::{escape_controls, one_line};

/// The hidden word that asks for completions; not a command, so that the parser need not describe
/// it.
pub(super) const WORD: &str = "__complete";

/// A script for a shell whose completion asks this program; `None` for other shells.
pub(super) fn script(shell: clap_complete::Shell) -> Option<&'static str> {
    match shell {
        clap_complete::Shell::Bash => Some(include_str!("bash.sh")),
        clap_complete::Shell::Zsh => Some(include_str!("zsh.zsh")),
        clap_complete::Shell::Fish => Some(include_str!("fish.fish")),
        _ => None,
    }
}

/// A way to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    word: String,
    about: String,
}

impl Candidate {
    fn new(word: impl Into<String>, about: impl Into<String>) -> Self {
        Self { word: word.into(), about: about.into() }
    }
}

/// What was typed before the word that is to be completed.
#[derive(Debug)]
struct Typed<'c> {
    /// The command that is meant so far.
    command: &'c Command,
    /// Its words: `["step", "done"]`.
    path: Vec<String>,
    /// Arguments without an option.
    given: Vec<String>,
    /// An option that waits for its value.
    option: Option<&'c Arg>,
    /// Whether no option can follow.
    only_text: bool,
    /// The state directory that was named.
    dir: Option<String>,
}

impl<'c> Typed<'c> {
    fn read(root: &'c Command, words: &[String]) -> Self {
        let mut typed = Self {
            command: root,
            path: Vec::new(),
            given: Vec::new(),
            option: None,
            only_text: false,
            dir: None,
        };
        words.iter().for_each(|word| typed.push(word));
        typed
    }

    fn push(&mut self, word: &str) {
        if let Some(option) = self.option {
            // bash gives `--section=Key` as three words.
            if word != "=" {
                self.value(option, word);
                self.option = None;
            }
        } else if word == "--" && !self.only_text {
            self.only_text = true;
        } else if word.starts_with('-') && word.len() > 1 && !self.only_text {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            let option = option(self.command, name).filter(|option| takes_value(option));
            match (option, value) {
                (Some(option), Some(value)) => self.value(option, value),
                (option, _) => self.option = option,
            }
        } else if let Some(found) = self.command.find_subcommand(word).filter(|_| self.is_bare()) {
            self.command = found;
            self.path.push(found.get_name().to_owned());
        } else {
            self.given.push(word.to_owned());
        }
    }

    fn value(&mut self, option: &Arg, value: &str) {
        if option.get_id() == "dir" {
            self.dir = Some(value.to_owned());
        }
    }

    /// Whether a command can follow.
    fn is_bare(&self) -> bool {
        self.given.is_empty() && !self.only_text
    }

    /// The argument that stands where the next word is.
    fn positional(&self) -> Option<&'c Arg> {
        let mut positionals = self.command.get_positionals();
        let last = self.command.get_positionals().last();
        let repeats = |arg: &&Arg| arg.get_num_args().is_some_and(|count| count.max_values() > 1);
        positionals.nth(self.given.len()).or_else(|| last.filter(repeats))
    }
}

fn option<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    let is_meant = |arg: &&Arg| match name.strip_prefix("--") {
        Some(long) => {
            arg.get_long() == Some(long)
                || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&long))
        }
        None => arg.get_short().is_some_and(|short| name[1..].starts_with(short)),
    };
    command.get_arguments().find(is_meant)
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// Prints the possible completions of these words, a line each.
pub(super) fn answer(session: &mut Session<'_>, words: &[OsString]) {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (before, current) = match words.split_last() {
        Some((current, before)) => (before, current.as_str()),
        None => (&[][..], ""),
    };
    let root = parse::described_with_help();
    let typed = Typed::read(&root, before);
    session.global.dir = typed.dir.as_ref().map(Into::into);
    for candidate in candidates(session, &typed, current) {
        let is_plain = |text: &str| !text.contains(char::is_control) && !text.is_empty();
        let about = one_line(&candidate.about);
        let about = escape_controls(&about);
        // A name that a shell could not pass back is not offered.
        if is_plain(&candidate.word) && escape_controls(&candidate.word) == candidate.word {
            session.output.raw(&format!("{}\t{about}\n", candidate.word));
        }
    }
}

/// The completions that begin with the typed part of the word.
fn candidates(session: &Session<'_>, typed: &Typed<'_>, current: &str) -> Vec<Candidate> {
    let begins = |candidate: &Candidate| candidate.word.starts_with(current);
    if let Some(option) = typed.option {
        return values(session, typed, option, current);
    }
    if current.starts_with('-') && !typed.only_text {
        if let Some((name, value)) = current.split_once('=') {
            let option = option(typed.command, name).filter(|option| takes_value(option));
            let found = option.map(|option| values(session, typed, option, value));
            let whole =
                |found: Candidate| Candidate::new(format!("{name}={}", found.word), found.about);
            return found.unwrap_or_default().into_iter().map(whole).collect();
        }
        return options(typed.command).filter(begins).collect();
    }
    let mut found = Vec::new();
    if typed.is_bare() {
        let commands = typed.command.get_subcommands().filter(|command| !command.is_hide_set());
        let commands = commands.map(|command| {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            Candidate::new(command.get_name(), about)
        });
        found.extend(commands.filter(begins));
    }
    if let Some(positional) = typed.positional() {
        found.extend(values(session, typed, positional, current));
    }
    found
}

fn options(command: &Command) -> impl Iterator<Item = Candidate> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown.filter_map(|arg| {
        let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
        Some(Candidate::new(format!("--{}", arg.get_long()?), about))
    })
}

/// The values of an argument that begin with what was typed.
fn values(session: &Session<'_>, typed: &Typed<'_>, arg: &Arg, current: &str) -> Vec<Candidate> {
    let possible: Vec<Candidate> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| {
            let about = value.get_help().map(ToString::to_string).unwrap_or_default();
            Candidate::new(value.get_name(), about)
        })
        .filter(|candidate| candidate.word.starts_with(current))
        .collect();
    // Flags have values only inside the parser.
    if !possible.is_empty() && takes_value(arg) {
        return possible;
    }
    let Some(source) = Source::of(typed, arg) else { return Vec::new() };
    // Of `1,2,` the part behind the last comma is completed.
    let (done, current) = match arg.get_value_delimiter().and_then(|comma| current.rfind(comma)) {
        Some(at) => current.split_at(at + 1),
        None => ("", current),
    };
    let found = source.candidates(session, current).unwrap_or_default();
    let fitting = found.into_iter().filter(|candidate| candidate.word.starts_with(current));
    fitting.map(|found| Candidate::new(format!("{done}{}", found.word), found.about)).collect()
}
