//! What all commands have in common: help, usage errors, colours, a closed pipe.

use crate::builder::Project;

/// Commands of one level with the same description: the doc comment of options that several verbs
/// share would become the description of each.
fn alike(command: &clap::Command, found: &mut Vec<String>) {
    let mut seen = std::collections::BTreeMap::new();
    for one in command.get_subcommands() {
        let about = one.get_about().map(ToString::to_string).unwrap_or_default();
        if let Some(other) = seen.insert(about.clone(), one.get_name().to_owned()) {
            found.push(format!("{} {other}, {}: {about}", command.get_name(), one.get_name()));
        }
        alike(one, found);
    }
}

#[test]
fn every_command_says_what_it_does_and_not_what_another_does() {
    let mut command = statedir::internals::command();
    command.build();
    let mut found = Vec::new();
    alike(&command, &mut found);
    assert_eq!(found, [""; 0]);
}

#[test]
fn every_command_has_help_with_examples() {
    fn visit(command: &clap::Command, path: &str, missing: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        if !help.contains("Examples:") {
            missing.push(path.to_owned());
        }
        for sub in command.get_subcommands() {
            visit(sub, &format!("{path} {}", sub.get_name()), missing);
        }
    }
    let mut missing = Vec::new();
    visit(&statedir::internals::command(), "statedir", &mut missing);
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn usage_errors_are_exit_two_and_json_too() {
    let project = Project::new();
    for args in [&["nonsense"][..], &["step"], &["var", "set", "a"], &["step", "start", "--bogus"]]
    {
        project.refused(2, args);
    }
    let help = project.run(&["step", "add", "--help"]);
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("Examples:"));
}

#[test]
fn a_closed_pipe_is_a_quiet_end() {
    let project = Project::with_steps(300);
    let mut command = project.command(&["show", "plan"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.code().is_some());
}

#[test]
fn colours_follow_the_usual_variables() {
    let project = Project::with_steps(2);
    let shown = |variables: &[(&str, &str)]| {
        let mut command = project.command(&["status"]);
        command.env("STATEDIR_NOW", "2040-01-01T00:00:00Z");
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        let output = command.envs(variables.iter().copied()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let plain = shown(&[]);
    assert!(!plain.contains(['\u{1b}', '\0']), "{plain:?}");
    let forced = shown(&[("CLICOLOR_FORCE", "1")]);
    assert!(forced.contains("\u{1b}[1m") && !forced.contains('\0'), "{forced:?}");
    assert_eq!(shown(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), plain);
    assert_eq!(shown(&[("CLICOLOR", "1")]), plain, "a pipe is no terminal");
    assert_eq!(shown(&[("CLICOLOR_FORCE", "0")]), plain);
}

#[test]
fn text_cannot_pass_for_a_coloured_line_of_ours() {
    let project = Project::with_steps(1);
    project.edit("context.md", "## ", "\0\u{1b}[31mred\n\n## ");
    let mut command = project.command(&["brief"]);
    let output = command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("\n\u{1b}[31mred"), "{text:?}");
}

#[test]
fn an_empty_name_is_called_empty() {
    let project = Project::with_steps(1);
    for (name, why) in [("", "is empty"), (" ", "is empty"), ("a\nb", "must be one line")] {
        let refused = project.refused(2, &["step", "start", "1", "--actor", name]);
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.ends_with(why), "{message}");
    }
}

#[test]
fn the_operations_of_a_patch_are_counted_from_one() {
    let project = Project::new();
    let patch = r#"[{"op":"add","path":"/x","value":1},{"op":"remove","path":"/nope"}]"#;
    let ran = project.run_with_input(&["var", "patch", "-"], patch);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("error: operation 2 of the patch: "), "{}", ran.stderr);
}

