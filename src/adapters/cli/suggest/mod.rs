//! What to type instead of a line that cannot be parsed.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::parse;
use crate::{domain::nearest as nearest_name, text::shell};

/// Commands that are never put into somebody's mouth because a word looks like them: a guess that
/// is wrong would change what was not meant.
const NEVER_GUESSED: [&str; 15] = [
    "undo", "redo", "restore", "gc", "archive", "import", "trust", "apply", "init", "merge",
    "remove", "delete", "unset", "reset", "skip",
];

/// The line as a command that can be pasted, in backticks; `None` if it cannot be shown as one.
pub(super) fn line(args: &[OsString]) -> Option<String> {
    line_of(args).map(|line| shell::code_span(&line))
}

fn line_of(args: &[OsString]) -> Option<String> {
    let words: Option<Vec<&str>> = args.iter().skip(1).map(|arg| arg.to_str()).collect();
    let line = shell::command_line(words?);
    let is_shown = !line.contains(|c: char| c.is_control() && c != '\n' && c != '\t');
    is_shown.then_some(line)
}

/// Options that a hint may mention and that are never put into somebody's mouth: they reach beyond
/// the state, or past what keeps it safe.
const FAR_REACHING: [&str; 4] = ["--global", "--force", "--yes", "--abandon"];

/// The longest line that a hint repeats.
const LONGEST: usize = 300;

/// A hint in which what it calls by an option alone (`--create`) is the line that was typed, with that
/// option.
pub(super) fn in_full(hint: &str, args: &[OsString]) -> String {
    let with_option = |option: &str| {
        let is_option = option.strip_prefix("--").is_some_and(|name| {
            name.len() > 1 && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        });
        if !is_option || FAR_REACHING.contains(&option) || args.iter().any(|arg| arg == option) {
            return None;
        }
        let is_dir = |arg: &OsString| arg.to_str().is_some_and(|arg| arg.starts_with("--dir"));
        if args.iter().any(is_dir) {
            // It would be named twice.
            return None;
        }
        let with_it_before = |word: &[&str]| {
            let end = args.iter().position(|arg| word.iter().any(|word| arg == word));
            let mut whole = args.to_vec();
            whole.insert(end.unwrap_or(args.len()), option.into());
            Some(whole).filter(|whole| parse::is_understood(whole))
        };
        let line = with_it_before(&["--", "--json"]).or_else(|| with_it_before(&["--"]));
        line.and_then(|whole| line_of(&whole))
            .filter(|line| line.len() <= LONGEST && !line.contains('`'))
    };
    let mut full = String::new();
    for (at, part) in hint.split('`').enumerate() {
        if at > 0 {
            full.push('`');
        }
        let whole = (at % 2 == 1).then(|| with_option(part)).flatten();
        full.push_str(whole.as_deref().unwrap_or(part));
    }
    full
}

/// Commands that begin with a text, which people forget to put in quotes.
const TEXTS: [[&str; 2]; 7] = [
    ["step", "add"],
    ["context", "add"],
    ["history", "add"],
    ["history", "search"],
    ["review", "open"],
    ["directive", "add"],
    ["rule", "add"],
];

/// The line with the words of its text in quotes, if that makes a command of it.
pub(super) fn quoted(args: &[OsString]) -> Option<String> {
    let words: Vec<&str> = args.iter().map_while(|arg| arg.to_str()).collect();
    let start = words.windows(2).position(|pair| TEXTS.iter().any(|text| text == pair))? + 2;
    let is_text = |word: &&&str| !word.starts_with('-') && !word.contains('=');
    let count = words[start..].iter().take_while(is_text).count();
    if count < 2 {
        return None;
    }
    let with = |text: &[String]| {
        let mut line = args.to_vec();
        line.splice(start..start + count, text.iter().map(OsString::from));
        parse::is_understood(&line).then(|| self::line(&line))?
    };
    let text = &words[start..start + count];
    let whole = with(&[text.join(" ")]);
    let &[section, rest] = text else { return whole };
    // Of two texts the first may be meant as a section; only that, if the second was in quotes.
    match with(&["--section".to_owned(), section.to_owned(), rest.to_owned()]) {
        Some(line) if rest.contains(' ') => Some(line),
        Some(line) => Some(format!("{line}, or {}", whole?)),
        None => whole,
    }
}

/// Verbs of `step` that may be followed by several steps, with the option for a remark.
const REMARKS: [(&str, &str); 5] = [
    ("done", "--note"),
    ("complete", "--note"),
    ("finish", "--note"),
    ("skip", "--note"),
    ("fail", "--error"),
];

