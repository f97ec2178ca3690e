//! An edit is refused, or the document reads back as intended and the rest keeps its bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use statedir::text::markdown::Document;

fuzz_target!(|input: (u8, u16, String, String, String)| {
    let (what, which, key, text, source) = input;
    let Ok(document) = Document::parse(source.as_str()) else { return };
    assert_eq!(document.source(), source, "reading changes nothing");
    let sections: Vec<_> = document.sections().collect();
    let section = sections[usize::from(which) % sections.len()];
    let items = document.items(section);
    let item = items.get(usize::from(which >> 8) % items.len().max(1)).copied();
    let mut edit = document.edit();
    match (what % 10, item) {
        (0, Some(item)) => edit.set_value(item, &text),
        (1, Some(item)) => edit.set_item_text(item, &text),
        (2, Some(item)) => edit.remove_item(item),
        (3, Some(item)) => edit.insert_child_field(item, &key, &text),
        (4, Some(item)) => edit.set_checkbox(item, which & 1 == 0),
        (5, item) => edit.insert_field(section, item, &key, &text),
        (6, _) => edit.append_item(section, &text),
        (7, _) => edit.append_text(section, &text),
        (8, _) => edit.set_title(section, &text),
        _ => edit.replace_text(section, &text),
    };
    let Ok(edited) = edit.finish() else { return };
    // What was not replaced is there, in order.
    let (mut rest, mut at) = (edited.document.source(), 0);
    for splice in &edited.splices {
        let kept = &source[at..splice.at.start];
        rest = rest.strip_prefix(kept).expect("the bytes before a splice are kept");
        rest = rest.strip_prefix(splice.new.as_str()).expect("a splice is there");
        at = splice.at.end;
    }
    assert_eq!(rest, &source[at..], "the bytes behind the last splice are kept");
    let again = Document::parse(edited.document.source()).expect("the result can be read");
    if let (0, Some(item)) = (what % 10, item) {
        assert_eq!(again.value(item), text, "a value reads back as it was given");
    }
});
