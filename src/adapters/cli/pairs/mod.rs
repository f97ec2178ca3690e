//! `KEY=VALUE` and values as they come from the command line.

mod number_text;
mod unique_keys;

use std::{
    io::Read as _,
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::{Map, Value};

use super::Failure;
use crate::domain::ErrorCode;

/// The most that is read from standard input or a file.
const MOST: u64 = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// JSON where it parses as JSON and keeps every digit, text otherwise.
pub(super) fn value(text: &str) -> Result<Value, Failure> {
    let read = serde_json::from_str(text).ok();
    if read.is_some() {
        refuse_doubled("the value", text)?;
    }
    let whole = read.filter(|_| number_text::rounded(text).is_none());
    Ok(whole.unwrap_or_else(|| Value::from(text)))
}

/// As [`value`], but JSON that is nested too deeply is refused and does not become text.
pub(super) fn checked_value(text: &str) -> Result<Value, Failure> {
    match serde_json::from_str(text) {
        Ok(value) => {
            refuse_doubled("the value", text)?;
            refuse_rounded(text)?;
            Ok(value)
        }
        Err(error) if error.to_string().starts_with("recursion limit") => {
            Err(Failure::new(ErrorCode::TooDeep, "the value is nested deeper than 127 levels"))
        }
        Err(_) => Ok(Value::from(text)),
    }
}

/// Refuses JSON with a number that would not be kept as it was given.
pub(super) fn refuse_rounded(json: &str) -> Result<(), Failure> {
    let Some(number) = number_text::rounded(json) else { return Ok(()) };
    let message = format!("the number `{number}` has more digits than can be kept exactly");
    let hint = "give it as text: in quotes, or with `var set --string`";
    Err(Failure::new(ErrorCode::BadValue, message).hint(hint))
}

/// Refuses JSON with an object that has a key twice, one of which would be dropped.
pub(super) fn refuse_doubled(name: &str, json: &str) -> Result<(), Failure> {
    let Some(error) = unique_keys::doubled(json) else { return Ok(()) };
    let mut failure = Failure::new(ErrorCode::DuplicateKey, format!("{name} has a {error}"));
    failure.location = Some(location(name, &error));
    Err(failure.hint("keep one of them"))
}

fn location(name: &str, error: &serde_json::Error) -> Box<Value> {
    Box::new(serde_json::json!({ "file": name, "line": error.line(), "column": error.column() }))
}

/// Splits `KEY=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ => Err(format!("`{text}` is not of the form KEY=VALUE")),
    }
}

/// Pairs whose values are kept as text.
pub(super) fn texts(pairs: &[(String, String)]) -> Result<Map<String, Value>, Failure> {
    members(pairs, |text| Ok(Value::from(text)))
}

/// Pairs whose values are JSON where they parse as such.
pub(super) fn values(pairs: &[(String, String)]) -> Result<Map<String, Value>, Failure> {
    members(pairs, value)
}

/// Refuses a key that is given twice, as in JSON: one of the values would be dropped.
fn members(
    pairs: &[(String, String)],
    value: impl Fn(&str) -> Result<Value, Failure>,
) -> Result<Map<String, Value>, Failure> {
    let mut members = Map::new();
    for (key, text) in pairs {
        if members.insert(key.clone(), value(text)?).is_some() {
            let message = format!("`{key}` is given twice");
            return Err(Failure::new(ErrorCode::DuplicateKey, message).hint("keep one of them"));
        }
    }
    Ok(members)
}

/// A text argument; `-` is standard input, without the line end behind its last line.
pub(super) fn text(argument: String) -> Result<String, Failure> {
    static READ: AtomicBool = AtomicBool::new(false);
    if argument != "-" {
        return Ok(argument);
    }
    if READ.swap(true, Ordering::Relaxed) {
        return Err(Failure::usage("`-` stands for standard input, which can be read only once"));
    }
    let mut text = read("-")?;
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    if text.is_empty() {
        let message = "`-` stands for standard input, which is empty";
        return Err(Failure::new(ErrorCode::BadValue, message));
    }
    Ok(text)
}

/// The same for one that may be absent.
pub(super) fn optional_text(argument: Option<String>) -> Result<Option<String>, Failure> {
    argument.map(text).transpose()
}

/// A file, or standard input for `-`, without the byte order mark that some programs begin with.
pub(super) fn read(path: &str) -> Result<String, Failure> {
    let fail = |error: std::io::Error| Failure::new(ErrorCode::UnreadableInput, error.to_string());
    let mut bytes = Vec::new();
    if path == "-" {
        std::io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes).map_err(fail)?;
    } else {
        let file = fs_err::File::open(path).map_err(fail)?;
        file.take(MOST + 1).read_to_end(&mut bytes).map_err(fail)?;
    }
    let name = name(path);
    if bytes.len() as u64 > MOST {
        return Err(Failure::new(
            ErrorCode::TooLarge,
            format!("{name} has more than {MOST} bytes"),
        ));
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(ErrorCode::NotUtf8, format!("{name} is not valid UTF-8 at byte {at}"))
    })
}

/// How a file is called in messages.
pub(super) fn name(path: &str) -> &str {
    if path == "-" { "standard input" } else { path }
}

/// A JSON document from a file or standard input.
pub(super) fn json(path: &str) -> Result<Value, Failure> {
    parse_json(path, &read(path)?)
}

/// A JSON document that was read from there.
pub(super) fn parse_json(path: &str, text: &str) -> Result<Value, Failure> {
    let name = name(path);
    refuse_rounded(text)?;
    refuse_doubled(name, text)?;
    serde_json::from_str(text).map_err(|error| {
        let mut failure = Failure::new(ErrorCode::BadJson, format!("{name} is not JSON: {error}"));
        failure.location = Some(location(name, &error));
        failure
    })
}
