//! The guard's rule for shell commands: one that names files of the state, and is not known to only
//! read, is asked about; one that plainly writes what only `statedir` writes is denied.

mod expansion;
mod git;
mod outputs;
mod parser;
mod programs;
mod wrappers;

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    rc::Rc,
};

pub(super) use self::programs::PathUse;
use self::{
    expansion::{Expansion, ShellScope, expand_glob, expands_to},
    parser::{ShellPart, ShellWord, SimpleCommand, parse},
    programs::{
        PathUses, is_flag, is_interpreter, only_reads, path_uses, possible_paths, search_uses,
    },
    wrappers::{is_assignment, strip_wrappers},
};
use super::guarded_state::{GuardedState, LONGEST_PATH, Reach, expand_home, reach_as_written};

/// How deep scripts within scripts are examined.
const MOST_DEPTH: usize = 4;
/// How many nested subshells and how many variables are tracked.
const MOST_SCOPES: usize = 64;

/// A word of a command that reaches the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::adapters::hooks) struct GuardFinding {
    /// The program.
    pub program: String,
    /// The word as it was written.
    pub word: String,
    /// What it reaches.
    pub reach: Reach,
    /// Whether the command is denied; else a person is asked.
    pub denied: bool,
}

/// The worst that a command line does to the state.
pub(in crate::adapters::hooks) fn examine(
    guarded: &GuardedState,
    cwd: &Path,
    source: &str,
) -> Option<GuardFinding> {
    let scope = ShellScope { cwd: Some(cwd.to_owned()), variables: Rc::new(HashMap::new()) };
    let (outer, expansion) = (Vec::new(), Expansion::new());
    let mut guard = ShellGuard { guarded, scope, outer, expansion, question: None };
    let denied = guard.examine_script(source, 0);
    denied.or(guard.question)
}

/// Whether a command line only reads, so that nobody needs to be asked about it.
pub(in crate::adapters::hooks) fn is_read_only(source: &str) -> bool {
    parse(source).iter().all(|part| {
        let ShellPart::Run(command) = part else { return true };
        let (words, _) = strip_wrappers(&command.words);
        let (name, args) = program(words);
        command.writes.iter().all(|word| word.text == "/dev/null") && only_reads(name, args)
    })
}

/// The name of a program without its directory, and the arguments.
fn program(words: &[ShellWord]) -> (&str, &[ShellWord]) {
    match words.split_first() {
        Some((first, args)) if !is_assignment(&first.text) => (base_name(&first.text), args),
        _ => ("", words),
    }
}

/// The last part of a path.
pub(in crate::adapters::hooks) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Follows a script as a shell would, without running anything.
struct ShellGuard<'a> {
    guarded: &'a GuardedState,
    scope: ShellScope,
    outer: Vec<ShellScope>,
    expansion: Expansion,
    /// The first word that a person is asked about.
    question: Option<GuardFinding>,
}

