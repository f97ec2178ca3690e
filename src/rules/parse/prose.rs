//! Clauses in prose, lifetimes and reasons: text that is kept word for word.

use winnow::{
    Parser,
    combinator::{alt, opt},
    error::ErrMode,
    stream::Stream,
};

use crate::{
    domain::nearest::nearest,
    rules::{
        Action, Op, RuleError,
        parse::{
            action::{executed, limited},
            ambiguity::{Clause, denies, is_ambiguous},
            lexer::{Kind, Token},
            phrase::{
                Input, Parsed, any_phrase, backtrack, cut, mark, next, peek_word, phrase,
                skip_words, span_of, split_at, word_at,
            },
            phrases::{Phrases, phrases, spelled},
            vocabulary,
        },
    },
    text::display::one_line,
};

const CONDITIONAL: [&str; 4] = ["if", "when", "whenever", "unless"];
const EXECUTED: [&str; 9] = [
    "pause",
    "pause execution",
    "pause the plan",
    "checkpoint",
    "create a checkpoint",
    "escalate",
    "require human review",
    "seek human guidance",
    "ask a human",
];

const NO_LIFETIME: &str = "only a directive has a lifetime; anything else holds until changed";
const NEGATIONS: &Phrases = phrases!["do not", "don't", "never", "avoid", "without"];

