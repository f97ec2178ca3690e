//! Comparisons in symbols and in words: `>=`, `is not`, `exceeds`, `drops to`, `at least`.

use winnow::{
    Parser,
    combinator::{alt, opt},
    error::ErrMode,
    stream::Stream,
};

use crate::rules::{
    Op,
    error::Failure,
    parse::{
        lexer::{Kind, Token},
        phrase::{Input, Parsed, any_phrase, backtrack, next, peek_word, skip_words},
        phrases::{Phrases, phrases},
    },
};

/// How a sentence relates a fact to what follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rules) struct Relation {
    pub verb: Verb,
    /// Whether the sentence denies it.
    pub negated: bool,
}

/// What is said of a fact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rules) enum Verb {
    Compare(Op),
    /// Reaches a value from below; equality where there is no order.
    RisesTo,
    /// Reaches a value from above; equality where there is no order.
    FallsTo,
    Between,
    OneOf,
    Contains,
    /// Has a value at all.
    Known,
}

type Table = [(Verb, &'static Phrases)];

const COPULAS: &Phrases = phrases!["is", "are", "was", "were", "be", "gets", "stays", "remains"];
const NEGATED_COPULAS: &Phrases = phrases![
    "is not", "isn't", "are not", "aren't", "was not", "wasn't", "is no longer", "are no longer"
];
const NEGATIONS: &Phrases = phrases![
    "does not", "doesn't", "do not", "don't", "did not", "didn't", "has not", "hasn't", "never"
];
const FILLERS: &[&str] =
    &["now", "currently", "already", "ever", "still", "suddenly", "has", "have", "either"];

const VERBS: &Table = &[
    (
        Verb::Compare(Op::Above),
        phrases![
            "exceeds", "exceed", "exceeded", "exceeding", "surpasses", "surpass", "surpassed",
            "goes over", "go over", "went over", "goes above", "go above", "goes beyond",
            "go beyond", "rises above", "rise above", "climbs above", "grows beyond", "gets above",
            "gets over",
        ],
    ),
    (
        Verb::RisesTo,
        phrases![
            "reaches", "reach", "reached", "hits", "hit", "rises to", "rise to", "climbs to",
            "grows to", "goes up to", "increases to", "increase to", "improves to",
        ],
    ),
    (
        Verb::Compare(Op::Below),
        phrases![
            "falls below", "fall below", "fell below", "falls under", "fall under", "drops below",
            "drop below", "dropped below", "drops under", "goes below", "go below", "goes under",
            "dips below", "sinks below",
        ],
    ),
    (
        Verb::FallsTo,
        phrases![
            "drops to", "drop to", "dropped to", "falls to", "fall to", "fell to", "goes down to",
            "sinks to", "decreases to", "decrease to", "declines to", "worsens to",
        ],
    ),
    (
        Verb::Compare(Op::Equal),
        phrases![
            "equals", "equal", "becomes", "become", "became", "changes to", "change to",
            "changed to", "turns", "turned", "turns to", "turns into", "switches to",
            "switched to",
        ],
    ),
    (Verb::Contains, phrases!["contains", "contain", "includes", "include", "mentions", "mention"]),
    (Verb::Known, phrases!["exists", "exist"]),
];

const COMPARATIVES: &Table = &[
    (
        Verb::Compare(Op::Above),
        phrases![
            "more than", "greater than", "higher than", "larger than", "bigger than",
            "longer than", "above", "over", "beyond", "in excess of",
        ],
    ),
    (
        Verb::Compare(Op::AtLeast),
        phrases![
            "at least",
            "no less than",
            "not less than",
            "no fewer than",
            "not fewer than",
            "greater than or equal to",
            "more than or equal to",
            "equal to or greater than",
            "equal to or more than",
            "equal to or above",
            "at or above",
        ],
    ),
    (
        Verb::Compare(Op::Below),
        phrases![
            "less than", "fewer than", "lower than", "smaller than", "shorter than", "below",
            "under",
        ],
    ),
    (
        Verb::Compare(Op::AtMost),
        phrases![
            "at most",
            "no more than",
            "not more than",
            "no greater than",
            "no higher than",
            "up to",
            "less than or equal to",
            "fewer than or equal to",
            "lower than or equal to",
            "equal to or less than",
            "equal to or below",
            "at or below",
        ],
    ),
    (Verb::Compare(Op::Equal), phrases!["equal to", "the same as", "exactly", "set to"]),
    (Verb::Compare(Op::NotEqual), phrases!["different from", "other than", "not equal to"]),
    (Verb::Between, phrases!["between"]),
    (Verb::OneOf, phrases!["one of", "any of", "among"]),
    (Verb::Contains, phrases!["containing", "including"]),
    (Verb::Known, phrases!["set", "known", "present", "defined"]),
];

const ABSENT: &Phrases = phrases!["missing", "unknown", "unset", "undefined", "absent"];

/// Recognises a relation.
pub(in crate::rules) fn relation(input: &mut Input<'_>) -> Parsed<Relation> {
    skip_words(input, FILLERS);
    alt((
        symbol.map(|op| relation_of(Verb::Compare(op), false)),
        one_of_list.map(|()| relation_of(Verb::OneOf, false)),
        copular,
        (opt(any_phrase(NEGATIONS)), from_table(VERBS))
            .map(|(negation, verb)| relation_of(verb, negation.is_some())),
        from_table(COMPARATIVES)
            .verify(|verb| *verb != Verb::Known)
            .map(|verb| relation_of(verb, false)),
    ))
    .parse_next(input)
}

/// Recognises a comparison before a number: `more than`, `at least`, `>=`.
pub(in crate::rules) fn comparative(input: &mut Input<'_>) -> Parsed<Op> {
    if let Some(op) = opt(symbol).parse_next(input)? {
        return Ok(op);
    }
    match from_table(COMPARATIVES).parse_next(input)? {
        Verb::Compare(op) => Ok(op),
        _ => backtrack(input),
    }
}

/// Recognises a comparison in symbols.
pub(in crate::rules) fn symbol(input: &mut Input<'_>) -> Parsed<Op> {
    match next(input) {
        Some(Token { kind: Kind::Op(op), .. }) => {
            input.next_slice(1);
            Ok(op)
        }
        _ => backtrack(input),
    }
}

fn copular(input: &mut Input<'_>) -> Parsed<Relation> {
    let negated = match opt(any_phrase(NEGATED_COPULAS)).parse_next(input)? {
        Some(_) => true,
        None => {
            any_phrase(COPULAS).parse_next(input)?;
            false
        }
    };
    skip_words(input, FILLERS);
    let absent = opt(any_phrase(ABSENT)).parse_next(input)?.is_some();
    if absent {
        return Ok(relation_of(Verb::Known, !negated));
    }
    let verb = opt(alt((
        symbol.map(Verb::Compare),
        one_of_list.value(Verb::OneOf),
        from_table(COMPARATIVES),
        from_table(VERBS).verify(|verb| matches!(verb, Verb::Compare(_))),
    )))
    .parse_next(input)?;
    Ok(relation_of(verb.unwrap_or(Verb::Compare(Op::Equal)), negated))
}

/// `in (…)`: only before a list, for `in progress` is a status.
fn one_of_list(input: &mut Input<'_>) -> Parsed<()> {
    let listed = matches!(
        input.get(1).map(|token| token.kind),
        Some(Kind::Mark('(' | '[') | Kind::Quoted(_))
    );
    if listed && peek_word(input).is_some_and(|word| word.eq_ignore_ascii_case("in")) {
        input.next_slice(1);
        return Ok(());
    }
    backtrack(input)
}

fn from_table<'i>(table: &'static Table) -> impl Parser<Input<'i>, Verb, ErrMode<Failure>> {
    move |input: &mut Input<'i>| {
        let mut best: Option<(usize, Verb)> = None;
        for (verb, phrases) in table {
            if let Some((count, _)) = phrases.longest(input)
                && best.is_none_or(|(longest, _)| count > longest)
            {
                best = Some((count, *verb));
            }
        }
        match best {
            Some((count, verb)) => {
                input.next_slice(count);
                Ok(verb)
            }
            None => backtrack(input),
        }
    }
}

fn relation_of(verb: Verb, negated: bool) -> Relation {
    Relation { verb, negated }
}
