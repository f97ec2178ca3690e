//! What a fact is compared with: quantities, named values, texts, other facts, shares of them.

use winnow::{
    Parser,
    combinator::{alt, opt},
    stream::Stream,
};

use crate::{
    domain::{
        FactValue, ModifierKind,
        constraints::modifier::backticked,
        nearest::nearest,
        quantity::{duration, money, number_word, per_dollar, unit_millis},
    },
    rules::{
        Operand, RuleError,
        parse::{
            lexer::{Kind, Token},
            phrase::{
                Input, Parsed, any_phrase, at_end, backtrack, cut, next, peek_word, phrase,
                skip_words, span_of, span_to_end, word_at,
            },
            phrases::{longest, phrases},
            vocabulary::{self, Fact, FactType},
        },
    },
};

pub(in crate::rules) const ARTICLES: &[&str] =
    &["the", "a", "an", "our", "its", "total", "current"];
const COUNTED: &[&str] =
    &["times", "steps", "step", "requests", "operations", "failures", "attempts"];

/// Reads what `fact` is compared with, or says what it can be compared with.
pub(in crate::rules) fn operand(input: &mut Input<'_>, fact: &Fact<'_>) -> Parsed<Operand> {
    match fact.fact_type {
        FactType::Scale(_) | FactType::PlanStatus | FactType::Text => {
            let text = named_value(input, fact)?;
            return Ok(Operand::Value(FactValue::Text(text)));
        }
        FactType::List => {
            let message = format!("`{}` is a list; say what it `contains`", fact.name);
            return cut(RuleError::new(span_to_end(input), message));
        }
        _ => {}
    }
    let start = *input;
    if let Some(value) = opt(amount).parse_next(input)? {
        let of = match value {
            FactValue::Percent(_) => opt(share_of).parse_next(input)?,
            _ => None,
        };
        if fact.fact_type == FactType::Count && of.is_none() {
            skip_words(input, COUNTED);
        }
        return measured(&start, fact, value, of);
    }
    if let Some(Token { kind: Kind::Quoted(text), .. }) = next(input) {
        let text = text.text();
        let quantity = match fact.fact_type {
            FactType::Dynamic => None,
            _ => FactValue::parse_quantity(&text),
        };
        let value = quantity.unwrap_or_else(|| FactValue::text(text));
        input.next_slice(1);
        return coerced(&start, fact, value).map(Operand::Value);
    }
    skip_words(input, ARTICLES);
    if let Some((other, count)) = vocabulary::fact(input) {
        input.next_slice(count);
        return check_comparable(&start, fact, &other).map(|()| Operand::Fact(other.name));
    }
    if fact.fact_type == FactType::Dynamic {
        return bare_value(input).map(Operand::Value);
    }
    unreadable(&start, fact)
}

/// A quantity, or a share of another fact, that `fact` is compared with.
pub(in crate::rules) fn measured(
    place: &Input<'_>,
    fact: &Fact<'_>,
    value: FactValue,
    of: Option<Fact<'_>>,
) -> Parsed<Operand> {
    match (value, of) {
        (FactValue::Percent(percent), Some(of)) => {
            check_comparable(place, fact, &of)?;
            Ok(Operand::Share { percent, of: of.name })
        }
        (value, _) => coerced(place, fact, value).map(Operand::Value),
    }
}

/// Reads a text that the fact can be equal to: a value of its scale, a status, a text.
pub(in crate::rules) fn named_value(input: &mut Input<'_>, fact: &Fact<'_>) -> Parsed<String> {
    let names: Vec<&str> = match fact.fact_type {
        FactType::Scale(modifier) => modifier.values().iter().map(String::as_str).collect(),
        FactType::PlanStatus => input.state.workflow.plan_statuses().collect(),
        _ => return plain_text(input),
    };
    if let Some(value) = listed_value(input, fact.fact_type) {
        return Ok(value);
    }
    if let Some(Token { kind: Kind::Quoted(text), .. }) = next(input) {
        return unknown_value(span_of(input, 1), fact, &text.text(), &names);
    }
    let span = span_to_end(input);
    if at_end(input) {
        let message = format!("a value of `{}` is missing: {}", fact.name, backticked(&names));
        return cut(RuleError::new(span, message));
    }
    let given = input.state.source.get(span.clone()).unwrap_or_default();
    unknown_value(span, fact, given, &names)
}

