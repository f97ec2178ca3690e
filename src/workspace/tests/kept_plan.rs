//! What is kept of a long plan never says anything else than the file.

use proptest::prelude::*;

use super::action::{dir, start, workspace};
use crate::{
    domain::{Plan, StateFile},
    store::sim_disk::{Fault, Loss, SimDisk},
    text::markdown::Document,
    workspace::{Change, snapshot},
};

/// One thing that happens to the state.
#[derive(Clone, Debug)]
enum Event {
    Change(String),
    Undo,
    /// Somebody writes another word for the status of a step, of the same length.
    Edit(usize),
    /// A command is cut off at some call, and the power fails.
    Crash(u64, Loss),
    /// What is kept is damaged.
    Damage(usize),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let change = |text: &str| Just(Event::Change(text.to_owned()));
    let numbered = |form: &'static str| {
        (1..90_u32).prop_map(move |n| Event::Change(form.replace('@', &n.to_string())))
    };
    let event = prop_oneof![
        4 => change(r#"{"op": "step.start"}"#),
        3 => change(r#"{"op": "step.done", "output": {"a": 1}}"#),
        2 => change(r#"{"op": "step.fail", "error": "it broke"}"#),
        2 => numbered(r#"{"op": "step.set", "step": @, "effects": "```\n# no heading"}"#),
        2 => numbered(r#"{"op": "step.set", "step": @, "title": "Another [name]: x"}"#),
        1 => numbered(r#"{"op": "step.add", "title": "New", "after": @}"#),
        1 => numbered(r#"{"op": "step.remove", "step": @}"#),
        1 => change(r#"{"op": "var.set", "path": "a", "value": 1}"#),
        1 => change(r#"{"op": "plan.pause", "why": "lunch"}"#),
        1 => change(r#"{"op": "plan.resume"}"#),
        2 => Just(Event::Undo),
        2 => (0..90_usize).prop_map(Event::Edit),
        1 => (1..60_u64, prop::sample::select(vec![Loss::Old, Loss::Half, Loss::Garbage, Loss::Zeros]))
            .prop_map(|(call, loss)| Event::Crash(call, loss)),
        1 => (0..4000_usize).prop_map(Event::Damage),
    ];
    prop::collection::vec(event, 1..14)
}

/// A state with ninety steps.
fn long_state() -> SimDisk {
    state_of(90)
}

fn state_of(steps: usize) -> SimDisk {
    let disk = start();
    let add = |n: usize| {
        let text = format!(
            r#"{{"op": "step.add", "title": "Do part {n} of all the work there is", "component": "worker",
                "effects": "writes a file that is named after the part, and removes the one before it"}}"#
        );
        serde_json::from_str::<Change>(&text).unwrap()
    };
    let changes: Vec<Change> = (1..=steps).map(add).collect();
    workspace(&disk, 1).apply(&changes).unwrap();
    disk
}

fn make(disk: &SimDisk, event: &Event, number: u64) {
    let plan = dir().join(StateFile::Plan.name());
    match event {
        Event::Change(text) => {
            let change: Change = serde_json::from_str(text).unwrap();
            let _ = workspace(disk, number).apply(&[change]);
        }
        Event::Undo => drop(workspace(disk, number).undo()),
        Event::Edit(nth) => {
            let text = String::from_utf8(disk.peek(&plan).unwrap()).unwrap();
            let Some((at, _)) = text.match_indices("writes").nth(*nth) else { return };
            let edited = format!("{}WRITES{}", &text[..at], &text[at + 6..]);
            disk.edit(&plan, edited.as_bytes());
        }
        Event::Crash(call, loss) => {
            disk.arm(*call, Fault::CrashWithin, false);
            let change = serde_json::from_str::<Change>(r#"{"op": "step.start"}"#).unwrap();
            let _ = workspace(disk, number).apply(&[change]);
            disk.lose_power(*loss, 0x5555);
        }
        Event::Damage(at) => disk.damage(&dir().join(".statedir/derived"), |bytes| {
            if let Some(byte) = bytes.get_mut(*at) {
                *byte ^= 0x20;
            }
        }),
    }
}

/// All that a plan says.
fn all_of(plan: &Plan) -> String {
    let Plan { title, metadata, steps, reviews, problems, .. } = plan;
    format!("{title}\n{metadata:#?}\n{steps:#?}\n{reviews:#?}\n{problems:#?}")
}

fn read(source: &[u8]) -> Plan {
    Plan::read(Document::from_bytes(source.to_vec()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_kept_plan_is_the_plan_of_its_file(
        events in events(),
        steps in prop::sample::select(vec![12, 90]),
    ) {
        let disk = state_of(steps);
        for (at, event) in events.iter().enumerate() {
            make(&disk, event, at as u64 + 2);
            let view = workspace(&disk, 99).store.read(std::time::Duration::ZERO).unwrap();
            let Some(source) = view.bytes(StateFile::Plan.name()) else { continue };
            let (plan, _) = snapshot::plan(&view).unwrap();
            prop_assert_eq!(all_of(&plan), all_of(&read(source)), "after {:?}", event);
        }
    }
}

#[test]
fn a_plan_is_kept_by_changes_and_not_by_readers() {
    let disk = long_state();
    let is_kept = || {
        let view = workspace(&disk, 99).store.read(std::time::Duration::ZERO).unwrap();
        !snapshot::plan(&view).unwrap().1
    };
    assert!(is_kept());
    make(&disk, &Event::Edit(7), 2);
    assert!(!is_kept() && !is_kept(), "readers write nothing");
    make(&disk, &Event::Change(r#"{"op": "step.start"}"#.to_owned()), 3);
    assert!(is_kept());
    make(&disk, &Event::Change(r#"{"op": "var.set", "path": "a", "value": 1}"#.to_owned()), 4);
    assert!(is_kept(), "the plan is as it was");
    make(&disk, &Event::Damage(100), 5);
    assert!(!is_kept());
    make(&disk, &Event::Change(r#"{"op": "step.start", "step": 2}"#.to_owned()), 6);
    assert!(is_kept());
    make(&disk, &Event::Edit(9), 7);
    make(&disk, &Event::Change(r#"{"op": "var.set", "path": "a", "value": 2}"#.to_owned()), 8);
    assert!(is_kept(), "any change will do after an edit from outside");
    make(&disk, &Event::Edit(11), 9);
    make(&disk, &Event::Change(r#"{"op": "var.set", "path": "a", "value": 2}"#.to_owned()), 10);
    assert!(is_kept(), "also one that changes nothing");
}

/// Else every reader would read the whole file until the next change.
#[test]
fn a_plan_is_kept_when_a_change_of_it_is_undone_or_redone() {
    for steps in [12, 90] {
        let disk = state_of(steps);
        let is_kept = || {
            let view = workspace(&disk, 99).store.read(std::time::Duration::ZERO).unwrap();
            let (plan, is_parsed) = snapshot::plan(&view).unwrap();
            assert_eq!(all_of(&plan), all_of(&read(view.bytes("plan.md").unwrap())));
            !is_parsed
        };
        make(
            &disk,
            &Event::Change(r#"{"op": "step.add", "title": "New", "after": 3}"#.to_owned()),
            2,
        );
        make(&disk, &Event::Undo, 3);
        assert!(is_kept(), "{steps} steps, undo");
        workspace(&disk, 4).redo().unwrap();
        assert!(is_kept(), "{steps} steps, redo");
    }
}

#[test]
fn a_short_plan_is_kept_by_a_change_that_reads_it_anyway() {
    let disk = state_of(12);
    let is_kept = || {
        let view = workspace(&disk, 99).store.read(std::time::Duration::ZERO).unwrap();
        !snapshot::plan(&view).unwrap().1
    };
    assert!(is_kept());
    make(&disk, &Event::Damage(100), 2);
    make(&disk, &Event::Change(r#"{"op": "var.set", "path": "a", "value": 1}"#.to_owned()), 3);
    assert!(!is_kept(), "reading it would cost this change more than it saves the next command");
    make(&disk, &Event::Change(r#"{"op": "step.start"}"#.to_owned()), 4);
    assert!(is_kept());
}

/// A table ends with the details of the last step, which are not read with the others.
#[test]
fn a_table_with_damaged_details_is_not_used() {
    let disk = long_state();
    let derived = || {
        let view = workspace(&disk, 99).store.read(std::time::Duration::ZERO).unwrap();
        (view.bytes(StateFile::Plan.name()).unwrap().to_vec(), view.derived(StateFile::Plan.name()))
    };
    let (source, table) = derived();
    let mut damaged = table.unwrap();
    let length = disk.peek(&dir().join(".statedir/derived")).unwrap().len();
    make(&disk, &Event::Damage(length - 1), 2);
    assert_eq!(derived().1, None);
    // The control: nothing but the store notices it.
    *damaged.last_mut().unwrap() ^= 0x20;
    assert!(Plan::from_table(String::from_utf8(source).unwrap(), damaged).is_some());
}

/// What would happen if the content were not the key: the words of before in the plan of now.
#[test]
fn a_table_of_other_bytes_would_be_wrong() {
    let disk = long_state();
    let table = |disk: &SimDisk| {
        let view = workspace(disk, 99).store.read(std::time::Duration::ZERO).unwrap();
        view.derived(StateFile::Plan.name())
    };
    let old = table(&disk).unwrap();
    let plan = dir().join(StateFile::Plan.name());
    let text = String::from_utf8(disk.peek(&plan).unwrap()).unwrap();
    let source = text.replacen("part 7 of", "part of", 1).into_bytes();
    disk.edit(&plan, &source);
    assert_eq!(table(&disk), None, "it is about other bytes");
    let stale = Plan::from_table(String::from_utf8(source.clone()).unwrap(), old).unwrap();
    assert_ne!(all_of(&stale), all_of(&read(&source)));
}
