//! Events that are not quite JSON, read for what a guard needs.
//!
//! A number out of range, a nesting too deep, half a character or a byte that is not text must not
//! keep an edit from being guarded: whatever the agent writes is in the event, so it could hide
//! its own edit. Nothing but strings and flags of the event and of `tool_input` is looked at.

use serde_json::{Map, Value};

/// What could be read.
pub(super) struct Loose {
    /// The strings and flags, those of `tool_input` in an object of their own.
    pub(super) members: Map<String, Value>,
    /// Whether it was read to the end, and nothing came behind it.
    pub(super) whole: bool,
}

/// Reads an event that begins like an object; recursion and refusals there are none.
pub(super) fn read(bytes: &[u8]) -> Option<Loose> {
    let start = bytes.iter().position(|byte| byte.is_ascii_graphic())?;
    let mut reader = Reader::default();
    let mut at = start;
    (bytes[start] == b'{').then_some(())?;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let Some((text, length)) = string(&bytes[at..]) else { break };
                at += length;
                let behind = bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace());
                if behind.is_some_and(|behind| bytes[at + behind] == b':') {
                    reader.key(text);
                } else {
                    reader.value(Value::from(text));
                }
                continue;
            }
            b'{' | b'[' => reader.open(*byte),
            b'}' | b']' => {
                reader.depth = reader.depth.saturating_sub(1);
                if reader.depth == 0 {
                    let whole = !bytes[at + 1..].iter().any(u8::is_ascii_graphic);
                    return Some(Loose { members: reader.members(), whole });
                }
            }
            b',' => reader.key(String::new()),
            b't' if bytes[at..].starts_with(b"true") => reader.value(Value::from(true)),
            _ => {}
        }
        at += 1;
    }
    Some(Loose { members: reader.members(), whole: false })
}

#[derive(Default)]
struct Reader {
    depth: usize,
    key: String,
    input_key: String,
    members: Map<String, Value>,
    /// What `tool_input` holds, once it began.
    input: Option<Map<String, Value>>,
    in_input: bool,
}

impl Reader {
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
                let (c, length) = escape(&bytes[at..])?;
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

/// The character of an escape, U+FFFD for half a one, and the length of the escape.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let plain = match bytes.get(1)? {
        b'u' => {
            let Some(first) = unit(bytes) else { return Some((char::REPLACEMENT_CHARACTER, 2)) };
            let second = unit(bytes.get(UNIT..).unwrap_or_default());
            return Some(match (first, second) {
                (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
                    let code = 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00);
                    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 2 * UNIT)
                }
                _ => (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), UNIT),
            });
        }
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        other if other.is_ascii() => char::from(*other),
        _ => return Some((char::REPLACEMENT_CHARACTER, 1)),
    };
    Some((plain, 2))
}

/// The bytes of an escaped code unit.
const UNIT: usize = 6;

/// The code unit whose escape the bytes begin with.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.get(..UNIT)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn members(text: &[u8]) -> Value {
        let read = read(text).unwrap();
        assert!(read.whole, "{}", String::from_utf8_lossy(text));
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
            assert!(!read(cut.as_bytes()).unwrap().whole, "{cut}");
        }
        for none in ["", "[1]", "\"a\"", "7 8"] {
            assert!(read(none.as_bytes()).is_none(), "{none}");
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
            read(&bytes);
            let object = [b"{\"", &bytes[..]].concat();
            read(&object);
        }
    }
}
