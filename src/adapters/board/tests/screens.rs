//! What every view shows, as pictures and as facts.

use super::*;
use crate::adapters::board::{model::View, text::Charset};

/// A key for each view, with its name.
const VIEWS: [(&str, &str); 8] = [
    ("1", "steps"),
    ("2", "board"),
    ("3", "graph"),
    ("4", "timeline"),
    ("5", "history"),
    ("6", "operations"),
    ("7", "rules"),
    ("8", "reviews"),
];

#[test]
fn every_view_is_as_it_was() {
    for size in [(80, 24), (160, 50)] {
        let mut desk = busy(false);
        desk.send(Event::Resize(size.0, size.1));
        for (key, name) in VIEWS {
            desk.press(key);
            desk.press("j");
            insta::assert_snapshot!(format!("{name}-{}x{}", size.0, size.1), desk.screen());
        }
        desk.press("2b");
        insta::assert_snapshot!(format!("groups-{}x{}", size.0, size.1), desk.screen());
        desk.press("?");
        insta::assert_snapshot!(format!("help-{}x{}", size.0, size.1), desk.screen());
        desk.press("⎋1m");
        insta::assert_snapshot!(format!("menu-{}x{}", size.0, size.1), desk.screen());
        desk.press("f");
        desk.press("HTTP 503");
        insta::assert_snapshot!(format!("prompt-{}x{}", size.0, size.1), desk.screen());
    }
}

#[test]
fn every_view_tells_what_matters_whatever_statuses_are_called() {
    for is_renamed in [false, true] {
        let mut desk = busy(is_renamed);
        for size in [(80, 24), (160, 50)] {
            desk.send(Event::Resize(size.0, size.1));
            let expected: [&[&str]; 8] = [
                &["▶   2 Measure recall", "agent-a", "waits for", "2/7", "1 failed"],
                &["Collect ben", "by status"],
                &["●", "Write the summary", "critical path", "unblocks"],
                &["Measure latency", "█", "$0.20", "6m"],
                &["Asked the user", "✓"],
                &["operation", "agent-a"],
                &["Cite every source", "fired", "max_cost_per_task"],
                &["[ ] r1: Is the budget fine?", "8 Reviews (1)"],
            ];
            for ((key, _), texts) in VIEWS.into_iter().zip(expected) {
                desk.press(key);
                for text in texts {
                    desk.shows(text);
                }
            }
        }
    }
}

#[test]
fn colours_are_left_out_where_nobody_wants_them() {
    let mut desk = busy(false);
    let is_coloured = |desk: &Desk| {
        use ratatui::style::Color;
        desk.buffer()
            .content()
            .iter()
            .any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    };
    for (key, _) in VIEWS {
        desk.press(key);
        desk.model.settings.has_colour = true;
        assert!(is_coloured(&desk), "control: {key}");
        desk.model.settings.has_colour = false;
        assert!(!is_coloured(&desk), "{key}");
    }
}

#[test]
fn ascii_is_enough_where_the_locale_asks_for_it() {
    let mut desk = busy(false);
    for (key, _) in VIEWS {
        desk.press(key);
        desk.model.settings.charset = Charset::Unicode;
        assert!(!desk.screen().is_ascii(), "control: {key}");
        desk.model.settings.charset = Charset::Ascii;
        assert!(desk.screen().is_ascii(), "{key}:\n{}", desk.screen());
    }
    desk.press("3");
    desk.shows("*-+");
    for overlay in ["?", "⎋1m", "⎋u"] {
        desk.press(overlay);
        assert!(desk.screen().is_ascii(), "{}", desk.screen());
    }
}

#[test]
fn a_terminal_that_is_too_small_is_reported() {
    let mut desk = busy(false);
    for size in [(79, 24), (80, 23), (10, 2), (1, 1), (0, 0)] {
        desk.send(Event::Resize(size.0, size.1));
        desk.press("jk1234");
        let screen = desk.screen();
        assert!(screen.contains("the board") || size.0 < 20, "{size:?}\n{screen}");
    }
    desk.send(Event::Resize(80, 24));
    desk.shows("Compare three vector databases");
}

