//! What is derived from a long history and kept beside it, so that no command reads it all.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Seek, SeekFrom},
};

use serde::{Deserialize, Serialize};

use crate::workspace::{Error, snapshot::buffered};
use crate::{
    history::{HistoryError, HistoryFacts},
    store::View,
};

/// How many changes are remembered for one running step.
const MAX_TOUCHES: usize = 20;

/// Derived facts. They can always be rebuilt from the files; only `touches`, a convenience for
/// the `state_changes` of a step's entry, is lost with the cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CachedFacts {
    /// Counts, sums, streaks and heads of the history.
    pub history: HistoryFacts,
    /// What changed in the state while a step was running, by the step's id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub touches: BTreeMap<String, Vec<String>>,
    /// The files that were edited outside since the last entry of the history.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub edited: BTreeSet<String>,
}

/// The part of a cache that no scan brings back.
#[derive(Deserialize)]
struct Touches {
    #[serde(default)]
    touches: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    edited: BTreeSet<String>,
}

impl CachedFacts {
    /// Takes the cached facts and brings them up to the end of the history.
    pub(in crate::workspace) fn load(
        view: &View,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Self, Error> {
        let appended = view.appended();
        let cached = view.facts().filter(|(_, valid)| *valid == appended.len());
        let bytes = cached.map(|(bytes, _)| bytes).unwrap_or_default();
        let facts = serde_json::from_slice(bytes).ok();
        if let Some(facts) = facts.filter(|facts: &Self| facts.history.valid_len == appended.len())
        {
            return Ok(facts);
        }
        if !appended.exists() {
            return Ok(Self::default());
        }
        let mut reader = buffered(appended)?;
        reader.seek(SeekFrom::Start(0)).map_err(HistoryError::Io)?;
        let history = HistoryFacts::scan(reader, progress)?;
        // Another version may have kept its counts in another form; this part stays the same.
        let kept = serde_json::from_slice(bytes).ok();
        let (touches, edited) =
            kept.map(|Touches { touches, edited }| (touches, edited)).unwrap_or_default();
        Ok(Self { history, touches, edited })
    }

    /// What follows from a history that begins with `text`.
    pub(in crate::workspace) fn of_new_history(text: &str) -> Result<Self, Error> {
        let history = HistoryFacts::scan(text.as_bytes(), &mut |_| {})?;
        Ok(Self { history, ..Self::default() })
    }

    /// Remembers a change for every running step.
    pub(in crate::workspace) fn touch(&mut self, what: &str) {
        for touches in self.touches.values_mut() {
            if touches.len() < MAX_TOUCHES && !touches.iter().any(|seen| seen == what) {
                touches.push(what.to_owned());
            }
        }
    }

    pub(in crate::workspace) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
