//! Ids and numbers of tasks.

use std::collections::{BTreeMap, BTreeSet};

use super::{Adopted, ChecklistFile, TaskStep};
use crate::domain::{StepId, checklist::Task};

impl Adopted<'_> {
    /// Every task as a step, with the id in its text, or one derived from its title.
    ///
    /// A task with a whole number keeps it, so that people can go on using it; the others are
    /// numbered after the highest.
    pub(super) fn assign_ids(&self, lists: &[Option<ChecklistFile>]) -> Vec<TaskStep> {
        let all: Vec<(usize, usize, &Task)> = lists
            .iter()
            .enumerate()
            .filter_map(|(file, list)| Some((file, list.as_ref()?)))
            .flat_map(|(file, list)| {
                list.tasks.tasks.iter().enumerate().map(move |(at, task)| (file, at, task))
            })
            .collect();
        let mut taken = BTreeSet::new();
        let ids: Vec<StepId> = all
            .iter()
            .map(|(file, _, task)| {
                let prefix = self.layout.plan[*file].prefix.as_str();
                let id = match &task.id {
                    Some(id) => unique(&with_prefix(prefix, id), &taken),
                    None => of_title(prefix, &task.title, &taken),
                };
                taken.insert(id.as_str().to_owned());
                id
            })
            .collect();
        let numbers = numbers(&all);
        let steps = all.iter().zip(ids).zip(numbers);
        steps
            .map(|(((file, task, read), id), number)| {
                let section = read.section.number();
                TaskStep { file: *file, section, task: *task, id, number }
            })
            .collect()
    }
}

fn numbers(all: &[(usize, usize, &Task)]) -> Vec<u32> {
    let given: Vec<u32> = all.iter().filter_map(|(_, _, task)| task.number).collect();
    let distinct: BTreeSet<u32> = given.iter().copied().collect();
    let highest = distinct.last().copied().unwrap_or(0);
    let one_file = all.windows(2).all(|pair| pair[0].0 == pair[1].0);
    if !one_file || distinct.len() < given.len() || distinct.contains(&0) || highest > 100_000 {
        return (1..).take(all.len()).collect();
    }
    let mut next = highest;
    all.iter()
        .map(|(_, _, task)| {
            task.number.unwrap_or_else(|| {
                next += 1;
                next
            })
        })
        .collect()
}

fn with_prefix(prefix: &str, id: &str) -> String {
    match prefix {
        "" => id.to_owned(),
        prefix => format!("{prefix}/{id}"),
    }
}

/// The id, with a number appended if another task already has it.
fn unique(id: &str, taken: &BTreeSet<String>) -> StepId {
    let named = (1u32..).map(|count| match count {
        1 => id.to_owned(),
        count => format!("{id}-{count}"),
    });
    let free = named.filter(|id| !taken.contains(id)).find_map(|id| StepId::parse(&id));
    free.unwrap_or_else(|| of_title("", id, taken))
}

/// An id derived from a title: stable as long as the title is.
fn of_title(prefix: &str, title: &str, taken: &BTreeSet<String>) -> StepId {
    const LETTERS: &[u8] = b"bcdfghjkmnpqrstvwxz";
    const WIDTH: usize = 6;
    let mut hash = title.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    loop {
        let mut bits = hash;
        let mut text = String::with_capacity(WIDTH);
        for _ in 0..WIDTH {
            text.push(char::from(LETTERS[(bits % LETTERS.len() as u64) as usize]));
            bits /= LETTERS.len() as u64;
        }
        let named = with_prefix(prefix, &text);
        if !taken.contains(&named)
            && let Some(id) = StepId::parse(&named)
        {
            return id;
        }
        hash = hash.rotate_left(21).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    }
}

/// The step ids of one file's tasks by the ids in their text, for resolving dependencies.
pub(super) fn by_written_id(
    list: &ChecklistFile,
    file: usize,
    task_steps: &[TaskStep],
) -> BTreeMap<String, StepId> {
    let mut known = BTreeMap::new();
    if list.tasks.tasks.iter().all(|task| task.depends_on.is_empty()) {
        return known;
    }
    for one in task_steps.iter().filter(|one| one.file == file) {
        if let Some(id) = &list.tasks.tasks[one.task].id {
            known.entry(id.clone()).or_insert_with(|| one.id.clone());
        }
    }
    known
}
