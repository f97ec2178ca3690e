use super::*;

#[test]
fn no_text_of_a_record_reaches_a_terminal_as_a_command() {
    let mut output = Output { json: false, terminal: true, colour: true, ..Output::new(true) };
    let hostile = "actor\u{1b}]0;x\u{7}\n\0\u{1b}[2J\n\0\0\u{1b}[31m\r\u{9b}1m";
    output.line(hostile);
    output.raw(hostile);
    let text = printable(&output.text, true);
    let is_bare = |c: char| c.is_control() && c != '\n';
    assert!(text.contains("actor") && !text.contains(is_bare), "{text:?}");
    output.painted(Colour::Green, hostile);
    let painted = printable(&output.text, true);
    // The only commands are those that switch our colour on and off.
    assert_eq!(painted.matches(is_bare).count(), 2, "{painted:?}");
}

#[test]
fn the_answer_is_one_document_or_lines_and_never_both() {
    for json in [true, false] {
        let mut output = Output::collecting(json);
        output.value(|| json!({ "first": 1 }));
        output.line("a line");
        output.raw("text");
        output.value(|| json!({ "second": 2 }));
        let expected = match json {
            true => (String::new(), Some(json!({ "ok": true, "second": 2 }))),
            false => ("a line\ntext".to_owned(), None),
        };
        assert_eq!(output.into_parts(), expected);
    }
}
