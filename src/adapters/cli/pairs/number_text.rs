//! Detects numbers that would lose digits when read into a value.

/// The first number in JSON text that does not survive being read as a number.
///
/// Whoever gives twenty digits means all of them: such a number is refused, never rounded.
pub(super) fn rounded(json: &str) -> Option<&str> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b'-' | b'0'..=b'9' => {
                let rest = &bytes[at..];
                let is_part = |b: &&u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let end = at + rest.iter().take_while(is_part).count();
                let number = &json[at..end];
                let read = serde_json::from_str::<serde_json::Number>(number).ok();
                if read.is_some_and(|read| digits(&read.to_string()) != digits(number)) {
                    return Some(number);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    None
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// The significant digits and the power of ten behind them.
fn digits(number: &str) -> (String, i64) {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{}{fraction}", whole.trim_start_matches('-'));
    let all = all.trim_start_matches('0');
    let kept = all.trim_end_matches('0');
    if kept.is_empty() {
        return (String::new(), 0);
    }
    let exponent: i64 = exponent.trim_start_matches('+').parse().unwrap_or(i64::MAX / 2);
    (kept.to_owned(), exponent - fraction.len() as i64 + (all.len() - kept.len()) as i64)
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn a_number_is_kept_or_named() {
        for kept in ["0", "-0.0", "1.10", "1e2", "100", "18446744073709551615", "-3.5e-7", "0.1"] {
            assert_eq!(rounded(kept), None, "{kept}");
        }
        for lost in ["12345678901234567890123", "0.1000000000000000055511151231257827"] {
            assert_eq!(rounded(lost), Some(lost));
        }
        assert_eq!(
            rounded(r#"{"12345678901234567890123": ["\"9", 1, 9007199254740993.5]}"#),
            Some("9007199254740993.5")
        );
        assert_eq!(rounded(r#"plain text 7"#), None);
    }
}
