//! Plans of other systems, worked on in their own files.

mod clients;
mod concurrent;
mod corpus;
mod imports;
mod lone_plan;
mod merging;
mod newcomer;
mod refusals;

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::builder::Project;

/// A project with files of somebody else.
fn project(files: &[(&str, &str)]) -> Project {
    let project = Project::with_lifecycle(false);
    for (name, text) in files {
        let path = project.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    project
}

/// The bytes of every file below a directory, but for those that adopting adds.
fn bytes(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                if !name.ends_with(".statedir") {
                    open.push(path);
                }
            } else {
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Those of `names` in a directory.
fn only(
    all: &BTreeMap<String, Vec<u8>>,
    names: &BTreeMap<String, Vec<u8>>,
) -> BTreeMap<String, Vec<u8>> {
    all.iter()
        .filter(|(name, _)| names.contains_key(*name))
        .map(|(name, text)| (name.clone(), text.clone()))
        .collect()
}

/// Id, title and whether it is finished, a line for each step.
fn steps(project: &Project) -> Vec<String> {
    let state = project.json(&["state"]);
    let counts = |step: &Value| {
        let mark = match step["status"].as_str().unwrap() {
            "PENDING" => ' ',
            "COMPLETED" => 'x',
            "RUNNING" => '-',
            _ => '?',
        };
        format!("[{mark}] {} {}", step["id"].as_str().unwrap(), step["title"].as_str().unwrap())
    };
    state["steps"].as_array().unwrap().iter().map(counts).collect()
}

/// Undoes whatever can be undone.
fn undo_everything(project: &Project) {
    for _ in 0..100 {
        if project.run(&["undo"]).code != 0 {
            return;
        }
    }
    panic!("there is no end to what can be undone");
}

const TODO: &str =
    "# Things to do\n\n- [x] Buy paint\n- [ ] Paint the wall\n- [ ] Clean up\n- [ ] Rest\n";

#[test]
fn adopting_writes_a_layout_file_and_changes_nothing() {
    let project = project(&[("TODO.md", TODO), ("README.md", "# Hello\n")]);
    let before = bytes(project.root());
    let printed = project.ok(&["adopt", "--dry-run"]).stdout;
    assert!(printed.starts_with("todo, TODO.md: 4 tasks, 1 done, 3 open\n"), "{printed}");
    assert_eq!(bytes(project.root()), before);
    assert!(!project.root().join(".statedir").exists());
    project.ok(&["adopt"]);
    let after = bytes(project.root());
    assert_eq!(only(&after, &before), before);
    let new: Vec<&String> = after.keys().filter(|name| !before.contains_key(*name)).collect();
    assert_eq!(new, ["statedir.yaml"]);
    let again = project.ok(&["adopt"]).stdout;
    assert!(again.contains("already adopted"), "{again}");
    assert_eq!(bytes(project.root()), after);
}

#[test]
fn the_life_of_a_step_ticks_its_box_and_leaves_no_other_trace_in_the_file() {
    let project = project(&[("TODO.md", TODO)]);
    project.ok(&["adopt"]);
    project.ok(&["step", "next", "--claim"]);
    assert_eq!(bytes(project.root())["TODO.md"], TODO.as_bytes());
    project.ok(&["step", "done", "2", "--output", "litres=3", "--note", "one coat"]);
    let ticked = TODO.replace("[ ] Paint", "[x] Paint");
    assert_eq!(bytes(project.root())["TODO.md"], ticked.as_bytes());
    project.ok(&["step", "start", "3"]);
    project.ok(&["step", "fail", "3", "--error", "no soap"]);
    assert_eq!(bytes(project.root())["TODO.md"], ticked.as_bytes());
    let status = project.json(&["status"]);
    assert_eq!((&status["completed"], &status["failed"]), (&2.into(), &1.into()), "{status}");
    let brief = project.ok(&["brief"]).stdout;
    assert!(brief.contains("no soap") && brief.contains("Clean up"), "{brief}");
    project.ok(&["step", "retry", "3"]);
    project.ok(&["step", "done", "3"]);
    project.ok(&["step", "skip", "4"]);
    let status = project.json(&["status"]);
    assert_eq!(status["completed"], 3, "{status}");
    project.ok(&["history", "verify"]);
    project.ok(&["check"]);
    project.ok(&["recover"]);
    project.ok(&["diff", "@-3"]);
    undo_everything(&project);
    assert_eq!(bytes(project.root())["TODO.md"], TODO.as_bytes());
    assert_eq!(steps(&project).iter().filter(|line| line.starts_with("[x]")).count(), 1);
}

#[test]
fn a_box_that_a_person_ticks_counts() {
    let project = project(&[("TODO.md", TODO)]);
    project.ok(&["adopt"]);
    project.ok(&["step", "next", "--claim"]);
    let path = project.root().join("TODO.md");
    fs::write(&path, TODO.replace("[ ] Paint", "[x] Paint") + "- [ ] One more\n").unwrap();
    assert_eq!(project.json(&["status"])["completed"], 2);
    project.ok(&["step", "start", "5"]);
    project.ok(&["step", "done", "5"]);
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("[x] Paint") && text.contains("[x] One more"), "{text}");
}

#[test]
fn knowledge_and_rules_are_read_and_ours_goes_beside() {
    let project = project(&[
        ("specs/001-login/tasks.md", "# Tasks: Log in\n\n- [ ] T001 Do it\n"),
        ("specs/001-login/spec.md", "# Spec\n\n## Users\nThere are two.\n"),
        (".specify/memory/constitution.md", "# Constitution\n\n## Tests\nNever skip tests.\n"),
    ]);
    let before = bytes(project.root());
    project.ok(&["adopt"]);
    let brief = project.ok(&["brief"]).stdout;
    assert!(brief.contains("There are two.") && brief.contains("Never skip tests."), "{brief}");
    project.ok(&["context", "add", "The login is slow."]);
    project.ok(&["constraint", "set", "priority", "quality"]);
    project.ok(&["var", "set", "a.b", "1"]);
    assert_eq!(project.json(&["var", "get", "a.b"])["value"], 1);
    let brief = project.ok(&["brief"]).stdout;
    assert!(brief.contains("The login is slow."), "{brief}");
    let after = bytes(project.root());
    assert_eq!(only(&after, &before), before);
    assert!(after.contains_key("specs/001-login/context.md"));
    // From a folder below, too.
    let below = project.root().join("specs/001-login");
    let mut command = project.command(&["status"]);
    assert!(command.current_dir(below).status().unwrap().success());
}

#[test]
fn several_plans_are_one_state_whose_ids_tell_them_apart() {
    let project = project(&[
        ("openspec/changes/add-auth/tasks.md", "## 1. Auth\n- [x] 1.1 One\n- [ ] 1.2 Two\n"),
        ("openspec/changes/add-log/tasks.md", "## 1. Log\r\n- [ ] 1.1 One\r\n"),
        ("openspec/changes/archive/2026-01-01-old/tasks.md", "- [x] 1.1 Old\n"),
    ]);
    let printed = project.ok(&["adopt"]).stdout;
    assert!(
        printed.contains("openspec, openspec/changes/add-auth: 2 tasks, 1 done, 1 open"),
        "{printed}"
    );
    assert_eq!(
        steps(&project),
        ["[x] add-auth/1.1 One", "[ ] add-auth/1.2 Two", "[ ] add-log/1.1 One"]
    );
    project.ok(&["step", "start", "add-log/1.1"]);
    project.ok(&["step", "done", "add-log/1.1"]);
    let text =
        fs::read_to_string(project.root().join("openspec/changes/add-log/tasks.md")).unwrap();
    assert_eq!(text, "## 1. Log\r\n- [x] 1.1 One\r\n");
    // A plan that comes later is added by adopting again.
    let later = project.root().join("openspec/changes/fix-it/tasks.md");
    fs::create_dir_all(later.parent().unwrap()).unwrap();
    fs::write(later, "- [ ] 1.1 Fix\n").unwrap();
    project.ok(&["adopt"]);
    assert_eq!(steps(&project).last().unwrap(), "[ ] fix-it/1.1 Fix");
    assert_eq!(steps(&project).len(), 4);
}

#[test]
fn nothing_of_ours_is_seen_where_nobody_wants_it() {
    let project = project(&[("TODO.md", TODO)]);
    project.ok(&["adopt", "--private"]);
    project.ok(&["step", "next", "--claim"]);
    project.ok(&["step", "done", "2"]);
    let names: Vec<String> = bytes(project.root()).into_keys().collect();
    assert_eq!(names, ["TODO.md", "statedir.yaml"]);
    assert!(project.root().join(".statedir/state/history.md").exists());
}

#[test]
fn one_file_or_one_folder_is_adopted_by_its_name() {
    let project = project(&[
        ("notes/things.md", "- [ ] a\n"),
        ("specs/001-login/tasks.md", "- [ ] T001 Do it\n"),
    ]);
    let printed = project.ok(&["adopt", "notes/things.md"]).stdout;
    assert!(printed.starts_with("todo, things.md: 1 task, 0 done, 1 open"), "{printed}");
    let printed = project.ok(&["adopt", "specs/001-login"]).stdout;
    assert!(printed.starts_with("spec-kit, "), "{printed}");
    project.ok(&["-C", "specs/001-login", "step", "next", "--claim"]);
    let ran = project.run(&["adopt", "nowhere"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}

#[test]
fn a_clone_has_the_state_without_its_log() {
    let project = project(&[("TODO.md", TODO)]);
    project.ok(&["adopt"]);
    project.ok(&["step", "next", "--claim"]);
    project.ok(&["step", "done", "2"]);
    fs::remove_dir_all(project.root().join(".statedir")).unwrap();
    assert_eq!(project.json(&["status"])["completed"], 2);
    project.ok(&["step", "start", "3"]);
    project.ok(&["step", "done", "3"]);
    assert!(fs::read_to_string(project.root().join("TODO.md")).unwrap().contains("[x] Clean"));
}

#[test]
fn a_profile_of_ones_own_is_a_file() {
    let project = project(&[
        (
            "ours.yaml",
            "profile: ours\nplan: [\"work/*.md\"]\nunit: file\ngrammar:\n  markers:\n    - { mark: o, role: open }\n    - { mark: d, role: done }\n",
        ),
        ("work/a.md", "- [o] One\n- [d] Two\n"),
    ]);
    let printed = project.ok(&["adopt", "--profile", "ours.yaml"]).stdout;
    assert!(printed.starts_with("ours, work/a.md: 2 tasks, 1 done, 1 open"), "{printed}");
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    assert_eq!(
        fs::read_to_string(project.root().join("work/a.md")).unwrap(),
        "- [d] One\n- [d] Two\n"
    );
    let ran = project.run(&["adopt", "--profile", "nobody"]);
    assert!(ran.stderr.contains("there is no profile `nobody`"), "{}", ran.stderr);
}

#[test]
fn a_file_in_the_folder_of_a_system_is_read_as_one_of_it() {
    let project = project(&[
        (".kiro/specs/pay/tasks.md", "- [-] 1. Models\n- [ ] 2. Views\n"),
        (".kiro/specs/pay/design.md", "# Design\n"),
        (".kiro/specs/pay/requirements.md", "# Requirements\n"),
    ]);
    for path in [".kiro/specs/pay/tasks.md", ".kiro/specs/pay"] {
        let printed = project.json(&["adopt", "--dry-run", path]);
        assert_eq!(printed["profile"], "kiro", "{path}: {printed}");
        assert_eq!(printed["context"][0], "design.md", "{printed}");
        assert_eq!(printed["constraints"][0], "requirements.md", "{printed}");
    }
}

#[test]
fn a_status_that_nobody_knows_counts_as_open_and_stays_until_it_changes() {
    let project = Project::with_lifecycle(false);
    project.ok(&["init", "--goal", "Pay", "--title", "Pay"]);
    project.ok(&["step", "add", "One"]);
    project.ok(&["step", "add", "Two"]);
    let path = project.dir().join("plan.md");
    let text = fs::read_to_string(&path).unwrap();
    let odd = text.replacen("**status**: PENDING", "**status**: IN REVIEW", 1);
    assert_ne!(odd, text);
    fs::write(&path, &odd).unwrap();
    let status = project.json(&["status"]);
    assert_eq!((&status["pending"], &status["total_steps"]), (&2.into(), &2.into()), "{status}");
    let checked = project.ok(&["check"]).stdout;
    assert!(checked.contains("unknown status `IN REVIEW`"), "{checked}");
    assert!(checked.contains("counts as not started"), "{checked}");
    // A change to another step leaves the word as it is.
    project.ok(&["step", "skip", "2"]);
    assert!(fs::read_to_string(&path).unwrap().contains("**status**: IN REVIEW"));
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1"]);
    assert_eq!(project.json(&["status"])["completed"], 1);
    // The same for a status of the plan.
    let text = fs::read_to_string(&path).unwrap();
    let status = project.json(&["status"])["status"].as_str().unwrap().to_owned();
    fs::write(&path, text.replacen(&format!("**status**: {status}"), "**status**: Whatever", 1))
        .unwrap();
    let checked = project.ok(&["check"]).stdout;
    assert!(checked.contains("the plan has the unknown status `Whatever`"), "{checked}");
    project.ok(&["step", "add", "Three"]);
}

#[test]
fn files_that_were_never_there_are_made_when_they_are_needed() {
    let plan = "# Pay\n\n## Steps\n\n### Step 1: One\n";
    for args in [
        &["directive", "add", "Be quick"][..],
        &["rule", "add", "When cost > 5, pause"],
        &["constraint", "set", "priority", "quality"],
        &["context", "add", "It is slow."],
        &["var", "set", "a", "1"],
    ] {
        let project = Project::with_lifecycle(false);
        fs::create_dir_all(project.dir()).unwrap();
        fs::write(project.dir().join("plan.md"), plan).unwrap();
        project.ok(args);
        let file = match args[0] {
            "context" => "context.md",
            "var" => "variables.json",
            _ => "constraints.md",
        };
        let text = project.read(file);
        assert!(text.contains(args[2].split(' ').next().unwrap()), "{args:?}: {text}");
        // Control: a file that existed and is gone is not created anew; it can be restored.
        fs::remove_file(project.dir().join(file)).unwrap();
        let ran = project.run(args);
        assert_eq!(ran.code, 4, "{args:?}: {}", ran.stderr);
        project.run(&["check", "--fix"]);
        assert_eq!(project.read(file), text);
    }
}

#[test]
fn a_scan_names_a_plan_once_and_an_adopted_one_as_a_state() {
    let files = [
        ("kiro/.kiro/specs/pay/tasks.md", "- [ ] 1. Models\n"),
        ("speckit/specs/001-pay/tasks.md", "- [ ] T001 Models\n"),
        ("speckit/specs/001-pay/plan.md", "# Plan\n"),
        ("conductor/conductor/tracks/pay/plan.md", "- [ ] Task: Write\n"),
        ("folder/state/plan.md", "- [ ] One\n"),
        ("folder/state/context.md", "# Context\n"),
    ];
    let project = project(&files);
    let found = |list: &str, key: &str| -> Vec<String> {
        let answer = project.json(&["scan"]);
        let all = answer[list].as_array().unwrap().iter();
        all.map(|one| one[key].as_str().unwrap().trim_start_matches("./").to_owned()).collect()
    };
    let roots = ["conductor", "folder", "kiro", "speckit"];
    assert_eq!(found("adoptable", "directory"), roots);
    assert!(found("states", "directory").is_empty());
    for root in roots {
        project.ok(&["adopt", root]);
        let dir = project.root().join(root).display().to_string();
        project.ok(&["-C", &dir, "step", "start", "1"]);
    }
    assert_eq!(found("states", "directory"), roots);
    assert!(found("adoptable", "directory").is_empty());
}

#[test]
fn what_is_shown_before_a_change_are_the_files_that_it_changes() {
    let project = project(&[("docs/TODO.md", TODO)]);
    project.ok(&["adopt"]);
    let shown = |args: &[&str]| project.ok(args).stdout;
    let started = shown(&["step", "start", "2", "--dry-run"]);
    assert!(started.contains("+++ b/docs/steps.md\n"), "{started}");
    project.ok(&["step", "start", "2"]);
    let done = shown(&["step", "done", "2", "--dry-run"]);
    for line in [
        "--- a/docs/TODO.md\n",
        "\n-- [ ] Paint the wall\n+- [x] Paint the wall\n",
        "--- a/docs/steps.md\n",
        "+++ b/docs/history.md\n",
    ] {
        assert!(done.contains(line), "{line}{done}");
    }
    assert!(!done.contains("plan.md"), "{done}");
    // Whoever has to answer a review does not look for a file that is not there.
    project.ok(&["step", "done", "2"]);
    project.ok(&["review", "open", "Which colour?"]);
    let hint = project.refused(1, &["step", "start", "3"])["error"]["hint"].to_string();
    assert!(hint.contains("*Reviews*") && !hint.contains("plan.md"), "{hint}");
}

#[test]
fn directives_and_rules_are_added_beside_a_file_that_has_such_sections() {
    let theirs = "# Law\n\n## Active Directives\n- Be kind\n\n## Adaptation Rules\n\
                  - If cost > $1 → pause\n";
    let law = ".specify/memory/constitution.md";
    let tasks = ("specs/001-login/tasks.md", "# Login\n\n- [ ] T001 Write\n- [ ] T002 Test\n");
    let project = project(&[(law, theirs), tasks]);
    project.ok(&["adopt"]);
    for text in ["Ask first", "No force pushes"] {
        project.ok(&["directive", "add", text]);
    }
    project.ok(&["rule", "add", "If 2+ consecutive steps fail → pause"]);
    let listed = |args: &[&str]| project.json(args).to_string();
    let directives = project.json(&["directive", "list"])["directives"].clone();
    let texts: Vec<&str> =
        directives.as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["Ask first", "No force pushes", "Be kind"]);
    assert!(listed(&["rule", "list"]).contains("consecutive"));
    assert_eq!(fs::read_to_string(project.root().join(law)).unwrap(), theirs);
    let own = project.root().join("specs/001-login/constraints.md");
    assert!(fs::read_to_string(own).unwrap().contains("- Ask first\n- No force pushes\n"));
    project.ok(&["directive", "remove", "1"]);
    // What is theirs stays.
    project.refused(1, &["directive", "remove", "Be kind"]);
}

#[test]
fn texts_are_added_beside_a_file_that_has_such_sections() {
    let theirs = "# Spec\n\n## Key Findings\n- theirs\n\n## Open\n- why?\n";
    let spec = "specs/001-login/spec.md";
    let tasks = ("specs/001-login/tasks.md", "# Login\n\n- [ ] T001 Write\n- [ ] T002 Test\n");
    let project = project(&[(spec, theirs), tasks]);
    project.ok(&["adopt"]);
    project.refused(1, &["context", "set", "--section", "Open", "not theirs"]);
    project.ok(&["context", "add", "ours"]);
    project.ok(&["context", "add", "--section", "Open", "when?"]);
    project.ok(&["context", "add", "--section", "Open", "where?"]);
    project.ok(&["context", "set", "--section", "Key Findings", "ours alone"]);
    assert_eq!(fs::read_to_string(project.root().join(spec)).unwrap(), theirs);
    let own = fs::read_to_string(project.root().join("specs/001-login/context.md")).unwrap();
    let (findings, open) = own.split_once("## Open\n").unwrap();
    assert!(findings.contains("## Key Findings\n\nours alone\n"), "{own}");
    assert!(open.contains("when?") && open.contains("where?"), "{own}");
    // Control: a section that nobody has is still asked for.
    project.refused(1, &["context", "add", "--section", "Risks", "ice"]);
}

#[test]
fn a_title_of_one_word_is_the_goal() {
    for (title, goal) in
        [("Roadmap", "Roadmap"), ("Ship it", "Ship it"), ("TODO", "TODO"), ("Tasks", "TODO")]
    {
        let text = format!("# {title}\n\n- [ ] Buy paint\n- [ ] Paint the wall\n");
        let project = project(&[("TODO.md", &text)]);
        project.ok(&["adopt"]);
        assert_eq!(project.json(&["state"])["identity"]["goal"], goal, "{title}");
    }
}
