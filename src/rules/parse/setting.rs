//! Modifiers in actions: which one is meant, and the values it can be given.

use winnow::{Parser, combinator::opt, stream::Stream};

use crate::{
    domain::{FactValue, Modifier, ModifierKind, nearest::nearest},
    rules::{
        RuleError,
        parse::{
            lexer::Kind,
            operand::{amount, named_value, number},
            phrase::{
                Input, Parsed, any_phrase, backtrack, cut, invalid_phrase, mark, next, peek_word,
                phrase, skip_words, span_of, span_to_end, word_at,
            },
            phrases::phrases,
            vocabulary::{self, Fact, FactType},
        },
    },
};

/// Reads a value that the modifier takes, or says what it takes.
pub(in crate::rules) fn value(input: &mut Input<'_>, modifier: &Modifier) -> Parsed<FactValue> {
    let place = *input;
    let fact_type = match modifier.kind() {
        ModifierKind::Ordered | ModifierKind::Enum => FactType::Scale(modifier),
        ModifierKind::Text => FactType::Text,
        ModifierKind::List => return list(input, modifier),
        _ if opt(any_phrase(phrases!["unlimited", "no limit"])).parse_next(input)?.is_some() => {
            return Ok(FactValue::Missing);
        }
        _ => {
            let value = match next(input).map(|token| token.kind) {
                Some(Kind::Quoted(text)) => {
                    input.next_slice(1);
                    FactValue::parse_quantity(&text.text())
                }
                _ => opt(amount).parse_next(input)?,
            };
            let value = value.and_then(|value| modifier.coerce(&value));
            return value.map_or_else(|| wrong_value(&place, modifier), Ok);
        }
    };
    let fact = Fact { name: modifier.name().to_owned(), fact_type };
    named_value(input, &fact).map(FactValue::Text)
}

/// `["Read", "Write"]`, `"Read", "Write"`, `Read`
fn list(input: &mut Input<'_>, modifier: &Modifier) -> Parsed<FactValue> {
    let place = *input;
    let item = |input: &mut Input<'_>, bare: bool| match next(input).map(|token| token.kind) {
        Some(Kind::Quoted(text)) => {
            input.next_slice(1);
            Some(text.text().into_owned())
        }
        Some(Kind::Word(word)) if bare => {
            input.next_slice(1);
            Some(word.to_owned())
        }
        _ => None,
    };
    let bracket = opt(mark('[')).parse_next(input)?.is_some();
    if bracket && opt(mark(']')).parse_next(input)?.is_some() {
        return Ok(FactValue::List(Vec::new()));
    }
    let Some(first) = item(input, true) else { return wrong_value(&place, modifier) };
    let mut items = vec![first];
    loop {
        let mut ahead = *input;
        let comma = opt(mark(',')).parse_next(&mut ahead)?.is_some();
        let and = !bracket && opt(phrase("and")).parse_next(&mut ahead)?.is_some();
        if !comma && !and {
            break;
        }
        match item(&mut ahead, bracket) {
            Some(more) => items.push(more),
            None => break,
        }
        *input = ahead;
    }
    if bracket && opt(mark(']')).parse_next(input)?.is_none() {
        return cut(RuleError::new(span_of(&place, 1), "this list is not closed"));
    }
    Ok(FactValue::List(items))
}

/// Says what the modifier takes.
pub(in crate::rules) fn wrong_value<T>(place: &Input<'_>, modifier: &Modifier) -> Parsed<T> {
    let span = span_to_end(place);
    let given = place.state.source.get(span.clone()).unwrap_or_default();
    let message = format!("`{}` takes {}, not `{given}`", modifier.name(), modifier.expected());
    cut(RuleError::new(span, message))
}

/// How far on an ordered scale: `by one`, `by 2 levels`, `one level`, or nothing for one.
pub(in crate::rules) fn levels(input: &mut Input<'_>) -> Parsed<u32> {
    let place = *input;
    let by = opt(phrase("by")).parse_next(input)?.is_some();
    let count = match opt(number).parse_next(input)? {
        None if by || matches!(peek_word(input), Some("a" | "an")) => {
            skip_words(input, &["a", "an"]);
            any_phrase(phrases!["level", "notch", "step"]).parse_next(input).map_err(|_| {
                invalid_phrase(RuleError::new(span_of(&place, 2), "say by how many levels"))
            })?;
            return Ok(1);
        }
        None => return Ok(1),
        Some(count) => count,
    };
    skip_words(input, &["level", "levels", "step", "steps", "notch", "notches"]);
    if count.fract() != 0.0 || !(1.0..=1000.0).contains(&count) {
        return cut(RuleError::new(span_of(&place, 2), "a scale has whole levels, one at least"));
    }
    Ok(count as u32)
}

/// An amount by which the modifier can change, with its sign.
pub(in crate::rules) fn signed(modifier: &Modifier, by: FactValue, sign: f64) -> Option<FactValue> {
    let by = match by {
        FactValue::Percent(percent) => FactValue::Percent(percent),
        other => modifier.coerce(&other)?,
    };
    Some(match by {
        FactValue::Number(n) if n > 0.0 => FactValue::Number(n * sign),
        FactValue::Percent(n) if n > 0.0 => FactValue::Percent(n * sign),
        FactValue::Money(n) if n > 0 => FactValue::Money(n * sign as i64),
        FactValue::Duration(n) if n > 0 => FactValue::Duration(n * sign as i64),
        _ => return None,
    })
}

/// The modifier named here; anything else is an error.
pub(in crate::rules) fn known_modifier<'i>(input: &mut Input<'i>) -> Parsed<&'i Modifier> {
    if let Some((modifier, count)) = vocabulary::modifier(input) {
        input.next_slice(count);
        return Ok(modifier);
    }
    let words = input.iter().take_while(
        |token| matches!(token.kind, Kind::Word(word) if !word.eq_ignore_ascii_case("to")),
    );
    let span = span_of(input, words.count().max(1));
    let name = input.state.source.get(span.clone()).unwrap_or_default();
    let names = input.state.workflow.modifiers().iter().map(Modifier::name);
    let error = match name {
        "" => RuleError::new(span, "the name of a modifier is missing"),
        name => RuleError::new(span, format!("`{name}` is not a modifier")),
    };
    cut(error.with_nearest(nearest(name, names)))
}

/// The modifier named here. Verbs like `reduce` are prose as well, so a name that is neither a
/// modifier nor looks like a misspelt one is left to prose.
pub(in crate::rules) fn likely_modifier<'i>(input: &mut Input<'i>) -> Parsed<&'i Modifier> {
    if vocabulary::modifier(input).is_none() {
        let Some(word) = peek_word(input) else { return backtrack(input) };
        let names = input.state.workflow.modifiers().iter().map(Modifier::name);
        let value_follows = matches!(input.get(1).map(|token| token.kind), Some(Kind::Op(_)))
            || word_at(input, 1).is_some_and(|next| ["to", "by"].contains(&next));
        let close = nearest(word, names).is_some();
        if !(word.contains('_') && value_follows || close && (value_follows || word.contains('_')))
        {
            return backtrack(input);
        }
    }
    known_modifier(input)
}
