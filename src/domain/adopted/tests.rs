use proptest::prelude::*;

use super::*;
use crate::{
    domain::{
        Plan, StepRole, StepUpdate,
        layout::{AddedFiles, FilePath, PlanFile},
    },
    text::{apply_splices, markdown::Document},
};

fn layout(files: &[(&str, &str)]) -> ForeignLayout {
    let path = |name: &str| FilePath::parse(name).unwrap();
    let plan =
        |(name, prefix): &(&str, &str)| PlanFile { file: path(name), prefix: (*prefix).to_owned() };
    ForeignLayout {
        version: 1,
        profile: "todo".to_owned(),
        execution_id: "exec_1".to_owned(),
        title: "Login & more".to_owned(),
        goal: "Log in".to_owned(),
        plan: files.iter().map(plan).collect(),
        context: vec![path("spec.md")],
        constraints: vec![path("rules.md")],
        added: AddedFiles {
            steps: path("steps.md"),
            history: path("history.md"),
            variables: path("variables.json"),
            context: path("context.md"),
            constraints: path("constraints.md"),
            workflow: None,
        },
        grammar: Grammar::default(),
    }
}

fn raw(files: &[(&str, &str)]) -> FilesByName {
    files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
}

fn plan_of(composed: &Composed) -> Plan {
    Plan::read(Document::parse(composed.plan.as_str()).unwrap())
}

/// Number, id, title and role of each step.
fn steps(plan: &Plan) -> Vec<String> {
    let one = |step: &crate::domain::Step| {
        let id = step.id.as_ref().map(StepId::as_str).unwrap_or("none");
        let role = Workflow::builtin().role_of(step).unwrap();
        format!("{} {id} {} {role:?}", step.number, step.title)
    };
    plan.steps.iter().map(one).collect()
}

/// Gives a step another role and a claim, as a command does.
fn with_status(adopted: Adopted<'_>, files: &FilesByName, id: &str, role: StepRole) -> FilesByName {
    let before = adopted.compose(files).unwrap();
    let plan = plan_of(&before);
    let step = plan.step(&id.parse().unwrap()).unwrap();
    let mut update = StepUpdate::default();
    update.set("status", adopted.workflow.step_with_role(role));
    update.set("claimed_by", "ada@build7");
    update.set("attempts", "1");
    update.set_role(Some(role));
    let mut edit = plan.document.edit();
    plan.update_step(&mut edit, step, &update).unwrap();
    let edited = edit.finish().unwrap().document.into_source().into_bytes();
    let after = BTreeMap::from([(StateFile::Plan, edited)]);
    let mut files = files.clone();
    for (name, change) in
        adopted.decompose(&files.clone(), Some(&before), &after, None).unwrap().changes
    {
        let bytes = match change {
            FileEdit::Write(bytes) => bytes,
            FileEdit::Splice(mut splices) => {
                let text = String::from_utf8(files[&name].clone()).unwrap();
                apply_splices(&text, &mut splices).unwrap().into_bytes()
            }
        };
        files.insert(name, bytes);
    }
    files
}

#[test]
fn tasks_become_steps_with_their_ids_and_numbers() {
    let layout = layout(&[("tasks.md", "")]);
    let adopted = Adopted { layout: &layout, workflow: Workflow::builtin() };
    let text = "- [x] T001 Create `src/a_b.rs` & *go* # 1\n- [ ] T002 [P] Test ✓\n- [ ] No id\n- [ ] No id\n";
    let plan = plan_of(&adopted.compose(&raw(&[("tasks.md", text)])).unwrap());
    let said = steps(&plan);
    assert_eq!(said[0], "1 T001 Create `src/a_b.rs` & *go* # 1 Done");
    assert_eq!(said[1], "2 T002 Test ✓ Open");
    assert!(said[2].ends_with("No id Open") && said[2][2..] != said[3][2..], "{said:?}");
    assert_eq!(plan.metadata.goal.as_deref(), Some("Log in"));
    assert_eq!(plan.title, "Login & more");
    assert_eq!(plan.steps[1].details().other, [("parallel".to_owned(), "yes".to_owned())]);
    assert!(plan.problems.is_empty(), "{:?}", plan.problems);
}

