//! Adding what two sides added to a number, without rounding.

/// `ours + theirs - base`, written with as many decimals as the most precise of them.
///
/// `None` when one of them is no plain decimal number.
pub(crate) fn add_changes(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let parts = [base, ours, theirs].map(parse);
    let [Some(base), Some(ours), Some(theirs)] = parts else { return None };
    let places = base.1.max(ours.1).max(theirs.1);
    let scaled = |(digits, at): (i128, u32)| digits.checked_mul(10_i128.checked_pow(places - at)?);
    let sum = scaled(ours)?.checked_add(scaled(theirs)?)?.checked_sub(scaled(base)?)?;
    Some(write(sum, places))
}

/// The sum of numbers, if all are plain decimals.
pub(crate) fn sum<'n>(numbers: impl Iterator<Item = &'n str>) -> Option<String> {
    let mut total = "0".to_owned();
    for number in numbers {
        total = add_changes("0", &total, number)?;
    }
    Some(total)
}

/// Whether two numbers are the same, however they are written.
pub(crate) fn same(one: &str, other: &str) -> bool {
    add_changes(other, one, "0").and_then(|rest| parse(&rest)).is_some_and(|rest| rest.0 == 0)
}

/// The digits as one number, and how many of them are decimals.
fn parse(text: &str) -> Option<(i128, u32)> {
    let text = text.trim();
    let (sign, plain) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, decimals) = plain.split_once('.').unwrap_or((plain, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(decimals) || plain.len() > 30 {
        return None;
    }
    let digits: i128 = [whole, decimals].concat().parse().ok()?;
    Some((sign * digits, u32::try_from(decimals.len()).ok()?))
}

fn write(number: i128, places: u32) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let digits = number.unsigned_abs().to_string();
    let places = places as usize;
    if places == 0 {
        return format!("{sign}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, decimals) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{decimals}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_changes_count() {
        assert_eq!(add_changes("0.0", "0.1", "0.2").unwrap(), "0.3");
        assert_eq!(add_changes("2", "3", "3").unwrap(), "4");
        assert_eq!(add_changes("1.05", "1", "1.10").unwrap(), "1.05");
        assert_eq!(add_changes("1", "0", "-1").unwrap(), "-2");
        assert_eq!(add_changes("1e3", "1", "2"), None);
        assert!(same("0.10", "0.1") && !same("0.1", "0.2"));
        assert_eq!(sum(["0.1", "0.25"].into_iter()).unwrap(), "0.35");
    }
}
