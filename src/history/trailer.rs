//! The comment that ends an entry and proves it.

use std::{fmt, io::BufRead};

use sha2::{Digest, Sha256};

use super::{EntryId, MAX_PARENTS, Ulid, ulid};

/// How every comment starts, and so every trailer, at column 0.
const COMMENT: &[u8] = b"<!-- ";
/// How the trailers of older versions start.
const OLDER: &[u8] = b"<!-- statedir ";
/// A comment that begins with this many letters of an id is meant as a trailer.
const TELLING_LETTERS: usize = 10;
/// A last line as short as this is not taken for the beginning of a trailer.
const MIN_TORN_BYTES: usize = COMMENT.len() + 1;

const DIGEST_BYTES: usize = 32;
/// The placeholder for "no entry before this one", in the digest and in older trailers.
const NOTHING: &str = "-";
const OLDER_SEPARATOR: &str = ",";

/// What a trailer says: `<!-- 01M7… after 01M6… 01M5… -->`.
///
/// The digest covers the time in the id, the ids of the entries that this one follows, and the
/// body with line ends as LF:
///
/// ```text
/// sha256( first ten characters of the id ‖ LF ‖ after, joined by commas, or - ‖ LF ‖ body )
/// ```
///
/// The other sixteen characters of the id are the first 80 bits of that digest. So an id commits
/// to its entry and, through `after`, to all entries before: an entry cannot be changed and signed
/// again under the same id, and a new id is missed by whatever names the old one.
///
/// How strong that is: to change an entry unnoticed takes another text with the same 80 bits,
/// about 2⁸⁰ attempts. Whoever writes both texts before the first is appended needs about 2⁴⁰; a
/// log proves what was appended, not that its author was honest. Older trailers also had the whole
/// digest and the number of lines. Nothing but the id was ever named elsewhere, so whoever could
/// match the id could write the digest anew: leaving it out makes a change no easier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) id: EntryId,
    pub(super) after: Vec<EntryId>,
    older: Option<Older>,
}

/// What only the trailers of older versions say.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Older {
    lines: u64,
    digest: [u8; DIGEST_BYTES],
}

impl Trailer {
    /// The trailer for a body, whose lines end with LF.
    pub(super) fn seal(millis: u64, after: Vec<EntryId>, body: &[u8]) -> Self {
        let time = Ulid::new(millis, [0; 10]);
        let digest = digest(time, &after, body);
        let mut bits = [0; 10];
        for (place, byte) in bits.iter_mut().zip(digest) {
            *place = byte;
        }
        Self { id: EntryId(Ulid::new(millis, bits)), after, older: None }
    }

    /// The same as an older version wrote it.
    #[cfg(test)]
    pub(super) fn older_form(mut self, body: &[u8]) -> Self {
        let lines = body.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.older = Some(Older { lines, digest: digest(self.id.0, &self.after, body) });
        self
    }

    /// Whether a line is meant as a trailer. If it then cannot be read, it is damaged.
    pub(super) fn is_meant(line: &[u8]) -> bool {
        let Some(text) = line.strip_prefix(COMMENT) else { return false };
        line.starts_with(OLDER) || ulid::leading_letters(text) >= TELLING_LETTERS
    }

    /// Whether a last line that was cut off may be the beginning of a trailer.
    pub(super) fn may_begin_with(line: &[u8]) -> bool {
        if line.len() < MIN_TORN_BYTES || Self::is_meant(line) {
            return false;
        }
        let text = line.strip_prefix(COMMENT).unwrap_or_default();
        let letters = ulid::leading_letters(text);
        OLDER.starts_with(line) || (letters > 0 && letters == text.len())
    }

    /// Reads a line as [`fmt::Display`] writes it, or as older versions did; spaces at its end do
    /// not matter.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let line = line.trim_ascii_end();
        if line.starts_with(OLDER) {
            return Self::parse_older(line);
        }
        let (id, mut text) = line.strip_prefix(COMMENT)?.split_at_checked(ulid::LENGTH)?;
        let mut after = Vec::new();
        if let Some(ids) = text.strip_prefix(b" after") {
            text = ids;
            while let Some((id, rest)) =
                text.strip_prefix(b" ").and_then(|ids| ids.split_at_checked(ulid::LENGTH))
            {
                after.push(parse_id(id)?);
                text = rest;
            }
            if after.is_empty() || after.len() > MAX_PARENTS {
                return None;
            }
        }
        let trailer = Self { id: parse_id(id)?, after, older: None };
        (text == b" -->").then_some(trailer)
    }

    fn parse_older(line: &[u8]) -> Option<Self> {
        let text = line.strip_prefix(b"<!-- statedir entry=")?;
        let (id, text) = text.split_at_checked(ulid::LENGTH)?;
        let (after, text) = take_word(text.strip_prefix(b" after=")?);
        let (lines, text) = take_word(text.strip_prefix(b" lines=")?);
        let (digest, text) = take_word(text.strip_prefix(b" sha256=")?);
        let older = Older { lines: parse_lines(lines)?, digest: parse_digest(digest)? };
        let trailer = Self { id: parse_id(id)?, after: parse_after(after)?, older: Some(older) };
        (text == b" -->").then_some(trailer)
    }

    /// Whether this trailer was made for this body of this many lines.
    pub(super) fn fits(&self, body: &[u8], lines: u64) -> bool {
        if self.older.as_ref().is_some_and(|older| older.lines != lines) {
            return false;
        }
        #[cfg(test)]
        if control::digests_are_ignored() {
            return true;
        }
        let digest = digest(self.id.0, &self.after, body);
        let states_another = self.older.as_ref().is_some_and(|older| older.digest != digest);
        digest.starts_with(&self.id.0.bits()) && !states_another
    }
}

