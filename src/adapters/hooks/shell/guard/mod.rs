//! The guard's rule for shell commands: one whose words reach the state, and that is not known to
//! only read, is asked about; one that plainly writes what only `statedir` writes is denied.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    rc::Rc,
};

use super::{
    ShellPart, Simple, Word, commands, git,
    programs::{self, How, Used, found_by, is_flag, is_interpreter, only_reads, pieces},
    words::{Expansion, Scope, fitting, matches},
    wrappers::{is_assignment, unwrapped},
};
use crate::adapters::hooks::place::{Guarded, LONGEST, Reach, reach_by_words};

/// How deep scripts are looked for within scripts.
const MOST_DEPTH: usize = 4;
/// How many nested subshells are distinguished, and how many variables.
const MOST_SCOPES: usize = 64;

/// A word of a command that reaches the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::adapters::hooks) struct Finding {
    /// The program.
    pub program: String,
    /// The word as it was written.
    pub word: String,
    /// What it reaches.
    pub reach: Reach,
    /// Whether it must not be, as opposed to a question.
    pub denied: bool,
}

/// What a command line does to the state, the worst of it.
pub(in crate::adapters::hooks) fn examine(
    guarded: &Guarded,
    cwd: &Path,
    source: &str,
) -> Option<Finding> {
    let scope = Scope { cwd: Some(cwd.to_owned()), variables: Rc::new(HashMap::new()) };
    let mut shell =
        Shell { guarded, scope, outer: Vec::new(), expansion: Expansion::new(), asked: None };
    let denied = shell.run(source, 0);
    denied.or(shell.asked)
}

/// Whether a command line only looks, so that nobody needs to be asked about it.
pub(in crate::adapters::hooks) fn only_looks(source: &str) -> bool {
    commands(source).iter().all(|step| {
        let ShellPart::Run(simple) = step else { return true };
        let quiet = simple.writes.iter().all(|word| word.text == "/dev/null");
        let (words, _) = unwrapped(&simple.words);
        let (name, args) = program(words);
        quiet && only_reads(name, args)
    })
}

/// The name of a program without its directory, and the arguments.
fn program(words: &[Word]) -> (&str, &[Word]) {
    match words.split_first() {
        Some((first, args)) if !is_assignment(&first.text) => {
            (first.text.rsplit('/').next().unwrap_or_default(), args)
        }
        _ => ("", words),
    }
}

/// A shell that runs nothing.
struct Shell<'a> {
    guarded: &'a Guarded,
    scope: Scope,
    outer: Vec<Scope>,
    expansion: Expansion,
    asked: Option<Finding>,
}

