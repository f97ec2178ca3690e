//! The laws of merging, on generated states.

use proptest::prelude::*;

use super::clean;
use crate::domain::{Plan, PlanRole, StateFile, StepRole, Variables, Workflow};
use crate::merge::{Side, choose_side, merge};
use crate::text::markdown::Document;

/// A plan as a list of steps: id, title, status, note.
fn plan_text(steps: &[(u8, u8, u8, u8)]) -> String {
    let mut text =
        "# Execution Plan: T\n\n## Metadata\n- **status**: IN_PROGRESS\n\n## Steps\n".to_owned();
    for (number, (id, title, status, note)) in steps.iter().enumerate() {
        let status = ["PENDING", "RUNNING", "COMPLETED"][usize::from(status % 3)];
        text.push_str(&format!(
            "\n### Step {}: Title {title}\n- **id**: s{id}\n- **status**: {status}\n",
            number + 1
        ));
        if *note > 0 {
            text.push_str(&format!("- **note**: words {note}\n"));
        }
    }
    text
}

fn steps() -> impl Strategy<Value = Vec<(u8, u8, u8, u8)>> {
    prop::collection::vec((0u8..9, 0u8..3, 0u8..3, 0u8..3), 0..6).prop_map(|mut steps| {
        let mut seen = Vec::new();
        steps.retain(|step| {
            !seen.contains(&step.0) && {
                seen.push(step.0);
                true
            }
        });
        steps
    })
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "# A", "## B", "## C", "### D", "- one", "- two", "- **k**: v", "- **k**: w", "  - in",
        "words", "more words", "", "", "~~~", "> q", "1. x", "---", "| a | b |", "<!-- c -->",
        "===",
    ]);
    prop::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n") + "\n")
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1".to_owned()),
        Just("2.50".to_owned()),
        Just("\"s\"".to_owned()),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|v| format!("[{}]", v.join(", "))),
            prop::collection::btree_map("[a-d]|total_x", inner, 0..4).prop_map(|m| {
                let members: Vec<String> = m.iter().map(|(k, v)| format!("\"{k}\": {v}")).collect();
                format!("{{{}}}", members.join(", "))
            }),
        ]
    });
    prop::collection::btree_map("[a-d]", value, 0..4).prop_map(|m| {
        let members: Vec<String> = m.iter().map(|(k, v)| format!("  \"{k}\": {v}")).collect();
        format!("{{\n{}\n}}\n", members.join(",\n"))
    })
}

fn run(file: StateFile, base: &str, ours: &str, theirs: &str) -> (String, usize) {
    let [base, ours, theirs] = [base, ours, theirs].map(|text| Some(text.as_bytes()));
    let merged = merge(file, base, ours, theirs, Workflow::builtin());
    let merged = merged.unwrap().unwrap();
    (String::from_utf8(merged.bytes).unwrap(), merged.conflicts.len())
}

/// What a plan says, step by step, in a form that can be compared.
fn step_lines(text: &str) -> Vec<String> {
    let plan = Plan::read(Document::parse(text).unwrap());
    let mut steps: Vec<String> = plan
        .steps
        .iter()
        .map(|step| {
            format!("{:?} {} {:?} {:?}", step.id, step.title, step.status, step.details().other)
        })
        .collect();
    steps.sort();
    steps
}

