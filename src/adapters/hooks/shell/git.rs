//! What the commands of git do with the files of a work tree.

use super::{
    Word,
    programs::{How, Used, all, copied, has_flag, is_flag, operands},
};
use crate::text::Words;

/// The root of the work tree, as git writes it.
pub(super) const TOP: &str = ":/";

/// Commands that only look.
const READERS: Words = Words(
    "blame cat-file check-ignore describe diff grep log ls-files ls-tree merge-base reflog \
    rev-list rev-parse shortlog show show-ref status",
);

/// Commands that change no file that their words name.
const HARMLESS: Words = Words(
    "add am apply archive bisect branch bundle cherry-pick clone commit config fetch format-patch \
    init merge mergetool notes pull push rebase remote revert tag worktree",
);

/// Whether a command of git only looks.
pub(super) fn only_reads(args: &[Word]) -> bool {
    parts(args).is_some_and(|(verb, _)| READERS.contains(verb))
}

/// The directory that `-C` names.
pub(super) fn directory(args: &[Word]) -> Option<&Word> {
    let at = args.iter().position(|word| word.text == "-C")?;
    let global = args
        .iter()
        .take(at)
        .all(|word| word.text.starts_with(['-', '/']) || word.text.contains('='));
    args.get(at + 1).filter(|_| global)
}

/// The command of git and its arguments.
fn parts(args: &[Word]) -> Option<(&str, &[Word])> {
    let mut rest = args;
    loop {
        rest = match rest {
            [flag, _, more @ ..] if matches!(flag.text.as_str(), "-C" | "-c") => more,
            [flag, more @ ..] if flag.text.starts_with('-') => more,
            [verb, more @ ..] => return Some((verb.text.as_str(), more)),
            [] => return None,
        };
    }
}

/// The paths of the work tree that a command of git writes.
pub(super) fn used(args: &[Word]) -> Used {
    let Some((verb, args)) = parts(args) else { return Vec::new() };
    let is = |long: &[&str]| has_flag(args, &[], long);
    let top = || vec![(Word::default().with(TOP), How::WritesBelow)];
    let paths = |how: How| {
        let mut used = all(args, how);
        for (word, how) in &mut used {
            let left_out =
                [":!", ":^", ":(exclude)"].iter().find_map(|magic| word.text.strip_prefix(magic));
            if let Some(path) = left_out.map(str::to_owned) {
                (*word, *how) = (word.with(&path), How::LeavesOut);
            }
        }
        used
    };
    let recursive = has_flag(args, &['r'], &[]);
    match verb {
        "rm" | "mv" if is(&["--cached", "-n", "--dry-run"]) => Vec::new(),
        "rm" => paths(if recursive { How::Removes } else { How::Writes }),
        "mv" => copied("mv", args),
        "checkout" | "switch" if has_flag(args, &['b', 'B', 'c'], &["--orphan"]) => Vec::new(),
        "checkout" | "switch" if has_flag(args, &['f'], &["--force", "--discard-changes"]) => top(),
        "checkout" => paths(How::WritesBelow),
        "switch" => Vec::new(),
        "restore" => {
            let index_only = is(&["--staged", "-S"]) && !is(&["--worktree", "-W", "-SW"]);
            if index_only { Vec::new() } else { paths(How::WritesBelow) }
        }
        "reset" => {
            if is(&["--hard", "--merge", "--keep"]) {
                top()
            } else {
                Vec::new()
            }
        }
        "stash" => {
            let sub = operands(args).first().map_or("push", |word| word.text.as_str());
            let untracked = has_flag(args, &['u', 'a'], &["--include-untracked", "--all"]);
            match sub {
                "push" | "save" | "create" => {
                    let mut used = paths(How::WritesBelow);
                    let mut next = args.iter().zip(args.iter().skip(1));
                    let message =
                        next.find(|(flag, _)| matches!(flag.text.as_str(), "-m" | "--message"));
                    let message = message.map(|(_, text)| text.text.as_str());
                    let is_path =
                        |text: &str| text != sub && Some(text) != message && sub != "save";
                    used.retain(|(word, _)| is_path(&word.text));
                    let places = used.iter().any(|(_, how)| *how != How::LeavesOut);
                    if untracked && !places {
                        used.extend(top());
                    }
                    used
                }
                _ => Vec::new(),
            }
        }
        "clean" => cleaned(args, paths),
        verb if READERS.contains(verb) || HARMLESS.contains(verb) => Vec::new(),
        _ => paths(How::May),
    }
}

fn cleaned(args: &[Word], paths: impl Fn(How) -> Used) -> Used {
    let forced = has_flag(args, &['f'], &["--force"]);
    if has_flag(args, &['n'], &["--dry-run"]) || !forced {
        return Vec::new();
    }
    let ignored_too = has_flag(args, &['x', 'X'], &[]);
    let how = if ignored_too { How::WritesBelow } else { How::Cleans };
    let is_pattern = |at: usize| {
        at.checked_sub(1).and_then(|at| args.get(at)).is_some_and(|word| {
            word.text == "--exclude" || (is_flag(word, 'e') && word.text.ends_with('e'))
        })
    };
    let patterns = args.iter().enumerate().filter_map(|(at, word)| {
        let pattern = if is_pattern(at) {
            Some(word.text.as_str())
        } else {
            word.text.strip_prefix("--exclude=")
        };
        Some(word.with(pattern?.trim_matches('/')))
    });
    let patterns: Vec<Word> = patterns.collect();
    let mut used = paths(how);
    used.retain(|(word, _)| {
        !patterns.iter().any(|pattern| pattern.text == word.text.trim_matches('/'))
    });
    if used.iter().all(|(_, how)| *how == How::LeavesOut) {
        used.push((Word::default().with("."), how));
    }
    used.extend(patterns.into_iter().map(|word| (word, How::LeavesOut)));
    used
}
