//! What programs do with the paths they are given. A program that is not known may write them all.

use super::{
    super::guarded_state::{LONGEST_PATH, state_names},
    base_name,
    expansion::glob_matches,
    git, outputs,
    parser::ShellWord,
};
use crate::text::Words;

/// What a command does with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::adapters::hooks) enum PathUse {
    /// It is not known; a directory that contains it is not meant.
    MayWrite,
    /// It may change everything below it.
    MayWriteBelow,
    /// It edits it, as the client's own tools do.
    Edits,
    /// It writes it.
    Writes,
    /// It writes everything below it.
    WritesBelow,
    /// It removes it with everything below it.
    Removes,
    /// Git removes what it does not track below it.
    Cleans,
    /// It spares it, with everything below it.
    Excludes,
}

/// How many actions of a `find` and how many sources of a copy are examined.
const MOST_ACTIONS: usize = 8;
const MOST_SOURCES: usize = 500;

/// The paths that a command writes or may write.
pub(super) type PathUses = Vec<(ShellWord, PathUse)>;

/// Programs that only read.
const READERS: Words = Words(
    ": [ [[ basename bat batcat cat cd cksum cmp column comm cut date df diff dirname du echo \
    egrep env false fgrep file fold grep head hexdump id jq less ll ls md5sum more nl od paste \
    popd printenv printf ps pushd pwd readlink realpath rg sha1sum sha256sum shasum sleep stat \
    statedir strings tac tail test tr tree true type uniq wc which whoami xxd zcat",
);

/// Programs that change something, but nothing that their words name.
const HARMLESS: Words = Words(
    "alias break case continue declare done esac exit export fi for function kill local mkdir read \
    readonly return select set shift trap unset wait",
);

/// Programs that are given code in a word or a here-document.
const INTERPRETERS: Words = Words("bun deno node perl php python ruby lua");

/// Whether a program runs code of another language.
pub(super) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.contains(name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// Whether a command only reads.
pub(super) fn only_reads(name: &str, args: &[ShellWord]) -> bool {
    match name {
        "git" => git::only_reads(args),
        "sed" | "find" | "sort" | "awk" | "less" | "tree" | "uniq" | "xxd" => {
            path_uses(name, args).is_empty()
        }
        name => name.is_empty() || READERS.contains(name),
    }
}

/// The paths that a command writes or may write.
pub(super) fn path_uses(name: &str, args: &[ShellWord]) -> PathUses {
    let recursive = has_flag(args, &['r', 'R'], &["--recursive"]);
    let in_place = args.iter().any(|word| {
        is_flag(word, 'i') || word.text.starts_with("--in-place") || word.text == "--inplace"
    });
    let writes = || operand_uses(args, PathUse::Writes);
    match name {
        "git" => git::path_uses(args),
        "rm" => operand_uses(args, if recursive { PathUse::Removes } else { PathUse::Writes }),
        "rmdir" | "unlink" | "shred" | "trash" => operand_uses(args, PathUse::Removes),
        "tee" | "truncate" | "sponge" | "patch" | "ed" | "ex" => writes(),
        "sed" | "gsed" | "perl" | "ruby" | "yq" if in_place => writes(),
        "awk" | "gawk" if args.iter().any(|word| word.text == "inplace") => writes(),
        "sed" | "gsed" => outputs::sed_uses(args),
        "awk" | "gawk" | "mawk" => outputs::awk_uses(args),
        "yq" => Vec::new(),
        "mv" | "cp" | "install" | "ln" | "scp" | "rsync" => copy_uses(name, args),
        "dd" => {
            let of = args.iter().filter_map(|word| Some((word, word.text.strip_prefix("of=")?)));
            of.map(|(word, path)| (word.with(path), PathUse::Writes)).collect()
        }
        "curl" | "wget" | "sort" | "less" | "tree" => outputs::output_options(args),
        "uniq" => outputs::second_operand(args, &["-f", "-s", "-w"]),
        "xxd" => outputs::second_operand(args, &["-c", "-g", "-l", "-n", "-o", "-R", "-s"]),
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => {
            operand_uses(args, if recursive { PathUse::MayWriteBelow } else { PathUse::MayWrite })
        }
        "find" => find_uses(args),
        "tar" | "bsdtar" => tar_uses(args),
        "zip" | "gzip" | "xz" | "zstd" if !has_flag(args, &['m'], &["--move"]) => {
            operand_uses(args.get(..1).unwrap_or_default(), PathUse::MayWrite)
        }
        name if name.is_empty() || name.starts_with('-') => Vec::new(),
        name if READERS.contains(name) || HARMLESS.contains(name) => Vec::new(),
        name => {
            let words = args.iter().flat_map(|word| match is_interpreter(name) {
                true => possible_paths(&word.text),
                false => possible_values(word),
            });
            words.map(|word| (word, PathUse::MayWrite)).collect()
        }
    }
}

/// What may be a path in a text of code.
pub(super) fn possible_paths(code: &str) -> Vec<ShellWord> {
    let between = |c: char| c.is_whitespace() || "'\"`()[]{},;=".contains(c);
    let words = code.split(between).filter(|text| text.contains(['/', '.']));
    words.map(ShellWord::new).collect()
}

/// Whether a word is one or more short flags, this one among them.
pub(super) fn is_flag(word: &ShellWord, letter: char) -> bool {
    word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letter)
}

