//! Text with what looks like a secret taken out, before it is written anywhere.

use std::{borrow::Cow, ops::Range};

use serde_json::Value;

use super::{PRIVATE_KEY, end_of_key, matcher::secrets_in};

const MASK: &str = "[masked]";

/// The text with everything that looks like a secret replaced by `[masked]`.
pub(crate) fn mask(text: &str) -> Cow<'_, str> {
    mask_from(text, 0)
}

/// A JSON value with its secrets masked; a name such as `password` makes its text one.
pub(crate) fn mask_json(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = mask(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask_json),
        Value::Object(members) => {
            members.iter_mut().for_each(|(key, value)| mask_member(key, value));
        }
        _ => {}
    }
}

fn mask_member(key: &str, value: &mut Value) {
    match value {
        Value::String(text) => *text = mask_field(key, text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_member(key, item)),
        other => mask_json(other),
    }
}

/// The text of a field with its secrets masked, seen together with its name.
pub(crate) fn mask_field(name: &str, text: &str) -> String {
    let head = format!("{name}: ");
    mask_from(&format!("{head}{text}"), head.len()).into_owned()
}

/// The text after `from`, masked; the whole text decides what is a secret.
fn mask_from(text: &str, from: usize) -> Cow<'_, str> {
    let secrets = secret_ranges(text);
    if secrets.is_empty() {
        return Cow::Borrowed(&text[from..]);
    }
    let mut out = String::with_capacity(text.len());
    let mut done = from;
    for secret in secrets.into_iter().filter(|secret| secret.end > from) {
        out.push_str(&text[done..secret.start.max(done)]);
        out.push_str(MASK);
        done = secret.end;
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Where the secrets are, in order, without overlaps.
fn secret_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let line = text[start..].split_inclusive('\n').next().unwrap_or_default();
        let mut next = start + line.len();
        for secret in secrets_in(line) {
            let begin = start + secret.range.start;
            let mut end = start + secret.range.end;
            if secret.what == PRIVATE_KEY {
                end = begin + end_of_key(&text[begin..]);
                // What follows the key on its last line is read too.
                next = end;
            }
            ranges.push(begin..end);
        }
        start = next;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_secret_of_a_text_is_masked_and_the_rest_stays() {
        let aws = ["AKIA", "IOSFODNN7EXAMPLE1"].concat();
        let pem = |word: &str| format!("-----{word} RSA PRIVATE KEY-----");
        let text = format!("a {aws} b {aws}\nok\n{}\nMIIE\n{}\nend", pem("BEGIN"), pem("END"));
        assert_eq!(mask(&text), "a [masked] b [masked]\nok\n[masked]\nend");
        assert_eq!(mask_field("api_key", "a8f5f167f44f4964"), "[masked]");
        assert_eq!(mask_field("note", "nothing here"), "nothing here");
        let mut value =
            serde_json::json!({ "password": "hunter2secret99", "n": [format!("x {aws}")] });
        mask_json(&mut value);
        assert_eq!(value, serde_json::json!({ "password": "[masked]", "n": ["x [masked]"] }));
    }

    #[test]
    fn a_secret_before_another_is_masked_whatever_their_kinds() {
        let github = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let text = format!("use password=hunter2hunter2 and token {github}");
        assert_eq!(mask(&text), "use password=[masked] and token [masked]");
        // The end of one names the next.
        let text = format!("{github}_password: hunter2hunter2 end");
        assert_eq!(mask(&text), "[masked]: [masked] end");
        assert_eq!(mask_field(&format!("{github}_password"), "hunter2hunter2"), "[masked]");
        assert_eq!(mask("password=hunter2hunter2!x9 end"), "password=[masked] end");
        let mut value = serde_json::json!({ "password": ["hunter2secret99"] });
        mask_json(&mut value);
        assert_eq!(value, serde_json::json!({ "password": ["[masked]"] }));
    }

    #[test]
    fn a_key_without_its_last_line_does_not_end_at_the_next_one() {
        let pem = |word: &str| format!("-----{word} RSA PRIVATE KEY-----");
        let text = format!("a\n{0}\nMIIE\n{0}\nMIIF\n{1}\nb", pem("BEGIN"), pem("END"));
        assert_eq!(mask(&text), "a\n[masked]\nb");
    }

    /// A text with a secret, and the secret.
    fn secret() -> impl Strategy<Value = (String, String)> {
        let body = "[a-zA-Z]{4}[0-9]{2}[a-zA-Z0-9]{60}";
        let prefix = prop::sample::select(vec![
            "AKIA", "ghp_", "github_pat_", "glpat-", "sk-", "sk_live_", "xoxb-", "AIza", "npm_",
            "eyJhbGciOi",
        ]);
        let named = prop::sample::select(vec![
            "password=", "\"api_key\": \"", "Secret: ", "auth_token = '", "**passwd**: ",
        ]);
        prop_oneof![
            (prefix, body).prop_map(|(prefix, body)| {
                let secret = format!("{prefix}{body}");
                (secret.clone(), secret)
            }),
            (named, body).prop_map(|(name, body)| (format!("{name}{body}"), body)),
            body.prop_map(|body| {
                let mark = |word: &str| format!("-----{word} EC PRIVATE KEY-----");
                (format!("{}\n{body}\n{}", mark("BEGIN"), mark("END")), body)
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn no_piece_of_a_secret_stays(
            secrets in prop::collection::vec((secret(), "[ \n,;|\"'é]{1,3}"), 1..6),
        ) {
            let text: String =
                secrets.iter().map(|((text, _), gap)| format!("word{gap}{text}{gap}")).collect();
            let masked = mask(&text);
            for ((_, secret), _) in &secrets {
                for piece in secret.as_bytes().windows(12) {
                    let piece = std::str::from_utf8(piece).unwrap();
                    prop_assert!(!masked.contains(piece), "{piece} of {text} in {masked}");
                }
            }
            prop_assert_eq!(mask(&masked), masked.as_ref());
        }
    }
}
