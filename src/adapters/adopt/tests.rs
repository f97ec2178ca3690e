//! Any document, any commands: only markers change, and lines where somebody asked for one.

use std::{fs, path::Path};

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::{AdoptRequest, propose};
use crate::{
    domain::checklist::{Checklist, Grammar},
    text::markdown::Document,
    workspace::{Change, Environment, NoVersionControl, Options, RestoreOptions, Workspace},
};

const LINES: [&str; 18] = [
    "# Title",
    "## Group: one",
    "- [ ] T001 One",
    "- [x] T002 *Two* `a_b` (depends on T001)",
    "  - [-] 1.1 Three",
    "- [ ] Größe ✓ [x] & <b>",
    "  more of it",
    "* [X] 3. Four",
    "1. [ ] Five [1a2b3c4]",
    "- [?] odd",
    "- [in progress] Six",
    "text",
    "```",
    "<!-- - [ ] no -->",
    "<details>",
    "| - [ ] | cell |",
    "> - [ ] quoted",
    "",
];

/// Every kind of change, and in which order they all succeed.
const ACTS: &[&str] = &[
    "plan.set", "step.start", "step.fail", "step.retry", "step.done", "step.reset", "step.start",
    "step.take", "step.move", "step.skip", "step.set", "step.set title", "step.reorder",
    "step.remove", "step.add", "insert", "insert before", "plan.pause", "plan.resume", "var.set",
    "var.append", "var.merge", "var.patch", "var.unset", "context.add", "context.set",
    "constraint.set", "constraint.unset", "directive.add", "directive.remove", "rule.add",
    "rule.remove", "event.emit", "history.add", "turn.add", "checkpoint.create", "review.open",
    "review.decide", "undo", "redo", "restore",
];

/// What the files have no place for.
const REFUSED: [&str; 3] = ["step.set title", "step.reorder", "step.remove"];

fn workspace(dir: &Path) -> Workspace {
    workspace_of(dir, "ada")
}

fn workspace_of(dir: &Path, actor: &str) -> Workspace {
    let now: Timestamp = "2026-01-15T09:00:00Z".parse().unwrap();
    Workspace::new(dir, Environment::fixed(now, actor, 7), Options::new(NoVersionControl))
}

fn adopt(dir: &Path) -> bool {
    let wanted = AdoptRequest { path: dir.to_owned(), ..AdoptRequest::default() };
    let Ok(mut proposed) = propose(&wanted, None) else { return false };
    let documents = proposed.documents();
    proposed.layout.execution_id = "exec_1".to_owned();
    let now: Timestamp = "2026-01-15T09:00:00Z".parse().unwrap();
    let (env, options) = (Environment::fixed(now, "ada", 7), Options::new(NoVersionControl));
    Workspace::adopting(dir, proposed.layout, env, options).adopt("adopted", &documents).unwrap();
    true
}

