//! Every action by its keys: the command that runs, what it changes, how it is refused.

use super::*;
use crate::adapters::board::model::View;

/// Whether some operation was recorded for a command.
fn ran(desk: &Desk, command: &str) -> bool {
    desk.operations().iter().any(|one| one.command == command)
}

#[test]
fn a_step_goes_through_its_life_by_keys() {
    for is_renamed in [false, true] {
        let mut desk = worked(is_renamed);
        desk.press("jjj");
        desk.press("c");
        assert_eq!(desk.role(4), "active");
        desk.shows("statedir step start 4 --if-match ");
        let newest = desk.operations().remove(0);
        assert_eq!(
            (newest.actor.as_str(), newest.command.as_str()),
            ("ada", "board: step start 4")
        );
        desk.press("d");
        desk.shows("$ statedir step done 4 --if-match ");
        desk.press("all of them⏎");
        assert_eq!(desk.role(4), "done");
        assert!(ran(&desk, "board: step done 4 --note=all of them"));
        let history = std::fs::read_to_string(desk.dir.join("history.md")).unwrap();
        assert!(history.contains("board"), "history says that it came from the board");
        desk.press("u");
        assert_eq!(desk.role(4), "done", "undo is asked for");
        desk.press("n");
        assert_eq!(desk.role(4), "done", "and can be refused");
        desk.press("uy");
        assert_eq!(desk.role(4), "active");
        desk.press("U⏎");
        assert_eq!(desk.role(4), "done");
        desk.press("u⏎");
        desk.press("f");
        desk.press("⏎");
        desk.shows("a text is needed");
        desk.press("no disk⏎");
        assert_eq!(desk.role(4), "failed");
        desk.press("r⏎");
        assert_eq!(desk.role(4), "active");
        desk.press("z");
        desk.press("wrong machine⏎");
        assert_eq!(desk.role(4), "open");
        desk.press("s");
        desk.press("too dear⏎");
        assert_eq!(desk.role(4), "skipped");
    }
}

#[test]
fn the_next_step_can_be_claimed_from_anywhere() {
    let mut desk = worked(false);
    desk.press("5C");
    assert_eq!(desk.role(4), "active");
    assert!(ran(&desk, "board: step next --claim"));
}

#[test]
fn a_menu_offers_the_moves_that_the_lifecycle_allows_and_no_others() {
    for is_renamed in [false, true] {
        let mut desk = worked(is_renamed);
        desk.press("jj");
        assert_eq!(desk.role(3), "failed");
        desk.press("m");
        let Some(Overlay::Menu { offers, .. }) = &desk.model.overlay else {
            panic!("{}", desk.screen())
        };
        let verbs: Vec<&str> = offers.iter().map(|offer| offer.words[1].as_str()).collect();
        assert!(verbs.contains(&"retry") && !verbs.contains(&"done"), "{verbs:?}");
        desk.press("r⏎");
        assert_eq!(desk.role(3), "active");
        desk.press("m");
        desk.press("⎋");
        assert!(desk.model.overlay.is_none());
        desk.press(" jk⏎");
        assert!(desk.model.overlay.is_some(), "the first offer asks something");
    }
}

#[test]
fn reviews_are_approved_and_rejected_with_a_reason() {
    for is_renamed in [false, true] {
        let mut desk = busy(is_renamed);
        desk.press("a");
        assert_eq!(desk.model.view, View::Reviews, "elsewhere the key leads to the reviews");
        desk.press("a");
        desk.shows("statedir review approve r1");
        desk.press("⏎");
        let overview = desk.workspace("ada").overview().unwrap();
        assert!(overview.open_reviews.is_empty(), "{}", desk.screen());
        desk.change("agent-a", json!([{ "op": "review.open", "text": "And the scope?" }]));
        desk.look();
        desk.press("gx⏎");
        desk.shows("a text is needed");
        desk.press("too large⏎");
        let text = std::fs::read_to_string(desk.dir.join("plan.md")).unwrap();
        assert!(text.contains("too large"), "{text}");
        assert!(ran(&desk, "board: review reject r2 --why=too large"));
    }
}