impl fmt::Display for Trailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(older) = &self.older else {
            write!(f, "<!-- {}", self.id)?;
            for (at, id) in self.after.iter().enumerate() {
                write!(f, "{} {id}", if at == 0 { " after" } else { "" })?;
            }
            return f.write_str(" -->");
        };
        write!(f, "<!-- statedir entry={} after={}", self.id, after_text(&self.after))?;
        write!(f, " lines={} sha256=", older.lines)?;
        for byte in older.digest {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(" -->")
    }
}

/// The ids in all trailers of a history, which may be long: nothing is proven and little is kept.
pub(crate) fn signed_ids(history: impl BufRead) -> impl Iterator<Item = EntryId> {
    let lines = history.split(b'\n').map_while(Result::ok);
    lines.filter_map(|line| Trailer::parse(&line).map(|trailer| trailer.id))
}

fn digest(time: Ulid, after: &[EntryId], body: &[u8]) -> [u8; DIGEST_BYTES] {
    let mut hasher = Sha256::new();
    hasher.update(time.time_text());
    hasher.update(b"\n");
    for (at, id) in after.iter().enumerate() {
        hasher.update(if at == 0 { "" } else { OLDER_SEPARATOR });
        hasher.update(id.0.encode());
    }
    hasher.update(if after.is_empty() { NOTHING } else { "" });
    hasher.update(b"\n");
    hasher.update(body);
    hasher.finalize().into()
}

fn after_text(after: &[EntryId]) -> String {
    if after.is_empty() {
        return NOTHING.to_owned();
    }
    let ids: Vec<String> = after.iter().map(EntryId::to_string).collect();
    ids.join(OLDER_SEPARATOR)
}

fn take_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| *byte == b' ').unwrap_or(text.len());
    text.split_at(end)
}

fn parse_id(text: &[u8]) -> Option<EntryId> {
    Ulid::from_canonical(text).map(EntryId)
}

fn parse_after(text: &[u8]) -> Option<Vec<EntryId>> {
    if text == NOTHING.as_bytes() {
        return Some(Vec::new());
    }
    let ids = text.split(|byte| *byte == b',').take(MAX_PARENTS + 1).map(parse_id);
    let ids: Vec<EntryId> = ids.collect::<Option<_>>()?;
    (ids.len() <= MAX_PARENTS).then_some(ids)
}

fn parse_lines(text: &[u8]) -> Option<u64> {
    let is_number = text.iter().all(u8::is_ascii_digit) && text.first() != Some(&b'0');
    std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}

fn parse_digest(text: &[u8]) -> Option<[u8; DIGEST_BYTES]> {
    if text.len() != 2 * DIGEST_BYTES {
        return None;
    }
    let mut digest = [0; DIGEST_BYTES];
    let mut all = 0;
    for (place, pair) in digest.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        let (high, low) = (NIBBLES[usize::from(*high)], NIBBLES[usize::from(*low)]);
        all |= high | low;
        *place = (high << 4) | low;
    }
    (all != NO_NIBBLE).then_some(digest)
}

/// The value of each lowercase hexadecimal digit, by its byte. A table, since a branch on digits
/// that are as good as random is mispredicted half of the time.
const NIBBLES: [u8; 256] = nibbles();
const NO_NIBBLE: u8 = 0xff;

const fn nibbles() -> [u8; 256] {
    let letters = b"0123456789abcdef";
    let mut table = [NO_NIBBLE; 256];
    let mut value = 0;
    while value < letters.len() {
        table[letters[value] as usize] = value as u8;
        value += 1;
    }
    table
}

/// Switches the comparison of digests off, to show that it is what finds a change.
#[cfg(test)]
pub(super) mod control {
    use std::cell::Cell;

    thread_local! {
        static IGNORED: Cell<bool> = const { Cell::new(false) };
    }

    pub(in super::super) fn without_digests<T>(run: impl FnOnce() -> T) -> T {
        IGNORED.set(true);
        let result = run();
        IGNORED.set(false);
        result
    }