#[test]
fn whole_numbers_stay_the_numbers_and_a_task_waits_for_those_in_it() {
    let layout = layout(&[("tasks.md", "")]);
    let adopted = Adopted { layout: &layout, workflow: Workflow::builtin() };
    let text =
        "- [ ] 1. Models\n  - [x] 1.1 User\n  - [ ]* 1.2 Tests\n- [ ] 2. Views (depends on 1.1)\n";
    let plan = plan_of(&adopted.compose(&raw(&[("tasks.md", text)])).unwrap());
    assert_eq!(
        steps(&plan),
        ["1 task-1 Models Open", "3 1.1 User Done", "4 1.2 Tests Open", "2 task-2 Views Open"]
    );
    let waits =
        |at: usize| plan.steps[at].depends_on.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!((waits(0), waits(3)), (vec!["1.1".to_owned()], vec!["1.1".to_owned()]));
}

#[test]
fn a_done_step_changes_the_byte_of_its_marker() {
    let layout = layout(&[("a/tasks.md", "a"), ("b/tasks.md", "b")]);
    let adopted = Adopted { layout: &layout, workflow: Workflow::builtin() };
    let text = "- [ ] 1.1 One\r\n- [ ] 1.2 Two\r\n";
    let files = raw(&[("a/tasks.md", text), ("b/tasks.md", text)]);
    let done = with_status(adopted, &files, "b/1.1", StepRole::Done);
    assert_eq!(done["a/tasks.md"], text.as_bytes());
    assert_eq!(done["b/tasks.md"], text.replacen("[ ]", "[x]", 1).as_bytes());
    let failed = with_status(adopted, &files, "b/1.1", StepRole::Failed);
    assert_eq!(failed["b/tasks.md"], text.as_bytes());
    let plan = plan_of(&adopted.compose(&failed).unwrap());
    assert_eq!(Workflow::builtin().role_of(&plan.steps[2]), Some(StepRole::Failed));
    assert!(plan.steps[2].claimed_by.is_some());
    // A box ticked by hand wins.
    let mut ticked = failed.clone();
    ticked.insert("b/tasks.md".to_owned(), text.replacen("[ ]", "[X]", 1).into_bytes());
    let plan = plan_of(&adopted.compose(&ticked).unwrap());
    assert_eq!(Workflow::builtin().role_of(&plan.steps[2]), Some(StepRole::Done));
}

#[test]
fn the_text_and_the_order_of_tasks_are_not_ours() {
    let layout = layout(&[("tasks.md", "")]);
    let adopted = Adopted { layout: &layout, workflow: Workflow::builtin() };
    let files = raw(&[("tasks.md", "# T\n\n- [ ] T001 One\n- [ ] T002 Two\n")]);
    let before = adopted.compose(&files).unwrap();
    let text = before.plan.as_str().to_owned();
    let refused = |text: String| {
        let after = BTreeMap::from([(StateFile::Plan, text.into_bytes())]);
        adopted.decompose(&files, Some(&before), &after, None).unwrap_err().to_string()
    };
    assert!(refused(text.replace("One", "Other")).contains("tasks.md:3"));
    let gone = text[..text.find("\n### Step 2").unwrap()].to_owned();
    assert!(refused(gone).contains("tasks.md:4"));
    // Control: nothing changed, nothing to do.
    let after = BTreeMap::from([(StateFile::Plan, text.into_bytes())]);
    assert!(adopted.decompose(&files, Some(&before), &after, None).unwrap().changes.is_empty());
}

