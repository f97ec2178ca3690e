//! Hints are followed as they are: from the state that gives it, the command of a hint runs, nothing
//! is lost, and the way leads out within three moves. No hint in the sources is without such a state.
//!
//! The states are in `hints/scenes.txt`.

mod sites;
mod stage;

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Mutex, atomic::AtomicUsize, atomic::Ordering},
};

use self::{
    sites::{Site, sites},
    stage::{CommandResult, Scene, Stage, scenes},
};
use crate::{
    builder::{Project, Ran},
    lifecycle, needs,
};

/// Messages with a command that no scene prints, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("`statedir setup codex --user --remove`", "takes settings in the user's home"),
    ("`statedir trust` accepts it", "takes a clone that brings a log: trust.rs follows it"),
    ("shows what was archived; run the command again", "takes two commands at the same moment"),
    ("`statedir restore {}` restores a checkpoint", "takes a log of several segments"),
    ("so `undo` cannot revert this", "takes a log of several segments"),
    ("show what else is available", "takes a log of several segments"),
    ("shows how far undo and restore still reach back", "takes a log of several segments"),
    ("`statedir check --fix` restores the image", "takes a log of several segments"),
    ("`statedir checkpoint create` stores a new image", "takes a log of several segments"),
    ("reads parts of it, and so does `history search`", "takes a history of 64 MB"),
    ("repairs what is safe; `statedir diff`", "takes damage between decision and action"),
    ("Look with `statedir op log` and `statedir check`.", "the commands of hooks/guard/shell"),
    ("Use `statedir history add 'what happened'` to write", "the commands of hooks/guard/shell"),
    (
        "finish --next` merges the first",
        "takes a worktree, which no copy has: merge_queue.rs has it",
    ),
    ("`statedir -C {place} check` says what is wrong", "takes a worktree, which no copy has"),
    ("`statedir brief` shows it again", "takes a disk that fails: faults.rs has it"),
    ("`statedir adopt` wrote it; edit it freely", "a comment in a layout file"),
    ("(made by `statedir git install`", "a comment in a file for git"),
    ("# made by `statedir git install --pre-commit`", "a comment in a hook"),
    ("# Where git merges without statedir", "a comment in a file for git"),
    ("`statedir check` lists the problems", "takes a commit that git cannot read"),
    ("`statedir check` shows how things stand", "takes a commit that git cannot read"),
    ("lists what can be compared without git", "takes a machine without git"),
    ("statedir keeps the state of this task in plain files", "the instructions of the MCP server"),
    ("build it with the feature `web`", "takes a program that was built without it"),
    ("without --port takes any that is free", "takes a port that is in use"),
    ("open the address that `statedir web` printed", "a page: web/refusals.rs asks for it"),
    ("`statedir plan set execution_id=my-project`", "takes a database"),
    ("`statedir fleet", "takes a database and several machines: fleet/life.rs follows them"),
    ("`statedir adopt` again completes it", "takes a disk that fails twice"),
    ("… `statedir diff {from} {to}` prints all of it", "the board: a comparison of many lines"),
    ("merges both sides by meaning; if no merge", "takes half a merge: merge/half_way.rs has it"),
];

/// The commands in backticks.
fn commands(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2).map(|part| part.trim().to_owned());
    let ours = quoted.filter(|part| part.starts_with("statedir ") && !part.contains('\n'));
    // In JSON a quote is escaped; the plain text is there as well.
    ours.filter(|part| !part.contains("\\\"")).collect()
}

/// Why a command cannot be pasted.
fn stands_for_something(line: &str) -> bool {
    // What is quoted is text.
    let bare: String = line.split(['\'', '"']).step_by(2).collect();
    // The statuses of the lifecycle are in capitals.
    let bare = bare.replace("RUNNING", "").replace("SKIPPED", "");
    bare.split_whitespace().any(|word| {
        let letters = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let shouts = letters.len() > 1 && letters.chars().all(|c| c.is_ascii_uppercase());
        shouts || word.contains(['|', '…', '<', '>'])
    })
}

