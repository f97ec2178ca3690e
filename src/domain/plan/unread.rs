//! What a person most likely meant as a step or a field, and what has to be typed for it.

use super::{
    heading::{Heading, is_below_steps},
    is_step,
};
use crate::{
    domain::{ErrorCode, Plan, Problem, StateFile},
    text::markdown::{Document, ItemId, SectionId},
};

/// Fields that are worth a word when they stand on a line that is no list item.
const FIELDS: [&str; 6] = ["status", "goal", "mode", "component", "tool_mapping", "depends_on"];

impl Plan {
    /// What looks like a step or a field and is not read as one.
    pub(crate) fn unread(&self) -> Vec<Problem> {
        let document = &self.document;
        let next = self.new_number(None);
        let mut found = Vec::new();
        for section in document.sections().skip(1) {
            let title = document.section(section).title.trim();
            let is_inside = std::iter::successors(document.section(section).parent, |id| {
                document.section(*id).parent
            })
            .find(|id| is_step(document, *id));
            let marks = |level: u8| "#".repeat(usize::from(level));
            let level = document.section(section).level;
            if let (Some(outer), Some(heading)) = (is_inside, Heading::read(document, section)) {
                let level = document.section(outer).level;
                let is_taken = self.steps.iter().any(|step| step.number == heading.number);
                let number = if is_taken { next } else { heading.number };
                let written = format!("{} Step {number}: {}", marks(level), heading.title);
                found.push(self.unread_at(section, "it stands inside another step", &written));
            } else if is_inside.is_none()
                && let Some(rest) = decimal_step(title)
            {
                let written = format!("{} Step {next}: {rest}", marks(level));
                found.push(self.unread_at(section, "its number is not whole", &written));
            } else if is_below_steps(document, section)
                && !is_step(document, section)
                && !holds_steps(document, section)
                && !title.is_empty()
            {
                let written = format!("{} Step {next}: {title}", marks(level));
                found.push(self.unread_at(section, "it has no number", &written));
            }
            found.extend(self.loose_fields(section));
        }
        found.extend(self.loose_boxes());
        found
    }

    /// How many boxes stand where steps are looked for, without being part of one.
    pub(crate) fn unread_boxes(&self) -> usize {
        let document = &self.document;
        let is_outside = |section: &SectionId| {
            let mut around =
                std::iter::successors(Some(*section), |id| document.section(*id).parent);
            !around
                .any(|id| is_step(document, id) || document.section(id).title.trim() == "Reviews")
        };
        let boxes = |section: SectionId| {
            let items = &document.section(section).items;
            items.iter().filter(|item| document.item(**item).checkbox.is_some()).count()
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

    /// Boxes directly below *Steps*.
    fn loose_boxes(&self) -> Vec<Problem> {
        let Some(section) = self.steps_section() else { return Vec::new() };
        let items = self.document.section(section).items.iter();
        let boxes = items.filter(|item| self.document.item(**item).checkbox.is_some());
        let problem = |item: &ItemId| {
            let text = self.document.text(*item);
            let message = format!("`{text}` is a box and not read as a step");
            let quoted = text.replace(['"', '`', '$', '\\'], "'");
            Problem::warning(ErrorCode::NotAStep, StateFile::Plan, message)
                .at(self.document.place(self.document.item(*item).span.start))
                .hint(format!("`statedir step add \"{quoted}\"` makes it one"))
        };
        boxes.map(problem).collect()
    }

    /// Lines such as `Status: done` in the text of the title, the metadata or a step.
    fn loose_fields(&self, section: SectionId) -> Vec<Problem> {
        let document = &self.document;
        let is_title = Some(section) == self.title_section();
        if !is_title && Some(section) != self.metadata_section() && !is_step(document, section) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for part in document.parts(section).into_iter().filter(|part| part.item.is_none()) {
            let text = &document.source()[part.span.clone()];
            if text.starts_with(['`', '~', '<', '>', '|', ' ', '\t']) {
                continue;
            }
            let mut at = part.span.start;
            for line in text.split_inclusive('\n') {
                if let Some((key, value)) = loose_field(line)
                    && !matches!(document.field(section, &key), Ok(Some(_)))
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

/// `**Goal:** x` and `Status: done`, with the key as it has to be written.
fn loose_field(line: &str) -> Option<(String, String)> {
    let (key, value) = line.trim().split_once(':')?;
    let key = key.trim().trim_matches('*').trim().to_ascii_lowercase().replace([' ', '-'], "_");
    let value = value.trim().trim_start_matches("**").trim().trim_end_matches('\\').trim();
    (FIELDS.contains(&key.as_str()) && !value.is_empty()).then(|| (key, value.to_owned()))
}

/// The title behind `Step 2.1:`.
fn decimal_step(title: &str) -> Option<&str> {
    let word = title.get(..5).filter(|word| word.eq_ignore_ascii_case("step "))?;
    let rest = title[word.len()..].trim_start();
    let tail = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = rest[..rest.len() - tail.len()].trim_end_matches('.');
    let is_decimal = number.contains('.') && number.starts_with(|c: char| c.is_ascii_digit());
    is_decimal.then(|| tail.trim_start_matches([':', ' ', '-', '–', ')']))
}

fn holds_steps(document: &Document, section: SectionId) -> bool {
    let children = &document.section(section).children;
    children.iter().any(|id| is_step(document, *id) || holds_steps(document, *id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(source: &str) -> Vec<String> {
        let plan = Plan::read(Document::parse(source).unwrap());
        plan.unread().into_iter().filter_map(|problem| problem.hint).collect()
    }

    #[test]
    fn what_has_to_be_typed_is_said() {
        let source = "# Execution Plan: x\n**Goal:** ship\n\n## Steps\n- [ ] Send\n\n### Step 1: a\nStatus: done\n\n### Tell finance\n\n### Step 2.1: Half\n\n## Step 3: b\n\n### Step 4: c\n";
        let expected = [
            "write `- **goal**: ship`",
            "write `- **status**: done`",
            "write `### Step 4: Tell finance`",
            "write `### Step 4: Half`",
            "write `## Step 4: c`",
            "`statedir step add \"Send\"` makes it one",
        ];
        assert_eq!(hints(source), expected);
    }

    #[test]
    fn what_is_read_or_meant_otherwise_is_left_alone() {
        let source = "# Execution Plan: x\n\n## Metadata\n- **status**: PLANNING\n\n## Steps\n\n### Phase 1\n\n#### Step 1: a ✓\n- [ ] a part of it\n\nStatus quo: fine.\n\n```\nStatus: done\n```\n\n### 2. b\n\n## Notes\n- [ ] later\n";
        assert_eq!(hints(source), Vec::<String>::new());
        let plan = Plan::read(Document::parse(source).unwrap());
        assert_eq!((plan.steps.len(), plan.unread_boxes()), (2, 1));
    }
}
