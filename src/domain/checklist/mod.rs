//! Checklists as people and other programs write them: boxes in lists, phases with a status line.
//!
//! The marker of a task is a range of the source, so that completing a task changes those bytes and no
//! others. A box in a code block, a comment, a quote or a legend is not a task; one in `<details>` is.

mod boxes;
mod grammar;
mod label;
mod legend;
mod phase;
pub(crate) mod unboxed;

#[cfg(test)]
mod tests;

use std::ops::Range;

use self::{
    boxes::{boxes, bullet_width},
    label::Label,
};
pub(crate) use self::{
    grammar::{Grammar, StepForm},
    unboxed::Unboxed,
};
use crate::{
    domain::StepRole,
    text::markdown::{Document, ItemId, SectionId},
};

/// One task of a checklist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// The id in its text, if it is valid as a step's id.
    pub id: Option<String>,
    /// The id as a number, if it is a whole number.
    pub number: Option<u32>,
    /// What is to be done, in one line.
    pub title: String,
    /// What its marker means; open if that is not known.
    pub role: StepRole,
    /// Whether the marker is known.
    pub is_known: bool,
    /// Where the marker is: between the brackets, or the word after `Status:`.
    pub marker: Range<usize>,
    /// Whether the marker is a word.
    pub is_word: bool,
    /// The words that the file uses for roles, if the marker is a word; else its mark for done.
    pub words: Vec<(StepRole, String)>,
    /// The headings and the task around it, outermost first, without the title of the file.
    pub group: Vec<String>,
    /// The index of the task that it is nested in.
    pub parent: Option<usize>,
    /// How deep it is nested in tasks.
    pub depth: usize,
    /// Whether it may be left out.
    pub is_optional: bool,
    /// Further fields: `parallel`, `story`, `requirements`, `commit`, `tags`, `time`.
    pub fields: Vec<(String, String)>,
    /// The ids of the tasks that it depends on.
    pub depends_on: Vec<String>,
    /// The text below it that is not a task.
    pub details: Option<String>,
    /// The whole task, with what is nested in it.
    pub span: Range<usize>,
    /// The section that it is in; for a phase, the section that it is.
    pub section: SectionId,
}

/// The tasks of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checklist {
    /// The tasks in the order of the file.
    pub tasks: Vec<Task>,
}

/// The numbers of tasks in one file, by role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskCounts {
    /// What the markers mean, in the order of the file; `None` if that is not known.
    pub roles: Vec<Option<StepRole>>,
    /// How many lines only look like tasks: in code blocks, comments, legends, tables.
    pub prose: usize,
    /// Where the first task begins.
    pub first: Option<usize>,
    /// The items without a box beside them.
    pub unboxed: Vec<Unboxed>,
}

/// A checkbox, which may be a task or part of a legend.
#[derive(Clone, Debug)]
pub(super) struct Checkbox {
    /// Where the item begins and ends.
    span: Range<usize>,
    /// Where the marker stands.
    marker: Range<usize>,
    mark: String,
    /// Whether a star follows the box: `- [ ]*`.
    is_optional: bool,
    /// Whether the marker is a word.
    is_word: bool,
    /// The text after it as one line.
    text: String,
    /// The number of lines of that text in the source.
    lines: usize,
    /// The list item; boxes in HTML have none.
    item: Option<ItemId>,
    /// The item with a box that it is nested in.
    outer: Option<ItemId>,
    section: SectionId,
}

impl Checklist {
    /// Reads the tasks of a document.
    pub(crate) fn read(document: &Document, grammar: &Grammar) -> Self {
        FoundTasks::find(document, grammar, None).tasks(document, grammar)
    }

    /// Reads the tasks directly in one section. They are the same as in the whole document unless its
    /// steps are headings or its markers are words.
    pub(crate) fn of_section(document: &Document, grammar: &Grammar, section: SectionId) -> Self {
        FoundTasks::find(document, grammar, Some(section)).tasks(document, grammar)
    }

