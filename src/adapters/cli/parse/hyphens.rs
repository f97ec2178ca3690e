//! Text that begins with a hyphen, such as `-bash: no such file`, is text where it cannot be an
//! option.

use std::ffi::{OsStr, OsString};

/// The ways to read what begins with a hyphen and cannot be an option: as the value of the option
/// before it, and as a word of its own.
pub(super) fn as_text(args: &[OsString]) -> impl Iterator<Item = Vec<OsString>> {
    [true, false].into_iter().filter_map(|join| rearranged(args, join))
}

/// The arguments with text that begins with a hyphen where it is not an option: joined to the option
/// before it, or behind `--`. `None` if there is no such text.
fn rearranged(args: &[OsString], join: bool) -> Option<Vec<OsString>> {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (mut kept, mut words): (Vec<OsString>, Vec<OsString>) = (Vec::new(), Vec::new());
    let mut any = false;
    for arg in &args[..end] {
        if !is_text(arg) {
            kept.push(arg.clone());
            continue;
        }
        any = true;
        match kept.last_mut().filter(|last| join && is_long(last)) {
            Some(option) => {
                option.push("=");
                option.push(arg);
            }
            None => words.push(arg.clone()),
        }
    }
    words.extend(args.iter().skip(end + 1).cloned());
    if !words.is_empty() {
        kept.push("--".into());
        kept.append(&mut words);
    }
    any.then_some(kept)
}

/// Whether it begins with a hyphen and is neither an option, nor a number, nor standard input.
fn is_text(arg: &OsStr) -> bool {
    let Some(arg) = arg.to_str().filter(|arg| arg.len() > 1 && arg.starts_with('-')) else {
        return false;
    };
    let name = arg.split('=').next().unwrap_or_default();
    let bare = name.strip_prefix("--").unwrap_or(&name[1..]);
    let is_option = bare.starts_with(|c: char| c.is_ascii_alphabetic())
        && bare.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    arg != "--" && !is_option && arg.parse::<f64>().is_err()
}

/// Whether it is an option that may take the next word as its value.
fn is_long(arg: &OsStr) -> bool {
    arg.to_str().is_some_and(|arg| arg.starts_with("--") && arg.len() > 2 && !arg.contains('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_can_be_no_option() {
        for text in ["-bash: foo", "- item", "--force is not known", "-1 is too small", "->"] {
            assert!(is_text(text.as_ref()), "{text}");
        }
        for other in ["-", "--", "--json", "-h", "--title=a b", "-1", "-0.5", "-abc", "a - b"] {
            assert!(!is_text(other.as_ref()), "{other}");
        }
    }

    #[test]
    fn text_goes_to_its_option_or_behind_the_others() {
        let args: Vec<OsString> = ["x", "- a", "--note", "- b", "--json"].map(Into::into).to_vec();
        assert_eq!(rearranged(&args, true).unwrap(), ["x", "--note=- b", "--json", "--", "- a"]);
        assert_eq!(
            rearranged(&args, false).unwrap(),
            ["x", "--note", "--json", "--", "- a", "- b"]
        );
        assert!(rearranged(&args[..1], true).is_none());
    }
}
