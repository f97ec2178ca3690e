//! What a person most likely meant as a step or a field, and what has to be typed for it.

use crate::domain::plan::{read::field_lines, step::heading::Heading};
use crate::{
    domain::{ErrorCode, Plan, Problem, StateFile, Step, checklist::unboxed},
    text::markdown::{Document, ItemId, SectionId},
};

/// Fields that are worth a word when they stand on a line that is not a list item.
const FIELDS: [&str; 6] = ["status", "goal", "mode", "component", "tool_mapping", "depends_on"];

impl Plan {
    /// What looks like a step or a field and is not read as one.
    pub(crate) fn unrecognised(&self) -> Vec<Problem> {
        let document = &self.document;
        let next = self.new_number(None);
        let mut found = Vec::new();
        for section in document.sections().skip(1) {
            // Two levels deeper is where this program puts headings that look like steps.
            let level = document.section(section).level;
            let is_near = |outer: &SectionId| level <= document.section(*outer).level + 1;
            let outer = self.step_around(section).filter(is_near);
            let is_step = self.is_step(section);
            if !is_step
                && let (Some(outer), Some(heading)) =
                    (outer, Heading::read(document, section, false))
            {
                let level = document.section(outer).level;
                let number = heading
                    .number
                    .filter(|number| self.steps.iter().all(|step| step.number != *number));
                let marks = "#".repeat(usize::from(level));
                let number = number.unwrap_or(next);
                let written = format!("{marks} Step {number}: {}", heading.title);
                found.push(self.unread_at(section, "it is inside another step", &written));
            }
            found.extend(self.loose_fields(section));
            if is_step || self.says_metadata(section) {
                found.extend(half_typed(document, document.items(section), StateFile::Plan));
            }
        }
        for item in self.steps.iter().filter_map(|step| step.item) {
            found.extend(half_typed(document, &document.item(item).children, StateFile::Plan));
        }
        found.extend(self.steps.iter().filter_map(|step| self.unknown_mark(step)));
        found.extend(self.plain_list());
        found.extend(self.beside_boxes());
        found
    }

    /// Items without a box in lists whose boxes are steps.
    fn beside_boxes(&self) -> Option<Problem> {
        let boxes: Vec<&Step> = self.steps.iter().filter(|step| step.item.is_some()).collect();
        let starts: Vec<usize> = boxes.iter().map(|step| step.offset).collect();
        let mut sections: Vec<SectionId> = boxes.iter().map(|step| step.section).collect();
        sections.dedup();
        let found = unboxed::unboxed(&self.document, sections.into_iter(), &starts);
        let message = unboxed::message(&found, ("step", "steps"))?;
        let problem = Problem::warning(ErrorCode::NotAStep, StateFile::Plan, message);
        let problem = Problem { hint: unboxed::hint(&found), ..problem };
        Some(problem.at(self.document.place(found.first()?.start)))
    }

    /// A list without boxes where the steps of a plan that has none would be.
    fn plain_list(&self) -> Option<Problem> {
        let section = self.steps_section().filter(|_| self.steps.is_empty())?;
        let document = &self.document;
        let items = document.items(section).iter().map(|item| document.item(*item));
        let plain: Vec<_> = items.filter(|item| item.key.is_none()).collect();
        let first = plain.first()?;
        let text = document.source().get(first.span.clone())?.lines().next()?.trim();
        let title = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let title = title.trim_start_matches(['.', ')', '-', '+', '*']).trim();
        let message = match plain.len() {
            1 => format!("`{text}` is not read as a step: it has no box"),
            more => {
                format!("`{text}` and {} more are not read as steps: they have no box", more - 1)
            }
        };
        let problem = Problem::warning(ErrorCode::NotAStep, StateFile::Plan, message);
        let hint = format!("write `- [ ] {title}` or `### {title}`");
        Some(problem.at(document.place(first.span.start)).hint(hint))
    }

    /// A mark that has no meaning here.
    fn unknown_mark(&self, step: &Step) -> Option<Problem> {
        if !step.heading.has_unknown_mark || step.status().is_some() {
            return None;
        }
        let message = format!("{} has an unknown mark, so it counts as not started", step.name());
        let problem = Problem::warning(ErrorCode::UnknownStatus, StateFile::Plan, message);
        let hint = match step.item {
            Some(_) => "write `- [ ]` or `- [x]`",
            None => "write ✓, ✗, ▶ or – at the end of the heading",
        };
        Some(problem.at(self.place(step)).hint(hint))
    }