    pub(super) fn digests_are_ignored() -> bool {
        IGNORED.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"### c\n*2026-01-01* \n";

    fn trailer() -> Trailer {
        let first = Trailer::seal(7, Vec::new(), b"### a - b\n");
        Trailer::seal(8, vec![first.id], BODY)
    }

    fn both_forms() -> [Trailer; 2] {
        [trailer(), trailer().older_form(BODY)]
    }

    #[test]
    fn a_trailer_reads_back_in_either_form() {
        let first = Trailer::seal(7, Vec::new(), b"### a - b\n");
        let united = Trailer::seal(9, vec![first.id, trailer().id], BODY);
        for trailer in
            both_forms().into_iter().chain([first, united.clone(), united.older_form(BODY)])
        {
            assert_eq!(Trailer::parse(trailer.to_string().as_bytes()), Some(trailer.clone()));
            assert_eq!(Trailer::parse(format!("{trailer} \t\r").as_bytes()), Some(trailer.clone()));
            assert!(Trailer::is_meant(trailer.to_string().as_bytes()));
        }
    }

    #[test]
    fn a_trailer_is_one_short_line() {
        let trailer = trailer();
        let text = format!("<!-- {} after {} -->", trailer.id, trailer.after[0]);
        assert_eq!(trailer.to_string(), text);
        assert_eq!(text.len(), 68);
        let first = Trailer::seal(7, Vec::new(), b"### a - b\n");
        assert_eq!(first.to_string(), format!("<!-- {} -->", first.id));
    }

    #[test]
    fn the_digest_is_the_documented_one() {
        let sealed = Trailer::seal(1_763_280_000_000, Vec::new(), b"### Note - now\n");
        let text = format!("{}\n-\n### Note - now\n", &sealed.id.to_string()[..10]);
        let digest = <[u8; 32]>::from(Sha256::digest(text));
        assert_eq!(sealed.id.0.bits(), digest[..10]);
        let older = sealed.older_form(b"### Note - now\n").older.unwrap();
        assert_eq!((older.digest, older.lines), (digest, 1));
    }

    #[test]
    fn a_trailer_fits_its_own_body_only() {
        for trailer in both_forms() {
            assert!(trailer.fits(BODY, 2));
            assert!(!trailer.fits(b"### c\n*2026-01-02* \n", 2));
            let other = Trailer { after: Vec::new(), ..trailer.clone() };
            assert!(!other.fits(BODY, 2), "what it follows is a part of the proof");
        }
        let [_, older] = both_forms();
        assert!(!older.fits(BODY, 3));
    }

    #[test]
    fn signing_again_under_the_old_id_does_not_fit() {
        let other = b"### c\n*2026-01-02* \n";
        let forged = Trailer::seal(8, trailer().after, other);
        for forged in [forged.clone(), forged.older_form(other)] {
            assert!(forged.fits(other, 2));
            assert!(!Trailer { id: trailer().id, ..forged }.fits(other, 2));
        }
    }

    #[test]
    fn other_spellings_are_not_trailers() {
        let [new, old] = both_forms().map(|trailer| trailer.to_string());
        let wrong = [
            old.to_uppercase(),
            old.replace("lines=2", "lines=02"),
            old.replace("lines=2", "lines=+2"),
            old.replace("lines=2", "lines="),
            old.replace("sha256=", "sha256=0"),
            old.replace(" after=", "  after="),
            old.replace(" -->", ""),
            old.replace("entry=0", "entry=8"),
            format!(" {old}"),
            format!("{old} x"),
            new.to_lowercase(),
            new.replace(" after ", "  after "),
            new.replace(" after ", " after"),
            new.replace(" after ", " "),
            new.replace(" -->", " after -->"),
            new.replace(" -->", ""),
            new.replacen("<!-- 0", "<!-- 8", 1),
            format!(" {new}"),
            format!("{new} x"),
        ];
        for text in wrong {
            assert_eq!(Trailer::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_line_that_is_cut_off_may_be_a_trailer_and_other_comments_are_not() {
        for text in both_forms().map(|trailer| trailer.to_string()) {
            for length in MIN_TORN_BYTES..text.len() {
                let line = &text.as_bytes()[..length];
                assert!(Trailer::may_begin_with(line) != Trailer::is_meant(line), "{length}");
            }
        }
        for line in ["<!-- ", "<!-- a note -->", "<!-- 2026-01-01 -->", "<!-- 01M7 -->", "### x"] {
            let line = line.as_bytes();
            assert!(!Trailer::may_begin_with(line) && !Trailer::is_meant(line), "{line:?}");
        }
    }

    #[test]
    fn more_parents_than_an_entry_may_name_are_refused() {
        let id = trailer().id;
        for (parents, fits) in [(MAX_PARENTS, true), (MAX_PARENTS + 1, false)] {
            let many = Trailer::seal(1, vec![id; parents], BODY);
            for many in [many.clone(), many.older_form(BODY)] {
                assert_eq!(Trailer::parse(many.to_string().as_bytes()).is_some(), fits);
            }
        }
    }
}
