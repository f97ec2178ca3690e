//! The skill: a file of our own, which users may change.

use super::outcome::{FileOutcome, Wish, changed_by_hand};
use crate::store::Hash;

const TEXT: &str = include_str!("skill.md");
const MARK: &str = "<!-- statedir:skill ";

/// The file. Its last line tells whether somebody has changed it since.
pub(super) fn text() -> String {
    signed(TEXT, 0)
}

/// With how many of the folders above it were there before it, the last of them empty.
fn signed(body: &str, folders: usize) -> String {
    let note = if folders == 0 { String::new() } else { format!(" folders={folders}") };
    format!("{body}\n{MARK}{}{note} -->\n", Hash::of(body.as_bytes()))
}

/// The folders it notes, if it is as some version of this program wrote it.
fn untouched(text: &str) -> Option<usize> {
    let text = text.replace("\r\n", "\n");
    let (body, last) = text.split_at(text.rfind(MARK)?);
    let note = last.strip_suffix(" -->\n")?.split(" folders=").nth(1);
    let folders = note.map_or(Some(0), |note| note.parse().ok())?;
    (signed(body.strip_suffix('\n')?, folders) == text).then_some(folders)
}

/// The skill; one that somebody wrote or changed stays.
pub(super) fn put(there: Option<&str>, wish: Wish<'_>) -> FileOutcome {
    let Some(text) = there else { return FileOutcome::text(signed(TEXT, wish.folders)) };
    match untouched(text) {
        // Line ends that a version control system changed are no reason to write.
        Some(folders) if text.replace("\r\n", "\n") == signed(TEXT, folders) => {
            FileOutcome::same(there)
        }
        Some(folders) => FileOutcome::text(signed(TEXT, folders)),
        None if wish.force => FileOutcome::text(signed(TEXT, 0)),
        None => FileOutcome::same(there).noting(changed_by_hand("the skill", false)),
    }
}

/// No skill, unless somebody wrote or changed it.
pub(super) fn take(there: Option<&str>, wish: Wish<'_>) -> FileOutcome {
    let Some(text) = there else { return FileOutcome::default() };
    match untouched(text) {
        Some(folders) => FileOutcome::gone(folders),
        None if wish.force => FileOutcome::gone(0),
        None => FileOutcome::same(there).noting(changed_by_hand("the skill", true)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WISH: Wish<'_> = Wish { program: "statedir", force: false, folders: 0 };

    #[test]
    fn a_changed_skill_stays_and_an_old_one_is_replaced() {
        assert_eq!(put(None, WISH), FileOutcome::text(text()));
        assert_eq!(put(Some(&signed("an older text\n", 0)), WISH), FileOutcome::text(text()));
        assert_eq!(take(Some(&text()), WISH), FileOutcome::gone(0));
        let mine = text().replace("Rules", "My rules");
        for outcome in [put(Some(&mine), WISH), take(Some(&mine), WISH)] {
            assert_eq!(outcome.text.as_ref(), Some(&mine));
            assert!(outcome.note.unwrap().contains("--force"));
        }
        let force = Wish { force: true, ..WISH };
        assert_eq!(put(Some(&mine), force), FileOutcome::text(text()));
        assert_eq!(take(Some(&mine), force), FileOutcome::gone(0));
    }

    #[test]
    fn folders_and_line_ends_are_no_change() {
        let there = put(None, Wish { folders: 2, ..WISH }).text.unwrap();
        assert_eq!(take(Some(&there), WISH), FileOutcome::gone(2));
        let converted = there.replace('\n', "\r\n");
        assert_eq!(put(Some(&converted), WISH), FileOutcome::text(converted.clone()));
        assert_eq!(take(Some(&converted), WISH), FileOutcome::gone(2));
    }
}
