//! What people and agents type out of habit from other tools, and what they mean by it.
//!
//! Looked at only when a line cannot be parsed, so that a correct command does not pay for it. The
//! words are in `table.txt`.

mod table;

use std::ffi::OsString;

use self::table::{CommandEntry, OptionEntry, Table, Token};
use super::commands::named;

/// A line in our own words.
pub(super) struct Reading {
    pub(super) args: Vec<OsString>,
    /// Whether it may be run; else it is only suggested.
    pub(super) works: bool,
}

/// How often an entry may follow another one.
const MOST: usize = 4;

/// The line in our own words, if some of it is in the table. It may still be incomplete.
pub(super) fn read(args: &[OsString], parses: impl Fn(&[OsString]) -> bool) -> Option<Reading> {
    let table = Table::read();
    let mut line = Line::split(args)?;
    let mut works = true;
    let mut any = false;
    for _ in 0..MOST {
        let Some((entry, words)) = line.command(&table) else { break };
        line.words = words;
        (works, any) = (works && entry.works, true);
        if parses(&line.args()) {
            return Some(Reading { args: line.args(), works });
        }
    }
    for _ in 0..MOST {
        let Some((all_work, words)) = line.options(&table) else { break };
        line.words = words;
        (works, any) = (works && all_work, true);
        if parses(&line.args()) {
            break;
        }
    }
    any.then(|| Reading { args: line.args(), works })
}

/// A line taken apart.
struct Line {
    /// The program and the options before the command.
    front: Vec<OsString>,
    /// The command and what follows it.
    words: Vec<String>,
}

impl Line {
    /// `None` if it is not text.
    fn split(args: &[OsString]) -> Option<Self> {
        let mut at = 1;
        while let Some(arg) = args.get(at).and_then(|arg| arg.to_str()) {
            match arg {
                "-C" | "--dir" | "--if-match" | "--actor" | "--wait" => at += 2,
                arg if arg.starts_with('-') => at += 1,
                _ => break,
            }
        }
        let rest = args.get(at..)?;
        let words: Option<Vec<String>> =
            rest.iter().map(|arg| Some(arg.to_str()?.to_owned())).collect();
        Some(Self { front: args[..at].to_vec(), words: words? })
    }

    fn args(&self) -> Vec<OsString> {
        let words = self.words.iter().map(OsString::from);
        self.front.iter().cloned().chain(words).collect()
    }

