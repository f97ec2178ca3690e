//! Words of other tools: unambiguous ones work, others get a suggestion with the user's own words.

use crate::builder::Project;

#[test]
fn an_agent_that_types_what_it_guesses_gets_its_work_done() {
    let project = Project::empty();
    project.ok(&["init", "--description", "Try it", "--name", "Trial"]);
    project.ok(&["task", "create", "Collect benchmarks", "--desc", "three of them"]);
    project.ok(&["todo", "add", "--title", "Write the report", "--deps", "1"]);
    project.ok(&["ls"]);
    project.ok(&["ready"]);
    project.ok(&["claim"]);
    project.ok(&["note", "Qdrant is fastest"]);
    project.ok(&["task", "1", "done", "-m", "two pages were empty"]);
    project.ok(&["step", "update", "2", "--status", "in_progress"]);
    project.ok(&["step", "finish", "2", "--summary", "900 words"]);
    project.ok(&["log"]);
    project.ok(&["progress"]);
    let steps = project.json(&["step", "list"]);
    assert_eq!(steps["steps"].as_array().unwrap().len(), 2, "{steps}");
    assert!(project.read("context.md").contains("Qdrant is fastest"));
    assert!(project.read("history.md").contains("two pages were empty"));
    assert!(project.read("history.md").contains("900 words"));
}

#[test]
fn the_log_has_the_command_that_was_run() {
    let project = Project::with_steps(1);
    project.ok(&["claim"]);
    let log = project.ok(&["op", "log", "--limit", "1"]).stdout;
    assert!(log.contains("step next --claim"), "{log}");
}

#[test]
fn a_suggestion_changes_nothing_and_can_be_pasted_into_a_shell() {
    let project = Project::with_steps(3);
    for (typed, suggested) in [
        (&["delete", "3"][..], "`statedir step remove 3`"),
        (&["todo", "it's $HOME"], r"`statedir step add 'it'\''s $HOME'`"),
        (&["step", "done", "1", "--result", "a b"], "`statedir step done 1 --output 'result=a b'`"),
        (&["step", "add", "X", "--priority", "high"], "`statedir step add X priority=high`"),
        (&["rollback"], "`statedir op log`"),
        (&["step", "add", "Buy", "milk", "owner=ada"], "`statedir step add 'Buy milk' owner=ada`"),
        (&["todo", "Buy", "milk"], "`statedir step add 'Buy milk'`"),
        (&["note", "the", "port", "is", "5432"], "`statedir context add 'the port is 5432'`"),
        (
            &["context", "add", "CI", "it is slow"],
            "`statedir context add --section CI 'it is slow'`",
        ),
        (&["assign", "2", "ada"], "`statedir step set 2 owner=ada`"),
        (&["block", "2"], "`statedir step show 2`"),
        (&["step", "done", "1", "all", "good"], "`statedir step done 1 --note 'all good'`"),
        (&["wipe"], "`statedir --help`"),
        (&["todoo"], "`statedir --help`"),
        (&["redoo"], "`statedir redo --help`"),
    ] {
        let answer = project.refused(2, typed);
        let hint = answer["error"]["hint"].as_str().unwrap().replace(" --json`", "`");
        assert_eq!(hint, suggested, "{typed:?}");
        let printed = project.run(typed);
        assert!(printed.stderr.ends_with(&format!("hint: {suggested}\n")), "{}", printed.stderr);
        assert!(!printed.stderr.contains("similar"), "{}", printed.stderr);
    }
}

#[test]
fn missing_arguments_are_reported_for_the_intended_command() {
    let project = Project::with_steps(1);
    let answer = project.refused(2, &["note"]);
    assert_eq!(answer["error"]["hint"], "`statedir context add --help`");
    assert!(answer["error"]["message"].as_str().unwrap().contains("<TEXT>"), "{answer}");
    let help = project.ok(&["step", "finish", "--help"]).stdout;
    assert!(help.contains("Complete a running step"), "{help}");
}

