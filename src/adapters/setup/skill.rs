//! The skill: a file of our own, which users may change.

use crate::store::Hash;

const TEXT: &str = include_str!("skill.md");
const MARK: &str = "<!-- statedir:skill ";

/// The file. Its last line tells whether somebody has changed it since.
pub(super) fn text() -> String {
    signed(TEXT)
}

fn signed(body: &str) -> String {
    format!("{body}\n{MARK}{} -->\n", Hash::of(body.as_bytes()))
}

/// Whether it is as some version of this program wrote it.
fn is_untouched(text: &str) -> bool {
    let Some(at) = text.rfind(MARK) else { return false };
    let body = text[..at].strip_suffix('\n').unwrap_or_default();
    signed(body) == text
}

/// The skill; one that somebody wrote or changed stays.
pub(super) fn put(there: Option<&str>) -> Option<String> {
    match there {
        Some(own) if !is_untouched(own) => Some(own.to_owned()),
        _ => Some(text()),
    }
}

/// No skill, unless somebody wrote or changed it.
pub(super) fn take(there: Option<&str>) -> Option<String> {
    there.filter(|text| !is_untouched(text)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_skill_stays_and_an_old_one_is_replaced() {
        assert_eq!(put(None), Some(text()));
        assert_eq!(put(Some(&signed("an older text\n"))), Some(text()));
        assert_eq!(take(Some(&text())), None);
        let mine = text().replace("Rules", "My rules");
        assert_eq!((put(Some(&mine)), take(Some(&mine))), (Some(mine.clone()), Some(mine)));
    }
}
