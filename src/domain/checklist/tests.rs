use proptest::prelude::*;

use super::*;
use crate::text::{Splice, apply_splices};

fn read(text: &str) -> Checklist {
    Checklist::read(&Document::parse(text).unwrap(), &Grammar::default())
}

fn prose(text: &str) -> usize {
    TaskCounts::read(&Document::parse(text).unwrap(), &Grammar::default()).prose
}

/// Id, title and role of every task, in one line each.
fn said(text: &str) -> Vec<String> {
    let one = |task: &Task| {
        let id = task.id.clone().unwrap_or_else(|| "–".to_owned());
        format!("{id} | {} | {:?}", task.title, task.role)
    };
    read(text).tasks.iter().map(one).collect()
}

#[test]
fn what_is_done_is_marked_as_the_file_marks_it() {
    let grammar = Grammar::default();
    for (text, mark) in [
        ("- [ ] a\n- [ ] b\n", "x"),
        ("- [ ] a\n- [X] b\n", "X"),
        ("- [ ] a\n\n## More\n1. [✓] b\n- [x] c\n", "✓"),
        // What is only worked on, or no box, says nothing.
        ("- [~] a\n- [ ] b [X]\n[X] c\n- [X](x) d\n", "x"),
    ] {
        let document = Document::parse(text).unwrap();
        let list = Checklist::read(&document, &grammar);
        let open = list.tasks.iter().find(|task| task.role != StepRole::Done).unwrap();
        assert_eq!(open.marker_for(StepRole::Done, &grammar).as_deref(), Some(mark), "{text}");
        let alone = Checklist::of_section(&document, &grammar, open.section);
        assert_eq!(alone.tasks[0].marker_for(StepRole::Done, &grammar).as_deref(), Some(mark));
    }
}

#[test]
fn every_marker_is_read_and_an_unknown_one_counts_as_open() {
    let text = "- [ ] a\n- [x] b\n* [X] c\n+ [-] d\n1. [~] e\n- [>] f\n- [?] g\n- [] h\n- [✅] i\n";
    let list = read(text);
    let roles: Vec<StepRole> = list.tasks.iter().map(|task| task.role).collect();
    use StepRole::{Active, Done, Open};
    assert_eq!(roles, [Open, Done, Done, Active, Active, Active, Open, Open, Done]);
    let unknown: Vec<&str> =
        list.tasks.iter().filter(|task| !task.is_known).map(|task| task.title.as_str()).collect();
    assert_eq!(unknown, ["g"]);
    assert_eq!(prose(text), 0);
}

#[test]
fn what_is_no_box_is_text() {
    let text = "# Tasks\n\n```md\n- [ ] T001 in a fence\n```\n\n<!-- - [ ] T002 hidden -->\n\n<!--\n- [x] T003 hidden\n-->\n\n\
                ## Format\n- **[P]**: may run in parallel\n- [P] tasks are independent\n- [US1] a story\n- [link](x)\n- [1] note\n\n\
                > - [ ] quoted\n\n| [x] | in a table |\n|---|---|\n\n- [ ] T004 A task\n- [x]\n";
    assert_eq!(said(text), ["T004 | A task | Open"]);
    assert_eq!(prose(text), 7);
}

#[test]
fn boxes_that_are_indented_too_far_are_boxes() {
    let text = "- [ ] **R1. Outer**\n      - [ ] R1.1 far in\n      - [x] R1.2 and next\n- plain\n      - [ ] A-1 too\n\n\
                - [ ] last\n\n      - [ ] code by indentation\n\n- [ ] fence\n  ```\n      - [ ] no\n  ```\n";
    assert_eq!(
        said(text),
        [
            "R1 | Outer | Open",
            "R1.1 | far in | Open",
            "R1.2 | and next | Done",
            "A-1 | too | Open",
            "– | last | Open",
            "– | fence | Open",
        ]
    );
    let list = read(text);
    assert_eq!((list.tasks[1].parent, list.tasks[1].depth, prose(text)), (Some(0), 1, 2));
    assert_eq!(&text[list.tasks[2].marker.clone()], "x");
}

#[test]
fn a_legend_explains_and_is_no_list_of_tasks() {
    for legend in [
        "## Legend\n\n- [ ] waits\n- [x] is ready\n",
        "**Legend:**\n- [ ] whatever\n- [x] ready\n",
        "Status:\n\n- [ ] pending\n- [~] in progress\n- [x] done\n",
        "- [ ] = to be done\n- [x] = done\n",
        "### Status Legend\n- [x] fine\n",
    ] {
        let text = format!("# Plan\n\n{legend}\n## Work\n- [x] one\n- [ ] two\n");
        assert_eq!(said(&text), ["– | one | Done", "– | two | Open"], "{legend}");
    }
    // Short titles of real tasks are no meanings of markers.
    assert_eq!(said("- [x] done\n- [x] complete\n").len(), 2);
    assert_eq!(said("## Key decisions\n- [ ] Decide\n").len(), 1);
}