/// Whether one of these flags is given.
pub(super) fn has_flag(args: &[ShellWord], letters: &[char], long: &[&str]) -> bool {
    args.iter().any(|word| {
        letters.iter().any(|letter| is_flag(word, *letter)) || long.contains(&word.text.as_str())
    })
}

/// Every word, and the one before it, which may be an option that takes it as a value.
pub(super) fn with_option_before(
    args: &[ShellWord],
) -> impl Iterator<Item = (Option<&ShellWord>, &ShellWord)> {
    [None].into_iter().chain(args.iter().map(Some)).zip(args)
}

/// The words that are not options.
pub(super) fn operands(args: &[ShellWord]) -> Vec<&ShellWord> {
    args.iter().filter(|word| !word.text.starts_with('-')).collect()
}

/// All operands, used in one way.
pub(super) fn operand_uses(args: &[ShellWord], how: PathUse) -> PathUses {
    operands(args).into_iter().map(|word| (word.clone(), how)).collect()
}

/// The word itself, or the value that is part of an option or an assignment.
fn possible_values(word: &ShellWord) -> Vec<ShellWord> {
    let text = word.text.as_str();
    let attached = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let attached = attached.and_then(|rest| rest.get(1..));
    let value = text.split_once('=').map(|(_, value)| value);
    let whole = (!text.starts_with('-')).then_some(text);
    [whole, attached, value].into_iter().flatten().map(|text| word.with(text)).collect()
}

/// Where a copy goes: the last operand, or a file of the same name in it.
pub(super) fn copy_uses(name: &str, args: &[ShellWord]) -> PathUses {
    let operands = operands(args);
    let moves = name == "mv" || has_flag(args, &[], &["--remove-source-files"]);
    let deletes = args.iter().any(|word| word.text.starts_with("--del"));
    let recursive = moves || has_flag(args, &['r', 'R', 'a'], &["--recursive", "--archive"]);
    let named =
        args.iter().position(|word| matches!(word.text.as_str(), "-t" | "--target-directory"));
    let target = match named {
        Some(at) => args.get(at + 1),
        None => operands.last().copied().filter(|_| operands.len() > 1),
    };
    let Some(target) = target.filter(|word| word.text.len() <= LONGEST_PATH) else {
        return Vec::new();
    };
    let below = if deletes { PathUse::WritesBelow } else { PathUse::Writes };
    let mut found = vec![(target.clone(), below)];
    for source in operands.iter().filter(|word| **word != target).take(MOST_SOURCES) {
        let file = base_name(source.text.trim_end_matches('/'));
        // `cp -r DIR/* .` says nothing about what is in DIR.
        let whole = recursive && !source.glob && !matches!(file, "" | "." | "..");
        let into = ShellWord {
            text: format!("{}/{file}", target.text),
            dynamic: target.dynamic || source.dynamic,
            ..(*source).clone()
        };
        found.push((into, if whole { PathUse::WritesBelow } else { PathUse::Writes }));
        if moves {
            found.push(((*source).clone(), PathUse::Removes));
        }
    }
    let excluded =
        args.iter().filter_map(|word| Some((word, word.text.strip_prefix("--exclude=")?)));
    found.extend(excluded.map(|(word, path)| {
        let path = format!("{}/{}", target.text, path.trim_matches('/'));
        (word.with(&path), PathUse::Excludes)
    }));
    found
}

