//! Actions: `set priority to "quality"`, `raise error_tolerance`, `require human review`, `pause`.

use winnow::{
    Parser,
    combinator::{alt, opt},
    error::ErrMode,
    stream::Stream,
};

use crate::{
    domain::{FactValue, Modifier, ModifierKind},
    rules::{
        Action, Op, RuleError,
        parse::{
            lexer::{Kind, Token},
            operand::amount,
            phrase::{
                Input, Parsed, any_phrase, at_end, backtrack, cut, invalid_phrase, mark, next,
                peek_word, phrase, skip_words, span_of, span_to_end, word_at,
            },
            phrases::{Phrases, phrases},
            prose::{lifetime, lifetime_steps, reason, text_or_prose},
            setting::{known_modifier, levels, likely_modifier, signed, value, wrong_value},
            vocabulary,
        },
    },
};

const ARTICLES: &[&str] = &["the", "a", "an", "our", "its"];

/// Recognises an action that the engine executes. A cut means that a sentence begins like an action
/// and is not one.
pub(in crate::rules) fn executed(input: &mut Input<'_>) -> Parsed<Action> {
    skip_words(input, &["immediately", "also", "please", "automatically"]);
    let start = input.checkpoint();
    for parser in [
        set, change, assign, reset, shift, scale_by_two, directive, advise, review, pause,
        checkpoint,
    ] {
        match parser(input) {
            Ok(action) => return Ok(action),
            Err(ErrMode::Backtrack(_)) => input.reset(&start),
            Err(error) => return Err(error),
        }
    }
    backtrack(input)
}

/// `set priority to "quality"`, `set priority = quality`
fn set(input: &mut Input<'_>) -> Parsed<Action> {
    phrase("set").parse_next(input)?;
    if let Some(word) = peek_word(input)
        && ["up", "aside", "out", "off", "forth", "about"].contains(&word)
    {
        return backtrack(input);
    }
    skip_words(input, ARTICLES);
    let modifier = known_modifier(input)?;
    assigned(input, modifier)
}

/// `change priority to "quality"`, `switch priority to "quality"`
fn change(input: &mut Input<'_>) -> Parsed<Action> {
    any_phrase(phrases!["change", "switch", "update", "adjust", "make", "limit", "cap", "turn"])
        .parse_next(input)?;
    skip_words(input, ARTICLES);
    let modifier = likely_modifier(input)?;
    assigned(input, modifier)
}

/// `priority = "quality"`, and `error_tolerance to "strict"` after another assignment
fn assign(input: &mut Input<'_>) -> Parsed<Action> {
    skip_words(input, ARTICLES);
    let equals = |token: Option<&Token<'_>>| {
        token.is_some_and(|token| matches!(token.kind, Kind::Op(Op::Equal)))
    };
    let Some((modifier, count)) = vocabulary::modifier(input) else {
        if peek_word(input).is_some() && equals(input.get(1)) {
            return known_modifier(input).and_then(|modifier| assigned(input, modifier));
        }
        return backtrack(input);
    };
    let follows = equals(input.get(count))
        || matches!(input.get(count), Some(Token { kind: Kind::Mark(':'), .. }))
        || word_at(input, count).is_some_and(|word| word.eq_ignore_ascii_case("to"));
    if !follows {
        return backtrack(input);
    }
    input.next_slice(count);
    assigned(input, modifier)
}

/// `reset priority`: to its default, or to no value if it has none; `unset priority`: to no value
fn reset(input: &mut Input<'_>) -> Parsed<Action> {
    let to_default =
        alt((phrase("reset").value(true), phrase("unset").value(false))).parse_next(input)?;
    skip_words(input, ARTICLES);
    let modifier = likely_modifier(input)?;
    let _ = opt(any_phrase(phrases!["to default", "to its default"])).parse_next(input)?;
    let default = modifier.default().filter(|_| to_default);
    let value = default.and_then(|default| modifier.read(default).ok());
    Ok(set_to(modifier, value.unwrap_or(FactValue::Missing)))
}

