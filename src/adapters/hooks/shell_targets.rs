//! What a command is known to write or to take away, by its name and arguments.

use super::shell::Word;

/// Whether a word is one or more short flags, this one among them.
pub(super) fn is_flag(word: &Word, letter: char) -> bool {
    word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letter)
}

/// The words that a command writes to, and whether it takes a whole tree away.
pub(super) fn targets(name: &str, args: &[Word]) -> Vec<(Word, bool)> {
    let operands: Vec<&Word> = args.iter().filter(|word| !word.text.starts_with('-')).collect();
    let all = |removes: bool| operands.iter().map(|word| ((*word).clone(), removes)).collect();
    let in_place = |letter: char| {
        args.iter().any(|word| is_flag(word, letter) || word.text.starts_with("--in-place"))
    };
    match name {
        "rm" => all(is_recursive(args)),
        "rmdir" | "unlink" | "shred" => all(true),
        "git" => by_git(args),
        "tee" | "truncate" | "sponge" | "patch" | "ed" | "ex" => all(false),
        "sed" | "perl" | "ruby" if in_place('i') => all(false),
        "awk" | "gawk" if args.iter().any(|word| word.text == "inplace") => all(false),
        "mv" | "cp" | "install" | "ln" | "rsync" => copied(name == "mv", args, &operands),
        "dd" => {
            let of = args.iter().filter_map(|word| Some((word, word.text.strip_prefix("of=")?)));
            of.map(|(word, path)| (Word { text: path.to_owned(), ..word.clone() }, false)).collect()
        }
        "curl" | "wget" | "sort" => {
            let next = args.iter().skip(1).map(Some).chain([None]);
            let outputs = args.iter().zip(next).filter_map(|(word, next)| output(word, next));
            outputs.map(|word| (word, false)).collect()
        }
        "find" if args.iter().any(|word| matches!(word.text.as_str(), "-delete" | "rm")) => {
            let places = args.iter().take_while(|word| !word.text.starts_with('-'));
            places.map(|word| (word.clone(), true)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_recursive(args: &[Word]) -> bool {
    let is_flagged = |word: &Word| is_flag(word, 'r') || is_flag(word, 'R');
    args.iter().any(|word| is_flagged(word) || word.text == "--recursive")
}

/// The file of `-o FILE`, `-oFILE`, `-sLo FILE`, `--output FILE` or `--output=FILE`.
fn output(word: &Word, next: Option<&Word>) -> Option<Word> {
    const LONG: [&str; 2] = ["--output", "--output-document"];
    let text = word.text.as_str();
    let attached = |path: &str| Some(Word { text: path.to_owned(), ..word.clone() });
    if text.starts_with("--") {
        return match text.split_once('=') {
            Some((name, path)) if LONG.contains(&name) => attached(path),
            _ => next.filter(|_| LONG.contains(&text)).cloned(),
        };
    }
    let (_, path) = text.strip_prefix('-')?.split_once(['o', 'O'])?;
    if path.is_empty() { next.cloned() } else { attached(path) }
}

/// What `git rm` and `git mv` take away in the work tree.
fn by_git(args: &[Word]) -> Vec<(Word, bool)> {
    let (mut rest, mut base) = (args, None);
    let (verb, args) = loop {
        match rest {
            [flag, dir, more @ ..] if flag.text == "-C" => (base, rest) = (Some(dir), more),
            [flag, _, more @ ..] if flag.text == "-c" => rest = more,
            [flag, more @ ..] if flag.text.starts_with('-') => rest = more,
            [verb, more @ ..] => break (verb.text.as_str(), more),
            [] => return Vec::new(),
        }
    };
    let keeps = ["--cached", "-n", "--dry-run"];
    if args.iter().any(|word| keeps.contains(&word.text.as_str())) {
        return Vec::new();
    }
    let operands: Vec<&Word> = args.iter().filter(|word| !word.text.starts_with('-')).collect();
    let mut found = match verb {
        "rm" => operands.iter().map(|word| ((*word).clone(), is_recursive(args))).collect(),
        "mv" => copied(true, args, &operands),
        _ => Vec::new(),
    };
    if let Some(base) = base {
        for (word, _) in found.iter_mut().filter(|(word, _)| !word.text.starts_with('/')) {
            word.text = format!("{}/{}", base.text, word.text);
            word.dynamic |= base.dynamic;
        }
    }
    found
}

/// Where a copy goes: the last operand, or a file of the same name in it.
fn copied(moves: bool, args: &[Word], operands: &[&Word]) -> Vec<(Word, bool)> {
    let named =
        args.iter().position(|word| matches!(word.text.as_str(), "-t" | "--target-directory"));
    let target = match named {
        Some(at) => args.get(at + 1),
        None => operands.last().copied(),
    };
    let Some(target) = target else { return Vec::new() };
    let mut found = vec![(target.clone(), false)];
    for source in operands.iter().filter(|word| **word != target) {
        let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let text = format!("{}/{name}", target.text);
        found.push((
            Word { text, dynamic: target.dynamic || source.dynamic, ..(*source).clone() },
            false,
        ));
        if moves {
            found.push(((*source).clone(), true));
        }
    }
    found
}
