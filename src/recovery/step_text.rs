//! What the words of a step tell: files, completion, what it does.

use crate::text::Words;

/// The most files that are taken from the texts of a step.
const MOST: usize = 50;

/// The relative paths that a text names: words with a slash or a common ending.
///
/// Only what can be a file below the project is taken: no address, no absolute path, no `..`.
pub(crate) fn named_paths(text: &str) -> Vec<String> {
    let separators = |c: char| c.is_whitespace() || "\"'`,;()[]{}<>|*!?=".contains(c);
    let mut paths: Vec<String> = Vec::new();
    for word in text.split(separators) {
        let word = word.trim_matches(|c: char| ".:".contains(c) && c != '.');
        let word = word.trim_end_matches(['.', ':', '/']).trim_start_matches("./");
        if paths.len() < MOST && is_path(word) && !paths.iter().any(|known| known == word) {
            paths.push(word.to_owned());
        }
    }
    paths
}

fn is_path(word: &str) -> bool {
    if word.is_empty() || word.len() > 200 || word.contains("://") || word.contains('@') {
        return false;
    }
    let plain = |part: &str| {
        let fits = |c: char| c.is_alphanumeric() || "._-+#~".contains(c);
        !part.is_empty() && part != "." && part != ".." && part.chars().all(fits)
    };
    if word.starts_with('/') || !word.split('/').all(plain) {
        return false;
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    let known = ["Makefile", "Dockerfile", "Justfile", "Rakefile", "Gemfile", "Procfile"];
    let ending = name.rsplit_once('.').map(|(stem, ending)| (stem, ending.to_ascii_lowercase()));
    match ending {
        Some((stem, ending)) => (!stem.is_empty() || word.contains('/')) && is_ending(&ending),
        // `src/auth` is a directory; `and/or`, `TCP/IP` and `3/4` are words.
        None => known.contains(&name) || is_directory(word),
    }
}

/// Letters first, not a version or an abbreviation such as `e.g`.
fn is_ending(ending: &str) -> bool {
    let letters = ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.chars().all(|c| c.is_ascii_alphanumeric());
    letters && ENDINGS.contains(ending)
}

fn is_directory(word: &str) -> bool {
    const TOPS: [&str; 16] = [
        "src", "lib", "test", "tests", "docs", "doc", "app", "bin", "dist", "build", "out",
        "output", "data", "reports", "examples", "scripts",
    ];
    word.split_once('/').is_some_and(|(top, _)| TOPS.contains(&top))
}

/// Whether words only say that somebody is at it.
pub(crate) fn is_vague(text: &str) -> bool {
    let words = words(text);
    let first = words.first().map_or("", String::as_str);
    let pair = |a: &str, b: &str| words.windows(2).any(|pair| pair[0] == a && pair[1] == b);
    let begins = ["starting", "started", "start", "continuing", "wip", "working", "beginning"];
    begins.contains(&first) || pair("working", "on") || pair("in", "progress")
}

/// Whether a step is about writing something, so that files in its title are what it makes.
pub(crate) fn writes_something(title: &str) -> bool {
    const VERBS: [&str; 14] = [
        "write", "writing", "create", "add", "implement", "draft", "generate", "build", "produce",
        "make", "update", "edit", "fix", "refactor",
    ];
    words(title).iter().any(|word| VERBS.contains(&word.as_str()))
}

/// Whether a step runs something that others have made, rather than writing files.
pub(super) fn runs_something(title: &str) -> bool {
    let words = words(title);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let runs = [
        "run", "rerun", "running", "execute", "verify", "deploy", "deployment", "publish",
        "release", "lint", "benchmark", "validate", "launch",
    ];
    let writes = ["write", "writing", "create", "add", "implement", "refactor", "draft", "design"];
    has(&runs) && !has(&writes)
}

pub(super) fn is_about_tests(title: &str) -> bool {
    words(title).iter().any(|word| matches!(word.as_str(), "test" | "tests" | "suite"))
}

fn words(title: &str) -> Vec<String> {
    let parts = title.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// Endings of files that steps make.
const ENDINGS: Words = Words(
    "rs py js jsx ts tsx mjs cjs go java kt scala c h cc cpp hpp cs rb php swift dart lua ex exs \
    erl hs ml clj sh bash zsh ps1 sql r jl vue svelte html css scss md txt rst adoc tex json \
    jsonl yaml yml toml xml ini cfg conf env lock csv tsv parquet db sqlite log pdf png jpg jpeg \
    svg gif zip gz tar wasm proto ipynb docx xlsx patch",
);
