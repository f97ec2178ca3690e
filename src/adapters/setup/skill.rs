//! The skill: a file of our own, which users may change.

use super::outcome::{FileOutcome, Wish, changed_by_hand};
use crate::store::Hash;

const TEXT: &str = include_str!("skill.md");
const MARK: &str = "<!-- statedir:skill ";

/// The file. Its last line tells whether somebody has changed it since.
pub(super) fn text() -> String {
    signed(TEXT, &Notes::default())
}

/// What the last line notes besides the sum of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Notes {
    /// How many of the folders above the file were there before it, the last of them empty.
    folders: usize,
    /// The clients that asked for it, where several read the same file.
    clients: Vec<String>,
}

fn signed(body: &str, notes: &Notes) -> String {
    let mut line = format!("{MARK}{}", Hash::of(body.as_bytes()));
    if notes.folders > 0 {
        line.push_str(&format!(" folders={}", notes.folders));
    }
    if !notes.clients.is_empty() {
        line.push_str(&format!(" for={}", notes.clients.join(",")));
    }
    format!("{body}\n{line} -->\n")
}

/// What it notes, if it is as some version of this program wrote it.
fn untouched(text: &str) -> Option<Notes> {
    let text = text.replace("\r\n", "\n");
    let (body, last) = text.split_at(text.rfind(MARK)?);
    let mut notes = Notes::default();
    for word in last.strip_suffix(" -->\n")?.split(' ') {
        match word.split_once('=') {
            Some(("folders", folders)) => notes.folders = folders.parse().ok()?,
            Some(("for", clients)) => {
                notes.clients = clients.split(',').map(str::to_owned).collect();
            }
            _ => {}
        }
    }
    (signed(body.strip_suffix('\n')?, &notes) == text).then_some(notes)
}

/// The skill; one that somebody wrote or changed stays.
pub(super) fn put(there: Option<&str>, client: &str, wish: Wish<'_>) -> FileOutcome {
    let fresh = Notes { folders: wish.folders, clients: vec![client.to_owned()] };
    let Some(text) = there else { return FileOutcome::text(signed(TEXT, &fresh)) };
    match untouched(text) {
        Some(mut notes) => {
            if !notes.clients.iter().any(|known| known == client) {
                notes.clients.push(client.to_owned());
                notes.clients.sort();
            }
            // Line ends that a version control system changed are no reason to write.
            let wanted = signed(TEXT, &notes);
            match text.replace("\r\n", "\n") == wanted {
                true => FileOutcome::same(there),
                false => FileOutcome::text(wanted),
            }
        }
        None if wish.force => FileOutcome::text(signed(TEXT, &Notes { folders: 0, ..fresh })),
        None => FileOutcome::same(there).noting(changed_by_hand("the skill", false)),
    }
}

/// No skill, unless somebody wrote or changed it, or another client asked for it.
pub(super) fn take(there: Option<&str>, client: &str, wish: Wish<'_>) -> FileOutcome {
    let Some(text) = there else { return FileOutcome::default() };
    match untouched(text) {
        Some(mut notes) => {
            notes.clients.retain(|known| known != client);
            if notes.clients.is_empty() {
                return FileOutcome::gone(notes.folders);
            }
            let note = format!("stays for {}", notes.clients.join(", "));
            let (body, _) = text.split_at(text.rfind(MARK).unwrap_or(text.len()));
            let body = body.replace("\r\n", "\n");
            FileOutcome::text(signed(body.strip_suffix('\n').unwrap_or(&body), &notes)).noting(note)
        }
        None if wish.force => FileOutcome::gone(0),
        None => FileOutcome::same(there).noting(changed_by_hand("the skill", true)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WISH: Wish<'_> =
        Wish { program: "statedir", force: false, folders: 0, record_prompts: false };

    fn with(there: Option<&str>) -> FileOutcome {
        put(there, "claude", WISH)
    }

    fn without(there: Option<&str>) -> FileOutcome {
        take(there, "claude", WISH)
    }

    #[test]
    fn a_changed_skill_stays_and_an_old_one_is_replaced() {
        let fresh = with(None).text.unwrap();
        let older = signed("an older text\n", &Notes::default());
        assert_eq!(with(Some(&older)), FileOutcome::text(fresh.clone()));
        assert_eq!(without(Some(&fresh)), FileOutcome::gone(0));
        assert_eq!(without(Some(&older)), FileOutcome::gone(0));
        let mine = fresh.replace("Rules", "My rules");
        for outcome in [with(Some(&mine)), without(Some(&mine))] {
            assert_eq!(outcome.text.as_ref(), Some(&mine));
            assert!(outcome.note.unwrap().contains("--force"));
        }
        let force = Wish { force: true, ..WISH };
        assert_eq!(put(Some(&mine), "claude", force), FileOutcome::text(fresh));
        assert_eq!(take(Some(&mine), "claude", force), FileOutcome::gone(0));
    }

    #[test]
    fn folders_and_line_ends_are_no_change() {
        let there = put(None, "claude", Wish { folders: 2, ..WISH }).text.unwrap();
        assert_eq!(without(Some(&there)), FileOutcome::gone(2));
        let converted = there.replace('\n', "\r\n");
        assert_eq!(with(Some(&converted)), FileOutcome::text(converted.clone()));
        assert_eq!(without(Some(&converted)), FileOutcome::gone(2));
    }

    #[test]
    fn a_skill_that_clients_share_stays_until_the_last_one_goes() {
        let first = put(None, "codex", WISH).text.unwrap();
        let both = put(Some(&first), "gemini", WISH).text.unwrap();
        assert!(both.contains("for=codex,gemini"), "{both}");
        assert_eq!(take(Some(&both), "gemini", WISH).text, Some(first.clone()));
        assert_eq!(take(Some(&first), "codex", WISH), FileOutcome::gone(0));
    }
}
