//! What a record may say. A log can come out of a clone, so every record is read as if a stranger
//! had written it; what is written is checked by the same rules, so that it can be read again.

use std::collections::BTreeSet;

use crate::store::{
    AppendRecord, Checkpoint, CheckpointChange, FileRecord, Layout, NewOperation, Operation,
    log::{
        head::Head,
        record::SUM_LEN,
        segment::{Header, Tracked},
        tail::Tail,
    },
};

/// The highest number, length or offset: sums of several of them are still numbers.
pub(in crate::store) const MOST: u64 = 1 << 52;

/// The most bytes of a time, a kind or a boot.
const SHORT: usize = 64;

/// The most bytes of an actor or a remark.
const LONG: usize = 64 * 1024;

/// The most bytes of a command or a message.
const TEXT: usize = 16 * 1024 * 1024;

/// How many checkpoints one operation adds or removes.
const CHECKPOINTS: usize = 100_000;

/// How many remarks an operation has.
const NOTES: usize = 100;

/// How many marks a checkpoint has.
const MARKS: usize = 10_000;

/// An error says why a record cannot be what this program wrote.
type Validity = Result<(), String>;

impl Header {
    /// Checks the first line of a segment.
    pub(in crate::store) fn check(&self, layout: &Layout) -> Validity {
        check_number("segment", self.segment)?;
        check_number("seq", self.seq)?;
        boot(self.boot.as_deref())?;
        self.state.check(layout)
    }
}

impl Tracked {
    fn check(&self, layout: &Layout) -> Validity {
        self.files.keys().try_for_each(|name| rewritable(layout, name))?;
        check_number("length of the appended file", self.appended.len)
    }
}

impl Operation {
    /// Checks an operation by itself.
    pub(in crate::store) fn check(&self, layout: &Layout) -> Validity {
        check_number("seq", self.seq)?;
        check_short("time", &self.time)?;
        boot(self.boot.as_deref())?;
        kind(&self.kind)?;
        check_at_most("actor", self.actor.len(), LONG)?;
        check_at_most("session", self.session.as_deref().map_or(0, str::len), LONG)?;
        check_at_most("command", self.command.len(), TEXT)?;
        check_at_most("message", self.message.len(), TEXT)?;
        check_at_most("number of notes", self.notes.len(), NOTES)?;
        if self.settles.is_some_and(|number| number >= self.seq) {
            return Err("it settles an operation that comes later".to_owned());
        }
        self.notes.iter().try_for_each(|note| check_at_most("note", note.len(), LONG))?;
        let mut names = BTreeSet::new();
        for file in &self.files {
            if !names.insert(&file.name) {
                return Err(format!("`{}` is changed twice", file.name));
            }
            file.check(layout)?;
        }
        if let Some(append) = &self.appended {
            append.check()?;
        }
        check_at_most("number of checkpoints", self.checkpoints.len(), CHECKPOINTS)?;
        self.checkpoints.iter().try_for_each(|change| change.checkpoint().check(layout))
    }

