//! The comment that ends an entry and proves it.

use std::{fmt, io::BufRead};

use sha2::{Digest, Sha256};

use super::{EntryId, MAX_PARENTS, Ulid, ulid};

/// How every trailer starts, at column 0.
pub(super) const PREFIX: &[u8] = b"<!-- statedir ";

const DIGEST_BYTES: usize = 32;
const NOTHING: &str = "-";
const SEPARATOR: &str = ",";

/// What a trailer says.
///
/// The digest covers the time in the id, the ids of the entries that this one follows, and the
/// body with line ends as LF:
///
/// ```text
/// sha256( first ten characters of the id ‖ LF ‖ after ‖ LF ‖ body )
/// ```
///
/// The other sixteen characters of the id are the first 80 bits of that digest. So an id commits
/// to its entry and, through `after`, to all entries before: an entry cannot be changed and signed
/// again under the same id, and a new id is missed by whatever names the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) id: EntryId,
    pub(super) after: Vec<EntryId>,
    pub(super) lines: u64,
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
        let lines = body.iter().filter(|byte| **byte == b'\n').count() as u64;
        Self { id: EntryId(Ulid::new(millis, bits)), after, lines, digest }
    }

    /// Reads a line as [`fmt::Display`] writes it; spaces at its end do not matter.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let text = line.trim_ascii_end().strip_prefix(b"<!-- statedir entry=")?;
        let (id, text) = text.split_at_checked(ulid::LENGTH)?;
        let (after, text) = take_word(text.strip_prefix(b" after=")?);
        let (lines, text) = take_word(text.strip_prefix(b" lines=")?);
        let (digest, text) = take_word(text.strip_prefix(b" sha256=")?);
        let trailer = Self {
            id: parse_id(id)?,
            after: parse_after(after)?,
            lines: parse_lines(lines)?,
            digest: parse_digest(digest)?,
        };
        (text == b" -->").then_some(trailer)
    }

    /// Whether this trailer was made for this body of this many lines.
    pub(super) fn fits(&self, body: &[u8], lines: u64) -> bool {
        if lines != self.lines {
            return false;
        }
        #[cfg(test)]
        if control::digests_are_ignored() {
            return true;
        }
        let Self { id, after, digest: stated, .. } = self;
        stated.starts_with(&id.0.bits()) && *stated == digest(id.0, after, body)
    }
}

impl fmt::Display for Trailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<!-- statedir entry={} after={}", self.id, after_text(&self.after))?;
        write!(f, " lines={} sha256=", self.lines)?;
        for byte in self.digest {
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
        hasher.update(if at == 0 { "" } else { SEPARATOR });
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
    ids.join(SEPARATOR)
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

    fn trailer() -> Trailer {
        let first = Trailer::seal(7, Vec::new(), b"### a - b\n");
        Trailer::seal(8, vec![first.id], b"### c - d\n- **x**: y\n")
    }

    #[test]
    fn a_trailer_reads_back() {
        let trailer = trailer();
        assert_eq!(trailer.lines, 2);
        assert_eq!(Trailer::parse(trailer.to_string().as_bytes()), Some(trailer.clone()));
        assert_eq!(Trailer::parse(format!("{trailer} \t\r").as_bytes()), Some(trailer));
    }

    #[test]
    fn the_digest_is_the_documented_one() {
        let sealed = Trailer::seal(1_763_280_000_000, Vec::new(), b"### Note - now\n");
        let text = format!("{}\n-\n### Note - now\n", &sealed.id.to_string()[..10]);
        assert_eq!(sealed.digest, <[u8; 32]>::from(Sha256::digest(text)));
        assert_eq!(sealed.id.0.bits(), sealed.digest[..10]);
    }

    #[test]
    fn a_trailer_fits_its_own_body_only() {
        let trailer = trailer();
        assert!(trailer.fits(b"### c - d\n- **x**: y\n", 2));
        assert!(!trailer.fits(b"### c - d\n- **x**: y\n", 3));
        assert!(!trailer.fits(b"### c - d\n- **x**: z\n", 2));
    }

    #[test]
    fn signing_again_under_the_old_id_does_not_fit() {
        let old = trailer();
        let mut forged = Trailer::seal(8, old.after.clone(), b"### c - d\n- **x**: z\n");
        forged.id = old.id;
        assert!(!forged.fits(b"### c - d\n- **x**: z\n", 2));
    }

    #[test]
    fn other_spellings_are_no_trailers() {
        let text = trailer().to_string();
        let wrong = [
            text.to_uppercase(),
            text.replace("lines=2", "lines=02"),
            text.replace("lines=2", "lines=+2"),
            text.replace("lines=2", "lines="),
            text.replace("sha256=", "sha256=0"),
            text.replace(" after=", "  after="),
            text.replace(" -->", ""),
            text.replace("entry=0", "entry=8"),
            format!(" {text}"),
            format!("{text} x"),
        ];
        for text in wrong {
            assert_eq!(Trailer::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn more_parents_than_an_entry_may_name_are_refused() {
        let id = trailer().id;
        let many = Trailer::seal(1, vec![id; MAX_PARENTS], b"### a - b\n");
        assert!(Trailer::parse(many.to_string().as_bytes()).is_some());
        let more = Trailer::seal(1, vec![id; MAX_PARENTS + 1], b"### a - b\n");
        assert!(Trailer::parse(more.to_string().as_bytes()).is_none());
    }
}
