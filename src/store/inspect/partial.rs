//! Reads single files when the state as a whole cannot be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::{
    AppendedView, Revision, Store, StoreError, Tally, View,
    checkpoint::registry::Registry,
    disk::read::{read_file, require_file},
    log::head::Head,
};

impl Store {
    /// Every tracked file that can be read by itself, and why each of the others cannot.
    ///
    /// For reports only: takes no lock and does not look at the log, so that an interrupted
    /// operation may be seen half. The revision is the last one that is known.
    pub(crate) fn read_loosely(&self) -> (View, Vec<(String, StoreError)>) {
        let this = self.session();
        let (disk, paths) = (&*this.disk, &this.paths);
        let mut files = BTreeMap::new();
        let mut failed = Vec::new();
        for name in self.layout.rewritable_files() {
            match read_file(disk, &paths.file(name), self.layout.max_bytes) {
                Ok(Some(contents)) => {
                    files.insert(name.to_string(), contents.bytes.into());
                }
                Ok(None) => {}
                Err(error) => failed.push((name.to_string(), error)),
            }
        }
        let path = paths.appended();
        let appended = require_file(disk, &path).unwrap_or_else(|error| {
            failed.push((self.layout.appended.to_owned(), error));
            None
        });
        let head = Head::load(disk, paths).ok().flatten();
        let head_known = head.is_some();
        let view = View {
            revision: head.as_ref().map_or_else(Revision::root, |head| head.id.clone()),
            late: None,
            files,
            hashes: BTreeMap::new(),
            derived: paths.derived(),
            appended: AppendedView {
                disk: Arc::clone(&this.disk),
                path,
                exists: appended.is_some(),
                keep: appended.map_or(0, |stat| stat.len),
                add: Vec::new(),
            },
            facts: head.and_then(|head| head.facts),
            reports: Vec::new(),
            tally: Tally::load(disk, &paths.tally()),
            adopted: false,
            has_log: head_known,
            damage: None,
            registry: Registry::new(&this, Vec::new()),
        };
        (view, failed)
    }
}
