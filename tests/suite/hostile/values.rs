//! Values that imitate structure go in and come out the same, through every writing command.

use serde_json::Value;
use statedir::{Environment, GitControl, Options, Workspace};

use crate::{
    builder::{Project, Ran},
    faults::snapshot::Snapshot,
};

const VALUES: &[&str] = &[
    "a\nb",
    "x\n## Steps\n### Step 1: forged\n- **status**: COMPLETED",
    "```\nunclosed",
    "~~~",
    "<!-- open",
    "--> closed",
    "a <!-- b --> c",
    "\n",
    "a\n",
    "\na",
    "a\n\n\nb",
    "a\r\nb\r\n",
    "a\rb",
    "x\n<!-- 01ARZ3NDEKTSV4RRFFQ69G5FAV sha256:00 -->",
    "a\u{202e}b\u{2066}c",
    "   lead",
    "trail   ",
    "\tx\ty",
    "- a\n- b",
    "1. x",
    "> q",
    "{\"a\":1}",
    "\"quoted\"",
    "null",
    "true",
    "42",
    "1e2",
    "_em_ *em* **b**",
    "**status**: COMPLETED",
    "- **id**: zzzz",
    "[x]: http://y",
    "<details>",
    "a\n---",
    "---\nx: 1\n---",
    "a\n===",
    "\u{1b}[31mred",
    "back\\slash",
    "end\\",
    "`tick`",
    "```",
    "a | b",
    "\u{a0}x\u{a0}",
    "\u{200b}x",
    "\u{feff}x",
    "a\u{2028}b",
    "😀",
    "&amp; &lt; <b>",
    "If x → set priority to \"quality\"",
    "*",
    "+",
    "# h",
    "###### h",
    "a: b",
    "a：b",
    "a\u{b}b",
    "a\u{c}b",
    "a\u{85}b",
    "a\u{7f}b",
    "$5",
    "50%",
    "...",
    " ",
    "\t",
    "    code",
    "a\n    b",
    "[ ] x",
    "<http://a>",
    "&#10;",
    "-",
    "--json",
    "=",
    "a=b",
];

/// A placeholder of a template, which counts as no value.
const PLACEHOLDERS: &[&str] = &["[Goal Title]", "\"low\" | \"medium\""];

/// Names of variables that are not there.
const REFERENCES: &[&str] = &["{{x}}", "{{{y}}} {{#each z}}"];

struct Way {
    name: &'static str,
    set: fn(&Project, &str) -> Ran,
    get: fn(&Project) -> Value,
    /// For one line of text, where the blanks around it do not count.
    trimmed: bool,
    /// For a command that ends a running step, and so needs a new one each time.
    ends: bool,
}

fn with(project: &Project, args: &[&str], value: &str) -> Ran {
    let (last, first) = args.split_last().unwrap();
    let joined = format!("{last}{value}");
    project.run(&[first, &[joined.as_str(), "--json"]].concat())
}

/// With the value after `--`, where nothing is an option.
fn behind(project: &Project, args: &[&str], value: &str) -> Ran {
    project.run(&[&["--json"], args, &["--", value]].concat())
}

fn entry_field(project: &Project, key: &str) -> Value {
    let list = project.json(&["history", "list"]);
    let fields = list["entries"].as_array().and_then(|all| all.last()).map(|e| e["fields"].clone());
    let fields = fields.unwrap_or_default();
    let mut fields = fields.as_array().into_iter().flatten();
    fields.find(|field| field[0] == key).map(|field| field[1].clone()).unwrap_or_default()
}

fn step(project: &Project, key: &str) -> Value {
    project.json(&["step", "show", "1"])["step"][key].clone()
}

