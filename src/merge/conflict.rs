//! Conflicts as they stand in a file.

use serde::Serialize;

use crate::text::{
    json::{JsonDocument, Literal, Path},
    markdown::Document,
};

use super::marker::{KEY, Marker, START};
use super::raw::has_git_markers;
use super::tree::{Kind, Node, Tree};
use crate::domain::StateFile;

/// A field that both sides changed differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The file it stands in.
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
    let mark = START.as_bytes();
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'<') {
        rest = &rest[at..];
        if rest.starts_with(mark) {
            return true;
        }
        rest = &rest[1..];
    }
    false
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
            let mut found = Vec::new();
            in_json(&document, &document.literal(), &Path::root(), &mut found);
            found
        }
        StateFile::Workflow | StateFile::Log => Vec::new(),
        _ => {
            let Ok(document) = Document::parse(text.into_owned()) else { return Vec::new() };
            let tree = Tree::read(&document);
            let mut found = Vec::new();
            let mut walk = Walk { file, source: document.source(), at: 0, found: &mut found };
            walk.node(&tree.root, &[stem(file).to_owned()]);
            found.into_iter().map(|found| found.conflict).collect()
        }
    }
}

pub(super) fn stem(file: StateFile) -> &'static str {
    file.name().split('.').next().unwrap_or_default()
}

fn in_json(document: &JsonDocument, value: &Literal, path: &Path, found: &mut Vec<Conflict>) {
    if let Some(sides) = as_conflict(value) {
        let side = |name: &str| sides.get(name).map(Literal::to_text);
        found.push(Conflict {
            file: StateFile::Variables,
            field: field_of(path),
            base: side("base"),
            ours: side("ours"),
            theirs: side("theirs"),
            line: document.place(path).map(|place| place.line),
        });
        return;
    }
    match value {
        Literal::Object(members) => {
            members
                .iter()
                .for_each(|(key, value)| in_json(document, value, &path.join(key), found));
        }
        Literal::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, value)| {
                in_json(document, value, &path.join(at.to_string()), found)
            });
        }
        Literal::Scalar(_) => {}
    }
}

pub(super) fn field_of(path: &Path) -> String {
    let text = path.to_string();
    let dot = if text.is_empty() || text.starts_with('[') { "" } else { "." };
    format!("variables{dot}{text}")
}

/// The sides of a conflict that stands in the place of a value.
pub(super) fn as_conflict(value: &Literal) -> Option<&Literal> {
    match value {
        Literal::Object(members) if members.len() == 1 => value.get(KEY),
        _ => None,
    }
}

/// A conflict in markdown and where its marker is.
pub(super) struct Found {
    pub(super) conflict: Conflict,
    pub(super) marker: Marker,
    /// The bytes of the marker.
    pub(super) span: std::ops::Range<usize>,
    /// The bytes of the part that goes when its absence is chosen.
    pub(super) whole: std::ops::Range<usize>,
}

/// All conflicts of a markdown file, with their places.
pub(super) fn in_markdown(file: StateFile, document: &Document) -> Vec<Found> {
    let tree = Tree::read(document);
    let mut found = Vec::new();
    let mut walk = Walk { file, source: document.source(), at: 0, found: &mut found };
    walk.node(&tree.root, &[stem(file).to_owned()]);
    found
}

struct Walk<'w> {
    file: StateFile,
    source: &'w str,
    at: usize,
    found: &'w mut Vec<Found>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node, path: &[String]) {
        self.at += node.gap.len();
        let start = self.at;
        self.at += node.prefix.len() + node.value.len();
        let value_start = start + node.prefix.len();
        let before = self.found.len();
        if let Some(marker) = Marker::read(&node.value) {
            let line = self.source[..start].matches('\n').count() + 1;
            let is_title = matches!(node.kind, Kind::Section(_));
            let conflict = Conflict {
                file: self.file,
                field: path.join(".") + if is_title { ".title" } else { "" },
                base: marker.base.text(),
                ours: marker.ours.text(),
                theirs: marker.theirs.text(),
                line: Some(line),
            };
            let span = value_start..self.at;
            self.found.push(Found { conflict, marker, span, whole: start..self.at });
        }
        let mut counts = std::collections::HashMap::new();
        for child in &node.children {
            let name = name_of(child);
            let count: &mut usize = counts.entry(name.clone()).or_default();
            *count += 1;
            let mut inner = path.to_vec();
            match (child.kind, &child.step) {
                // The title of the document says nothing about the place.
                (Kind::Section(1), _) => {}
                (_, Some(_)) => inner = vec![stem(self.file).to_owned(), name],
                _ if *count > 1 || name.ends_with('_') => {
                    inner.push(format!("{}{count}", name.trim_end_matches('_')));
                }
                _ => inner.push(name),
            }
            // A marker right below a heading is about the section.
            let is_about_section = child.kind == Kind::Text
                && Marker::read(&child.value).is_some_and(|m| m.is_about_section());
            self.node(child, if is_about_section { path } else { &inner });
        }
        let end = self.at;
        let is_section = matches!(node.kind, Kind::Section(_));
        for found in &mut self.found[before..] {
            let own = found.span == (value_start..value_start + node.value.len());
            let about = is_section
                && found.marker.is_about_section()
                && found.conflict.field == path.join(".");
            if own || about {
                found.whole = start..end;
            }
        }
    }
}

/// How a part is called in the path of a field.
fn name_of(node: &Node) -> String {
    let text = match (&node.step, &node.name) {
        (Some(step), _) => {
            return step.id.clone().unwrap_or_else(|| format!("step{}", step.number));
        }
        (None, Some(name)) if name.contains(START) => return "section_".to_owned(),
        (None, Some(name)) if !matches!(node.kind, Kind::Item) || name.len() < 40 => name.clone(),
        _ => return if node.kind == Kind::Item { "item_" } else { "text_" }.to_owned(),
    };
    let plain = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
    let slug: String = text.trim().to_lowercase().chars().map(plain).collect();
    slug.trim_matches('_').to_owned()
}
