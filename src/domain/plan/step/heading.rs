//! The heading of a step: `Step 4: Write a shim ✗`.
//!
//! The mark at its end shows the state of the step at a glance. It follows the status, which is the
//! truth. People also write `Step 4 Write a shim`, `✅ Step 4: Write a shim` and, below *Steps*,
//! `4. Write a shim` or `Write a shim`; which headings are steps is in [`locate`](mod@crate::domain::plan::read::locate).

use crate::{
    domain::StepRole,
    text::markdown::{Document, SectionId},
};

/// A higher number is part of the title: others must be able to follow.
const HIGHEST: u32 = 999_999_999;

const SEPARATORS: [char; 7] = [':', '：', '.', '-', '–', '—', ')'];

impl StepRole {
    /// The mark at the end of the heading; an open step has none.
    pub(crate) fn mark(self) -> Option<char> {
        match self {
            Self::Open => None,
            Self::Active => Some('▶'),
            Self::Waiting => Some('⏸'),
            Self::Done => Some('✓'),
            Self::Failed => Some('✗'),
            Self::Skipped => Some('–'),
        }
    }

    /// What a mark means, ours or one that people use.
    fn of_mark(mark: char) -> Option<Self> {
        Some(match mark {
            '✓' | '✔' | '✅' | '☑' => Self::Done,
            '✗' | '✘' | '✖' | '❌' => Self::Failed,
            '▶' | '🔄' | '⏳' | '🚧' => Self::Active,
            '⏸' => Self::Waiting,
            '–' | '⏭' => Self::Skipped,
            '⬜' | '☐' => Self::Open,
            _ => return None,
        })
    }

    /// What the character in a box means.
    pub(crate) fn of_box(mark: char) -> Option<Self> {
        Some(match mark {
            ' ' => Self::Open,
            'x' | 'X' => Self::Done,
            '-' => Self::Skipped,
            '~' | '>' => Self::Active,
            _ => return None,
        })
    }
}

/// What the heading of a step says, or the text after its box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    /// All that is before the title, without a known mark: `Step 4: `.
    pub(crate) prefix: String,
    /// The whole number, if it has one.
    pub(crate) number: Option<u32>,
    pub(crate) title: String,
    /// What the mark says.
    pub(crate) mark: Option<StepRole>,
    /// Whether the mark is before everything else.
    pub(crate) is_mark_first: bool,
    /// Whether something is before it that looks like a mark and is none.
    pub(crate) has_unknown_mark: bool,
}

/// The same without its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadingForm {
    pub(crate) number: Option<u32>,
    pub(crate) mark: Option<StepRole>,
    pub(crate) is_mark_first: bool,
    pub(crate) has_unknown_mark: bool,
}

/// The text of a heading as it is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeadingText {
    pub(crate) text: String,
    /// Whether its end would pass for a mark, so that it must be written as a character reference.
    pub(crate) ends_like_mark: bool,
}

impl Heading {
    /// Its texts, those before the title and the title, and what else it says.
    pub(crate) fn into_parts(self) -> (String, String, HeadingForm) {
        let Self { prefix, number, title, mark, is_mark_first, has_unknown_mark } = self;
        (prefix, title, HeadingForm { number, mark, is_mark_first, has_unknown_mark })
    }

    /// The heading of a new step.
    pub(crate) fn new(number: u32, title: &str) -> Self {
        Self { prefix: prefix_with(number), number: Some(number), ..Self::plain(title) }
    }

    fn plain(title: &str) -> Self {
        Self {
            prefix: String::new(),
            number: None,
            title: title.to_owned(),
            mark: None,
            is_mark_first: false,
            has_unknown_mark: false,
        }
    }

    /// The heading of `section` if it says that it is a step; a number alone will do if
    /// `is_below_steps`.
    pub(crate) fn read(
        document: &Document,
        section: SectionId,
        is_below_steps: bool,
    ) -> Option<Self> {
        let title = &document.section(section).title;
        Some(Self::parse(title, is_below_steps)?.without_written_mark(document, section))
    }

    /// The heading of `section` as that of a step without a number.
    pub(crate) fn read_unnumbered(document: &Document, section: SectionId) -> Self {
        let (lead, rest) = leading_mark(document.section(section).title.trim());
        let (title, trail) = trailing_mark(rest);
        let heading =
            Self { mark: lead.or(trail), is_mark_first: lead.is_some(), ..Self::plain(title) };
        heading.without_written_mark(document, section)
    }

