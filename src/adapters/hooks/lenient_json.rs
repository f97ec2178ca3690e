//! Reads events that are not quite JSON, as far as the guard needs them.
//!
//! A number out of range, deep nesting, half a surrogate pair or invalid UTF-8 must not hide an edit
//! from the guard: the agent decides what is in the event. Only strings and `true` in the event and in
//! `tool_input` are read.

use serde_json::{Map, Value};

use crate::text::json::escape;

/// What could be read.
pub(super) struct LenientObject {
    /// The strings and flags; those of `tool_input` are an object of their own.
    pub(super) members: Map<String, Value>,
    /// Whether the object was closed, and nothing came after it.
    pub(super) is_complete: bool,
}

/// Reads bytes that begin like an object. It does not recurse, and stops at nothing but the end.
pub(super) fn parse(bytes: &[u8]) -> Option<LenientObject> {
    let start = bytes.iter().position(|byte| byte.is_ascii_graphic())?;
    let mut parser = LenientParser::default();
    let mut at = start;
    (bytes[start] == b'{').then_some(())?;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let Some((text, length)) = string(&bytes[at..]) else { break };
                at += length;
                let next = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace());
                if next == Some(&b':') {
                    parser.key(text);
                } else {
                    parser.value(Value::from(text));
                }
                continue;
            }
            b'{' | b'[' => parser.open(*byte),
            b'}' | b']' => {
                parser.depth = parser.depth.saturating_sub(1);
                if parser.depth == 0 {
                    let is_complete = !bytes[at + 1..].iter().any(u8::is_ascii_graphic);
                    return Some(LenientObject { members: parser.members(), is_complete });
                }
            }
            b',' => parser.key(String::new()),
            b't' if bytes[at..].starts_with(b"true") => parser.value(Value::from(true)),
            _ => {}
        }
        at += 1;
    }
    Some(LenientObject { members: parser.members(), is_complete: false })
}

#[derive(Default)]
struct LenientParser {
    depth: usize,
    key: String,
    input_key: String,
    members: Map<String, Value>,
    /// What `tool_input` holds, once it began.
    input: Option<Map<String, Value>>,
    in_input: bool,
}

impl LenientParser {
    fn open(&mut self, bracket: u8) {
        self.depth += 1;
        if self.depth == 2 {
            self.in_input = bracket == b'{' && self.key == "tool_input";
            self.input_key.clear();
            if self.in_input {
                // The last one of several counts, as with any other member.
                self.input = Some(Map::new());
            }
        }
    }

    fn key(&mut self, key: String) {
        match self.depth {
            1 => self.key = key,
            2 => self.input_key = key,
            _ => {}
        }
    }

    fn value(&mut self, value: Value) {
        match (self.depth, &mut self.input) {
            (1, _) if !self.key.is_empty() => {
                self.members.insert(std::mem::take(&mut self.key), value);
            }
            (2, Some(input)) if self.in_input && !self.input_key.is_empty() => {
                input.insert(std::mem::take(&mut self.input_key), value);
            }
            _ => {}
        }
    }

    fn members(mut self) -> Map<String, Value> {
        if let Some(input) = self.input {
            self.members.insert("tool_input".to_owned(), Value::Object(input));
        }
        self.members
    }
}

/// The string that the bytes begin with, and its length with both quotes; none if it has no end.
fn string(bytes: &[u8]) -> Option<(String, usize)> {
    let mut text = Vec::new();
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some((String::from_utf8_lossy(&text).into_owned(), at + 1)),
            b'\\' => {
                let (c, length) = lenient_escape(bytes, at)?;
                text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                at += length;
            }
            byte => {
                text.push(*byte);
                at += 1;
            }
        }
    }
}

/// The character of an escape, U+FFFD if it is half a surrogate pair, and the length of the escape.
fn lenient_escape(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    if let Ok(escape) = escape(bytes, at) {
        return Some(escape);
    }
    Some(match bytes.get(at + 1)? {
        b'u' => {
            let digits = bytes[at + 2..].iter().take(4).filter(|byte| byte.is_ascii_hexdigit());
            (char::REPLACEMENT_CHARACTER, if digits.count() == 4 { 6 } else { 2 })
        }
        other if other.is_ascii() => (char::from(*other), 2),
        _ => (char::REPLACEMENT_CHARACTER, 1),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn members(text: &[u8]) -> Value {
        let read = parse(text).unwrap();
        assert!(read.is_complete, "{}", String::from_utf8_lossy(text));
        Value::Object(read.members)
    }

    #[test]
    fn what_json_readers_refuse_hides_nothing() {
        let deep = format!("{}{}", "[{\"a\":".repeat(1000), "}]".repeat(1000));
        for odd in ["1e400", "-", "\u{0}", "\"\\ud83d\"", "\"\\q\u{1}\"", "NaN", &deep, "\"\\u12\""]
        {
            let text = format!(
                "{{\"x\":{odd},\"tool_input\":{{\"y\":[{odd}],\"file_path\":\"a\\u002fb\"}},\
                 \"ok\":true,\"s\":\"\\ud83d\\ude00\\\\\\\"\"}}"
            );
            let read = members(text.as_bytes());
            assert_eq!(read["tool_input"]["file_path"], "a/b", "{text}");
            assert_eq!((&read["ok"], &read["s"]), (&json!(true), &json!("\u{1f600}\\\"")));
        }
        assert_eq!(members(b"{\"a\xff\":\"b\xff\"}")["a\u{fffd}"], "b\u{fffd}");
        let nested =
            br#"{"a":{"tool_input":{"x":"1"},"b":"2"},"tool_input":{"c":{"file_path":"3"}}}"#;
        assert_eq!(members(nested), json!({ "tool_input": {} }));
    }

    #[test]
    fn what_is_cut_or_no_object_is_known_as_such() {
        for cut in ["{", "{\"a\":\"b", "{\"a\":\"b\"", "{} {", "{\"a\":[}"] {
            assert!(!parse(cut.as_bytes()).unwrap().is_complete, "{cut}");
        }
        for none in ["", "[1]", "\"a\"", "7 8"] {
            assert!(parse(none.as_bytes()).is_none(), "{none}");
        }
    }

    fn scalars() -> impl Strategy<Value = Value> {
        prop_oneof![".*".prop_map(Value::from), Just(json!(true)), Just(json!([["a"], {"b": "c"}]))]
    }

    proptest! {
        #[test]
        fn json_is_read_as_json(
            top in prop::collection::hash_map("[a-z]{1,3}", scalars(), 0..5),
            input in prop::collection::hash_map("[a-z]{1,3}", scalars(), 0..5),
        ) {
            let mut event: Map<String, Value> = top.into_iter().collect();
            event.insert("tool_input".to_owned(), Value::Object(input.into_iter().collect()));
            let read = members(Value::Object(event.clone()).to_string().as_bytes());
            event.retain(|_, value| !value.is_array());
            event["tool_input"].as_object_mut().unwrap().retain(|_, value| !value.is_array());
            prop_assert_eq!(read, Value::Object(event));
        }

        #[test]
        fn any_bytes_are_read_to_the_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            parse(&bytes);
            let object = [b"{\"", &bytes[..]].concat();
            parse(&object);
        }
    }
}
