//! Comparisons: a fact, what is said about it, and what it is compared with.

use winnow::{
    Parser,
    combinator::{alt, opt},
    stream::Stream,
};

use crate::{
    domain::{FactValue, ModifierKind},
    rules::{
        Condition, Op, Operand, RuleError,
        parse::{
            condition::or,
            idiom,
            lexer::{Kind, Token},
            operand::{ARTICLES, amount, listed_value, measured, named_value, operand, share_of},
            operator::{Relation, Verb, relation, symbol},
            phrase::{
                Input, Parsed, any_phrase, at_end, backtrack, cut, mark, next, phrase, skip_words,
                span_of, span_to_end,
            },
            phrases::phrases,
            vocabulary::{self, Fact, FactType},
        },
    },
};

/// A name of more words is not taken for a name.
const LONGEST_NAME: usize = 4;

/// `$5 < cost`
pub(in crate::rules) fn mirrored(input: &mut Input<'_>) -> Parsed<Condition> {
    let value = amount(input)?;
    let of = match value {
        FactValue::Percent(_) => opt(share_of).parse_next(input)?,
        _ => None,
    };
    let op = symbol(input)?;
    skip_words(input, ARTICLES);
    let Some((fact, count)) = vocabulary::fact(input) else { return backtrack(input) };
    let with = measured(input, &fact, value, of)?;
    input.next_slice(count);
    Ok(Condition::Compare { fact: fact.name, op: op.mirrored(), with })
}

/// `cost exceeds $5`, `the number of failed steps is 3`
pub(in crate::rules) fn comparison(input: &mut Input<'_>) -> Parsed<Condition> {
    skip_words(input, ARTICLES);
    let _ = opt(any_phrase(phrases!["number of", "amount of", "count of", "value of"]))
        .parse_next(input)?;
    skip_words(input, ARTICLES);
    let Some((fact, count)) = vocabulary::fact(input) else {
        return unknown_fact(input);
    };
    let name_span = span_of(input, count);
    input.next_slice(count);
    if at_end(input) {
        if fact.fact_type == FactType::Dynamic {
            return Ok(Condition::compare(&fact.name, Op::Equal, FactValue::Bool(true)));
        }
        let message = format!("`{}` needs a comparison", fact.name);
        let arrows = input.iter().filter(|token| token.kind == Kind::Arrow).count();
        let swapped = (arrows > 1).then_some(">=");
        return cut(RuleError::new(name_span, message).with_nearest(swapped));
    }
    comparison_of(input, &fact)
}

/// A name that is followed by an operator was meant as a fact.
fn unknown_fact(input: &Input<'_>) -> Parsed<Condition> {
    let mut rest = *input;
    let mut count = 0;
    while let Some(Token { kind: Kind::Word(_), .. }) = next(&rest) {
        if count > LONGEST_NAME || relation(&mut rest.clone()).is_ok() {
            break;
        }
        rest.next_slice(1);
        count += 1;
    }
    if count == 0 || count > LONGEST_NAME || rest.is_empty() || relation(&mut rest).is_err() {
        return backtrack(input);
    }
    let span = span_of(input, count);
    let name = input.state.source.get(span.clone()).unwrap_or_default();
    let near = vocabulary::nearest_fact(name, input.state.workflow);
    cut(RuleError::new(span, format!("`{name}` is not a fact")).with_nearest(near))
}

