//! Finds lists of actions that are ambiguous, and so only advice.
//!
//! People write `pause` in many sentences that do not ask for a pause now: with a condition of its
//! own, denied, as one of several choices, as a word in a list of words. What is executed must be
//! understood in full, so one sign of any of these makes advice of the whole line.

use crate::rules::{
    Action,
    parse::{
        lexer::{Kind, Token},
        phrases::{Phrases, phrases, spelled},
    },
};

/// A clause of a list of actions.
pub(in crate::rules) struct Clause<'t, 's> {
    pub(in crate::rules) tokens: &'t [Token<'s>],
    pub(in crate::rules) action: Action,
}

/// Words that make something depend on something else, or leave it open.
const CONDITIONS: &Phrases = phrases![
    "if", "when", "whenever", "after", "once", "unless", "on", "upon", "in case", "whether",
    "depending", "depends", "while", "where", "wherever", "except", "provided", "assuming",
    "otherwise", "else", "only", "as soon as", "as long as", "each time", "every time",
    "as needed", "as necessary", "or", "either", "maybe", "perhaps", "optionally", "possibly",
    "may", "might", "could", "within", "during", "between", "instead of", "rather than",
    "subject to",
];
/// Words of denial.
const NEGATIONS: &Phrases = phrases![
    "not", "don't", "dont", "never", "no", "nothing", "none", "avoid", "without", "cannot",
    "can't", "won't", "shouldn't", "mustn't", "needn't", "nor", "neither", "isn't", "aren't",
    "doesn't", "wasn't", "refrain", "skip", "disable", "forbid", "prevent", "prohibit",
];
/// Words that say that what follows is named, not asked for.
const NAMES: &Phrases = phrases![
    "keyword", "keywords", "command", "commands", "status", "statuses", "states", "option",
    "options", "include", "includes", "including", "such as", "e.g", "i.e", "example", "examples",
    "called", "means", "mean", "types", "values", "verbs", "words",
];

/// Whether what looks like an action may be none.
pub(in crate::rules) fn is_ambiguous(clauses: &[Clause<'_, '_>]) -> bool {
    let Some(last) = clauses.iter().rposition(|clause| is_executed(&clause.action)) else {
        return false;
    };
    clauses.iter().enumerate().any(|(at, clause)| {
        let tokens = without_reason(clause);
        let denied = at <= last && has(tokens, NEGATIONS);
        has(tokens, CONDITIONS)
            || denied
            || match &clause.action {
                Action::Pause { reason: Some(reason) } => {
                    reason.starts_with("before") || is_for_a_while(clause.tokens)
                }
                action if is_executed(action) => false,
                _ if at < last => has(tokens, NAMES) || lists_words(tokens),
                _ => takes_back(tokens) || single_words(tokens) > 1,
            }
    })
}

/// Whether a clause is a denial, wherever the denial stands.
pub(in crate::rules) fn denies(tokens: &[Token<'_>]) -> bool {
    has(tokens, NEGATIONS)
}

/// Whether a pause is to end by itself, which it never does: `pause for 5 minutes`.
fn is_for_a_while(tokens: &[Token<'_>]) -> bool {
    const WHILES: [&str; 6] = [
        "for a while", "for a moment", "for a minute", "for an hour", "for a day", "for some time",
    ];
    (0..tokens.len()).any(|at| {
        let rest = &tokens[at..];
        let count = |token: &Token<'_>| match token.kind {
            Kind::Word(word) => word.starts_with(|c: char| c.is_ascii_digit()),
            kind => matches!(kind, Kind::Number(_)),
        };
        WHILES.iter().any(|text| spelled(rest, text).is_some())
            || spelled(rest, "for").is_some() && rest.get(1).is_some_and(count)
    })
}

/// Whether a clause limits the action before it: `pause, not before asking`.
fn takes_back(tokens: &[Token<'_>]) -> bool {
    ["not", "but not", "before", "but"].iter().any(|start| spelled(tokens, start).is_some())
}

fn is_executed(action: &Action) -> bool {
    !matches!(action, Action::Advice { .. } | Action::Directive { .. })
}

/// The tokens without the explanation that a pause or a review may have: `pause because …`.
fn without_reason<'t, 's>(clause: &Clause<'t, 's>) -> &'t [Token<'s>] {
    let tokens = clause.tokens;
    if !matches!(clause.action, Action::Pause { .. } | Action::Review { .. }) {
        return tokens;
    }
    let explains = |at: usize| {
        matches!(tokens[at].kind, Kind::Mark(':'))
            || ["because", "due"].iter().any(|word| spelled(&tokens[at..], word).is_some())
    };
    let end = (0..tokens.len()).find(|at| explains(*at)).unwrap_or(tokens.len());
    &tokens[..end]
}

/// Whether one of the phrases is among the tokens; `no limit` is a value.
fn has(tokens: &[Token<'_>], phrases: &Phrases) -> bool {
    (0..tokens.len()).any(|at| {
        let rest = &tokens[at..];
        spelled(rest, "no limit").is_none() && phrases.longest(rest).is_some()
    })
}

/// Whether prose has a colon, or a word that stands alone between commas.
fn lists_words(tokens: &[Token<'_>]) -> bool {
    let is = |token: &Token<'_>, mark: char| token.kind == Kind::Mark(mark);
    tokens.iter().any(|token| is(token, ':')) || single_words(tokens) > 0
}

/// How many words stand alone between commas.
fn single_words(tokens: &[Token<'_>]) -> usize {
    let is_comma = |token: &Token<'_>| token.kind == Kind::Mark(',');
    tokens.split(is_comma).filter(|part| part.len() == 1).count()
}
