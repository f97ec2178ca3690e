//! Text that would do harm in a terminal, wherever a state can hold text.

use super::*;

/// Escape sequences, a turn of direction, marks, wide characters, a picture of several, a very long
/// line.
fn nasty() -> String {
    let long = "長い".repeat(200_000);
    format!(
        "a\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}b\u{200f}\r\u{8}e{}数据👨\u{200d}👩\u{200d}👧👍🏽 {long}",
        "\u{301}".repeat(300)
    )
}

fn hostile() -> Desk {
    let mut desk = Desk::new(false);
    let text = nasty();
    let line: String = text.replace('\r', " ").chars().take(5000).collect();
    let title: String = line.chars().filter(|c| !c.is_control()).take(200).collect();
    desk.change(
        "ada",
        json!([
            { "op": "step.add", "title": line, "component": line, "description": text, "time": "5m", "set": { "group": line } },
            { "op": "step.add", "title": "Second", "depends_on": ["1"] },
            { "op": "directive.add", "text": line },
            { "op": "history.add", "title": title, "fields": { "note": text } },
        ]),
    );
    desk.change("eve\u{202e}数据", json!([{ "op": "step.start", "step": "1" }]));
    desk.change(
        "eve\u{202e}数据",
        json!([{ "op": "step.fail", "step": "1", "error": text, "cost": "0.5", "time": "3m" }]),
    );
    desk.change("eve", json!([{ "op": "review.open", "text": line }]));
    desk.look();
    desk
}

/// No cell holds a character that a terminal would obey, and none reaches into its neighbour.
#[track_caller]
fn assert_harmless(desk: &Desk) {
    let buffer = desk.buffer();
    for cell in buffer.content() {
        let symbol = cell.symbol();
        assert!(!symbol.contains(|c: char| c.is_control()), "{symbol:?}");
        assert!(!symbol.contains(['\u{202e}', '\u{200f}', '\u{2028}']), "{symbol:?}");
        assert!(symbol.chars().count() < 12, "{symbol:?}");
    }
}

#[test]
fn no_text_of_a_state_commands_the_terminal() {
    let mut desk = hostile();
    for size in [(80, 24), (160, 50), (81, 25)] {
        desk.send(Event::Resize(size.0, size.1));
        for view in "12345678".chars() {
            desk.key(KeyCode::Char(view));
            for keys in ["", "j", "G", "⏎", "JJJJ", "⎋", " ", "⎋", "n", "⎋", "/e\u{301}数", "⎋"]
            {
                desk.press(keys);
                assert_harmless(&desk);
            }
        }
    }
    desk.press("2b");
    assert_harmless(&desk);
    // A refusal repeats what it is about.
    desk.press("⎋1gd");
    desk.press("⏎");
    assert_harmless(&desk);
}

#[test]
fn what_is_typed_or_pasted_is_text() {
    let mut desk = hostile();
    desk.press("f");
    desk.send(Event::Paste(nasty()));
    assert_harmless(&desk);
    for code in [KeyCode::Left, KeyCode::Home, KeyCode::Delete, KeyCode::End, KeyCode::Backspace] {
        desk.key(code);
        assert_harmless(&desk);
    }
    desk.press("⎋/");
    desk.send(Event::Paste(nasty()));
    assert_harmless(&desk);
}

#[test]
fn the_test_would_see_a_character_that_slips_through() {
    let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 10, 1));
    buffer[(0, 0)].set_symbol("\u{1b}[31m");
    let seen = buffer.content().iter().any(|cell| cell.symbol().contains(|c: char| c.is_control()));
    assert!(seen);
}
