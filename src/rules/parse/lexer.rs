//! From text to tokens: words, quoted texts, quantities, operators, with their places.

use std::borrow::Cow;

use winnow::{
    LocatingSlice, Parser,
    combinator::{alt, cut_err, dispatch, fail, opt, peek},
    error::{EmptyError, ErrMode},
    stream::{Location, Stream},
    token::{any, one_of, take, take_while},
};

use crate::{
    domain::quantity::{decimal, micros, number_length},
    rules::{Op, RuleError},
};

/// A token and the bytes it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rules) struct Token<'s> {
    pub kind: Kind<'s>,
    pub start: usize,
    pub end: usize,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rules) enum Kind<'s> {
    /// Letters, digits, `_`, with `-`, `.` and `'` inside: `steps`, `lower-cost`, `variables.a.b`.
    Word(&'s str),
    /// A text in quotes.
    Quoted(Quoted<'s>),
    /// A number without a unit; its unit may be the next word.
    Number(f64),
    /// A percentage.
    Percent(f64),
    /// Money in millionths of a dollar.
    Money(i64),
    /// A comparison.
    Op(Op),
    /// `→`, `->`, `=>`.
    Arrow,
    /// Any other character.
    Mark(char),
}

/// What is between two quotes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rules) struct Quoted<'s> {
    raw: &'s str,
    escaped: bool,
}

impl<'s> Quoted<'s> {
    /// The text that is meant.
    pub(in crate::rules) fn text(self) -> Cow<'s, str> {
        if self.escaped { Cow::Owned(unescaped(self.raw)) } else { Cow::Borrowed(self.raw) }
    }
}

type Source<'s> = LocatingSlice<&'s str>;
type Lexed<T> = Result<T, ErrMode<EmptyError>>;

/// The tokens of `source`. Emphasis and backticks are not tokens: they change no meaning.
pub(in crate::rules) fn lex(source: &str) -> Result<Vec<Token<'_>>, RuleError> {
    let mut tokens = Vec::with_capacity(source.len() / 5 + 1);
    let mut input = LocatingSlice::new(source);
    loop {
        skip_blank(&mut input);
        let start = input.current_token_start();
        if input.is_empty() {
            return Ok(tokens);
        }
        if let Some(width) = apostrophe(input.as_ref())
            && source[..start].ends_with(char::is_alphanumeric)
        {
            input.next_slice(width);
            continue;
        }
        // The unit of a number ends where the next number begins: `3m20s`.
        let unit = match tokens.last() {
            Some(Token { kind: Kind::Number(_), end, .. }) if *end == start => {
                opt(take_while::<_, _, EmptyError>(1.., char::is_alphabetic))
                    .parse_next(&mut input)
                    .unwrap_or_default()
            }
            _ => None,
        };
        let kind = match unit {
            Some(unit) => Kind::Word(unit),
            None => token
                .parse_next(&mut input)
                .map_err(|_| RuleError::new(start..source.len(), "this quote is not closed"))?,
        };
        tokens.push(Token { kind, start, end: input.current_token_start() });
    }
}

fn skip_blank(input: &mut Source<'_>) {
    let blank = |c: char| c.is_whitespace() || matches!(c, '*' | '`' | '\u{feff}');
    let _ = take_while::<_, _, EmptyError>(0.., blank).parse_next(input);
}

fn token<'s>(input: &mut Source<'s>) -> Lexed<Kind<'s>> {
    dispatch! { peek(any);
        'a'..='z' | 'A'..='Z' | '_' => word.map(Kind::Word),
        '0'..='9' | '$' => alt((quantity, any.map(Kind::Mark))),
        '"' | '“' | '„' | '«' => cut_err(quoted),
        c if !c.is_ascii() && c.is_alphabetic() => word.map(Kind::Word),
        _ => alt((
            quoted,
            arrow.value(Kind::Arrow),
            operator.map(Kind::Op),
            quantity,
            any.map(Kind::Mark),
        )),
    }
    .parse_next(input)
}

/// The width of an apostrophe that `text` begins with.
fn apostrophe(text: &str) -> Option<usize> {
    text.chars().next().filter(|c| matches!(c, '\'' | '’')).map(char::len_utf8)
}

fn arrow(input: &mut Source<'_>) -> Lexed<()> {
    let text: &str = input.as_ref();
    let width = match text.as_bytes() {
        [b'-', b'-', b'>', ..] | [b'=', b'=', b'>', ..] => 3,
        [b'-' | b'=', b'>', ..] => 2,
        // What an editor makes of `->`.
        _ if text.starts_with("–>") || text.starts_with("—>") => "–>".len(),
        _ => match text.chars().next() {
            Some(c @ ('→' | '⇒' | '⟶' | '⟹' | '➔' | '➜' | '➝' | '➞' | '⮕')) => {
                c.len_utf8()
            }
            _ => return fail.parse_next(input),
        },
    };
    input.next_slice(width);
    Ok(())
}

fn operator(input: &mut Source<'_>) -> Lexed<Op> {
    let text: &str = input.as_ref();
    let (op, width) = match text.as_bytes() {
        [b'>', b'=', ..] => (Op::AtLeast, 2),
        [b'<', b'=', ..] => (Op::AtMost, 2),
        [b'!', b'=', ..] | [b'<', b'>', ..] => (Op::NotEqual, 2),
        [b'=' | b':', b'=', ..] => (Op::Equal, 2),
        [b'=', ..] => (Op::Equal, 1),
        [b'>', ..] => (Op::Above, 1),
        [b'<', ..] => (Op::Below, 1),
        _ => match text.chars().next() {
            Some(c @ '＞') => (Op::Above, c.len_utf8()),
            Some(c @ '＜') => (Op::Below, c.len_utf8()),
            Some(c @ '＝') => (Op::Equal, c.len_utf8()),
            Some(c @ ('≥' | '⩾' | '≧')) => (Op::AtLeast, c.len_utf8()),
            Some(c @ ('≤' | '⩽' | '≦')) => (Op::AtMost, c.len_utf8()),
            Some(c @ '≠') => (Op::NotEqual, c.len_utf8()),
            _ => return fail.parse_next(input),
        },
    };
    input.next_slice(width);
    Ok(op)
}