    /// The text after a box that means `mark`; `None` is a box that has no meaning here.
    pub(crate) fn of_box(text: &str, mark: Option<StepRole>) -> Self {
        let heading = Self::parse(text, true).filter(|found| !found.is_mark_first);
        let mut heading = heading.unwrap_or_else(|| Self::plain(text));
        heading.title = title_of(text, &heading.prefix);
        let has_unknown_mark = mark.is_none();
        Self { mark, is_mark_first: true, has_unknown_mark, ..heading }
    }

    /// A title whose end is written as a character reference has no mark there.
    fn without_written_mark(mut self, document: &Document, section: SectionId) -> Self {
        if self.mark.is_some() && !self.is_mark_first {
            let raw = document.raw_title(section).trim_end_matches('\u{fe0f}');
            if raw.chars().next_back().and_then(StepRole::of_mark).is_none() {
                self.mark = None;
                self.title = title_of(document.section(section).title, &self.prefix);
            }
        }
        self
    }

    /// Reads `Step 12: Title`; `Step 2` does not read as the beginning of `Step 20`. The number of
    /// `Step 2.1: Half` is not whole, so that it belongs to the title. A number alone will do if
    /// `is_below_steps`.
    fn parse(text: &str, is_below_steps: bool) -> Option<Self> {
        let (lead, rest) = leading_mark(text.trim_start());
        let unknown = unknown_mark(rest).filter(|_| lead.is_none());
        let behind = &rest[unknown.unwrap_or(0)..];
        let word = behind.get(..4).filter(|word| word.eq_ignore_ascii_case("step"));
        let after_word = match word {
            Some(word) => {
                behind[word.len()..].strip_prefix(|c: char| c.is_whitespace())?.trim_start()
            }
            None if is_below_steps && unknown.is_none() => rest,
            None => return None,
        };
        let tail = after_word.trim_start_matches(|c: char| c.is_ascii_digit());
        let number: u32 = after_word[..after_word.len() - tail.len()].parse().ok()?;
        if number > HIGHEST {
            return None;
        }
        let (number, title) = match tail.trim_start().strip_prefix(SEPARATORS) {
            Some(title)
                if tail.starts_with('.') && title.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                word?;
                (None, after_word)
            }
            Some(title) if word.is_some() || title.starts_with(char::is_whitespace) => {
                (Some(number), title)
            }
            None if word.is_some()
                && (tail.is_empty() || tail.starts_with(char::is_whitespace)) =>
            {
                (Some(number), tail)
            }
            _ => return None,
        };
        let title = title.trim_start();
        let prefix = rest[..rest.len() - title.len()].to_owned();
        let (title, trail) = trailing_mark(title.trim_end());
        Some(Self {
            prefix,
            number,
            title: title.to_owned(),
            mark: lead.or(trail),
            is_mark_first: lead.is_some(),
            has_unknown_mark: unknown.is_some(),
        })
    }

    /// Whether nothing but a number says that it is a step: it may be a group of them.
    pub(crate) fn is_number_alone(&self) -> bool {
        self.prefix.starts_with(|c: char| c.is_ascii_digit())
    }

    /// The same heading with that number, title and mark; without a number where it has none and
    /// gets none.
    pub(crate) fn write(
        &self,
        number: Option<u32>,
        title: &str,
        mark: Option<StepRole>,
    ) -> HeadingText {
        let mut text = self.prefix.clone();
        match (self.number, number) {
            (Some(_), Some(number)) => renumber(&mut text, number),
            (None, Some(number)) => text = prefix_with(number),
            (_, None) => {}
        }
        let mark = mark.and_then(StepRole::mark);
        let is_bare = title.is_empty() && mark.is_none();
        if is_bare {
            text = text
                .trim_end_matches(|c: char| c.is_whitespace() || SEPARATORS.contains(&c))
                .to_owned();
        } else if text.trim_end().ends_with(|c: char| c.is_ascii_digit()) && self.title.is_empty() {
            text = format!("{}: ", text.trim_end());
        }
        text.push_str(title);
        match mark {
            Some(mark) if title.is_empty() => text.push(mark),
            Some(mark) => text.extend([' ', mark]),
            None => {}
        }
        let ends_like_mark = mark.is_none() && trailing_mark(title).1.is_some();
        HeadingText { text, ends_like_mark }
    }

    /// The text after a box with that number and title.
    pub(crate) fn write_behind_box(&self, number: Option<u32>, title: &str) -> String {
        let mut text = self.prefix.clone();
        match (self.number, number) {
            (Some(_), Some(number)) => renumber(&mut text, number),
            (None, Some(number)) => text = format!("{number}. "),
            (_, None) => {}
        }
        text + title
    }

    /// Where the prefix ends in the source of the title, and where the mark after it begins; the
    /// latter is the end if there is none.
    pub(crate) fn ends(&self, raw: &str) -> (usize, usize) {
        let prefix = raw.find(&self.prefix).map_or(0, |at| at + self.prefix.len());
        let is_marked = self.mark.is_some() && !self.is_mark_first;
        let (before, _) = if is_marked { trailing_mark(raw) } else { (raw, None) };
        // Without a title the mark stands right after the prefix.
        (prefix, if is_marked { before.len().max(prefix) } else { raw.len() })
    }

    /// Whether `mark` is the one that is there, in the place where it belongs.
    pub(crate) fn has_mark(&self, mark: Option<StepRole>) -> bool {
        let shown = |role: Option<StepRole>| role.and_then(StepRole::mark);
        !self.is_mark_first && shown(self.mark) == shown(mark)
    }
}

