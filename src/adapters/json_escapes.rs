//! JSON as some clients send it: with escapes of half a character, where text was cut.

/// The same JSON with U+FFFD for every lone half of a surrogate pair; none if there is no such.
pub(super) fn without_lone_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while at < json.len() {
        if json[at] != b'\\' {
            at += 1;
            continue;
        }
        match unit(&json[at..]) {
            Some(0xD800..=0xDBFF) if matches!(unit(&json[at + UNIT..]), Some(0xDC00..=0xDFFF)) => {
                at += 2 * UNIT;
            }
            Some(0xD800..=0xDFFF) => {
                // The escape has as many bytes as the one that takes its place.
                let text = mended.get_or_insert_with(|| json.to_vec());
                text[at..at + UNIT].copy_from_slice(b"\\ufffd");
                at += UNIT;
            }
            // The backslash and what it escapes, which may be another one.
            _ => at += 2,
        }
    }
    mended
}

/// The bytes of an escaped code unit.
const UNIT: usize = 6;

/// The code unit whose escape the text begins with.
fn unit(text: &[u8]) -> Option<u32> {
    let digits = text.get(..UNIT)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn mended(json: &str) -> Option<String> {
        without_lone_surrogates(json.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn only_lone_halves_are_replaced() {
        for (json, text) in [
            (r#""a \ud83d b""#, "a \u{fffd} b"),
            (r#""\uDE00\uD83D""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
        ] {
            assert!(serde_json::from_str::<Value>(json).is_err(), "{json}");
            let value: Value = serde_json::from_str(&mended(json).unwrap()).unwrap();
            assert_eq!(value, text, "{json}");
        }
        for whole in [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""é\n""#, r#""\ud8"#, "\\", r"\u+d83"]
        {
            assert_eq!(mended(whole), None, "{whole}");
        }
    }

    proptest! {
        #[test]
        fn any_code_units_become_json(units in prop::collection::vec(0xD700u32..0xE100, 0..12)) {
            let json: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let json = format!("\"{json}\"");
            let text = mended(&json).unwrap_or(json);
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
        }
    }
}