/// `raise error_tolerance`, `lower max_web_requests by 2`, `increase error_tolerance to "strict"`
fn shift(input: &mut Input<'_>) -> Parsed<Action> {
    let up = alt((
        any_phrase(phrases!["increase", "raise", "bump", "bump up", "elevate"]).value(true),
        any_phrase(phrases!["decrease", "lower", "reduce"]).value(false),
    ))
    .parse_next(input)?;
    skip_words(input, ARTICLES);
    let name = span_of(input, 1);
    let modifier = likely_modifier(input)?;
    let absolute = alt((
        phrase("to"),
        (crate::rules::parse::operator::symbol.verify(|op| *op == Op::Equal)).void(),
    ));
    if opt(absolute).parse_next(input)?.is_some() {
        return value(input, modifier).map(|value| set_to(modifier, value));
    }
    let sign = if up { 1.0 } else { -1.0 };
    match modifier.kind() {
        ModifierKind::Ordered => {
            let steps = sign * f64::from(levels(input)?);
            Ok(Action::Shift { modifier: modifier.name().to_owned(), steps: steps as i32 })
        }
        ModifierKind::Enum | ModifierKind::Text | ModifierKind::List => {
            let message = format!("`{}` has no order; set it to a value", modifier.name());
            cut(RuleError::new(name, message))
        }
        _ => {
            phrase("by").parse_next(input).map_err(|_| {
                let message = format!("say by how much to change `{}`", modifier.name());
                invalid_phrase(RuleError::new(name, message))
            })?;
            let place = *input;
            let by = opt(amount).parse_next(input)?;
            match by.and_then(|by| signed(modifier, by, sign)) {
                Some(by) => Ok(Action::Adjust { modifier: modifier.name().to_owned(), by }),
                None => wrong_value(&place, modifier),
            }
        }
    }
}

/// `double max_web_requests`, `halve max_cost_per_task`
fn scale_by_two(input: &mut Input<'_>) -> Parsed<Action> {
    let percent =
        alt((phrase("double").value(100.0), phrase("halve").value(-50.0))).parse_next(input)?;
    skip_words(input, ARTICLES);
    let place = *input;
    let modifier = likely_modifier(input)?;
    use ModifierKind::{Duration, Money, Number};
    if !matches!(modifier.kind(), Number | Money | Duration) {
        let message = format!("`{}` cannot be doubled or halved", modifier.name());
        return cut(RuleError::new(span_of(&place, 1), message));
    }
    let by = FactValue::Percent(percent);
    Ok(Action::Adjust { modifier: modifier.name().to_owned(), by })
}

/// `add directive "be brief" for the next 2 steps`
fn directive(input: &mut Input<'_>) -> Parsed<Action> {
    any_phrase(phrases!["add", "append", "activate", "insert"]).parse_next(input)?;
    skip_words(input, &["a", "an", "the", "this", "active", "new", "following"]);
    phrase("directive").parse_next(input)?;
    let _ = opt(mark(':')).parse_next(input)?;
    let (text, steps) = text_or_prose(input, "the text of the directive is missing")?;
    Ok(Action::Directive { text, steps })
}

/// `advise "be brief"`
fn advise(input: &mut Input<'_>) -> Parsed<Action> {
    phrase("advise").parse_next(input)?;
    let _ = opt(mark(':')).parse_next(input)?;
    let Some(Token { kind: Kind::Quoted(text), .. }) = next(input) else {
        return backtrack(input);
    };
    input.next_slice(1);
    let steps = opt(lifetime).parse_next(input)?;
    Ok(Action::Advice { text: text.text().into_owned(), steps })
}