    /// The step whose section is around this one.
    fn step_around(&self, section: SectionId) -> Option<SectionId> {
        let document = &self.document;
        let parents = std::iter::successors(document.section(section).parent, |id| {
            document.section(*id).parent
        });
        parents.into_iter().find(|id| self.is_step(*id))
    }

    fn is_step(&self, section: SectionId) -> bool {
        let start = self.document.section(section).heading.start;
        let at = self.steps.binary_search_by_key(&start, |step| step.offset);
        at.is_ok_and(|at| self.steps[at].item.is_none() && self.steps[at].section == section)
    }

    /// Whether fields of the plan as a whole are read from the section.
    fn says_metadata(&self, section: SectionId) -> bool {
        Some(section) == self.document.title_section() || Some(section) == self.metadata_section()
    }

    /// How many boxes stand in the plan that are neither steps nor parts of one.
    pub(crate) fn unread_boxes(&self) -> usize {
        let document = &self.document;
        let is_outside = |section: &SectionId| {
            let mut around =
                std::iter::successors(Some(*section), |id| document.section(*id).parent);
            !around.any(|id| self.is_step(id) || document.section(id).title.trim() == "Reviews")
        };
        let boxes = |section: SectionId| {
            let is_step = |item| self.steps.iter().any(|step| step.item == Some(item));
            let items = document.items(section).iter().copied();
            items.filter(|item| document.item(*item).checkbox.is_some() && !is_step(*item)).count()
        };
        document.sections().filter(is_outside).map(boxes).sum()
    }

    fn unread_at(&self, section: SectionId, why: &str, written: &str) -> Problem {
        let found = self.document.section(section);
        let message = format!("`{}` is not read as a step: {why}", found.title.trim());
        Problem::warning(ErrorCode::NotAStep, StateFile::Plan, message)
            .at(self.document.place(found.heading.start))
            .hint(format!("write `{written}`"))
    }

    /// Lines such as `Status: done` in the text of the title, the metadata or a step.
    fn loose_fields(&self, section: SectionId) -> Vec<Problem> {
        let document = &self.document;
        if !self.says_metadata(section) && !self.is_step(section) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for part in document.body_blocks(section).into_iter().filter(|part| part.item.is_none()) {
            let text = &document.source()[part.span.clone()];
            if text.starts_with(['`', '~', '<', '>', '|', ' ', '\t']) {
                continue;
            }
            let mut at = part.span.start;
            for line in text.split_inclusive('\n') {
                let is_read = |key: &str| match key {
                    "status" if self.is_step(section) => {
                        field_lines::status(document, section).is_some()
                    }
                    "status" | "goal" | "mode" => !self.is_step(section),
                    _ => false,
                };
                if let Some((key, value)) = loose_field(line)
                    && !matches!(document.field(section, &key), Ok(Some(_)))
                    && !is_read(&key)
                {
                    let message = format!("`{}` is not read as a field", line.trim());
                    let problem = Problem::warning(ErrorCode::NotAStep, StateFile::Plan, message);
                    let written = format!("write `- **{key}**: {value}`");
                    found.push(problem.at(document.place(at)).hint(written));
                }
                at += line.len();
            }
        }
        found
    }
}

/// Items whose key lacks one of the marks around it, so that they are prose: `- **status: x`.
pub(crate) fn half_typed(document: &Document, items: &[ItemId], file: StateFile) -> Vec<Problem> {
    let mut found = Vec::new();
    for item in items.iter().map(|item| document.item(*item)) {
        let text = document.source().get(item.span.clone()).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default().trim();
        if item.key.is_none()
            && item.checkbox.is_none()
            && let Some((key, value)) = half_typed_field(line)
        {
            let message = format!("`{line}` is not read as a field");
            let problem = Problem::warning(ErrorCode::NotAStep, file, message);
            let written = format!("write `- **{key}**: {value}`");
            found.push(problem.at(document.place(item.span.start)).hint(written));
        }
    }
    found
}

/// `- **status: x`, `- status**: x` and `- *status**: x`: one pair of marks and no other.
fn half_typed_field(line: &str) -> Option<(&str, &str)> {
    let text = line.strip_prefix(['-', '+', '*'])?.trim_start();
    let (name, value) = text.split_once(':')?;
    let marks = ["**", "__"].into_iter().find(|marks| text.contains(marks))?;
    let key = name.trim().trim_matches(['*', '_']).trim();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    let is_half = text.matches(marks).count() == 1 && name.contains(marks);
    let value = value.trim();
    let fits = !key.is_empty() && key.len() <= 40 && key.chars().all(is_word) && !value.is_empty();
    (is_half && fits).then_some((key, value))
}

