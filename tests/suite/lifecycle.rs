//! The suite under a lifecycle in which every status has another name.
//!
//! `STATEDIR_TEST_LIFECYCLE=renamed cargo test --test suite` runs the same tests with the same
//! assertions. The builder gives every project a workflow.yaml with other words. It translates the
//! arguments, input and files of a test to those words, and output and files back to the built-in
//! ones. Code that only works with the built-in words fails.

use std::{path::PathBuf, sync::OnceLock};

use crate::builder::Project;

/// Every built-in status and its other name, which has as many letters, so that widths and budgets
/// stay as they are. None of these names is an alias of a built-in status.
const WORDS: [(&str, &str); 10] = [
    ("PLANNING", "SKETCHED"),
    ("IN_PROGRESS", "BEING_BUILT"),
    ("PAUSED", "PARKED"),
    ("COMPLETED_SUCCESS", "DELIVERED_AS_SOLD"),
    ("COMPLETED_FAILURE", "FORSAKEN_BY_OTHER"),
    ("PENDING", "BACKLOG"),
    ("RUNNING", "AT_WORK"),
    ("COMPLETED", "DELIVERED"),
    ("FAILED", "BOGGED"),
    ("SKIPPED", "OMITTED"),
];

/// Tests that keep the built-in lifecycle in both runs, and why.
const EXCLUDED: [(&str, &str); 5] = [
    (
        "checkpoints::a_restore_gives_back_the_exact_bytes_and_can_be_undone_and_redone",
        "asserts that a workflow.yaml comes and goes",
    ),
    ("hostile::arguments::nothing_outside_is_read_or_written", "counts the files of a state"),
    (
        "hostile::disks::on_a_full_disk_a_change_is_refused_or_completed_later",
        "measures what fits on a small disk",
    ),
    (
        "lifecycle::a_history_is_understood_without_the_lifecycle_it_was_written_under",
        "has a lifecycle of its own",
    ),
    (
        "mcp::every_verb_of_every_tool_can_be_called",
        "makes its state through the server, whose `init` takes no templates of the suite",
    ),
];

/// Whether the test that runs on this thread uses the other names.
pub fn is_renamed() -> bool {
    static RENAMED: OnceLock<bool> = OnceLock::new();
    let wanted = || std::env::var("STATEDIR_TEST_LIFECYCLE").is_ok_and(|name| name == "renamed");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    *RENAMED.get_or_init(wanted) && !EXCLUDED.iter().any(|(name, _)| *name == test)
}

/// The text with the other names.
pub fn renamed(text: &[u8]) -> Vec<u8> {
    replace(text, |(builtin, other)| (builtin, other))
}

/// The text with the built-in names.
pub fn builtin(text: &[u8]) -> Vec<u8> {
    replace(text, |(builtin, other)| (other, builtin))
}

/// The same for a line.
pub fn builtin_text(text: &str) -> String {
    String::from_utf8(builtin(text.as_bytes())).unwrap()
}

/// The built-in workflow.yaml with the other names.
pub fn workflow() -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("templates/default/workflow.yaml");
    renamed(&std::fs::read(path).unwrap())
}

/// A directory of templates that holds this workflow alone.
pub fn templates() -> &'static str {
    static TEMPLATES: OnceLock<String> = OnceLock::new();
    TEMPLATES.get_or_init(|| {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("renamed-lifecycle-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("workflow.yaml"), workflow()).unwrap();
        dir.to_str().unwrap().to_owned()
    })
}

/// A directory with the templates of `classic` and this workflow.
pub fn classic_templates() -> &'static str {
    static TEMPLATES: OnceLock<String> = OnceLock::new();
    TEMPLATES.get_or_init(|| {
        let classic = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("templates/classic");
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("renamed-classic-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        for entry in std::fs::read_dir(classic).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), dir.join(entry.file_name())).unwrap();
        }
        std::fs::write(dir.join("workflow.yaml"), workflow()).unwrap();
        dir.to_str().unwrap().to_owned()
    })
}

/// Replaces whole words: `COMPLETED_SUCCESS` is not `COMPLETED`.
fn replace(
    text: &[u8],
    pair: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Vec<u8> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.iter().take_while(|byte| is_word(**byte)).count();
        let (token, other) = rest.split_at(word.max(1));
        let known = WORDS.into_iter().map(pair).find(|(from, _)| from.as_bytes() == token);
        out.extend_from_slice(known.map_or(token, |(_, to)| to.as_bytes()));
        rest = other;
    }
    out
}

#[test]
fn every_status_of_the_built_in_lifecycle_has_another_name() {
    let own = String::from_utf8(workflow()).unwrap();
    for (builtin, other) in WORDS {
        assert_eq!(builtin.len(), other.len(), "{builtin}");
        assert!(own.contains(&format!("status: {other}\n")), "{other} is no status:\n{own}");
    }
    assert_eq!(own.matches("- status: ").count(), WORDS.len());
}

#[test]
fn the_words_go_there_and_back() {
    let text = b"COMPLETED_SUCCESS COMPLETED xFAILED FAILED. \xff steps_FAILED";
    let there = renamed(text);
    assert_eq!(there, b"DELIVERED_AS_SOLD DELIVERED xFAILED BOGGED. \xff steps_FAILED");
    assert_eq!(builtin(&there), text);
}