    /// The items without a box in the lists that its tasks are in.
    pub(crate) fn unboxed(&self, document: &Document) -> Vec<Unboxed> {
        let starts: Vec<usize> = self.tasks.iter().map(|task| task.span.start).collect();
        unboxed::unboxed(document, document.sections(), &starts)
    }
}

impl TaskCounts {
    /// Counts the tasks of a document, and the lines that only look like one.
    pub(crate) fn read(document: &Document, grammar: &Grammar) -> Self {
        let found = FoundTasks::find(document, grammar, None);
        let roles = found.boxes.iter().map(|one| one.role(grammar));
        let phases = found.phases.iter().map(|(_, task)| task.is_known.then_some(task.role));
        let starts = found.boxes.iter().map(|one| one.span.start);
        let first = starts.chain(found.phases.iter().map(|(extent, _)| extent.start)).min();
        let prose = found.legends + text_lines(document, found.boxed);
        let starts: Vec<usize> = found.boxes.iter().map(|one| one.span.start).collect();
        let unboxed = unboxed::unboxed(document, document.sections(), &starts);
        Self { roles: roles.chain(phases).collect(), prose, first, unboxed }
    }

    /// How many tasks there are.
    pub(crate) fn len(&self) -> usize {
        self.roles.len()
    }

    /// How many tasks have a role; an unknown marker counts as open.
    pub(crate) fn count(&self, role: StepRole) -> usize {
        self.roles.iter().filter(|one| one.unwrap_or(StepRole::Open) == role).count()
    }

    /// How many markers are not known.
    pub(crate) fn unknown(&self) -> usize {
        self.roles.iter().filter(|one| one.is_none()).count()
    }

    /// Whether something is left to do.
    pub(crate) fn is_open(&self) -> bool {
        self.count(StepRole::Done) < self.len()
    }
}

/// Where the tasks of a document are.
struct FoundTasks {
    /// The checkboxes that are tasks.
    boxes: Vec<Checkbox>,
    /// The headings that are tasks, each with its extent.
    phases: Vec<(Range<usize>, Task)>,
    /// The number of all checkboxes.
    boxed: usize,
    /// The number of checkboxes that are not tasks.
    legends: usize,
}

impl FoundTasks {
    fn find(document: &Document, grammar: &Grammar, only: Option<SectionId>) -> Self {
        let mut found = match only {
            Some(section) => boxes(document, grammar, [section].into_iter()),
            None => boxes(document, grammar, document.sections()),
        };
        let boxed = found.len();
        remove_legends(document, &mut found);
        // A file without such a section is organised differently.
        let has_section = |id: SectionId| is_in(document, id, &grammar.sections);
        if !grammar.sections.is_empty() && document.sections().any(has_section) {
            found.retain(|one| is_in(document, one.section, &grammar.sections));
        }
        let legends = boxed - found.len();
        let phases = match grammar.step {
            StepForm::Heading => phase::read(document, grammar),
            StepForm::Box => Vec::new(),
        };
        // Boxes in a phase are its details.
        found.retain(|one| !phases.iter().any(|(extent, _)| extent.contains(&one.span.start)));
        Self { boxes: found, phases, boxed, legends }
    }

    fn tasks(self, document: &Document, grammar: &Grammar) -> Checklist {
        let mut tasks = tasks(document, grammar, &self.boxes);
        if !self.phases.is_empty() {
            tasks.extend(self.phases.into_iter().map(|(_, task)| task));
            tasks.sort_by_key(|task| task.span.start);
        }
        Checklist { tasks }
    }
}

impl Checkbox {
    /// What the marker means; `None` if that is not known.
    fn role(&self, grammar: &Grammar) -> Option<StepRole> {
        match (self.is_word, self.mark.chars().next()) {
            (true, _) => grammar.role_of_word(&self.mark),
            (false, Some(mark)) => grammar.role_of(mark),
            (false, None) => Some(StepRole::Open),
        }
    }
}

