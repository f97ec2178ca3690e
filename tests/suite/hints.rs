//! Hints are followed as they are: from the state that gives it, the command of a hint runs, nothing
//! is lost, and the way leads out within three moves.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::builder::{FIVE, Project};

/// A state, the command that is refused in it, and what must be possible at the end of the way.
struct Scene {
    name: &'static str,
    make: fn() -> Project,
    refused: &'static [&'static str],
    /// The command that must succeed in the end; `None` if reading the answer is all there is.
    goal: Option<&'static [&'static str]>,
}

/// The commands in backticks, or in double ones where the command has a backtick itself.
fn commands(hint: &str) -> Vec<String> {
    let parts: Vec<&str> = hint.split('`').collect();
    let quoted = parts.iter().skip(1).step_by(2).map(|part| part.trim().to_owned());
    quoted.filter(|part| part.starts_with("statedir ")).collect()
}

/// The words of a command line, as a shell makes them.
fn words(line: &str) -> Vec<String> {
    let script = format!("for word in {line}; do printf '%s\\0' \"$word\"; done");
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{line}");
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split_terminator('\0').skip(1).map(str::to_owned);
    // What was asked for with the refused command is repeated in a suggestion.
    words.filter(|word| word != "--json").collect()
}

fn steps(count: usize) -> Project {
    Project::with_steps(count)
}

fn paused() -> Project {
    let project = steps(2);
    project.ok(&["step", "start", "1"]);
    project.ok(&["pause", "--why", "waiting"]);
    project
}

fn running() -> Project {
    let project = steps(1);
    project.ok(&["step", "start", "1"]);
    project
}

fn failed() -> Project {
    let project = running();
    project.ok(&["step", "fail", "1", "--error", "mypy: 12 errors"]);
    project
}

fn finished() -> Project {
    let project = running();
    project.ok(&["step", "done", "1"]);
    project
}

fn waiting() -> Project {
    let project = steps(1);
    project.ok(&["step", "add", "Second", "--depends-on", "1"]);
    project
}

fn reviewed() -> Project {
    let project = steps(1);
    project.ok(&["review", "open", "Is the budget fine?"]);
    project
}

fn edited() -> Project {
    let project = steps(1);
    project.write("variables.json", "{ \"a\": 1,, }");
    project
}

fn missing_file() -> Project {
    let project = steps(1);
    std::fs::remove_file(project.path("context.md")).unwrap();
    project
}

fn wrong_dependency() -> Project {
    let project = waiting();
    let plan = project.read("plan.md");
    let line = plan.lines().find(|line| line.contains("depends_on")).unwrap().to_owned();
    project.edit("plan.md", &line, "- **depends_on**: 9");
    project
}

fn checkpointed() -> Project {
    let project = steps(1);
    project.ok(&["checkpoint", "create", "before-cleanup"]);
    project
}

