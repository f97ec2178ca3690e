//! The union of two histories.

use std::collections::{HashMap, HashSet};

use super::conflict::{Marker, Version};
use super::git_markers::merge_text;
use crate::history::{EntryId, Segment, SegmentKind, segments};

/// Puts the entries of both sides into one log.
///
/// Where the sides part, their entries are put in the order of their ids, which begin with the
/// time, but never before an entry that they follow: each side's own order is kept. No entry is
/// left out, not even one that a side removed.
pub(super) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let is_kept = !base.is_empty() && has_crlf(ours) == has_crlf(base);
    let crlf = if is_kept { has_crlf(theirs) } else { has_crlf(ours) };
    let newline: &[u8] = if crlf { b"\r\n" } else { b"\n" };
    let (our, their) = (Log::read(ours), Log::read(theirs));
    let base = Log::read(base);
    let mut out = Vec::with_capacity(ours.len() + theirs.len() / 2);
    push_lines(&mut out, &preamble(base.preamble, our.preamble, their.preamble), newline);
    let dropped = removed_text(&base, &our, &their);
    let mut writer = Writer { out, newline, seen: HashSet::new(), texts: HashMap::new() };
    let mut better = our.intact_versions_in(&their);
    better.extend(their.intact_versions_in(&our));
    let (mut left, mut right) = (our.parts.iter().peekable(), their.parts.iter().peekable());
    loop {
        match (left.peek(), right.peek()) {
            (Some(part), _) if writer.has(part) || part.is_in(&dropped) => {
                left.next();
            }
            (_, Some(part)) if writer.has(part) || part.is_in(&dropped) => {
                right.next();
            }
            (Some(one), Some(other)) => {
                let part = if one.rank() <= other.rank() { left.next() } else { right.next() };
                part.into_iter().for_each(|part| writer.push(part, &better));
            }
            (Some(_), None) => left.next().into_iter().for_each(|p| writer.push(p, &better)),
            (None, Some(_)) => right.next().into_iter().for_each(|p| writer.push(p, &better)),
            (None, None) => break,
        }
    }
    writer.out
}

/// A log: what is before the first entry, and the rest in pieces.
struct Log<'b> {
    preamble: &'b [u8],
    parts: Vec<HistoryPart<'b>>,
}

/// An entry, or text between entries.
struct HistoryPart<'b> {
    kind: SegmentKind,
    /// With the blank lines before it.
    text: &'b [u8],
    /// The id that decides about its place: its own, or that of the entry before it.
    rank: Option<EntryId>,
    /// Its ordinal among pieces with the same text, from one.
    nth: usize,
}

impl<'b> Log<'b> {
    fn read(bytes: &'b [u8]) -> Self {
        let mut parts = Vec::new();
        let mut preamble: &[u8] = &[];
        let mut rank = None;
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        let all: Vec<Segment> = segments(bytes);
        let first = all.iter().position(|segment| segment.kind != SegmentKind::Text);
        let log_at = first.unwrap_or(all.len());
        for (at, segment) in all.iter().enumerate() {
            let text = bytes.get(segment.span.clone()).unwrap_or_default();
            if at < log_at {
                preamble = bytes.get(..segment.span.end).unwrap_or_default();
                continue;
            }
            if let SegmentKind::Signed { id, .. } = segment.kind {
                rank = Some(id);
            }
            let mut part = HistoryPart { kind: segment.kind, text, rank, nth: 1 };
            if part.id().is_none() {
                let count = counts.entry(part.key()).or_insert(0);
                *count += 1;
                part.nth = *count;
            }
            parts.push(part);
        }
        Self { preamble, parts }
    }

    /// The entries that are damaged here and whole there, or damaged in both and smaller there.
    fn intact_versions_in<'o>(&'o self, other: &'o Self) -> HashMap<EntryId, &'o HistoryPart<'b>> {
        let is_damaged = |part: &&HistoryPart<'_>| {
            matches!(part.kind, SegmentKind::Signed { intact: false, .. })
        };
        let mut better = HashMap::new();
        let damaged: HashMap<EntryId, &HistoryPart<'_>> =
            self.parts.iter().filter(is_damaged).filter_map(|p| Some((p.id()?, p))).collect();
        for part in &other.parts {
            let Some(id) = part.id() else { continue };
            let Some(here) = damaged.get(&id) else { continue };
            if !is_damaged(&part) || part.text < here.text {
                better.insert(id, part);
            }
        }
        better
    }
}