/// `require human review`, `seek human guidance`, `ask a human`, `escalate`
fn review(input: &mut Input<'_>) -> Parsed<Action> {
    const KINDS: &Phrases = phrases![
        "review", "reviews", "approval", "guidance", "oversight", "intervention", "sign off",
        "signoff", "confirmation", "input", "help", "supervision", "assistance", "attention",
    ];
    const WANTS: &Phrases = phrases![
        "require", "requires", "request", "trigger", "open", "start", "ask for", "need", "demand",
        "initiate", "force", "seek", "get", "obtain", "wait for",
    ];
    let place = *input;
    let asked = alt((
        any_phrase(phrases!["ask a human", "ask human", "ask a person", "involve a human"]),
        any_phrase(phrases![
            "escalate",
            "escalate to a human",
            "escalate to human",
            "escalate to humans",
            "escalate to the human",
            "escalate to a person",
            "escalate to the user",
            "escalate to human review",
            "escalate to an operator",
        ]),
        any_phrase(phrases!["human review required", "human review is required", "human review"]),
        any_phrase(phrases![
            "require review", "require a review", "require approval", "open a review",
            "request a review", "request review",
        ]),
    ));
    if opt(asked).parse_next(input)?.is_none() {
        any_phrase(WANTS).parse_next(input)?;
        skip_words(input, &["a", "an", "the", "immediate", "mandatory", "explicit"]);
        phrase("human").parse_next(input)?;
        if opt(any_phrase(KINDS)).parse_next(input)?.is_none() {
            let error = RuleError::new(span_to_end(&place), "this is not an action");
            return cut(error.with_nearest(Some("require human review")));
        }
    }
    skip_words(input, &["immediately", "now"]);
    Ok(Action::Review { reason: reason(input)? })
}

/// `pause`, `pause the plan because of costs`
fn pause(input: &mut Input<'_>) -> Parsed<Action> {
    const WHAT: &Phrases =
        phrases!["execution", "plan", "work", "run", "everything", "task", "agent"];
    let place = *input;
    let verb = any_phrase(phrases!["pause", "suspend", "stop", "halt"]).parse_next(input)?;
    skip_words(input, &["the", "all"]);
    let object = opt(any_phrase(WHAT)).parse_next(input)?.is_some();
    if verb != "pause" && !(object && verb == "suspend") {
        if !at_end(input) {
            return backtrack(input);
        }
        let message = format!("`{verb}` could mean to pause or to give up");
        return cut(RuleError::new(span_to_end(&place), message).with_nearest(Some("pause")));
    }
    skip_words(input, &["immediately", "now"]);
    let mut ahead = *input;
    let review = phrases!["for review", "for human review", "for a human review"];
    if opt(any_phrase(review)).parse_next(&mut ahead)?.is_some() {
        let error = RuleError::new(span_to_end(&place), "these are two actions");
        return cut(error.with_nearest(Some("pause, require human review")));
    }
    Ok(Action::Pause { reason: reason(input)? })
}

/// `checkpoint`, `create a checkpoint "before merge"`
fn checkpoint(input: &mut Input<'_>) -> Parsed<Action> {
    let made = any_phrase(phrases!["create", "take", "save", "make", "add", "write", "record"]);
    if opt(made).parse_next(input)?.is_some() {
        skip_words(input, &["a", "an", "the", "new"]);
    }
    phrase("checkpoint").parse_next(input)?;
    skip_words(input, &["now", "immediately", "the", "state", "progress"]);
    let named =
        opt(alt((any_phrase(phrases!["named", "called"]).void(), mark(':')))).parse_next(input)?;
    let name = match next(input).map(|token| token.kind) {
        Some(Kind::Quoted(text)) => Some(text.text().into_owned()),
        Some(Kind::Word(word)) if named.is_some() => Some(word.to_owned()),
        _ if named.is_some() => {
            return cut(RuleError::new(span_of(input, 1), "the name of the checkpoint is missing"));
        }
        _ => None,
    };
    if name.is_some() {
        input.next_slice(1);
    }
    Ok(Action::Checkpoint { name })
}

fn assigned(input: &mut Input<'_>, modifier: &Modifier) -> Parsed<Action> {
    let to = alt((
        any_phrase(phrases!["to", "as", "at", "equal to", "to be"]).void(),
        crate::rules::parse::operator::symbol.verify(|op| *op == Op::Equal).void(),
        mark(':'),
    ));
    if opt(to).parse_next(input)?.is_none() {
        let message = format!("say what to set `{}` to", modifier.name());
        return cut(RuleError::new(span_of(input, 1), message));
    }
    value(input, modifier).map(|value| set_to(modifier, value))
}

fn set_to(modifier: &Modifier, value: FactValue) -> Action {
    Action::Set { modifier: modifier.name().to_owned(), value }
}

/// `for the next 2 steps, be brief`
pub(in crate::rules) fn limited(input: &mut Input<'_>) -> Parsed<u32> {
    let steps = lifetime(input)?;
    let _ = opt(alt((mark(','), mark(':')))).parse_next(input)?;
    lifetime_steps(input, steps)
}
