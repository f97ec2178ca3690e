//! Decimal numbers as people write them: `12`, `1,000`, `0.5`.

/// Larger numbers are refused: beyond them a float no longer counts in ones.
pub(crate) const LARGEST: f64 = 9e15;

/// The length of the decimal number `text` begins with: digits, `1,000`, one point.
pub(crate) fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(0);
    if (1..=3).contains(&end) {
        while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
            end += 4;
        }
    }
    if end > 0 && bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    end
}

/// The number that `text` spells in full.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    if text.is_empty() || number_length(text) != text.len() {
        return None;
    }
    let number: f64 = match text.contains(',') {
        true => text.replace(',', "").parse().ok()?,
        false => text.parse().ok()?,
    };
    (number.abs() < LARGEST).then_some(number)
}

/// The millionths that the digits after a point stand for, rounded half away from zero.
pub(super) fn millionths(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digit = |at: usize| text.as_bytes().get(at).map_or(0, |byte| i64::from(byte - b'0'));
    let micros = (0..6).fold(0, |all, at| all * 10 + digit(at));
    Some(micros + i64::from(digit(6) >= 5))
}
