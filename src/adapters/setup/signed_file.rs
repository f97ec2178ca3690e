//! Files of our own that users may change: the skill, and the plugin for opencode. The last line
//! tells whether somebody has changed one since.

use super::outcome::{FileOutcome, HookOptions, Wish, changed_by_hand};
use crate::store::Hash;

/// One of them.
#[derive(Debug)]
pub(crate) struct SignedFile {
    /// What it is called.
    pub(super) name: &'static str,
    text: &'static str,
    mark: &'static str,
    end: &'static str,
}

/// The skill, for every client that knows skills.
pub(super) const SKILL: SignedFile = SignedFile {
    name: "skill",
    text: include_str!("skill.md"),
    mark: "<!-- statedir:skill ",
    end: " -->",
};

/// The plugin for opencode, which has no hooks in its settings.
pub(super) const OPENCODE_PLUGIN: SignedFile = SignedFile {
    name: "hooks",
    text: include_str!("opencode-plugin.js"),
    mark: "// statedir:plugin ",
    end: "",
};

/// What the last line notes besides the sum of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Notes {
    /// How many of the folders above the file were there before it, the last of them empty.
    folders: usize,
    /// The clients that asked for it, where several read the same file.
    clients: Vec<String>,
}

impl SignedFile {
    /// The file as it is printed.
    pub(super) fn text(&self, program: &str, options: HookOptions) -> String {
        self.signed(&self.body(program, options), &Notes::default())
    }

    fn body(&self, program: &str, options: HookOptions) -> String {
        let program = program.replace('\\', "\\\\").replace('"', "\\\"");
        let options: Vec<String> = options.words().map(|option| format!("{option:?}")).collect();
        self.text.replace("@PROGRAM@", &program).replace("@OPTIONS@", &options.join(", "))
    }

    fn signed(&self, body: &str, notes: &Notes) -> String {
        let mut line = format!("{}{}", self.mark, Hash::of(body.as_bytes()));
        if notes.folders > 0 {
            line.push_str(&format!(" folders={}", notes.folders));
        }
        if !notes.clients.is_empty() {
            line.push_str(&format!(" for={}", notes.clients.join(",")));
        }
        format!("{body}\n{line}{}\n", self.end)
    }

    /// What it notes, if it is as some version of this program wrote it.
    fn untouched(&self, text: &str) -> Option<Notes> {
        let text = text.replace("\r\n", "\n");
        let (body, last) = text.split_at(text.rfind(self.mark)?);
        let mut notes = Notes::default();
        for word in last.strip_suffix('\n')?.strip_suffix(self.end)?.split(' ') {
            match word.split_once('=') {
                Some(("folders", folders)) => notes.folders = folders.parse().ok()?,
                Some(("for", clients)) => {
                    notes.clients = clients.split(',').map(str::to_owned).collect();
                }
                _ => {}
            }
        }
        (self.signed(body.strip_suffix('\n')?, &notes) == text).then_some(notes)
    }

    /// The file; one that somebody wrote or changed stays.
    pub(super) fn put(&self, there: Option<&str>, client: &str, wish: Wish<'_>) -> FileOutcome {
        let body = self.body(wish.program, wish.options.or_kept(there));
        let fresh = Notes { folders: wish.folders, clients: vec![client.to_owned()] };
        let Some(text) = there else { return FileOutcome::text(self.signed(&body, &fresh)) };
        match self.untouched(text) {
            Some(mut notes) => {
                if !notes.clients.iter().any(|known| known == client) {
                    notes.clients.push(client.to_owned());
                    notes.clients.sort();
                }
                // Line ends that a version control system changed are no reason to write.
                let wanted = self.signed(&body, &notes);
                match text.replace("\r\n", "\n") == wanted {
                    true => FileOutcome::same(there),
                    false => FileOutcome::text(wanted),
                }
            }
            None if wish.force => {
                FileOutcome::text(self.signed(&body, &Notes { folders: 0, ..fresh }))
            }
            None => FileOutcome::same(there).noting(self.changed(false)),
        }
    }