impl ShellGuard<'_> {
    fn examine_script(&mut self, source: &str, depth: usize) -> Option<GuardFinding> {
        let mut before = SimpleCommand::default();
        for part in parse(source) {
            match part {
                ShellPart::Open if self.outer.len() < MOST_SCOPES => {
                    self.outer.push(self.scope.clone())
                }
                ShellPart::Open => {}
                ShellPart::Close => self.scope = self.outer.pop().unwrap_or(self.scope.clone()),
                ShellPart::Run(command) => {
                    let (words, by_xargs) = strip_wrappers(&command.words);
                    let mut words = self.expansion.expand_all(words, &self.scope);
                    let writes = self.expansion.expand_all(&command.writes, &self.scope);
                    if !command.piped {
                        before = SimpleCommand::default();
                    }
                    if by_xargs && matches!(program(&before.words).0, "echo" | "printf" | "ls") {
                        words.extend(before.words.drain(1..).take(MOST_SCOPES));
                    }
                    let command = SimpleCommand { words, writes, ..command };
                    let denied = self.examine_command(&command, &before, by_xargs, depth);
                    if denied.is_some() {
                        return denied;
                    }
                    before = command;
                }
            }
        }
        None
    }

    fn examine_command(
        &mut self,
        command: &SimpleCommand,
        before: &SimpleCommand,
        by_xargs: bool,
        depth: usize,
    ) -> Option<GuardFinding> {
        let (name, args) = program(&command.words);
        let mut used: PathUses =
            command.writes.iter().map(|word| (word.clone(), PathUse::Writes)).collect();
        let mut scripts = Vec::new();
        match name {
            "" | "export" | "local" | "declare" | "readonly" | "for" => self.assign(&command.words),
            "cd" | "pushd" | "popd" => self.change_directory(name, args),
            "eval" => scripts.push(texts(args).join(" ")),
            name if is_shell_program(name) => {
                let operands: Vec<&str> =
                    texts(args).into_iter().filter(|text| !text.starts_with('-')).collect();
                if args.iter().any(|word| is_flag(word, 'c')) {
                    scripts.extend(operands.first().map(|script| (*script).to_owned()));
                } else if operands.is_empty() {
                    scripts.extend(command.inputs.iter().chain(&before.inputs).cloned());
                    let (before, said) = program(&before.words);
                    if matches!(before, "echo" | "printf") {
                        scripts.push(texts(said).join(" "));
                    }
                } else {
                    used.extend(path_uses(name, args));
                }
            }
            "apply_patch" => {
                let patches = command.inputs.iter().map(String::as_str).chain(texts(args));
                used.extend(patches.flat_map(patch_uses));
            }
            name => {
                let writes = path_uses(name, args);
                let (finder, places) = program(&before.words);
                if by_xargs && !writes_nothing(name, args) {
                    match finder {
                        "find" => used.extend(search_uses(places)),
                        "grep" if places.iter().any(|word| is_flag(word, 'r')) => {
                            let includes =
                                places.iter().filter(|word| word.text.starts_with("--include="));
                            let operands =
                                places.iter().filter(|word| !word.text.starts_with('-')).skip(1);
                            let words: Vec<ShellWord> = operands.chain(includes).cloned().collect();
                            used.extend(search_uses(&words));
                        }
                        _ => {}
                    }
                }
                used.extend(writes);
                if is_interpreter(name) {
                    let code = command.inputs.iter().flat_map(|text| possible_paths(text));
                    used.extend(code.map(|word| (word, PathUse::MayWrite)));
                }
            }
        }
        if let denied @ Some(_) = self.examine_paths(name, args, &used) {
            return denied;
        }
        let scripts = scripts.iter().filter(|_| depth < MOST_DEPTH);
        scripts.into_iter().find_map(|script| self.examine_script(script, depth + 1))
    }

    /// Returns what is denied; keeps the first question.
    fn examine_paths(
        &mut self,
        name: &str,
        args: &[ShellWord],
        used: &PathUses,
    ) -> Option<GuardFinding> {
        if used.is_empty() {
            return None;
        }
        let place = match git::directory(args).filter(|_| name == "git") {
            Some(dir) => {
                self.scope.cwd.as_ref().filter(|_| !dir.dynamic).map(|cwd| cwd.join(&dir.text))
            }
            None => self.scope.cwd.clone(),
        };
        let is_excluded = |(word, how): &(ShellWord, PathUse)| {
            *how == PathUse::Excludes
                && self.reach(place.as_deref(), word).is_some_and(Reach::is_whole)
        };
        let is_state_excluded = used.iter().any(is_excluded);
        for (word, how) in used.iter().filter(|(_, how)| *how != PathUse::Excludes) {
            let Some(reach) = self.reach(place.as_deref(), word) else { continue };
            let is_meant = match reach {
                Reach::File(_) => *how != PathUse::Edits,
                reach if reach.is_whole() => {
                    !is_state_excluded && self.affects_whole(*how, reach, place.as_deref())
                }
                _ => true,
            };
            if !is_meant {
                continue;
            }
            let denied = match how {
                PathUse::Removes => !matches!(reach, Reach::File(_)),
                PathUse::Edits | PathUse::Writes | PathUse::WritesBelow | PathUse::Cleans => {
                    reach.is_protected()
                }
                PathUse::MayWrite | PathUse::MayWriteBelow | PathUse::Excludes => false,
            };
            let (program, word) = (name.to_owned(), word.text.clone());
            let found = GuardFinding { program, word, reach, denied };
            if denied {
                return Some(found);
            }
            self.question.get_or_insert(found);
        }
        None
    }

    /// Whether the whole state is meant when it, or a directory that contains it, is named.
    fn affects_whole(&self, how: PathUse, reach: Reach, place: Option<&Path>) -> bool {
        match how {
            PathUse::MayWrite | PathUse::Writes => reach == Reach::State,
            PathUse::Edits | PathUse::Excludes => false,
            PathUse::Cleans => {
                !place.and_then(work_tree).is_some_and(|root| self.guarded.is_kept_by_git(root))
            }
            PathUse::MayWriteBelow | PathUse::WritesBelow | PathUse::Removes => true,
        }
    }

    fn reach(&self, place: Option<&Path>, word: &ShellWord) -> Option<Reach> {
        let text = word.text.as_str();
        let absolute = text.starts_with(['/', '~']);
        let place = place.or(absolute.then_some(Path::new("/")));
        let Some(place) = place.filter(|_| !word.dynamic) else { return reach_as_written(text) };
        if let Some(below) = text.strip_prefix(git::WORK_TREE_ROOT) {
            let root = work_tree(place).unwrap_or(place);
            return self.guarded.reach(root, if below.is_empty() { "." } else { below });
        }
        if !word.glob {
            return self.guarded.reach(place, text);
        }
        let paths = expand_glob(self.guarded, place, text);
        let reached = paths.iter().filter_map(|path| self.guarded.reach(place, path.to_str()?));
        reached.min().or_else(|| self.reach_of_another(place, text))
    }

    /// What a pattern reaches of another state than this one: by its last part, or as written.
    fn reach_of_another(&self, place: &Path, text: &str) -> Option<Reach> {
        let (dir, pattern) = text.rsplit_once('/').unwrap_or((".", text));
        let names =
            ["history.md", ".statedir"].into_iter().filter(|name| expands_to(pattern, name));
        let mut paths = names.map(|name| format!("{dir}/{name}"));
        let there = paths.find_map(|path| {
            let there = place.join(&path).symlink_metadata().is_ok();
            self.guarded.reach(place, &path).filter(|_| there)
        });
        there.or_else(|| reach_as_written(text))
    }

    fn assign(&mut self, words: &[ShellWord]) {
        let texts = texts(words);
        let mut set = |name: &str, values: Vec<ShellWord>| {
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

    fn change_directory(&mut self, name: &str, args: &[ShellWord]) {
        let dir = args.iter().find(|word| !word.text.starts_with('-') || word.text == "-");
        let home = || std::env::var_os("HOME").map(PathBuf::from);
        self.scope.cwd = match dir {
            None if name == "cd" => home(),
            Some(dir) if !dir.dynamic && dir.text != "-" && !dir.glob => {
                let path = expand_home(&dir.text);
                let known =
                    self.scope.cwd.clone().or_else(|| path.is_absolute().then(PathBuf::new));
                known.map(|cwd| cwd.join(path))
            }
            _ => None,
        };
        self.scope.cwd.take_if(|cwd| cwd.as_os_str().len() > LONGEST_PATH);
    }
}

fn texts(words: &[ShellWord]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

fn writes_nothing(name: &str, args: &[ShellWord]) -> bool {
    only_reads(name, args) || matches!(name, "cp" | "tar")
}

/// The root of the work tree that a directory is in.
fn work_tree(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|dir| dir.join(".git").exists())
}

/// Whether a program is a shell.
pub(in crate::adapters::hooks) fn is_shell_program(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish")
}

/// The files that a patch in the form of `apply_patch` changes.
pub(in crate::adapters::hooks) fn patch_uses(patch: &str) -> PathUses {
    let path = |line: &str| {
        let rest = line.strip_prefix("*** ")?;
        let (what, path) = rest.split_once(": ")?;
        let how = match what {
            "Update File" | "Add File" => PathUse::Edits,
            "Delete File" | "Move to" => PathUse::Removes,
            _ => return None,
        };
        Some((ShellWord::new(path.trim()), how))
    };
    patch.lines().filter_map(path).collect()
}