#[test]
fn help_fits_a_screen_and_names_every_command_once() {
    let project = Project::empty();
    let help = project.ok(&["--help"]).stdout;
    assert!(help.lines().count() <= 50, "{}", help.lines().count());
    assert!(help.lines().all(|line| line.chars().count() <= 100));
    for group in
        ["Start here", "Steps", "Knowledge", "Rules", "Going back", "Git", "Agents", "Set-up"]
    {
        assert!(help.lines().any(|line| line.starts_with(group)), "{group}");
    }
    // The commands are in the second column, or fill the line.
    let names: Vec<String> = help
        .lines()
        .filter_map(|line| line.get(13..))
        .map(|rest| rest.split("  ").next().unwrap_or_default())
        .flat_map(|names| names.split(','))
        .map(|name| name.trim().to_owned())
        .collect();
    for command in statedir::internals::command().get_subcommands().filter(|c| !c.is_hide_set()) {
        let name = command.get_name();
        let count = names.iter().filter(|known| *known == name).count();
        assert_eq!(count, 1, "{name}");
    }
}

#[test]
fn a_dash_reads_standard_input_wherever_a_text_goes() {
    let project = Project::with_steps(2);
    project.ok(&["step", "start", "1"]);
    project
        .ok_with_input(&["step", "fail", "1", "--error", "-"], "mypy: 12 errors\nin two files\n");
    assert!(project.read("history.md").contains("in two files"));
    project.ok_with_input(&["history", "add", "-"], "Looked around\n");
    assert!(project.read("history.md").contains("Looked around"));
    project.ok_with_input(&["var", "set", "a.b", "-"], "{\"c\": 1}\n");
    assert_eq!(project.json(&["var", "get", "a.b.c"])["value"], 1);
    project.ok_with_input(&["review", "open", "-"], "Is this fine?\n");
    assert!(project.ok(&["review", "list"]).stdout.contains("Is this fine?"));
    let twice = project.run_with_input(&["step", "fail", "2", "--error", "-", "--note", "-"], "x");
    assert_eq!(twice.code, 2, "{}", twice.stderr);
}

#[test]
fn a_variable_of_a_step_is_read_as_a_reference_reads_it() {
    let project = Project::with_steps(3);
    project.ok(&["step", "start", "3"]);
    project.ok(&["step", "done", "3", "--output", "p99_ms=12"]);
    assert_eq!(project.json(&["var", "get", "steps.3.p99_ms"])["value"], 12);
    assert_eq!(project.ok(&["var", "get", "steps.3.p99_ms"]).stdout.trim(), "12");
    project.refused(1, &["var", "get", "steps.2.p99_ms"]);
}

#[test]
fn a_field_of_the_plan_keeps_its_letters() {
    let project = Project::new();
    project.ok(&["plan", "set", "ticketId=7"]);
    assert!(project.read("plan.md").contains("**ticketId**: 7"), "{}", project.read("plan.md"));
    project.ok(&["plan", "set", "ticketId=8"]);
    let plan = project.read("plan.md");
    assert!(plan.contains("**ticketId**: 8") && !plan.contains("ticketId**: 7"), "{plan}");
}