#[test]
fn lists_of_many_steps_are_drawn_where_one_looks() {
    let mut desk = Desk::new(false);
    let titles: Vec<Value> =
        (1..=10_000).map(|n| json!({ "op": "step.add", "title": format!("Part {n}") })).collect();
    desk.change("ada", Value::from(titles));
    desk.look();
    desk.press("G");
    desk.shows("10000 Part 10000");
    desk.lacks("Part 9000");
    desk.press("g");
    desk.shows("Part 1 ");
    desk.control('d');
    desk.press("/9999⏎");
    desk.shows("Part 9999");
    desk.shows("1 of 10000");
    desk.press("2");
    desk.press("G");
    desk.shows("Part 10000");
}

#[test]
fn the_wheel_and_clicks_do_what_they_do_everywhere() {
    let mut desk = busy(false);
    desk.click(3, 5);
    assert_eq!(desk.model.step().unwrap().number, 3);
    desk.click(0, 4);
    assert_eq!(desk.model.step().unwrap().number, 2);
    desk.mouse(MouseEventKind::ScrollDown, 3, 5);
    assert_eq!(desk.model.step().unwrap().number, 5);
    desk.mouse(MouseEventKind::ScrollUp, 3, 5);
    assert_eq!(desk.model.step().unwrap().number, 2);
    // Below the last step there is nothing to select.
    desk.click(3, 12);
    assert_eq!(desk.model.step().unwrap().number, 2);
    let tab = desk.screen().lines().nth(1).unwrap().find("5 History").unwrap();
    desk.click(tab as u16 + 2, 1);
    assert_eq!(desk.model.view, View::History);
    desk.press("2");
    let row = desk.screen().lines().position(|line| line.contains("Write the")).unwrap();
    let line = desk.screen().lines().nth(row).unwrap().to_owned();
    let column = line.chars().position(|c| c == 'W').unwrap();
    desk.click(column as u16, row as u16);
    assert_eq!(desk.model.step().unwrap().number, 5);
    // The detail scrolls by itself.
    desk.mouse(MouseEventKind::ScrollDown, 10, 20);
    assert_eq!(desk.model.step().unwrap().number, 5);
    assert_eq!(desk.model.place().scroll, 3);
}

#[test]
fn all_states_below_a_directory_come_first() {
    for is_renamed in [false, true] {
        let mut desk = busy(is_renamed);
        let other = desk.root.path().join("other/workspace/state");
        let options = Options::new(NoVersionControl);
        let second = Workspace::new(&other, Environment::real("ada"), options);
        let goal = Some("Clean the attic".to_owned());
        second.init(&InitOptions { goal, ..InitOptions::default() }).unwrap();
        let broken = desk.root.path().join("broken/workspace/state");
        std::fs::create_dir_all(&broken).unwrap();
        std::fs::write(broken.join("plan.md"), b"\xff\xfe").unwrap();
        std::fs::write(broken.join("history.md"), b"# History\n").unwrap();
        let root = desk.root.path().to_owned();
        desk.source.root = Some(root.clone());
        desk.source.dir = None;
        desk.model = Model { root: Some(root), size: (80, 24), ..Model::default() };
        desk.carry_out(vec![Effect::Ask(super::super::source::Request::States)]);
        for text in
            ["States below", "Clean the attic", "Compare three", "2/7", "broken", "1 review"]
        {
            desk.shows(text);
        }
        desk.press("/attic⏎");
        desk.lacks("Compare three");
        desk.press("⏎");
        desk.shows("the plan has no steps yet");
        desk.press("⎋");
        desk.shows("States below");
        desk.press("⎋");
        desk.shows("Compare three");
        // A state that cannot be read is told apart.
        desk.press("g⏎");
        desk.shows("the state cannot be read now");
        desk.press("⎋G⏎");
        desk.shows("Collect benchmarks");
    }
}

#[test]
fn what_is_selected_stays_selected_while_others_work() {
    let mut desk = busy(false);
    desk.press("jjj");
    assert_eq!(desk.model.step().unwrap().number, 4);
    desk.change("agent-b", json!([{ "op": "step.add", "title": "New first step", "after": 0 }]));
    desk.look();
    assert_eq!(desk.model.step().unwrap().title, "Compare costs");
    desk.shows("agent-b:");
    desk.press("6");
    let first = desk.model.item();
    desk.change("agent-b", json!([{ "op": "var.set", "path": "a", "value": 1 }]));
    desk.look();
    assert_eq!(desk.model.item(), first.map(|at| at + 1), "the same operation is one further down");
}