fn quantity<'s>(input: &mut Source<'s>) -> Lexed<Kind<'s>> {
    let negative = opt(one_of(['-', '−'])).parse_next(input)?.is_some();
    let sign = if negative { -1.0 } else { 1.0 };
    let spaces = || take_while(0.., ' ');
    if opt(('$', spaces())).parse_next(input)?.is_some() {
        return number.verify_map(|n| micros(sign * n).map(Kind::Money)).parse_next(input);
    }
    let n = sign * number(input)?;
    let percent = opt((spaces(), '%')).parse_next(input)?.is_some();
    Ok(if percent { Kind::Percent(n) } else { Kind::Number(n) })
}

fn number(input: &mut Source<'_>) -> Lexed<f64> {
    let length = number_length(input.as_ref());
    take(length).verify_map(decimal).parse_next(input)
}

fn word<'s>(input: &mut Source<'s>) -> Lexed<&'s str> {
    let text: &'s str = input.as_ref();
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut end = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let takes = match end {
            0 => is_letter(c) && !c.is_ascii_digit(),
            _ if is_letter(c) => true,
            _ => {
                matches!(c, '-' | '.' | '\'' | '’' | '/')
                    && chars.clone().next().is_some_and(is_letter)
            }
        };
        if !takes {
            break;
        }
        end += c.len_utf8();
    }
    if end == 0 {
        return fail.parse_next(input);
    }
    Ok(input.next_slice(end))
}

fn quoted<'s>(input: &mut Source<'s>) -> Lexed<Kind<'s>> {
    let text: &'s str = input.as_ref();
    let open = text.chars().next();
    let close = match open {
        Some('"') => '"',
        Some('“' | '„') => '”',
        Some('\'') => '\'',
        Some('‘') => '’',
        Some('«') => '»',
        _ => return fail.parse_next(input),
    };
    let from = open.map_or(0, char::len_utf8);
    let mut escaped = false;
    let mut inner = None;
    let mut chars = text[from..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && close == '"' && chars.peek().is_some_and(|(_, c)| escape(*c).is_some()) {
            escaped = true;
            chars.next();
            continue;
        }
        let apostrophe = matches!(close, '\'' | '’')
            && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if (c == close || (close == '”' && c == '“')) && !apostrophe {
            inner = Some((&text[from..from + at], from + at + c.len_utf8()));
            break;
        }
    }
    let Some((raw, end)) = inner else {
        return fail.parse_next(input);
    };
    input.next_slice(end);
    Ok(Kind::Quoted(Quoted { raw, escaped }))
}

fn escape(c: char) -> Option<char> {
    match c {
        '"' | '\\' => Some(c),
        'n' => Some('\n'),
        'r' => Some('\r'),
        _ => None,
    }
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek().copied().and_then(escape) {
            Some(meant) if c == '\\' => {
                plain.push(meant);
                chars.next();
            }
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<Kind<'_>> {
        lex(source).unwrap().into_iter().map(|token| token.kind).collect()
    }

    fn quoted_text(source: &str) -> String {
        match kinds(source).as_slice() {
            [Kind::Quoted(quoted)] => quoted.text().into_owned(),
            other => panic!("{source}: {other:?}"),
        }
    }

    #[test]
    fn words_keep_their_hyphens_dots_and_apostrophes() {
        let expected = ["don't", "lower-cost", "variables.a.0", "x_y"].map(Kind::Word);
        assert_eq!(kinds("don't lower-cost variables.a.0 x_y"), expected);
        assert_eq!(
            kinds("the users' end."),
            [Kind::Word("the"), Kind::Word("users"), Kind::Word("end"), Kind::Mark('.')]
        );
    }

    #[test]
    fn quotes_of_every_kind_are_quotes() {
        for source in ["\"a b\"", "'a b'", "“a b”", "‘a b’", "«a b»", "`\"a b\"`"] {
            assert_eq!(quoted_text(source), "a b", "{source}");
        }
        assert_eq!(quoted_text(r#""a \"b\" c:\x""#), r#"a "b" c:\x"#);
        assert_eq!(lex("set x to \"low").unwrap_err().span, 9..13);
    }

    #[test]
    fn numbers_stand_apart_from_their_units() {
        assert_eq!(kinds("200s"), [Kind::Number(200.0), Kind::Word("s")]);
        assert_eq!(
            kinds("3m20s"),
            [Kind::Number(3.0), Kind::Word("m"), Kind::Number(20.0), Kind::Word("s")]
        );
        assert_eq!(kinds("2+"), [Kind::Number(2.0), Kind::Mark('+')]);
        assert_eq!(kinds("-5 80 %"), [Kind::Number(-5.0), Kind::Percent(80.0)]);
        assert_eq!(kinds("$1,000.50"), [Kind::Money(1_000_500_000)]);
    }

    #[test]
    fn arrows_and_operators_need_no_spaces() {
        assert_eq!(
            kinds("a>=2->b=c"),
            [
                Kind::Word("a"),
                Kind::Op(Op::AtLeast),
                Kind::Number(2.0),
                Kind::Arrow,
                Kind::Word("b"),
                Kind::Op(Op::Equal),
                Kind::Word("c")
            ]
        );
    }
}