impl Task {
    /// The new text of the marker for `role`; `None` if it has that role already, or if no marker can
    /// express it.
    pub(crate) fn marker_for(&self, role: StepRole, grammar: &Grammar) -> Option<String> {
        let written = self.written_role(role, grammar)?;
        // A marker that is not known stays where another would say no more.
        if written == self.role {
            return None;
        }
        match self.is_word {
            true => self.word_of(written, grammar),
            false => self.own_word(written).or_else(|| grammar.mark_of(written).map(String::from)),
        }
    }

    /// What the file itself writes for a role.
    fn own_word(&self, role: StepRole) -> Option<String> {
        self.words.iter().find(|(known, _)| *known == role).map(|(_, word)| word.clone())
    }

    /// The word for a role: the one that the file uses, or else that of the grammar.
    pub(crate) fn word_of(&self, role: StepRole, grammar: &Grammar) -> Option<String> {
        self.own_word(role).or_else(|| grammar.word_of(role).map(str::to_owned))
    }

    /// The role that the marker shows for `role`: open if there is no marker for it.
    pub(crate) fn written_role(&self, role: StepRole, grammar: &Grammar) -> Option<StepRole> {
        let can = |role: StepRole| match self.is_word {
            true => grammar.word_of(role).is_some(),
            false => grammar.mark_of(role).is_some() || self.is_known && self.role == role,
        };
        [role, StepRole::Open].into_iter().find(|role| can(*role))
    }
}

/// Removes boxes that explain the notation.
fn remove_legends(document: &Document, found: &mut Vec<Checkbox>) {
    let mut is_text = vec![false; found.len()];
    let mut is_any = false;
    // One list after the other: adjacent items in the same item, with the same bullet.
    let mut start = 0;
    while start < found.len() {
        let mut end = start + 1;
        let is_next = |before: &Checkbox, next: &Checkbox| {
            let between = document.source().get(before.span.end..next.span.start);
            next.outer == before.outer
                && between.is_some_and(|text| text.trim().is_empty())
                && bullet(document, before) == bullet(document, next)
        };
        while end < found.len() && is_next(&found[end - 1], &found[end]) {
            end += 1;
        }
        let first = &found[start];
        let is_legend = legend::is_heading(document.section(first.section).title)
            || first.outer.is_none()
                && legend::is_announced_by(line_above(document.source(), first.span.start))
            || legend::is_legend(&found[start..end]);
        for (at, one) in found.iter().enumerate().take(end).skip(start) {
            is_text[at] = is_legend || legend::is_definition(&one.text);
            is_any |= is_text[at];
        }
        start = end;
    }
    if !is_any {
        return;
    }
    let mut at = 0;
    found.retain(|_| {
        at += 1;
        !is_text[at - 1]
    });
}

/// The bullet of an item; another bullet begins another list.
fn bullet(document: &Document, one: &Checkbox) -> Option<char> {
    let text = document.source().get(one.span.clone())?;
    text.trim_start_matches(|c: char| c.is_ascii_digit()).chars().next()
}

/// The last line above `at` that is not blank.
fn line_above(source: &str, at: usize) -> &str {
    let before = source.get(..at).unwrap_or_default();
    let above = before.rfind('\n').map_or("", |end| &before[..end]);
    above.trim_end().rsplit('\n').next().unwrap_or_default()
}

fn is_in(document: &Document, section: SectionId, names: &[String]) -> bool {
    let mut path = std::iter::successors(Some(section), |id| document.section(*id).parent);
    path.any(|id| {
        let title = document.section(id).title.trim_start_matches(|c: char| !c.is_alphanumeric());
        names.iter().any(|name| {
            let start = title.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name));
            let behind = start.map(|start| title[start.len()..].trim_start());
            behind.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })
    })
}

