//! Conflicts as they are written in a file, and found there again.
//!
//! ```text
//! - **status**: <<<<<<< ours "FAILED" ||||||| base "RUNNING" ======= theirs "COMPLETED" >>>>>>>
//! ```
//!
//! Each side is a JSON string with the text as it was in the file, so that a value of several lines
//! stays one line, and one value to whoever reads the file. `-` stands for a side that has no such
//! field; `section` for the section that the marker is in, when the other side removed it. In
//! variables.json the value becomes `{"<<<<<<< conflict": {"base": …, "ours": …, "theirs": …}}`.

use super::git_markers::has_git_markers;
use crate::domain::StateFile;
use crate::domain::outline::{Outline, ThingId, ThingKind};
use crate::text::json::{JsonDocument, Literal, Path};
use crate::text::markdown::Document;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;

/// A field that both sides changed differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    pub file: StateFile,
    /// Which field, such as `plan.k3f9.status` or `variables.a.b`; the stem of the file when the
    /// whole file is an ordinary conflict of git.
    pub field: String,
    /// The value before both changes; `None` when there was none.
    pub base: Option<String>,
    /// Our value; `None` when it was removed.
    pub ours: Option<String>,
    /// Their value; `None` when it was removed.
    pub theirs: Option<String>,
    /// The line on which it stands, from one.
    pub line: Option<usize>,
}

impl Conflict {
    /// An ordinary conflict of git about a whole file.
    pub fn of_file(file: StateFile) -> Self {
        let field = stem(file).to_owned();
        Self { file, field, base: None, ours: None, theirs: None, line: None }
    }

    /// Whether it is about a whole file, which was not merged by meaning.
    pub fn is_whole(&self) -> bool {
        self.field == stem(self.file)
    }
}

/// Whether the file may hold a conflict: a quick look without reading its structure.
pub(crate) fn may_conflict(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, START.as_bytes()).is_some()
}

/// The conflicts that stand in a file, in its order.
pub(crate) fn conflicts(file: StateFile, bytes: &[u8]) -> Vec<Conflict> {
    if !may_conflict(bytes) {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(bytes);
    if has_git_markers(&text) {
        let line = text.lines().position(|line| line.starts_with(START)).map(|at| at + 1);
        return vec![Conflict { line, ..Conflict::of_file(file) }];
    }
    match file {
        StateFile::Variables => {
            let Ok(document) = JsonDocument::parse(text.into_owned()) else { return Vec::new() };
            let conflict = |(path, sides): (Path, Literal)| {
                let side = |name: &str| sides.get(name).map(Literal::to_text);
                Conflict {
                    file,
                    field: field_of(&path),
                    base: side("base"),
                    ours: side("ours"),
                    theirs: side("theirs"),
                    line: document.place(&path).map(|place| place.line),
                }
            };
            in_json(&document).into_iter().map(conflict).collect()
        }
        StateFile::Workflow | StateFile::Log => Vec::new(),
        _ => {
            let Ok(document) = Document::parse(text.into_owned()) else { return Vec::new() };
            in_markdown(file, &document).into_iter().map(|placed| placed.conflict).collect()
        }
    }
}

pub(super) fn stem(file: StateFile) -> &'static str {
    file.name().split('.').next().unwrap_or_default()
}

/// The conflicts of variables.json: where each is, and its sides by name.
pub(super) fn in_json(document: &JsonDocument) -> Vec<(Path, Literal)> {
    fn walk(value: &Literal, path: &Path, found: &mut Vec<(Path, Literal)>) {
        match value {
            Literal::Object(members) => match (value.get(KEY), members.len()) {
                (Some(sides), 1) => found.push((path.clone(), sides.clone())),
                _ => members.iter().for_each(|(key, value)| walk(value, &path.join(key), found)),
            },
            Literal::Array(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(at, value)| walk(value, &path.join(at.to_string()), found));
            }
            Literal::Scalar(_) => {}
        }
    }
    let mut found = Vec::new();
    walk(&document.literal(), &Path::root(), &mut found);
    found
}

pub(super) fn field_of(path: &Path) -> String {
    let text = path.to_string();
    let dot = if text.is_empty() || text.starts_with('[') { "" } else { "." };
    format!("variables{dot}{text}")
}

/// A conflict in markdown and where its marker is.
pub(super) struct Placed {
    pub(super) conflict: Conflict,
    pub(super) marker: Marker,
    /// The bytes of the marker.
    pub(super) span: Range<usize>,
    /// The bytes of the thing that goes when its absence is chosen.
    pub(super) whole: Range<usize>,
}

/// All conflicts of a markdown file, with their places.
pub(super) fn in_markdown(file: StateFile, document: &Document) -> Vec<Placed> {
    let outline = Outline::read(file, document);
    let mut walk = Walk { file, outline: &outline, placed: Vec::new() };
    walk.thing(Outline::ROOT, &[stem(file).to_owned()]);
    walk.placed
}

struct Walk<'w> {
    file: StateFile,
    outline: &'w Outline<'w>,
    placed: Vec<Placed>,
}