impl<'b> HistoryPart<'b> {
    fn id(&self) -> Option<EntryId> {
        match self.kind {
            SegmentKind::Signed { id, .. } => Some(id),
            _ => None,
        }
    }

    fn is_in(&self, dropped: &HashSet<&[u8]>) -> bool {
        self.kind == SegmentKind::Text && dropped.contains(self.key())
    }

    fn key(&self) -> &'b [u8] {
        self.text.trim_ascii()
    }

    fn rank(&self) -> (Option<EntryId>, bool, &'b [u8]) {
        (self.rank, self.id().is_none(), self.key())
    }
}

struct Writer<'b> {
    out: Vec<u8>,
    newline: &'b [u8],
    seen: HashSet<EntryId>,
    texts: HashMap<&'b [u8], usize>,
}

impl<'b> Writer<'b> {
    fn has(&self, part: &HistoryPart<'b>) -> bool {
        match part.id() {
            Some(id) => self.seen.contains(&id),
            None => self.texts.get(part.key()).is_some_and(|count| *count >= part.nth),
        }
    }

    fn push(&mut self, part: &HistoryPart<'b>, better: &HashMap<EntryId, &HistoryPart<'b>>) {
        let mut text = part.text;
        match part.id() {
            Some(id) => {
                self.seen.insert(id);
                text = better.get(&id).map_or(text, |part| part.text);
            }
            None => {
                *self.texts.entry(part.key()).or_default() += 1;
            }
        }
        if !self.out.is_empty() && !self.out.ends_with(b"\n") {
            self.out.extend_from_slice(self.newline);
        }
        if !text.starts_with(b"\n") && !text.starts_with(b"\r\n") && !self.out.is_empty() {
            self.out.extend_from_slice(self.newline);
        }
        push_lines(&mut self.out, text, self.newline);
    }
}

/// Text between entries that one side removed; entries stay.
fn removed_text<'b>(base: &Log<'b>, ours: &Log<'b>, theirs: &Log<'b>) -> HashSet<&'b [u8]> {
    let texts = |log: &Log<'b>| -> HashSet<&'b [u8]> {
        let other = |part: &&HistoryPart<'b>| part.kind == SegmentKind::Text;
        log.parts.iter().filter(other).map(HistoryPart::key).collect()
    };
    let (our, their) = (texts(ours), texts(theirs));
    texts(base).into_iter().filter(|text| our.contains(text) != their.contains(text)).collect()
}

/// What is above the log: by lines, and a marker where both sides changed the same ones.
fn preamble(base: &[u8], ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let (known, our, their) = (plain(base), plain(ours), plain(theirs));
    if our == their || known == their {
        return ours.to_vec();
    }
    if known == our {
        return theirs.to_vec();
    }
    if let Some(merged) = merge_text(&known, &our, &their) {
        return merged.into_bytes();
    }
    let version = |text: &str| Version::of(Some(text.trim()).filter(|text| !text.is_empty()));
    let marker =
        Marker { base: version(&known), ours: version(&our), theirs: version(&their) }.write();
    format!("{marker}\n\n## Step Execution Log\n").into_bytes()
}

fn has_crlf(bytes: &[u8]) -> bool {
    let line = bytes.iter().position(|byte| *byte == b'\n');
    line.is_some_and(|at| at > 0 && bytes.get(at - 1) == Some(&b'\r'))
}

/// Adds text with the line ends that the file is to have.
fn push_lines(out: &mut Vec<u8>, text: &[u8], newline: &[u8]) {
    if has_crlf(text) == (newline == b"\r\n") || !text.contains(&b'\n') {
        out.extend_from_slice(text);
        return;
    }
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => {
                out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
                out.extend_from_slice(newline);
            }
            None => out.extend_from_slice(line),
        }
    }
}