#[test]
fn steps_and_texts_of_ones_own_stay_out_of_the_files_of_others() {
    let layout = layout(&[("tasks.md", "")]);
    let adopted = Adopted { layout: &layout, workflow: Workflow::builtin() };
    let files =
        raw(&[("tasks.md", "- [ ] T001 One\n"), ("spec.md", "# Spec\n\n## Why\nBecause.\n")]);
    let before = adopted.compose(&files).unwrap();
    let plan = format!(
        "{}\n### Step 2: Mine\n- **status**: {}\n- **id**: k3f9\n\n## Reviews\n- [ ] **r1**: ok?\n",
        before.plan.as_str(),
        adopted.workflow.step_with_role(StepRole::Open)
    );
    let said = |files: &FilesByName| {
        String::from_utf8(adopted.native(files).unwrap()["context.md"].clone()).unwrap()
    };
    let context = said(&files);
    assert!(context.contains("Because."));
    let context = context.replacen("## Key Findings\n", "## Key Findings\nIt is slow.\n", 1);
    let after = BTreeMap::from([
        (StateFile::Plan, plan.into_bytes()),
        (StateFile::Context, context.clone().into_bytes()),
    ]);
    let changes = adopted.decompose(&files, Some(&before), &after, None).unwrap().changes;
    let names: Vec<&str> = changes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["steps.md", "context.md"]);
    let mut files = files.clone();
    for (name, change) in changes {
        if let FileEdit::Write(bytes) = change {
            files.insert(name, bytes);
        }
    }
    let again = adopted.compose(&files).unwrap();
    assert_eq!(steps(&plan_of(&again))[1], "2 k3f9 Mine Open");
    assert_eq!(plan_of(&again).reviews.len(), 1);
    assert_eq!(said(&files), context);
    // What others wrote is refused.
    let after =
        BTreeMap::from([(StateFile::Context, context.replace("Because", "Whatever").into_bytes())]);
    assert!(adopted.decompose(&files, Some(&again), &after, None).is_err());
}

/// Fails when lists are read or composed differently: then increase the number in `FORMAT`, so that
/// caches of earlier builds are not used.
#[test]
fn the_format_changes_with_what_is_composed() {
    let layout = layout(&[("tasks.md", "")]);
    let adopted = Adopted { layout: &layout, workflow: Workflow::builtin() };
    let text = "# T\n\n## 1. A\n- [ ] T001 [P] One `a_b` (depends on T002)\n  - why\n  - [x] 1.1 In\n\n## Task 2: B\n\
                - [-] **Step 1: Go** [1a2b3c4]\n- [?] odd\n      - [ ] far in\n<details>\n- [X] html\n</details>\n";
    let plan = adopted.compose(&raw(&[("tasks.md", text)])).unwrap().plan.into_string();
    let sum = plan.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!((cache::FORMAT, sum), ("adopted 0.1.0+4", 16_624_624_914_147_307_520), "{plan}");
}