#[test]
fn the_log_says_who_acted_once() {
    let project = Project::with_steps(1);
    project.ok(&["--actor", "ada", "step", "start", "1"]);
    project.ok(&["step", "done", "1", "--actor=ada", "--note", "--actor bob"]);
    let log = project.json(&["op", "log"])["operations"].clone();
    let said = |at: usize| (log[at]["actor"].clone(), log[at]["command"].clone());
    assert_eq!(said(0), ("ada".into(), r#"step done 1 --note "--actor bob""#.into()));
    assert_eq!(said(1), ("ada".into(), "step start 1".into()));
    let undone = project.ok(&["undo"]).stdout;
    assert!(undone.starts_with("undone: step done 1 --note"), "{undone}");
}

#[test]
fn words_behind_a_step_are_offered_as_a_remark() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    for (args, hint) in [
        (
            &["step", "done", "1", "all", "good"][..],
            "`statedir step done 1 --note 'all good' --json`",
        ),
        (&["step", "done", "all", "good"], "`statedir step done --note 'all good' --json`"),
        (
            &["step", "done", "1", "2", "both", "good"],
            "`statedir step done 1 2 --note 'both good' --json`",
        ),
        (&["step", "fail", "1", "no", "key"], "`statedir step fail 1 --error 'no key' --json`"),
        (
            &["step", "finish", "1", "it", "works"],
            "`statedir step done 1 --note 'it works' --json`",
        ),
        (&["step", "start", "1", "now"], "`statedir step start --help`"),
    ] {
        let error = project.refused(2, args)["error"].clone();
        assert_eq!(error["hint"], hint, "{args:?}");
        let message = error["message"].as_str().unwrap();
        assert!(message.ends_with("` is not the number of a step"), "{message}");
    }
    // Control: numbers are steps.
    project.ok(&["step", "start", "2"]);
    project.ok(&["step", "done", "1", "2"]);
}

#[test]
fn a_hint_is_a_whole_command_and_fits_what_was_asked() {
    let project = Project::with_steps(2);
    let hint = |args: &[&str]| project.run(args).json()["error"]["hint"].clone();
    let create = "`statedir --json context add x --section Nope --create` adds the section";
    assert_eq!(hint(&["--json", "context", "add", "x", "--section", "Nope"]), create);
    let shows = "`statedir constraint list` shows them";
    assert_eq!(hint(&["constraint", "unset", "nonsense", "--json"]), shows);
    let moves = "`statedir step move 2 COMPLETED` moves the step there";
    assert_eq!(hint(&["step", "set", "2", "status=COMPLETED", "--json"]), moves);
    for args in [["context", "show"], ["show", "context"]] {
        let args = [&args[..], &["--section", "Nope", "--json"]].concat();
        assert_eq!(hint(&args), "`statedir show context` prints the whole file", "{args:?}");
    }
}

#[test]
fn whoever_repeats_a_command_is_not_led_to_do_the_work_again() {
    let project = Project::with_steps(1);
    for (end, status) in [("done", "COMPLETED"), ("skip", "SKIPPED")] {
        project.ok(&["step", "start", "1"]);
        project.ok(&["step", end, "1"]);
        let error = project.refused(1, &["step", end, "1"])["error"].clone();
        assert!(error["message"].as_str().unwrap().contains(&format!("it is `{status}`")));
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.starts_with("nothing is left to do for it: `statedir step next`"), "{hint}");
        project.ok(&["step", "reset", "1"]);
    }
}

#[test]
fn a_refusal_mentions_the_edit_that_caused_it() {
    let project = Project::with_steps(1);
    let old = project.read("plan.md");
    project.ok(&["step", "start", "1"]);
    project.write("plan.md", old);
    let hint = project.refused(1, &["step", "done", "1"])["error"]["hint"].clone();
    let hint = hint.as_str().unwrap();
    assert!(
        hint.starts_with("the plan was edited outside statedir just now, `statedir diff @-`"),
        "{hint}"
    );
    assert!(project.ok(&["diff", "@-"]).stdout.contains("RUNNING"));
    // Control: later the edit is known.
    let hint = project.refused(1, &["step", "done", "1"])["error"]["hint"].clone();
    assert_eq!(hint, "start it first: `statedir step start 1`");
}

#[test]
fn of_two_steps_with_one_number_either_can_be_named() {
    let project = Project::with_steps(2);
    project.edit("plan.md", "### Step 2", "### Step 1");
    let listed = project.json(&["step", "list"])["steps"].clone();
    let id = |at: usize| listed[at]["id"].as_str().unwrap().to_owned();
    let hint = project.refused(1, &["step", "start", "1"])["error"]["hint"].clone();
    let ids = format!("name it by its id, `{}` or `{}`", id(0), id(1));
    assert!(hint.as_str().unwrap().starts_with(&ids), "{hint}");
    project.ok(&["step", "start", &id(1)]);
    project.ok(&["check", "--fix"]);
    project.ok(&["step", "start", "1"]);
}

