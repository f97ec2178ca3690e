//! Which headings and boxes of a plan are its steps.
//!
//! - A heading that says `Step 4` is a step wherever it is, with or without a mark before it.
//!   Within a step it is text of that step. Only where there is no *Steps* around them, as in
//!   `### Step 3` below `## Step 2`, is it a step of its own, if its number is the next one and no
//!   other step has it.
//! - Directly below *Steps* a heading is a step without that word, too: `### 14. Send`,
//!   `### Tell finance`. The same holds in a group of steps below *Steps*. A heading around steps is
//!   a group of them; so is `### Phase 2` as long as nothing is in it. `### Notes` and its like are
//!   prose. A status of its own makes any of them a step.
//! - A box in a list below *Steps*, or in a group there, is a step: `- [ ] Send`. Boxes in a step are
//!   parts of it.
//! - Everything else is prose.
//!
//! A step without a whole number gets the lowest one that is free, in the order of the file; one that
//! a dependency has with the title of a step that is gone is not free.

use std::collections::HashSet;

use crate::domain::plan::{
    dependencies::{self, StepLabels},
    step::heading::{Heading, box_mark},
};
use crate::{
    domain::StepRole,
    text::markdown::{Document, ItemId, SectionId},
};

/// A step and where it is.
#[derive(Clone, Debug)]
pub(crate) struct LocatedStep {
    /// Its section, or the one that its box is in.
    pub(crate) section: SectionId,
    /// Its box, if it is one.
    pub(crate) item: Option<ItemId>,
    pub(crate) heading: Heading,
    pub(crate) number: u32,
}

/// What a section is for the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SectionKind {
    /// Outside of *Steps*.
    Outside,
    /// *Steps* itself, or a group in it.
    Steps,
    /// A step, or what is in one.
    Step,
    /// Prose below *Steps*.
    Prose,
}

/// The steps of a plan, in order.
pub(crate) fn locate(document: &Document) -> Vec<LocatedStep> {
    let mut found: Vec<(usize, LocatedStep)> = Vec::new();
    let mut nested: Vec<(usize, SectionId, Heading)> = Vec::new();
    // For each section so far what it is, and whether it is below *Steps*.
    let mut places: Vec<(SectionId, SectionKind, bool)> = Vec::new();
    for section in document.sections() {
        let this = document.section(section);
        let parent = this.parent.and_then(|id| places.binary_search_by_key(&id, |at| at.0).ok());
        let (around, is_below) = parent.map_or((SectionKind::Outside, false), |at| {
            let (_, place, is_below) = places[at];
            (place, is_below)
        });
        let is_steps = this.level > 0 && this.title.trim().eq_ignore_ascii_case("steps");
        let step = match around {
            _ if is_steps || this.level == 0 => None,
            SectionKind::Step => {
                if let Some(heading) = Heading::read(document, section, false)
                    && !is_below
                    && (heading.number.is_some() || part_of(&heading.title).is_some())
                {
                    nested.push((this.heading.start, section, heading));
                }
                None
            }
            SectionKind::Outside | SectionKind::Prose => Heading::read(document, section, false),
            SectionKind::Steps => step_below_steps(document, section),
        };
        let place = match (&step, around) {
            (Some(_), _) | (None, SectionKind::Step) => SectionKind::Step,
            _ if is_steps => SectionKind::Steps,
            (None, SectionKind::Steps) if is_prose(this.title) => SectionKind::Prose,
            (None, around) => around,
        };
        places.push((section, place, is_below || is_steps));
        if let Some(heading) = step {
            found.push((this.heading.start, located(section, None, heading)));
        }
        if place == SectionKind::Steps {
            for &item in document.items(section) {
                if let Some(heading) = read_box(document, item) {
                    let start = document.item(item).span.start;
                    found.push((start, located(section, Some(item), heading)));
                }
            }
        }
    }
    add_nested(&mut found, nested);
    let mut steps: Vec<LocatedStep> = found.into_iter().map(|(_, step)| step).collect();
    number(document, &mut steps);
    steps
}

fn located(section: SectionId, item: Option<ItemId>, heading: Heading) -> LocatedStep {
    let number = heading.number.unwrap_or_default();
    LocatedStep { section, item, heading, number }
}

/// Steps in the sections of other steps, where their numbers go on.
fn add_nested(found: &mut Vec<(usize, LocatedStep)>, nested: Vec<(usize, SectionId, Heading)>) {
    if nested.is_empty() {
        return;
    }
    let mut taken: HashSet<u32> =
        found.iter().filter_map(|(_, step)| step.heading.number).collect();
    for (start, section, heading) in nested {
        let at = found.partition_point(|(other, _)| *other < start);
        let before = found[..at].iter().rev().find_map(|(_, step)| step.heading.number);
        let Some(number) = heading.number else {
            // `Step 2.1` in the section of `Step 2`.
            if before.is_some() && before == part_of(&heading.title) {
                found.insert(at, (start, located(section, None, heading)));
            }
            continue;
        };
        if before.is_some_and(|before| before + 1 == number) && taken.insert(number) {
            found.insert(at, (start, located(section, None, heading)));
        }
    }
}