proptest! {
    /// The cache equals what is composed from the files, and so does a change that starts from it.
    #[test]
    fn the_cache_is_what_would_be_composed(
        lines in prop::collection::vec(prop::sample::select(vec![
            "# T", "- [ ] T001 One", "- [x] T002 *Two* `a_b`", "  - [-] 1.1 Three", "- [ ] Größe ✓", "text",
            "```", "<!-- - [ ] no -->", "- [?] odd <b> &amp; [x]", "1. [X] Four", "", "## G: 1", "### Task 2: B",
            "- [ ] Step 1: Go (depends on T001)", "- [] none", "- [done] word", "      - [ ] far in", "[x]: /url",
            "<details>", "---",
        ]), 1..30),
        pick in any::<prop::sample::Index>(),
        role in prop::sample::select(vec![StepRole::Active, StepRole::Done, StepRole::Failed]),
    ) {
        let layout = layout(&[("a.md", "a"), ("b.md", "b")]);
        let adopted = Adopted { layout: &layout, workflow: Workflow::builtin() };
        let (half, text) = (lines.len() / 2, |lines: &[&str]| lines.join("\n"));
        let files = raw(&[("a.md", &text(&lines[..half])), ("b.md", &text(&lines[half..]))]);
        let whole = adopted.compose(&files).unwrap();
        prop_assume!(!whole.task_steps.is_empty());
        let cached = CachedPlan::read(adopted.to_cache(&whole, &plan_of(&whole)).unwrap()).unwrap();
        let cached = Arc::new(cached);
        prop_assert_eq!(std::str::from_utf8(cached.text()).unwrap(), whole.plan.as_str());
        let from_cache = cached.composed().unwrap();
        let said = |of: &Composed| (of.plan.as_str().to_owned(), of.task_steps.clone(), of.places.clone());
        prop_assert_eq!(said(&from_cache), said(&whole));
        for one in &whole.task_steps {
            let read = |composed: &Composed| {
                let list = adopted.list_containing(&files, &composed.lists, &composed.task_steps, one).unwrap();
                let task = list.task(one).unwrap().clone();
                crate::domain::checklist::Task { parent: None, ..task }
            };
            prop_assert_eq!(read(&from_cache), read(&whole));
        }
        let plan = plan_of(&whole);
        let step = &plan.steps[pick.index(whole.task_steps.len())];
        let mut update = StepUpdate::default();
        update.set("status", adopted.workflow.step_with_role(role));
        update.set("claimed_by", "ada@build7");
        update.set_role(Some(role));
        let mut edit = plan.document.edit();
        plan.update_step(&mut edit, step, &update).unwrap();
        let edited = edit.finish().unwrap().document.into_source().into_bytes();
        let after = BTreeMap::from([(StateFile::Plan, edited)]);
        let made = |composed: &Composed| adopted.decompose(&files, Some(composed), &after, None);
        match (made(&cached.composed().unwrap()), made(&whole)) {
            (Ok(from_cache), Ok(whole)) => {
                prop_assert_eq!(&from_cache.changes, &whole.changes);
                let text = |made: Decomposed| CachedPlan::read(made.cached.unwrap()).unwrap().text().to_vec();
                prop_assert_eq!(text(from_cache), text(whole));
            }
            (from_cache, whole) => prop_assert_eq!(
                from_cache.map_err(|error| error.to_string()).is_ok(),
                whole.map_err(|error| error.to_string()).is_ok()
            ),
        }
    }

    #[test]
    fn any_sequence_of_roles_changes_only_markers(
        lines in prop::collection::vec(prop::sample::select(vec![
            "# T", "- [ ] T001 One", "- [x] T002 *Two* `a_b`", "  - [-] 1.1 Three", "- [ ] Größe ✓", "text",
            "```", "<!-- - [ ] no -->", "- [?] odd <b> &amp; [x]", "1. [X] Four", "", "## G: 1",
        ]), 1..20),
        crlf in any::<bool>(),
        acts in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(vec![
            StepRole::Open, StepRole::Active, StepRole::Done, StepRole::Failed, StepRole::Skipped,
        ])), 1..8),
    ) {
        let text = lines.join(if crlf { "\r\n" } else { "\n" });
        let layout = layout(&[("tasks.md", "")]);
        let adopted = Adopted { layout: &layout, workflow: Workflow::builtin() };
        let mut files = raw(&[("tasks.md", &text)]);
        let first = adopted.compose(&files).unwrap();
        prop_assume!(!first.task_steps.is_empty());
        let markers: Vec<_> = adopted.whole_file(&files, &first.lists, 0).unwrap().tasks.tasks.iter().map(|task| task.marker.clone()).collect();
        for (pick, role) in acts {
            let one = &first.task_steps[pick.index(first.task_steps.len())];
            files = with_status(adopted, &files, one.id.as_str(), role);
            let plan = plan_of(&adopted.compose(&files).unwrap());
            let step = plan.step_by_id(&one.id).unwrap();
            prop_assert_eq!(Workflow::builtin().role_of(step), Some(role));
        }
        let now = String::from_utf8(files["tasks.md"].clone()).unwrap();
        prop_assert_eq!(now.len(), text.len());
        for (at, (old, new)) in text.bytes().zip(now.bytes()).enumerate() {
            prop_assert!(old == new || markers.iter().any(|marker| marker.contains(&at)), "byte {}", at);
        }
    }
}
