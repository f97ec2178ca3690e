//! Files that programs write which otherwise only read: an option or an operand names them, or the
//! program's own script.

use super::{
    parser::ShellWord,
    programs::{PathUse, PathUses, operands, possible_paths, with_option_before},
};

/// The file of `-o FILE`, `-oFILE`, `-sLo FILE`, `--output FILE` or `--output=FILE`.
pub(super) fn output_options(args: &[ShellWord]) -> PathUses {
    outputs(args, |_| true)
}

/// The file of `--output` alone, where `-o` means something else.
pub(super) fn long_output_options(args: &[ShellWord]) -> PathUses {
    outputs(args, |option| option.starts_with("--"))
}

/// The second operand of `uniq FROM TO`; `with_value` are the options that take the next word.
pub(super) fn second_operand(args: &[ShellWord], with_value: &[&str]) -> PathUses {
    let is_operand = |(option, word): &(Option<&ShellWord>, &ShellWord)| {
        let is_value = option.is_some_and(|option| with_value.contains(&option.text.as_str()));
        !is_value && !word.text.starts_with('-')
    };
    let second = with_option_before(args).filter(is_operand).nth(1);
    second.map(|(_, word)| (word.clone(), PathUse::Writes)).into_iter().collect()
}

/// What a script of `awk` may write: what its strings name if it redirects or runs something, and
/// its own input for `> FILENAME`.
pub(super) fn awk_uses(args: &[ShellWord]) -> PathUses {
    let spaceless = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let mut found = PathUses::new();
    for word in args {
        let code = spaceless(&word.text);
        if [">\"", "|\"", "system("].iter().any(|sign| code.contains(sign)) {
            let paths = possible_paths(&word.text).into_iter();
            found.extend(paths.map(|path| (path, PathUse::MayWrite)));
        }
        if code.contains(">FILENAME") {
            let input = operands(args).into_iter().skip(1).cloned();
            found.extend(input.map(|path| (path, PathUse::MayWrite)));
        }
    }
    found
}

/// The files that a script of `sed` writes: `w FILE`, alone, after an address or as a flag of `s`.
pub(super) fn sed_uses(args: &[ShellWord]) -> PathUses {
    let mut found = PathUses::new();
    for line in args.iter().flat_map(|word| word.text.lines()) {
        let commands = line.match_indices("w ").filter(|(at, _)| {
            let before = line[..*at].chars().next_back();
            // Flags of `s` are letters, too.
            before.is_none_or(|c| !c.is_alphabetic() || "gpIiMme".contains(c))
        });
        let path = |(at, sign): (usize, &str)| ShellWord::new(line[at + sign.len()..].trim());
        found.extend(commands.map(path).map(|path| (path, PathUse::MayWrite)));
    }
    found
}

fn outputs(args: &[ShellWord], is_meant: impl Fn(&str) -> bool) -> PathUses {
    let next = args.iter().skip(1).map(Some).chain([None]);
    let options = args.iter().zip(next).filter(|(word, _)| is_meant(&word.text));
    let files = options.filter_map(|(word, next)| output_file(word, next));
    files.map(|word| (word, PathUse::Writes)).collect()
}

fn output_file(word: &ShellWord, next: Option<&ShellWord>) -> Option<ShellWord> {
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