/// The number before the dot of `2.1: Send`.
fn part_of(title: &str) -> Option<u32> {
    let (number, rest) = title.split_once('.')?;
    rest.starts_with(|c: char| c.is_ascii_digit()).then(|| number.parse().ok())?
}

/// Numbers the steps that have no number of their own. One that a list of dependencies has with the
/// title of a step that is gone is not free.
fn number(document: &Document, steps: &mut [LocatedStep]) {
    if steps.iter().all(|step| step.heading.number.is_some()) {
        return;
    }
    let mut taken: HashSet<u32> = steps.iter().filter_map(|step| step.heading.number).collect();
    for step in steps.iter() {
        let list = match step.item {
            Some(item) => document.child(item, "depends_on"),
            None => document.field(step.section, "depends_on"),
        };
        if let Ok(Some(list)) = list {
            let named = dependencies::parse(&document.value(list), &StepLabels::default());
            let named = named.unwrap_or_default();
            let is_gone = |title: &str| steps.iter().all(|step| step.heading.title != title);
            let named = named.into_iter().filter_map(|found| found.disagrees);
            taken.extend(named.filter(|(_, title)| is_gone(title)).map(|(number, _)| number));
        }
    }
    let mut free = (1..=u32::MAX).filter(|number| !taken.contains(number));
    for step in steps.iter_mut().filter(|step| step.heading.number.is_none()) {
        step.number = free.next().unwrap_or_default();
    }
}

/// The heading of a section directly below *Steps* or in a group there, if it is that of a step.
fn step_below_steps(document: &Document, section: SectionId) -> Option<Heading> {
    let this = document.section(section);
    let parent = this.parent.map(|id| document.section(id))?;
    let is_direct = parent.title.trim().eq_ignore_ascii_case("steps");
    let says_so = Heading::read(document, section, true);
    if let Some(heading) = says_so {
        let is_group = heading.is_number_alone() && holds_steps(document, section);
        return (!is_group).then_some(heading);
    }
    if this.title.trim().is_empty() || holds_steps(document, section) {
        return None;
    }
    let has_status = matches!(document.field(section, "status"), Ok(Some(_)));
    let is_beside_steps =
        || document.children(parent.id).any(|id| Heading::read(document, id, false).is_some());
    let is_plain = !is_prose(this.title) && !is_group_name(this.title);
    let is_step = has_status || (is_plain && (is_direct || is_beside_steps()));
    is_step.then(|| Heading::read_unnumbered(document, section))
}

fn holds_steps(document: &Document, section: SectionId) -> bool {
    let is_step = |id: SectionId| Heading::read(document, id, false).is_some();
    document.children(section).any(|id| is_step(id) || holds_steps(document, id))
}

/// The text after the box of an item, if it has one.
fn read_box(document: &Document, item: ItemId) -> Option<Heading> {
    let found = document.item(item);
    let text = document.text(item);
    match found.checkbox {
        Some(is_ticked) => {
            let role = if is_ticked { StepRole::Done } else { StepRole::Open };
            (!text.trim().is_empty()).then(|| Heading::of_box(&text, Some(role)))
        }
        None => {
            let (mark, rest) = box_mark(&text)?;
            let title = rest.strip_prefix(' ').map(str::trim).filter(|title| !title.is_empty())?;
            let is_mark = !mark.is_alphanumeric() && !mark.is_whitespace();
            is_mark.then(|| Heading::of_box(title, StepRole::of_box(mark)))
        }
    }
}

/// Titles of text that goes with the steps, and what such titles begin with.
const PROSE: [&str; 20] = [
    "note", "notes", "remarks", "overview", "summary", "legend", "background", "conventions",
    "dependencies", "risks", "appendix", "questions", "open questions", "ideas", "later",
    "references", "scope", "assumptions", "out of scope", "done when",
];
const PROSE_BEGINS: [&str; 6] = ["note ", "notes ", "about ", "why ", "how ", "what "];

fn is_prose(title: &str) -> bool {
    let title = title.trim().trim_end_matches(':').to_lowercase();
    PROSE.contains(&title.as_str()) || PROSE_BEGINS.iter().any(|start| title.starts_with(start))
}

/// Words for a group of steps, before a number.
const GROUPS: [&str; 8] = ["phase", "milestone", "stage", "part", "sprint", "week", "day", "group"];

