//! Validated file paths of a layout, which may come from an untrusted clone.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// The folder in the private directory for our own files of an adopted state.
pub(crate) const PRIVATE_FOLDER: &str = ".statedir/state";

/// A relative path below the directory of the layout, without `..`, and not in `.git` or the log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub(crate) struct FilePath(String);

impl FilePath {
    /// Checks a path.
    ///
    /// # Errors
    /// Why it cannot be one.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let refused = |why: &str| Err(format!("`{text}` cannot be a file of the state: {why}"));
        if text.is_empty() || text.len() > 1024 {
            return refused("it is empty or too long");
        }
        if text.chars().any(|c| c.is_control() || matches!(c, '\\' | '\u{feff}')) {
            return refused("it contains a control character or a backslash");
        }
        let is_private = text
            .strip_prefix(PRIVATE_FOLDER)
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|name| !name.contains('/'));
        for (at, part) in text.split('/').enumerate() {
            let is_private = at == 0 && is_private;
            match part {
                "" | "." | ".." => return refused("it must lead straight to a file below"),
                part if part.eq_ignore_ascii_case(".git") => return refused("it belongs to git"),
                part if part.to_ascii_lowercase().starts_with(".statedir") && !is_private => {
                    return refused("it belongs to the log");
                }
                _ => {}
            }
        }
        if ![".md", ".markdown", ".mdx", ".txt", ".json", ".yaml"]
            .iter()
            .any(|end| text.ends_with(end))
        {
            return refused("it must be markdown, JSON or YAML");
        }
        Ok(Self(text.to_owned()))
    }

    /// The path with `/` between its parts.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The directory it is in; empty for the directory of the layout.
    pub(crate) fn directory(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(directory, _)| directory)
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}