impl Walk<'_> {
    fn thing(&mut self, id: ThingId, path: &[String]) {
        let thing = self.outline.get(id);
        let whole = thing.span.start..thing.span.start + self.outline.source(id).len();
        let is_section = matches!(thing.kind, ThingKind::Section(_));
        if let Some(marker) = Marker::read(&thing.value) {
            let conflict = Conflict {
                file: self.file,
                field: path.join(".")
                    + if is_section || thing.boxed.is_some() { ".title" } else { "" },
                base: marker.base.text(),
                ours: marker.ours.text(),
                theirs: marker.theirs.text(),
                line: Some(self.outline.document.place(thing.span.start).line),
            };
            let span = thing.span.end - thing.value.len()..thing.span.end;
            self.placed.push(Placed { conflict, marker, span, whole: whole.clone() });
        }
        let below = self.placed.len();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for child in self.outline.children(id) {
            let name = self.name(child);
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            let mut inner = path.to_vec();
            let found = self.outline.get(child);
            match (found.kind, found.any_step()) {
                // The title of the document says nothing about the place.
                (ThingKind::Section(1), _) => {}
                (_, Some(_)) => inner = vec![stem(self.file).to_owned(), name],
                _ if *count > 1 || name.ends_with('_') => {
                    inner.push(format!("{}{count}", name.trim_end_matches('_')));
                }
                _ => inner.push(name),
            }
            // A marker right below a heading is about the section.
            let is_about_section = found.kind == ThingKind::Text
                && Marker::read(&found.value).is_some_and(|m| m.is_about_section());
            self.thing(child, if is_about_section { path } else { &inner });
        }
        let name = path.join(".");
        for placed in self.placed[below..].iter_mut().filter(|_| is_section) {
            if placed.marker.is_about_section() && placed.conflict.field == name {
                placed.whole = whole.clone();
            }
        }
    }

    /// How a thing is called in the path of a field.
    fn name(&self, id: ThingId) -> String {
        let thing = self.outline.get(id);
        if let Some(step) = thing.any_step() {
            return step.id.clone().unwrap_or_else(|| format!("step{}", step.number));
        }
        let document = self.outline.document;
        let key = thing.item.and_then(|item| document.item(item).key.as_deref());
        let text = match (thing.kind, self.outline.written_name(id).or(key)) {
            (_, Some(name)) if name.contains(START) => return "section_".to_owned(),
            (ThingKind::Item, Some(name)) if name.len() < 40 => name,
            (ThingKind::Section(_), Some(name)) => name,
            (ThingKind::Item, _) => return "item_".to_owned(),
            _ => return "text_".to_owned(),
        };
        let plain = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
        let slug: String = text.trim().to_lowercase().chars().map(plain).collect();
        slug.trim_matches('_').to_owned()
    }
}

/// What every marker begins with.
pub(super) const START: &str = "<<<<<<< ";

/// The key that makes an object of variables.json a conflict.
pub(super) const KEY: &str = "<<<<<<< conflict";

const OURS: &str = "<<<<<<< ours ";
const BASE: &str = " ||||||| base ";
const THEIRS: &str = " ======= theirs ";
const END: &str = " >>>>>>>";
const ABSENT: &str = "-";
const SECTION: &str = "section";

/// What one side says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// It has no such field.
    Absent,
    /// The text that stands there.
    Text(String),
    /// The section around the marker, as it is.
    Section,
}

/// A conflict in the place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) base: Version,
    pub(super) ours: Version,
    pub(super) theirs: Version,
}

impl Version {
    pub(super) fn of(text: Option<&str>) -> Self {
        text.map_or(Self::Absent, |text| Self::Text(text.to_owned()))
    }

    /// The text for people; `None` when absent.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Absent => None,
            Self::Text(text) => Some(text.clone()),
            Self::Section => Some("(the section as it is)".to_owned()),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Absent => ABSENT.to_owned(),
            Self::Section => SECTION.to_owned(),
            Self::Text(text) => {
                let text = text.replace("\r\n", "\n");
                let quoted = serde_json::Value::String(text).to_string();
                // Neither a comment nor another marker may begin inside a marker.
                quoted.replace('<', "\\u003c").replace(">>>>>>>", "\\u003e>>>>>>")
            }
        }
    }

    fn read(text: &str) -> Option<(Self, &str)> {
        if let Some(rest) = text.strip_prefix(SECTION) {
            return Some((Self::Section, rest));
        }
        if !text.starts_with('"') {
            return text.strip_prefix(ABSENT).map(|rest| (Self::Absent, rest));
        }
        let mut strings = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let value = strings.next()?.ok()?;
        Some((Self::Text(value), &text[strings.byte_offset()..]))
    }
}

impl Marker {
    /// The marker on one line.
    pub(super) fn write(&self) -> String {
        let (base, ours, theirs) = (self.base.write(), self.ours.write(), self.theirs.write());
        [OURS, &ours, BASE, &base, THEIRS, &theirs, END].concat()
    }

    /// Whether it is the section around it that one side removed.
    pub(super) fn is_about_section(&self) -> bool {
        self.ours == Version::Section || self.theirs == Version::Section
    }

    /// Reads a text that is a marker and nothing else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (ours, rest) = Version::read(text.trim().strip_prefix(OURS)?)?;
        let (base, rest) = Version::read(rest.strip_prefix(BASE)?)?;
        let (theirs, rest) = Version::read(rest.strip_prefix(THEIRS)?)?;
        (rest == END).then_some(Self { base, ours, theirs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_marker_reads_back_on_one_line(ours in "(?s).{0,20}", theirs in "[\"\\\\<>|= \\n-]{0,20}") {
            let marker = |ours: &str| Marker {
                base: Version::Absent,
                ours: Version::Text(ours.to_owned()),
                theirs: Version::Text(theirs.clone()),
            };
            let text = marker(&ours).write();
            prop_assert!(!text.contains('\n') && !text.contains('\r'));
            prop_assert_eq!(text.matches(START).count(), 1);
            // Line ends are those of the file that the marker is in.
            prop_assert_eq!(Marker::read(&text), Some(marker(&ours.replace("\r\n", "\n"))));
        }
    }

    #[test]
    fn other_text_is_not_a_marker() {
        for text in ["<<<<<<< HEAD", "<<<<<<< ours \"a\"", "x <<<<<<< ours - ||||||| base -"] {
            assert_eq!(Marker::read(text), None);
        }
    }
}