const SCENES: &[Scene] = &[
    Scene { name: "no state", make: Project::empty, refused: &["status"], goal: Some(&["status"]) },
    Scene { name: "no goal", make: Project::empty, refused: &["init"], goal: Some(&["status"]) },
    Scene {
        name: "no state to expect a revision of",
        make: Project::empty,
        refused: &["init", "--dry-run", "--if-match", "abc", "--goal", "x"],
        goal: None,
    },
    Scene { name: "no steps", make: Project::new, refused: &["step", "next"], goal: None },
    Scene { name: "no such step", make: Project::new, refused: &["step", "done", "3"], goal: None },
    Scene {
        name: "no step of that number",
        make: || steps(2),
        refused: &["step", "done", "7"],
        goal: Some(&["step", "list"]),
    },
    Scene {
        name: "not started",
        make: || steps(1),
        refused: &["step", "done", "1"],
        goal: Some(&["step", "done", "1"]),
    },
    Scene {
        name: "paused",
        make: paused,
        refused: &["step", "start", "2"],
        goal: Some(&["step", "start", "2"]),
    },
    Scene { name: "already running", make: running, refused: &["step", "start", "1"], goal: None },
    Scene { name: "nothing is ready", make: running, refused: &["step", "next"], goal: None },
    Scene {
        name: "failed",
        make: failed,
        refused: &["step", "start", "1"],
        goal: Some(&["step", "done", "1"]),
    },
    Scene { name: "finished", make: finished, refused: &["step", "done", "1"], goal: None },
    Scene {
        name: "everything is finished",
        make: finished,
        refused: &["step", "next"],
        goal: None,
    },
    Scene {
        name: "a dependency is open",
        make: waiting,
        refused: &["step", "start", "2"],
        goal: None,
    },
    Scene {
        name: "needed by another",
        make: waiting,
        refused: &["step", "remove", "1"],
        goal: None,
    },
    Scene {
        name: "a review is open",
        make: reviewed,
        refused: &["step", "start", "1"],
        goal: None,
    },
    Scene {
        name: "no such review",
        make: reviewed,
        refused: &["review", "approve", "r9"],
        goal: Some(&["review", "list"]),
    },
    Scene { name: "an unreadable file", make: edited, refused: &["var", "get"], goal: None },
    Scene {
        name: "a missing file",
        make: missing_file,
        refused: &["context", "show"],
        goal: Some(&["context", "show"]),
    },
    Scene {
        name: "a dependency on a step that is gone",
        make: wrong_dependency,
        refused: &["check"],
        goal: Some(&["check"]),
    },
    Scene {
        name: "no such checkpoint",
        make: checkpointed,
        refused: &["restore", "before-clean"],
        goal: None,
    },
    Scene {
        name: "a checkpoint of that name",
        make: checkpointed,
        refused: &["checkpoint", "create", "before-cleanup"],
        goal: None,
    },
    Scene {
        name: "a state is there",
        make: || steps(1),
        refused: &["init", "--goal", "another"],
        goal: Some(&["status"]),
    },
    Scene {
        name: "the revision moved",
        make: || steps(1),
        refused: &["step", "start", "1", "--if-match", "0123456789ab"],
        goal: None,
    },
    Scene {
        name: "no such constraint",
        make: || steps(1),
        refused: &["constraint", "get", "xyzzy"],
        goal: None,
    },
    Scene {
        name: "no such variable",
        make: || steps(1),
        refused: &["var", "get", "q.w.e"],
        goal: Some(&["var", "get"]),
    },
    Scene {
        name: "a status that is managed",
        make: || steps(1),
        refused: &["step", "set", "1", "status=x"],
        goal: None,
    },
    Scene {
        name: "a plan with open steps",
        make: running,
        refused: &["plan", "set", "status=COMPLETED_SUCCESS"],
        goal: None,
    },
    Scene {
        name: "a rule that is not understood",
        make: || steps(1),
        refused: &["rule", "add", "When pigs fly -> set nothing"],
        goal: None,
    },
    Scene {
        name: "no such operation",
        make: || steps(1),
        refused: &["diff", "nothing-like-it"],
        goal: None,
    },
    Scene {
        name: "a word of another tool",
        make: || steps(1),
        refused: &["add", "it's \"late\" & $dark"],
        goal: Some(&["step", "show", "2"]),
    },
    Scene {
        name: "a slip",
        make: || steps(1),
        refused: &["step", "strat", "1"],
        goal: Some(&["step", "done", "1"]),
    },
    Scene { name: "no such word", make: || steps(1), refused: &["xyzzy"], goal: None },
];

/// Every line that people or agents wrote, which no hint may lose.
fn kept(project: &Project) -> BTreeSet<String> {
    let lines = |name: &&str| std::fs::read_to_string(project.path(name)).unwrap_or_default();
    let text: String = ["context.md", "history.md"].iter().map(lines).collect();
    let titles = std::fs::read_to_string(project.path("plan.md")).unwrap_or_default();
    let titles =
        titles.lines().filter_map(|line| line.split_once(": Do part ")?.1.split(' ').next());
    text.lines().map(str::to_owned).chain(titles.map(str::to_owned)).collect()
}