/// Follows one command from a state; returns what is wrong with it, and its output.
fn follow(stage: &Stage, command: &str) -> (Option<String>, CommandResult, Stage) {
    let there = stage.copy();
    let before = there.kept();
    // A decision that is reserved for a person is made by one.
    let person =
        command.starts_with("statedir review a") || command.starts_with("statedir review r");
    let actor = if person { " --actor marta" } else { "" };
    let command = command.strip_suffix(" --json").unwrap_or(command);
    let json = if command.contains("--help") { "" } else { " --json" };
    let shown_text = there.run(&format!("{command}{actor}{json}"));
    let mut wrong = None;
    if matches!(shown_text.code, 2 | 124 | 255) {
        wrong = Some(format!("is no command: {}", shown_text.text()));
    } else if shown_text.code != 0 && !shown_text.leads_on() {
        wrong = Some(format!("is a dead end: {}", shown_text.text()));
    }
    if command == "statedir undo" {
        if stage.is_edited() {
            wrong = Some("would revert an edit made outside".to_owned());
        }
        there.run("statedir redo");
    }
    let lost: Vec<String> = before.difference(&there.kept()).cloned().collect();
    if !lost.is_empty() {
        wrong = Some(format!("loses {lost:?}"));
    }
    (wrong, shown_text, there)
}

/// Whether the wanted command succeeds within so many moves.
fn leads_to(stage: &Stage, goal: &str, hints: &[String], moves: usize) -> bool {
    if stage.run(&format!("{goal} --dry-run")).code == 0 {
        return true;
    }
    let onward = |command: &String| {
        let (_, shown_text, there) = follow(stage, command);
        leads_to(&there, goal, &shown_text.commands(), moves - 1)
    };
    moves > 0 && hints.iter().any(onward)
}

/// Runs a scene: returns everything that was printed, and adds what is wrong.
fn play(scene: &Scene, wrong: &mut Vec<String>) -> Vec<String> {
    let stage = Stage::set(scene);
    let (in_json, in_text) = (stage.copy(), stage.copy());
    let shown_text = in_json.run(&scene.line(true));
    let mut texts = shown_text.texts();
    texts.extend(in_text.run(&scene.line(false)).texts());
    let hints: Vec<String> =
        texts.iter().flat_map(|text| commands(text)).collect::<BTreeSet<_>>().into_iter().collect();
    let mut fault = |what: String| wrong.push(format!("{}: {what}", scene.name));
    if hints.is_empty() {
        fault(format!("names no command: {texts:?}"));
    }
    for command in &hints {
        if stands_for_something(command) {
            fault(format!("`{command}` cannot be pasted"));
        }
        if shown_text.code != 0 && *command == scene.command {
            fault(format!("`{command}` is the command that was refused"));
        }
        let (found, answer, _) = follow(&in_json, command);
        if let Some(found) = found {
            fault(format!("`{command}` {found}"));
        }
        texts.extend(answer.texts());
    }
    if let Some(goal) = &scene.goal
        && !leads_to(&in_json, goal, &hints, 3)
    {
        fault(format!("{hints:?} lead nowhere"));
    }
    // The sources do not know which directory is named.
    if let Some((_, rest)) = scene.command.split_once(" -C ")
        && let Some(dir) = rest.split(' ').next()
    {
        let named = format!("`statedir -C {dir} ");
        texts = texts.iter().map(|text| text.replace(&named, "`statedir ")).collect();
    }
    texts
}

