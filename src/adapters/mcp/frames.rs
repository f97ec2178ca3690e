//! Messages as they come in: one a line, of a limited length, whatever they hold.

use std::io::{BufRead, ErrorKind, Result};

use rmcp::model::{
    CallToolResult, ClientJsonRpcMessage, ErrorData, JsonRpcMessage, NumberOrString, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use serde_json::Value;

use crate::{
    adapters::cli::in_process::refused_digits,
    text::json::{JsonDocument, Path},
};

/// The longest line that is read; a longer one is skipped to its end.
pub(super) const MOST_BYTES: usize = 8 << 20;
/// The most messages in one batch, which the protocol of March 2025 allows.
const MOST_IN_BATCH: usize = 100;

/// A line of input.
#[derive(Debug, PartialEq)]
pub(super) enum InputLine {
    /// As it was sent, without its end.
    Whole(Vec<u8>),
    /// It was longer than allowed; this is its beginning.
    TooLong(Vec<u8>),
}

/// What a line says.
#[derive(Debug)]
pub(super) enum Frame {
    /// A message for the server.
    Message(Box<ClientJsonRpcMessage>),
    /// No message; this is the answer.
    Refused(Box<ServerJsonRpcMessage>),
}

/// Reads a line of at most `most` bytes; `None` at the end of the input.
pub(super) fn read_line(input: &mut impl BufRead, most: usize) -> Result<Option<InputLine>> {
    let mut line = Vec::new();
    let (mut any, mut too_long) = (false, false);
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() && !any {
            return Ok(None);
        }
        any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        let room = most - line.len();
        too_long |= part.len() > room;
        line.extend_from_slice(&part[..part.len().min(room)]);
        let (used, last) = (part.len() + usize::from(end.is_some()), available.is_empty());
        input.consume(used);
        if end.is_some() || last {
            return Ok(Some(if too_long {
                InputLine::TooLong(line)
            } else {
                InputLine::Whole(line)
            }));
        }
    }
}

/// The messages of a line: none in a blank one, several in a batch.
pub(super) fn read(line: &InputLine) -> Vec<Frame> {
    let bytes = match line {
        InputLine::Whole(bytes) => bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes),
        InputLine::TooLong(begin) => {
            let message = format!("the message has more than {MOST_BYTES} bytes");
            // An id at the very end may go on in what was not read.
            let id = id_in(begin).filter(|(_, end)| *end < begin.len()).map(|(id, _)| id);
            return vec![refused(ErrorData::invalid_request(message, None), id)];
        }
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Vec::new();
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Array(batch)) if batch.is_empty() || batch.len() > MOST_IN_BATCH => {
            let message = format!("a batch has 1 to {MOST_IN_BATCH} messages");
            vec![refused(ErrorData::invalid_request(message, None), None)]
        }
        Ok(Value::Array(batch)) => {
            let lost = lost_digits(bytes);
            let each = batch.into_iter().enumerate();
            each.filter_map(|(at, value)| {
                let place = Path::root().join(at.to_string());
                refused_call(lost.as_ref(), &place, &value).or_else(|| message(value))
            })
            .collect()
        }
        Ok(value) => {
            let call = refused_call(lost_digits(bytes).as_ref(), &Path::root(), &value);
            call.or_else(|| message(value)).into_iter().collect()
        }
        Err(error) => {
            let message = format!("the message is not JSON: {error}");
            vec![refused(ErrorData::parse_error(message, None), id_in(bytes).map(|(id, _)| id))]
        }
    }
}

/// A message, or why it is none. Nothing is said about a notification that is not understood.
fn message(value: Value) -> Option<Frame> {
    let id = value.get("id").and_then(id_of);
    let notifies = value.get("method").is_some() && value.get("id").is_none();
    match serde_json::from_value(value) {
        Ok(message) => Some(Frame::Message(Box::new(message))),
        Err(_) if notifies => None,
        Err(error) => {
            let message = format!("this is not a message of the protocol: {error}");
            Some(refused(ErrorData::invalid_request(message, None), id))
        }
    }
}

/// The line with its text, if it has a number that does not survive being read.
fn lost_digits(bytes: &[u8]) -> Option<JsonDocument> {
    let text = std::str::from_utf8(bytes).ok()?;
    refused_digits(text)?;
    JsonDocument::parse(text).ok()
}

/// The refusal of a call whose arguments would lose digits: never is a number rounded in silence.
fn refused_call(lost: Option<&JsonDocument>, place: &Path, value: &Value) -> Option<Frame> {
    let id = value.get("id").and_then(id_of).filter(|_| value["method"] == "tools/call")?;
    let refusal = refused_digits(lost?.raw(&place.join("params").join("arguments"))?)?;
    let mut result = CallToolResult::structured_error(refusal.document);
    // Clients of before 2026 do not know it, and the others take its absence for completion.
    result.result_type = None;
    let answer = JsonRpcMessage::response(ServerResult::CallToolResult(result), id);
    Some(Frame::Refused(Box::new(answer)))
}

