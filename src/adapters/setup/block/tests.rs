use proptest::prelude::*;

use super::*;
use crate::adapters::setup::HookOptions;

const WISH: Wish<'_> =
    Wish { program: "statedir", force: false, folders: 0, options: HookOptions::NONE };
const FORCE: Wish<'_> = Wish { force: true, ..WISH };

fn put(client: &str, there: Option<&str>, block: &str) -> String {
    markdown(client).put(there, block, WISH).unwrap().text.unwrap()
}

fn take(client: &str, there: &str) -> FileOutcome {
    markdown(client).take(Some(there), "x\n", WISH).unwrap()
}

#[test]
fn the_instructions_are_short_and_teach_the_loop() {
    let tokens = tiktoken_rs::o200k_base().unwrap().encode_ordinary(TEXT).len();
    assert!(tokens <= 400, "{tokens} tokens");
    let loop_words = ["brief", "next --claim", "step done", "step fail", "context add", "check"];
    let places: Vec<_> = loop_words.iter().map(|word| TEXT.find(word).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_block_is_brought_up_to_date_where_it_stands() {
    let first = put("codex", Some("# Mine\n"), "one\n");
    let grown = format!("{first}more of mine\n");
    let second = put("codex", Some(&grown), "two\nthree\n");
    let sum = sum("two\nthree\n");
    assert_eq!(
        second,
        format!(
            "# Mine\n\n<!-- statedir:begin codex gap=1 sum={sum} -->\ntwo\nthree\n\
             <!-- statedir:end -->\nmore of mine\n"
        )
    );
    assert_eq!(take("codex", &second), FileOutcome::text("# Mine\nmore of mine\n"));
    assert_eq!(take("codex", &put("codex", None, "x\n")), FileOutcome::gone(0));
    assert_eq!(take("codex", &put("codex", Some(""), "x\n")), FileOutcome::text(""));
}

#[test]
fn a_block_stays_until_the_last_client_goes() {
    let alone = put("codex", Some("mine\r\n"), "x\n");
    let shared = put("cursor", Some(&alone), "x\n");
    assert!(shared.contains("<!-- statedir:begin codex cursor gap=1 sum="), "{shared}");
    assert_eq!(put("codex", Some(&shared), "x\n"), shared);
    let left = take("codex", &shared);
    assert_eq!(left.note.as_deref(), Some("stays for cursor"));
    let left = left.text.unwrap();
    assert_eq!(left, put("cursor", Some("mine\r\n"), "x\n"));
    assert_eq!(take("codex", &left).text.as_ref(), Some(&left), "again");
    assert_eq!(take("cursor", &left), FileOutcome::text("mine\r\n"));
}

#[test]
fn a_marker_of_an_earlier_version_is_understood() {
    let old = "a\n\n<!-- statedir:begin gap=1 -->\nx\n<!-- statedir:end -->\n";
    assert_eq!(take("codex", old), FileOutcome::text("a\n"));
    assert_eq!(put("codex", Some(old), "x\n"), put("codex", Some("a\n"), "x\n"));
    let bare = "<!-- statedir:begin -->\nx\n<!-- statedir:end -->\n";
    assert_eq!(take("codex", bare), FileOutcome::text(""));
}

#[test]
fn words_of_a_person_stay_unless_it_is_forced() {
    let first = put("codex", None, "x\n");
    assert_eq!(take("codex", &first.replace('\n', "\r\n")), FileOutcome::gone(0), "only line ends");
    let mine = first.replace("x\n", "x\nand mine\n");
    let markers = markdown("codex");
    for outcome in [markers.put(Some(&mine), "y\n", WISH), Ok(take("codex", &mine))] {
        let outcome = outcome.unwrap();
        assert_eq!(outcome.text.as_ref(), Some(&mine));
        assert!(outcome.note.unwrap().contains("--force"));
    }
    let joined = put("cursor", Some(&mine), "y\n");
    assert!(joined.contains("and mine\n") && joined.contains("begin codex cursor "), "{joined}");
    let forced = markers.put(Some(&mine), "y\n", FORCE).unwrap();
    assert_eq!(forced, FileOutcome::text(put("codex", None, "y\n")));
    assert_eq!(markers.take(Some(&mine), "y\n", FORCE).unwrap(), FileOutcome::gone(0));
}

#[test]
fn markers_that_do_not_pair_up_are_refused() {
    let both = "<!-- statedir:begin new -->\nx\n<!-- statedir:end -->\n";
    let word = "<!-- statedir:beginners -->\n";
    assert_eq!(take("codex", word), FileOutcome::text(word), "another word is no marker");
    for text in [both.repeat(2).as_str(), "<!-- statedir:begin -->\n", "<!-- statedir:end -->\n"] {
        assert!(markdown("codex").put(Some(text), "x\n", FORCE).is_err(), "{text}");
        assert!(markdown("codex").take(Some(text), "x\n", FORCE).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn taking_back_leaves_exactly_what_was_there(text in "([a-z# <!-]|\n|\r\n|\r){0,40}") {
        let with = put("codex", Some(&text), "the block\n");
        prop_assert_eq!(&put("codex", Some(&with), "the block\n"), &with);
        prop_assert_eq!(take("codex", &with), FileOutcome::text(text));
    }
}