/// The line of a step command with the words after the step as a remark, if that makes a command of it.
pub(super) fn noted(args: &[OsString]) -> Option<String> {
    let words: Vec<&str> = args.iter().map_while(|arg| arg.to_str()).collect();
    let verb = words.iter().position(|word| *word == "step")? + 1;
    let (_, option) = REMARKS.iter().find(|(name, _)| words.get(verb) == Some(name))?;
    let has_digit = |word: &&&str| word.contains(|c: char| c.is_ascii_digit());
    let is_number = |word: &&str| word.parse::<u32>().is_ok();
    let behind = words.get(verb + 1..)?;
    let first = usize::from(behind.first().filter(has_digit).is_some());
    let start =
        verb + 1 + first + behind[first..].iter().take_while(|word| is_number(word)).count();
    let text: Vec<&str> =
        words.get(start..)?.iter().copied().take_while(|word| !word.starts_with('-')).collect();
    if text.is_empty() || args.iter().any(|arg| arg == option) {
        return None;
    }
    let mut line = args.to_vec();
    line.splice(start..start + text.len(), [(*option).into(), text.join(" ").into()]);
    parse::is_understood(&line).then(|| self::line(&line))?
}

/// The line with the options that it lacks, if those are all it lacks.
pub(super) fn with_missing(args: &[OsString], error: &clap::Error) -> Option<String> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let mut line = args.to_vec();
    for option in missing.iter().filter(|_| error.kind() == ErrorKind::MissingRequiredArgument) {
        let (name, value) = option.strip_suffix('>')?.split_once(" <")?;
        line.extend([name.into(), value.into()]);
    }
    let is_whole = line.len() > args.len() && parse::is_understood(&line);
    is_whole.then(|| self::line(&line))?
}

/// The help of the command that a line names, as far as it names one.
pub(super) fn help(args: &[OsString]) -> String {
    let mut known = parse::described();
    let mut line = String::from("statedir");
    for word in args.iter().skip(1) {
        let Some(found) = word.to_str().and_then(|word| known.find_subcommand(word)) else {
            if known.get_subcommands().next().is_none() {
                break;
            }
            continue;
        };
        line.push_str(&format!(" {}", found.get_name()));
        known = found.clone();
    }
    format!("`{line} --help`")
}

/// The line with the one word that is nearly a command, a verb or an option put right; the help of
/// what it names if that makes no command, or one that should not be guessed.
pub(super) fn nearest(args: &[OsString]) -> String {
    let mut known = parse::described();
    let mut corrected = args.to_vec();
    let mut line = String::from("statedir");
    let mut guessed = None;
    for (at, word) in args.iter().enumerate().skip(1) {
        let Some(word) = word.to_str() else { break };
        if word == "--" {
            break;
        }
        let name = match word.strip_prefix("--") {
            Some(option) => {
                let (name, value) = option
                    .split_once('=')
                    .map_or((option, None), |(name, value)| (name, Some(value)));
                let options: Vec<&str> =
                    known.get_arguments().filter_map(|arg| arg.get_long()).collect();
                if options.contains(&name) {
                    continue;
                }
                let Some(near) = nearest_name(name, options) else { continue };
                // `--no-open` is no slip of the finger for `--open`.
                if name.starts_with("no-") != near.starts_with("no-") {
                    continue;
                }
                corrected[at] = match value {
                    Some(value) => format!("--{near}={value}").into(),
                    None => format!("--{near}").into(),
                };
                continue;
            }
            None if known.get_subcommands().next().is_none() => continue,
            None if word.starts_with('-') => continue,
            None => match known.find_subcommand(word) {
                Some(found) => found.get_name().to_owned(),
                None => {
                    let names = known.get_subcommands().map(clap::Command::get_name);
                    let Some(near) = nearest_name(word, names) else { continue };
                    corrected[at] = near.into();
                    guessed.get_or_insert_with(|| near.to_owned());
                    near.to_owned()
                }
            },
        };
        line.push_str(&format!(" {name}"));
        let Some(found) = known.find_subcommand(&name) else { break };
        known = found.clone();
    }
    let may_be_suggested = !guessed.is_some_and(|name| NEVER_GUESSED.contains(&name.as_str()));
    let understood = Some(&corrected).filter(|corrected| {
        may_be_suggested && *corrected != args && parse::is_understood(corrected)
    });
    understood
        .and_then(|corrected| self::line(corrected))
        .unwrap_or_else(|| format!("`{line} --help`"))
}

#[cfg(test)]
mod tests;