/// A plan of `count` steps, of which one side has finished some.
fn worked_on(count: usize, finished: &[bool]) -> String {
    let done = finished.iter().take(count).filter(|done| **done).count();
    let (planning, active, succeeded) = (PlanRole::Planning, PlanRole::Active, PlanRole::Succeeded);
    let role = if done == 0 {
        planning
    } else if done < count {
        active
    } else {
        succeeded
    };
    let status = Workflow::builtin().plan_with_role(role);
    let step = |at: usize| {
        let role = if finished[at] { StepRole::Done } else { StepRole::Open };
        let status = Workflow::builtin().step_with_role(role);
        format!("\n### Step {0}: Title {0}\n- **id**: s{0}\n- **status**: {status}\n", at + 1)
    };
    let steps: String = (0..count).map(step).collect();
    format!("# Execution Plan: T\n\n## Metadata\n- **status**: {status}\n\n## Steps\n{steps}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whichever side is ahead, the plan's own status follows from its steps.
    #[test]
    fn a_merged_plan_has_succeeded_if_and_only_if_all_its_steps_are_finished(
        count in 1usize..5,
        base: [bool; 5],
        ours: [bool; 5],
        theirs: [bool; 5],
    ) {
        let of = |side: [bool; 5]| std::array::from_fn::<bool, 5, _>(|at| base[at] || side[at]);
        let (base, sides) = (worked_on(count, &base), [of(ours), of(theirs)]);
        let [ours, theirs] = sides.map(|side| worked_on(count, &side));
        let (text, conflicts) = run(StateFile::Plan, &base, &ours, &theirs);
        prop_assert_eq!(conflicts, 0, "{}", text);
        let plan = Plan::read(Document::parse(text.as_str()).unwrap());
        let role = plan.metadata.status.and_then(|status| Workflow::builtin().plan_role(&status));
        let done = (0..count).filter(|at| sides.iter().any(|side| side[*at])).count();
        prop_assert_eq!(role == Some(PlanRole::Succeeded), done == count, "{}", text);
        prop_assert_eq!(role == Some(PlanRole::Planning), done == 0, "{}", text);
    }

    #[test]
    fn any_text_merges_with_itself_and_with_an_unchanged_side(base in text(), ours in text()) {
        for file in [StateFile::Plan, StateFile::Context, StateFile::Constraints] {
            prop_assert_eq!(run(file, &base, &ours, &base).0, ours.clone());
            prop_assert_eq!(run(file, &base, &base, &ours).0, ours.clone());
            prop_assert_eq!(run(file, &base, &ours, &ours).0, ours.clone());
        }
    }

    /// The same by parts, not by comparing whole files: a change far away on the other side.
    #[test]
    fn an_unchanged_part_follows_the_side_that_changed_it(base in text(), ours in text()) {
        let far = |text: &str, end: &str| format!("# First\n\n{text}\n# Last\n\n{end}\n");
        let (base, theirs) = (far(&base, "end"), far(&base, "other end"));
        let ours = far(&ours, "end");
        prop_assume!(Document::parse(ours.as_str()).unwrap().find(&["Last"]).is_ok());
        prop_assume!(Document::parse(base.as_str()).unwrap().find(&["Last"]).is_ok());
        let (text, conflicts) = run(StateFile::Context, &base, &ours, &theirs);
        prop_assert_eq!(conflicts, 0, "{}", text);
        prop_assert_eq!(text, ours.replace("\nend\n", "\nother end\n"));
    }

    #[test]
    fn any_texts_merge_to_something_that_can_be_read_and_resolved(
        base in text(), ours in text(), theirs in text(),
    ) {
        let (text, conflicts) = run(StateFile::Context, &base, &ours, &theirs);
        let (_, swapped) = run(StateFile::Context, &base, &theirs, &ours);
        prop_assert_eq!(conflicts, swapped);
        prop_assert!(Document::parse(text.as_str()).is_ok());
        if conflicts > 0 {
            let (bytes, _) = choose_side(StateFile::Context, text.as_bytes(), "context", Side::Ours).unwrap();
            let again = crate::merge::conflicts(StateFile::Context, &bytes);
            prop_assert!(again.is_empty(), "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn plans_merge_step_by_step(base in steps(), ours in steps(), theirs in steps()) {
        let texts = [plan_text(&base), plan_text(&ours), plan_text(&theirs)];
        let (merged, conflicts) = run(StateFile::Plan, &texts[0], &texts[1], &texts[2]);
        let (swapped, swapped_conflicts) = run(StateFile::Plan, &texts[0], &texts[2], &texts[1]);
        prop_assert_eq!(conflicts, swapped_conflicts);
        let plan = Plan::read(Document::parse(merged.as_str()).unwrap());
        prop_assert!(plan.steps.iter().zip(1..).all(|(step, number)| step.number == number), "{}", merged);
        if conflicts == 0 {
            prop_assert_eq!(step_lines(&merged), step_lines(&swapped));
            prop_assert_eq!(&merged, &swapped);
        }
        for step in &plan.steps {
            let id = step.id.as_ref().unwrap().as_str();
            let find = |steps: &[(u8, u8, u8, u8)]| steps.iter().find(|s| format!("s{}", s.0) == id).copied();
            let sides: Vec<String> = [find(&ours), find(&theirs)].into_iter().flatten()
                .map(|s| ["PENDING", "RUNNING", "COMPLETED"][usize::from(s.2 % 3)].to_owned()).collect();
            // A second new step of the same id got one of its own.
            if sides.is_empty() {
                continue;
            }
            let status = step.status.clone().unwrap();
            prop_assert!(sides.contains(&status) || status.starts_with("<<<<<<< "), "{}", merged);
        }
        // Whoever was added by either side is there.
        for step in ours.iter().chain(&theirs).filter(|s| !base.iter().any(|b| b.0 == s.0)) {
            let id = format!("s{}", step.0);
            prop_assert!(plan.steps.iter().any(|s| s.id.as_ref().unwrap().as_str() == id), "{}", merged);
        }
    }

    #[test]
    fn variables_merge_key_by_key(base in json(), ours in json(), theirs in json()) {
        let (merged, conflicts) = run(StateFile::Variables, &base, &ours, &theirs);
        let (swapped, swapped_conflicts) = run(StateFile::Variables, &base, &theirs, &ours);
        prop_assert_eq!(conflicts, swapped_conflicts);
        let read = |text: &str| Variables::parse(text.as_bytes().to_vec()).unwrap().document.to_value();
        let value = read(&merged);
        if conflicts == 0 {
            prop_assert_eq!(&value, &read(&swapped));
        }
        prop_assert_eq!(read(&run(StateFile::Variables, &base, &ours, &base).0), read(&ours));
        prop_assert_eq!(read(&run(StateFile::Variables, &base, &base, &ours).0), read(&ours));
    }
}

/// All lists of `items` items, each at most one level deeper than the one before.
fn nested_lists(items: usize) -> Vec<Vec<usize>> {
    let mut lists = vec![vec![0]];
    for _ in 1..items {
        let longer = |list: &Vec<usize>| -> Vec<Vec<usize>> {
            let deepest = list.last().map_or(0, |depth| depth + 1);
            (0..=deepest).map(|depth| [list.clone(), vec![depth]].concat()).collect()
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

/// A file that was empty is there, even if there is nothing in it.
#[test]
fn what_one_side_wrote_into_an_empty_file_is_kept_to_the_byte() {
    let text = "# Execution Plan: T\n\n## Metadata\n- **uon Plan: T\n\n## Metadata\n- *\n\
                status**: IN_PR Step 1: One\n- **id*";
    for file in [StateFile::Plan, StateFile::Context, StateFile::Constraints] {
        assert_eq!(clean(file, "", text, ""), text, "{file:?}");
    }
}

#[test]
fn no_removal_of_a_list_item_is_lost() {
    let mut lost = Vec::new();
    for depths in nested_lists(4) {
        let line = |at: usize| format!("{}- item {}\n", "  ".repeat(depths[at]), NAMES[at]);
        let text = |gone: &[usize]| -> String {
            let lines = (0..depths.len()).filter(|at| !gone.contains(at)).map(line);
            format!("# C\n\n## Key Findings\n{}", lines.collect::<String>())
        };
        // An item goes with all that is nested in it.
        let with_nested = |at: usize| -> Vec<usize> {
            let nested = (at + 1..depths.len()).take_while(|next| depths[*next] > depths[at]);
            std::iter::once(at).chain(nested).collect()
        };
        for (our, their) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
            let (gone, others) = (with_nested(our), with_nested(their));
            let (base, ours, theirs) = (text(&[]), text(&gone), text(&others));
            let (merged, conflicts) = run(StateFile::Context, &base, &ours, &theirs);
            let wanted = text(&[gone, others].concat());
            if conflicts > 0 || merged.trim_end() != wanted.trim_end() {
                lost.push(format!("{base}ours:\n{ours}theirs:\n{theirs}merged:\n{merged}"));
            }
        }
    }
    assert!(
        lost.is_empty(),
        "{} lost\n{}",
        lost.len(),
        lost.iter().take(3).cloned().collect::<String>()
    );
}

#[test]
fn each_side_may_remove_another_line_above_a_nested_item() {
    let text = |lines: &[&str]| format!("# C\n\n## Key Findings\n{}\n", lines.join("\n"));
    let base = text(&["- item alpha", "- item beta", "- item gamma", "  - item delta"]);
    let ours = text(&["- item alpha", "- item gamma", "  - item delta"]);
    let theirs = text(&["- item alpha", "- item beta", "  - item delta"]);
    let wanted = text(&["- item alpha", "  - item delta"]);
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let (merged, conflicts) = run(StateFile::Context, &base, ours, theirs);
        assert_eq!((merged.as_str(), conflicts), (wanted.as_str(), 0));
    }
}

const NAMES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