#[test]
fn every_hint_in_the_sources_is_followed_from_a_state_that_gives_it() {
    // The lines of the scenes have the built-in words.
    if lifecycle::is_renamed() || !needs::program("bash") || !needs::program("git") {
        return;
    }
    let scenes = scenes();
    assert!(scenes.len() > 150, "{}", scenes.len());
    let (next, played) = (AtomicUsize::new(0), Mutex::new((Vec::new(), Vec::new())));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(scene) = scenes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut wrong = Vec::new();
                    let texts = play(scene, &mut wrong);
                    let mut all = played.lock().unwrap();
                    all.0.extend(texts);
                    all.1.extend(wrong);
                }
            });
        }
    });
    let (texts, wrong) = played.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let sites = sites(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(sites.len() > 150, "{}", sites.len());
    let excepted = |site: &&Site| EXCEPTIONS.iter().any(|(text, _)| site.text.contains(text));
    let unsaid: Vec<String> = sites
        .iter()
        .filter(|site| !site.is_said_in(&texts))
        .filter(|site| !excepted(site))
        .map(|site| format!("{}: {}", site.place, site.text))
        .collect();
    assert!(
        unsaid.is_empty(),
        "give each of these a scene in tests/suite/hints/scenes.txt:\n{}",
        unsaid.join("\n")
    );
    for (text, why) in EXCEPTIONS {
        let is_there = sites.iter().any(|site| site.text.contains(text));
        assert!(is_there, "no message has it any more: {text} ({why})");
    }
}

#[test]
fn a_hint_without_a_scene_and_one_that_leads_astray_are_seen() {
    let code = "fn f() { hint(\"do it: `statedir step {number} \\\n    list` or `statedir {}`\") }\n\
                #[command(after_help = \"`statedir help`\")]\n// \"`statedir comment`\"\n";
    let found = Site::all_in("x.rs", code);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].text, "do it: `statedir step {number} list` or `statedir {}`");
    assert!(found[0].is_said_in(&["so do it: `statedir step 7 list` or `statedir x`.".to_owned()]));
    assert!(!found[0].is_said_in(&["do it: `statedir step 7 show`".to_owned()]));
    if lifecycle::is_renamed() || !needs::program("bash") {
        return;
    }
    let scene = |setup: &str| Scene {
        name: "control".to_owned(),
        setup: vec![setup.to_owned()],
        command: "statedir status".to_owned(),
        goal: None,
    };
    let stage = Stage::set(&scene("steps 1"));
    for (command, fault) in [
        ("statedir step list", None),
        ("statedir step frobnicate", Some("is no command")),
        ("statedir context set x --section 'Key Findings'", None),
        ("rm workspace/state/context.md #", Some("loses")),
    ] {
        let (found, ..) = follow(&stage, command);
        assert_eq!(found.is_some(), fault.is_some(), "{command}: {found:?}");
        assert!(found.unwrap_or_default().contains(fault.unwrap_or_default()), "{command}");
    }
    let edited = Stage::set(&scene("steps 1; echo more >> $STATE/context.md"));
    assert!(follow(&edited, "statedir undo").0.unwrap().contains("made outside"));
    assert_eq!(follow(&stage, "statedir undo").0, None);
    assert!(stands_for_something("statedir step retry N --error TEXT"));
    assert!(!stands_for_something("statedir review open 'May IT be?'"));
}

#[test]
fn the_way_from_an_empty_plan_to_work_has_no_loop() {
    let project = Project::new();
    let mut seen = BTreeSet::new();
    let mut command: Vec<String> = ["step", "next", "--claim"].map(str::to_owned).to_vec();
    for _ in 0..5 {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let ran: Ran = project.run(&[&words[..], &["--json"]].concat());
        if ran.code == 0 {
            return;
        }
        assert!(seen.insert(command.clone()), "{command:?} comes again");
        let hint = ran.json()["error"]["hint"].as_str().unwrap().to_owned();
        let Some(line) = commands(&hint).into_iter().next() else { return };
        command = stage::words(&line);
    }
    panic!("no way out: {seen:?}");
}