/// Reads what is said about a fact.
pub(in crate::rules) fn comparison_of(input: &mut Input<'_>, fact: &Fact<'_>) -> Parsed<Condition> {
    let start = *input;
    let Some(Relation { verb, negated }) = opt(relation).parse_next(input)? else {
        let span = span_to_end(input);
        let given = input.state.source.get(span.clone()).unwrap_or_default();
        let message = format!("`{given}` is not understood as a comparison with `{}`", fact.name);
        return cut(RuleError::new(span, message));
    };
    let condition = match verb {
        Verb::Known => Condition::Known { fact: fact.name.clone() },
        Verb::Contains => contains(input, fact, negated)?,
        Verb::OneOf => one_of(input, fact)?,
        Verb::Between => {
            let low = operand(input, fact)?;
            if opt(phrase("and")).parse_next(input)?.is_none() {
                return cut(RuleError::new(span_of(input, 1), "`between` needs `and`"));
            }
            let high = operand(input, fact)?;
            Condition::all(vec![
                ordered(&start, fact, Op::AtLeast, low)?,
                ordered(&start, fact, Op::AtMost, high)?,
            ])
        }
        Verb::Compare(op) => {
            let op = if negated { op.negated() } else { op };
            let with = operand(input, fact)?;
            if op == Op::Equal {
                return alternatives(input, fact, with);
            }
            return ordered(&start, fact, op, with);
        }
        Verb::RisesTo | Verb::FallsTo => {
            let with = operand(input, fact)?;
            let op = match (verb, is_ordered(fact, &with)) {
                (_, false) => Op::Equal,
                (Verb::RisesTo, true) => Op::AtLeast,
                _ => Op::AtMost,
            };
            ordered(&start, fact, op, with)?
        }
    };
    Ok(if negated { condition.negate() } else { condition })
}

/// `contains "a"`, `contains "a" or "b"`; after a negation `or` would be ambiguous.
fn contains(input: &mut Input<'_>, fact: &Fact<'_>, negated: bool) -> Parsed<Condition> {
    if !matches!(fact.fact_type, FactType::List | FactType::Text | FactType::Dynamic) {
        let message = format!("`{}` is neither a list nor a text", fact.name);
        return cut(RuleError::new(span_of(input, 1), message));
    }
    let textual = Fact { name: fact.name.clone(), fact_type: FactType::Text };
    let mut parts = Vec::new();
    loop {
        let text = named_value(input, &textual)?;
        parts.push(Condition::Contains { fact: fact.name.clone(), text });
        let mut ahead = *input;
        let is_more = opt(phrase("or")).parse_next(&mut ahead)?.is_some()
            && matches!(next(&ahead).map(|token| token.kind), Some(Kind::Quoted(_)));
        if negated || !is_more {
            return Ok(Condition::any(parts));
        }
        *input = ahead;
    }
}

/// `("a", "b")`, `["a", "b"]`, `"a", "b" or "c"`
fn one_of(input: &mut Input<'_>, fact: &Fact<'_>) -> Parsed<Condition> {
    let textual = Fact {
        name: fact.name.clone(),
        fact_type: if fact.fact_type == FactType::Dynamic {
            FactType::Text
        } else {
            fact.fact_type
        },
    };
    if !matches!(textual.fact_type, FactType::Scale(_) | FactType::PlanStatus | FactType::Text) {
        let message = format!("`{}` is compared with one value at a time", fact.name);
        return cut(RuleError::new(span_of(input, 1), message));
    }
    let open = span_of(input, 1);
    let close = match opt(alt((mark('(').value(')'), mark('[').value(']')))).parse_next(input)? {
        Some(close) => close,
        None => {
            let first = named_value(input, &textual)?;
            return alternatives(input, fact, Operand::Value(FactValue::Text(first)));
        }
    };
    let mut values = vec![named_value(input, &textual)?];
    while opt(alt((mark(','), or))).parse_next(input)?.is_some() {
        let _ = opt(phrase("or")).parse_next(input)?;
        values.push(named_value(input, &textual)?);
    }
    if opt(mark(close)).parse_next(input)?.is_none() {
        return cut(RuleError::new(open, "this list is not closed"));
    }
    Ok(membership(fact, values))
}

