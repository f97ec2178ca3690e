//! What a field becomes that both sides changed.

use super::git_markers::merge_text;
use crate::domain::constraints::lifetime::Lifetime;
use crate::domain::outline::{MARK, Outline, SectionRole, ThingId, ThingKind, with_rest};
use crate::domain::quantity::exact::add_changes;
use crate::domain::{Review, StateFile};

/// What one version says.
pub(super) struct FieldValue<'v> {
    /// As it is in the file.
    pub(super) written: &'v str,
    /// However it is written.
    text: String,
}

/// Which field it is.
pub(super) struct Field<'n> {
    pub(super) file: StateFile,
    /// What the section is for that it is in.
    pub(super) role: SectionRole,
    /// Its name, if it has one.
    pub(super) name: Option<&'n str>,
}

impl<'v> FieldValue<'v> {
    pub(super) fn of(outline: &'v Outline<'v>, id: ThingId) -> Self {
        let thing = outline.get(id);
        let (text, rest) = outline.value(id);
        let text = with_rest(&text, &rest);
        // The box is not part of the value.
        let has_box = thing.item.is_some_and(|id| outline.document.item(id).checkbox.is_some());
        let bare = text.get(4..).filter(|_| has_box && thing.kind == ThingKind::Item);
        let text = bare.map(str::to_owned).unwrap_or(text);
        Self { written: &thing.value, text }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.written == other.written || self.text == other.text
    }
}

impl Field<'_> {
    /// The value of a field that both sides have, or `None` for a conflict.
    pub(super) fn resolve(
        &self,
        base: Option<&FieldValue<'_>>,
        ours: &FieldValue<'_>,
        theirs: &FieldValue<'_>,
    ) -> Option<String> {
        let (our, their) = (ours.written, theirs.written);
        let known = base.map(|base| base.written);
        let name = self.name.filter(|_| self.file == StateFile::Plan).unwrap_or_default();
        let is_old = |side: &FieldValue<'_>| base.is_some_and(|base| base.is_same(side));
        if name == "attempts" && !is_old(ours) && !is_old(theirs) {
            // Equal attempts on both sides are two attempts.
            let known = base.map_or("0", |base| &base.text);
            let same = ours.is_same(theirs).then(|| our.max(their).to_owned());
            return add_changes(known, &ours.text, &theirs.text).or(same);
        }
        match known {
            Some(known) if known == our => return Some(their.to_owned()),
            Some(known) if known == their => return Some(our.to_owned()),
            _ if ours.is_same(theirs) => return Some(our.max(their).to_owned()),
            _ if is_old(ours) => return Some(their.to_owned()),
            _ if is_old(theirs) => return Some(our.to_owned()),
            _ => {}
        }
        match name {
            "last_updated" | "started_at" | "completed_at" | "finished_at" => {
                let later = if our.trim() >= their.trim() { our } else { their };
                return Some(later.to_owned());
            }
            // Worked out from the steps afterwards.
            "current_step" | MARK | "claimed_by" | "result" => {
                return Some(our.max(their).to_owned());
            }
            // Two ids for a step that had none: either will do, as long as it is the same on both
            // sides.
            "id" if known.is_none_or(|base| base.trim().is_empty()) => {
                return Some(our.min(their).to_owned());
            }
            _ => {}
        }
        if self.role == SectionRole::Reviews
            && let Some(value) = Review::united(our, their)
        {
            return Some(value);
        }
        if self.role == SectionRole::Directives
            && let Some(value) = counted_down(known, our, their)
        {
            return Some(value);
        }
        lists(self.name.unwrap_or_default(), known.unwrap_or_default(), our, their)
            .or_else(|| several_lines(known?, our, their))
    }
}

/// A directive whose steps were counted down on both sides.
fn counted_down(base: Option<&str>, ours: &str, theirs: &str) -> Option<String> {
    let [base, ours, theirs] =
        [Lifetime::parse(base?)?, Lifetime::parse(ours)?, Lifetime::parse(theirs)?];
    if !base.is_of_same(&ours) || !base.is_of_same(&theirs) {
        return None;
    }
    let left = (ours.steps() + theirs.steps()).saturating_sub(base.steps()).max(1);
    Some(base.with_steps(left))
}

/// Whether the only change is that a directive has fewer steps left.
pub(super) fn is_counted_down(before: &str, after: &str) -> bool {
    let less = || {
        let (before, after) = (Lifetime::parse(before)?, Lifetime::parse(after)?);
        Some(before.is_of_same(&after) && after.steps() < before.steps())
    };
    less().unwrap_or(false)
}

/// Lists such as `[a, b]`: what either side added is in, what either took away is out.
fn lists(name: &str, base: &str, ours: &str, theirs: &str) -> Option<String> {
    let is_list = |text: &str| text.trim().starts_with('[') && text.trim().ends_with(']');
    let by_name = matches!(name, "depends_on" | "preferred_tools");
    let all = [base, ours, theirs];
    if !by_name && !all.iter().all(|text| is_list(text) || text.trim().is_empty()) {
        return None;
    }
    let items = |text: &str| -> Option<Vec<String>> {
        let text = text.trim();
        if let Ok(values) = serde_json::from_str::<Vec<serde_json::Value>>(text) {
            return Some(values.iter().map(ToString::to_string).collect());
        }
        let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let words = inner.split(',').map(|word| word.trim().to_owned());
        let words: Vec<String> = words.filter(|word| !word.is_empty() && word != "none").collect();
        words.iter().all(|word| !word.contains(['"', '[', ']', '\n'])).then_some(words)
    };
    let (base, our, their) = (items(base)?, items(ours)?, items(theirs)?);
    let kept = base.iter().filter(|item| our.contains(item) && their.contains(item));
    let added = |side: &[String]| -> Vec<String> {
        side.iter().filter(|item| !base.contains(item)).cloned().collect()
    };
    let (mut first, mut second) = (added(&our), added(&their));
    if second < first {
        std::mem::swap(&mut first, &mut second);
    }
    let second = second.into_iter().filter(|item| !first.contains(item)).collect::<Vec<_>>();
    let merged: Vec<String> = kept.cloned().chain(first).chain(second).collect();
    let text = merged.join(", ");
    Some(if is_list(ours) || is_list(theirs) { format!("[{text}]") } else { text })
}

/// A text of several lines in which the sides changed different ones.
fn several_lines(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let is_long = [base, ours, theirs].iter().any(|text| text.contains('\n'));
    if is_long { merge_text(base, ours, theirs) } else { None }
}