fn change(act: &str, step: u32) -> Change {
    let change = match act {
        "plan.set" => json!({ "op": act, "set": { "mode": "EXECUTION", "note": "a word" } }),
        "plan.pause" => json!({ "op": act, "why": "lunch" }),
        "plan.resume" => json!({ "op": act }),
        "step.add" => json!({ "op": act, "title": "Mine" }),
        "insert" => json!({ "op": "step.add", "title": "New here", "after": step }),
        "insert before" => json!({ "op": "step.add", "title": "New there", "before": step }),
        "step.set" => json!({ "op": act, "step": step, "component": "api" }),
        "step.set title" => json!({ "op": "step.set", "step": step, "title": "Another" }),
        "step.reorder" => json!({ "op": act, "step": step, "after": step + 1 }),
        "step.move" => json!({ "op": act, "step": step, "to": "FAILED", "error": "no" }),
        "step.fail" => json!({ "op": act, "step": step, "error": "no" }),
        "step.take" => json!({ "op": act, "step": step, "force": true, "why": "gone" }),
        "var.set" => json!({ "op": act, "path": "a.b", "value": [step] }),
        "var.append" => json!({ "op": act, "path": "a.b", "value": 2 }),
        "var.merge" => json!({ "op": act, "patch": { "c": 1 } }),
        "var.patch" => json!({ "op": act, "patch": [{ "op": "add", "path": "/d", "value": 1 }] }),
        "var.unset" => json!({ "op": act, "path": "a.b" }),
        "context.add" => json!({ "op": act, "text": "Known." }),
        "context.set" => json!({ "op": act, "section": "Key Findings", "text": "All of it." }),
        "constraint.set" => json!({ "op": act, "name": "priority", "value": "quality" }),
        "constraint.unset" => json!({ "op": act, "name": "priority" }),
        "directive.add" => json!({ "op": act, "text": "Be quick" }),
        "directive.remove" => json!({ "op": act, "directive": 1 }),
        "rule.add" => json!({ "op": act, "text": "When cost > 5, pause" }),
        "rule.remove" => json!({ "op": act, "rule": 1 }),
        "event.emit" => json!({ "op": act, "type": "feedback", "fields": { "text": "good" } }),
        "history.add" => json!({ "op": act, "title": "Note" }),
        "turn.add" => json!({ "op": act, "user_message": "Go on", "response": "Done" }),
        "checkpoint.create" => json!({ "op": act }),
        "review.open" => json!({ "op": act, "text": "ok?" }),
        "review.decide" => json!({ "op": act, "id": "r1", "approve": true }),
        _ => json!({ "op": act, "step": step }),
    };
    serde_json::from_value(change).unwrap_or_else(|error| panic!("{act}: {error}"))
}

/// Does it; whether that was possible.
fn act(state: &Workspace, act: &str, step: u32) -> Result<(), String> {
    let done = match act {
        "undo" => state.undo().map(|_| ()),
        "redo" => state.redo().map(|_| ()),
        "restore" => state.restore("@-2", &RestoreOptions::default()).map(|_| ()),
        // It is for somebody else to decide.
        "review.decide" => {
            workspace_of(state.directory(), "marta").apply(&[change(act, step)]).map(|_| ())
        }
        _ => state.apply(&[change(act, step)]).map(|_| ()),
    };
    done.map_err(|error| format!("{act}: {error}"))
}

#[test]
fn every_kind_of_command_is_among_those_that_are_tried() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("TODO.md");
    fs::write(&file, "# T\n\n- [ ] One\n- [ ] Two\n- [ ] Three\n").unwrap();
    assert!(adopt(root.path()));
    let state = workspace(root.path());
    let failed: Vec<String> = ACTS.iter().filter_map(|name| act(&state, name, 1).err()).collect();
    let is_expected = |said: &&String| !REFUSED.iter().any(|name| said.starts_with(name));
    assert_eq!(failed.iter().filter(is_expected).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(failed.len(), REFUSED.len(), "{failed:?}");
}

/// The text with all markers alike.
fn without_markers(text: &str) -> String {
    let document = Document::parse(text).unwrap();
    let mut out = text.to_owned();
    for task in Checklist::read(&document, &Grammar::default()).tasks.iter().rev() {
        out.replace_range(task.marker.clone(), "·");
    }
    out
}

/// Whether `after` is `before` with one more line; a mark of the encoding stays in front of all.
fn is_one_line_more(before: &str, after: &str) -> bool {
    if let Some(before) = before.strip_prefix('\u{feff}') {
        return after.strip_prefix('\u{feff}').is_some_and(|after| is_one_line_more(before, after));
    }
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    after.len() == before.len() + 1
        && (0..after.len()).any(|at| [&after[..at], &after[at + 1..]].concat() == before)
}

