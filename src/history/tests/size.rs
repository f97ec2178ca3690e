//! Long logs are read as a stream.

use std::io::{BufReader, Read};
use std::time::Instant;

use super::super::trailer::Trailer;
use super::*;

/// A log of linear entries that is made while it is read, so that it takes no memory itself.
struct Endless {
    left: u64,
    last: Vec<EntryId>,
    pending: Vec<u8>,
    at: usize,
}

impl Endless {
    fn of(entries: u64) -> Self {
        Self { left: entries, last: Vec::new(), pending: b"# Log\n".to_vec(), at: 0 }
    }
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.pending.len() && self.left > 0 {
            let body = format!(
                "### Step {} Execution - 10:30\n- **status**: COMPLETED\n- **actual_cost**: $0.01\n",
                self.left
            );
            let trailer = Trailer::seal(self.left, std::mem::take(&mut self.last), body.as_bytes());
            self.pending = format!("\n{body}{trailer}\n").into_bytes();
            self.last.push(trailer.id);
            self.at = 0;
            self.left -= 1;
        }
        let count = buffer.len().min(self.pending.len() - self.at);
        buffer[..count].copy_from_slice(&self.pending[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[test]
fn thirty_thousand_entries_stream_through_every_reader() {
    const ENTRIES: u64 = 30_000;
    let started = Instant::now();
    let mut reported = Vec::new();
    let result =
        verify(BufReader::new(Endless::of(ENTRIES)), &[], &mut |bytes| reported.push(bytes))
            .unwrap();
    assert!(result.is_intact(), "{:?}", result.problems.first());
    assert_eq!((result.entries, result.heads.len()), (ENTRIES, 1));
    let size = std::io::copy(&mut Endless::of(ENTRIES), &mut std::io::sink()).unwrap();
    // Once for each MiB, at the next line.
    assert_eq!(reported.len() as u64, size >> 20);
    assert!(reported.iter().zip(1..).all(|(at, mib)| (mib << 20..(mib << 20) + 1000).contains(at)));
    let facts = HistoryFacts::scan(BufReader::new(Endless::of(ENTRIES)), &mut |_| {}).unwrap();
    assert_eq!((facts.counts.entries, facts.counts.completed), (ENTRIES, ENTRIES));
    assert_eq!(facts.counts.cost_micros, 10_000 * ENTRIES as i64);
    assert_eq!(facts.heads, result.heads);
    // Far above what it takes even without optimisation; a quadratic reader takes minutes.
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn many_roots_and_many_heads_cost_little() {
    let started = Instant::now();
    let mut text = String::from("# Log\n");
    let mut roots = Vec::new();
    for number in 0..8_000u64 {
        let trailer = Trailer::seal(number * 7919 % 8_009, Vec::new(), b"### a - 10:30\n");
        text.push_str(&format!("\n### a - 10:30\n{trailer}\n"));
        roots.push(trailer.id);
    }
    for chunk in roots.chunks(MAX_PARENTS).rev() {
        let trailer = Trailer::seal(30_000, chunk.to_vec(), b"### b - 10:30\n");
        text.push_str(&format!("\n### b - 10:30\n{trailer}\n"));
    }
    let result = check(&text);
    assert!(result.is_intact(), "{:?}", result.problems.first());
    assert_eq!(result.heads.len(), roots.chunks(MAX_PARENTS).count());
    assert_eq!(scan_facts(&text).heads, result.heads);
    assert!(started.elapsed().as_secs() < 60);
}
