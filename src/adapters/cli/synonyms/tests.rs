use super::*;
use crate::adapters::cli::{parse, suggest};

fn args(line: &[&str]) -> Vec<OsString> {
    std::iter::once("statedir").chain(line.iter().copied()).map(OsString::from).collect()
}

/// What a line means: whether it runs, and the command in our words.
fn read_as(line: &[&str]) -> (bool, String) {
    let reading = read(&args(line), parse::is_understood).unwrap_or_else(|| panic!("{line:?}"));
    (reading.works, suggest::line(&reading.args).unwrap())
}

/// What stands for a name of the table.
fn sample(token: Token) -> &'static str {
    match token {
        Token::Step => "3",
        Token::Text => "text",
        Token::Words => "some words",
        Token::Verb => "show",
        Token::Value => "7",
        Token::Literal(word) => word,
    }
}

/// What may have to follow a command before it is whole.
const ENDINGS: [&[&str]; 11] = [
    &[],
    &["3"],
    &["some text"],
    &["3", "a=1"],
    &["a=1"],
    &["a.b", "1"],
    &["r1"],
    &["--why", "text"],
    &["3", "--after", "0"],
    &["claude"],
    &["bash"],
];

/// The line that an entry makes of what is typed, with an ending with which it parses.
fn completed(typed: &[&str]) -> Option<Reading> {
    ENDINGS.iter().find_map(|ending| {
        let line: Vec<&str> = typed.iter().chain(*ending).copied().collect();
        let reading = read(&args(&line), parse::is_understood)?;
        parse::is_understood(&reading.args).then_some(reading)
    })
}

