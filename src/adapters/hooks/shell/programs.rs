//! What programs do with the paths they are given. A program that is not known may write them all.

use super::{Word, git, words::matches};
use crate::adapters::hooks::place::{LONGEST, names};
use crate::text::Words;

/// What a command does with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::adapters::hooks) enum How {
    /// Nobody knows; a directory that contains it is not meant.
    May,
    /// It may change everything below it.
    MayBelow,
    /// It edits it, as the client's own tools do.
    Edits,
    /// It writes it.
    Writes,
    /// It writes everything below it.
    WritesBelow,
    /// It takes it away with everything below it.
    Removes,
    /// Git removes what it does not track below it.
    Cleans,
    /// It leaves it alone, with everything below it.
    LeavesOut,
}

/// How many actions of a `find` and how many sources of a copy are looked at.
const MOST_ACTIONS: usize = 8;
const MOST_SOURCES: usize = 500;

/// The words of a command that it may write.
pub(super) type Used = Vec<(Word, How)>;

/// Programs that only look.
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

/// Whether a command only looks.
pub(super) fn only_reads(name: &str, args: &[Word]) -> bool {
    match name {
        "git" => git::only_reads(args),
        "sed" | "find" | "sort" | "awk" => used(name, args).is_empty(),
        name => name.is_empty() || READERS.contains(name),
    }
}

/// The words that a command writes or may write.
pub(super) fn used(name: &str, args: &[Word]) -> Used {
    let recursive = has_flag(args, &['r', 'R'], &["--recursive"]);
    let in_place = args.iter().any(|word| {
        is_flag(word, 'i') || word.text.starts_with("--in-place") || word.text == "--inplace"
    });
    match name {
        "git" => git::used(args),
        "rm" => all(args, if recursive { How::Removes } else { How::Writes }),
        "rmdir" | "unlink" | "shred" | "trash" => all(args, How::Removes),
        "tee" | "truncate" | "sponge" | "patch" | "ed" | "ex" => all(args, How::Writes),
        "sed" | "gsed" | "perl" | "ruby" | "yq" if in_place => all(args, How::Writes),
        "awk" | "gawk" if args.iter().any(|word| word.text == "inplace") => all(args, How::Writes),
        "sed" | "gsed" | "yq" | "awk" | "gawk" | "mawk" => Vec::new(),
        "mv" | "cp" | "install" | "ln" | "scp" | "rsync" => copied(name, args),
        "dd" => {
            let of = args.iter().filter_map(|word| Some((word, word.text.strip_prefix("of=")?)));
            of.map(|(word, path)| (word.with(path), How::Writes)).collect()
        }
        "curl" | "wget" | "sort" => {
            let next = args.iter().skip(1).map(Some).chain([None]);
            let outputs = args.iter().zip(next).filter_map(|(word, next)| output(word, next));
            outputs.map(|word| (word, How::Writes)).collect()
        }
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => {
            all(args, if recursive { How::MayBelow } else { How::May })
        }
        "find" => by_find(args),
        "tar" | "bsdtar" => by_tar(args),
        "zip" | "gzip" | "xz" | "zstd" if !has_flag(args, &['m'], &["--move"]) => {
            args.iter().take(1).flat_map(|word| all(std::slice::from_ref(word), How::May)).collect()
        }
        name if name.starts_with('-') => Vec::new(),
        "" => Vec::new(),
        name if READERS.contains(name) || HARMLESS.contains(name) => Vec::new(),
        name => {
            let code = is_interpreter(name);
            let words = args.iter().flat_map(|word| match code {
                true => pieces(&word.text),
                false => values(word),
            });
            words.map(|word| (word, How::May)).collect()
        }
    }
}

/// What in a text of code may be a path.
pub(super) fn pieces(code: &str) -> Vec<Word> {
    let between = |c: char| c.is_whitespace() || "'\"`()[]{},;=".contains(c);
    let words = code.split(between).filter(|text| text.contains(['/', '.']));
    words.map(|text| Word { text: text.to_owned(), ..Word::default() }).collect()
}

/// Whether a word is one or more short flags, this one among them.
pub(super) fn is_flag(word: &Word, letter: char) -> bool {
    word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letter)
}

/// Whether one of these flags is given.
pub(super) fn has_flag(args: &[Word], letters: &[char], long: &[&str]) -> bool {
    args.iter().any(|word| {
        letters.iter().any(|letter| is_flag(word, *letter)) || long.contains(&word.text.as_str())
    })
}

/// The words that are no options.
pub(super) fn operands(args: &[Word]) -> Vec<&Word> {
    args.iter().filter(|word| !word.text.starts_with('-')).collect()
}

/// All operands, used in one way.
pub(super) fn all(args: &[Word], how: How) -> Used {
    operands(args).into_iter().map(|word| (word.clone(), how)).collect()
}

/// The word itself, or the value that is part of an option or an assignment.
fn values(word: &Word) -> Vec<Word> {
    let text = word.text.as_str();
    let attached = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let attached = attached.and_then(|rest| rest.get(1..));
    let value = text.split_once('=').map(|(_, value)| value);
    let whole = (!text.starts_with('-')).then_some(text);
    [whole, attached, value].into_iter().flatten().map(|text| word.with(text)).collect()
}

