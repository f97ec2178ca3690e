//! The shape of a rule: a label, a condition, an arrow, actions.

use std::ops::Range;

use winnow::{
    Parser,
    combinator::{alt, opt, preceded},
    error::ErrMode,
    stream::{Stream, TokenSlice},
};

use crate::{
    domain::{Workflow, constraints::nested::is_out_of_force},
    rules::{
        Action, Condition, Rule, RuleError,
        error::Failure,
        parse::{
            action::executed,
            condition::condition as parse_condition,
            lexer::{Kind, Token, lex},
            phrase::{
                Context, Input, Parsed, any_phrase, arrow, cut, mark, next, phrase, span_of,
                span_to_end, split_at,
            },
            phrases::{Phrases, phrases, spelled},
            prose::actions as parse_actions,
        },
    },
};

/// A longer text is not a rule.
const MAX_BYTES: usize = 8 * 1024;

const OPENERS: &Phrases = phrases![
    "if", "when", "whenever", "once", "after", "on", "as soon as", "in case", "every time",
    "each time",
];

/// Reads a whole rule.
pub(in crate::rules) fn rule(text: &str, workflow: &Workflow) -> Result<Rule, RuleError> {
    let tokens = tokens(text)?;
    let tokens = without_bullet(&tokens);
    let input = stream(text, workflow, tokens);
    labelled(input).map_err(|error| finished(error, text))
}

/// Reads a condition on its own.
pub(in crate::rules) fn condition(text: &str, workflow: &Workflow) -> Result<Condition, RuleError> {
    let tokens = tokens(text)?;
    let mut input = stream(text, workflow, &tokens);
    whole_condition(&mut input).map_err(|error| finished(error, text))
}

/// Reads a list of actions on its own.
pub(in crate::rules) fn actions(text: &str, workflow: &Workflow) -> Result<Vec<Action>, RuleError> {
    let tokens = tokens(text)?;
    let mut input = stream(text, workflow, &tokens);
    parse_actions(&mut input).map_err(|error| finished(error, text))
}

/// Whether a text that is not a rule was meant to be one: it has an arrow, or `then` before an action,
/// or names a modifier, and is neither struck out nor called an example.
pub(crate) fn is_meant_as_rule(text: &str, workflow: &Workflow) -> bool {
    let Ok(tokens) = tokens(text) else { return false };
    let mut input = stream(text, workflow, &tokens);
    let label = bold_label(&input).or_else(|| plain_label(&input));
    if label.is_some_and(|label| is_out_of_force(label.text)) || text.trim().starts_with("~~") {
        return false;
    }
    let mut named = false;
    while !input.is_empty() && !named {
        named = workflow.modifiers().iter().any(|known| spelled(&input, known.name()).is_some());
        input.next_slice(1);
    }
    named
        || tokens.iter().any(|token| token.kind == Kind::Arrow)
        || concludes(stream(text, workflow, &tokens))
}

/// Whether a condition is followed by `then` and something that is executed.
fn concludes(mut input: Input<'_>) -> bool {
    input.state.glance = true;
    if opener(&mut input).is_err() {
        return false;
    }
    while !input.is_empty() {
        if phrase("then").parse_next(&mut input).is_err() {
            input.next_slice(1);
        } else if executed(&mut input.clone()).is_ok() {
            return true;
        }
    }
    false
}

/// Whether a text begins with a word that opens a condition.
pub(crate) fn opens_condition(text: &str) -> bool {
    lex(text).is_ok_and(|tokens| {
        let words = ["if", "when", "whenever", "unless"];
        words.iter().any(|word| spelled(&tokens, word) == Some(1))
    })
}

fn labelled(input: Input<'_>) -> Parsed<Rule> {
    let Some(Label { text, after, colon }) = bold_label(&input).or_else(|| plain_label(&input))
    else {
        return body(input, None);
    };
    if is_out_of_force(text) {
        let message = format!("`{text}` says that this rule is not in force");
        return cut(RuleError::new(span_of(&input, 1), message));
    }
    let label = Some(text.to_owned());
    let split = input.iter().take_while(|token| token.start < after).count();
    let (mut title, mut rest) = split_at(&input, split);
    if opener(&mut rest.clone()).is_ok() || (colon && has_arrow(&rest)) {
        return body(rest, label);
    }
    if !colon {
        return body(input, label);
    }
    while title.last().is_some_and(|token| token.kind == Kind::Mark(':')) {
        (title, _) = split_at(&title, title.len() - 1);
    }
    let _ = opt(opener).parse_next(&mut title)?;
    let condition = whole_condition(&mut title)?;
    let actions = parse_actions(&mut rest)?;
    Ok(Rule { label, condition, actions })
}

/// A condition, an arrow and actions; or actions and `if` with a condition.
fn body(mut input: Input<'_>, label: Option<String>) -> Parsed<Rule> {
    let whole = input;
    let opened = opt(opener).parse_next(&mut input)?;
    if opened.is_none()
        && !has_arrow(&input)
        && let Some(at) = later_opener(&input)
    {
        return reversed_rule(&whole, at, label);
    }
    let condition = parse_condition(&mut input)?;
    separator(&mut input, opened.is_some())?;
    let actions = parse_actions(&mut input)?;
    let condition = if opened == Some(false) { condition.negate() } else { condition };
    Ok(Rule { label, condition, actions })
}

/// `pause if 3+ consecutive steps fail`
fn reversed_rule(whole: &Input<'_>, at: usize, label: Option<String>) -> Parsed<Rule> {
    let (mut before, mut after) = split_at(whole, at);
    let actions = parse_actions(&mut before)?;
    if actions.iter().any(Action::is_advice) {
        let message = "a rule begins with its condition: `If … → …`";
        return cut(RuleError::new(span_of(whole, at), message));
    }
    let holds = opener(&mut after)?;
    let condition = whole_condition(&mut after)?;
    Ok(Rule { label, condition: if holds { condition } else { condition.negate() }, actions })
}