    /// The entry that says most about the first words, and the words that it makes of the line.
    fn command<'t>(&self, table: &'t Table) -> Option<(&'t CommandEntry, Vec<String>)> {
        let fitting = table.commands.iter().filter(|entry| self.fits(entry, table));
        let literals = |entry: &CommandEntry| {
            let literal =
                entry.typed.iter().filter(|token| matches!(token, Token::Literal(_) | Token::Verb));
            (literal.count(), entry.typed.len())
        };
        // Of equally good ones the first counts.
        let entry = fitting.rev().max_by_key(|entry| literals(entry))?;
        let (typed, rest) = self.words.split_at(entry.typed.len());
        let filled = |word: &String| fill(word, &entry.typed, typed);
        let mut words: Vec<String> = entry.command.iter().map(filled).collect();
        // Help and version stand for themselves.
        if !words.first().is_some_and(|word| word.starts_with('-')) {
            words.extend_from_slice(rest);
        }
        Some((entry, words))
    }

    fn fits(&self, entry: &CommandEntry, table: &Table) -> bool {
        let command = entry.command.first().map_or("", String::as_str);
        let fits = |(token, word): (&Token, &String)| match token {
            Token::Literal(literal) => is_same(literal, word),
            Token::Step => is_step(word),
            Token::Text | Token::Value => is_text(word),
            Token::Words => is_text(word) && word.trim().contains(char::is_whitespace),
            Token::Verb => is_verb(command, word) || table.has_verb(command, word),
        };
        let is_end = self.words.get(entry.typed.len()).is_none_or(|word| word.starts_with('-'));
        entry.typed.len() <= self.words.len()
            && (is_end || !entry.is_whole)
            && entry.typed.iter().zip(&self.words).all(fits)
    }

    /// The line with the options that the table knows for its command, if there is one; and
    /// whether all of them may simply work.
    fn options(&self, table: &Table) -> Option<(bool, Vec<String>)> {
        let mut length = 1;
        if let [command, verb, ..] = self.words.as_slice()
            && is_verb(command, verb)
        {
            length = 2;
        }
        let mut command = self.words.get(..length)?.to_vec();
        let name = command.join(" ");
        let (mut kept, mut works, mut any) = (Vec::new(), true, false);
        let mut at = length;
        while let Some(word) = self.words.get(at).filter(|word| *word != "--") {
            let is_value = at > length && self.words[at - 1].starts_with("--");
            let Some((entry, value, taken)) =
                self.option(table, &name, at).filter(|(entry, ..)| !is_value || entry.is_option())
            else {
                kept.push(word.clone());
                at += 1;
                continue;
            };
            (works, any) = (works && entry.works, true);
            at += taken;
            if entry.option.first().is_some_and(|first| named(first.as_ref()).is_some()) {
                command.clone_from(&entry.option);
                continue;
            }
            let filled = |word: &String| match &value {
                Some(value) => ["VALUE", "TEXT"]
                    .iter()
                    .fold(word.clone(), |word, name| word.replace(name, value)),
                None => word.clone(),
            };
            kept.extend(entry.option.iter().map(filled));
        }
        kept.extend_from_slice(&self.words[at..]);
        command.append(&mut kept);
        any.then_some((works, command))
    }

    /// The entry for the word at a place, the value that goes with it and how many words it takes.
    fn option<'t>(
        &self,
        table: &'t Table,
        command: &str,
        at: usize,
    ) -> Option<(&'t OptionEntry, Option<String>, usize)> {
        let word = &self.words[at];
        let (name, joined) = match word.split_once('=').filter(|_| word.starts_with('-')) {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        let next = self.words.get(at + 1).map(String::as_str);
        let fitting = |entry: &&OptionEntry| match entry.typed.as_slice() {
            [Token::Text] => is_text(word),
            [Token::Literal(typed)] => is_same(typed, word),
            [Token::Literal(typed), value] => {
                let given = joined.or(next);
                *typed == name
                    && match value {
                        Token::Literal(wanted) => given.is_some_and(|given| is_same(wanted, given)),
                        _ => given.is_some(),
                    }
            }
            _ => false,
        };
        let of = |scope: &str| {
            let entries = table.options.iter().filter(|entry| entry.commands.contains(&scope));
            // An exact value says more than any value.
            let is_exact = |entry: &&&OptionEntry| entry.typed.last() != Some(&Token::Value);
            let all: Vec<&'t OptionEntry> = entries.filter(fitting).collect();
            all.iter().find(is_exact).or(all.first()).copied()
        };
        let entry = of(command).or_else(|| of("*"))?;
        Some(match entry.typed.as_slice() {
            [Token::Text] => (entry, Some(word.clone()), 1),
            [_] => (entry, None, 1),
            _ => match joined {
                Some(value) => (entry, Some(value.to_owned()), 1),
                None => (entry, next.map(str::to_owned), 2),
            },
        })
    }
}

impl OptionEntry {
    fn is_option(&self) -> bool {
        matches!(self.typed.first(), Some(Token::Literal(word)) if word.starts_with('-'))
    }
}

/// The word with what was typed for the names in it.
fn fill(word: &str, tokens: &[Token], typed: &[String]) -> String {
    let slots = tokens.iter().zip(typed).filter(|(token, _)| !matches!(token, Token::Literal(_)));
    let mut word = word.to_owned();
    for (token, typed) in slots {
        // `STEP` stands alone or behind a `=`; inside another word it is a part of that word.
        if word == token.name() || word.ends_with(&format!("={}", token.name())) {
            word.truncate(word.len() - token.name().len());
            word.push_str(typed);
            break;
        }
    }
    word
}

/// Letter case and the kind of dash do not count.
fn is_same(literal: &str, word: &str) -> bool {
    let letters = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    literal == word || letters(literal) == letters(word)
}

fn is_text(word: &str) -> bool {
    !word.starts_with('-') && !word.is_empty()
}

/// A number, or what looks like an id: letters and digits, both of them.
fn is_step(word: &str) -> bool {
    let bare = word.strip_prefix('#').unwrap_or(word);
    let small = bare.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    !bare.is_empty() && bare.len() <= 12 && small && bare.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a command has such a verb.
fn is_verb(command: &str, word: &str) -> bool {
    let Some((found, describe)) = named(command.as_ref()) else { return false };
    let described = describe(found);
    described.find_subcommand(word).is_some()
}

#[cfg(test)]
mod tests;