fn prefix_with(number: u32) -> String {
    format!("Step {number}: ")
}

/// Puts another number in the place of the first one.
pub(crate) fn renumber(prefix: &mut String, number: u32) {
    if let Some(start) = prefix.find(|c: char| c.is_ascii_digit()) {
        let rest = &prefix[start..];
        let width = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        prefix.replace_range(start..start + width, &number.to_string());
    }
}

/// What follows the prefix, whole.
fn title_of(text: &str, prefix: &str) -> String {
    let at = text.find(prefix).map_or(0, |at| at + prefix.len());
    text[at..].trim_end().to_owned()
}

/// A mark or a box at the beginning, and what follows it.
fn leading_mark(text: &str) -> (Option<StepRole>, &str) {
    let mut chars = text.chars();
    let found = chars.next().and_then(StepRole::of_mark);
    if let Some(role) = found {
        let rest = chars.as_str();
        return (Some(role), rest.strip_prefix('\u{fe0f}').unwrap_or(rest).trim_start());
    }
    if let Some((mark, rest)) = box_mark(text)
        && let Some(role) = StepRole::of_box(mark)
    {
        return (Some(role), rest.trim_start());
    }
    (None, text)
}

/// The character in a box at the beginning, and what follows the box.
pub(crate) fn box_mark(text: &str) -> Option<(char, &str)> {
    let mut chars = text.strip_prefix('[')?.chars();
    let mark = chars.next()?;
    Some((mark, chars.as_str().strip_prefix(']')?))
}

/// How long something at the beginning is that looks like a mark and is none that is known.
fn unknown_mark(text: &str) -> Option<usize> {
    let end = text.find(char::is_whitespace)?;
    let is_mark = !text[..end].contains(char::is_alphanumeric) && end > 0;
    is_mark.then(|| text.len() - text[end..].trim_start().len())
}