/// The tasks that the checkboxes are.
fn tasks(document: &Document, grammar: &Grammar, found: &[Checkbox]) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::with_capacity(found.len());
    let mut by_item: Vec<(ItemId, usize)> = Vec::new();
    let mut headings: Option<(SectionId, Vec<String>)> = None;
    let written = found.iter().filter(|one| one.is_word).map(|one| one.mark.as_str());
    let words = words_of(written, grammar);
    // Looked for in the whole file, also where only a section is read.
    let mark = grammar.mark_in(document.source(), StepRole::Done);
    let marks: Vec<_> = mark.map(|mark| (StepRole::Done, mark.to_string())).into_iter().collect();
    for (at, one) in found.iter().enumerate() {
        let label = Label::parse(&one.text, grammar);
        let parent = one.outer.and_then(|outer| {
            by_item.iter().rev().find(|(item, _)| *item == outer).map(|(_, at)| *at)
        });
        let path = match &headings {
            Some((section, path)) if *section == one.section => path.clone(),
            _ => {
                let path = heading_path(document, one.section);
                headings = Some((one.section, path.clone()));
                path
            }
        };
        let mut id = label.id;
        if label.is_inner && parent.is_none() {
            // `Step 2` below the heading `Task 1` has the id `1.2`.
            let outer = path.last().map(|title| Label::parse(title, grammar));
            let outer = outer.and_then(|outer| outer.number);
            if let (Some(outer), Some(inner)) = (outer, label.number) {
                id = Some(format!("{outer}.{inner}"));
            }
        }
        let number = label.number.filter(|_| !label.is_inner);
        let mut group = path;
        group.extend(parent.map(|at| tasks[at].title.clone()));
        let role = one.role(grammar);
        let (details, said) = boxes::details(document, one, &found[at + 1..]);
        let mut fields = label.fields;
        if let Some(list) = said.filter(|_| fields.iter().all(|(key, _)| key != "requirements")) {
            fields.push(("requirements".to_owned(), list));
        }
        if let Some(item) = one.item {
            by_item.push((item, tasks.len()));
        }
        let title = match (label.title.is_empty(), &id) {
            (true, Some(id)) => id.clone(),
            _ => label.title,
        };
        tasks.push(Task {
            id,
            number,
            title,
            role: role.unwrap_or(StepRole::Open),
            is_known: role.is_some(),
            marker: one.marker.clone(),
            is_word: one.is_word,
            words: if one.is_word { words.clone() } else { marks.clone() },
            group,
            parent,
            depth: parent.map_or(0, |at| tasks[at].depth + 1),
            is_optional: one.is_optional,
            fields,
            depends_on: label.depends_on,
            details,
            span: one.span.clone(),
            section: one.section,
        });
    }
    tasks
}

/// The first word that a file uses for each role.
fn words_of<'t>(
    written: impl Iterator<Item = &'t str>,
    grammar: &Grammar,
) -> Vec<(StepRole, String)> {
    let mut words: Vec<(StepRole, String)> = Vec::new();
    for word in written {
        if let Some(role) = grammar.role_of_word(word)
            && words.iter().all(|(known, _)| *known != role)
        {
            words.push((role, word.to_owned()));
        }
    }
    words
}

/// The headings around a section, outermost first, without the title of the file.
fn heading_path(document: &Document, section: SectionId) -> Vec<String> {
    let path = std::iter::successors(Some(section), |id| document.section(*id).parent);
    let mut titles: Vec<String> = path
        .filter(|id| document.section(*id).level > 1)
        .map(|id| document.section(id).title.trim().to_owned())
        .collect();
    titles.reverse();
    titles
}

/// How many lines look like a task, apart from the checkboxes that were found.
fn text_lines(document: &Document, boxed: usize) -> usize {
    let is_mark = |mark: &u8| b" xX-~>".contains(mark);
    let looks_like_one = |line: &&str| {
        let bare = line.trim_start().trim_start_matches(['>', '|', ' ']);
        match bullet_width(bare) {
            Some(width) => match bare[width..].trim_start().as_bytes() {
                [b'[', mark, b']', behind @ ..] => is_mark(mark) || behind.starts_with(b" "),
                _ => false,
            },
            None => {
                let is_box = |part: &[u8]| part[0] == b'[' && is_mark(&part[1]) && part[2] == b']';
                line.trim_start().starts_with('|') && line.as_bytes().windows(3).any(is_box)
            }
        }
    };
    document.source().lines().filter(looks_like_one).count().saturating_sub(boxed)
}