#[test]
fn the_measure_sees_more_than_markers() {
    let text = "- [ ] One\n- [x] Two\n";
    assert_eq!(without_markers(text), without_markers("- [x] One\n- [ ] Two\n"));
    assert_ne!(without_markers(text), without_markers("- [ ] One \n- [x] Two\n"));
    assert!(is_one_line_more(text, "- [ ] One\n- [ ] New\n- [x] Two\n"));
    assert!(!is_one_line_more(text, "- [ ] One!\n- [ ] New\n- [x] Two\n"));
    assert!(is_one_line_more("\u{feff}- [ ] One\n", "\u{feff}- [ ] New\n- [ ] One\n"));
    assert!(!is_one_line_more("\u{feff}- [ ] One\n", "- [ ] New\n\u{feff}- [ ] One\n"));
}

#[test]
fn a_goal_is_what_the_plan_says_before_its_tasks() {
    for (text, expected) in [
        ("# Plan\n\n**Goal:** Take money\n", Some("Take money")),
        ("# Plan\n\n- **goal**: Take: money\n", Some("Take: money")),
        ("# Plan\r\n\r\n## Goal\r\n\r\nTake money\r\n", Some("Take money")),
        ("Goal: Take money\n", Some("Take money")),
        ("# Plan\n\n## Goal\n[One sentence]\n", None),
        ("# Plan\n\n## Goals of others\nNothing\n", None),
        ("# Plan\n\n## Goal\n\n## Phases\n", None),
        ("# Plan\n\n```\nGoal: an example\n```\n", None),
    ] {
        assert_eq!(super::goal(text).as_deref(), expected, "{text}");
    }
}

/// A plan as somebody writes it: its profile, its file, what is said of it, and its steps.
type Style = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

