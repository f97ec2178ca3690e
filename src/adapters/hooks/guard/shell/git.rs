//! What the commands of git do with the files of a work tree.

use super::{
    outputs::long_output_options,
    parser::ShellWord,
    programs::{
        PathUse, PathUses, copy_uses, has_flag, is_flag, operand_uses, operands, with_option_before,
    },
};
use crate::text::Words;

/// The root of the work tree as a pathspec.
pub(super) const WORK_TREE_ROOT: &str = ":/";

/// Commands that only read.
const READERS: Words = Words(
    "blame cat-file check-ignore describe diff grep log ls-files ls-tree merge-base reflog \
    rev-list rev-parse shortlog show show-ref status",
);

/// Commands that change no file that their words name.
const HARMLESS: Words = Words(
    "add am apply archive bisect branch bundle cherry-pick clone commit config fetch format-patch \
    init merge mergetool notes pull push rebase remote revert tag worktree",
);

/// Whether a command of git only reads.
pub(super) fn only_reads(args: &[ShellWord]) -> bool {
    let reads = |(verb, args): (&str, &[ShellWord])| {
        READERS.contains(verb) && long_output_options(args).is_empty()
    };
    parts(args).is_some_and(reads)
}

/// The directory that `-C` names.
pub(super) fn directory(args: &[ShellWord]) -> Option<&ShellWord> {
    let at = args.iter().position(|word| word.text == "-C")?;
    let global = args
        .iter()
        .take(at)
        .all(|word| word.text.starts_with(['-', '/']) || word.text.contains('='));
    args.get(at + 1).filter(|_| global)
}

/// The command of git and its arguments.
fn parts(args: &[ShellWord]) -> Option<(&str, &[ShellWord])> {
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
pub(super) fn path_uses(args: &[ShellWord]) -> PathUses {
    let Some((verb, args)) = parts(args) else { return Vec::new() };
    let is = |long: &[&str]| has_flag(args, &[], long);
    let whole_tree = || vec![(ShellWord::new(WORK_TREE_ROOT), PathUse::WritesBelow)];
    let paths = |how: PathUse| {
        let mut used = operand_uses(args, how);
        for (word, how) in &mut used {
            let excluded =
                [":!", ":^", ":(exclude)"].iter().find_map(|magic| word.text.strip_prefix(magic));
            if let Some(path) = excluded.map(str::to_owned) {
                (*word, *how) = (word.with(&path), PathUse::Excludes);
            }
        }
        used
    };
    let recursive = has_flag(args, &['r'], &[]);
    match verb {
        "rm" | "mv" if is(&["--cached", "-n", "--dry-run"]) => Vec::new(),
        "rm" => paths(if recursive { PathUse::Removes } else { PathUse::Writes }),
        "mv" => copy_uses("mv", args),
        "checkout" | "switch" if has_flag(args, &['b', 'B', 'c'], &["--orphan"]) => Vec::new(),
        "checkout" | "switch" if has_flag(args, &['f'], &["--force", "--discard-changes"]) => {
            whole_tree()
        }
        "checkout" => paths(PathUse::WritesBelow),
        "restore" => {
            let index_only = is(&["--staged", "-S"]) && !is(&["--worktree", "-W", "-SW"]);
            if index_only { Vec::new() } else { paths(PathUse::WritesBelow) }
        }
        "reset" if is(&["--hard", "--merge", "--keep"]) => whole_tree(),
        "switch" | "reset" => Vec::new(),
        "stash" => {
            let sub = operands(args).first().map_or("push", |word| word.text.as_str());
            let untracked = has_flag(args, &['u', 'a'], &["--include-untracked", "--all"]);
            match sub {
                "push" | "save" | "create" => {
                    let mut used = paths(PathUse::WritesBelow);
                    let mut next = args.iter().zip(args.iter().skip(1));
                    let message =
                        next.find(|(flag, _)| matches!(flag.text.as_str(), "-m" | "--message"));
                    let message = message.map(|(_, text)| text.text.as_str());
                    let is_path =
                        |text: &str| text != sub && Some(text) != message && sub != "save";
                    used.retain(|(word, _)| is_path(&word.text));
                    let places = used.iter().any(|(_, how)| *how != PathUse::Excludes);
                    if untracked && !places {
                        used.extend(whole_tree());
                    }
                    used
                }
                _ => Vec::new(),
            }
        }
        "clean" => clean_uses(args, paths),
        verb if READERS.contains(verb) || HARMLESS.contains(verb) => long_output_options(args),
        _ => paths(PathUse::MayWrite),
    }
}

fn clean_uses(args: &[ShellWord], paths: impl Fn(PathUse) -> PathUses) -> PathUses {
    let forced = has_flag(args, &['f'], &["--force"]);
    if has_flag(args, &['n'], &["--dry-run"]) || !forced {
        return Vec::new();
    }
    let ignored_too = has_flag(args, &['x', 'X'], &[]);
    let how = if ignored_too { PathUse::WritesBelow } else { PathUse::Cleans };
    let excludes = |option: &&ShellWord| {
        option.text == "--exclude" || (is_flag(option, 'e') && option.text.ends_with('e'))
    };
    let patterns = with_option_before(args).filter_map(|(option, word)| {
        let pattern = match option.filter(excludes) {
            Some(_) => word.text.as_str(),
            None => word.text.strip_prefix("--exclude=")?,
        };
        Some(word.with(pattern.trim_matches('/')))
    });
    let patterns: Vec<ShellWord> = patterns.collect();
    let mut used = paths(how);
    used.retain(|(word, _)| {
        !patterns.iter().any(|pattern| pattern.text == word.text.trim_matches('/'))
    });
    if used.iter().all(|(_, how)| *how == PathUse::Excludes) {
        used.push((ShellWord::new("."), how));
    }
    used.extend(patterns.into_iter().map(|word| (word, PathUse::Excludes)));
    used
}
