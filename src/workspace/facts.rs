//! What is derived from a long history and kept beside it, so that no command reads it all.

use std::{
    collections::BTreeMap,
    io::{BufReader, Seek, SeekFrom},
};

use serde::{Deserialize, Serialize};

use super::Error;
use crate::{
    history::{HistoryError, HistoryFacts},
    store::View,
};

/// How many changes are remembered for one running step.
const MAX_TOUCHES: usize = 20;

/// Derived facts. They can always be rebuilt from the files; only `touches`, a convenience for
/// the `state_changes` of a step's entry, is lost with the cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Counts, sums, streaks and heads of the history.
    pub history: HistoryFacts,
    /// What changed in the state while a step was running, by the step's id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub touches: BTreeMap<String, Vec<String>>,
}

impl Facts {
    /// Takes the cached facts and brings them up to the end of the history.
    ///
    /// # Errors
    /// The history cannot be read.
    pub(super) fn load(view: &View, progress: &mut dyn FnMut(u64)) -> Result<Self, Error> {
        let appended = view.appended();
        let cached = view.facts().and_then(|(bytes, valid)| {
            let facts: Self = serde_json::from_slice(bytes).ok()?;
            (valid == appended.len() && facts.history.valid_len == valid).then_some(facts)
        });
        if let Some(facts) = cached {
            return Ok(facts);
        }
        if !appended.exists() {
            return Ok(Self::default());
        }
        let mut reader = BufReader::with_capacity(1 << 16, appended.reader()?);
        reader.seek(SeekFrom::Start(0)).map_err(HistoryError::Io)?;
        let history = HistoryFacts::scan(reader, progress)?;
        Ok(Self { history, touches: BTreeMap::new() })
    }

    /// Remembers a change for every running step.
    pub(super) fn touch(&mut self, what: &str) {
        for touches in self.touches.values_mut() {
            if touches.len() < MAX_TOUCHES && !touches.iter().any(|seen| seen == what) {
                touches.push(what.to_owned());
            }
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