/// The file of `-o FILE`, `-oFILE`, `-sLo FILE`, `--output FILE` or `--output=FILE`.
fn output(word: &Word, next: Option<&Word>) -> Option<Word> {
    const LONG: [&str; 2] = ["--output", "--output-document"];
    let text = word.text.as_str();
    if text.starts_with("--") {
        return match text.split_once('=') {
            Some((name, path)) if LONG.contains(&name) => Some(word.with(path)),
            _ => next.filter(|_| LONG.contains(&text)).cloned(),
        };
    }
    let (_, path) = text.strip_prefix('-')?.split_once(['o', 'O'])?;
    if path.is_empty() { next.cloned() } else { Some(word.with(path)) }
}

/// Where a copy goes: the last operand, or a file of the same name in it.
pub(super) fn copied(name: &str, args: &[Word]) -> Used {
    let operands = operands(args);
    let takes = name == "mv" || has_flag(args, &[], &["--remove-source-files"]);
    let deletes = args.iter().any(|word| word.text.starts_with("--del"));
    let recursive = takes || has_flag(args, &['r', 'R', 'a'], &["--recursive", "--archive"]);
    let named =
        args.iter().position(|word| matches!(word.text.as_str(), "-t" | "--target-directory"));
    let target = match named {
        Some(at) => args.get(at + 1),
        None => operands.last().copied().filter(|_| operands.len() > 1),
    };
    let Some(target) = target.filter(|word| word.text.len() <= LONGEST) else {
        return Vec::new();
    };
    let below = if deletes { How::WritesBelow } else { How::Writes };
    let mut found = vec![(target.clone(), below)];
    for source in operands.iter().filter(|word| **word != target).take(MOST_SOURCES) {
        let file = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        // `cp -r DIR/* .` says nothing about what is in DIR.
        let whole = recursive && !source.glob && !matches!(file, "" | "." | "..");
        let into = Word {
            text: format!("{}/{file}", target.text),
            dynamic: target.dynamic || source.dynamic,
            ..(*source).clone()
        };
        found.push((into, if whole { How::WritesBelow } else { How::Writes }));
        if takes {
            found.push(((*source).clone(), How::Removes));
        }
    }
    let left_out =
        args.iter().filter_map(|word| Some((word, word.text.strip_prefix("--exclude=")?)));
    found.extend(left_out.map(|(word, path)| {
        let path = format!("{}/{}", target.text, path.trim_matches('/'));
        (word.with(&path), How::LeavesOut)
    }));
    found
}

/// What `find` changes: everything below where it begins, unless only other names are looked for.
fn by_find(args: &[Word]) -> Used {
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
            let written = used(text(at + 1), inner);
            written.iter().any(|(word, _)| word.text.contains("{}") && !word.text.ends_with("/{}"))
        }
        _ => true,
    });
    if changes { found_by(args) } else { Vec::new() }
}

/// The directories in which `find` or `grep -r` finds files, if they can be the state's.
pub(super) fn found_by(args: &[Word]) -> Used {
    let text = |at: usize| args.get(at).map_or("", |word| word.text.as_str());
    let negated = |at: usize| at > 0 && matches!(text(at - 1), "!" | "-not");
    let is_name = |at: usize| matches!(text(at), "-name" | "-iname") && !negated(at);
    let include = |at: usize| text(at).strip_prefix("--include=");
    let patterns: Vec<&str> = (0..args.len())
        .filter_map(|at| if is_name(at) { Some(text(at + 1)) } else { include(at) })
        .collect();
    let fits = |pattern: &&str| {
        let pattern = pattern.to_lowercase();
        let inside = ["workspace", "state", "log", "head", "lock", "objects"];
        names().chain(inside).any(|name| matches(&pattern, name))
    };
    let elsewhere = !patterns.is_empty() && !patterns.iter().any(fits);
    if elsewhere || args.iter().any(|word| word.text == "-empty") {
        return Vec::new();
    }
    let is_place = |word: &&Word| !word.text.starts_with(['-', '!', '(']);
    let mut found: Used =
        args.iter().take_while(is_place).map(|word| (word.clone(), How::WritesBelow)).collect();
    if found.is_empty() {
        found.push((Word::default().with("."), How::WritesBelow));
    }
    let pruned = args.iter().any(|word| word.text == "-prune");
    let is_path =
        |at: &usize| matches!(text(*at), "-path" | "-wholename") && (pruned || negated(*at));
    found.extend((0..args.len()).filter(is_path).filter_map(|at| {
        let word = args.get(at + 1)?;
        Some((word.with(word.text.trim_end_matches(['*', '/'])), How::LeavesOut))
    }));
    found
}

/// What `tar` unpacks, and where; packing only reads.
fn by_tar(args: &[Word]) -> Used {
    let first = args.first().map_or("", |word| word.text.as_str());
    let old_style = !first.starts_with('-') && first.contains('x');
    let unpacks = old_style || has_flag(args, &['x'], &["--extract", "--get"]);
    if !unpacks && !has_flag(args, &[], &["--remove-files"]) {
        return Vec::new();
    }
    let is_place = |at: usize| {
        at.checked_sub(1).and_then(|at| args.get(at)).is_some_and(|word| {
            matches!(word.text.as_str(), "-C" | "--directory") || is_flag(word, 'f')
        })
    };
    let operands = args.iter().enumerate().skip(usize::from(old_style));
    let operands = operands.filter(|(_, word)| !word.text.starts_with('-'));
    let how = |at: usize| if is_place(at) { How::May } else { How::MayBelow };
    operands.map(|(at, word)| (word.clone(), how(at))).collect()
}
