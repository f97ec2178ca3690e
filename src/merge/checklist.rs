//! Merging adopted checklists: boxes by the identity of the task, all the rest by lines.
//!
//! Markers are decided first, task by task, and written into all three versions; what is left for
//! the lines are the texts. Lines that both sides added in one place are all kept. What cannot be
//! decided is in the file between the markers that git writes, as in any text.

use std::collections::{BTreeMap, HashMap};

use similar::{MergeResolution, TextMerge};

use super::{Conflict, Merged};
use crate::{
    domain::{
        StateFile, StepRole,
        checklist::{Checklist, Grammar, Task},
    },
    text::{Splice, apply_splices, markdown::Document},
};

/// Merges what `ours` and `theirs` made of the checklist `base`.
///
/// # Errors
/// A version cannot be read.
pub(crate) fn merge_checklist(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    grammar: &Grammar,
) -> Result<Merged, String> {
    if ours == theirs || base == theirs {
        return Ok(Merged { bytes: ours.to_vec(), conflicts: Vec::new() });
    }
    if base == ours {
        return Ok(Merged { bytes: theirs.to_vec(), conflicts: Vec::new() });
    }
    let texts = [base, ours, theirs].map(|bytes| std::str::from_utf8(bytes).map(with_last_line));
    let [base_text, ours_text, theirs_text] = texts;
    let text = |read: Result<String, std::str::Utf8Error>| read.map_err(|error| error.to_string());
    let read = |text: String| Version::read(text, grammar);
    let versions = [read(text(base_text)?)?, read(text(ours_text)?)?, read(text(theirs_text)?)?];
    let keys = keys(&versions);
    let [base_text, ours_text, theirs_text] = with_resolved_markers(&versions, &keys, grammar);
    let (mut merged, conflicts) = by_lines(&base_text, &ours_text, &theirs_text);
    // The end of the file is as one side made it.
    let ends = [base, ours, theirs].map(|bytes| bytes.is_empty() || bytes.ends_with(b"\n"));
    let ends_with_line = if ends[1] == ends[0] { ends[2] } else { ends[1] };
    if !ends_with_line && conflicts.is_empty() {
        merged.truncate(merged.trim_end_matches(['\n', '\r']).len());
    }
    Ok(Merged { bytes: merged.into_bytes(), conflicts })
}

fn with_last_line(text: &str) -> String {
    match text.is_empty() || text.ends_with('\n') {
        true => text.to_owned(),
        false if text.contains("\r\n") => format!("{text}\r\n"),
        false => format!("{text}\n"),
    }
}

/// One version of the file.
struct Version {
    text: String,
    tasks: Vec<Task>,
}

impl Version {
    fn read(text: String, grammar: &Grammar) -> Result<Self, String> {
        let document = Document::parse(text.clone()).map_err(|error| error.to_string())?;
        Ok(Self { text, tasks: Checklist::read(&document, grammar).tasks })
    }

    /// The text with other markers, if it still has the same tasks.
    fn with_markers(&self, markers: &BTreeMap<usize, String>, grammar: &Grammar) -> String {
        let splice = |(at, new): (&usize, &String)| Splice {
            at: self.tasks[*at].marker.clone(),
            new: new.clone(),
        };
        let mut splices: Vec<Splice> = markers.iter().map(splice).collect();
        let changed = apply_splices(&self.text, &mut splices).ok();
        let changed = changed.and_then(|text| Self::read(text, grammar).ok());
        match changed {
            Some(changed) if changed.tasks.len() == self.tasks.len() => changed.text,
            _ => self.text.clone(),
        }
    }

    fn marker(&self, at: usize) -> &str {
        self.text.get(self.tasks[at].marker.clone()).unwrap_or_default()
    }
}

/// The key of a task: its id, or its title, with the headings around it where that is not enough;
/// and its ordinal among equal ones.
type Key = (String, usize);