/// Reads actions separated by commas, semicolons, full stops and `and`, to the end of the text.
pub(in crate::rules) fn actions(input: &mut Input<'_>) -> Parsed<Vec<Action>> {
    let whole = *input;
    let mut clauses = Vec::new();
    loop {
        let place: &[Token<'_>] = whole.as_ref();
        let from = whole.len() - input.len();
        let action = clause(input)?;
        let tokens = place.get(from..whole.len() - input.len()).unwrap_or_default();
        clauses.push(Clause { tokens, action });
        let last = next(input);
        separators(input);
        if input.is_empty() {
            let stop = |kind: &Kind<'_>| matches!(kind, Kind::Mark('.' | ';' | '!'));
            if last.is_some_and(|token| !stop(&token.kind)) {
                return cut(RuleError::new(span_of(input, 1), "an action is expected here"));
            }
            if is_ambiguous(&clauses) {
                let text = source_text(
                    &whole,
                    span_of(&whole, 1).start,
                    whole.state.source.trim_end().len(),
                );
                return Ok(vec![Action::Advice { text, steps: None }]);
            }
            return Ok(clauses.into_iter().map(|clause| clause.action).collect());
        }
    }
}

/// Reads one clause: an action that is executed, or prose.
fn clause(input: &mut Input<'_>) -> Parsed<Action> {
    let place = *input;
    if let Some(word) = peek_word(input) {
        if ["else", "otherwise"].iter().any(|end| end.eq_ignore_ascii_case(word)) {
            let message = "a rule has no `otherwise`; write a second rule";
            return cut(RuleError::new(span_of(input, 1), message));
        }
        if CONDITIONAL.iter().any(|start| start.eq_ignore_ascii_case(word)) {
            return cut(RuleError::new(
                span_of(input, 1),
                "an action is expected, not a condition",
            ));
        }
    }
    if let Some(steps) = opt(limited).parse_next(input)? {
        if limited(&mut input.clone()).is_ok() {
            return cut(RuleError::new(span_of(&place, 5), "this has two lifetimes"));
        }
        let inner = clause(input)?;
        return with_lifetime(&place, inner, steps);
    }
    match executed(input) {
        Ok(action) => require_clause_end(input, action),
        Err(ErrMode::Backtrack(_)) => {
            *input = place;
            prose(input)
        }
        Err(error) => Err(error),
    }
}

/// Reads `for the next 2 steps`.
pub(in crate::rules) fn lifetime(input: &mut Input<'_>) -> Parsed<u32> {
    any_phrase(phrases!["for", "during", "over", "within"]).parse_next(input)?;
    let place = *input;
    let next =
        opt(any_phrase(phrases!["the next", "next", "the following"])).parse_next(input)?.is_some();
    let count = match opt(crate::rules::parse::operand::number).parse_next(input)? {
        Some(count) => count,
        None if next => 1.0,
        None => return backtrack(input),
    };
    skip_words(input, &["more", "further"]);
    any_phrase(phrases!["steps", "step"]).parse_next(input)?;
    if count.fract() != 0.0 || !(1.0..=10_000.0).contains(&count) {
        let span = span_of(&place, place.len() - input.len());
        return cut(RuleError::new(span, "a lifetime is a whole number of steps"));
    }
    Ok(count as u32)
}

/// A lifetime in front must be followed by something that it limits.
pub(in crate::rules) fn lifetime_steps(input: &Input<'_>, steps: u32) -> Parsed<u32> {
    match input.is_empty() {
        true => cut(RuleError::new(span_of(input, 1), "say what to do for that many steps")),
        false => Ok(steps),
    }
}

/// Reads a quoted text, or prose, with the lifetime after it.
pub(in crate::rules) fn text_or_prose(
    input: &mut Input<'_>,
    missing: &str,
) -> Parsed<(String, Option<u32>)> {
    if input.state.glance {
        return Ok((String::new(), None));
    }
    if let Some(Token { kind: Kind::Quoted(text), .. }) = next(input) {
        let mut ahead = *input;
        ahead.next_slice(1);
        let steps = opt(lifetime).parse_next(&mut ahead)?;
        let text = text.text();
        if at_clause_end(&ahead) && !text.trim().is_empty() {
            *input = ahead;
            return Ok((text.into_owned(), steps));
        }
    }
    let place = *input;
    match advice_text(input)? {
        (text, steps) if !text.is_empty() => Ok((text, steps)),
        _ => cut(RuleError::new(span_of(&place, 1), missing)),
    }
}

/// Reads why something is done: `: "text"`, `because …`, `before …`.
pub(in crate::rules) fn reason(input: &mut Input<'_>) -> Parsed<Option<String>> {
    const STARTS: &Phrases = phrases![
        "because", "for", "of", "before", "due to", "on", "to", "about", "until", "after", "when",
        "whether", "with", "as",
    ];
    if input.state.glance {
        return Ok(None);
    }
    let place = *input;
    let (text, steps) = if opt(mark(':')).parse_next(input)?.is_some() {
        text_or_prose(input, "the reason is missing")?
    } else if lifetime(&mut input.clone()).is_ok() {
        return cut(RuleError::new(span_of(&place, 5), NO_LIFETIME));
    } else if any_phrase(STARTS).parse_next(&mut input.clone()).is_ok() {
        advice_text(input)?
    } else {
        return Ok(None);
    };
    match steps {
        Some(_) => cut(RuleError::new(span_of(&place, place.len() - input.len()), NO_LIFETIME)),
        None => Ok(Some(text)),
    }
}

/// Prose is passed on word for word, unless it looks like an action that went wrong.
fn prose(input: &mut Input<'_>) -> Parsed<Action> {
    let place = *input;
    let (text, steps) = advice_text(input)?;
    let tokens = place.len() - input.len();
    let span = span_of(&place, tokens);
    let spoken = place.iter().take(tokens).any(|token| matches!(token.kind, Kind::Word(_)));
    if !spoken || text.is_empty() {
        let quoted = matches!(next(&place).map(|token| token.kind), Some(Kind::Quoted(_)));
        let near = quoted.then(|| format!("advise {text}"));
        let error = RuleError::new(span_of(&place, 1), "an action is expected here");
        return cut(error.with_nearest(near.as_deref()));
    }
    if let Some(message) = names_a_setting(&place, tokens) {
        return cut(RuleError::new(span, message));
    }
    let denied = any_phrase(NEGATIONS).parse_next(&mut place.clone()).is_ok();
    if denied && peek_word(input).is_some_and(|word| word.eq_ignore_ascii_case("and")) {
        let message =
            "does the negation cover only this, or the next action too? separate them with `;`";
        return cut(RuleError::new(span, message));
    }
    let assigns = |token: &Token<'_>| matches!(token.kind, Kind::Op(Op::Equal));
    let weak = peek_word(&place).is_some_and(is_weak_verb);
    if place.iter().take(tokens).any(assigns) && !weak {
        return cut(RuleError::new(span, "this looks like an assignment and is not one"));
    }
    let mut after_verb = place;
    after_verb.next_slice(1);
    if let Some((modifier, count)) = vocabulary::modifier(&after_verb)
        && word_at(&after_verb, count).is_some_and(|word| ["to", "by"].contains(&word))
        && !weak
    {
        let message = format!("`{text}` changes `{}` in words not understood", modifier.name());
        let near = format!("set {} to …", modifier.name());
        return cut(RuleError::new(span, message).with_nearest(Some(&near)));
    }
    if let Some(name) = edits_a_list(&place, tokens) {
        let message = format!("`{name}` is a list and is set as a whole");
        let near = format!("set {name} to [\"…\"]");
        return cut(RuleError::new(span, message).with_nearest(Some(&near)));
    }
    if !denies(place.get(..tokens).unwrap_or_default())
        && let Some(near) = nearest(&text, EXECUTED)
    {
        return cut(
            RuleError::new(span, format!("`{text}` is not an action")).with_nearest(Some(near))
        );
    }
    Ok(Action::Advice { text, steps })
}

/// The name of a modifier, or of a value, on its own says nothing.
fn names_a_setting(place: &Input<'_>, tokens: usize) -> Option<String> {
    if let Some((modifier, count)) = vocabulary::modifier(place)
        && count == tokens
    {
        return Some(format!("say what to set `{}` to", modifier.name()));
    }
    let modifiers = place.state.workflow.modifiers().iter();
    let mut values = modifiers.flat_map(|modifier| modifier.values());
    let value = values.find(|value| spelled(place, value) == Some(tokens))?;
    Some(format!("`{value}` is a value; say which modifier to set to it"))
}

/// `add "Read" to preferred_tools`, `remove it from preferred_tools`
fn edits_a_list<'i>(place: &Input<'i>, tokens: usize) -> Option<&'i str> {
    any_phrase(phrases!["add", "append", "remove", "drop"]).parse_next(&mut place.clone()).ok()?;
    let (mut clause, _) = split_at(place, tokens);
    while !clause.is_empty() {
        let preposition = any_phrase(phrases!["to", "from"]).parse_next(&mut clause).is_ok();
        if let Some((modifier, _)) = vocabulary::modifier(&clause)
            && preposition
        {
            return Some(modifier.name());
        }
        if !preposition {
            clause.next_slice(1);
        }
    }
    None
}