fn is_group_name(title: &str) -> bool {
    let title = title.trim().to_lowercase();
    let Some((word, rest)) = title.split_once(' ') else { return GROUPS.contains(&&*title) };
    GROUPS.contains(&word) && rest.trim_start().starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number, title and role by mark of each step.
    fn steps(source: &str) -> Vec<(u32, String, Option<StepRole>)> {
        let document = Document::parse(source).unwrap();
        let step = |step: LocatedStep| (step.number, step.heading.title, step.heading.mark);
        locate(&document).into_iter().map(step).collect()
    }

    fn titles(source: &str) -> Vec<String> {
        steps(source).into_iter().map(|(number, title, _)| format!("{number} {title}")).collect()
    }

    #[test]
    fn steps_that_people_type_are_steps() {
        let table = [
            ("## Steps\n### Tell finance\n### Step 1: a\n", vec!["2 Tell finance", "1 a"]),
            ("## Steps\n- [ ] Send\n- [x] Call\n", vec!["1 Send", "2 Call"]),
            ("## Steps\n### Step 14 Send\n### 15. Call\n", vec!["14 Send", "15 Call"]),
            ("## Plan\n#### Step 14: Send\n", vec!["14 Send"]),
            ("## ✅ Step 7: Ship\n## 🟡 Step 8: Look\n", vec!["7 Ship", "8 Look"]),
            ("## Step 2\n### Step 3\n### Step 2.1: Half\n", vec!["2 ", "3 "]),
            ("## Step 2\n### Step 2.1: Half\n### Step 3\n", vec!["2 ", "1 2.1: Half", "3 "]),
            ("## Steps\n### Step 2\n### Step 2.1: Half\n", vec!["2 ", "1 2.1: Half"]),
            ("## Steps\n### Phase 1\n#### Step 1: a\n#### Tell\n", vec!["1 a", "2 Tell"]),
            ("## Steps\n### Phase 1\n- [ ] a\n### Phase 2\n- [ ] b\n", vec!["1 a", "2 b"]),
            ("## Steps\n- [ ] Step 4: a\n- [ ] 5. b\n- [ ] c: d\n", vec!["4 a", "5 b", "1 c: d"]),
            ("## Steps\n### Notes\n- **status**: done\n", vec!["1 Notes"]),
        ];
        for (source, expected) in table {
            assert_eq!(titles(source), expected, "{source}");
        }
    }

    #[test]
    fn the_number_of_a_step_that_is_gone_is_not_given_to_another() {
        let source =
            "## Steps\n### Step 1: a\n### Ask\n### Step 3: b\n- **depends_on**: 2 Gone, 4 Ask\n";
        assert_eq!(titles(source), ["1 a", "4 Ask", "3 b"]);
    }

    #[test]
    fn prose_is_no_step() {
        for source in [
            "# Tell finance\n## Notes\n- [ ] later\n",
            "## Steps\nFirst this, then that.\n- a bullet\n- **key**: value\n",
            "## Steps\n### Notes on the order\n- [ ] not this\n### Phase 3: later\n",
            "## Steps\n```\n### Step 1: x\n- [ ] y\n```\n> - [ ] z\n",
            "## Stepping stones\n### One\n- [ ] two\n",
            "## Steps\n- [1] a footnote\n- [a](b) a link\n- [ ]\n",
        ] {
            assert_eq!(titles(source), Vec::<String>::new(), "{source}");
        }
        let inside = "## Steps\n### Step 1: a\n#### Why\n#### Step 2: in words\n- [ ] part\n\
                      ##### Deeper\n- [x] part\n";
        assert_eq!(titles(inside), ["1 a"]);
        let counted = "## Step 4: a\n### Step 1: open\n### Step 2: close\n## Step 5: b\n";
        assert_eq!(titles(counted), ["4 a", "5 b"]);
        let parts = "## Step 2: a\n### Step 2.1: open\n### Step 3.1: other\n## Step 3: b\n";
        assert_eq!(titles(parts), ["2 a", "1 2.1: open", "3 b"]);
    }

    #[test]
    fn boxes_say_how_far_a_step_is() {
        let source = "## Steps\n- [ ] a\n- [x] b\n- [X] c\n- [-] d\n- [~] e\n- [?] f\n";
        let roles: Vec<Option<StepRole>> =
            steps(source).into_iter().map(|(_, _, role)| role).collect();
        let (open, done) = (Some(StepRole::Open), Some(StepRole::Done));
        let others = [Some(StepRole::Skipped), Some(StepRole::Active), None];
        assert_eq!(roles, [vec![open, done, done], others.to_vec()].concat());
    }
}