/// `**Component:** x` and `Depends on: 2`, with the key as it has to be written.
fn loose_field(line: &str) -> Option<(String, String)> {
    let (key, value) = field_lines::line_field(line, &FIELDS)?;
    Some((key.to_owned(), line[value].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(source: &str) -> Vec<String> {
        let plan = Plan::read(Document::parse(source).unwrap());
        plan.unrecognised().into_iter().filter_map(|problem| problem.hint).collect()
    }

    #[test]
    fn what_has_to_be_typed_is_said() {
        let source = "# Execution Plan: x\n**Goal:** ship\n\n## Steps\n- [ ] Send\n\n### Step 1: a\nStatus: done\n\nComponent: parser\n\n#### Step 4: c\n\n### Tell finance\nGoal: be told\n";
        let expected = [
            "write `- **component**: parser`",
            "write `### Step 4: c`",
            "write `- **goal**: be told`",
        ];
        assert_eq!(hints(source), expected);
    }

    #[test]
    fn a_key_with_half_of_its_marks_is_named() {
        let source = "# Execution Plan: x\n\n## Metadata\n- **goal: ship\n\n## Steps\n\n### Step 1: a\n- **status: RUNNING\n- tool_mapping**: shell\n\n### Step 2: b\n- **status**: PENDING\n- **Note: ask ada** first\n- see `**x: y`\n- 2**3: eight\n";
        let expected = [
            "write `- **goal**: ship`",
            "write `- **status**: RUNNING`",
            "write `- **tool_mapping**: shell`",
        ];
        assert_eq!(hints(source), expected);
    }

    #[test]
    fn a_list_without_boxes_where_steps_would_be_is_named() {
        let plan = |steps: &str| format!("# Execution Plan: x\n\n## Steps\n\n{steps}");
        let said = ["write `- [ ] Send it` or `### Send it`"];
        for list in ["1. Send it\n2. Call\n", "* Send it\n", "1) Send it\n   at once\n"] {
            assert_eq!(hints(&plan(list)), said, "{list}");
        }
        // Beside steps a list is prose, and a field is one.
        for list in ["- Send it\n\n### Step 1: a\n", "- [ ] Send it\n", "- **owner**: ada\n", ""] {
            assert_eq!(hints(&plan(list)), Vec::<String>::new(), "{list}");
        }
    }

    #[test]
    fn items_without_a_box_beside_boxes_are_named_once() {
        let plan = |steps: &str| format!("# Execution Plan: x\n\n## Steps\n\n{steps}");
        let found = |steps: &str| {
            let plan = Plan::read(Document::parse(plan(steps)).unwrap());
            plan.unrecognised().into_iter().map(|problem| problem.message).collect::<Vec<_>>()
        };
        let mixed = "- [ ] Send\n  - a part\n- Call\n- [x] Ask\n- Wait\n- Go: home\n";
        let said = "`Call` and 2 more (lines 9, 10) have no box, so they are not steps";
        assert_eq!(found(mixed), [said]);
        assert_eq!(found("1. [ ] Send\n2. Call\n"), ["`Call` has no box, so it is not a step"]);
        let hint =
            "write `- [ ] Call` if it is to be done; indent what belongs to the item above it";
        assert_eq!(hints(&plan(mixed)), [hint]);
        assert!(hints(&plan("- [ ] Send\n- [ ]Call\n"))[0].starts_with("write `- [ ] Call` "));
        for separate in ["- [ ] Send\n\n* Call\n", "- [ ] Send\n\nThen:\n\n- Call\n"] {
            assert_eq!(found(separate), Vec::<String>::new(), "{separate}");
        }
    }

    #[test]
    fn what_is_read_or_meant_otherwise_is_left_alone() {
        let source = "# Execution Plan: x\n\n## Metadata\n- **status**: PLANNING\n\n## Steps\n\n### Phase 1\n\n#### Step 1: a ✓\n- [ ] a part of it\n\nStatus quo: fine.\n\n```\nStatus: done\n```\n\n### 2. b\n\n## Notes\n- [ ] later\n";
        assert_eq!(hints(source), Vec::<String>::new());
        let plan = Plan::read(Document::parse(source).unwrap());
        assert_eq!((plan.steps.len(), plan.unread_boxes()), (2, 1));
    }
}