/// Takes a value of a scale, or a status of the plan, if one comes next.
pub(in crate::rules) fn listed_value(
    input: &mut Input<'_>,
    fact_type: FactType<'_>,
) -> Option<String> {
    let workflow = input.state.workflow;
    let named = |text: &str| match fact_type {
        FactType::Scale(modifier) => modifier.value_named(text),
        _ => workflow.plan_status(text),
    };
    let mut ahead = *input;
    skip_words(&mut ahead, &["a", "an", "the"]);
    let (count, value) = match (next(&ahead)?.kind, fact_type) {
        (Kind::Quoted(text), _) => (1, named(&text.text())?),
        (Kind::Word(_), FactType::Scale(modifier)) => {
            longest(&ahead, modifier.values().iter().map(|name| (name.as_str(), name.as_str())))?
        }
        (Kind::Word(word), _) => longest(&ahead, workflow.plan_statuses().map(|name| (name, name)))
            .or_else(|| Some((1, named(word)?)))?,
        _ => return None,
    };
    let value = value.to_owned();
    ahead.next_slice(count);
    *input = ahead;
    Some(value)
}

/// Reads a quantity with its unit: `3`, `two`, `$0.50`, `5 minutes`, `1h 30m`, `80%`, `half`.
pub(in crate::rules) fn amount(input: &mut Input<'_>) -> Parsed<FactValue> {
    let written = match next(input).map(|token| token.kind) {
        Some(Kind::Percent(percent)) => Some(FactValue::Percent(percent)),
        Some(Kind::Money(micros)) => Some(FactValue::Money(micros)),
        _ => None,
    };
    if let Some(value) = written {
        input.next_slice(1);
        return Ok(value);
    }
    let fractions = alt((
        phrase("half").value(50.0),
        phrase("a quarter").value(25.0),
        phrase("three quarters").value(75.0),
    ));
    if let Some(percent) = opt(fractions).parse_next(input)? {
        return Ok(FactValue::Percent(percent));
    }
    let number = if let Some(number) = opt(number).parse_next(input)? {
        number
    } else if matches!(peek_word(input), Some("a" | "an"))
        && word_at(input, 1).is_some_and(|unit| unit.len() > 2 && unit_millis(unit).is_some())
    {
        input.next_slice(1);
        1.0
    } else {
        return backtrack(input);
    };
    let too_large = |input: &Input<'_>| RuleError::new(span_of(input, 1), "this is too large");
    let Some(unit) = peek_word(input) else { return Ok(FactValue::Number(number)) };
    if let Some(divisor) = per_dollar(unit) {
        let Some(value) = money(number / divisor as f64) else { return cut(too_large(input)) };
        input.next_slice(1);
        return Ok(value);
    }
    if opt(any_phrase(phrases!["percent", "per cent"])).parse_next(input)?.is_some() {
        return Ok(FactValue::Percent(number));
    }
    let Some(mut millis) = unit_millis(unit).map(|unit| unit * number) else {
        return Ok(FactValue::Number(number));
    };
    input.next_slice(1);
    while let Some((more, rest)) = smaller_part(input) {
        millis += more;
        *input = rest;
    }
    match duration(millis) {
        Some(value) => Ok(value),
        None => cut(too_large(input)),
    }
}

/// `30m` after `1h`, also joined by `and` if nothing else is said about it.
fn smaller_part<'i>(input: &Input<'i>) -> Option<(f64, Input<'i>)> {
    let mut rest = *input;
    let joined = phrase("and").parse_next(&mut rest).is_ok();
    let Kind::Number(number) = next(&rest)?.kind else { return None };
    let millis = number * unit_millis(word_at(&rest, 1)?)?;
    rest.next_slice(2);
    (!joined || at_end(&rest)).then_some((millis, rest))
}

/// Reads a number in digits or as a word.
pub(in crate::rules) fn number(input: &mut Input<'_>) -> Parsed<f64> {
    let number = match next(input).map(|token| token.kind) {
        Some(Kind::Number(number)) => Some(number),
        Some(Kind::Word(word)) => number_word(word),
        _ => None,
    };
    match number {
        Some(number) => {
            input.next_slice(1);
            Ok(number)
        }
        None => backtrack(input),
    }
}

/// Reads `of the budget`, or `the budget` after `half`.
pub(in crate::rules) fn share_of<'i>(input: &mut Input<'i>) -> Parsed<Fact<'i>> {
    alt((phrase("of"), phrase("the").map(|()| ()))).parse_next(input)?;
    skip_words(input, ARTICLES);
    match vocabulary::fact(input) {
        Some((fact, count)) => {
            input.next_slice(count);
            Ok(fact)
        }
        None => {
            let span = span_to_end(input);
            let name = input.state.source.get(span.clone()).unwrap_or_default();
            let error = RuleError::new(span, format!("`{name}` is not a fact"));
            cut(error.with_nearest(vocabulary::nearest_fact(name, input.state.workflow)))
        }
    }
}