    /// Checks whether an operation begins with the files as the one before left them.
    pub(in crate::store) fn check_continues(&self, state: &Tracked) -> Validity {
        for file in &self.files {
            if file.before != state.files.get(&file.name).copied() {
                return Err(format!("`{}` was something else before", file.name));
            }
        }
        match &self.appended {
            Some(append) if append.before() != state.appended => {
                Err("the appended file was something else before".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl FileRecord {
    fn check(&self, layout: &Layout) -> Validity {
        rewritable(layout, &self.name)?;
        // Where the splices end, in the bytes before and in those after.
        let (mut before, mut after) = (0, 0);
        for splice in &self.splices {
            let kept = splice
                .offset
                .checked_sub(before)
                .ok_or_else(|| format!("the splices of `{}` are out of order", self.name))?;
            check_number("offset", splice.offset)?;
            after += kept + splice.new.len() as u64;
            before = splice.offset + splice.old.len() as u64;
            if before.max(after) > layout.max_bytes {
                return Err(format!("`{}` would be too large", self.name));
            }
            if splice.old == splice.new {
                return Err(format!("a splice of `{}` changes nothing", self.name));
            }
        }
        let nothing_before = self.before.is_none() || self.whole;
        if (nothing_before && before > 0) || (self.after.is_none() && after > 0) {
            return Err(format!("there are bytes where `{}` has none", self.name));
        }
        Ok(())
    }
}

impl AppendRecord {
    fn before(&self) -> Tail {
        Tail { len: self.offset, hash: self.tail_before }
    }

    fn check(&self) -> Validity {
        check_number("offset", self.offset)?;
        check_number("length of the appended file", self.len)?;
        match &self.bytes {
            Some(bytes) if self.offset + bytes.len() as u64 != self.len => {
                Err("the added bytes do not lead to the length".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl Checkpoint {
    /// Checks a checkpoint, in a record or in its own file.
    pub(in crate::store) fn check(&self, layout: &Layout) -> Validity {
        check_number("number", self.number)?;
        check_number("seq", self.seq)?;
        check_number("length of the appended file", self.appended_len)?;
        check_short("time", &self.time)?;
        check_at_most("actor", self.actor.len(), LONG)?;
        for text in [&self.automatic, &self.message].into_iter().flatten() {
            check_at_most("message", text.len(), LONG)?;
        }
        check_at_most("number of marks", self.marks.len(), MARKS)?;
        self.marks.iter().try_for_each(|mark| check_short("mark", mark))?;
        for (name, image) in &self.files {
            rewritable(layout, name)?;
            if image.len > layout.max_bytes {
                return Err(format!("`{name}` would be too large"));
            }
        }
        Ok(())
    }
}

impl Head {
    /// Checks the cache; one that fails is treated as missing.
    pub(in crate::store) fn check(&self, layout: &Layout) -> Validity {
        for value in [self.segment, self.end, self.last, self.seq] {
            check_number("number", value)?;
        }
        boot(self.boot.as_deref())?;
        self.state.check(layout)?;
        let is_sum = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if self.sum.len() != SUM_LEN || !self.sum.bytes().all(is_sum) {
            return Err("the checksum is malformed".to_owned());
        }
        if let Some(name) =
            self.signatures.keys().find(|name| !layout.keeps_former && !layout.tracks(name))
        {
            return Err(format!("`{}` is not a file of this state", quotable(name)));
        }
        match &self.facts {
            Some(facts) if facts.len > self.state.appended.len => {
                Err("the facts are about a longer file".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl NewOperation {
    /// Truncates the texts meant for people to what a record can hold.
    pub(in crate::store) fn cut(&mut self) {
        cut(&mut self.time, SHORT);
        cut(&mut self.actor, LONG);
        if let Some(session) = &mut self.session {
            cut(session, LONG);
        }
        cut(&mut self.command, TEXT);
        cut(&mut self.message, TEXT);
        for change in &mut self.checkpoints {
            if let CheckpointChange::Take(new) = change {
                new.marks.truncate(MARKS);
                for text in [&mut new.automatic, &mut new.message].into_iter().flatten() {
                    cut(text, LONG);
                }
            }
        }
    }
}

fn cut(text: &mut String, most: usize) {
    let end = (0..=most.min(text.len())).rfind(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.truncate(end);
}

fn rewritable(layout: &Layout, name: &str) -> Validity {
    match layout.rewritable_file(name) {
        Some(_) => Ok(()),
        None if layout.keeps_former && name.len() <= LONG => Ok(()),
        None => Err(format!("`{}` is not a file of this state", quotable(name))),
    }
}

/// A text as a message can quote it.
fn quotable(text: &str) -> String {
    text.chars().take(SHORT).flat_map(char::escape_debug).collect()
}

fn check_number(what: &str, value: u64) -> Validity {
    if value > MOST { Err(format!("the {what} {value} is too high")) } else { Ok(()) }
}

fn check_at_most(what: &str, found: usize, most: usize) -> Validity {
    if found > most { Err(format!("the {what} exceeds {most}")) } else { Ok(()) }
}

/// Checks a word or two: short, and without anything that a terminal would interpret.
fn check_short(what: &str, text: &str) -> Validity {
    if text.len() > SHORT || text.chars().any(char::is_control) {
        return Err(format!("`{}` is not a valid {what}", quotable(text)));
    }
    Ok(())
}

fn boot(id: Option<&str>) -> Validity {
    id.map_or(Ok(()), |id| check_short("boot", id))
}

fn kind(kind: &str) -> Validity {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if kind.is_empty() || kind.len() > SHORT || !kind.bytes().all(is_word) {
        return Err(format!("`{}` is not a kind of operation", quotable(kind)));
    }
    Ok(())
}