/// From another directory, a command without it would be about another state or none.
#[test]
fn a_command_that_named_its_directory_is_answered_with_commands_that_name_it() {
    let (project, elsewhere) = (Project::with_steps(2), tempfile::tempdir().unwrap());
    let dir = project.dir().display().to_string();
    let shown_text = |args: &[&str], dir: Option<&str>| {
        let named = dir.map_or(Vec::new(), |dir| vec!["-C", dir]);
        let from = if dir.is_some() { elsewhere.path() } else { project.root() };
        let mut command = project.command(&[&named, args].concat());
        let ran = Ran::from(command.current_dir(from).output().unwrap());
        commands(&format!("{}{}", ran.stdout, ran.stderr))
    };
    let named = format!("statedir -C {dir} ");
    let mut followed = 0;
    for args in [
        &["status"][..],
        &["brief"],
        &["step", "next"],
        &["step", "start", "9"],
        &["step", "start", "9", "--json"],
        &["step", "done", "1"],
        &["step", "next", "--claim"],
        &["brief", "--for", "1"],
        &["pause", "--why", "lunch"],
        &["step", "start", "2"],
        &["checkpoint", "list"],
        &["recover"],
        &["resume"],
    ] {
        let plain =
            if args == ["step", "next", "--claim"] { vec![] } else { shown_text(args, None) };
        let with = shown_text(args, Some(&dir));
        assert!(with.iter().all(|command| command.starts_with(&named)), "{args:?}: {with:?}");
        // The control: else they name none.
        assert!(plain.iter().all(|command| !command.contains("-C")), "{args:?}: {plain:?}");
        followed += with.len();
    }
    assert!(followed > 9, "only {followed} commands were named");
}

#[test]
fn small_refusals_do_not_lead_astray() {
    let project = Project::new();
    let hint = |args: &[&str]| {
        let error = project.run(&[args, &["--json"]].concat()).json()["error"].clone();
        error["hint"].as_str().unwrap_or_default().to_owned()
    };
    project.ok(&["var", "set", "nothing", "{}"]);
    assert_eq!(hint(&["var", "get", "nothing.report"]), "`statedir var get` shows everything");
    let adopt = hint(&["adopt"]);
    assert!(!adopt.contains("statedir init") && adopt.contains("statedir step add"), "{adopt}");
    let file = project.root().join("file");
    std::fs::write(&file, "").unwrap();
    let not_here = hint(&["-C", &file.display().to_string(), "status"]);
    assert!(!not_here.contains("init"), "{not_here}");

    for note in ["One", "Two", "Three"] {
        project.ok(&["history", "add", note]);
    }
    let whole = project.read("history.md");
    let at = |title: &str| whole.find(&format!("### {title}")).unwrap();
    project.write("history.md", format!("{}{}", &whole[..at("Two")], &whole[at("Three")..]));
    assert!(hint(&["history", "verify"]).contains("`statedir check --fix` restores"));
    project.ok(&["check", "--fix"]);
    assert_eq!(project.read("history.md"), whole);
    project.write("history.md", whole.replace("### Two", "### Deux"));
    assert!(!hint(&["history", "verify"]).contains("check --fix"), "a changed one stays");

    let list = Project::empty();
    std::fs::write(list.root().join("TODO.md"), b"- [ ] caf\xe9\n").unwrap();
    let refused = list.refused(1, &["adopt"]);
    assert!(refused["error"]["hint"].as_str().unwrap().contains("cannot be read"), "{refused}");
    let todo = "# Todo\n\n- [!] Urgent\n- [ ] Other\n";
    std::fs::write(list.root().join("TODO.md"), todo).unwrap();
    list.ok(&["adopt", "TODO.md"]);
    list.ok(&["step", "start", "1"]);
    let read = || std::fs::read_to_string(list.root().join("TODO.md")).unwrap();
    assert_eq!(read(), todo);
    list.ok(&["step", "done", "1"]);
    assert_eq!(read(), todo.replace("[!]", "[x]"));
}