impl Shell<'_> {
    fn run(&mut self, source: &str, depth: usize) -> Option<Finding> {
        let mut before = Simple::default();
        for step in commands(source) {
            match step {
                ShellPart::Open if self.outer.len() < MOST_SCOPES => {
                    self.outer.push(self.scope.clone())
                }
                ShellPart::Open => {}
                ShellPart::Close => self.scope = self.outer.pop().unwrap_or(self.scope.clone()),
                ShellPart::Run(simple) => {
                    let (words, by_xargs) = unwrapped(&simple.words);
                    let expand = |word| self.expansion.expand(word, &self.scope);
                    let mut words: Vec<Word> = words.iter().flat_map(expand).collect();
                    let writes: Vec<Word> = simple
                        .writes
                        .iter()
                        .flat_map(|word| self.expansion.expand(word, &self.scope))
                        .collect();
                    if !simple.piped {
                        before = Simple::default();
                    }
                    if by_xargs && matches!(program(&before.words).0, "echo" | "printf" | "ls") {
                        words.extend(before.words.drain(1..).take(MOST_SCOPES));
                    }
                    let simple = Simple { words, writes, ..simple };
                    if let denied @ Some(_) = self.command(&simple, &before, by_xargs, depth) {
                        return denied;
                    }
                    before = simple;
                }
            }
        }
        None
    }

    fn command(
        &mut self,
        simple: &Simple,
        before: &Simple,
        by_xargs: bool,
        depth: usize,
    ) -> Option<Finding> {
        let (name, args) = program(&simple.words);
        let mut used: Used = simple.writes.iter().map(|word| (word.clone(), How::Writes)).collect();
        let mut scripts = Vec::new();
        match name {
            "" | "export" | "local" | "declare" | "readonly" | "for" => self.assign(&simple.words),
            "cd" | "pushd" | "popd" => self.enter(name, args),
            "eval" => scripts.push(texts(args).join(" ")),
            name if is_shell_program(name) => {
                let operands: Vec<&str> =
                    texts(args).into_iter().filter(|text| !text.starts_with('-')).collect();
                if args.iter().any(|word| is_flag(word, 'c')) {
                    scripts.extend(operands.first().map(|script| (*script).to_owned()));
                } else if operands.is_empty() {
                    scripts.extend(simple.inputs.iter().chain(&before.inputs).cloned());
                    let (before, said) = program(&before.words);
                    if matches!(before, "echo" | "printf") {
                        scripts.push(texts(said).join(" "));
                    }
                } else {
                    used.extend(programs::used(name, args));
                }
            }
            "apply_patch" => {
                let patches = simple.inputs.iter().map(String::as_str).chain(texts(args));
                used.extend(patches.flat_map(patched));
            }
            name => {
                let writes = programs::used(name, args);
                let (finder, places) = program(&before.words);
                if by_xargs && !writes_nothing(name, args) {
                    match finder {
                        "find" => used.extend(found_by(places)),
                        "grep" if places.iter().any(|word| is_flag(word, 'r')) => {
                            let includes =
                                places.iter().filter(|word| word.text.starts_with("--include="));
                            let operands =
                                places.iter().filter(|word| !word.text.starts_with('-')).skip(1);
                            let words: Vec<Word> = operands.chain(includes).cloned().collect();
                            used.extend(found_by(&words));
                        }
                        _ => {}
                    }
                }
                used.extend(writes);
                if is_interpreter(name) {
                    let code = simple.inputs.iter().flat_map(|text| pieces(text));
                    used.extend(code.map(|word| (word, How::May)));
                }
            }
        }
        if let denied @ Some(_) = self.examine(name, args, &used) {
            return denied;
        }
        let scripts = scripts.iter().filter(|_| depth < MOST_DEPTH);
        scripts.into_iter().find_map(|script| self.run(script, depth + 1))
    }

    /// Denies, or keeps the first question.
    fn examine(&mut self, name: &str, args: &[Word], used: &Used) -> Option<Finding> {
        if used.is_empty() {
            return None;
        }
        let place = match git::directory(args).filter(|_| name == "git") {
            Some(dir) => {
                self.scope.cwd.as_ref().filter(|_| !dir.dynamic).map(|cwd| cwd.join(&dir.text))
            }
            None => self.scope.cwd.clone(),
        };
        let left_out = |how: How| how == How::LeavesOut;
        let spared = used
            .iter()
            .filter(|(_, how)| left_out(*how))
            .any(|(word, _)| self.reach(place.as_deref(), word).is_some_and(Reach::is_whole));
        for (word, how) in used.iter().filter(|(_, how)| !left_out(*how)) {
            let Some(reach) = self.reach(place.as_deref(), word) else { continue };
            if reach.is_whole() && (spared || !self.takes_whole(*how, reach, place.as_deref())) {
                continue;
            }
            if matches!((how, reach), (How::Edits, Reach::File(_))) {
                continue;
            }
            let denied = match how {
                How::Removes => !matches!(reach, Reach::File(_)),
                How::Edits | How::Writes | How::WritesBelow | How::Cleans => reach.is_protected(),
                How::May | How::MayBelow | How::LeavesOut => false,
            };
            let found =
                || Finding { program: name.to_owned(), word: word.text.clone(), reach, denied };
            if denied {
                return Some(found());
            }
            self.asked.get_or_insert_with(found);
        }
        None
    }

    /// Whether the whole state is meant when it, or a directory that contains it, is named.
    fn takes_whole(&self, how: How, reach: Reach, place: Option<&Path>) -> bool {
        match how {
            How::May | How::Writes => reach == Reach::State,
            How::Edits | How::LeavesOut => false,
            How::Cleans => !place.and_then(top).is_some_and(|top| self.guarded.is_kept_by_git(top)),
            How::MayBelow | How::WritesBelow | How::Removes => true,
        }
    }

    fn reach(&self, place: Option<&Path>, word: &Word) -> Option<Reach> {
        let text = word.text.as_str();
        let absolute = text.starts_with(['/', '~']);
        let place = place.or(absolute.then_some(Path::new("/")));
        let Some(place) = place.filter(|_| !word.dynamic) else { return reach_by_words(text) };
        if let Some(below) = text.strip_prefix(git::TOP) {
            return self
                .guarded
                .reach(top(place).unwrap_or(place), if below.is_empty() { "." } else { below });
        }
        if !word.glob {
            return self.guarded.reach(place, text);
        }
        let fits = fitting(self.guarded, place, text);
        let fits = fits.iter().filter_map(|path| self.guarded.reach(place, path.to_str()?));
        fits.min().or_else(|| self.reach_of_another(place, text))
    }

    /// What a pattern reaches of another state than this one: by its last part, or by its words.
    fn reach_of_another(&self, place: &Path, text: &str) -> Option<Reach> {
        let (dir, pattern) = text.rsplit_once('/').unwrap_or((".", text));
        let names = ["history.md", ".statedir"].into_iter().filter(|name| {
            matches(pattern, name) && (!name.starts_with('.') || pattern.starts_with('.'))
        });
        let mut paths = names.map(|name| format!("{dir}/{name}"));
        let there = paths.find_map(|path| {
            let there = place.join(&path).symlink_metadata().is_ok();
            self.guarded.reach(place, &path).filter(|_| there)
        });
        there.or_else(|| reach_by_words(text))
    }

    fn assign(&mut self, words: &[Word]) {
        let texts = texts(words);
        let mut set = |name: &str, values: Vec<Word>| {
            let variables = Rc::make_mut(&mut self.scope.variables);
            if variables.len() < MOST_SCOPES || variables.contains_key(name) {
                variables.insert(name.to_owned(), values);
            }
        };
        if let ["for", name, "in", ..] = texts.as_slice() {
            return set(name, words.iter().skip(3).take(MOST_SCOPES).cloned().collect());
        }
        for (word, text) in words.iter().zip(texts) {
            if let Some((name, value)) = text.split_once('=') {
                set(name, vec![word.with(value)]);
            }
        }
    }

    fn enter(&mut self, name: &str, args: &[Word]) {
        let dir = args.iter().find(|word| !word.text.starts_with('-') || word.text == "-");
        let home = || std::env::var_os("HOME").map(PathBuf::from);
        self.scope.cwd = match dir {
            None if name == "cd" => home(),
            Some(dir) if !dir.dynamic && dir.text != "-" && !dir.glob => {
                let path = crate::adapters::hooks::place::expand_home(&dir.text);
                let known =
                    self.scope.cwd.clone().or_else(|| path.is_absolute().then(PathBuf::new));
                known.map(|cwd| cwd.join(path))
            }
            _ => None,
        };
        self.scope.cwd.take_if(|cwd| cwd.as_os_str().len() > LONGEST);
    }
}

fn texts(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

fn writes_nothing(name: &str, args: &[Word]) -> bool {
    only_reads(name, args) || matches!(name, "cp" | "tar")
}

/// The root of the work tree that a directory is in.
fn top(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|dir| dir.join(".git").exists())
}

/// Whether a program reads commands.
pub(in crate::adapters::hooks) fn is_shell_program(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish")
}

/// The files that a patch in the form of `apply_patch` changes.
pub(in crate::adapters::hooks) fn patched(patch: &str) -> Used {
    let path = |line: &str| {
        let rest = line.strip_prefix("*** ")?;
        let (what, path) = rest.split_once(": ")?;
        let how = match what {
            "Update File" | "Add File" => How::Edits,
            "Delete File" | "Move to" => How::Removes,
            _ => return None,
        };
        Some((Word::default().with(path.trim()), how))
    };
    patch.lines().filter_map(path).collect()
}

#[cfg(test)]
mod tests;