const WAYS: &[Way] = &[
    Way {
        name: "var set",
        set: |p, v| behind(p, &["var", "set", "--string", "k"], v),
        get: |p| p.json(&["var", "get", "k"])["value"].clone(),
        trimmed: false,
        ends: false,
    },
    Way {
        name: "var append",
        set: |p, v| behind(p, &["var", "append", "--string", "extracted_data.urls_processed"], v),
        get: |p| {
            let all = p.json(&["var", "get", "extracted_data.urls_processed"]);
            all["value"].as_array().and_then(|all| all.last().cloned()).unwrap_or_default()
        },
        trimmed: false,
        ends: false,
    },
    Way {
        name: "plan set goal",
        set: |p, v| with(p, &["plan", "set", "goal="], v),
        get: |p| p.json(&["status"])["goal"].clone(),
        trimmed: false,
        ends: false,
    },
    Way {
        name: "plan set title",
        set: |p, v| with(p, &["plan", "set", "title="], v),
        get: |p| p.json(&["status"])["title"].clone(),
        trimmed: true,
        ends: false,
    },
    Way {
        name: "plan set owner",
        set: |p, v| with(p, &["plan", "set", "owner="], v),
        get: |p| p.json(&["state"])["identity"]["other"][0]["text"].clone(),
        trimmed: false,
        ends: false,
    },
    Way {
        name: "step set title",
        set: |p, v| with(p, &["step", "set", "1", "title="], v),
        get: |p| step(p, "title"),
        trimmed: true,
        ends: false,
    },
    Way {
        name: "step set component",
        set: |p, v| with(p, &["step", "set", "1", "--component="], v),
        get: |p| step(p, "component"),
        trimmed: false,
        ends: false,
    },
    Way {
        name: "step set effects",
        set: |p, v| with(p, &["step", "set", "1", "--effects="], v),
        get: |p| step(p, "side_effects"),
        trimmed: false,
        ends: false,
    },
    Way {
        name: "step set output",
        set: |p, v| with(p, &["step", "set", "1", "--output=o="], v),
        get: |p| step(p, "expected_outputs")["o"].clone(),
        trimmed: false,
        ends: false,
    },
    Way {
        name: "step set field",
        set: |p, v| with(p, &["step", "set", "1", "mine="], v),
        get: |p| step(p, "other")["mine"].clone(),
        trimmed: false,
        ends: false,
    },
    Way {
        name: "history add field",
        set: |p, v| with(p, &["history", "add", "T", "k="], v),
        get: |p| entry_field(p, "k"),
        trimmed: false,
        ends: false,
    },
    Way {
        name: "history add title",
        set: |p, v| behind(p, &["history", "add"], v),
        get: |p| {
            let list = p.json(&["history", "list"]);
            let last = list["entries"].as_array().and_then(|all| all.last());
            last.map(|entry| entry["title"].clone()).unwrap_or_default()
        },
        trimmed: true,
        ends: false,
    },
    Way {
        name: "step done note",
        set: |p, v| with(p, &["step", "done", "1", "--note="], v),
        get: |p| entry_field(p, "notes"),
        trimmed: false,
        ends: true,
    },
    Way {
        name: "step fail error",
        set: |p, v| with(p, &["step", "fail", "1", "--error="], v),
        get: |p| entry_field(p, "errors"),
        trimmed: false,
        ends: true,
    },
    Way {
        name: "directive add",
        set: |p, v| behind(p, &["directive", "add"], v),
        get: |p| {
            let list = p.json(&["directive", "list"]);
            let last = list["directives"].as_array().and_then(|all| all.last());
            last.map(|directive| directive["text"].clone()).unwrap_or_default()
        },
        trimmed: true,
        ends: false,
    },
    Way {
        name: "constraint set",
        set: |p, v| behind(p, &["constraint", "set", "--create", "mine"], v),
        get: |p| p.json(&["constraint", "get", "mine"])["value"].clone(),
        trimmed: false,
        ends: false,
    },
];

