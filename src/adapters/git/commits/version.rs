//! One version of a state file in a commit, and whether it is usable.

use serde::Serialize;

use crate::{
    adapters::git::{GitError, repository::Repository},
    domain::{StateFile, Variables},
    history::verify,
    merge::conflicts,
    text::markdown::Document,
};

/// The largest file that is read whole.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// A version that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    pub file: StateFile,
    /// The commit that has it like this.
    pub commit: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// A state file as a commit has it.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) file: StateFile,
    pub(crate) object: String,
    pub(super) bytes: u64,
    pub(super) is_regular: bool,
}

impl Version {
    /// Why this version is not even read.
    pub(crate) fn refusal(&self, limit: u64) -> Option<&'static str> {
        match self.is_regular {
            false => Some("not a regular file"),
            true if self.bytes > limit => Some("too large"),
            true => None,
        }
    }
}

/// The state files that a commit has.
pub(crate) fn versions(repository: &Repository, commit: &str) -> Result<Vec<Version>, GitError> {
    let paths = repository.paths();
    let mut args = vec!["ls-tree", "-z", "-l", "--full-tree", commit, "--"];
    args.extend(paths.iter().map(|(_, path)| path.as_str()));
    let listing = repository.git.ask(&args)?;
    let mut found = Vec::new();
    for line in listing.split(|byte| *byte == 0) {
        let line = String::from_utf8_lossy(line);
        let Some((about, name)) = line.split_once('\t') else { continue };
        let Some((file, _)) = paths.iter().find(|(_, path)| path == name) else { continue };
        let mut words = about.split_whitespace();
        let (Some(mode), Some(object)) = (words.next(), words.nth(1)) else { continue };
        found.push(Version {
            file: *file,
            object: object.to_owned(),
            bytes: words.next().and_then(|bytes| bytes.parse().ok()).unwrap_or(0),
            is_regular: mode.starts_with("100"),
        });
    }
    Ok(found)
}

/// The bytes of objects, in their order; `None` for one that the repository has lost.
pub(crate) fn read(
    repository: &Repository,
    objects: &[&str],
) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    let input = format!("{}\n", objects.join("\n"));
    let output = repository.git.run(&["cat-file", "--batch"], &input)?;
    // Git stops at a damaged object; it and those after it are missing from the output.
    let mut rest = output.stdout.as_slice();
    let mut take = || -> Option<Vec<u8>> {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let line = String::from_utf8_lossy(rest.get(..end)?).into_owned();
        rest = rest.get(end + 1..)?;
        let bytes: usize = line.rsplit_once("blob ")?.1.parse().ok()?;
        let blob = rest.get(..bytes)?.to_vec();
        rest = rest.get(bytes + 1..).unwrap_or_default();
        Some(blob)
    };
    Ok(objects.iter().map(|_| take()).collect())
}

/// Why a version cannot be built upon.
pub(crate) fn damage(file: StateFile, bytes: &[u8]) -> Option<&'static str> {
    if bytes.trim_ascii().is_empty() {
        return Some("empty");
    }
    if std::str::from_utf8(bytes).is_err() {
        return Some("not UTF-8");
    }
    if !conflicts(file, bytes).is_empty() {
        return Some("it has unresolved merge conflicts");
    }
    let reads = match file {
        StateFile::Variables => Variables::parse(bytes.to_vec()).is_ok(),
        StateFile::History => {
            let verified = verify(bytes, &[], &mut |_| {});
            return match verified.is_ok_and(|found| found.is_intact()) {
                true => None,
                false => Some("its entries do not verify"),
            };
        }
        StateFile::Workflow => true,
        _ => Document::from_bytes(bytes.to_vec()).is_ok(),
    };
    if reads { None } else { Some("it cannot be read") }
}