    /// No file, unless somebody wrote or changed it, or another client asked for it.
    pub(super) fn take(&self, there: Option<&str>, client: &str, wish: Wish<'_>) -> FileOutcome {
        let Some(text) = there else { return FileOutcome::default() };
        match self.untouched(text) {
            Some(mut notes) => {
                notes.clients.retain(|known| known != client);
                if notes.clients.is_empty() {
                    return FileOutcome::gone(notes.folders);
                }
                let note = format!("stays for {}", notes.clients.join(", "));
                let (body, _) = text.split_at(text.rfind(self.mark).unwrap_or(text.len()));
                let body = body.replace("\r\n", "\n");
                let body = body.strip_suffix('\n').unwrap_or(&body);
                FileOutcome::text(self.signed(body, &notes)).noting(note)
            }
            None if wish.force => FileOutcome::gone(0),
            None => FileOutcome::same(there).noting(self.changed(true)),
        }
    }

    fn changed(&self, remove: bool) -> String {
        changed_by_hand(&format!("the file of the {}", self.name), remove)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skill_costs_at_most_500_tokens() {
        let tokens = tiktoken_rs::o200k_base().unwrap().encode_ordinary(SKILL.text).len();
        assert!(tokens <= 500, "{tokens} tokens");
    }

    #[test]
    fn the_plugin_calls_the_program_with_its_options() {
        let captures = HookOptions { capture: Some(true), ..HookOptions::NONE };
        let text = OPENCODE_PLUGIN.text("/opt/\"s\\p\"/statedir", captures);
        assert!(text.contains(r#"const program = "/opt/\"s\\p\"/statedir""#), "{text}");
        assert!(text.contains(r#"options = ["--capture"]"#), "{text}");
        let put = |there: Option<&str>, options: HookOptions| {
            OPENCODE_PLUGIN.put(there, "opencode", Wish { options, ..WISH }).text
        };
        let there = put(None, captures);
        let both = put(there.as_deref(), HookOptions { record_prompts: true, ..HookOptions::NONE });
        let text = both.as_deref().unwrap();
        assert!(text.contains(r#"options = ["--capture", "--record-prompts"]"#), "{text}");
        let kept = put(both.as_deref(), HookOptions::NONE);
        assert_eq!(kept, there, "what was said before about lists is kept");
        let taken = OPENCODE_PLUGIN.take(kept.as_deref(), "opencode", WISH);
        assert_eq!(taken, FileOutcome::gone(0));
    }

    const WISH: Wish<'_> =
        Wish { program: "statedir", force: false, folders: 0, options: HookOptions::NONE };

    fn with(there: Option<&str>) -> FileOutcome {
        SKILL.put(there, "claude", WISH)
    }

    fn without(there: Option<&str>) -> FileOutcome {
        SKILL.take(there, "claude", WISH)
    }

    #[test]
    fn a_changed_skill_stays_and_an_old_one_is_replaced() {
        let fresh = with(None).text.unwrap();
        let older = SKILL.signed("an older text\n", &Notes::default());
        assert_eq!(with(Some(&older)), FileOutcome::text(fresh.clone()));
        assert_eq!(without(Some(&fresh)), FileOutcome::gone(0));
        assert_eq!(without(Some(&older)), FileOutcome::gone(0));
        let mine = fresh.replace("Rules", "My rules");
        for outcome in [with(Some(&mine)), without(Some(&mine))] {
            assert_eq!(outcome.text.as_ref(), Some(&mine));
            assert!(outcome.note.unwrap().contains("--force"));
        }
        let force = Wish { force: true, ..WISH };
        assert_eq!(SKILL.put(Some(&mine), "claude", force), FileOutcome::text(fresh));
        assert_eq!(SKILL.take(Some(&mine), "claude", force), FileOutcome::gone(0));
    }

    #[test]
    fn folders_and_line_ends_are_no_change() {
        let there = SKILL.put(None, "claude", Wish { folders: 2, ..WISH }).text.unwrap();
        assert_eq!(without(Some(&there)), FileOutcome::gone(2));
        let converted = there.replace('\n', "\r\n");
        assert_eq!(with(Some(&converted)), FileOutcome::text(converted.clone()));
        assert_eq!(without(Some(&converted)), FileOutcome::gone(2));
    }

    #[test]
    fn a_skill_that_clients_share_stays_until_the_last_one_goes() {
        let first = SKILL.put(None, "codex", WISH).text.unwrap();
        let both = SKILL.put(Some(&first), "gemini", WISH).text.unwrap();
        assert!(both.contains("for=codex,gemini"), "{both}");
        assert_eq!(SKILL.take(Some(&both), "gemini", WISH).text, Some(first.clone()));
        assert_eq!(SKILL.take(Some(&first), "codex", WISH), FileOutcome::gone(0));
    }
}
