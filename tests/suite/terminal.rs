//! Output on a terminal: width, colours, times. `script` is the terminal.

use std::process::Command;

use crate::{
    builder::{Project, outside_of_any_session},
    needs, program,
};

/// What a terminal of so many columns shows of a command.
fn shown(project: &Project, columns: u32, env: &[(&str, &str)], args: &[&str]) -> String {
    let quoted: Vec<String> =
        args.iter().map(|arg| format!("'{}'", arg.replace('\'', "'\\''"))).collect();
    // The shell would set `COLUMNS` itself, once it has run a program.
    let own: Vec<String> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let line = format!(
        "stty cols {columns} rows 40; env -u COLUMNS {} {} {}",
        own.join(" "),
        program::name(),
        quoted.join(" ")
    );
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "STATEDIR", "CI"] {
        command.env_remove(name);
    }
    let ran = outside_of_any_session(&mut command)
        .current_dir(project.root())
        .env("STATEDIR_ACTOR", "tester")
        // Ages are the same in each run.
        .env("STATEDIR_NOW", "2027-01-01T00:00:00Z")
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(project.in_builtin_words(ran.stdout)).unwrap().replace('\r', "")
}

fn talkative() -> Project {
    let project = Project::with_steps(2);
    let long = "Find out why the nightly build of the documentation takes twice as long as it did \
                in October, and who noticed it first";
    project.ok(&["step", "add", long, "--depends-on", "1"]);
    project.ok(&["directive", "add", long]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "fail", "1", "--error", long]);
    project
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn lines_are_broken_between_words_at_the_width_of_the_terminal() {
    if !needs::program("script") {
        return;
    }
    let project = talkative();
    for args in [&["status"][..], &["step", "list"], &["step", "next"], &["step", "start", "3"]] {
        let whole = without_colours(&shown(&project, 500, &[], args));
        for columns in [50, 80] {
            let text = without_colours(&shown(&project, columns, &[], args));
            let long = text.lines().filter(|line| line.chars().count() > columns as usize);
            // A command to be copied stays whole.
            assert_eq!(long.filter(|line| !line.contains('`')).count(), 0, "{args:?}\n{text}");
            assert!(text.lines().count() > whole.lines().count() || args[0] == "step", "{text}");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&text), words(&whole), "{args:?}");
        }
        // `COLUMNS` overrides the width of the terminal.
        let text = without_colours(&shown(&project, 500, &[("COLUMNS", "50")], args));
        assert_eq!(text, without_colours(&shown(&project, 50, &[], args)), "{args:?}");
    }
    // Control: a pipe gets whole lines, whatever `COLUMNS` says.
    let mut command = project.command(&["status"]);
    let piped = command.env("COLUMNS", "50").output().unwrap();
    assert!(
        String::from_utf8(piped.stdout).unwrap().lines().any(|line| line.chars().count() > 100)
    );
}

#[test]
fn what_is_to_be_read_by_programs_is_never_broken() {
    if !needs::program("script") {
        return;
    }
    let project = talkative();
    let text = "a value of many words, ".repeat(10);
    project.ok(&["var", "set", "text", &text]);
    project.ok(&["context", "add", &text]);
    for args in [
        &["var", "get", "text"][..],
        &["state", "--format", "json"],
        &["show", "context"],
        &["context", "show"],
        &["brief"],
        &["status", "--json"],
        &["step", "add", "x", "--description", &text, "--dry-run"],
    ] {
        let shown = without_colours(&shown(&project, 60, &[], args));
        assert!(shown.lines().any(|line| line.chars().count() > 60), "{args:?}\n{shown}");
    }
}

#[test]
fn wide_and_right_to_left_text_is_measured_as_it_is_shown() {
    if !needs::program("script") {
        return;
    }
    let project = Project::with_steps(1);
    project.ok(&["directive", "add", &"数据库 ".repeat(30)]);
    let text = without_colours(&shown(&project, 60, &[], &["directive", "list"]));
    let widest = text.lines().map(|line| line.chars().filter(|c| *c == '数').count()).max();
    // Seven columns each, a blank between them, behind a number of four.
    assert_eq!(widest, Some(8), "{text}");
    let project = Project::with_steps(1);
    project.ok(&["directive", "add", &"שָׁלוֹם ".repeat(30)]);
    let text = without_colours(&shown(&project, 60, &[], &["directive", "list"]));
    let widest = text.lines().map(|line| line.matches('ש').count()).max();
    assert_eq!(widest, Some(11), "{text}");
}

