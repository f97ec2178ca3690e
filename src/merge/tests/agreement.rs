//! Merging and comparing agree about what is the same thing.

use proptest::prelude::*;

use super::{clean, merged};
use crate::diff::{Subject, Verb, compare, summary};
use crate::domain::{Plan, StateFile};
use crate::text::markdown::Document;

const FILES: [StateFile; 3] = [StateFile::Plan, StateFile::Context, StateFile::Constraints];

fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "# A",
        "## Steps",
        "## B",
        "## Active Directives",
        "### Step 1: One",
        "### Step 2: Two",
        "- **id**: k3f9",
        "- **id**: b7xq",
        "#### Notes",
        "- one",
        "- two words",
        "- **k**: v",
        "- **attempts**: 1",
        "  - **in**: w",
        "  - bare",
        "  loose",
        "words",
        "more words here",
        "",
        "",
        "> q",
        "1. x",
        "- For the next 2 steps, hum",
    ]);
    prop::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n") + "\n")
}

/// The same lines written in another way.
fn written_otherwise() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0u8..6, 14)
}

fn rewrite(text: &str, ways: &[u8]) -> String {
    let line = |(line, way): (&str, &u8)| match way {
        0 => line.replacen("- ", "* ", 1),
        1 => line.replacen("**k**: v", "**K**: \"v\"", 1).replacen("**attempts**", "Attempts", 1),
        2 if !line.is_empty() => format!("{line}  "),
        3 => line.replacen("more words here", "more\nwords here", 1),
        4 => line.replacen("Step 2: ", "Step 2 -  ", 1).replacen("## ", "##  ", 1),
        _ => line.to_owned(),
    };
    text.lines().zip(ways.iter().cycle()).map(line).collect::<Vec<_>>().join("\n") + "\n"
}

fn says_the_same(file: StateFile, before: &str, after: &str) -> bool {
    let found = compare(file, Some(before.as_bytes()), Some(after.as_bytes()));
    found.iter().all(|difference| matches!(difference.subject, Subject::Layout { .. }))
}

/// A plan as a list of steps: id, title, note. Without an id a step is known by number and title.
fn plan_text(steps: &[(Option<u8>, u8, u8)], mark: bool) -> String {
    let mut text = "# Execution Plan: T\n\n## One\n".to_owned();
    for (at, (id, title, note)) in steps.iter().enumerate() {
        if at == 2 {
            text.push_str("\n## Two\n");
        }
        text.push_str(&format!("\n### Step {}: Title {title}\n", at + 1));
        text.extend(id.map(|id| format!("- **id**: s{id}\n")));
        text.push_str(&format!("- **note**: words {note}\n"));
        text.extend(mark.then(|| format!("- **mark**: of {}\n", at + 1)));
    }
    if steps.len() < 3 {
        text.push_str("\n## Two\n");
    }
    text
}

