//! What tells a comparison from an idiom before the idioms are tried.

use proptest::{collection::vec, prelude::*, sample::select};
use winnow::{error::ErrMode, stream::TokenSlice};

use crate::{
    domain::Workflow,
    rules::parse::{
        idiom::{EXAMPLES, any_idiom, compares},
        lexer::lex,
        phrase::{Context, Input},
    },
};

/// Whether a sentence is taken for a comparison at once, and whether the idioms agree.
fn looked_at(sentence: &str) -> (bool, bool) {
    let tokens = lex(sentence).unwrap();
    let workflow = Workflow::builtin();
    let state = Context { source: sentence, workflow, depth: 0, glance: false };
    let mut input = Input { input: TokenSlice::new(&tokens), state };
    let compares = compares(&input);
    (compares, matches!(any_idiom(&mut input), Err(ErrMode::Backtrack(_))))
}

/// Words that idioms are made of, symbols, and names.
fn word() -> impl Strategy<Value = &'static str> {
    let more = "user plan status is not event occurs error the a step_failed timeout over \
        more than half no two 3 $5 80% 10 minutes of budget takes variables.a event.type \
        deploy.done feedback there are execution above set steps twice times attempts";
    let all: Vec<&str> = EXAMPLES.iter().flat_map(|text| text.split(' ')).collect();
    select([all, more.split_whitespace().collect()].concat())
}

#[test]
fn an_idiom_is_not_taken_for_a_comparison() {
    for sentence in EXAMPLES.iter().chain(&["deploy.done event occurs"]) {
        if *sentence != "cost exceeds 80% of budget" {
            assert_eq!(looked_at(sentence), (false, false), "{sentence}");
        }
    }
    assert_eq!(looked_at("cost > $5"), (true, true));
    assert_eq!(looked_at("variables.a is 3"), (true, true));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_sentence_read_as_a_comparison_is_not_an_idiom(
        first in word(),
        second in prop_oneof![word(), select(vec![">", ">=", "=", "!=", "<"])],
        rest in vec(word(), 0..5),
    ) {
        let sentence = format!("{first} {second} {}", rest.join(" "));
        let (compares, no_idiom) = looked_at(&sentence);
        prop_assert!(!compares || no_idiom, "{}", sentence);
    }
}