#[test]
fn the_plan_is_paused_with_a_reason_and_resumed() {
    use crate::domain::PlanRole;
    for is_renamed in [false, true] {
        let mut desk = worked(is_renamed);
        let role = |desk: &Desk| desk.workspace("ada").overview().unwrap().role;
        let offered = |desk: &mut Desk| {
            desk.press(" ");
            let Some(Overlay::Menu { offers, .. }) = desk.model.overlay.take() else {
                panic!("{}", desk.screen())
            };
            offers.into_iter().map(|offer| offer.words.join(" ")).collect::<Vec<_>>()
        };
        assert!(offered(&mut desk).contains(&"pause".to_owned()));
        desk.press("p⏎");
        desk.shows("a text is needed");
        desk.press("no budget⏎");
        assert_eq!(role(&desk), Some(PlanRole::Paused));
        assert!(ran(&desk, "board: pause --why=no budget"));
        let now = offered(&mut desk);
        assert!(
            now.contains(&"resume".to_owned()) && !now.contains(&"pause".to_owned()),
            "{now:?}"
        );
        desk.press("P");
        assert_eq!(role(&desk), Some(PlanRole::Paused), "resuming is asked for");
        desk.press("y");
        assert_eq!(role(&desk), Some(PlanRole::Active));
        assert!(ran(&desk, "board: resume"));
    }
}

#[test]
fn a_note_is_an_entry_about_the_step() {
    let mut desk = worked(false);
    desk.press("jn");
    desk.press("-v shows more⏎");
    desk.press("5");
    desk.shows("-v shows more");
    let entries = desk.workspace("ada").read().unwrap().last_entries(1).unwrap();
    assert_eq!(entries[0].field("step"), Some("2"));
    assert_eq!(entries[0].field("via"), Some("board"));
}

#[test]
fn an_earlier_moment_can_be_restored() {
    for is_renamed in [false, true] {
        let mut desk = worked(is_renamed);
        desk.press("6");
        desk.press("jj");
        let chosen = desk.operations().remove(2);
        desk.shows("step.fail");
        desk.press("o");
        desk.shows(&format!("statedir restore {}", chosen.id.as_str()));
        desk.press("⎋");
        assert_ne!(desk.operations()[0].kind, "restore", "nothing happens without an answer");
        desk.press("o⏎");
        assert_eq!(desk.operations()[0].kind, "restore", "{}", desk.screen());
        assert_eq!(desk.role(7), "open");
    }
}

#[test]
fn operations_are_reported_by_what_they_mean() {
    let mut desk = worked(false);
    desk.press("6");
    desk.press("j");
    // The step that was left out, as `statedir diff` says it.
    desk.shows("Archive the raw data");
    desk.lacks("reading");
}

#[test]
fn a_refusal_has_the_message_and_the_hint_of_the_command_line() {
    for is_renamed in [false, true] {
        let mut desk = worked(is_renamed);
        desk.press("jjjjj");
        desk.press("c");
        let refusal = desk.refusal();
        let error = desk
            .workspace("ada")
            .apply(&[serde_json::from_value(json!({ "op": "step.start", "step": "6" })).unwrap()])
            .unwrap_err();
        assert!(refusal.contains(&error.to_string()), "{refusal}");
        assert!(refusal.contains(&format!("hint: {}", error.hint().unwrap())), "{refusal}");
        assert!(refusal.contains("$ statedir step start 6 --if-match"), "{refusal}");
        desk.shows("Nothing was changed");
        desk.press("⎋");
        assert!(desk.model.overlay.is_none());
        // Somebody else's step is not finished for them, and the reason that was typed is kept.
        desk.press("gj");
        desk.press("f");
        desk.press("took too long⏎");
        assert!(desk.refusal().contains("agent-a"), "{}", desk.refusal());
        assert_eq!(desk.role(2), "active");
        desk.press("⏎");
        desk.shows("took too long");
        desk.press("⎋");
    }
}

#[test]
fn what_changed_meanwhile_is_reported_and_nothing_is_overwritten() {
    for is_renamed in [false, true] {
        let mut desk = worked(is_renamed);
        desk.press("jjj");
        let shown = desk.model.loaded.as_ref().unwrap().dashboard.overview.revision.clone();
        desk.press("s");
        desk.press("not now");
        desk.change("agent-b", json!([{ "op": "step.start", "step": "4" }]));
        desk.press("⏎");
        let refusal = desk.refusal();
        assert!(refusal.contains("has changed meanwhile"), "{refusal}");
        assert!(refusal.contains("agent-b"), "{refusal}");
        assert!(refusal.contains(&shown), "{refusal}");
        assert_eq!(desk.role(4), "active", "nothing was overwritten");
        // The state has been read again: asked once more, the command is about what is shown now.
        desk.press("⏎");
        desk.shows("not now");
        desk.lacks(&shown);
        desk.press("⎋");
        // Control: without a change in between it goes through.
        desk.press("7");
        desk.press("1n");
        desk.press("a note⏎");
        assert!(ran(&desk, "board: history add a note step=4"), "{}", desk.screen());
    }
}

