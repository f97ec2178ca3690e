//! Conditions: comparisons joined by `and`, `or`, `not` and parentheses.

use winnow::{
    Parser,
    combinator::{alt, opt, preceded},
    error::ErrMode,
    stream::Stream,
};

use crate::rules::{
    Condition, RuleError,
    parse::{
        comparison::{comparison, comparison_of, mirrored},
        idiom,
        lexer::{Kind, Token},
        phrase::{
            Input, Parsed, any_phrase, at_end, cut, mark, next, phrase, span_of, span_to_end,
            word_at,
        },
        phrases::phrases,
        vocabulary::{self, Fact},
    },
};

const MAX_DEPTH: usize = 32;

/// Reads a condition, or says what in it is not understood.
pub(in crate::rules) fn condition(input: &mut Input<'_>) -> Parsed<Condition> {
    let mut parts = vec![conjunction(input)?];
    while opt(or).parse_next(input)?.is_some() {
        parts.push(match parts.last() {
            Some(last) => continued(input, last, conjunction)?,
            None => conjunction(input)?,
        });
    }
    Ok(Condition::any(parts))
}

fn conjunction(input: &mut Input<'_>) -> Parsed<Condition> {
    let mut parts = vec![unary(input)?];
    while opt(and).parse_next(input)?.is_some() {
        parts.push(match parts.last() {
            Some(last) => continued(input, last, unary)?,
            None => unary(input)?,
        });
    }
    Ok(Condition::all(parts))
}

fn and(input: &mut Input<'_>) -> Parsed<()> {
    let word = any_phrase(phrases!["and", "but"]).void();
    alt((preceded(opt(mark(',')), word), (mark('&'), opt(mark('&'))).void())).parse_next(input)
}

pub(in crate::rules) fn or(input: &mut Input<'_>) -> Parsed<()> {
    alt((preceded(opt(mark(',')), phrase("or")), (mark('|'), mark('|')).void())).parse_next(input)
}

/// `cost > $5 and < $10`: an operator right after `and` speaks of the same fact again.
fn continued<'i>(
    input: &mut Input<'i>,
    last: &Condition,
    full: fn(&mut Input<'i>) -> Parsed<Condition>,
) -> Parsed<Condition> {
    let Some(Token { kind: Kind::Op(_), .. }) = next(input) else { return full(input) };
    let fact = match last {
        Condition::Compare { fact, .. } => Some(fact),
        Condition::All(parts) | Condition::Any(parts) => parts.last().and_then(|part| match part {
            Condition::Compare { fact, .. } => Some(fact),
            _ => None,
        }),
        _ => None,
    };
    let workflow = input.state.workflow;
    let fact = fact.and_then(|name| {
        Some(Fact { name: name.clone(), fact_type: vocabulary::fact_type(name, workflow)? })
    });
    match fact {
        Some(fact) => comparison_of(input, &fact),
        None => full(input),
    }
}

fn unary(input: &mut Input<'_>) -> Parsed<Condition> {
    if opt(alt((phrase("not"), mark('!')))).parse_next(input)?.is_some() {
        return nested(input, unary).map(Condition::negate);
    }
    let open = span_of(input, 1);
    if opt(mark('(')).parse_next(input)?.is_some() {
        let inner = nested(input, condition)?;
        if opt(mark(')')).parse_next(input)?.is_none() {
            return cut(RuleError::new(open, "this parenthesis is not closed"));
        }
        return Ok(inner);
    }
    atom(input)
}

fn nested<'i>(
    input: &mut Input<'i>,
    inner: fn(&mut Input<'i>) -> Parsed<Condition>,
) -> Parsed<Condition> {
    if input.state.depth >= MAX_DEPTH {
        return cut(RuleError::new(span_of(input, 1), "this is nested too deeply"));
    }
    input.state.depth += 1;
    let parsed = inner(input);
    input.state.depth -= 1;
    parsed
}

fn atom(input: &mut Input<'_>) -> Parsed<Condition> {
    let start = input.checkpoint();
    for parser in [idiom::idiom, mirrored, comparison] {
        match parser(input) {
            Ok(condition) => return Ok(condition),
            Err(ErrMode::Backtrack(_)) => input.reset(&start),
            Err(error) => {
                input.reset(&start);
                return Err(error.map(|error| error.map(|error| with_nearest_idiom(input, error))));
            }
        }
    }
    not_understood(input)
}

fn with_nearest_idiom(input: &Input<'_>, mut error: RuleError) -> RuleError {
    if error.nearest.is_none() && !input.state.glance {
        let sentence = input.state.source.get(span_to_end(input)).unwrap_or_default();
        error.nearest = idiom::nearest_phrase(sentence).map(str::to_owned);
    }
    error
}

fn not_understood(input: &Input<'_>) -> Parsed<Condition> {
    let span = span_to_end(input);
    let given = input.state.source.get(span.clone()).unwrap_or_default();
    if at_end(input) || input.state.glance {
        return cut(RuleError::new(span, "a condition is expected here"));
    }
    let near = idiom::nearest_phrase(given)
        .or_else(|| vocabulary::nearest_fact(given.split(' ').next()?, input.state.workflow))
        .or_else(|| {
            let words = word_at(input, 0)?;
            vocabulary::nearest_fact(words, input.state.workflow)
        });
    let message = format!("`{given}` is not a condition that is understood");
    cut(RuleError::new(span, message).with_nearest(near))
}
