//! The task list of an agent's client: as the client last told it, and what of it the plan has.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    text::display::one_line,
    {domain::StepRole as Role, text::markdown::is_placeholder},
};

/// How many tasks are kept; of a longer list the first ones are.
pub(crate) const MOST_TASKS: usize = 300;
/// The longest task, in characters; a longer one is cut.
const LONGEST: usize = 200;
/// The longest key of a task in its client, in bytes.
const LONGEST_KEY: usize = 100;

/// A task as its client tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientTask {
    /// The client's own name of it, where it has one.
    pub key: Option<String>,
    /// What is to be done.
    pub text: String,
    pub role: Role,
}

/// What an agent did with its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TaskEvent {
    /// It wrote the whole list.
    Whole(Vec<ClientTask>),
    /// It added tasks, for example by a plan that was accepted.
    Added(Vec<ClientTask>),
    /// It changed tasks that it names by their keys.
    Changed(Vec<TaskChange>),
}

/// What changed in one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskChange {
    pub key: String,
    /// Its new text.
    pub text: Option<String>,
    /// How far it is now.
    pub role: Option<Role>,
}

/// One task of a list that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrackedTask {
    /// The client's own name of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is to be done.
    pub text: String,
    /// How far it is in the client.
    pub role: Role,
    /// How far it was when client and plan last agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<Role>,
    /// What they agreed on before the last change, as long as that may not have been made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsure: Option<Unsure>,
    /// The id of its step, once that was seen in the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Whether the step was made of this task; one that a person wrote is never left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made: bool,
    /// Whether the client changed its text since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub renamed: bool,
    /// What the agent said when it stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a task and its step agreed on before a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unsure {
    /// How far both were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Role>,
}

/// The list of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TaskList {
    pub session: String,
    /// Whether the session began anew since the list was written: what a list lacks then was
    /// forgotten, not dropped.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub began_anew: bool,
    /// The revision that steps were last added to or changed in. As long as the state is still there,
    /// that was never committed.
    #[serde(alias = "added_to", skip_serializing_if = "Option::is_none")]
    pub changed_from: Option<String>,
    pub tasks: Vec<TrackedTask>,
}

