//! The layer rule of ARCHITECTURE.md, held by reading the `crate::` paths of every file.

use std::path::Path;

const MAY_USE: [(&str, &[&str]); 12] = [
    ("text", &[]),
    ("domain", &["text"]),
    ("history", &["domain", "text"]),
    ("graph", &["domain", "text"]),
    ("diff", &["graph", "history", "domain", "text"]),
    ("merge", &["diff", "history", "domain", "text"]),
    ("rules", &["domain", "text"]),
    ("recovery", &["domain", "text"]),
    ("brief", &["recovery", "rules", "diff", "history", "domain", "text"]),
    ("store", &[]),
    (
        "workspace",
        &[
            "brief", "recovery", "rules", "merge", "diff", "graph", "history", "domain", "text",
            "store",
        ],
    ),
    (
        "adapters",
        &[
            "workspace", "brief", "recovery", "rules", "merge", "diff", "graph", "history",
            "domain", "text", "store",
        ],
    ),
];

/// Ways to reach the disk that only `store` and `adapters` may use.
const DISK: [&str; 4] = ["std::fs", "fs_err", "std::net", "std::process"];

/// What tests alone may use beyond the rule: file, what it uses, why.
const FOR_TESTS: [(&str, &str, &str); 1] =
    [("text/markdown/tests/corpus.rs", "std::fs", "reads the awkward documents of tests/corpus")];

fn violations(layer: &str, allowed: &[&str], source: &str) -> Vec<String> {
    let mut found = Vec::new();
    // `use crate::{a::…, b::…}` and `crate::a::…` alike: every word right behind `crate::` or an
    // opening brace or comma at the first level of such a list.
    for (at, _) in source.match_indices("crate::") {
        let rest = &source[at + "crate::".len()..];
        let mut names = Vec::new();
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut word = String::new();
            for c in list.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => names.push(std::mem::take(&mut word)),
                    c if depth == 0 => word.push(c),
                    _ => {}
                }
            }
            names.push(word);
        } else {
            names.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
        for name in names {
            let name = name.trim().split("::").next().unwrap_or_default().trim().to_owned();
            let layers = MAY_USE.iter().map(|(layer, _)| *layer);
            let known = layers.into_iter().any(|layer| layer == name);
            if known && name != layer && !allowed.contains(&name.as_str()) {
                found.push(format!("uses `{name}`"));
            }
        }
    }
    if !matches!(layer, "store" | "adapters") {
        let lists = source.split("use std::{").skip(1).filter_map(|rest| rest.split(';').next());
        let words = |list: &str| -> Vec<String> {
            let words = list.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.map(|word| format!("std::{word}")).collect()
        };
        let in_lists: Vec<String> = lists.flat_map(words).collect();
        for way in DISK {
            if source.contains(way) || in_lists.iter().any(|name| name == way) {
                found.push(format!("uses `{way}`"));
            }
        }
    }
    found
}

#[test]
fn every_layer_uses_only_the_layers_below_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut files = 0;
    let mut excused = 0;
    for (layer, allowed) in MAY_USE {
        for entry in walkdir::WalkDir::new(src.join(layer)).into_iter().filter_map(Result::ok) {
            if entry.path().extension().is_none_or(|ending| ending != "rs") {
                continue;
            }
            files += 1;
            let path = entry.path().strip_prefix(&src).unwrap().display().to_string();
            let source = std::fs::read_to_string(entry.path()).unwrap();
            for violation in violations(layer, allowed, &source) {
                let is_excused = |(file, used, _): &(&str, &str, &str)| {
                    *file == path && violation == format!("uses `{used}`")
                };
                match FOR_TESTS.iter().any(is_excused) {
                    true => excused += 1,
                    false => wrong.push(format!("{path}: {violation}")),
                }
            }
        }
    }
    assert!(files > 300, "only {files} files were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(excused, FOR_TESTS.len(), "an exception that nothing needs");
}

#[test]
fn the_layer_check_sees_a_forbidden_use() {
    let source = "use crate::{domain::Plan, store::{View, Store}};\nfn f() { crate::text::x(); }";
    assert_eq!(violations("rules", &["domain", "text"], source), ["uses `store`"]);
    assert_eq!(violations("domain", &["text"], "use std::fs::File;"), ["uses `std::fs`"]);
    let list = "use std::{\n    collections::BTreeMap,\n    fs,\n};";
    assert_eq!(violations("domain", &["text"], list), ["uses `std::fs`"]);
    let behind = "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::workspace::Change;\n}";
    assert_eq!(violations("domain", &["text"], behind), ["uses `workspace`"]);
}

/// The statuses of the built-in lifecycle; only `domain` may know them.
const STATUSES: [&str; 10] = [
    "PLANNING", "IN_PROGRESS", "PAUSED", "COMPLETED_SUCCESS", "COMPLETED_FAILURE", "PENDING",
    "RUNNING", "COMPLETED", "FAILED", "SKIPPED",
];

/// Texts for people that hold a status as an example and compare nothing: file, status, what it is.
const EXAMPLES: [(&str, &str, &str); 4] = [
    ("rules/language.rs", "PAUSED", "the reference of the rule language"),
    ("adapters/cli/commands/steps/plan.rs", "PAUSED", "an example in the help"),
    ("adapters/cli/commands/steps/step.rs", "FAILED", "an example in the help"),
    ("adapters/cli/commands/steps/step.rs", "RUNNING", "an example in the help"),
];

/// The source without the items behind `#[cfg(test)]`; it is formatted, so an item ends where a
/// line of its own indentation closes it.
fn without_tests(source: &str) -> String {
    let mut kept = String::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.extend([line, "\n"]);
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let ends = |line: &&str| {
            let item = line.strip_prefix(indent).unwrap_or_default();
            let is_own = !item.starts_with([' ', '#']);
            is_own && (item.ends_with(';') || item.starts_with('}') || item.ends_with('}'))
        };
        lines.by_ref().find(ends);
    }
    kept
}