/// The keys of the tasks of each version, with their places.
fn keys(versions: &[Version; 3]) -> [HashMap<Key, usize>; 3] {
    let name = |task: &Task| task.id.clone().unwrap_or_else(|| task.title.clone());
    let is_doubled = |version: &Version| {
        let mut seen: HashMap<String, usize> = HashMap::new();
        version.tasks.iter().for_each(|task| *seen.entry(name(task)).or_default() += 1);
        seen
    };
    let counts: Vec<HashMap<String, usize>> = versions.iter().map(is_doubled).collect();
    let keyed = |version: &Version| {
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut found = HashMap::new();
        for (at, task) in version.tasks.iter().enumerate() {
            let mut name = name(task);
            if counts.iter().any(|counts| counts.get(&name).is_some_and(|count| *count > 1)) {
                name = format!("{}\n{name}", task.group.join("\n"));
            }
            let nth = seen.entry(name.clone()).or_default();
            found.insert((name, *nth), at);
            *nth += 1;
        }
        found
    };
    [keyed(&versions[0]), keyed(&versions[1]), keyed(&versions[2])]
}

/// The three texts with the same marker wherever it can be decided which one is right.
fn with_resolved_markers(
    versions: &[Version; 3],
    keys: &[HashMap<Key, usize>; 3],
    grammar: &Grammar,
) -> [String; 3] {
    let mut markers: [BTreeMap<usize, String>; 3] = Default::default();
    for (key, &ours) in &keys[1] {
        // A task that one side removed and the other changed is a conflict.
        let Some(&theirs) = keys[2].get(key) else { continue };
        let base = keys[0].get(key).copied();
        let task_at = |version: usize, at: usize| -> (&str, StepRole) {
            (versions[version].marker(at), versions[version].tasks[at].role)
        };
        let (our, their) = (task_at(1, ours), task_at(2, theirs));
        let old = base.map(|at| task_at(0, at));
        let taken = if our.0 == their.0 || our.1 == their.1 || Some(their) == old {
            our
        } else if Some(our) == old {
            their
        } else {
            continue;
        };
        for (version, at) in [(0, base), (1, Some(ours)), (2, Some(theirs))] {
            markers[version].extend(at.map(|at| (at, taken.0.to_owned())));
        }
    }
    let text = |at: usize| versions[at].with_markers(&markers[at], grammar);
    [text(0), text(1), text(2)]
}

/// The lines of both sides, with the markers of git where they contradict each other.
fn by_lines(base: &str, ours: &str, theirs: &str) -> (String, Vec<Conflict>) {
    let merge = TextMerge::from_lines(base, ours, theirs);
    let mut out = String::new();
    let mut conflicts = Vec::new();
    for region in merge.regions() {
        let base: Vec<&str> = region.base_range().filter_map(|at| merge.base_line(at)).collect();
        let ours: Vec<&str> = region.ours_range().filter_map(|at| merge.ours_line(at)).collect();
        let theirs: Vec<&str> =
            region.theirs_range().filter_map(|at| merge.theirs_line(at)).collect();
        let taken = match region.resolution() {
            MergeResolution::Theirs => Some(theirs.clone()),
            MergeResolution::Conflict => both(&base, &ours, &theirs),
            _ => Some(ours.clone()),
        };
        if let Some(lines) = taken {
            lines.iter().for_each(|line| out.push_str(line));
            continue;
        }
        let line = out.lines().count() + 1;
        let end = if ours.iter().chain(&theirs).any(|line| line.ends_with("\r\n")) {
            "\r\n"
        } else {
            "\n"
        };
        let parts = [("<<<<<<< ours", &ours), ("||||||| base", &base), ("=======", &theirs)];
        for (mark, lines) in parts {
            out.extend([mark, end]);
            lines.iter().for_each(|line| out.push_str(line));
        }
        out.extend([">>>>>>> theirs", end]);
        let text_of =
            |lines: &[&str]| (!lines.is_empty()).then(|| lines.concat().trim_end().to_owned());
        conflicts.push(Conflict {
            file: StateFile::Plan,
            field: format!("line {line}"),
            base: text_of(&base),
            ours: text_of(&ours),
            theirs: text_of(&theirs),
            line: Some(line),
        });
    }
    (out, conflicts)
}