/// Verbs that leave it to the agent.
fn is_weak_verb(word: &str) -> bool {
    ["consider", "prefer", "adapt", "keep", "try", "match", "compare"]
        .iter()
        .any(|weak| weak.eq_ignore_ascii_case(word))
}

/// Takes words until something that is executed begins.
fn advice_text(input: &mut Input<'_>) -> Parsed<(String, Option<u32>)> {
    let start = next(input).map_or(input.state.source.len(), |token| token.start);
    let mut end = start;
    while let Some(token) = next(input) {
        if token.kind == Kind::Arrow {
            let message = "a second arrow; a comparison is written `>=`, not `=>`";
            return cut(RuleError::new(token.start..token.end, message));
        }
        let mut ahead = *input;
        if let Some(steps) = opt(lifetime).parse_next(&mut ahead)?
            && end > start
            && at_clause_end(&ahead)
        {
            *input = ahead;
            return Ok((source_text(input, start, end), Some(steps)));
        }
        if ends_prose(input) {
            break;
        }
        end = token.end;
        input.next_slice(1);
    }
    Ok((source_text(input, start, end), None))
}

fn source_text(input: &Input<'_>, start: usize, end: usize) -> String {
    let mut from = start;
    let source = input.state.source;
    // Emphasis and backticks are not tokens, but they belong to the prose that they enclose.
    while source[..from].ends_with(['*', '`']) {
        from -= 1;
    }
    let closing = source[end..].len() - source[end..].trim_start_matches(['*', '`']).len();
    let text = source.get(from..end + closing).unwrap_or_default();
    one_line(text)
}

fn ends_prose(input: &Input<'_>) -> bool {
    if !at_clause_end(input) {
        return false;
    }
    if matches!(next(input), Some(Token { kind: Kind::Mark(';'), .. })) {
        return true;
    }
    let mut ahead = *input;
    separators(&mut ahead);
    let stops = ["else", "otherwise"];
    if peek_word(&ahead).is_some_and(|word| stops.iter().any(|s| s.eq_ignore_ascii_case(word))) {
        return true;
    }
    // Only success or failure matters here: reading on would look for the end of the next prose,
    // and so on.
    ahead.state.glance = true;
    let limited = limited(&mut ahead.clone()).is_ok();
    limited || !matches!(executed(&mut ahead), Err(ErrMode::Backtrack(_)))
}

fn require_clause_end(input: &Input<'_>, action: Action) -> Parsed<Action> {
    if at_clause_end(input) {
        return Ok(action);
    }
    let span = crate::rules::parse::phrase::span_to_end(input);
    let given = input.state.source.get(span.clone()).unwrap_or_default();
    cut(RuleError::new(span, format!("`{given}` is not understood after `{action}`")))
}

fn with_lifetime(place: &Input<'_>, action: Action, steps: u32) -> Parsed<Action> {
    match action {
        Action::Directive { text, steps: None } => {
            Ok(Action::Directive { text, steps: Some(steps) })
        }
        Action::Advice { text, steps: None } => Ok(Action::Advice { text, steps: Some(steps) }),
        Action::Directive { .. } | Action::Advice { .. } => {
            cut(RuleError::new(span_of(place, 1), "this has two lifetimes"))
        }
        _ => cut(RuleError::new(span_of(place, 5), NO_LIFETIME)),
    }
}

fn at_clause_end(input: &Input<'_>) -> bool {
    match next(input).map(|token| token.kind) {
        None => true,
        Some(Kind::Mark(c)) => matches!(c, ',' | ';' | '.' | '&' | '!'),
        Some(Kind::Word(word)) => ["and", "then"].iter().any(|end| end.eq_ignore_ascii_case(word)),
        Some(_) => false,
    }
}

fn separators(input: &mut Input<'_>) {
    let separator = |input: &mut Input<'_>| {
        alt((mark(','), mark(';'), mark('.'), mark('&'), mark('!'), phrase("and"), phrase("then")))
            .parse_next(input)
    };
    while separator(input).is_ok() {}
}