#[test]
fn boxes_in_details_are_boxes_with_and_without_a_blank_line() {
    let text = "<details>\n<summary>Done</summary>\n\n- [x] Phase 1: Start\n\n</details>\n\n\
                <details>\n<summary>More</summary>\n- [x] Phase 2: Go on\n<!-- - [ ] Phase 9: no -->\n</details>\n\n- [ ] Phase 3: End\n";
    assert_eq!(
        said(text),
        ["phase-1 | Start | Done", "phase-2 | Go on | Done", "phase-3 | End | Open"]
    );
}

#[test]
fn tasks_nest_and_know_their_group() {
    let text = "# Plan\n\n## Phase 1: Setup\n\n- [ ] 1. Models\n  - Use one file\n  - [x] 1.1 User\n    - with a name\n    - _Requirements: 1.1, 1.2_\n  - [ ]* 1.2 Tests\n- [ ] 2. Views\n";
    let list = read(text);
    let [models, user, tests, views] = list.tasks.as_slice() else { panic!("{list:?}") };
    assert_eq!((models.number, models.depth, models.parent), (Some(1), 0, None));
    assert_eq!(models.details.as_deref(), Some("- Use one file"));
    assert_eq!((user.id.as_deref(), user.depth, user.parent), (Some("1.1"), 1, Some(0)));
    assert_eq!(user.group, ["Phase 1: Setup", "Models"]);
    assert_eq!(user.details.as_deref(), Some("- with a name"));
    assert_eq!(user.fields, [("requirements".to_owned(), "1.1, 1.2".to_owned())]);
    assert!(tests.is_optional && !user.is_optional);
    assert_eq!(views.id.as_deref(), Some("task-2"));
}

#[test]
fn steps_inside_of_a_task_are_named_by_both() {
    let text = "# Plan\n\n### Task 3: Parser\n\n- [ ] **Step 1: Write the test**\n\n  ```rust\n  // - [ ] not this\n  ```\n\n- [x] **Step 2: Run it**\n";
    assert_eq!(said(text), ["3.1 | Write the test | Open", "3.2 | Run it | Done"]);
    assert_eq!(read(text).tasks[0].details.as_deref(), Some("```rust\n// - [ ] not this\n```"));
    assert_eq!(read(text).tasks[0].number, None);
}

#[test]
fn a_phase_with_a_status_line_is_one_step() {
    let grammar = Grammar { step: StepForm::Heading, ..Grammar::default() };
    let text = "# Task Plan\n\n**Status:** ignored\n\n### Phase 1: Look\n- [x] Read\n- **Status:** complete\n\n\
                ### Phase 2: Build\n- [ ] Write\n- **Status:** in_progress\n\n### Phase 3: Ship\n- [ ] Send\n- **Status:** someday\n\n## Later\n- [ ] Rest\n";
    let list = Checklist::read(&Document::parse(text).unwrap(), &grammar);
    let roles: Vec<_> = list.tasks.iter().map(|task| (task.title.as_str(), task.role)).collect();
    use StepRole::{Active, Done, Open};
    assert_eq!(roles, [("Look", Done), ("Build", Active), ("Ship", Open), ("Rest", Open)]);
    assert!(!list.tasks[2].is_known);
    assert_eq!(&text[list.tasks[1].marker.clone()], "in_progress");
    assert_eq!(list.tasks[1].marker_for(Done, &grammar).as_deref(), Some("complete"));
    assert_eq!(list.tasks[0].marker_for(Done, &grammar), None);
}

#[test]
fn wrapped_lines_are_one_title_and_line_ends_do_not_matter() {
    let text =
        "\u{feff}# T\r\n\r\n- [ ] T001 Create the\r\n  first file\r\n- [x] T002 Größe prüfen 🎉";
    assert_eq!(
        said(text),
        ["T001 | Create the first file | Open", "T002 | Größe prüfen 🎉 | Done"]
    );
}

