//! Names that become part of a path: each is checked once, where it enters, and never after.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};

use crate::store::Layout;

/// A file of the layout. Only a [`Layout`] gives one, so that no text from outside becomes a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileName(&'static str);

impl FileName {
    pub(super) fn as_str(self) -> &'static str {
        self.0
    }
}

impl Deref for FileName {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Layout {
    /// The rewritable files, in order.
    pub(super) fn rewritable_files(&self) -> impl Iterator<Item = FileName> + use<> {
        self.rewritable.iter().map(|name| FileName(name))
    }

    /// The file that only grows.
    pub(super) fn appended_file(&self) -> FileName {
        FileName(self.appended)
    }

    /// All files, the appended one last.
    pub(super) fn files(&self) -> impl Iterator<Item = FileName> + use<> {
        self.rewritable_files().chain([self.appended_file()])
    }

    /// Whether a name is that of a file.
    pub(super) fn tracks(&self, name: &str) -> bool {
        self.files().any(|known| known.as_str() == name)
    }

    /// The rewritable file of that name, if there is one.
    pub(super) fn rewritable_file(&self, name: &str) -> Option<FileName> {
        self.rewritable_files().find(|known| known.as_str() == name)
    }
}

/// The name of a checkpoint: a single component of a path, which is neither hidden nor leads
/// elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CheckpointName(String);

impl CheckpointName {
    /// The most bytes of a name that somebody chooses.
    pub const LONGEST: usize = 100;

    /// The most bytes of a name with the number that tells it from others.
    const LONGEST_NUMBERED: usize = 128;

    /// Checks a name, as typed and as read.
    ///
    /// # Errors
    /// Why it cannot be one.
    pub fn parse(name: impl Into<String>) -> Result<CheckpointName, &'static str> {
        let name = name.into();
        if name.is_empty() {
            Err("it is empty")
        } else if name.len() > Self::LONGEST_NUMBERED {
            Err("it is too long")
        } else if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')) {
            Err("only letters, digits, `-`, `_` and `.` are allowed")
        } else if !name.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            Err("it must begin with a letter or a digit")
        } else {
            Ok(CheckpointName(name))
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same name with a number behind it, cut where it would become too long.
    pub(super) fn numbered(&self, number: u64) -> CheckpointName {
        let number = format!("-{number}");
        let mut stem = self.0.clone();
        while stem.len() + number.len() > Self::LONGEST_NUMBERED {
            stem.pop();
        }
        CheckpointName(stem + &number)
    }
}

impl Deref for CheckpointName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CheckpointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<CheckpointName> for String {
    fn from(name: CheckpointName) -> String {
        name.0
    }
}

impl<'de> Deserialize<'de> for CheckpointName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CheckpointName, D::Error> {
        let name = String::deserialize(deserializer)?;
        CheckpointName::parse(name)
            .map_err(|why| serde::de::Error::custom(format!("the name of a checkpoint: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_one_component_of_a_path() {
        for name in ["before-refactoring", "v1.2", "2026-11-16", "nach_Größe", "_x", "auto-1"] {
            assert!(CheckpointName::parse(name).is_ok(), "{name}");
        }
        let long = "x".repeat(129);
        for name in
            ["", ".", "..", "../x", "d/../../x", "a/b", "a\\b", "-x", "a\0b", "a\u{202e}b", &long]
        {
            assert!(CheckpointName::parse(name).is_err(), "{name:?}");
            let json = serde_json::to_string(name).unwrap();
            assert!(serde_json::from_str::<CheckpointName>(&json).is_err(), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_stays_in_its_directory(name in "[./a\\\\é\0-]{1,12}") {
            if let Ok(name) = CheckpointName::parse(name) {
                let path = std::path::Path::new("dir").join(format!("00000001-{name}"));
                prop_assert_eq!(path.parent(), Some(std::path::Path::new("dir")));
                prop_assert_eq!(path.components().count(), 2);
            }
        }

        #[test]
        fn a_numbered_name_is_a_name(name in "[a-zé]{1,64}", number in any::<u64>()) {
            let name = CheckpointName::parse(name).unwrap().numbered(number);
            prop_assert_eq!(CheckpointName::parse(name.as_str()), Ok(name.clone()));
        }
    }
}