#[test]
fn every_command_of_the_table_leads_to_a_command_that_parses() {
    let table = Table::read();
    assert!(table.commands.len() + table.options.len() >= 150);
    let mut wrong = Vec::new();
    for entry in &table.commands {
        let typed: Vec<&str> = entry.typed.iter().map(|token| sample(*token)).collect();
        if parse::is_understood(&args(&typed)) {
            wrong.push(format!("{typed:?} is a command already"));
            continue;
        }
        let slots = entry.typed.iter().filter(|token| !matches!(token, Token::Literal(_)));
        for slot in slots.map(|slot| slot.name()) {
            if !entry.command.iter().any(|word| word.ends_with(slot)) {
                wrong.push(format!("{typed:?} loses {slot}"));
            }
        }
        match completed(&typed) {
            None => wrong.push(format!("{typed:?} leads nowhere")),
            Some(reading) if reading.works != entry.works => {
                wrong.push(format!("{typed:?} becomes {:?}", reading.args));
            }
            Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_option_of_the_table_leads_to_a_command_that_parses() {
    let mut wrong = Vec::new();
    for entry in &Table::read().options {
        for command in &entry.commands {
            let command = if *command == "*" { "status" } else { command };
            let values = ["7", "a=1", "0", "text", "5s"];
            let found = values.iter().any(|value| {
                let typed = entry.typed.iter().map(|token| match token {
                    Token::Value => value,
                    token => sample(*token),
                });
                let option: Vec<&str> = typed.collect();
                ENDINGS.iter().any(|ending| {
                    let words = command.split(' ').chain(ending.iter().copied());
                    let line: Vec<&str> = words.chain(option.iter().copied()).collect();
                    let reading = read(&args(&line), parse::is_understood);
                    reading.is_some_and(|reading| parse::is_understood(&reading.args))
                })
            });
            if !found {
                wrong.push(format!("{command} {:?}", entry.typed));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_entry_is_there_twice() {
    let table = Table::read();
    let mut seen = std::collections::BTreeSet::new();
    for entry in &table.commands {
        let typed: Vec<&str> = entry.typed.iter().map(|token| token.name()).collect();
        assert!(seen.insert(typed.join(" ")), "{typed:?} is there twice");
    }
}

/// A command that takes something away, replaces it or goes back, however easily undone.
fn takes_away(command: &[String]) -> bool {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    if matches!(words.get(1), Some(&"list")) {
        return false;
    }
    matches!(
        words.as_slice(),
        ["undo" | "redo" | "restore" | "gc" | "archive" | "import" | "trust" | "merge", ..]
            | ["step", "remove" | "reset" | "skip", ..]
            | ["var", "unset", ..]
            | ["context", "set", ..]
            | ["rule" | "directive", "remove", ..]
            | ["checkpoint", "delete" | "restore", ..]
    )
}

#[test]
fn nothing_leads_to_a_command_that_takes_away_unless_it_was_asked_for() {
    // Words that can only be meant so.
    const ASKED: [&str; 42] = [
        "remove", "rm", "del", "delete", "drop", "unset", "clear", "replace", "overwrite",
        "update", "edit", "skip", "cancel", "wontfix", "abandon", "defer", "reopen", "unstart",
        "release", "unclaim", "revert", "uncomplete", "reset", "rollback", "checkout", "load",
        "goto", "use", "apply", "prune", "compact", "vacuum", "cleanup", "remove-task",
        "delete-task", "skipped", "cancelled", "canceled", "deferred", "pending", "open", "todo",
    ];
    let asked = |typed: &[Token]| {
        typed.iter().any(|token| {
            let word = token.name().rsplit('=').next().unwrap_or_default();
            ASKED.contains(&word) || word == "ready"
        })
    };
    let table = Table::read();
    let mut seen = 0;
    let mut wrong = Vec::new();
    for entry in table.commands.iter().filter(|entry| takes_away(&entry.command)) {
        seen += 1;
        if !asked(&entry.typed) {
            wrong.push(format!("{:?} → {:?}", entry.typed, entry.command));
        }
    }
    for entry in table.options.iter().filter(|entry| takes_away(&entry.option)) {
        seen += 1;
        if !asked(&entry.typed) {
            wrong.push(format!("{:?} → {:?}", entry.typed, entry.option));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The control: the test looks at something, and would see an entry that is wrong.
    assert!(seen > 10, "{seen}");
    assert!(takes_away(&["undo".to_owned()]) && !asked(&[Token::Literal("todo-list")]));
}

#[test]
fn the_words_of_the_user_are_kept() {
    for (line, works, command) in [
        (&["ready"][..], true, "`statedir step next`"),
        (&["task", "add", "Write the docs"], true, "`statedir step add 'Write the docs'`"),
        (&["task", "3", "done"], true, "`statedir step done 3`"),
        (&["--json", "todo", "it's late"], false, r"`statedir --json step add 'it'\''s late'`"),
        (&["step", "update", "3", "--status", "In_Progress"], true, "`statedir step start 3`"),
        (&["set-status", "--id=3", "--status=done"], true, "`statedir step done 3`"),
        (
            &["step", "done", "3", "-m", "two pages were empty"],
            true,
            "`statedir step done 3 --note 'two pages were empty'`",
        ),
        (
            &["step", "done", "3", "--result", "$5"],
            false,
            "`statedir step done 3 --output 'result=$5'`",
        ),
        (&["note", "use `x`, not $y"], true, "`` statedir context add 'use `x`, not $y' ``"),
        (&["delete", "3"], false, "`statedir step remove 3`"),
        (&["delete", "everything"], false, "`statedir --help`"),
        (&["rollback", "before-cleanup"], false, "`statedir restore before-cleanup`"),
        (&["history"], true, "`statedir history list`"),
        (&["history", "--limit", "3"], true, "`statedir history list --limit 3`"),
        (&["review", "--json"], true, "`statedir review list --json`"),
        (&["graph", "--format", "mermaid"], true, "`statedir plan graph --format mermaid`"),
        (&["step", "rename", "3", "Short"], true, "`statedir step set 3 title=Short`"),
        (&["step", "list", "--pending"], true, "`statedir step list --status open`"),
        (&["step", "add", "x", "--at", "3"], true, "`statedir step add x --before 3`"),
        (
            &["step", "take", "3", "--force"],
            false,
            "`statedir step take 3 --force --why 'its session is gone'`",
        ),
        (&["dep", "add", "5", "4"], false, "`statedir step set 5 --depends-on 4`"),
        (&["step", "depend", "5", "--on", "1-3"], false, "`statedir step set 5 --depends-on 1-3`"),
        (&["pause", "waiting for a key"], true, "`statedir pause --why 'waiting for a key'`"),
    ] {
        assert_eq!(read_as(line), (works, command.to_owned()), "{line:?}");
    }
}

#[test]
fn a_slip_is_put_right_but_never_into_what_takes_away() {
    for (line, hint) in [
        (&["step", "strat", "3"][..], "`statedir step start 3`"),
        (&["staus"], "`statedir status`"),
        (&["step", "done", "3", "--cots", "0.1"], "`statedir step done 3 --cost 0.1`"),
        (&["undoo"], "`statedir undo --help`"),
        (&["step", "remov", "3"], "`statedir step remove --help`"),
        (&["xyzzy"], "`statedir --help`"),
        (&["pause"], "`statedir pause --why TEXT`"),
        (&["pause", "--dry-run"], "`statedir pause --dry-run --why TEXT`"),
        (&["suspend"], "`statedir pause --why TEXT`"),
        (&["stop"], "`statedir pause --why TEXT`"),
        (&["step", "add"], "`statedir step add --help`"),
    ] {
        let unparsed = parse::parse(&args(line)).err().unwrap_or_else(|| panic!("{line:?}"));
        assert_eq!(unparsed.hint.as_deref(), Some(hint), "{line:?}");
    }
}