const OWN: &str = "version: 1
step:
  - {status: TODO, role: open, next: [DOING, DROPPED]}
  - {status: DOING, role: active, next: [SHIPPED, BROKEN, DROPPED, TODO]}
  - {status: SHIPPED, role: done, next: [TODO]}
  - {status: BROKEN, role: failed, next: [DOING, TODO, DROPPED]}
  - {status: DROPPED, role: skipped, next: [TODO]}
";

#[test]
fn a_history_is_understood_without_the_lifecycle_it_was_written_under() {
    let project = Project::with_steps(3);
    project.write("plan.md", project.read("plan.md").replace("PENDING", "TODO"));
    project.write("workflow.yaml", OWN);
    for step in ["1", "2"] {
        project.ok(&["step", "start", step]);
        project.ok(&["step", "fail", step, "--error", "timeout after 5s"]);
    }
    let failures = |project: &Project| {
        let metrics = project.json(&["metrics"]);
        (metrics["failed"].clone(), metrics["consecutive_failures"].clone())
    };
    assert_eq!(failures(&project), (2.into(), 2.into()));
    assert!(project.ok(&["brief"]).stdout.contains("timeout after 5s"));
    assert!(project.ok(&["recover"]).stdout.contains("failed with a timeout"));
    project.ok(&["step", "start", "3"]);
    let list = project.ok(&["step", "list"]).stdout;
    assert!(list.contains("! ") && list.contains("(by tester"), "{list}");
    project.ok(&["step", "done", "3"]);
    let history = project.read("history.md");
    assert!(
        history.contains("\n### ✗ Step 1: ") && history.contains(" · DOING → BROKEN · "),
        "{history}"
    );
    let first = &project.json(&["history", "list"])["entries"][0]["fields"];
    for field in [["status", "BROKEN"], ["outcome", "failed"]] {
        assert!(first.as_array().unwrap().contains(&serde_json::json!(field)), "{first}");
    }
    let training = project.ok(&["history", "export", "--format", "jsonl"]).stdout;
    assert!(training.contains("\"success\":true") && training.contains("\"success\":false"));

    // Without the lifecycle, nothing can be derived from the history.
    std::fs::remove_file(project.path("workflow.yaml")).unwrap();
    std::fs::remove_dir_all(project.path(".statedir")).unwrap();
    project.write("plan.md", project.read("plan.md").replace("BROKEN", "FAILED"));
    project.write("plan.md", project.read("plan.md").replace("SHIPPED", "COMPLETED"));
    assert_eq!(failures(&project), (2.into(), 0.into()));
}

/// `cargo xtask check` leaves these out of the second run.
#[test]
fn modules_left_out_of_the_second_run_have_a_lifecycle_of_their_own() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let check = std::fs::read_to_string(root.join("xtask/src/main.rs")).unwrap();
    let (_, left_out) = check.split_once("// The same lifecycle in both runs").unwrap();
    let (left_out, _) = left_out.split_once(']').unwrap();
    let modules: Vec<&str> =
        left_out.split('"').filter_map(|word| word.strip_suffix("::")).collect();
    assert!(modules.contains(&"adopt"), "{modules:?}");
    let mut renamed = Vec::new();
    for entry in walkdir::WalkDir::new(root.join("tests/suite")).into_iter().map(Result::unwrap) {
        let path = entry.path().strip_prefix(root.join("tests/suite")).unwrap().with_extension("");
        let module = path.iter().next().and_then(|name| name.to_str()).unwrap_or_default();
        if !entry.file_type().is_file() || !modules.contains(&module) {
            continue;
        }
        let source = std::fs::read_to_string(entry.path()).unwrap();
        let follows_the_run = ["::new()", "::empty()", "::classic()", "::with_steps("]
            .iter()
            .any(|maker| source.contains(&format!("Project{maker}")));
        if follows_the_run || source.contains("Repository::") {
            renamed.push(path);
        }
    }
    assert!(renamed.is_empty(), "these run under both lifecycles: {renamed:?}");
}

#[test]
fn a_step_of_unknown_status_is_the_current_one_whatever_else_changes() {
    let project = Project::with_lifecycle(false);
    project.ok(&["init", "--goal", "Move", "--template", "classic"]);
    for title in ["Pack", "Load", "Drive"] {
        project.ok(&["step", "add", title]);
    }
    project.write("plan.md", project.read("plan.md").replacen("PENDING", "BLOCKED", 1));
    let changes: [&[&str]; 4] = [
        &["step", "set", "3", "owner=ada"],
        &["step", "set", "1", "owner=ada"],
        &["step", "set", "1", "--title", "Pack it"],
        &["step", "skip", "2"],
    ];
    for change in changes {
        project.ok(change);
        let plan = project.read("plan.md");
        assert!(plan.contains("- **current_step**: 1\n"), "{change:?}:\n{plan}");
        assert_eq!(project.json(&["status"])["current_step"], 1, "{change:?}");
    }
}