const STYLES: &[Style] = &[
    (
        "spec-kit",
        "specs/003-pay/tasks.md",
        "# Tasks: Pay\n\n## Path Conventions\n- **Single project**: `src/` at the root\n\n## Phase 3.1: Setup\n- [x] **T001** Make the folder\n- [X] T002: [P] [US1] Add a linter\n  - in `a.toml`\n\n**Dependencies**: T001 before T002\n\n## Phase 3.2\n- [ ] T003a [P] Test (depends on T001, T002)\n* [ ] T1004 — Deploy\n\n## Parallel Example\n```\n- [ ] T003a in one go\n```\n\n## Validation Checklist\n\n- [ ] All tests come first",
        "5 tasks, 2 done, 3 open, 1 line left as prose",
        &[
            "x T001 Make the folder",
            "x T002 Add a linter",
            "  T003a Test",
            "  T1004 Deploy",
            "  * All tests come first",
        ],
    ),
    (
        "openspec",
        "openspec/changes/add-pay/tasks.md",
        "\u{feff}## 1. Data\r\n\r\n- [x] 1.1 Table `pay_1`\r\n- [ ] 1.2 Index\r\n  - [ ] 1.2.1 On `id`\r\n\r\n## 2. Rest\r\n+ [~] **2.1** Tell `ops`\r\n+ [ ] 2.10 Later",
        "5 tasks, 1 done, 3 open, 1 in progress",
        &[
            "x 1.1 Table `pay_1`",
            "  1.2 Index",
            "  1.2.1 On `id`",
            "> 2.1 Tell `ops`",
            "  2.10 Later",
        ],
    ),
    (
        "kiro",
        ".kiro/specs/pay/tasks.md",
        "# Implementation Plan\n\n- [-] 1. Models\n\n- [x] 1.1 (P) Order\n  - Keep it small\n  - _Requirements: 1.1, 2.4_\n\n- [ ]* 1.2 Property test for totals\n  - **Property 1: Totals add up**\n\n- [ ] 2. Checkpoint - all tests pass\n  - Ask when in doubt.\n",
        "4 tasks, 1 done, 2 open, 1 in progress",
        &[
            "> task-1 Models",
            "x 1.1 Order",
            "  1.2 Property test for totals",
            "  task-2 Checkpoint - all tests pass",
        ],
    ),
    (
        "superpowers",
        "docs/superpowers/plans/2026-02-03-pay.md",
        "# Pay Implementation Plan\n\n**Goal:** Take money\n\n## Task 1: Form\n\n- [x] Step 1: Write the test\n\n````md\n```\n- [ ] Step 9: no\n```\n- [ ] nor this\n````\n\n- [ ] **Step 2: Make it pass**\n\nRun it:\n\n    - [ ] code by indentation\n\n### Task 2 — Send\n\n- [ ] **Step 1:** Post it\n",
        "3 tasks, 1 done, 2 open, 3 lines left as prose",
        &["x 1.1 Write the test", "  1.2 Make it pass", "  2.1 Post it"],
    ),
    (
        "planning-with-files",
        "task_plan.md",
        "# Task Plan: Pay\r\n\r\n## Current Phase\r\nPhase 2\r\n\r\n### Phase 1: Look ✅\r\n- [x] read\r\nStatus: COMPLETED\r\n\r\n### Phase 2: Do\r\n- [ ] write\r\n* **Status**: in progress\r\n\r\n### Phase 3: Rest\r\n- **Status:** whatever\r\n\r\n## Decisions\r\n- **Status:** none yet",
        "3 tasks, 1 done, 1 open, 1 in progress, 1 marker not known and counted as open",
        &["x phase-1 Look ✅", "> phase-2 Do", "  phase-3 Rest"],
    ),
    (
        "planning-with-files",
        "task_plan.md",
        "# Plan\n\n## Phases\n- [completed] Look\n- [in_progress] Do\n- [pending] Rest\n\n## Links\n- [done](x.md)\n",
        "3 tasks, 1 done, 1 open, 1 in progress",
        &["x * Look", "> * Do", "  * Rest"],
    ),
    (
        "conductor",
        "conductor/tracks/web/pay_20260203/plan.md",
        "# Plan\n\n## Phase 1: Base [checkpoint: 1a2b3c4]\n- [x] Task: Write it `9f8e7d6`\n    - [x] Sub-task: a\n    - [ ] Sub-task: b\n- [~] Task: Go on (abc1234)\n",
        "4 tasks, 2 done, 1 open, 1 in progress",
        &["x * Task: Write it", "x * Sub-task: a", "  * Sub-task: b", "> * Task: Go on"],
    ),
    (
        "execplan",
        "PLANS.md",
        "# Pay\n\n## Progress (living)\n\n- [x] (2026-02-03 10:00Z) Read.\n- [ ] Write (done: a; left: b).\n\n## Validation\n\n- [ ] not here\n",
        "2 tasks, 1 done, 1 open, 1 line left as prose",
        &["x * Read.", "  * Write (done: a; left: b)."],
    ),
    (
        "execplan",
        "docs/exec-plans/active/EP-1.md",
        "# EP-1\n\n## Task Breakdown\n1. [x] eins\n2. [ ] zwei\n",
        "2 tasks, 1 done, 1 open",
        &["x * eins", "  * zwei"],
    ),
    (
        "memory-bank",
        "memory-bank/tasks.md",
        "# Tasks\n\n## 現在\n- [ ] 支払いを作る\n- [x] 読む\n- ✅ not a box\n\n| Task | State |\n|---|---|\n| pay | [x] |\n",
        "2 tasks, 1 done, 1 open, 1 line left as prose, 1 item without a box",
        &["  * 支払いを作る", "x * 読む"],
    ),
    (
        "todo",
        "TODO.md",
        "# Work\n\n<details>\n<summary>Done</summary>\n- [x] in html\n</details>\n\n**Legend:**\n- [ ] open\n- [x] done\n\n1) [ ] first\n2) [!] second\n   - [ ] AUTH-12: inner\n- [ ](link.md)\n- [ ]glued\n- []  empty box\n> - [ ] quoted\n<!--\n- [ ] hidden\n-->\n- [✓] café — ünïcode",
        "6 tasks, 2 done, 4 open, 1 marker not known and counted as open, 4 lines left as prose, 2 items without a box",
        &[
            "x * in html",
            "  * first",
            "  * second",
            "  AUTH-12 inner",
            "  * empty box",
            "x * café — ünïcode",
        ],
    ),
];