fn plain_text(input: &mut Input<'_>) -> Parsed<String> {
    match next(input).map(|token| token.kind) {
        Some(Kind::Quoted(text)) => {
            input.next_slice(1);
            Ok(text.text().into_owned())
        }
        Some(Kind::Word(_)) => match bare_value(input)? {
            FactValue::Text(text) => Ok(text),
            other => Ok(other.to_plain()),
        },
        _ => cut(RuleError::new(span_of(input, 1), "a text is expected here, best in quotes")),
    }
}

/// A value without quotes is a single word; more could as well be the rest of the sentence.
fn bare_value(input: &mut Input<'_>) -> Parsed<FactValue> {
    let Some(word) = peek_word(input) else {
        return cut(RuleError::new(span_of(input, 1), "a value is expected here"));
    };
    let span = span_to_end(input);
    input.next_slice(1);
    if !at_end(input) {
        let text = input.state.source.get(span.clone()).unwrap_or_default();
        let message = format!("put a value of several words in quotes: `\"{text}\"`");
        return cut(RuleError::new(span, message));
    }
    Ok(match word {
        _ if word.eq_ignore_ascii_case("true") => FactValue::Bool(true),
        _ if word.eq_ignore_ascii_case("false") => FactValue::Bool(false),
        _ => FactValue::text(word),
    })
}

/// The value in the unit of the fact.
fn coerced(start: &Input<'_>, fact: &Fact<'_>, value: FactValue) -> Parsed<FactValue> {
    let fitting = match (fact.fact_type, &value) {
        (FactType::Dynamic, _)
        | (FactType::Count, FactValue::Number(_))
        | (FactType::Money, FactValue::Money(_))
        | (FactType::Duration, FactValue::Duration(_))
        | (FactType::Percent, FactValue::Percent(_)) => Some(value),
        (FactType::Money, FactValue::Number(number)) => money(*number),
        (FactType::Duration, FactValue::Number(seconds)) => duration(seconds * 1000.0),
        (FactType::Percent, FactValue::Number(number)) if *number == 0.0 || *number > 1.0 => {
            Some(FactValue::Percent(*number))
        }
        (FactType::Money | FactType::Duration | FactType::Count, FactValue::Percent(percent)) => {
            let whole = match fact.fact_type {
                FactType::Money => "budget",
                FactType::Duration => "max_execution_time",
                _ => "total_steps",
            };
            let message = format!("`{}` is not a percentage: say of what", fact.name);
            let error = RuleError::new(span_to_end(start), message);
            return cut(error.with_nearest(Some(&format!("{percent}% of {whole}"))));
        }
        _ => None,
    };
    match fitting {
        Some(value) => Ok(value),
        None => unreadable(start, fact),
    }
}

fn check_comparable(start: &Input<'_>, fact: &Fact<'_>, other: &Fact<'_>) -> Parsed<()> {
    let dynamic = |fact_type| matches!(fact_type, FactType::Dynamic);
    if dynamic(fact.fact_type) || dynamic(other.fact_type) || fact.fact_type == other.fact_type {
        return Ok(());
    }
    let message = format!(
        "`{}` is {} and `{}` is {}",
        fact.name,
        described(fact.fact_type),
        other.name,
        described(other.fact_type)
    );
    cut(RuleError::new(span_to_end(start), message))
}

fn unreadable<T>(start: &Input<'_>, fact: &Fact<'_>) -> Parsed<T> {
    let span = span_to_end(start);
    let given = start.state.source.get(span.clone()).unwrap_or_default();
    let message = match given {
        _ if at_end(start) => format!("`{}` is compared, but the value is missing", fact.name),
        given => format!("`{}` is {}, not `{given}`", fact.name, described(fact.fact_type)),
    };
    let near = vocabulary::nearest_fact(given, start.state.workflow);
    cut(RuleError::new(span, message).with_nearest(near))
}

fn described(fact_type: FactType<'_>) -> &'static str {
    match fact_type {
        FactType::Count => "a number",
        FactType::Money => "an amount such as `$0.50`",
        FactType::Duration => "a duration such as `200s`",
        FactType::Percent => "a percentage such as `80%`",
        FactType::Text => "a text",
        FactType::List => "a list",
        FactType::PlanStatus => "a status of the plan",
        FactType::Scale(modifier) if modifier.kind() == ModifierKind::Ordered => {
            "a value of an ordered scale"
        }
        FactType::Scale(_) => "one of a few values",
        FactType::Dynamic => "a value",
    }
}

fn unknown_value<T>(
    span: std::ops::Range<usize>,
    fact: &Fact<'_>,
    given: &str,
    names: &[&str],
) -> Parsed<T> {
    let allowed = backticked(names);
    let message = format!("`{given}` is not a value of `{}`; allowed: {allowed}", fact.name);
    cut(RuleError::new(span, message).with_nearest(nearest(given, names.iter().copied())))
}