/// The title, and the mark that follows it or in its place.
fn trailing_mark(text: &str) -> (&str, Option<StepRole>) {
    let bare = text.trim_end_matches('\u{fe0f}');
    let Some(mark) = bare.chars().next_back() else { return (text, None) };
    let before = &bare[..bare.len() - mark.len_utf8()];
    match StepRole::of_mark(mark) {
        Some(role) if before.is_empty() || before.ends_with([' ', '\t']) => {
            (before.trim_end_matches([' ', '\t']), Some(role))
        }
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Said = Option<(Option<u32>, String, Option<StepRole>)>;

    fn read(heading: &str) -> Said {
        let document = Document::parse(format!("## Steps\n\n### {heading}\n")).unwrap();
        let section = document.sections().last().unwrap();
        let heading = Heading::read(&document, section, true);
        heading.map(|found| (found.number, found.title, found.mark))
    }

    fn said(number: u32, title: &str, mark: Option<StepRole>) -> Said {
        Some((Some(number), title.to_owned(), mark))
    }

    #[test]
    fn a_heading_of_a_step_has_a_whole_number() {
        assert_eq!(read("Step 2: Fetch"), said(2, "Fetch", None));
        assert_eq!(read("Step 20"), said(20, "", None));
        assert_eq!(read("step 3 – Read"), said(3, "Read", None));
        for other in ["Step 2nd", "Steps", "Stepping 2: x", "Šte", "Tell finance", "(Step 2: x)"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(read("Step 2.1: Half"), Some((None, "2.1: Half".to_owned(), None)));
    }

    #[test]
    fn headings_that_people_write_are_understood() {
        assert_eq!(read("Step 14 Send"), said(14, "Send", None));
        assert_eq!(read("14. Send"), said(14, "Send", None));
        assert_eq!(read("14) Send"), said(14, "Send", None));
        assert_eq!(read("✅ Step 7: Ship"), said(7, "Ship", Some(StepRole::Done)));
        assert_eq!(read("✔️ Step 7: Ship"), said(7, "Ship", Some(StepRole::Done)));
        assert_eq!(read("[x] Step 7: Ship"), said(7, "Ship", Some(StepRole::Done)));
        assert_eq!(read("[-] Step 7: Ship"), said(7, "Ship", Some(StepRole::Skipped)));
        assert_eq!(read("🟡 Step 7: Ship"), said(7, "Ship", None));
        assert_eq!(read("3.14 is not a step"), None);
        assert_eq!(read("Step 4294967295: Last"), None);
    }

    #[test]
    fn a_mark_is_no_part_of_the_title() {
        assert_eq!(read("Step 4: Write a shim ✗"), said(4, "Write a shim", Some(StepRole::Failed)));
        assert_eq!(read("Step 4: –"), said(4, "", Some(StepRole::Skipped)));
        assert_eq!(read("Step 4: Tick ✓ ✗"), said(4, "Tick ✓", Some(StepRole::Failed)));
        assert_eq!(read("Step 4: Tick &#10003;"), said(4, "Tick ✓", None));
        assert_eq!(read("Step 4: a-✓"), said(4, "a-✓", None));
    }

    #[test]
    fn a_heading_keeps_its_form() {
        let rewritten = |text: &str| {
            let heading = Heading::parse(text, true).unwrap();
            let is_numbered = heading.number.is_some();
            let number = is_numbered.then_some(5);
            heading.write(number, &heading.title, Some(StepRole::Done)).text
        };
        assert_eq!(rewritten("Step 14 Send"), "Step 5 Send ✓");
        assert_eq!(rewritten("14. Send ▶"), "5. Send ✓");
        assert_eq!(rewritten("✅ Step 7: Ship"), "Step 5: Ship ✓");
        assert_eq!(rewritten("Step 7"), "Step 5: ✓");
        assert_eq!(rewritten("🟡 Step 7: Ship"), "🟡 Step 5: Ship ✓");
        assert_eq!(rewritten("Step 2.1: Half"), "Step 2.1: Half ✓");
        let half = Heading::parse("Step 2.1: Half", false).unwrap();
        assert_eq!(half.write(Some(3), &half.title, None).text, "Step 3: 2.1: Half");
        let bare = Heading::parse("Step 7: ✓", false).unwrap();
        assert_eq!(bare.write(Some(7), "", None).text, "Step 7");
    }

    proptest! {
        #[test]
        fn any_title_reads_back_with_any_mark(
            title in "[a-z✓✗▶–✅ :.#&*-]{0,12}",
            role in prop::sample::select(vec![
                None, Some(StepRole::Open), Some(StepRole::Active), Some(StepRole::Done),
                Some(StepRole::Failed), Some(StepRole::Skipped),
            ]),
        ) {
            let title = title.trim();
            let written = Heading::new(4, title).write(Some(4), title, role);
            let document = Document::parse("## Steps\n\n### Step 1: x\n").unwrap();
            let section = document.sections().last().unwrap();
            let mut edit = document.edit();
            edit.set_title_ending(section, &written.text, written.ends_like_mark);
            let document = edit.finish().unwrap().document;
            let section = document.sections().last().unwrap();
            let read = Heading::read(&document, section, true).unwrap();
            let shown = |role: Option<StepRole>| role.and_then(StepRole::mark);
            prop_assert_eq!((read.number, read.title.as_str()), (Some(4), title));
            prop_assert_eq!(shown(read.mark), shown(role));
        }
    }
}