/// `is "a" or "b"`: a value after `or` that no comparison follows belongs to the same fact.
pub(in crate::rules) fn alternatives(
    input: &mut Input<'_>,
    fact: &Fact<'_>,
    first: Operand,
) -> Parsed<Condition> {
    let Operand::Value(FactValue::Text(text)) = &first else {
        return ordered(input, fact, Op::Equal, first);
    };
    let mut values = vec![text.clone()];
    loop {
        let mut ahead = *input;
        let mut more = Vec::new();
        while opt(mark(',')).parse_next(&mut ahead)?.is_some() {
            match alternative(&mut ahead, fact) {
                Some(value) => more.push(value),
                None => break,
            }
        }
        if opt(phrase("or")).parse_next(&mut ahead)?.is_none() {
            break;
        }
        let Some(value) = alternative(&mut ahead, fact) else { break };
        values.append(&mut more);
        values.push(value);
        *input = ahead;
    }
    Ok(membership(fact, values))
}

fn alternative(input: &mut Input<'_>, fact: &Fact<'_>) -> Option<String> {
    let quoted = matches!(next(input)?.kind, Kind::Quoted(_));
    if !quoted {
        let named = matches!(fact.fact_type, FactType::Scale(_) | FactType::PlanStatus);
        let other_fact = vocabulary::fact(input).is_some();
        if other_fact || (!named && idiom::idiom(&mut input.clone()).is_ok()) {
            return None;
        }
    }
    let mut ahead = *input;
    let value = match (next(&ahead)?.kind, fact.fact_type) {
        (_, fact_type @ (FactType::Scale(_) | FactType::PlanStatus)) => {
            listed_value(&mut ahead, fact_type)?
        }
        (Kind::Quoted(text), _) => {
            ahead.next_slice(1);
            text.text().into_owned()
        }
        (Kind::Word(word), _) => {
            ahead.next_slice(1);
            word.to_owned()
        }
        _ => return None,
    };
    if !at_end(&ahead) {
        return None;
    }
    *input = ahead;
    Some(value)
}

fn membership(fact: &Fact<'_>, mut values: Vec<String>) -> Condition {
    let mut seen = Vec::with_capacity(values.len());
    values.retain(|value| {
        let new = !seen.contains(value);
        seen.push(value.clone());
        new
    });
    match values.as_slice() {
        [only] => Condition::is_text(&fact.name, only),
        _ => Condition::In { fact: fact.name.clone(), values },
    }
}

fn is_ordered(fact: &Fact<'_>, with: &Operand) -> bool {
    match fact.fact_type {
        FactType::Scale(modifier) => modifier.kind() == ModifierKind::Ordered,
        FactType::Text | FactType::PlanStatus | FactType::List => false,
        _ => !matches!(with, Operand::Value(FactValue::Text(_) | FactValue::Bool(_))),
    }
}

/// Builds a comparison. An order on a scale becomes the list of the values it allows, so that the
/// canonical form shows them.
fn ordered(place: &Input<'_>, fact: &Fact<'_>, op: Op, with: Operand) -> Parsed<Condition> {
    let plain = matches!(op, Op::Equal | Op::NotEqual);
    if plain || is_ordered(fact, &with) {
        if let (FactType::Scale(modifier), Operand::Value(FactValue::Text(text)), false) =
            (fact.fact_type, &with, plain)
        {
            let rank = modifier.rank(text).unwrap_or_default();
            let values: Vec<String> = modifier
                .values()
                .iter()
                .enumerate()
                .filter(|(i, _)| op_holds(op, *i, rank))
                .map(|(_, value)| value.clone())
                .collect();
            if values.is_empty() {
                let side = if op == Op::Above { "above" } else { "below" };
                let message = format!("nothing is {side} `{text}` on the scale of `{}`", fact.name);
                return cut(RuleError::new(span_to_end(place), message));
            }
            return Ok(membership(fact, values));
        }
        return Ok(Condition::Compare { fact: fact.name.clone(), op, with });
    }
    let message = format!("`{}` has no order; say what it is or is not", fact.name);
    cut(RuleError::new(span_to_end(place), message))
}

fn op_holds(op: Op, value: usize, rank: usize) -> bool {
    match op {
        Op::Above => value > rank,
        Op::AtLeast => value >= rank,
        Op::Below => value < rank,
        Op::AtMost => value <= rank,
        Op::Equal => value == rank,
        Op::NotEqual => value != rank,
    }
}
