//! A new task in a checklist, written in the style of its neighbours.

use super::{Adopted, Composed, FilesByName, TaskStep};
use crate::{
    domain::{
        ModelError, StepRole,
        checklist::{Checklist, Task},
    },
    text::{Splice, apply_splices, markdown::Document},
};

/// A line that is to be inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Insertion {
    /// The index of its file in the layout.
    pub file: usize,
    /// The line with its line end.
    pub splice: Splice,
    /// The id that it is written with.
    pub id: Option<String>,
}

impl Adopted<'_> {
    /// A task with that title before a task, or after it and all that is nested in it.
    ///
    /// # Errors
    /// The neighbour is not a list item, or the line would not be read as a task.
    pub(crate) fn insertion(
        &self,
        raw: &FilesByName,
        composed: &Composed,
        beside: &TaskStep,
        is_before: bool,
        title: &str,
    ) -> Result<Insertion, ModelError> {
        let file = &self.layout.plan[beside.file].file;
        let refused = |why: &str| ModelError::BadValue {
            message: format!("a task cannot be inserted into `{file}` here: {why}"),
            hint: Some(format!("edit `{file}` with an editor; statedir follows")),
        };
        let list = self.whole_file(raw, &composed.lists, beside.file);
        let list = list.ok_or_else(|| refused("it is missing"))?;
        let task = &list.tasks.tasks[beside.task];
        let source = list.document.source();
        if !source[..task.marker.start].ends_with('[') {
            return Err(refused("its steps are headings"));
        }
        let begin = source[..task.marker.start].rfind('\n').map_or(0, |at| at + 1);
        let begin = begin + if source[begin..].starts_with('\u{feff}') { 3 } else { 0 };
        let lead = &source[begin..task.marker.start];
        let (id, written) = next_id(&list.tasks, task, source).unzip();
        let text = match &written {
            Some(written) => format!("{written} {title}"),
            None => title.to_owned(),
        };
        let mark = match task.is_word {
            true => task.word_of(StepRole::Open, self.grammar()),
            false => self.grammar().mark_of(StepRole::Open).map(String::from),
        };
        let mark = mark.unwrap_or_else(|| " ".to_owned());
        let lead = if is_before { lead.to_owned() } else { numbered(lead) };
        let line = format!("{lead}{mark}] {text}");
        let end = if source.contains("\r\n") { "\r\n" } else { "\n" };
        let splice = match is_before {
            true => Splice { at: begin..begin, new: format!("{line}{end}") },
            false => {
                let at = source[..task.span.end].trim_end().len();
                Splice { at: at..at, new: format!("{end}{line}") }
            }
        };
        let changed = apply_splices(source, &mut [splice.clone()]).ok();
        let changed = changed.and_then(|text| Document::parse(text).ok());
        let tasks = changed.map(|document| Checklist::read(&document, self.grammar()).tasks);
        let said = |task: &Task| (task.id.clone(), task.title.clone(), task.role, task.depth);
        let before: Vec<_> = list.tasks.tasks.iter().map(said).collect();
        let wanted = (id.clone(), title.to_owned(), StepRole::Open, task.depth);
        let is_right = tasks.is_some_and(|tasks| {
            let after: Vec<_> = tasks.iter().map(said).collect();
            let is_new = |at: &usize| {
                after[*at] == wanted && [&after[..*at], &after[*at + 1..]].concat() == before
            };
            after.len() == before.len() + 1 && (0..after.len()).any(|at| is_new(&at))
        });
        match is_right {
            true => Ok(Insertion { file: beside.file, splice, id }),
            false => Err(refused("the line would not read as a task of its own")),
        }
    }
}

/// The beginning of the next line of a numbered list.
fn numbered(lead: &str) -> String {
    let bare = lead.trim_start_matches([' ', '\t']);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    match bare[..digits].parse::<u32>() {
        Ok(number) => {
            let indent = &lead[..lead.len() - bare.len()];
            format!("{indent}{}{}", number.saturating_add(1), &bare[digits..])
        }
        Err(_) => lead.to_owned(),
    }
}

/// The next id after those of the neighbours, as it is read and as it is written: `T014`, `2.4`,
/// `4.`; `None` if the neighbour has none.
fn next_id(list: &Checklist, beside: &Task, source: &str) -> Option<(String, String)> {
    let id = beside.id.as_deref()?;
    let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (stem, number) = id.split_at(id.len() - digits);
    if number.is_empty() {
        return None;
    }
    let of_stem = |task: &Task| {
        let number = task.id.as_deref()?.strip_prefix(stem)?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse::<u64>().ok())?
    };
    let next = list.tasks.iter().filter_map(of_stem).max()?.checked_add(1)?;
    let new = format!("{stem}{next:0width$}", width = number.len());
    // In the style of the neighbour: with its colon or dot, but without its emphasis.
    let line = source.get(beside.marker.end..beside.span.end)?.lines().next()?;
    let plain = line.replace(['*', '_', '`'], "");
    match beside.number {
        None => {
            let behind = plain.split_once(id)?.1;
            let mark = behind.chars().next().filter(|c| matches!(c, ':' | '.' | ')'));
            Some((new.clone(), format!("{new}{}", mark.map(String::from).unwrap_or_default())))
        }
        Some(number) => {
            let (before, behind) = plain.split_once(&number.to_string())?;
            let mark = behind.chars().next().filter(|c| matches!(c, ':' | '.' | ')'))?;
            let word = before.rsplit(']').next()?.trim();
            let space = if word.is_empty() { "" } else { " " };
            Some((new, format!("{word}{space}{next}{mark}")))
        }
    }
}
