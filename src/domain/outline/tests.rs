#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use proptest::prelude::*;

use super::{Outline, Pairing, ThingKind, join};
use crate::{domain::StateFile, text::markdown::Document};

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
        "  - **in**: w",
        "  - bare",
        "  loose",
        "- - both",
        "words",
        "more words here",
        "",
        "",
        "~~~",
        "> q",
        "1. x",
        "---",
        "<!-- c -->",
        "===",
        "\ttab",
        "- For the next 2 steps, hum",
    ]);
    let ends = prop::sample::select(vec!["\n", "\n", "\n", "\r\n"]);
    prop::collection::vec((line, ends), 0..20)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line.to_owned() + end).collect())
}

/// The pairs in words: where each thing is and what it says.
fn pairs(file: StateFile, before: &str, after: &str) -> Vec<(String, String)> {
    let (before, after) = (Document::parse(before).unwrap(), Document::parse(after).unwrap());
    let (old, new) = (Outline::read(file, &before), Outline::read(file, &after));
    let pairing = Pairing::of(&old, &new);
    let paired = old.ids().skip(1).filter_map(|id| Some((id, pairing.to_new(id)?)));
    paired.map(|(from, to)| (old.own_text(from), new.own_text(to))).collect()
}

fn is_paired(pairs: &[(String, String)], old: &str, new: &str) -> bool {
    pairs.contains(&(old.to_owned(), new.to_owned()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_text_of_all_things_is_the_file(text in text()) {
        let document = Document::parse(text.as_str()).unwrap();
        for file in FILES {
            let outline = Outline::read(file, &document);
            let whole: String = outline.ids().map(|id| {
                let thing = outline.get(id);
                [thing.gap, thing.prefix, &*thing.value].concat()
            }).collect();
            prop_assert_eq!(whole + outline.tail, text.as_str());
            for id in outline.ids() {
                prop_assert!(outline.children(id).all(|child| outline.get(child).parent == id));
            }
        }
    }

    #[test]
    fn a_pairing_is_one_to_one_of_one_kind_and_the_mirror_image_of_the_other_way(
        before in text(), after in text(),
    ) {
        let (before, after) = (Document::parse(before).unwrap(), Document::parse(after).unwrap());
        for file in FILES {
            let (old, new) = (Outline::read(file, &before), Outline::read(file, &after));
            let (forth, back) = (Pairing::of(&old, &new), Pairing::of(&new, &old));
            for id in old.ids() {
                prop_assert_eq!(forth.to_new(id), back.to_old(id));
                let Some(partner) = forth.to_new(id) else { continue };
                prop_assert_eq!(forth.to_old(partner), Some(id));
                let (one, other) = (old.get(id), new.get(partner));
                prop_assert_eq!(one.step.is_some(), other.step.is_some());
                prop_assert_eq!(old.is_section(id), new.is_section(partner));
                if !old.is_section(id) {
                    prop_assert_eq!(one.kind, other.kind);
                    prop_assert_eq!(forth.to_new(one.parent), Some(other.parent));
                }
            }
            let same = Pairing::of(&old, &old);
            prop_assert!(old.ids().all(|id| same.to_new(id) == Some(id)));
        }
    }
}

#[test]
fn a_step_is_found_by_its_id_wherever_it_went() {
    let before = "# P\n## One\n### Step 1: A\n- **id**: aaaa\n- **note**: x\n## Two\n";
    let after = "# P\n## One\n## Two\n### Step 4: Renamed\n- **id**: aaaa\n- **note**: y\n";
    let pairs = pairs(StateFile::Plan, before, after);
    assert!(is_paired(&pairs, "A", "Renamed"), "{pairs:?}");
    assert!(is_paired(&pairs, "note: x", "note: y"), "{pairs:?}");
}

#[test]
fn of_doubled_names_those_that_say_the_same_are_paired_first() {
    let before = "# C\n- **note**: a\n- **note**: b\n- **note**: c\n## N\nx\n## N\ny\n";
    let after = "# C\n- **note**: b\n- **note**: c\n## N\ny\n";
    let pairs = pairs(StateFile::Context, before, after);
    assert!(is_paired(&pairs, "note: b", "note: b"), "{pairs:?}");
    assert!(is_paired(&pairs, "note: c", "note: c"), "{pairs:?}");
    assert!(is_paired(&pairs, "y", "y"), "{pairs:?}");
    assert!(!pairs.iter().any(|(old, _)| old == "x" || old == "note: a"), "{pairs:?}");
}

#[test]
fn a_section_with_another_heading_or_parent_is_known_by_what_it_says() {
    let before = "# C\n## A\n### Findings\n- one\n- two words\n## B\n";
    let after = "# C\n## A\n## B\n### Findings\n- one\n- two words\n";
    assert!(is_paired(&pairs(StateFile::Context, before, after), "Findings", "Findings"));
    let renamed = before.replace("Findings", "Results").replace("two words", "three words");
    let pairs = pairs(StateFile::Context, before, &renamed);
    assert!(is_paired(&pairs, "two words", "three words"), "{pairs:?}");
}

#[test]
fn a_sentence_that_was_moved_and_reworded_is_the_one_most_like_it() {
    let list = |lines: &[&str]| format!("# C\n## Directives\n- {}\n", lines.join("\n- "));
    let before = list(&["Ask before you delete a file", "Be brief", "Write tests first"]);
    let after = list(&["Write tests first", "Be brief", "Always ask before you delete a file"]);
    let pairs = pairs(StateFile::Constraints, &before, &after);
    let asked = ["Ask before you delete a file", "Always ask before you delete a file"];
    assert!(is_paired(&pairs, asked[0], asked[1]), "{pairs:?}");
}

#[test]
fn text_between_nested_items_is_a_thing_of_its_own() {
    let document = Document::parse("# P\n- **a**:\n  - **b**: 1\n\n  loose\n").unwrap();
    let outline = Outline::read(StateFile::Context, &document);
    let last = outline.get(outline.ids().len() - 1);
    assert_eq!((last.kind, &*last.value), (ThingKind::Text, "loose"));
    assert_eq!(join("-", "x"), "- x");
}