/// The lines of both sides where one of them only added some before or behind those of the base.
fn both<'t>(base: &[&'t str], ours: &[&'t str], theirs: &[&'t str]) -> Option<Vec<&'t str>> {
    let around = |side: &[&'t str]| -> Option<(Vec<&'t str>, Vec<&'t str>)> {
        let last = side.len().checked_sub(base.len())?;
        let at = (0..=last).find(|at| side[*at..].starts_with(base))?;
        Some((side[..at].to_vec(), side[at + base.len()..].to_vec()))
    };
    match (around(ours), around(theirs)) {
        (Some((our_start, our_end)), Some((their_start, their_end))) => {
            let start = union(our_start, their_start)?;
            Some([start, base.to_vec(), union(our_end, their_end)?].concat())
        }
        (Some((start, end)), None) => Some([start, theirs.to_vec(), end].concat()),
        (None, Some((start, end))) => Some([start, ours.to_vec(), end].concat()),
        (None, None) => None,
    }
}

/// What both sides added in one place, in an order that does not depend on whose side it is; `None`
/// if they added the same task with different markers.
fn union<'t>(ours: Vec<&'t str>, theirs: Vec<&'t str>) -> Option<Vec<&'t str>> {
    let text = |line: &&'t str| line.split_once(']').map(|(_, text)| text.trim());
    let is_new = |line: &&&'t str| line.trim().is_empty() || !ours.contains(line);
    let added: Vec<&str> = theirs.iter().filter(is_new).copied().collect();
    let is_told = |line: &&'t str| {
        text(line).is_some_and(|task_text| {
            !task_text.is_empty()
                && ours.iter().any(|other| other != line && text(other) == Some(task_text))
        })
    };
    if added.iter().any(is_told) {
        return None;
    }
    Some(match ours <= added {
        true => [ours, added].concat(),
        false => [added, ours].concat(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> (String, usize) {
        let grammar = Grammar::default();
        let merged =
            merge_checklist(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), &grammar).unwrap();
        (String::from_utf8(merged.bytes).unwrap(), merged.conflicts.len())
    }

    const BASE: &str = "# T\r\n\r\n- [ ] T001 One\r\n- [ ] T002 Two\r\n- [ ] T003 Three";

    #[test]
    fn ticks_of_neighbours_are_both_kept() {
        let ours = BASE.replace("[ ] T001", "[x] T001");
        let theirs = BASE.replace("[ ] T002", "[X] T002").replace("[ ] T003", "[-] T003");
        let all = theirs.replace("[ ] T001", "[x] T001");
        assert_eq!(merged(BASE, &ours, &theirs), (all.clone(), 0));
        assert_eq!(merged(BASE, &theirs, &ours), (all, 0));
    }

    #[test]
    fn a_tick_follows_its_task_to_another_place() {
        let ours = "# T\r\n\r\n- [ ] T003 Three\r\n- [ ] T001 One\r\n- [ ] T002 Two";
        let theirs = BASE.replace("[ ] T003", "[x] T003").replace("[ ] T001 One", "[x] T001 One");
        let (text, conflicts) = merged(BASE, ours, &theirs);
        assert_eq!(conflicts, 0, "{text}");
        assert_eq!(text, "# T\r\n\r\n- [x] T003 Three\r\n- [x] T001 One\r\n- [ ] T002 Two");
    }

    #[test]
    fn lines_that_both_sides_added_are_all_kept() {
        let ours = format!("{}\r\n- [ ] T004 Four", BASE.replace("[ ] T003", "[x] T003"));
        let theirs = format!("{BASE}\r\n- [x] T005 Five\r\n  more\r\n");
        let expected = "# T\r\n\r\n- [ ] T001 One\r\n- [ ] T002 Two\r\n- [x] T003 Three\r\n\
                        - [ ] T004 Four\r\n- [x] T005 Five\r\n  more\r\n";
        assert_eq!(merged(BASE, &ours, &theirs), (expected.to_owned(), 0));
        assert_eq!(merged(BASE, &theirs, &ours), (expected.to_owned(), 0));
    }

    #[test]
    fn a_text_and_a_marker_of_one_task_can_change_on_two_sides() {
        let ours = BASE.replace("T002 Two", "T002 Twofold");
        let theirs = BASE.replace("[ ] T002", "[x] T002") + "\r\n- [ ] T004 Four\r\n";
        let (text, conflicts) = merged(BASE, &ours, &theirs);
        assert_eq!(conflicts, 0, "{text}");
        assert!(text.contains("- [x] T002 Twofold\r\n") && text.contains("T004"), "{text}");
    }

    #[test]
    fn one_box_both_ways_and_a_task_that_is_gone_are_conflicts() {
        let base = BASE.replace("[ ] T002", "[-] T002");
        let ours = BASE.replace("[ ] T002", "[x] T002").replace("[ ] T001", "[x] T001");
        let theirs = BASE.to_owned();
        let (text, conflicts) = merged(&base, &ours, &theirs);
        assert_eq!(conflicts, 1, "{text}");
        assert!(text.contains("<<<<<<< ours\r\n- [x] T002 Two\r\n||||||| base\r\n- [-] T002 Two"));
        assert!(text.contains("=======\r\n- [ ] T002 Two\r\n>>>>>>> theirs\r\n"), "{text}");
        assert!(text.contains("- [x] T001"), "what is no conflict is merged: {text}");
        let gone = BASE.replace("- [ ] T002 Two\r\n", "");
        let (text, conflicts) = merged(BASE, &gone, &BASE.replace("[ ] T002", "[x] T002"));
        assert_eq!(conflicts, 1, "{text}");
        // Control: a task that nobody touched goes.
        assert_eq!(merged(BASE, &gone, &BASE.replace("[ ] T001", "[x] T001")).1, 0);
    }

    #[test]
    fn words_of_phases_are_merged_as_boxes_are() {
        let grammar = crate::domain::layout::profile::Profile::builtin("planning-with-files");
        let grammar = grammar.unwrap().grammar;
        let base = "### Phase 1: A\n**Status:** pending\n\n### Phase 2: B\n**Status:** pending\n";
        let ours = base.replacen("pending", "complete", 1);
        let theirs = base.replace("B\n**Status:** pending", "B\n**Status:** in_progress");
        let both =
            merge_checklist(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), &grammar).unwrap();
        let text = String::from_utf8(both.bytes).unwrap();
        assert!(
            text.contains("A\n**Status:** complete") && text.contains("B\n**Status:** in_progress")
        );
    }

    proptest! {
        /// Every tick of either side is in the merge, and so is every line, unless it is a conflict.
        #[test]
        fn no_tick_and_no_line_is_lost(
            ticks in prop::collection::vec((any::<bool>(), any::<bool>()), 1..12),
            added in (0usize..3, 0usize..3),
            at in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
            moved in any::<Option<prop::sample::Index>>(),
        ) {
            let count = ticks.len();
            let list = |ticked: &dyn Fn(usize) -> bool| -> Vec<String> {
                (0..count)
                    .map(|n| format!("- [{}] T{n:03} Task {n}\n", if ticked(n) { 'x' } else { ' ' }))
                    .collect()
            };
            let base = list(&|_| false).concat();
            let mut ours = list(&|n| ticks[n].0);
            let mut theirs = list(&|n| ticks[n].1);
            if let Some(index) = moved {
                let line = ours.remove(index.index(count));
                ours.insert(0, line);
            }
            for n in 0..added.0 {
                ours.insert(at.0.index(ours.len() + 1), format!("- [ ] A{n} Ours {n}\n"));
            }
            for n in 0..added.1 {
                theirs.insert(at.1.index(theirs.len() + 1), format!("- [x] B{n} Theirs {n}\n"));
            }
            let (text, conflicts) = merged(&base, &ours.concat(), &theirs.concat());
            prop_assert_eq!(conflicts, 0, "{}", text);
            for (n, (ours, theirs)) in ticks.iter().take(count).enumerate() {
                let mark = if *ours || *theirs { 'x' } else { ' ' };
                prop_assert_eq!(text.matches(&format!("- [{mark}] T{n:03} ")).count(), 1, "{}", text);
            }
            prop_assert_eq!(text.lines().count(), count + added.0 + added.1);
            let (other, _) = merged(&base, &theirs.concat(), &ours.concat());
            let sorted = |text: &str| {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            prop_assert_eq!(sorted(&other), sorted(&text));
        }
    }
}