impl TaskList {
    /// Reads a list; whatever no hook can have written is none.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let list: Self = serde_json::from_slice(bytes).ok()?;
        let is_word = |text: &String| text.len() <= LONGEST_KEY && !text.contains(char::is_control);
        let fits = |task: &TrackedTask| {
            clean(&task.text) == task.text
                && task.key.iter().chain(&task.step).all(is_word)
                && task.note.as_ref().is_none_or(|note| clean_line(note, usize::MAX) == *note)
        };
        (list.tasks.len() <= 2 * MOST_TASKS
            && list.changed_from.iter().chain([&list.session]).all(is_word)
            && list.tasks.iter().all(fits))
        .then_some(list)
    }

    /// Takes over what the agent did; `masked` hides what looks like a secret.
    pub(super) fn fold(&mut self, event: TaskEvent, masked: impl Fn(&str) -> String) {
        let known: BTreeSet<String> = self.tasks.iter().map(|task| task.text.clone()).collect();
        let tidy = |task: ClientTask| {
            // What is kept was cleaned and masked before.
            let text = match known.contains(&task.text) {
                true => task.text.clone(),
                false => clean(&masked(&task.text)),
            };
            let key = task.key.map(|key| clean_line(&key, LONGEST_KEY / 4));
            (!text.is_empty() && !is_placeholder(&text)).then_some(ClientTask { key, text, ..task })
        };
        match event {
            TaskEvent::Whole(tasks) => {
                let tasks = tasks.into_iter().filter_map(tidy).take(MOST_TASKS).collect();
                self.rewrite(tasks);
            }
            TaskEvent::Added(tasks) => {
                for task in tasks.into_iter().filter_map(tidy) {
                    let open = self.tasks.iter().filter(|task| task.role != Role::Skipped).count();
                    if open < MOST_TASKS {
                        self.add(task);
                    }
                }
            }
            TaskEvent::Changed(changes) => {
                for change in changes {
                    let key = clean_line(&change.key, LONGEST_KEY / 4);
                    let known = self.tasks.iter_mut().find(|task| task.key.as_ref() == Some(&key));
                    let Some(task) = known else { continue };
                    task.role = change.role.unwrap_or(task.role);
                    let text = change.text.map(|text| clean(&masked(&text)));
                    if let Some(text) = text.filter(|text| !text.is_empty() && *text != task.text) {
                        (task.text, task.renamed) = (text, true);
                    }
                }
            }
        }
        // Tasks that were dropped are remembered for the case that they come back.
        while self.tasks.len() > 2 * MOST_TASKS {
            let Some(at) = self.tasks.iter().position(|task| task.role == Role::Skipped) else {
                break;
            };
            self.tasks.remove(at);
        }
    }

    /// The keys of tasks that an event changes, and that the list does not have.
    pub(super) fn unknown_keys(&self, event: &TaskEvent) -> Vec<String> {
        let TaskEvent::Changed(changes) = event else { return Vec::new() };
        let is_known = |key: &String| self.tasks.iter().any(|task| task.key.as_ref() == Some(key));
        let changes = changes.iter().filter(|change| change.role != Some(Role::Skipped));
        let keys = changes.map(|change| clean_line(&change.key, LONGEST_KEY / 4));
        keys.filter(|key| !is_known(key)).collect()
    }

    fn add(&mut self, new: ClientTask) {
        let same = |task: &&mut TrackedTask| match (&task.key, &new.key) {
            (Some(own), Some(key)) => own == key,
            _ => task.role != Role::Skipped && same_words(&task.text, &new.text),
        };
        match self.tasks.iter_mut().find(same) {
            Some(task) => {
                task.key = new.key.or(task.key.take());
                task.renamed |= task.text != new.text;
                (task.text, task.role) = (new.text, new.role);
            }
            None => self.tasks.push(TrackedTask::new(new)),
        }
    }

    /// The list as the agent wrote it, with what is known of each task; what it no longer has is
    /// dropped, unless the agent forgot it.
    fn rewrite(&mut self, new: Vec<ClientTask>) {
        let is_cleared = new.is_empty();
        let began_anew = std::mem::take(&mut self.began_anew);
        let mut old: Vec<Option<TrackedTask>> =
            std::mem::take(&mut self.tasks).into_iter().map(Some).collect();
        let mut found: Vec<Option<usize>> = Vec::with_capacity(new.len());
        for task in &new {
            let is_it = |known: &TrackedTask| match (&known.key, &task.key) {
                (Some(own), Some(key)) if own == key => true,
                _ => same_words(&known.text, &task.text),
            };
            let free = |at: &usize| !found.contains(&Some(*at));
            let place = |dropped: bool| {
                (0..old.len()).filter(free).find(|at| {
                    let known = old[*at].as_ref();
                    known.is_some_and(|known| {
                        (known.role == Role::Skipped) == dropped && is_it(known)
                    })
                })
            };
            found.push(place(false).or_else(|| place(true)));
        }
        note_new_words(&mut found, &old, &new);
        for (task, at) in new.into_iter().zip(found) {
            match at.and_then(|at| old[at].take()) {
                Some(known) => {
                    let renamed = known.renamed || !same_words(&known.text, &task.text);
                    let key = task.key.or(known.key);
                    let (text, role) = (task.text, task.role);
                    self.tasks.push(TrackedTask { key, text, role, renamed, ..known });
                }
                None => self.tasks.push(TrackedTask::new(task)),
            }
        }
        if is_cleared {
            return;
        }
        for mut task in old.into_iter().flatten() {
            let is_ended = matches!(task.role, Role::Done | Role::Failed);
            if task.role == Role::Skipped || !(is_ended || began_anew) {
                task.role = Role::Skipped;
                self.tasks.push(task);
            }
        }
    }
}

/// A task whose words alone changed, in a list of the same length, is the same task. One that says
/// something else took its place.
fn note_new_words(found: &mut [Option<usize>], old: &[Option<TrackedTask>], new: &[ClientTask]) {
    let open = |at: &usize| old[*at].as_ref().is_some_and(|task| task.role != Role::Skipped);
    let known: Vec<usize> = (0..old.len()).filter(open).collect();
    let missing: Vec<usize> = (0..new.len()).filter(|at| found[*at].is_none()).collect();
    if let [at] = missing.as_slice()
        && known.len() == new.len()
        && (0..new.len()).all(|other| other == *at || found[other] == Some(known[other]))
        && old[known[*at]].as_ref().is_some_and(|task| is_reworded(&task.text, &new[*at].text))
    {
        found[*at] = Some(known[*at]);
    }
}

/// Whether two texts have at least half of their words in common.
fn is_reworded(one: &str, other: &str) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (one, other) = (words(one), words(other));
    4 * one.intersection(&other).count() >= (one.len() + other.len()).max(1)
}

impl TrackedTask {
    fn new(task: ClientTask) -> Self {
        let ClientTask { key, text, role } = task;
        Self {
            key,
            text,
            role,
            agreed: None,
            unsure: None,
            step: None,
            made: false,
            renamed: false,
            note: None,
        }
    }
}

/// Whether two texts say the same.
pub(super) fn same_words(one: &str, other: &str) -> bool {
    one == other || words(one) == words(other)
}

/// A text without what does not change its meaning.
pub(super) fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        match word.is_ascii() {
            true => {
                let start = words.len();
                words.push_str(word);
                words[start..].make_ascii_lowercase();
            }
            false => words.push_str(&word.to_lowercase()),
        }
    }
    words.truncate(words.trim_end_matches(['.', '…']).len());
    words
}

/// A text as a title of one line: nothing hidden in it, and not too long.
fn clean(text: &str) -> String {
    clean_line(text, LONGEST)
}