/// The text of the string literals of a file, apart from its comments and its tests.
fn literals_of(source: &str) -> String {
    let code = without_tests(source);
    let mut literals = String::new();
    let mut inside = false;
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '"' => {
                inside = !inside;
                literals.push(' ');
            }
            // A quote as a character begins no literal.
            '\'' if !inside && rest.peek() == Some(&'"') => drop(rest.next()),
            '/' if !inside && rest.peek() == Some(&'/') => drop(rest.find(|c| *c == '\n')),
            c if inside => literals.push(c),
            _ => {}
        }
    }
    literals
}

/// The statuses in the string literals of a file.
fn statuses_in(source: &str) -> Vec<String> {
    let literals = literals_of(source);
    let words = literals.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| STATUSES.contains(word)).map(str::to_owned).collect()
}

#[test]
fn only_domain_knows_a_status_by_its_word() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut files = 0;
    for entry in walkdir::WalkDir::new(&src).into_iter().filter_map(Result::ok) {
        let path = entry.path().strip_prefix(&src).unwrap().display().to_string();
        let is_test = path.contains("tests/") || path.ends_with("tests.rs");
        if path.starts_with("domain/") || is_test || !path.ends_with(".rs") {
            continue;
        }
        files += 1;
        let source = std::fs::read_to_string(entry.path()).unwrap();
        for word in statuses_in(&source) {
            if !EXAMPLES.iter().any(|(file, example, _)| *file == path && *example == word) {
                wrong.push(format!("{path}: {word}"));
            }
        }
    }
    assert!(files > 200, "only {files} files were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_check_for_statuses_sees_one_in_code_alone() {
    let code = r#"if entry.field("status") == Some("FAILED") {} let x = "still\n RUNNING, ";"#;
    assert_eq!(statuses_in(code), ["FAILED", "RUNNING"]);
    let fine = r##"/// "FAILED"
        let (x, y) = ("failed, \" said", '"'); any(FAILED); "UNFAILED FAILED_x";
        #[cfg(test)]
        let z = "FAILED";"##;
    assert_eq!(statuses_in(fine), [""; 0]);
    let behind = r##"
#[cfg(test)]
#[path = "x"]
mod tests {
    fn f() -> &'static str {
        "RUNNING"
    }
}
const X: &str = "FAILED";"##;
    assert_eq!(statuses_in(behind), ["FAILED"]);
    let whole = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/domain/lifecycle/builtin.rs"),
    );
    assert!(statuses_in(&whole.unwrap()).len() > 10);
}

/// Units behind a number that is filled in: nobody but `domain/quantity` writes a quantity.
const UNITS: [&str; 9] = ["ms", "s", "m", "h", "d", " seconds", " minutes", " hours", " USD"];

/// Quantities that are not for reading: file, what is written, what it is.
const WRITTEN: [(&str, &str, &str); 3] = [
    ("workspace/state/rebuild/plan.rs", "}s", "a field of plan.md"),
    ("adapters/hooks/guard/mod.rs", "}s", "an argument of a command"),
    ("workspace/check/secret/value.rs", "${", "the mark of a variable, not of money"),
];

/// The quantities that the format strings of a file write.
fn quantities_in(source: &str) -> Vec<String> {
    let literals = literals_of(source);
    let mut found: Vec<String> = literals.matches("${").map(str::to_owned).collect();
    for (at, _) in literals.match_indices('}') {
        let rest = &literals[at + 1..];
        let is_whole = |unit: &&&str| {
            let after = rest.strip_prefix(**unit);
            after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric()))
        };
        found.extend(UNITS.iter().filter(is_whole).map(|unit| format!("}}{unit}")));
    }
    found
}

#[test]
fn only_quantities_write_a_unit_of_time_or_money() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut wrong, mut written) = (Vec::new(), 0);
    for entry in walkdir::WalkDir::new(&src).into_iter().filter_map(Result::ok) {
        let path = entry.path().strip_prefix(&src).unwrap().display().to_string();
        let is_test = path.contains("tests/") || path.ends_with("tests.rs");
        if is_test || !path.ends_with(".rs") {
            continue;
        }
        let found = quantities_in(&std::fs::read_to_string(entry.path()).unwrap());
        if path.starts_with("domain/quantity/") {
            written += found.len();
            continue;
        }
        let known =
            |text: &String| WRITTEN.iter().any(|(file, what, _)| *file == path && what == text);
        wrong.extend(
            found.into_iter().filter(|text| !known(text)).map(|text| format!("{path}: {text}")),
        );
    }
    assert!(written > 8, "the check sees only {written} in domain/quantity");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_check_for_quantities_sees_one_in_a_format_string() {
    let code = r#"format!("for {hours}h {}m", 1); write!(f, "{} seconds", 2); "${}.00""#;
    assert_eq!(quantities_in(code), ["${", "}h", "}m", "} seconds"]);
    assert_eq!(quantities_in(r#"("{}steps {}x", "{} s", "h", f)"#), [""; 0]);
}

#[test]
fn no_source_file_grows_out_of_hand() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources = walkdir::WalkDir::new(src).into_iter().filter_map(Result::ok);
    let rust = sources.filter(|entry| entry.path().extension().is_some_and(|e| e == "rs"));
    let long: Vec<String> = rust
        .map(|entry| (entry.path().display().to_string(), std::fs::read_to_string(entry.path())))
        .filter_map(|(path, text)| Some((path, text.ok()?.lines().count())))
        .filter(|(_, lines)| *lines > 500)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