#[test]
fn a_read_only_board_changes_nothing() {
    let mut desk = worked(false);
    desk.model.settings.is_read_only = true;
    let before = desk.operations();
    for keys in ["c", "d", "f", "u", "n", "p", "P", "C", "e", "m⏎", "6o"] {
        desk.press(keys);
        desk.shows("read-only");
        desk.press("⎋⎋");
    }
    assert_eq!(desk.operations(), before);
    assert!(desk.edited.is_empty());
}

#[test]
fn a_dry_run_changes_nothing_and_says_so() {
    let mut desk = worked(false);
    desk.model.settings.is_dry_run = true;
    desk.source.caller.dry_run = true;
    let before = desk.operations();
    desk.press("jjjc");
    desk.shows("dry run, nothing was changed");
    assert_eq!(desk.operations(), before);
}

#[test]
fn a_step_is_edited_where_it_stands() {
    let mut desk = worked(false);
    desk.press("jje");
    let (path, line) = desk.edited.pop().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.lines().nth(line - 1).unwrap().contains("Measure latency"), "line {line}");
}

#[test]
fn filters_narrow_a_list_and_are_taken_back() {
    for is_renamed in [false, true] {
        let mut desk = worked(is_renamed);
        desk.press("/measure");
        desk.shows("/measure");
        desk.lacks("Collect benchmarks");
        desk.press("⏎");
        desk.shows("2 of 7");
        desk.press("G");
        assert_eq!(desk.model.step().unwrap().number, 3);
        desk.press("/x⎋");
        desk.shows("2 of 7");
        desk.press("/ nobody has this⏎");
        desk.shows("nothing matches");
        desk.press("c");
        assert!(desk.model.running.is_none(), "nothing is selected");
        desk.press("⎋");
        desk.shows("Collect benchmarks");
        assert_eq!(desk.model.place().visible.len(), 7);
        // Each view has a filter of its own.
        desk.press("2/recall⏎");
        desk.lacks("Measure latency");
        desk.press("3");
        desk.shows("Measure latency");
    }
}

#[test]
fn a_search_finds_what_is_older_than_what_was_read() {
    let mut desk = worked(false);
    let notes: Vec<Value> =
        (0..600).map(|n| json!({ "op": "history.add", "title": format!("Note {n}") })).collect();
    desk.change("ada", Value::from(notes));
    desk.look();
    desk.press("5");
    desk.press("/which region");
    desk.shows("nothing matches");
    desk.press("⏎");
    desk.shows("Asked the user");
    desk.shows("1 in the whole history");
    desk.press("⎋");
    desk.shows("Note 599");
}

#[test]
fn damage_in_the_history_is_marked() {
    let mut desk = worked(false);
    let path = desk.dir.join("history.md");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("Which region?"));
    desk.press("5");
    desk.lacks("! 2026");
    std::fs::write(&path, text.replace("Which region?", "Which planet?")).unwrap();
    desk.look();
    desk.shows("! 2026");
    desk.press("/planet⏎");
    desk.shows("! changed: its checksum");
}

#[test]
fn a_state_that_breaks_meanwhile_is_reported_and_recovers() {
    let mut desk = worked(false);
    let plan = desk.dir.join("plan.md");
    let text = std::fs::read(&plan).unwrap();
    std::fs::write(&plan, b"\xff\xfe").unwrap();
    desk.carry_out(vec![Effect::Ask(super::super::source::Request::Look)]);
    desk.shows("the state cannot be read now");
    desk.shows("Collect benchmarks");
    std::fs::write(&plan, text).unwrap();
    desk.look();
    desk.lacks("the state cannot be read now");
}

#[test]
fn keys_that_end_or_suspend_the_board_work_everywhere() {
    for keys in ["", "?", "/abc", "f", "m"] {
        let mut desk = worked(false);
        desk.press(keys);
        desk.control('c');
        assert!(desk.model.is_over, "{keys}");
    }
    let mut desk = worked(false);
    let effects = update(
        &mut desk.model,
        Event::Key(KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL)),
    );
    assert_eq!(effects, [Effect::Suspend]);
    desk.press("q");
    assert!(desk.model.is_over);
}

#[test]
fn a_card_or_a_node_leads_to_its_step() {
    let mut desk = worked(false);
    for view in ["2", "3", "4"] {
        desk.press(view);
        desk.press("j");
        let number = desk.model.step().unwrap().number;
        desk.press("⏎");
        assert_eq!(desk.model.view, View::Steps);
        assert_eq!(desk.model.step().unwrap().number, number, "{view}");
    }
}