fn steps() -> impl Strategy<Value = Vec<(Option<u8>, u8, u8)>> {
    let step = (prop::option::weighted(0.7, 0u8..6), 0u8..4, 0u8..3);
    prop::collection::vec(step, 0..6).prop_map(|mut steps| {
        let mut seen = Vec::new();
        steps.retain(|(id, title, _)| {
            let name = id.map_or((None, Some(*title)), |id| (Some(id), None));
            let is_new = !seen.contains(&name);
            seen.push(name);
            is_new
        });
        steps
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_a_comparison_calls_unchanged_is_never_a_conflict(
        base in text(), ours in text(), ways in written_otherwise(),
    ) {
        let theirs = rewrite(&base, &ways);
        for file in FILES {
            if says_the_same(file, &base, &theirs) {
                let (text, conflicts) = merged(file, &base, &ours, &theirs);
                prop_assert!(conflicts.is_empty(), "{file}\n{theirs}\n-----\n{text}");
                // Of a plan, steps are numbered anew.
                let is_kept = file == StateFile::Plan || says_the_same(file, &ours, &text);
                prop_assert!(is_kept, "{file}\n{ours}\n-----\n{text}");
            }
        }
    }

    /// Each step of the base gets a mark on one side; it follows the step wherever the other side
    /// put it, and is in conflict only with a removal.
    #[test]
    fn what_a_comparison_pairs_a_merge_pairs(base in steps(), ours in steps()) {
        let (base_text, ours) = (plan_text(&base, false), plan_text(&ours, false));
        let theirs = plan_text(&base, true);
        let found = compare(StateFile::Plan, Some(base_text.as_bytes()), Some(ours.as_bytes()));
        let is_removed = |d: &&crate::diff::Difference| {
            matches!(d.subject, Subject::Step { .. }) && d.verb() == Verb::Removed
        };
        let removed = found.iter().filter(is_removed).count();
        let (text, conflicts) = merged(StateFile::Plan, &base_text, &ours, &theirs);
        let about_steps = conflicts.iter().filter(|conflict| {
            conflict.ours.is_none() && conflict.theirs.is_some()
        });
        prop_assert_eq!(about_steps.count(), removed, "{}", text);
        let plan = Plan::read(Document::parse(text.as_str()).unwrap());
        prop_assert_eq!(plan.steps.len(), removed + ours.matches("### Step").count(), "{}", text);
        for number in 1..=base.len() {
            prop_assert_eq!(text.matches(&format!("**mark**: of {number}\n")).count(), 1, "{}", text);
        }
    }
}

const BASE: &str = "\
# Execution Plan: T

## First

### Step 1: Read the papers
- **note**: x

### Step 2: Write
- **id**: bbbb
- **note**: y

## Second
";

#[test]
fn a_step_without_an_id_renamed_on_one_side_is_edited_on_the_other() {
    let ours = BASE.replace("Read the papers", "Study");
    let theirs = BASE.replace("note**: x", "note**: changed");
    let text = clean(StateFile::Plan, BASE, &ours, &theirs);
    assert_eq!(text, ours.replace("note**: x", "note**: changed"));
}

#[test]
fn a_step_moved_to_another_section_keeps_the_changes_of_the_other_side() {
    let step = &BASE[BASE.find("### Step 2").unwrap()..BASE.find("## Second").unwrap()];
    let ours = format!("{}\n{}", BASE.replace(step, ""), step.trim_end()) + "\n";
    let theirs = BASE.replace("note**: y", "note**: changed");
    let text = clean(StateFile::Plan, BASE, &ours, &theirs);
    assert_eq!(text, ours.replace("note**: y", "note**: changed"));
    // Into a section that is new, too.
    let ours = ours.replace("## Second", "## Third");
    let text = clean(StateFile::Plan, BASE, &ours, &theirs);
    assert_eq!(text, ours.replace("note**: y", "note**: changed"));
}

#[test]
fn sections_put_into_each_other_by_the_two_sides_are_not_lost() {
    let base = "# C\n\n## A\n\nin a\n\n## B\n\nin b\n";
    let ours = "# C\n\n## B\n\nin b\n\n### A\n\nin a\n";
    let theirs = "# C\n\n## A\n\nin a\n\n### B\n\nin b\n";
    let (text, _) = merged(StateFile::Context, base, ours, theirs);
    assert!(text.contains("in a\n") && text.contains("in b\n"), "{text}");
}

#[test]
fn a_renamed_section_and_a_reworded_sentence_take_the_changes_of_the_other_side() {
    let base =
        "# C\n\n## Findings\n- Qdrant is written in Rust\n- Milvus needs etcd\n\n## Other\nx\n";
    let ours = base.replace("## Findings", "## Key Results");
    let theirs = base.replace("in Rust\n", "in Rust and fast\n");
    let text = clean(StateFile::Context, base, &ours, &theirs);
    assert_eq!(text, theirs.replace("## Findings", "## Key Results"));
    let base = "# C\n\n## Directives\n- Ask before you delete\n- For the next 3 steps, be brief\n";
    let ours = base.replace("Ask before you delete", "Always ask before you delete");
    let theirs = base.replace("next 3 steps", "next 2 steps");
    let text = clean(StateFile::Constraints, base, &ours, &theirs);
    assert_eq!(text, ours.replace("next 3 steps", "next 2 steps"));
}

#[test]
fn of_doubled_titles_the_one_that_changed_is_changed() {
    let base = "# C\n\n## Notes\n- one\n\n## Notes\n- two\n\n## Notes\n- three\n";
    let ours = base.replace("## Notes\n- one\n\n", "");
    let theirs = base.replace("- two", "- two and a half");
    let text = clean(StateFile::Context, base, &ours, &theirs);
    assert_eq!(text, ours.replace("- two", "- two and a half"));
    let found = compare(StateFile::Context, Some(base.as_bytes()), Some(ours.as_bytes()));
    assert_eq!(summary(&found), ["context: section \"Notes\" removed: \"- one\""]);
}

#[test]
fn a_heading_keeps_its_new_level_where_the_other_side_writes_the_old_one_otherwise() {
    let base = "# A\n\n## B\n\n#### Notes\n- bare\n";
    let ours = "# A\n\n## B\n\n### Notes\n- bare\n";
    let theirs = base.replace("#### Notes", "####  Notes");
    for file in FILES {
        assert_eq!(merged(file, base, ours, &theirs).0, ours, "{file}");
        assert_eq!(merged(file, base, &theirs, ours).0, ours, "{file}");
    }
}

#[test]
fn an_item_keeps_its_new_indentation_where_the_other_side_writes_another_bullet() {
    let base = "# A\n\n- one\n  - bare\n";
    let ours = "# A\n\n  - bare\n  - **in**: w\n";
    let text = clean(StateFile::Context, base, ours, &base.replace("- ", "* "));
    assert!(says_the_same(StateFile::Context, ours, &text), "{text}");
}
