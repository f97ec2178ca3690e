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

/// The number that a word spells: `two`, `Ten`.
pub(crate) fn number_word(word: &str) -> Option<f64> {
    const WORDS: [&str; 21] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
        "nineteen", "twenty",
    ];
    const TENS: [(&str, f64); 9] = [
        ("thirty", 30.0),
        ("forty", 40.0),
        ("fifty", 50.0),
        ("sixty", 60.0),
        ("seventy", 70.0),
        ("eighty", 80.0),
        ("ninety", 90.0),
        ("hundred", 100.0),
        ("thousand", 1000.0),
    ];
    let small = WORDS.iter().position(|name| name.eq_ignore_ascii_case(word));
    small
        .map(|n| n as f64)
        .or_else(|| TENS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, n)| *n))
}