#[test]
fn a_step_goes_where_it_is_wanted_and_what_refers_to_it_follows() {
    let project = Project::with_steps(3);
    project.ok(&["step", "set", "3", "--input", "a={{steps.2.x}}", "--depends-on", "2"]);
    let titles = |project: &Project| -> Vec<String> {
        let steps = project.json(&["step", "list"]);
        let steps = steps["steps"].as_array().unwrap().clone();
        let numbered = steps.iter().enumerate();
        numbered.for_each(|(at, step)| assert_eq!(step["number"], at + 1, "{step}"));
        steps.iter().map(|step| step["title"].as_str().unwrap().to_owned()).collect()
    };
    project.ok(&["step", "add", "First", "--after", "0"]);
    project.ok(&["step", "add", "Before part 2", "--before", "3", "owner=ada"]);
    let now = ["First", "Do part 1", "Before part 2", "Do part 2", "Do part 3"];
    assert_eq!(titles(&project), now);
    let shown = project.ok(&["step", "show", "5"]).stdout;
    assert!(shown.contains("{{steps.4.x}}"), "{shown}");
    project.ok(&["step", "reorder", "4", "--after", "0"]);
    assert_eq!(titles(&project)[0], "Do part 2");
    let shown = project.ok(&["step", "show", "5"]).stdout;
    assert!(shown.contains("{{steps.1.x}}"), "{shown}");
    project.ok(&["step", "reorder", "1", "--before", "5"]);
    assert_eq!(titles(&project), now);
    project.ok(&["check"]);
    let plan = project.read("plan.md");
    assert_eq!(project.changed_by(&["step", "reorder", "2", "--after", "1"]), Vec::<String>::new());
    project.ok(&["step", "reorder", "1", "--after", "5"]);
    assert_eq!(titles(&project)[4], "First");
    project.ok(&["undo"]);
    assert_eq!(project.read("plan.md"), plan);
    project.refused(1, &["step", "reorder", "9", "--after", "1"]);
    project.refused(2, &["step", "reorder", "1"]);
}

#[test]
fn claiming_a_step_prints_what_is_needed_to_begin() {
    let project = Project::with_steps(1);
    project.ok(&["var", "set", "file_paths.start", "https://example.org"]);
    project.ok(&[
        "step",
        "set",
        "1",
        "--input",
        "url={{file_paths.start}}",
        "--output",
        "pages=how many",
        "--description",
        "Only the *first* ten pages.",
    ]);
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "fail", "1", "--error", "HTTP 503"]);
    project.ok(&["step", "reset", "1"]);
    let printed = project.ok(&["step", "next", "--claim"]).stdout;
    for part in [
        "Only the *first* ten pages.",
        "input url = \"https://example.org\"",
        "expects pages: how many",
        "failed before: HTTP 503",
    ] {
        assert!(printed.contains(part), "{part}:\n{printed}");
    }
    project.ok(&["step", "reset", "1"]);
    let printed = project.json(&["step", "next", "--claim"]);
    assert_eq!(printed["inputs"]["url"], "https://example.org", "{printed}");
    assert_eq!(printed["earlier_errors"][0], "HTTP 503", "{printed}");
}

#[test]
fn an_option_that_a_hint_names_comes_with_the_line_that_was_typed() {
    let project = Project::new();
    let hint = |args: &[&str]| {
        let error = project.refused(1, args)["error"].clone();
        error["hint"].as_str().unwrap().to_owned()
    };
    let hint_text = hint(&["context", "add", "--section", "Open ends", "it's late"]);
    let command = r"`statedir context add --section 'Open ends' 'it'\''s late' --create --json`";
    assert!(hint_text.contains(command), "{hint_text}");
    project.ok(&["context", "add", "--section", "Open ends", "it's late", "--create"]);
    let hint_text = hint(&["constraint", "set", "xyzzy", "1"]);
    assert!(hint_text.contains("`statedir constraint set xyzzy 1 --create --json`"), "{hint_text}");
}

#[test]
fn a_command_alone_lists_what_it_is_about() {
    let project = Project::with_steps(1);
    for (typed, meant) in [
        (&["history"][..], &["history", "list"][..]),
        (&["review"], &["review", "list"]),
        (&["plan"], &["show", "plan"]),
        (&["var"], &["var", "get"]),
        (&["op", "--limit", "1"], &["op", "log", "--limit", "1"]),
    ] {
        assert_eq!(project.ok(typed).stdout, project.ok(meant).stdout, "{typed:?}");
    }
    // An ambiguous word gets all its meanings.
    assert_eq!(project.run(&["checkpoint"]).code, 2);
}