/// Marker, id where it is written, and title of the steps.
fn steps_of(state: &Workspace) -> Vec<String> {
    use crate::domain::{StepRole, Workflow};
    let plan = state.read().unwrap().plan().unwrap();
    let line = |step: &crate::domain::Step| {
        let mark = match Workflow::builtin().role_of(step) {
            Some(StepRole::Done) => 'x',
            Some(StepRole::Active) => '>',
            _ => ' ',
        };
        let id = step.id.as_ref().map(ToString::to_string).unwrap_or_default();
        // An id that is made of the title has six letters.
        let is_made = id.len() == 6 && id.bytes().all(|byte| byte.is_ascii_lowercase());
        format!("{mark} {} {}", if is_made { "*" } else { &id }, step.title)
    };
    plan.steps.iter().map(line).collect()
}

#[test]
fn every_style_is_read_as_it_is_meant_and_changes_in_its_markers_alone() {
    for (profile, path, text, summary, steps) in STYLES {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let wanted = AdoptRequest { path: root.path().to_owned(), ..AdoptRequest::default() };
        let proposed = propose(&wanted, None).unwrap();
        assert_eq!(proposed.found.profile.profile, *profile, "{path}");
        assert_eq!(proposed.found.plans[0].summary(), *summary, "{path}");
        assert!(adopt(root.path()));
        let state = workspace(root.path());
        assert_eq!(steps_of(&state), *steps, "{path}");
        for number in 1..=steps.len() as u32 {
            for act in ["step.start", "step.done"] {
                let _ = state.apply(&[change(act, number)]);
            }
        }
        let after = steps_of(&state);
        assert!(after.iter().filter(|line| line.starts_with('x')).count() > 1, "{after:?}");
        while state.undo().is_ok() {}
        assert_eq!(fs::read_to_string(&file).unwrap(), *text, "{path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 200, failure_persistence: None, ..Default::default() })]
    #[test]
    fn commands_change_markers_and_nothing_else_unless_asked(
        lines in prop::collection::vec(prop::sample::select(&LINES[..]), 1..16),
        (crlf, has_end, bom) in any::<(bool, bool, bool)>(),
        acts in prop::collection::vec((prop::sample::select(ACTS), any::<prop::sample::Index>()), 1..12),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let mut original = if bom { "\u{feff}".to_owned() } else { String::new() };
        original.push_str(&lines.join(end));
        if has_end {
            original.push_str(end);
        }
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("TODO.md");
        fs::write(&file, &original).unwrap();
        prop_assume!(adopt(root.path()));
        let read = || fs::read_to_string(&file).unwrap();
        prop_assert_eq!(&read(), &original);
        let state = workspace(root.path());
        // How the text was without its markers, lines that were asked for taken out or put back.
        let mut texts = vec![without_markers(&original)];
        for (name, pick) in acts {
            let before = read();
            let steps = state.read().unwrap().plan().unwrap().steps.len();
            let done = act(&state, name, pick.index(steps) as u32 + 1);
            let after = read();
            match name {
                "insert" | "insert before" if done.is_ok() => {
                    prop_assert!(
                        is_one_line_more(&before, &after), "{}: {:?}\n{:?}", name, before, after
                    );
                    texts.push(without_markers(&after));
                }
                _ if done.is_err() => prop_assert_eq!(before, after, "{} was refused", name),
                "undo" | "redo" | "restore" => prop_assert!(
                    texts.contains(&without_markers(&after)), "{}: {:?}\n{:?}", name, before, after
                ),
                _ => prop_assert_eq!(
                    without_markers(&before), without_markers(&after), "{}", name
                ),
            }
        }
        for _ in 0..100 {
            if state.undo().is_err() {
                break;
            }
        }
        prop_assert_eq!(read(), original);
    }
}