fn whole_condition(input: &mut Input<'_>) -> Parsed<Condition> {
    let condition = parse_condition(input)?;
    let _ = opt(mark('.')).parse_next(input)?;
    if input.is_empty() {
        return Ok(condition);
    }
    let span = span_of(input, input.len());
    let rest = input.state.source.get(span.clone()).unwrap_or_default();
    cut(RuleError::new(span, format!("`{rest}` is not understood after `{condition}`")))
}

/// `if` and its like; false for `unless`.
fn opener(input: &mut Input<'_>) -> Parsed<bool> {
    alt((any_phrase(OPENERS).value(true), phrase("unless").value(false))).parse_next(input)
}

fn separator(input: &mut Input<'_>, opened: bool) -> Parsed<()> {
    let place = *input;
    let then = (phrase("then"), opt(alt((mark(','), mark(':')))));
    let strong = preceded(opt(mark(',')), alt((arrow, then.void())));
    if opt(alt((strong, mark(':')))).parse_next(input)?.is_some() {
        let _ = opt(phrase("then")).parse_next(input)?;
        return something_follows(input);
    }
    if !opened || opt(mark(',')).parse_next(input)?.is_none() {
        let span = span_to_end(input);
        let rest = input.state.source.get(span.clone()).unwrap_or_default();
        let message = match rest {
            "" => "a rule continues with `→` and an action".to_owned(),
            _ => format!("`{rest}` is not understood here; `→` is expected after the condition"),
        };
        return cut(RuleError::new(span, message));
    }
    let mut ahead = *input;
    ahead.state.glance = true;
    let again = parse_condition(&mut ahead).is_ok()
        && (arrow(&mut ahead).is_ok() || phrase("then").parse_next(&mut ahead).is_ok());
    if again || has_arrow(input) {
        let message = "conditions are joined by `and` or `or`, not by a comma";
        return cut(RuleError::new(span_of(&place, 1), message));
    }
    something_follows(input)
}

fn something_follows(input: &Input<'_>) -> Parsed<()> {
    match input.is_empty() {
        true => cut(RuleError::new(span_of(input, 1), "an action is expected after the condition")),
        false => Ok(()),
    }
}

struct Label<'i> {
    text: &'i str,
    /// Where the rest begins.
    after: usize,
    colon: bool,
}

/// `**Repeated Failures**`, with the colon inside or behind.
fn bold_label<'i>(input: &Input<'i>) -> Option<Label<'i>> {
    let source = input.state.source;
    let first = next(input)?.start;
    let open = source[..first].rfind("**")? + 2;
    if source[open..first].chars().any(|c| !c.is_whitespace() && c != '`') {
        return None;
    }
    let length = source[open..].find("**")?;
    let inner = source[open..open + length].trim();
    let close = open + length + 2;
    let rest = source[close..].trim_start();
    let behind = rest.starts_with(':');
    let after = source.len() - rest.len() + usize::from(behind);
    let text = inner.trim_end_matches(':').trim_end();
    if text.is_empty() || text.contains(['\n', '\r', '*']) {
        return None;
    }
    Some(Label { text, after, colon: behind || inner.ends_with(':') })
}

/// `Budget guard: if …`
fn plain_label<'i>(input: &Input<'i>) -> Option<Label<'i>> {
    let source = input.state.source;
    let colon = input.iter().take(8).position(|token| token.kind == Kind::Mark(':'))?;
    let words = input.iter().take(colon).all(|token| matches!(token.kind, Kind::Word(_)));
    let mut rest = *input;
    rest.next_slice(colon + 1);
    if colon == 0 || !words || opener(&mut input.clone()).is_ok() || opener(&mut rest).is_err() {
        return None;
    }
    let Range { start, end } = span_of(input, colon);
    let text = source.get(start..end)?;
    let after = input.get(colon)?.end;
    (!text.contains(['\n', '\r', '*'])).then_some(Label { text, after, colon: true })
}

fn has_arrow(input: &Input<'_>) -> bool {
    input.iter().any(|token| token.kind == Kind::Arrow)
}

fn later_opener(input: &Input<'_>) -> Option<usize> {
    let words = ["if", "when", "whenever", "unless", "once"];
    input.iter().position(|token| match token.kind {
        Kind::Word(word) => words.iter().any(|opener| opener.eq_ignore_ascii_case(word)),
        _ => false,
    })
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, RuleError> {
    if text.len() > MAX_BYTES {
        let message = format!("a rule of more than {MAX_BYTES} bytes is not read");
        return Err(RuleError::new(0..0, message));
    }
    lex(text)
}

fn without_bullet<'t, 's>(tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    match tokens {
        [Token { kind: Kind::Mark('-' | '•' | '–'), .. }, rest @ ..] => rest,
        [
            Token { kind: Kind::Number(_), .. },
            Token { kind: Kind::Mark('.' | ')'), .. },
            rest @ ..,
        ] => rest,
        all => all,
    }
}

fn stream<'i>(source: &'i str, workflow: &'i Workflow, tokens: &'i [Token<'i>]) -> Input<'i> {
    let state = Context { source, workflow, depth: 0, glance: false };
    Input { input: TokenSlice::new(tokens), state }
}

fn finished(error: ErrMode<Failure>, text: &str) -> RuleError {
    let reported = error.into_inner().ok().and_then(Failure::reported);
    reported
        .unwrap_or_else(|| RuleError::new(0..text.len(), "this is not a rule: write `If … → …`"))
}