#[test]
fn colours_are_as_the_variables_say() {
    if !needs::program("script") {
        return;
    }
    let project = talkative();
    let is_coloured =
        |env: &[(&str, &str)]| shown(&project, 80, env, &["status"]).contains('\u{1b}');
    for (env, expected) in [
        (&[][..], true),
        (&[("NO_COLOR", "1")], false),
        (&[("NO_COLOR", "")], true),
        (&[("CLICOLOR", "0")], false),
        (&[("CLICOLOR", "1")], true),
        (&[("TERM", "dumb")], false),
        (&[("TERM", "dumb"), ("CLICOLOR", "1")], false),
        (&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")], true),
        (&[("CLICOLOR", "0"), ("CLICOLOR_FORCE", "1")], true),
        (&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
    ] {
        assert_eq!(is_coloured(env), expected, "{env:?}");
    }
    let piped = |name: &str, value: &str| {
        let mut command = project.command(&["status"]);
        command.env_remove("NO_COLOR").env(name, value);
        String::from_utf8(command.output().unwrap().stdout).unwrap().contains('\u{1b}')
    };
    assert!(!piped("CLICOLOR", "1") && !piped("CLICOLOR_FORCE", "0"));
    assert!(piped("CLICOLOR_FORCE", "1"));
}

/// Durations that are hard to read: `41424ms`, `7200s`, `300 seconds`.
fn awkward_times(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '.').collect();
    let number = |word: &str| word.parse::<f64>().unwrap_or_default();
    let alone = words.iter().filter(|word| {
        let of = |unit: &str| word.strip_suffix(unit).map(number).unwrap_or_default();
        of("ms") >= 1000.0 || of("s") >= 60.0 || of("m") >= 60.0
    });
    let apart = words.windows(2).filter(|pair| {
        let of = |units: &[&str]| if units.contains(&pair[1]) { number(pair[0]) } else { 0.0 };
        of(&["ms"]) >= 1000.0 || of(&["seconds", "s"]) >= 60.0
    });
    let alone = alone.map(|word| (*word).to_owned());
    alone.chain(apart.map(|pair| pair.join(" "))).collect()
}

#[test]
fn times_are_shown_as_people_say_them() {
    assert_eq!(
        awkward_times("took 41424ms (7200s), 300 seconds, 90 ms, 5s"),
        ["41424ms", "7200s", "300 seconds"]
    );
    assert_eq!(awkward_times("2h 34m, 59s, 1.5s at 2026-01-15T09:00:00Z"), [""; 0]);
    let project = Project::with_steps(3);
    project.ok(&["constraint", "set", "max_execution_time", "1h"]);
    project.ok(&[
        "rule",
        "add",
        "If execution time > 200s → set priority to \"speed_and_clarity\"",
    ]);
    project.ok(&["step", "add", "Long", "--time", "7200s"]);
    project.ok(&["step", "start", "1"]);
    let done = project.ok(&["step", "done", "1", "--time", "9240s", "--cost", "0.5"]);
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "fail", "2", "--time", "41424ms", "--error", "no"]);
    project.ok(&["step", "start", "3", "--actor", "ada"]);
    let mut printed = done.stdout + &done.stderr;
    for args in [
        &["status"][..],
        &["metrics"],
        &["brief"],
        &["step", "list"],
        &["step", "show", "3"],
        &["step", "take", "3"],
        &["history", "list"],
        &["recover"],
        &["resume"],
        &["scan"],
        &["rule", "check"],
        &["rule", "explain", "1"],
        &["rule", "test", "time", "seconds=500"],
        &["constraint", "list"],
        &["review-notes"],
        &["diff", "@-4"],
        &["check"],
        &["memory"],
        &["gc", "--older-than", "200d"],
    ] {
        let ran = project.run(args);
        let text = ran.stdout + &ran.stderr;
        // Text of the user is quoted unchanged.
        let text = text.replace("200s", "").replace("execution time > ", "");
        assert_eq!(awkward_times(&text), [""; 0], "{args:?}\n{text}");
        printed.push_str(&text);
    }
    assert!(printed.contains("2h 34m"), "{printed}");
    assert_eq!(awkward_times(&project.read("history.md").replace("200s", "")), [""; 0]);
}