#[test]
fn only_the_sections_that_count_are_read() {
    let grammar = Grammar { sections: vec!["Progress".to_owned()], ..Grammar::default() };
    let text = "# P\n\n## Progress\n- [x] (2026-01-15 10:00Z) Began\n\n### More\n- [ ] Rest\n\n## Other\n- [ ] no\n";
    let document = Document::parse(text).unwrap();
    let list = Checklist::read(&document, &grammar);
    let titles: Vec<&str> = list.tasks.iter().map(|task| task.title.as_str()).collect();
    assert_eq!(titles, ["Began", "Rest"]);
    assert_eq!(TaskCounts::read(&document, &grammar).prose, 1);
}

/// Lines out of which awkward documents are made.
fn line() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "# Plan",
        "## Phase 1: Setup",
        "### Task 2: Parser",
        "- [ ] T001 Create",
        "- [x] 1.2 Add [1a2b3c4]",
        "  - [X] nested",
        "    - [-] deeper",
        "* [~] odd",
        "1. [ ] first",
        "+ [?] unknown",
        "- [P] tag",
        "```",
        "~~~",
        "<!--",
        "-->",
        "<details>",
        "</details>",
        "> - [ ] quoted",
        "| [x] | cell |",
        "",
        "text",
        "- **Status:** pending",
        "    - [ ] code?",
        "\t- [ ] tab",
        "- []* empty",
        "- [ ]",
        "Legend:",
        "- [ ]* optional",
        "- [✅] grün",
        "---",
        "<summary>x</summary>",
        "  continued",
        "- [x] **Step 1: a** b",
    ])
    .prop_map(str::to_owned)
}

fn document() -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    (prop::collection::vec(line(), 0..30), end, any::<bool>(), any::<bool>()).prop_map(
        |(lines, end, is_closed, has_bom)| {
            let mut text = lines.join(end);
            if is_closed {
                text.push_str(end);
            }
            if has_bom {
                text.insert(0, '\u{feff}');
            }
            text
        },
    )
}

proptest! {
    #[test]
    fn a_task_that_is_done_changes_its_marker_and_nothing_else(
        text in document(),
        form in prop::sample::select(vec![StepForm::Box, StepForm::Heading]),
        pick in any::<prop::sample::Index>(),
        role in prop::sample::select(vec![StepRole::Open, StepRole::Active, StepRole::Done, StepRole::Failed]),
    ) {
        let grammar = Grammar { step: form, ..Grammar::default() };
        let before = Checklist::read(&Document::parse(text.as_str()).unwrap(), &grammar);
        prop_assume!(!before.tasks.is_empty());
        let at = pick.index(before.tasks.len());
        let task = &before.tasks[at];
        let Some(mark) = task.marker_for(role, &grammar) else { return Ok(()) };
        let mut splices = [Splice { at: task.marker.clone(), new: mark }];
        let edited = apply_splices(&text, &mut splices).unwrap();
        let after = Checklist::read(&Document::parse(edited).unwrap(), &grammar);
        // A list of markers with their meanings may come into being or cease to be one.
        prop_assume!(after.tasks.len() == before.tasks.len());
        for (at_now, (old, new)) in before.tasks.iter().zip(&after.tasks).enumerate() {
            prop_assert_eq!((&old.id, &old.title, &old.group), (&new.id, &new.title, &new.group));
            match at_now == at {
                true => prop_assert_eq!(Some(new.role), old.written_role(role, &grammar)),
                false => prop_assert_eq!(new.role, old.role),
            }
        }
    }

    #[test]
    fn tasks_are_counted_as_they_are_read(
        text in document(),
        form in prop::sample::select(vec![StepForm::Box, StepForm::Heading]),
    ) {
        let grammar = Grammar { step: form, ..Grammar::default() };
        let document = Document::parse(text.as_str()).unwrap();
        let (tasks, tally) = (Checklist::read(&document, &grammar).tasks, TaskCounts::read(&document, &grammar));
        prop_assert_eq!(tally.first, tasks.first().map(|task| task.span.start));
        prop_assert_eq!(tally.unknown(), tasks.iter().filter(|task| !task.is_known).count());
        for role in [StepRole::Open, StepRole::Active, StepRole::Done, StepRole::Skipped, StepRole::Failed] {
            prop_assert_eq!(tally.count(role), tasks.iter().filter(|task| task.role == role).count());
        }
    }

    #[test]
    fn markers_are_in_the_source_and_in_order(text in ".{0,200}") {
        if let Ok(document) = Document::parse(text.as_str()) {
            let list = Checklist::read(&document, &Grammar::default());
            for task in &list.tasks {
                prop_assert!(text.get(task.marker.clone()).is_some());
                prop_assert!(task.span.start < task.marker.start);
            }
            prop_assert!(list.tasks.windows(2).all(|pair| pair[0].marker.end < pair[1].marker.start));
        }
    }
}
