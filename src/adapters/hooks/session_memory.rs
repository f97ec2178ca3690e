//! What hooks remember of a session, so that nothing is said twice.

use std::{io, path::Path};

use serde::{Deserialize, Serialize};

use crate::store::SessionFiles;

const SESSIONS: SessionFiles =
    SessionFiles { directory: "sessions", ending: ".json", most: 32, limit: 256 << 10 };
/// How many things that were said or asked once are remembered.
const MOST_TOLD: usize = 100;
/// How many rules are remembered.
const MOST_RULES: usize = 2000;
/// The longest line that a hook can have written, in bytes.
const LONGEST: usize = 16 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SessionMemory {
    /// The rules in force when it was last told, a line each; absent if it never was.
    pub rules: Option<Vec<String>>,
    /// What it was told once.
    pub told: Vec<String>,
    /// The limits it was asked about. A compaction makes an agent forget, but not a person.
    pub asked: Vec<String>,
    /// Whether the session's commands act under its name.
    pub linked: bool,
    /// Whether a compaction made the agent forget the brief, and it was not given again yet.
    pub forgot: bool,
    /// How many subagents are at work, where the client does not say whose call is whose.
    #[serde(rename = "helpers")]
    pub subagents: u32,
    /// How many bytes of Gemini CLI's transcript were searched.
    pub transcript: u64,
}

impl SessionMemory {
    /// The memory of a session; an empty one if there is none or it cannot be read.
    pub(super) fn load(state: &Path, session: &str) -> Self {
        let read = || {
            let bytes = SESSIONS.read(state, session)?;
            serde_json::from_slice::<Self>(&bytes).ok().filter(Self::is_plausible)
        };
        read().unwrap_or_default()
    }

    /// Whether a hook can have written this.
    fn is_plausible(&self) -> bool {
        let line = |text: &String| {
            text.len() <= LONGEST && !text.contains(|c: char| c.is_control() && c != '\t')
        };
        let rules = self.rules.as_deref().unwrap_or_default();
        rules.len() <= MOST_RULES
            && self.told.len() <= MOST_TOLD
            && self.asked.len() <= MOST_TOLD
            && rules.iter().chain(&self.told).chain(&self.asked).all(line)
    }

    /// Remembers that something was said; `false` if it was already.
    pub(super) fn tell_once(&mut self, what: &str) -> bool {
        add_once(&mut self.told, what)
    }

    /// Remembers that a person was asked about a limit; `false` if one was already.
    pub(super) fn ask_once(&mut self, limit: &str) -> bool {
        add_once(&mut self.asked, limit)
    }

    /// Saves it, where there is a state that is in use.
    ///
    /// # Errors
    /// The disk fails, or something else is where the memories belong.
    pub(super) fn save(&self, state: &Path, session: &str) -> io::Result<()> {
        SESSIONS.write(state, session, &serde_json::to_vec(self)?)
    }

    /// Forgets a session that has ended.
    pub(super) fn forget(state: &Path, session: &str) {
        SESSIONS.remove(state, session);
    }

    /// Forgets the sessions that were silent longest, when there are many.
    pub(super) fn prune(state: &Path) {
        SESSIONS.prune(state);
    }
}

