//! ARCHITECTURE.md and CONTRIBUTING.md are true.

use std::{fs, path::Path};

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The cells of the rows that begin with a number.
fn numbered_rows(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    let cells = rows.map(|row| row.split('|').map(|cell| cell.trim().trim_matches('`')).collect());
    cells.filter(|row: &Vec<&str>| row[0].parse::<usize>().is_ok()).collect()
}

/// The rows whose file is not there or has no such function.
fn untrue<'t>(rows: &[Vec<&'t str>]) -> Vec<&'t str> {
    let is_untrue = |row: &&Vec<&str>| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(row[1]);
        let source = fs::read_to_string(path).unwrap_or_default();
        let opens = |mark: char| source.contains(&format!("fn {}{mark}", row[2]));
        !opens('(') && !opens('<')
    };
    rows.iter().filter(is_untrue).map(|row| row[1]).collect()
}

#[test]
fn the_way_of_a_change_is_as_the_table_says() {
    let text = read("ARCHITECTURE.md");
    let rows = numbered_rows(&text);
    assert!((25..=36).contains(&rows.len()), "{} rows", rows.len());
    assert_eq!(untrue(&rows), [""; 0], "no such file, or no such function in it");
    let gone = numbered_rows("| 1 | `main.rs` | `gone` | x |\n| 2 | `gone.rs` | `main` | x |");
    assert_eq!(untrue(&gone), ["main.rs", "gone.rs"]);
}

/// What looks like a path of this repository, between backticks.
fn paths(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let starts = ["src/", "tests/", "fuzz/", "templates/", "docs/"];
        starts.iter().any(|start| word.starts_with(start)) && !word.contains(char::is_whitespace)
    };
    quoted.filter(is_path).collect()
}

#[test]
fn every_path_in_the_documents_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = read(name);
        let gone: Vec<&str> =
            paths(&text).into_iter().filter(|path| !root.join(path).exists()).collect();
        assert!(gone.is_empty(), "{name}: {gone:?}");
        seen += paths(&text).len();
    }
    assert!(seen > 5, "only {seen} paths were seen");
}

#[test]
fn the_programs_that_tests_need_are_those_of_the_list() {
    let contributing = read("CONTRIBUTING.md");
    for line in read("tests/programs.txt").lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let row = format!("| `{}` | `{}` | {} |", columns[0], columns[2], columns[3]);
        assert!(contributing.contains(&row), "{row}");
    }
}

/// Every error code is in `docs/errors.md`, with the exit code and the meaning that the program has.
#[test]
fn the_table_of_error_codes_is_complete() {
    let rows = statedir::ErrorCode::ALL
        .iter()
        .map(|code| format!("| `{code}` | {} | {} |\n", code.exit_code(), code.meaning()));
    let expected: String = rows.collect();
    let text = read("docs/errors.md");
    let (_, table) = text.split_once("|---|---|---|\n").expect("docs/errors.md has a table");
    assert_eq!(table, expected, "the table of docs/errors.md should be:\n{expected}");
}
