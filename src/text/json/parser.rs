//! A strict JSON parser that keeps positions and needs no stack of its own per level.

use super::MAX_DEPTH;
use super::error::Fault;
use super::scan::{number_end, skip_space, string_end, unescape};
use super::tree::Node;
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The nodes of the one value in `source` from `start` on.
pub(super) fn parse(source: &str, start: usize) -> Result<Vec<Node>, Fault> {
    let nodes = Vec::with_capacity(most_nodes(source.as_bytes()));
    let parser = Parser { source, bytes: source.as_bytes(), at: start, nodes, open: Vec::new() };
    parser.document()
}

/// How many nodes a long text can have, so that their list need not grow by copying itself.
fn most_nodes(bytes: &[u8]) -> usize {
    const LONG: usize = 1 << 20;
    if bytes.len() < LONG {
        return 0;
    }
    let begins = |byte: &&u8| matches!(**byte, b',' | b'{' | b'[');
    bytes.iter().filter(begins).count() + 1
}

struct Parser<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The containers around `at`, the innermost last.
    open: Vec<Container>,
}

#[derive(Clone, Copy)]
struct Container {
    node: usize,
    is_object: bool,
}

impl Container {
    fn closer(self) -> u8 {
        if self.is_object { b'}' } else { b']' }
    }
}

impl<'s> Parser<'s> {
    fn document(mut self) -> Result<Vec<Node>, Fault> {
        self.space();
        if self.peek().is_none() {
            return Err(Fault::syntax(
                self.at,
                "the JSON is empty; an empty object is written `{}`",
            ));
        }
        let mut key = 0;
        'value: loop {
            match self.peek() {
                Some(opener @ (b'{' | b'[')) => {
                    let container = self.open(opener == b'{', key)?;
                    self.space();
                    if self.peek() != Some(container.closer()) {
                        key = self.member_key(container)?;
                        continue 'value;
                    }
                    self.close(container)?;
                }
                _ => self.scalar(key)?,
            }
            loop {
                self.space();
                let Some(container) = self.open.last().copied() else {
                    break 'value;
                };
                match self.peek() {
                    Some(b',') => {
                        key = self.next_member(container)?;
                        continue 'value;
                    }
                    Some(closer) if closer == container.closer() => self.close(container)?,
                    _ => return Err(self.unclosed(container)),
                }
            }
        }
        match self.peek() {
            None => Ok(self.nodes),
            Some(_) => Err(Fault::unexpected(self.source, self.at, "nothing more after the value")),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        self.at = skip_space(self.bytes, self.at);
    }

    fn push(&mut self, end: usize, key: usize) {
        let after = self.nodes.len() + 1;
        let [start, end, after, key] = [self.at, end, after, key].map(|offset| offset as u32);
        self.nodes.push(Node { start, end, after, key });
    }

    fn open(&mut self, is_object: bool, key: usize) -> Result<Container, Fault> {
        if self.open.len() == MAX_DEPTH {
            return Err(Fault::TooDeep { offset: self.at });
        }
        let container = Container { node: self.nodes.len(), is_object };
        self.push(self.at, key);
        self.open.push(container);
        self.at += 1;
        Ok(container)
    }

    fn close(&mut self, container: Container) -> Result<(), Fault> {
        self.at += 1;
        self.open.pop();
        let after = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut(container.node) {
            node.end = self.at as u32;
            node.after = after;
        }
        if container.is_object { self.unique_keys(container.node + 1) } else { Ok(()) }
    }

    fn scalar(&mut self, key: usize) -> Result<(), Fault> {
        let end = match self.peek() {
            Some(b'"') => string_end(self.bytes, self.at)?,
            Some(b'-' | b'0'..=b'9') => number_end(self.source, self.at)?,
            _ => self.word_end()?,
        };
        self.push(end, key);
        self.at = end;
        Ok(())
    }

    fn word_end(&self) -> Result<usize, Fault> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        match &rest[..length] {
            b"true" | b"false" | b"null" => Ok(self.at + length),
            _ => Err(Fault::unexpected(self.source, self.at, "a value")),
        }
    }

    /// Steps over a comma and reads the key after it, if there is to be one.
    fn next_member(&mut self, container: Container) -> Result<usize, Fault> {
        let comma = self.at;
        self.at += 1;
        self.space();
        match self.peek() {
            Some(b'}' | b']') => {
                Err(Fault::syntax(comma, "a trailing comma is not allowed in JSON"))
            }
            _ => self.member_key(container),
        }
    }

    /// Reads a key and its colon up to the value; zero in an array, which has no keys.
    fn member_key(&mut self, container: Container) -> Result<usize, Fault> {
        if !container.is_object {
            return Ok(0);
        }
        let key = self.at;
        if self.peek() != Some(b'"') {
            return Err(Fault::unexpected(self.source, key, "a key in double quotes"));
        }
        self.at = string_end(self.bytes, key)?;
        self.space();
        if self.peek() != Some(b':') {
            return Err(Fault::unexpected(self.source, self.at, "`:` after the key"));
        }
        self.at += 1;
        self.space();
        Ok(key)
    }

    fn unclosed(&self, container: Container) -> Fault {
        let closer = char::from(container.closer());
        if self.peek().is_some() {
            return Fault::unexpected(self.source, self.at, &format!("`,` or `{closer}`"));
        }
        let offset = self.nodes.get(container.node).map_or(self.at, |node| node.start as usize);
        let what = if container.is_object { "object" } else { "array" };
        Fault::syntax(offset, format!("the {what} that begins here is not closed with `{closer}`"))
    }

    /// Refuses an object whose members begin at node `first` and whose keys are not all different.
    fn unique_keys(&self, first: usize) -> Result<(), Fault> {
        const FEW: usize = 12;
        let keys = || {
            let mut next = first;
            std::iter::from_fn(move || {
                let node = self.nodes.get(next)?;
                next = node.after as usize;
                Some((self.key_at(node.key as usize), node.key as usize))
            })
        };
        let duplicate = |key: &Cow<'_, str>, first, second| {
            Err(Fault::Duplicate { key: key.as_ref().to_owned(), first, second })
        };
        let few: Vec<_> = keys().take(FEW + 1).collect();
        if few.len() <= FEW {
            for (i, (key, second)) in few.iter().enumerate() {
                if let Some((_, first)) = few[..i].iter().find(|(earlier, _)| earlier == key) {
                    return duplicate(key, *first, *second);
                }
            }
            return Ok(());
        }
        // Randomly keyed hashing keeps crafted keys from making this slow.
        let mut seen = HashMap::new();
        for (key, second) in keys() {
            match seen.entry(key) {
                Entry::Occupied(entry) => return duplicate(entry.key(), *entry.get(), second),
                Entry::Vacant(entry) => entry.insert(second),
            };
        }
        Ok(())
    }

    fn key_at(&self, start: usize) -> Cow<'s, str> {
        let end = string_end(self.bytes, start).unwrap_or(start);
        unescape(&self.source[start..end])
    }
}