/// Sends values through every command; returns those that came out wrong.
fn wrong(values: &[&str], ways: &[Way]) -> Vec<String> {
    let mut wrong = Vec::new();
    let lists: Vec<Vec<String>> = std::thread::scope(|scope| {
        let start = |way| scope.spawn(move || wrong_in(way, values));
        let threads: Vec<_> = ways.iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    wrong.extend(lists.into_iter().flatten());
    wrong
}

fn wrong_in(way: &Way, values: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    let project = Project::with_steps(1);
    if way.ends {
        project.ok(&["step", "start", "1"]);
    }
    let start = Snapshot::take(project.root());
    let mut accepted = 0;
    for value in values {
        if way.ends {
            start.restore();
        }
        let before = project.files();
        let ran = (way.set)(&project, value);
        if ran.code != 0 {
            if ran.code != 1 && ran.code != 2 || project.files() != before {
                wrong.push(format!("{} {value:?}: {} {}", way.name, ran.code, ran.stdout));
            }
            continue;
        }
        accepted += 1;
        let found = (way.get)(&project);
        let text = found.as_str().unwrap_or_default();
        let same = if way.trimmed { text.trim() == value.trim() } else { text == *value };
        if !same {
            wrong.push(format!("{} {value:?}: reads back {found}", way.name));
        }
        if let Err(why) = sound_with_one_step(&project) {
            wrong.push(format!("{} {value:?}: {why}", way.name));
            start.restore();
        }
    }
    if accepted * 4 < values.len() {
        wrong.push(format!("{}: only {accepted} values were accepted", way.name));
    }
    wrong
}

/// The findings of `check`, `history verify` and `status`, without starting thousands of processes.
fn sound_with_one_step(project: &Project) -> Result<(), String> {
    let env = Environment::fixed("2026-11-16T10:00:00Z".parse().unwrap(), "tester", 77);
    let workspace = Workspace::new(project.dir(), env, Options::new(GitControl));
    let found = workspace.check(false, &mut |_| {}).map_err(|error| error.to_string())?;
    if found.errors() > 0 {
        return Err(serde_json::to_string(&found.findings).unwrap());
    }
    let snapshot = workspace.read().map_err(|error| error.to_string())?;
    let state = serde_json::to_value(snapshot.state(false)).unwrap();
    match state["steps"].as_array().map(Vec::len) {
        Some(1) => Ok(()),
        steps => Err(format!("{steps:?} steps")),
    }
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} values\n{:.6000}", wrong.len(), wrong.join("\n"));
}

#[test]
fn values_that_imitate_structure_read_back_identical() {
    let ways: Vec<usize> = (0..WAYS.len()).filter(|at| WAYS[*at].name != "directive add").collect();
    let wrong: Vec<String> =
        ways.into_iter().flat_map(|at| wrong(VALUES, &WAYS[at..=at])).collect();
    report(&wrong);
}

#[test]
fn directives_that_imitate_structure_read_back_identical() {
    let at = WAYS.iter().position(|way| way.name == "directive add").unwrap();
    report(&wrong(VALUES, &WAYS[at..=at]));
}

#[test]
fn what_looks_like_a_placeholder_is_refused_or_kept_but_never_dropped() {
    let mut wrong = wrong(PLACEHOLDERS, WAYS);
    wrong.retain(|text| !text.contains("values were accepted"));
    report(&wrong);
}

#[test]
fn braces_outside_of_step_inputs_are_only_text() {
    let mut wrong = wrong(REFERENCES, WAYS);
    wrong.retain(|text| !text.contains("values were accepted"));
    report(&wrong);
}

#[test]
fn text_in_a_section_stays_there_and_keeps_its_words() {
    for value in VALUES.iter().filter(|value| !value.trim().is_empty()) {
        let project = Project::with_steps(1);
        project.ok_with_input(&["context", "add", "-"], value);
        let show = project.json(&["context", "show", "--section", "Key Findings"]);
        let text = show["text"].as_str().unwrap();
        for word in value.split_whitespace().filter(|w| w.chars().all(char::is_alphanumeric)) {
            assert!(text.contains(word), "{value:?} became {text:?}");
        }
        project.ok(&["context", "add", "the second"]);
        let show = project.json(&["context", "show", "--section", "Key Findings"]);
        assert!(show["text"].as_str().unwrap().contains("the second"), "{value:?} hides the next");
        project.ok(&["check"]);
        let rationale = project.json(&["context", "show", "--section", "Decision Rationale"]);
        assert!(!rationale["text"].as_str().unwrap().contains("the second"), "{value:?}");
    }
}

#[test]
fn a_value_of_the_wrong_kind_where_commands_write_is_found() {
    let project = Project::with_steps(1);
    for (path, value) in [
        ("step_data", "5"),
        ("cost_tracking.step_costs", "{}"),
        ("cost_tracking.total_cost", "\"x\""),
    ] {
        project.ok(&["var", "set", path, value]);
        let checked = project.run(&["check"]);
        let printed = format!("{}{}", checked.stdout, checked.stderr);
        assert_eq!(checked.code, 4, "{printed}");
        assert!(printed.contains(&format!("`{path}` is ")), "{printed}");
        project.ok(&["undo"]);
        project.ok(&["check"]);
    }
}

#[test]
fn text_in_brackets_that_a_command_took_is_not_a_placeholder() {
    let project = Project::new();
    project.ok(&["context", "add", "[Smith 2024]"]);
    project.ok(&[
        "context",
        "add",
        "Sources:\n\n  [Jones 2023]\n- [Doe 2022]\n\n```\n[code here]\n```",
    ]);
    project.ok(&["review", "open", "[Approve Budget]"]);
    assert_eq!(project.json(&["check"])["findings"], serde_json::json!([]));
    let context = project.read("context.md");
    for text in ["\\[Smith 2024] <!-- ", "\\[Jones 2023]\n", "- [Doe 2022]\n", "\n[code here]\n"] {
        assert!(context.contains(text), "{text}: {context}");
    }
    let review = project.json(&["review", "list"])["reviews"][0].clone();
    assert_eq!(review["text"], "[Approve Budget]");
    // Control: a placeholder of the template is still found.
    let written =
        project.read("context.md").lines().find(|l| l.starts_with("\\[Smith")).unwrap().to_owned();
    project.edit("context.md", &written, "[Smith 2024]");
    project.edit(
        "plan.md",
        "- **mode**: EXECUTION",
        "- **mode**: EXECUTION\n- **owner**: [Your Name]",
    );
    let found = project.run(&["check", "--json"]).json()["findings"].clone();
    assert_eq!(found.as_array().map(Vec::len), Some(2), "{found}");
}