/// Follows the hints of a refusal; gives the commands that were run.
fn follow(scene: &Scene) -> Vec<String> {
    let project = (scene.make)();
    let before = kept(&project);
    let refused = project.run(&[scene.refused, &["--json"]].concat());
    assert_ne!(refused.code, 0, "{}: nothing is refused", scene.name);
    assert!(!refused.stdout.contains("panic"), "{}", refused.stdout);
    let mut hints = all_hints(&refused.json());
    let mut moves: Vec<String> = Vec::new();
    // The first move of each hint that was not made yet, three at most.
    while let Some(line) = hints.iter().flat_map(|hint| commands(hint)).find(|c| !moves.contains(c))
    {
        if moves.len() == 3 || reached(&project, scene) {
            break;
        }
        moves.push(line.clone());
        let words = words(&line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = project.run(&[&words[..], &["--json"]].concat());
        assert_ne!(ran.code, 2, "{}: `{line}` is no command:\n{}", scene.name, ran.stdout);
        assert_ne!(ran.code, 255, "{}: `{line}`\n{}", scene.name, ran.stdout);
        if ran.code != 0 {
            hints.extend(all_hints(&ran.json()));
        }
    }
    if scene.goal.is_some() {
        assert!(reached(&project, scene), "{}: {moves:?} lead nowhere", scene.name);
    }
    let after = kept(&project);
    let lost: Vec<&String> = before.difference(&after).collect();
    assert!(lost.is_empty(), "{}: {moves:?} lost {lost:?}", scene.name);
    for name in FIVE.iter().filter(|_| project.dir().exists() && scene.name != "a missing file") {
        assert!(project.path(name).exists(), "{}: {name} is gone", scene.name);
    }
    moves
}

/// Whether what was wanted can be had now. It is tried on a copy that nobody sees.
fn reached(project: &Project, scene: &Scene) -> bool {
    let Some(goal) = scene.goal else { return false };
    project.run(&[goal, &["--dry-run"]].concat()).code == 0
}

/// The hint of a refusal and those of its findings.
fn all_hints(answer: &Value) -> Vec<String> {
    let own = answer["error"]["hint"].as_str();
    let findings = answer["findings"].as_array().into_iter().flatten();
    let of_findings = findings.filter_map(|finding| finding["hint"].as_str());
    own.into_iter().chain(of_findings).map(str::to_owned).collect()
}

#[test]
fn every_hint_leads_out_within_three_moves_and_loses_nothing() {
    let mut followed = 0;
    for scene in SCENES {
        let moves = follow(scene);
        followed += moves.len();
        for line in &moves {
            assert_ne!(line, "statedir undo", "{}", scene.name);
            assert!(
                words(line) != scene.refused,
                "{}: the hint is the command that was refused",
                scene.name
            );
        }
    }
    assert!(followed > 25, "{followed}");
}

#[test]
fn a_refusal_has_a_hint_that_can_be_pasted_or_says_what_to_do() {
    for scene in SCENES {
        let project = (scene.make)();
        let answer = project.run(&[scene.refused, &["--json"]].concat()).json();
        let hints = all_hints(&answer);
        assert!(!hints.is_empty(), "{}: {answer}", scene.name);
        for hint in hints {
            for line in commands(&hint) {
                for word in words(&line) {
                    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
                    let shouts = bare.len() > 1 && bare.chars().all(|c| c.is_ascii_uppercase());
                    assert!(!shouts && !word.contains(['|', '…']), "{}: {line}", scene.name);
                }
            }
        }
    }
}

#[test]
fn the_way_from_an_empty_plan_to_work_has_no_loop() {
    let project = Project::new();
    let mut seen = BTreeSet::new();
    let mut command: Vec<String> = ["step", "next", "--claim"].map(str::to_owned).to_vec();
    for _ in 0..5 {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let ran = project.run(&[&words[..], &["--json"]].concat());
        if ran.code == 0 {
            return;
        }
        assert!(seen.insert(command.clone()), "{command:?} comes again");
        let hint = ran.json()["error"]["hint"].as_str().unwrap().to_owned();
        let Some(line) = commands(&hint).into_iter().next() else { return };
        command = self::words(&line);
    }
    panic!("no way out: {seen:?}");
}