#[test]
fn a_variable_that_names_no_state_is_blamed() {
    let project = Project::new();
    let nowhere = project.root().join("nowhere");
    let ran = project.command(&["status"]).env("STATEDIR", &nowhere).output().unwrap();
    let printed = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let first = printed.lines().next().unwrap();
    let blamed =
        format!("error: there is no state in `{}` ($STATEDIR names it)", nowhere.display());
    assert_eq!(first, blamed);
    // Control: an option that was typed needs no explanation.
    let ran = project.run(&["-C", "nowhere", "status"]);
    assert!(!ran.stderr.contains("STATEDIR"), "{}", ran.stderr);
}

#[test]
fn a_key_that_is_given_twice_is_refused_and_not_dropped() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    for args in [
        &["step", "done", "1", "--output", "a=1", "--output", "a=2"][..],
        &["step", "add", "More", "--input", "a=1", "--input", "a=1"],
        &["step", "set", "2", "owner=ada", "owner=bob"],
        &["plan", "set", "owner=ada", "owner=bob"],
        &["history", "add", "Asked", "a=1", "a=2"],
        &["event", "emit", "asked", "a=1", "a=2"],
    ] {
        let before = project.files();
        assert_eq!(project.refused(1, args)["error"]["code"], "duplicate_key", "{args:?}");
        assert_eq!(project.files(), before, "{args:?}");
    }
    project.ok(&["step", "done", "1", "--output", "a=1", "--output", "b=2"]);
}

#[test]
fn input_may_begin_with_a_byte_order_mark() {
    let project = Project::new();
    let changes = r#"[{"op": "step.add", "title": "A"}]"#;
    project.ok_with_input(&["apply", "-"], &format!("\u{feff}{changes}"));
    project.ok_with_input(&["var", "merge", "-"], "\u{feff}{\"a\": 1}");
    project.ok_with_input(&["var", "set", "b", "-"], "\u{feff}42\r\n");
    assert_eq!(project.json(&["var", "get", "b"])["value"], 42);
    project.ok_with_input(&["context", "add", "-"], "\u{feff}It works\r\n");
    assert!(!project.read("context.md").contains('\u{feff}'));
    let state = project.ok(&["state"]).stdout;
    project.ok_with_input(&["import", "-", "--replace"], &format!("\u{feff}{state}"));
    assert_eq!(project.json(&["step", "list"])["steps"][0]["title"], "A");
}

#[test]
fn a_limit_of_nothing_does_not_say_that_there_is_nothing() {
    let project = Project::with_steps(2);
    project.ok(&["history", "add", "Asked"]);
    for args in [
        &["step", "list"][..],
        &["op", "log"],
        &["history", "list"],
        &["history", "search", "Asked"],
    ] {
        let printed = project.ok(&[args, &["--limit", "0"]].concat()).stdout;
        assert!(!printed.contains("no ") && printed.contains("--limit"), "{args:?} {printed}");
    }
}

#[test]
fn the_title_of_a_step_can_come_from_standard_input() {
    let project = Project::new();
    project.ok_with_input(&["step", "add", "-"], "Read the papers\n");
    assert!(project.read("plan.md").contains("Step 1: Read the papers"));
    for input in ["Read\nthe papers\n", "\n"] {
        assert_eq!(project.run_with_input(&["step", "add", "-"], input).code, 1, "{input:?}");
    }
    // In KEY=VALUE it is a value like any other.
    project.ok(&["plan", "set", "owner=-"]);
    assert!(project.read("plan.md").contains("owner**: -"), "{}", project.read("plan.md"));
}

#[test]
fn the_beginning_of_the_revision_stands_for_it() {
    let project = Project::with_steps(1);
    let revision = project.json(&["status"])["revision"].as_str().unwrap().to_owned();
    let refusal = project.refused(3, &["var", "set", "a", "1", "--if-match", &revision[..5]]);
    let hint = refusal["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("at least 6 characters"), "{hint}");
    project.ok(&["var", "set", "a", "1", "--if-match", &revision[..6]]);
    // Now it is the beginning of an earlier one.
    let refusal = project.refused(3, &["var", "set", "a", "2", "--if-match", &revision[..6]]);
    let message = refusal["error"]["message"].as_str().unwrap();
    assert!(message.contains("since then var.set"), "{message}");
}