/// A text in one line of at most so many characters.
pub(crate) fn clean_line(text: &str, most: usize) -> String {
    let hidden = |c: &char| {
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
            || (c.is_control() && !c.is_whitespace())
    };
    let visible: String = text.chars().filter(|c| !hidden(c)).collect();
    let line = one_line(&visible);
    match line.char_indices().nth(most) {
        Some(_) => {
            let cut: String = line.chars().take(most - 1).collect();
            format!("{}…", cut.trim_end())
        }
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn task(text: &str, role: Role) -> ClientTask {
        ClientTask { key: None, text: text.to_owned(), role }
    }

    fn list(texts: &[&str]) -> TaskList {
        let mut list = TaskList::default();
        let tasks = texts.iter().map(|text| task(text, Role::Open)).collect();
        list.fold(TaskEvent::Whole(tasks), str::to_owned);
        list
    }

    fn rewritten(list: &mut TaskList, texts: &[&str]) -> Vec<(String, Role)> {
        let tasks = texts.iter().map(|text| task(text, Role::Open)).collect();
        list.fold(TaskEvent::Whole(tasks), str::to_owned);
        list.tasks.iter().map(|task| (task.text.clone(), task.role)).collect()
    }

    #[test]
    fn what_a_rewritten_list_lacks_is_dropped_unless_it_was_forgotten() {
        let mut known = list(&["a", "b", "c"]);
        let now = rewritten(&mut known, &["a", "c", "d"]);
        assert_eq!(now.last(), Some(&("b".to_owned(), Role::Skipped)));
        assert_eq!(rewritten(&mut known, &["a", "b", "c", "d"])[1], ("b".to_owned(), Role::Open));
        let mut forgotten = list(&["a", "b", "c"]);
        forgotten.began_anew = true;
        assert_eq!(rewritten(&mut forgotten, &["c"]), [("c".to_owned(), Role::Open)]);
        assert!(!forgotten.began_anew);
        assert!(rewritten(&mut list(&["a"]), &[]).is_empty(), "a cleared list drops nothing");
    }

    #[test]
    fn a_task_whose_words_alone_change_stays_the_same() {
        let mut known = list(&["a", "b", "c"]);
        known.tasks[1].step = Some("k3f9".to_owned());
        rewritten(&mut known, &["a", "b, with tests", "c"]);
        assert_eq!(known.tasks.len(), 3);
        assert_eq!((known.tasks[1].step.as_deref(), known.tasks[1].renamed), (Some("k3f9"), true));
        rewritten(&mut known, &["x", "y", "c"]);
        assert_eq!(known.tasks.iter().filter(|task| task.role == Role::Skipped).count(), 2);
    }

    #[test]
    fn a_task_in_the_place_of_another_is_another() {
        let mut known = list(&["Collect data", "Write the report"]);
        let now = rewritten(&mut known, &["Collect data", "Send it to Ada"]);
        assert_eq!(now.len(), 3);
        assert_eq!(now.last(), Some(&("Write the report".to_owned(), Role::Skipped)));
    }

    #[test]
    fn a_key_names_a_task() {
        let mut list = TaskList::default();
        let one = ClientTask { key: Some("1".to_owned()), ..task("Write tests", Role::Open) };
        list.fold(TaskEvent::Added(vec![one.clone()]), str::to_owned);
        list.fold(TaskEvent::Added(vec![one]), str::to_owned);
        let change = |key: &str, role| TaskChange { key: key.to_owned(), text: None, role };
        list.fold(TaskEvent::Changed(vec![change("1", Some(Role::Active))]), str::to_owned);
        list.fold(TaskEvent::Changed(vec![change("7", Some(Role::Done))]), str::to_owned);
        assert_eq!(list.tasks.len(), 1);
        assert_eq!(list.tasks[0].role, Role::Active);
    }

    #[test]
    fn nothing_hidden_and_nothing_endless_becomes_a_title() {
        assert_eq!(clean("a\u{202e}b\n\u{1b}c  d"), "ab c d");
        assert_eq!(clean(&"x".repeat(1000)).chars().count(), LONGEST);
        assert!(list(&["", " \n", "\u{feff}"]).tasks.is_empty());
        let many: Vec<String> = (0..1000).map(|n| format!("task {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(list(&many).tasks.len(), MOST_TASKS);
    }

    proptest! {
        #[test]
        fn a_list_reads_back_and_stays_bounded(
            lists in prop::collection::vec(prop::collection::vec("[a-e\\u{202e}\\n ]{0,4}", 0..8), 1..5),
        ) {
            let mut kept = TaskList::default();
            for texts in &lists {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                rewritten(&mut kept, &texts);
                let once = kept.clone();
                rewritten(&mut kept, &texts);
                prop_assert_eq!(&once, &kept, "the same list again changes nothing");
            }
            let bytes = serde_json::to_vec(&kept).unwrap();
            prop_assert_eq!(TaskList::parse(&bytes), Some(kept));
        }
    }
}
