//! Plans as each system writes them, and the steps that they are.

use std::fs;

use super::{bytes, only, project, steps, undo_everything};

/// A plan, and the steps that are expected.
struct Case {
    profile: &'static str,
    /// The file, and its text.
    files: &'static [(&'static str, &'static str)],
    /// The beginning of the report.
    report: &'static str,
    steps: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        profile: "spec-kit",
        files: &[(
            "specs/001-login/tasks.md",
            "---\ndescription: tasks\n---\n\n# Tasks: Login\n\n**Input**: `/specs/001-login/`\n\n## Format: `[ID] [P?] [Story] Description`\n\n- **[P]**: Can run in parallel\n- [P] = different files\n\n## Phase 1: Setup (Shared)\n\n- [X] T001 Create project structure per plan\n- [x] T002 [P] Configure linting in `ruff.toml`\n\n---\n\n## Phase 3: User Story 1 🎯 MVP\n\n### Tests ⚠️\n\n> **NOTE: write these FIRST**\n\n- [ ] T010 [P] [US1] Contract test in tests/contract/test_login.py\n- [ ] T011 [US1] Implement `src/auth/__init__.py` (depends on T010)\n\n**Checkpoint**: works\n\n```bash\n# Launch all tests:\n- [ ] Task: \"Contract test\"\n```\n",
        )],
        report: "spec-kit, specs/001-login: 4 tasks, 2 done, 2 open, 2 lines left as prose",
        steps: &[
            "[x] T001 Create project structure per plan",
            "[x] T002 Configure linting in `ruff.toml`",
            "[ ] T010 Contract test in tests/contract/test_login.py",
            "[ ] T011 Implement `src/auth/__init__.py`",
        ],
    },
    Case {
        profile: "spec-kit",
        files: &[(
            "specs/002-größe/tasks.md",
            "\u{feff}# Tasks\r\n\r\n- [ ] **T001** Größe prüfen\r\n  - [ ] T002 nested\r\n      wrapped line\r\n- [x] T003: Ende",
        )],
        report: "spec-kit, specs/002-größe: 3 tasks, 1 done, 2 open\n",
        steps: &["[ ] T001 Größe prüfen", "[ ] T002 nested wrapped line", "[x] T003 Ende"],
    },
    Case {
        profile: "planning-with-files",
        files: &[(
            "task_plan.md",
            "# 任务计划：导出\n\n## 目标\n- 把数据导出为 CSV\n\n## 当前阶段\n阶段 2\n\n## 各阶段\n\n### 阶段 1：了解需求\n- [x] 读文档\n- **状态：** complete\n\n### 阶段 2：实现\n- [ ] 写代码\n- **状态：** in_progress\n\n### 第三阶段：检查\n-**状态：**待办\n\n### Phase 4: Ship\n- **Status:** ⏳ Pending review by two (after 3)\n\n### Phase 5: Rest\n**Status:** ✅ done\n",
        )],
        report: "planning-with-files, task_plan.md: 5 tasks, 2 done, 2 open, 1 in progress\n",
        steps: &[
            "[x] phase-1 了解需求",
            "[-] phase-2 实现",
            "[ ] phase-3 检查",
            "[ ] phase-4 Ship",
            "[x] phase-5 Rest",
        ],
    },
    Case {
        profile: "execplan",
        files: &[
            (
                ".agent/plans/export.md",
                "# Export\n\n## Progress\n\n- [x] (2026-01-15 10:00Z) 读代码\n- [ ] 任务 2：写代码\n",
            ),
            (".agent/plans/TEMPLATE.md", "# Title\n\n## Progress\n\n- [ ] First step\n"),
        ],
        report: "execplan, .agent/plans/export.md: 2 tasks, 1 done, 1 open\n",
        steps: &[],
    },
    Case {
        profile: "openspec",
        files: &[(
            "openspec/changes/add-export/tasks.md",
            "## 1. Implementation\n- [x] 1.1 Create schema\n- [~] 1.2 Endpoint\n\n## 2. Tests\n\n- [ ] 2.1 Unit tests for `export()`\n- [ ] 2.2 Docs\n- [!] 2.3 Ask\n",
        )],
        report: "openspec, openspec/changes/add-export: 5 tasks, 1 done, 3 open, 1 in progress, 1 marker not known",
        steps: &[
            "[x] 1.1 Create schema",
            "[-] 1.2 Endpoint",
            "[ ] 2.1 Unit tests for `export()`",
            "[ ] 2.2 Docs",
            "[ ] 2.3 Ask",
        ],
    },
    Case {
        profile: "kiro",
        files: &[(
            ".kiro/specs/orders/tasks.md",
            "# Implementation Plan\n\n- [ ] 1. Set up models\n  - Create the folder\n  - _Requirements: 1.1_\n\n  - [x] 1.1 Order model\n    - Write it\n    - _Requirements: 2.1, 2.2_\n\n  - [-] 1.2 Line model\n  - [ ]* 1.3 Write property tests\n\n- [ ] 2. Checkpoint\n",
        )],
        report: "kiro, .kiro/specs/orders: 5 tasks, 1 done, 3 open, 1 in progress",
        steps: &[
            "[ ] task-1 Set up models",
            "[x] 1.1 Order model",
            "[-] 1.2 Line model",
            "[ ] 1.3 Write property tests",
            "[ ] task-2 Checkpoint",
        ],
    },
    Case {
        profile: "superpowers",
        files: &[(
            "docs/superpowers/plans/2026-01-15-parser.md",
            "# Parser Implementation Plan\n\n> **For agents:** steps use checkbox (`- [ ]`) syntax.\n\n**Goal:** Parse it\n\n---\n\n### Task 1: Lexer\n\n**Files:**\n- Create: `src/lexer.rs`\n\n- [x] **Step 1: Write the failing test**\n\n```rust\n// - [ ] no step\nfn t() {}\n```\n\n- [ ] **Step 2: Run it to make sure it fails**\n\nRun: `cargo test`\n\n### Task 2: Parser\n\n- [ ] **Step 1: Write the failing test**\n",
        )],
        report: "superpowers, docs/superpowers/plans/2026-01-15-parser.md: 3 tasks, 1 done, 2 open",
        steps: &[
            "[x] 1.1 Write the failing test",
            "[ ] 1.2 Run it to make sure it fails",
            "[ ] 2.1 Write the failing test",
        ],
    },
    Case {
        profile: "planning-with-files",
        files: &[(
            "task_plan.md",
            "# Task Plan: Notes app\n\n## Goal\nWrite it\n\n## Current Phase\nPhase 2\n\n## Phases\n\n### Phase 1: Requirements\n- [x] Understand\n- [x] Document\n- **Status:** complete\n\n### Phase 2: Build\n- [ ] Write\n- **Status:** in_progress\n\n### Phase 3: Deliver\n- [ ] Send\n- **Status:** pending\n\n## Errors\n| Error | Attempt |\n|---|---|\n",
        )],
        report: "planning-with-files, task_plan.md: 3 tasks, 1 done, 1 open, 1 in progress",
        steps: &["[x] phase-1 Requirements", "[-] phase-2 Build", "[ ] phase-3 Deliver"],
    },
    Case {
        profile: "planning-with-files",
        files: &[(
            "task_plan.md",
            "# Task Plan\n\n## Phases\n- [x] Phase 1: Plan\n- [ ] Phase 2: Research\n- [ ] Phase 3: Write (CURRENT)\n\n## Status\n**Currently in Phase 2**\n",
        )],
        report: "planning-with-files, task_plan.md: 3 tasks, 1 done, 2 open",
        steps: &["[x] phase-1 Plan", "[ ] phase-2 Research", "[ ] phase-3 Write (CURRENT)"],
    },
    Case {
        profile: "conductor",
        files: &[(
            "conductor/tracks/login_20260115/plan.md",
            "# Plan: Login\n\n## Phase 1: Base [checkpoint: 1a2b3c4]\n\n- [x] Task: Write tests [9f8e7d6]\n    - [x] Sub-task one\n- [~] Task: Implement\n- [ ] Task: Conductor - User Manual Verification\n",
        )],
        report: "conductor, conductor/tracks/login_20260115: 4 tasks, 2 done, 1 open, 1 in progress",
        steps: &[],
    },
    Case {
        profile: "execplan",
        files: &[(
            ".agent/billing.md",
            "# Billing\n\nThis ExecPlan is a living document.\n\n## Purpose\n\nPay.\n\n## Progress\n\n- [x] (2026-01-15 10:00Z) Read the code.\n- [ ] Write the table (completed: a; remaining: b).\n\n## Surprises & Discoveries\n\n- [ ] not a step\n",
        )],
        report: "execplan, .agent/billing.md: 2 tasks, 1 done, 1 open, 1 line left as prose",
        steps: &[],
    },
    Case {
        profile: "memory-bank",
        files: &[
            ("memory-bank/activeContext.md", "# Active Context\n\n## Now\nWe test.\n"),
            ("memory-bank/progress.md", "# Progress\n\n## Left\n- [ ] Ship it\n- [x] Begin\n"),
        ],
        report: "memory-bank, memory-bank/progress.md: 2 tasks, 1 done, 1 open",
        steps: &[],
    },
    Case {
        profile: "state-folder",
        files: &[
            (".claude/state/context.md", "# Context\n\nKnown.\n"),
            (".claude/state/todo.md", "- [ ] one\n- [x] two\n"),
        ],
        report: "state-folder, .claude/state/todo.md: 2 tasks, 1 done, 1 open",
        steps: &[],
    },
    Case {
        profile: "todo",
        files: &[(
            "TODO.md",
            "Legend: `[ ]` open\n\n**Legend**\n- [ ] open\n- [x] done\n\n# Work\n* [ ] a\n\t* [x] b\n1. [ ] c\n<details>\n<summary>Old</summary>\n\n- [x] d\n\n</details>\n\n<!-- - [ ] hidden -->\n",
        )],
        report: "todo, TODO.md: 4 tasks, 2 done, 2 open, 2 lines left as prose",
        steps: &[],
    },
];

