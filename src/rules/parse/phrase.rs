//! The stream of tokens, and how words and phrases are recognised in it.
//!
//! Parsers answer in two ways: backtracking means "this is not my phrase", a cut means "it is, and
//! it is wrong". Only the second carries a message, so trying phrases costs next to nothing.

use std::ops::Range;

use winnow::{
    Parser,
    error::{ErrMode, ParserError},
    stream::{Stateful, Stream, TokenSlice},
};

use crate::{
    domain::Workflow,
    rules::{
        RuleError,
        error::Failure,
        parse::{
            lexer::{Kind, Token},
            phrases::{Phrases, spelled},
        },
    },
};

/// What the grammar knows besides the tokens.
#[derive(Clone, Copy, Debug)]
pub(in crate::rules) struct Context<'i> {
    pub source: &'i str,
    pub workflow: &'i Workflow,
    /// How many parentheses and negations are open.
    pub depth: usize,
    /// Whether only success or failure matters: prose after an action is then not read, and no
    /// suggestion is searched for an error.
    pub glance: bool,
}

/// The tokens still to be read.
pub(in crate::rules) type Input<'i> = Stateful<TokenSlice<'i, Token<'i>>, Context<'i>>;

/// What a parser returns.
pub(in crate::rules) type Parsed<T> = Result<T, ErrMode<Failure>>;

/// Not this phrase.
pub(in crate::rules) fn backtrack<T>(input: &Input<'_>) -> Parsed<T> {
    Err(ErrMode::from_input(input))
}

/// This phrase, but wrong.
pub(in crate::rules) fn cut<T>(error: RuleError) -> Parsed<T> {
    Err(invalid_phrase(error))
}

/// The failure of a phrase that is recognised and wrong.
pub(in crate::rules) fn invalid_phrase(error: RuleError) -> ErrMode<Failure> {
    ErrMode::Cut(Failure::from(error))
}

/// Recognises a phrase whatever its letter case; spaces, hyphens and underscores are the same.
pub(in crate::rules) fn phrase<'i>(
    text: &'static str,
) -> impl Parser<Input<'i>, (), ErrMode<Failure>> {
    move |input: &mut Input<'i>| match spelled(input, text) {
        Some(count) => {
            input.next_slice(count);
            Ok(())
        }
        None => backtrack(input),
    }
}

/// Recognises the longest of several phrases.
pub(in crate::rules) fn any_phrase<'i>(
    phrases: &'static Phrases,
) -> impl Parser<Input<'i>, &'static str, ErrMode<Failure>> {
    move |input: &mut Input<'i>| match phrases.longest(input) {
        Some((count, text)) => {
            input.next_slice(count);
            Ok(text)
        }
        None => backtrack(input),
    }
}

/// Recognises one character that is neither a word nor an operator.
pub(in crate::rules) fn mark<'i>(wanted: char) -> impl Parser<Input<'i>, (), ErrMode<Failure>> {
    move |input: &mut Input<'i>| match next(input) {
        Some(Token { kind: Kind::Mark(c), .. }) if c == wanted => {
            input.next_slice(1);
            Ok(())
        }
        _ => backtrack(input),
    }
}

/// Recognises an arrow.
pub(in crate::rules) fn arrow(input: &mut Input<'_>) -> Parsed<()> {
    match next(input) {
        Some(Token { kind: Kind::Arrow, .. }) => {
            input.next_slice(1);
            Ok(())
        }
        _ => backtrack(input),
    }
}

/// Skips words that carry no meaning, such as articles.
pub(in crate::rules) fn skip_words(input: &mut Input<'_>, words: &[&str]) {
    while let Some(Token { kind: Kind::Word(word), .. }) = next(input) {
        if !words.iter().any(|skipped| skipped.eq_ignore_ascii_case(word)) {
            return;
        }
        input.next_slice(1);
    }
}

/// The token that comes next.
pub(in crate::rules) fn next<'i>(input: &Input<'i>) -> Option<Token<'i>> {
    input.first().copied()
}

/// The word that comes next.
pub(in crate::rules) fn peek_word<'i>(input: &Input<'i>) -> Option<&'i str> {
    word_at(input, 0)
}

/// The word `ahead` tokens away.
pub(in crate::rules) fn word_at<'i>(input: &Input<'i>, ahead: usize) -> Option<&'i str> {
    match input.get(ahead) {
        Some(Token { kind: Kind::Word(word), .. }) => Some(word),
        _ => None,
    }
}

/// Whether a condition or an action can end here.
pub(in crate::rules) fn at_end(input: &Input<'_>) -> bool {
    match next(input).map(|token| token.kind) {
        None | Some(Kind::Arrow) => true,
        Some(Kind::Mark(c)) => matches!(c, ',' | ';' | ':' | '.' | ')' | '&' | '|' | '!'),
        Some(Kind::Word(word)) => {
            ["and", "or", "then", "but"].iter().any(|end| end.eq_ignore_ascii_case(word))
        }
        Some(_) => false,
    }
}

/// The bytes of the next `count` tokens, at least one if there is one.
pub(in crate::rules) fn span_of(input: &Input<'_>, count: usize) -> Range<usize> {
    let end = input.state.source.len();
    match next(input) {
        None => end..end,
        Some(first) => {
            let last = input.get(count.saturating_sub(1)).or(input.last()).copied();
            let last = last.unwrap_or(first);
            first.start..last.end
        }
    }
}

/// The bytes of the tokens up to where a condition or an action can end.
pub(in crate::rules) fn span_to_end(input: &Input<'_>) -> Range<usize> {
    let mut rest = *input;
    while !at_end(&rest) {
        rest.next_slice(1);
    }
    span_of(input, input.len() - rest.len())
}

/// The first `count` tokens and the others.
pub(in crate::rules) fn split_at<'i>(input: &Input<'i>, count: usize) -> (Input<'i>, Input<'i>) {
    let (first, rest) = input.peek_slice(input.len()).split_at(count.min(input.len()));
    let part = |tokens| Input { input: TokenSlice::new(tokens), state: input.state };
    (part(first), part(rest))
}
