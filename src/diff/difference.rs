//! One difference between two versions of a state file.

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::domain::{SettingGroup, StateFile, Step};

/// What differs, and what it was and is.
///
/// What is there on one side only was added or removed. Turning two versions round swaps `before`
/// and `after` of everything, and nothing else but the side a step's number and title are from.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub file: StateFile,
    /// What it is about.
    pub subject: Subject,
    /// What was there; `None` when it was added.
    pub before: Option<Value>,
    /// What is there; `None` when it was removed.
    pub after: Option<Value>,
}

/// How something differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// It was not there before.
    Added,
    /// It is not there any more.
    Removed,
    /// It is there on both sides.
    Changed,
}

/// A step as people name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepName {
    /// Its number, on the side after if it is there.
    pub number: u32,
    /// Its id, if it has one.
    pub id: Option<String>,
    /// Its title, on the side after if it is there.
    pub title: String,
}

/// How an attempt at a step went, as its entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The step's id.
    pub step: String,
    /// Time and cost.
    pub measured: String,
    /// What went wrong.
    pub error: Option<String>,
}

/// What a difference is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// The whole file; the values are its length.
    File,
    /// The bytes alone: what the file says is the same.
    Layout {
        /// What is known of the cause, such as `line ends`.
        detail: String,
    },
    /// The text of a file that is not understood; the values are the lines on that side only.
    Text {
        /// Why it is only compared as text.
        why: String,
    },
    /// The title or a metadata field of the plan.
    Plan {
        field: String,
    },
    /// A whole step; the value is its status.
    Step {
        step: StepName,
    },
    /// The place of a step among the others.
    StepPlace {
        step: StepName,
    },
    StepNumber {
        step: StepName,
    },
    /// A field of a step, its title included.
    StepField {
        step: StepName,
        /// The field; nested ones with a dot.
        field: String,
    },
    /// Free text below a step.
    StepText {
        step: StepName,
    },
    /// A question to a person; the value is the decision.
    Review {
        /// Its name.
        id: String,
        /// What is to be decided.
        text: String,
    },
    /// What a review asks.
    ReviewText {
        /// Its name.
        id: String,
    },
    /// A modifier or a limit.
    Setting {
        /// The list it is in.
        group: SettingGroup,
        name: String,
    },
    /// A line under the directives.
    Directive,
    /// How many more steps a directive holds; the values are numbers.
    Lifetime {
        /// The directive as it is now.
        text: String,
    },
    /// A line under the rules.
    Rule,
    /// What changes with the kind of task.
    Behaviour {
        /// The kind of task.
        task_type: String,
    },
    /// A whole section; the value is its text.
    Section {
        /// The headings that lead to it.
        section: Vec<String>,
    },
    /// The heading of a section that says the same.
    SectionTitle,
    /// A field in a section without a meaning of its own.
    SectionField {
        /// The headings that lead to it.
        section: Vec<String>,
        /// The field; nested ones with a dot.
        field: String,
    },
    /// A bullet or a paragraph of a section.
    Item {
        /// The headings that lead to it.
        section: Vec<String>,
    },
    /// The order of what is otherwise the same.
    Order {
        /// The headings that lead to it; empty for the sections themselves.
        section: Vec<String>,
    },
    /// A value in variables.json.
    Variable {
        path: String,
    },
    /// Values that came to, or went from, the end of an array; the value is a list of them.
    ArrayEnd {
        /// Where the array is.
        path: String,
    },
    /// An entry of the history; the value is its title.
    Entry {
        /// The id in its trailer, if it has one.
        id: Option<String>,
        /// When it happened, as it says.
        time: Option<String>,
        /// What happened, in one line.
        headline: String,
        /// The execution that it records.
        #[serde(skip)]
        execution: Option<Execution>,
    },
    /// The history, of which no more can be compared than its length: it was cut or rewritten,
    /// or is too long.
    HistoryLength,
}

impl Difference {
    /// A difference between two values.
    pub(super) fn new(
        file: StateFile,
        subject: Subject,
        before: Option<impl Into<Value>>,
        after: Option<impl Into<Value>>,
    ) -> Self {
        Self { file, subject, before: before.map(Into::into), after: after.map(Into::into) }
    }

    /// How it differs.
    pub fn verb(&self) -> Verb {
        match (&self.before, &self.after) {
            (None, Some(_)) => Verb::Added,
            (Some(_), None) => Verb::Removed,
            _ => Verb::Changed,
        }
    }
}

impl Serialize for Difference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Flat<'d> {
            file: StateFile,
            #[serde(flatten)]
            subject: &'d Subject,
            change: Verb,
            before: &'d Option<Value>,
            after: &'d Option<Value>,
        }
        let flat = Flat {
            file: self.file,
            subject: &self.subject,
            change: self.verb(),
            before: &self.before,
            after: &self.after,
        };
        flat.serialize(serializer)
    }
}

impl StepName {
    /// The name of a step.
    pub(super) fn of(step: &Step) -> Self {
        let id = step.id.as_ref().map(|id| id.as_str().to_owned());
        Self { number: step.number, id, title: step.title.clone() }
    }
}
