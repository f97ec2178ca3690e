//! Writing merged things one after the other, with the white space that keeps them apart.

use super::markdown::{BASE, MergedThing, OURS, THEIRS};
use crate::domain::outline::{Kind, MARK, join};

/// The text of a merged file.
pub(super) fn compose(root: &MergedThing, tail: &str, newline: &str) -> String {
    let mut writer = Writer { out: String::new(), newline, last: None };
    writer.node(root);
    writer.out.push_str(tail);
    writer.out
}

/// White space of the side that changed it; if both did, of either, whichever side is which.
pub(super) fn space<'s>(base: &str, ours: &'s str, theirs: &'s str) -> &'s str {
    match () {
        () if base == ours => theirs,
        () if base == theirs => ours,
        () => ours.max(theirs),
    }
}

struct Writer<'w> {
    out: String,
    newline: &'w str,
    last: Option<&'w MergedThing>,
}

impl<'w> Writer<'w> {
    fn node(&mut self, node: &'w MergedThing) {
        if node.kind != Kind::Root {
            let gap = self.gap(node);
            self.out.push_str(&gap);
            self.out.push_str(&join(&node.prefix, &node.value));
        }
        self.last = Some(node);
        for child in &node.children {
            self.node(child);
        }
    }

    /// The gap of a side on which it follows the same thing, else what the two need between them.
    fn gap(&self, node: &MergedThing) -> String {
        let Some(last) = self.last else { return String::new() };
        let kept = |side: usize| {
            let follows = last.sources[side].is_some_and(|seq| node.sources[side] == Some(seq + 1));
            node.gaps[side].as_ref().filter(|_| follows)
        };
        let gap = match [kept(BASE), kept(OURS), kept(THEIRS)] {
            [Some(base), Some(ours), Some(theirs)] => Some(space(base, ours, theirs)),
            [_, ours, theirs] => ours.max(theirs).map(String::as_str),
        };
        if let Some(gap) = gap {
            return gap.to_owned();
        }
        if let Kind::Part(_) = node.kind {
            return String::new();
        }
        let last_kind = match last.kind {
            Kind::Part(MARK) => Kind::Section(0),
            Kind::Part(_) => Kind::Item,
            kind => kind,
        };
        let lines = |gap: &str| gap.matches('\n').count();
        let own = node.gaps[OURS].as_ref().max(node.gaps[THEIRS].as_ref());
        let own = own.filter(|gap| gap.trim_matches([' ', '\t', '\r', '\n']).is_empty());
        let own = |least: usize| own.filter(|gap| lines(gap) >= least).cloned();
        match (last_kind, node.kind) {
            (Kind::Root, _) => String::new(),
            (Kind::Item, Kind::Item) => self.newline.to_owned(),
            (Kind::Section(_), Kind::Item | Kind::Text) => {
                own(1).unwrap_or_else(|| self.newline.to_owned())
            }
            (_, Kind::Section(_)) => own(2).unwrap_or_else(|| self.newline.repeat(2)),
            _ => self.newline.repeat(2),
        }
    }
}
