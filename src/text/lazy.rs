//! Values that are worked out when they are first asked for.

use std::sync::OnceLock;

/// How many places get their memory at once.
const BLOCK: usize = 64;

/// A list of values of which most are never asked for: their places take no memory before.
#[derive(Clone, Debug)]
pub(crate) struct LazyList<T> {
    len: usize,
    blocks: Vec<OnceLock<Box<[Lazy<T>]>>>,
}

type Lazy<T> = OnceLock<Box<T>>;

impl<T> LazyList<T> {
    /// Of so many values nothing is known yet.
    pub(crate) fn new(len: usize) -> Self {
        let mut blocks = Vec::new();
        blocks.resize_with(len.div_ceil(BLOCK), OnceLock::new);
        Self { len, blocks }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The value at a place, made now if it is not there.
    ///
    /// # Panics
    /// When there is no such place.
    pub(crate) fn get_or_init(&self, at: usize, make: impl FnOnce() -> T) -> &T {
        assert!(at < self.len, "there are {} values, not {at}", self.len);
        let block = self.blocks[at / BLOCK].get_or_init(|| {
            let mut block = Vec::new();
            block.resize_with(BLOCK, OnceLock::new);
            block.into()
        });
        block[at % BLOCK].get_or_init(|| Box::new(make()))
    }

    /// The values that are there.
    pub(crate) fn made_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let made = self.blocks.iter_mut().filter_map(OnceLock::get_mut).flatten();
        made.filter_map(OnceLock::get_mut).map(Box::as_mut)
    }
}

impl<T> FromIterator<T> for LazyList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let values: Vec<T> = values.into_iter().collect();
        let list = Self::new(values.len());
        for (at, value) in values.into_iter().enumerate() {
            list.get_or_init(at, || value);
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_and_stays() {
        let mut list = LazyList::new(BLOCK + 2);
        assert_eq!(list.made_mut().count(), 0);
        assert_eq!(
            (list.get_or_init(BLOCK + 1, || 'a'), list.get_or_init(3, || 'b')),
            (&'a', &'b')
        );
        assert_eq!(list.get_or_init(BLOCK + 1, || 'c'), &'a');
        assert_eq!(list.made_mut().map(|value| *value).collect::<String>(), "ba");
    }
}
