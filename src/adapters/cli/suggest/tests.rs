//! Every command that the program names in backticks, read from the sources: it parses, and it has
//! no word that stands for something else.

use std::{collections::BTreeSet, ffi::OsString, path::Path};

use super::*;

/// The sources that are compiled into the program, without tests and comments.
fn sources(dir: &Path, texts: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, texts);
            }
        // `prose.rs` has sentences of the templates, by which they are known again.
        } else if name.ends_with(".rs") && name != "tests.rs" && name != "prose.rs" {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code: Vec<&str> = lines.collect();
            texts.push((path.display().to_string(), code.join("\n")));
        }
    }
}

/// The text as it is printed: a line that ends in a backslash goes on behind the blanks.
fn joined(code: &str) -> String {
    let mut parts = code.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start())
}

/// The commands in backticks, with the parts that are filled in at run time.
fn commands(code: &str) -> BTreeSet<String> {
    let text = joined(code);
    let parts = text.split("`statedir ").skip(1).filter_map(|rest| rest.split_once('`'));
    parts.map(|(command, _)| command.to_owned()).filter(|command| !command.contains('\n')).collect()
}

/// What is filled in behind these words is one of a few; anywhere else it may be a number.
const FEW: [(&str, &str); 2] = [("--only ", "plan"), ("review ", "approve")];

/// The words of a command, as a shell splits them, with what is filled in at run time.
fn words(command: &str) -> Vec<String> {
    let mut filled = String::new();
    let mut rest = command;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let of_few = FEW.iter().find(|(behind, _)| filled.ends_with(behind));
        filled.push_str(of_few.map_or("7", |(_, word)| word));
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    filled.push_str(rest);
    let filled = filled.replace("\\\"", "'");
    let mut words = Vec::new();
    for (at, part) in filled.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// Why a command cannot be pasted.
fn fault(command: &str) -> Option<String> {
    let words = words(command);
    let stands_for = |word: &&String| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let shouts = bare.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        (shouts && !bare.is_empty() && !word.starts_with('-'))
            || word.contains(['|', '…', '<', '>'])
    };
    if let Some(word) = words.iter().find(stands_for) {
        return Some(format!("`{word}` stands for something else"));
    }
    let args: Vec<OsString> =
        std::iter::once("statedir".into()).chain(words.iter().map(OsString::from)).collect();
    match parse::parse(&args) {
        Ok(parsed) if parsed.in_our_words.is_none() => None,
        Err(unparsed) if !unparsed.error.use_stderr() => None,
        _ => Some("it does not parse".to_owned()),
    }
}

#[test]
fn every_command_in_a_message_can_be_pasted() {
    let mut texts = Vec::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut texts);
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, code) in &texts {
        for command in commands(code) {
            // The word is filled in, too.
            if command.starts_with('{') {
                continue;
            }
            seen += 1;
            if let Some(fault) = fault(&command) {
                wrong.push(format!("{path}: `statedir {command}`: {fault}"));
            }
        }
    }
    assert!(seen > 80, "{seen}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_message_about_a_damaged_file_leads_to_undo() {
    let mut texts = Vec::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut texts);
    for (path, code) in texts {
        let text = joined(&code);
        for (at, _) in text.match_indices("`statedir undo`") {
            let behind: String = text[at..].chars().take(60).collect();
            assert!(!behind.contains("reverts the last edit"), "{path}: {behind}");
        }
    }
}

#[test]
fn a_command_that_cannot_be_pasted_is_found() {
    for wrong in [
        "step retry N",
        "init --goal TEXT",
        "review approve|reject ID",
        "step set {} --depends-on …",
        "step add",
        "step frobnicate {}",
        "-C DIR check",
        "ready",
    ] {
        let code = format!("hint(\"try `statedir {wrong}` then\")");
        let found: Vec<String> = commands(&code).into_iter().collect();
        assert_eq!(found, [wrong], "it is not even seen");
        assert!(fault(wrong).is_some(), "{wrong}");
    }
    assert_eq!(fault("step retry {number}"), None);
    assert_eq!(commands("\"a `statedir step \\\n       list` b\"").len(), 1);
}

#[test]
fn an_option_is_never_corrected_to_its_opposite() {
    let args = |line: &str| line.split(' ').map(std::ffi::OsString::from).collect::<Vec<_>>();
    assert_eq!(super::nearest(&args("statedir web --no-open")), "`statedir web --help`");
    assert_eq!(super::nearest(&args("statedir web --opne")), "`statedir web --open`");
}