fn id_of(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(text) => Some(NumberOrString::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(NumberOrString::Number),
        _ => None,
    }
}

/// The id of a request that is not JSON elsewhere, so that its client need not wait for ever, and
/// where it ends.
fn id_in(bytes: &[u8]) -> Option<(RequestId, usize)> {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = at + string_length(&bytes[at..])?;
                let value = bytes[end..].trim_ascii_start().strip_prefix(b":");
                let key = (depth == 1 && bytes[at..end] == *b"\"id\"").then_some(value).flatten();
                if let Some(value) = key {
                    let mut values = serde_json::Deserializer::from_slice(value).into_iter();
                    let id = id_of(&values.next()?.ok()?)?;
                    return Some((id, bytes.len() - value.len() + values.byte_offset()));
                }
                at = end;
                continue;
            }
            _ => {}
        }
        // Only an object has an id.
        if depth == 1 && *byte == b'[' {
            return None;
        }
        at += 1;
    }
    None
}

/// The length of the string that the bytes begin with, quotes and all.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn refused(error: ErrorData, id: Option<RequestId>) -> Frame {
    Frame::Refused(Box::new(JsonRpcMessage::error(error, id)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(mut input: &[u8], most: usize) -> Vec<InputLine> {
        std::iter::from_fn(|| read_line(&mut input, most).unwrap()).collect()
    }

    fn whole_line(text: &str) -> InputLine {
        InputLine::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_read() {
        let read = lines(b"abc\nabcdefgh\n\nlast", 5);
        let too_long = InputLine::TooLong(b"abcde".to_vec());
        assert_eq!(read, [whole_line("abc"), too_long, whole_line(""), whole_line("last")]);
    }

    #[test]
    fn a_message_that_is_too_long_is_answered_with_its_id_where_that_was_read() {
        let id = |begin: &str| match read(&InputLine::TooLong(begin.as_bytes().to_vec())).pop() {
            Some(Frame::Refused(answer)) => serde_json::to_value(*answer).unwrap()["id"].clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"xx"#), 7);
        assert_eq!(id(r#"{"id":"a","params":{"id":1,"#), "a");
        for none in [r#"{"params":{"id":1,"x":"y"#, r#"{"id":12"#, r#"[{"id":1,"a"#, "", "{"] {
            assert_eq!(id(none), Value::Null, "{none}");
        }
    }

    #[test]
    fn what_is_no_message_is_answered_with_its_id_where_there_is_one() {
        let code = |line: &str| match read(&whole_line(line)).pop() {
            Some(Frame::Refused(answer)) => {
                let answer = serde_json::to_value(*answer).unwrap();
                Some((answer["error"]["code"].as_i64().unwrap(), answer["id"].clone()))
            }
            Some(Frame::Message(_)) => panic!("{line}"),
            None => None,
        };
        assert_eq!(code("{nope"), Some((-32700, Value::Null)));
        let cut = r#"{"params":{"id":1,"text":"\"id\":2 \ud83d"},"id":"a","method":"ping"}"#;
        assert_eq!(code(cut), Some((-32700, Value::from("a"))));
        let huge = format!(r#"{{"jsonrpc":"2.0","id" : 7,"params":{{"n":1{}}}}}"#, "0".repeat(400));
        assert_eq!(code(&huge), Some((-32700, Value::from(7))));
        for none in
            [r#"[{"id":1,"a":"\ud83d"}]"#, r#"{"a":{"id":1},"#, r#"{"a":"id","x"#, "}{\"id\":1,"]
        {
            assert_eq!(code(none), Some((-32700, Value::Null)), "{none}");
        }
        assert_eq!(code("[]"), Some((-32600, Value::Null)));
        assert_eq!(code("7"), Some((-32600, Value::Null)));
        assert_eq!(code(r#"{"id":7,"method":"ping"}"#), Some((-32600, Value::from(7))));
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#),
            Some((-32600, Value::Null))
        );
        assert_eq!(code(r#"{"method":"notifications/x"}"#), None);
        assert_eq!(code("  \r"), None);
    }

    #[test]
    fn a_batch_is_taken_apart() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let frames = read(&whole_line(&format!("[{ping},{ping},3]")));
        assert!(matches!(frames[..], [Frame::Message(_), Frame::Message(_), Frame::Refused(_)]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_the_end_and_never_kept_beyond_the_limit(
            bytes in prop::collection::vec(any::<u8>(), 0..400), most in 0usize..40,
        ) {
            let read_lines = lines(&bytes, most);
            let expected = bytes.split(|byte| *byte == b'\n').count()
                - usize::from(bytes.last().is_none_or(|byte| *byte == b'\n'));
            prop_assert_eq!(read_lines.len(), expected);
            for line in &read_lines {
                let (InputLine::Whole(kept) | InputLine::TooLong(kept)) = line;
                prop_assert!(kept.len() <= most);
                read(line);
            }
        }
    }
}