#[test]
fn every_system_is_known_by_its_files_and_read_as_it_is_meant() {
    for case in CASES {
        let project = project(case.files);
        let printed = project.ok(&["adopt"]).stdout;
        assert!(printed.starts_with(case.report), "{}: {printed}", case.profile);
        if !case.steps.is_empty() {
            assert_eq!(steps(&project), case.steps, "{}", case.profile);
        }
    }
}

#[test]
fn the_life_of_three_steps_can_be_undone_to_the_byte() {
    for case in CASES {
        let project = project(case.files);
        let before = bytes(project.root());
        project.ok(&["adopt"]);
        assert_eq!(only(&bytes(project.root()), &before), before, "{}", case.profile);
        let mut done = 0;
        for act in ["done", "fail", "skip"] {
            let claimed = project.run(&["step", "next", "--claim", "--json"]);
            let Some(number) = claimed.json()["step"]["number"].as_u64() else { continue };
            let number = number.to_string();
            let mut args = vec!["step", act, number.as_str()];
            if act == "fail" {
                args.extend(["--error", "boom"]);
            }
            project.ok(&args);
            done += u32::from(act == "done");
        }
        let changed = bytes(project.root());
        for (name, old) in &before {
            // A done step changes its marker: a byte, or the word of a status.
            let new = &changed[name];
            let differ = old.iter().zip(new).filter(|(one, other)| one != other).count();
            assert!(old.len() != new.len() || differ <= 3, "{}: {name}", case.profile);
        }
        assert!(done == 0 || only(&changed, &before) != before, "{}", case.profile);
        undo_everything(&project);
        assert_eq!(only(&bytes(project.root()), &before), before, "{}", case.profile);
    }
}

#[test]
fn a_phase_is_done_by_its_word() {
    let text = "# P\r\n\r\n### Phase 1: A\r\n- [ ] x\r\n- **Status:** pending\r\n\r\n### Phase 2: B\r\n**Status:** `pending`";
    let project = project(&[("task_plan.md", text)]);
    project.ok(&["adopt"]);
    project.ok(&["step", "start", "2"]);
    let path = project.root().join("task_plan.md");
    assert_eq!(fs::read_to_string(&path).unwrap(), text.replace("`pending`", "`in_progress`"));
    project.ok(&["step", "done", "2"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text.replace("`pending`", "`complete`"));
}
