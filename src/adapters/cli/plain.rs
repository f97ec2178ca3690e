//! The commands that make up an agent's day, read without describing them to the parser.
//!
//! The parser takes as long as a whole read takes. What is nothing but words and options of a
//! few commands, each given once and apart from its value, means the same however it is read;
//! everything else is left to the parser, and so is every message.

use std::{ffi::OsString, str::FromStr};

use super::{
    args::{self, Arguments, Command, Global},
    commands::{hook, status, step, var},
};

/// The command line has to be read by the parser.
pub(super) struct Unclear;

/// A name, and whether a value follows.
type Known = (&'static str, bool);

const GLOBAL: [Known; 7] = [
    ("-C", true),
    ("--dir", true),
    ("--json", false),
    ("--dry-run", false),
    ("--if-match", true),
    ("--actor", true),
    ("--wait", true),
];

/// Words and options, apart.
pub(super) struct Plain<'a> {
    pub(super) words: Vec<&'a str>,
    options: Vec<(&'a str, &'a str)>,
}

/// The arguments, if they are plainly those of one of the commands below.
pub(super) fn parse(args: &[OsString]) -> Result<Arguments, Unclear> {
    let plain = split(args)?;
    let command = match plain.words[..] {
        ["status"] => Command::Status(status::Args {}),
        ["step", verb, ..] => Command::Step(step::Args::plain(verb, &plain)?),
        ["var", verb, ..] => Command::Var(var::Args::plain(verb, &plain)?),
        ["hook"] => Command::Hook(hook::Args::plain(&plain)?),
        _ => return Err(Unclear),
    };
    let wait = args::wait(plain.once("--wait")?.unwrap_or(args::WAIT)).map_err(|_| Unclear)?;
    let global = Global {
        dir: plain.text("--dir")?.map(Into::into),
        json: plain.flag("--json")?,
        dry_run: plain.flag("--dry-run")?,
        if_match: plain.text("--if-match")?,
        actor: plain.text("--actor")?,
        wait,
    };
    Ok(Arguments { global, command })
}

fn split(args: &[OsString]) -> Result<Plain<'_>, Unclear> {
    let mut plain = Plain { words: Vec::new(), options: Vec::new() };
    let mut args = args.iter().skip(1).map(|arg| word(arg.to_str()));
    while let Some(arg) = args.next() {
        let arg = arg?;
        if !arg.starts_with('-') {
            plain.words.push(arg);
            continue;
        }
        // The options of a verb come behind it.
        let own: &[Known] = match plain.words[..] {
            ["step", verb, ..] => step::Args::plain_options(verb),
            ["var", "set", ..] => &[("--string", false)],
            ["hook"] => &[("--max-tokens", true)],
            _ => &[],
        };
        let known = GLOBAL.iter().chain(own).find(|(name, _)| *name == arg);
        let (name, has_value) = known.ok_or(Unclear)?;
        let value = if *has_value { args.next().ok_or(Unclear)?? } else { "" };
        if value.starts_with('-') {
            return Err(Unclear);
        }
        plain.options.push((if *name == "-C" { "--dir" } else { name }, value));
    }
    Ok(plain)
}

fn word(arg: Option<&str>) -> Result<&str, Unclear> {
    arg.filter(|arg| !arg.is_empty()).ok_or(Unclear)
}

impl<'a> Plain<'a> {
    /// The value of an option that may be given once.
    fn once(&self, name: &str) -> Result<Option<&'a str>, Unclear> {
        let mut found = self.all(name);
        let first = found.next();
        if found.next().is_some() { Err(Unclear) } else { Ok(first) }
    }

    /// Every value of an option.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.options.iter().filter(move |(known, _)| *known == name).map(|(_, value)| *value)
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Unclear> {
        self.once(name).map(|found| found.is_some())
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Unclear> {
        self.parsed(name)
    }

    pub(super) fn parsed<T: FromStr>(&self, name: &str) -> Result<Option<T>, Unclear> {
        self.once(name)?.map(|value| value.parse().map_err(|_| Unclear)).transpose()
    }

    /// The word behind the verb, if there is at most one.
    pub(super) fn last_word(&self) -> Result<Option<String>, Unclear> {
        match self.words[..] {
            [_, _] => Ok(None),
            [_, _, word] => Ok(Some(word.to_owned())),
            _ => Err(Unclear),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use proptest::prelude::*;

    use super::*;

    const WORDS: [&str; 44] = [
        "status",
        "step",
        "var",
        "hook",
        "done",
        "fail",
        "skip",
        "start",
        "next",
        "show",
        "set",
        "get",
        "1",
        "k3f9",
        "a.b",
        "x=1",
        "=",
        "0.02",
        "12s",
        "-5",
        "-",
        "--",
        "",
        "ü",
        "help",
        "--output",
        "--output",
        "--cost",
        "--time",
        "--error",
        "--note",
        "--tool",
        "--claim",
        "--resolved",
        "--string",
        "--json",
        "--dry-run",
        "-C",
        "--dir",
        "--if-match",
        "--actor",
        "--wait",
        "--max-tokens",
        "--cost=1",
    ];

    fn line() -> impl Strategy<Value = Vec<OsString>> {
        let commands = prop_oneof![
            Just(vec!["status"]),
            Just(vec!["hook"]),
            proptest::sample::select(&["done", "fail", "skip", "start", "next", "show"][..])
                .prop_map(|verb| vec!["step", verb]),
            proptest::sample::select(&["set", "get"][..]).prop_map(|verb| vec!["var", verb]),
            Just(vec![]),
        ];
        let words = || proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..6);
        (proptest::option::weighted(0.2, words()), commands, words()).prop_map(
            |(before, command, behind)| {
                let words = before.into_iter().flatten().chain(command).chain(behind);
                std::iter::once("statedir").chain(words).map(OsString::from).collect()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn what_is_plain_means_the_same_to_the_parser(line in line()) {
            if let Ok(plain) = parse(&line) {
                let full = Arguments::try_parse_from(&line);
                let full = full.map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!(format!("{plain:?}"), format!("{full:?}"));
            }
        }
    }

    #[test]
    fn an_agents_day_is_plain() {
        for line in [
            "statedir status --json",
            "statedir step next --claim --actor a",
            "statedir -C x step start 3",
            "statedir step done 3 --output a=1 --output b=2 --cost 0.02 --time 2s --wait 3s",
            "statedir step fail --error timeout --note twice --tool Read --if-match abc",
            "statedir step show k3f9 --resolved",
            "statedir var set a.b 5 --string --dry-run",
            "statedir var get",
            "statedir hook --max-tokens 500",
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let plain = parse(&words).unwrap_or_else(|_| panic!("{line}"));
            let full = Arguments::try_parse_from(words).unwrap();
            assert_eq!(format!("{plain:?}"), format!("{full:?}"), "{line}");
        }
    }
}