/// What `find` changes: everything below where it starts, unless it searches for other names only.
fn find_uses(args: &[ShellWord]) -> PathUses {
    let text = |at: usize| args.get(at).map_or("", |word| word.text.as_str());
    let is_exec = |text: &str| matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir");
    let actions = (0..args.len()).filter(|at| {
        is_exec(text(*at)) || matches!(text(*at), "-delete" | "-fprint" | "-fprintf" | "-fls")
    });
    let changes = actions.take(MOST_ACTIONS).any(|at| match text(at) {
        word if is_exec(word) && text(at + 1) != "find" => {
            let inner = args.get(at + 2..).unwrap_or_default();
            let end = inner.iter().position(|word| matches!(word.text.as_str(), ";" | "+"));
            let inner = inner.get(..end.unwrap_or(inner.len())).unwrap_or_default();
            // What is found may be copied into a directory: then it is only read.
            let written = path_uses(text(at + 1), inner);
            written.iter().any(|(word, _)| word.text.contains("{}") && !word.text.ends_with("/{}"))
        }
        _ => true,
    });
    if changes { search_uses(args) } else { Vec::new() }
}

/// The directories that `find` or `grep -r` searches, if the files can be the state's.
pub(super) fn search_uses(args: &[ShellWord]) -> PathUses {
    let text = |at: usize| args.get(at).map_or("", |word| word.text.as_str());
    let negated = |at: usize| at > 0 && matches!(text(at - 1), "!" | "-not");
    let is_name = |at: usize| matches!(text(at), "-name" | "-iname") && !negated(at);
    let include = |at: usize| text(at).strip_prefix("--include=");
    let patterns: Vec<&str> = (0..args.len())
        .filter_map(|at| if is_name(at) { Some(text(at + 1)) } else { include(at) })
        .collect();
    let matches_state = |pattern: &&str| {
        let pattern = pattern.to_lowercase();
        let inside = ["workspace", "state", "log", "head", "lock", "objects"];
        state_names().chain(inside).any(|name| glob_matches(&pattern, name))
    };
    let elsewhere = !patterns.is_empty() && !patterns.iter().any(matches_state);
    if elsewhere || args.iter().any(|word| word.text == "-empty") {
        return Vec::new();
    }
    let is_place = |word: &&ShellWord| !word.text.starts_with(['-', '!', '(']);
    let mut found: PathUses =
        args.iter().take_while(is_place).map(|word| (word.clone(), PathUse::WritesBelow)).collect();
    if found.is_empty() {
        found.push((ShellWord::new("."), PathUse::WritesBelow));
    }
    let pruned = args.iter().any(|word| word.text == "-prune");
    let is_path =
        |at: &usize| matches!(text(*at), "-path" | "-wholename") && (pruned || negated(*at));
    found.extend((0..args.len()).filter(is_path).filter_map(|at| {
        let word = args.get(at + 1)?;
        Some((word.with(word.text.trim_end_matches(['*', '/'])), PathUse::Excludes))
    }));
    found
}

/// What `tar` unpacks, and where; packing only reads.
fn tar_uses(args: &[ShellWord]) -> PathUses {
    let first = args.first().map_or("", |word| word.text.as_str());
    let old_style = !first.starts_with('-') && first.contains('x');
    let unpacks = old_style || has_flag(args, &['x'], &["--extract", "--get"]);
    if !unpacks && !has_flag(args, &[], &["--remove-files"]) {
        return Vec::new();
    }
    let names_place = |option: &&ShellWord| {
        matches!(option.text.as_str(), "-C" | "--directory") || is_flag(option, 'f')
    };
    let words = with_option_before(args).skip(usize::from(old_style));
    let operands = words.filter(|(_, word)| !word.text.starts_with('-'));
    let how = |option: Option<&ShellWord>| match option.filter(names_place) {
        Some(_) => PathUse::MayWrite,
        None => PathUse::MayWriteBelow,
    };
    operands.map(|(option, word)| (word.clone(), how(option))).collect()
}