fn add_once(list: &mut Vec<String>, what: &str) -> bool {
    if list.iter().any(|known| known == what) {
        return false;
    }
    list.push(what.to_owned());
    let surplus = list.len().saturating_sub(MOST_TOLD);
    list.drain(..surplus);
    true
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::PathBuf};

    use super::*;

    fn directory(state: &Path) -> PathBuf {
        state.join(".statedir").join(SESSIONS.directory)
    }

    #[test]
    fn a_session_remembers_and_is_forgotten() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(".statedir")).unwrap();
        let mut memory = SessionMemory::load(root.path(), "a");
        assert_eq!(memory, SessionMemory::default());
        assert!(memory.tell_once("x") && !memory.tell_once("x"));
        memory.save(root.path(), "a").unwrap();
        assert_eq!(SessionMemory::load(root.path(), "a"), memory);
        assert_eq!(SessionMemory::load(root.path(), "b"), SessionMemory::default());
        for n in 0..SESSIONS.most + 5 {
            memory.save(root.path(), &format!("s{n}")).unwrap();
        }
        assert_eq!(fs::read_dir(directory(root.path())).unwrap().count(), SESSIONS.most);
        memory.save(root.path(), "a").unwrap();
        SessionMemory::forget(root.path(), "a");
        assert_eq!(SessionMemory::load(root.path(), "a"), SessionMemory::default());
    }

    #[test]
    fn a_damaged_memory_is_an_empty_one() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory(root.path())).unwrap();
        let many = serde_json::to_string(&vec!["x"; MOST_TOLD + 1]).unwrap();
        let long = "x".repeat(LONGEST + 1);
        let bad = [
            "{\"told\":7".to_owned(),
            format!("{{\"told\":{many}}}"),
            format!("{{\"rules\":[\"{long}\"]}}"),
            "{\"rules\":[\"a\\u001b[2Jb\"]}".to_owned(),
            format!("{{\"told\":[]}}{}", " ".repeat(SESSIONS.limit as usize)),
        ];
        for text in bad {
            fs::write(directory(root.path()).join("a.json"), text).unwrap();
            assert_eq!(SessionMemory::load(root.path(), "a"), SessionMemory::default());
        }
        fs::write(directory(root.path()).join("a.json"), "{\"told\":[\"x\"]}").unwrap();
        assert_eq!(SessionMemory::load(root.path(), "a").told, ["x"]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_memory_file_holds_what_is_remembered_is_bounded(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
            places in proptest::collection::vec((0_usize..80, proptest::num::u8::ANY), 0..6),
        ) {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(directory(root.path())).unwrap();
            let mut mutated =
                br#"{"rules":["a"],"told":["running k3f9"],"asked":["max 5"],"linked":true}"#.to_vec();
            for (at, byte) in places {
                if let Some(place) = mutated.get_mut(at) {
                    *place = byte;
                }
            }
            for content in [bytes, mutated] {
                fs::write(directory(root.path()).join("a.json"), content).unwrap();
                proptest::prop_assert!(SessionMemory::load(root.path(), "a").is_plausible());
            }
        }
    }

    /// A state, and a directory beside it that must stay as it is.
    fn scene() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let [state, victims] = ["state", "victims"].map(|name| root.path().join(name));
        fs::create_dir_all(state.join(".statedir")).unwrap();
        fs::create_dir(&victims).unwrap();
        for n in 0..SESSIONS.most + 5 {
            fs::write(victims.join(format!("s{n}.json")), "{\"told\":[\"x\"]}").unwrap();
        }
        (root, state, victims)
    }

    fn assert_untouched(victims: &Path) {
        assert_eq!(fs::read_dir(victims).unwrap().count(), SESSIONS.most + 5);
        assert_eq!(fs::read(victims.join("s0.json")).unwrap(), b"{\"told\":[\"x\"]}");
    }

    fn use_all(state: &Path) {
        let mut memory = SessionMemory::load(state, "s0");
        assert_eq!(memory, SessionMemory::default(), "a link was followed");
        memory.tell_once("y");
        let _ = memory.save(state, "s0");
        let _ = memory.save(state, "new");
        SessionMemory::prune(state);
        SessionMemory::forget(state, "s0");
    }

    #[test]
    fn links_in_the_place_of_the_directories_lead_nowhere() {
        let (_root, state, victims) = scene();
        symlink(&victims, directory(&state)).unwrap();
        use_all(&state);
        assert_untouched(&victims);
        // The control: through the path, the victims are reached.
        assert_eq!(fs::read_dir(directory(&state)).unwrap().count(), SESSIONS.most + 5);

        let (_root, state, victims) = scene();
        fs::create_dir(victims.join(SESSIONS.directory)).unwrap();
        fs::rename(victims.join("s0.json"), victims.join(SESSIONS.directory).join("s0.json"))
            .unwrap();
        fs::remove_dir(state.join(".statedir")).unwrap();
        symlink(&victims, state.join(".statedir")).unwrap();
        use_all(&state);
        assert_eq!(fs::read_dir(directory(&state)).unwrap().count(), 1);
        assert_eq!(fs::read(directory(&state).join("s0.json")).unwrap(), b"{\"told\":[\"x\"]}");
    }

    #[test]
    fn a_link_in_the_place_of_a_memory_leads_nowhere() {
        let (_root, state, victims) = scene();
        fs::create_dir(directory(&state)).unwrap();
        let memory = directory(&state).join("s0.json");
        symlink(victims.join("s0.json"), &memory).unwrap();
        use_all(&state);
        assert_untouched(&victims);
        assert!(memory.symlink_metadata().is_err(), "the link itself is forgotten");
    }

    #[test]
    fn a_session_is_one_name() {
        let (root, state, victims) = scene();
        fs::create_dir(directory(&state)).unwrap();
        let outside = "../../../victims/s0";
        assert_eq!(SessionMemory::load(&state, outside), SessionMemory::default());
        SessionMemory::default().save(&state, outside).unwrap();
        assert_eq!(fs::read_dir(directory(&state)).unwrap().count(), 1);
        SessionMemory::forget(&state, outside);
        SessionMemory::forget(&state, root.path().join("victims/s0").to_str().unwrap());
        assert_untouched(&victims);
    }
}
