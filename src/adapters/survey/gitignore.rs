//! What `.gitignore` files name, by git's rules.
//!
//! Written here rather than taken from a crate: the rules are few, the walk is our own, and a
//! matcher that brings a regex engine would be the heaviest dependency of the program.

use std::path::{Path, PathBuf};

use fs_err as fs;

/// The longest file of patterns that is read, and the most patterns of one.
const MOST_BYTES: u64 = 256 << 10;
const MOST_PATTERNS: usize = 2_000;
/// The longest pattern.
const LONGEST: usize = 500;

/// The patterns of all directories that were entered.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    /// From the outermost directory in.
    files: Vec<(PathBuf, Vec<Pattern>)>,
}

#[derive(Debug)]
struct Pattern {
    /// Parts of the path; an empty list of characters stands for `**`.
    parts: Vec<Vec<char>>,
    negated: bool,
    directory: bool,
    /// Whether it names a path from the directory of the file, not a name at any depth.
    anchored: bool,
}

impl Ignored {
    /// With what holds for the whole repository.
    pub(super) fn new(root: &Path) -> Self {
        let mut ignored = Self::default();
        ignored.read(root, &root.join(".git/info/exclude"));
        ignored
    }

    /// Reads the patterns of a directory that is being entered.
    pub(super) fn enter(&mut self, dir: &Path) {
        self.files.retain(|(above, _)| dir.starts_with(above));
        self.read(dir, &dir.join(".gitignore"));
    }

    fn read(&mut self, dir: &Path, file: &Path) {
        let Ok(data) = fs::symlink_metadata(file) else { return };
        if !data.is_file() || data.len() > MOST_BYTES {
            return;
        }
        let Ok(bytes) = fs::read(file) else { return };
        let text = String::from_utf8_lossy(&bytes);
        let patterns: Vec<Pattern> =
            text.lines().filter_map(Pattern::parse).take(MOST_PATTERNS).collect();
        if !patterns.is_empty() {
            self.files.push((dir.to_owned(), patterns));
        }
    }

    /// Whether a path in an entered directory is left out: the last pattern that fits decides, and
    /// an inner file before an outer one.
    pub(super) fn matches(&self, path: &Path, is_dir: bool) -> bool {
        for (dir, patterns) in self.files.iter().rev() {
            let Ok(below) = path.strip_prefix(dir) else { continue };
            let below = below.to_string_lossy();
            let parts: Vec<Vec<char>> =
                below.split(std::path::MAIN_SEPARATOR).map(|part| part.chars().collect()).collect();
            let last = patterns.iter().rev().find(|pattern| pattern.fits(&parts, is_dir));
            if let Some(pattern) = last {
                return !pattern.negated;
            }
        }
        false
    }
}

impl Pattern {
    fn parse(line: &str) -> Option<Self> {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line).trim_end_matches('\r');
        let line = without_trailing_spaces(line);
        if line.is_empty() || line.starts_with('#') || line.len() > LONGEST {
            return None;
        }
        let (negated, line) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (directory, line) = match line.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let anchored = line.contains('/');
        let line = line.strip_prefix('/').unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        let part = |part: &str| if part == "**" { Vec::new() } else { part.chars().collect() };
        Some(Self { parts: line.split('/').map(part).collect(), negated, directory, anchored })
    }

    fn fits(&self, path: &[Vec<char>], is_dir: bool) -> bool {
        if self.directory && !is_dir {
            return false;
        }
        if self.anchored {
            return fits_path(&self.parts, path);
        }
        path.last().is_some_and(|name| self.parts[0].is_empty() || fits_name(&self.parts[0], name))
    }
}

fn without_trailing_spaces(line: &str) -> &str {
    let mut end = line;
    while let Some(shorter) = end.strip_suffix(' ') {
        if shorter.ends_with('\\') {
            break;
        }
        end = shorter;
    }
    end
}

/// Whether the parts of a pattern fit the parts of a path; `**` stands for any number of them.
fn fits_path(pattern: &[Vec<char>], path: &[Vec<char>]) -> bool {
    // Which beginnings of the path fit the pattern so far.
    let mut fits: Vec<bool> = vec![false; path.len() + 1];
    fits[0] = true;
    for (at, part) in pattern.iter().enumerate() {
        let mut next = vec![false; path.len() + 1];
        if part.is_empty() {
            // At the end `a/**` means what is inside, not `a` itself.
            let least = usize::from(at + 1 == pattern.len());
            let mut seen = false;
            for end in 0..=path.len() {
                if end >= least {
                    seen |= fits[end - least];
                }
                next[end] = seen;
            }
        } else {
            for (end, name) in path.iter().enumerate() {
                next[end + 1] = fits[end] && fits_name(part, name);
            }
        }
        fits = next;
    }
    fits[path.len()]
}

/// Whether one name fits: `*`, `?`, `[a-z]`, `[!a]`, and `\` before a character.
fn fits_name(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
            continue;
        }
        match one(&pattern[p..], name[n]) {
            Some(length) => {
                p += length;
                n += 1;
            }
            // The last star takes one more character: never more than length times length steps.
            None => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// How much of the pattern fits this character.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match *pattern.first()? {
        '?' => Some(1),
        '\\' => (*pattern.get(1)? == c).then_some(2),
        '[' => class(pattern, c),
        other => (other == c).then_some(1),
    }
}

fn class(pattern: &[char], c: char) -> Option<usize> {
    let mut at = 1;
    let negated = matches!(pattern.get(at), Some('!' | '^'));
    at += usize::from(negated);
    let (mut found, first) = (false, at);
    loop {
        let mut low = *pattern.get(at)?;
        if low == ']' && at > first {
            break;
        }
        if low == '\\' {
            at += 1;
            low = *pattern.get(at)?;
        }
        let ranged =
            pattern.get(at + 1) == Some(&'-') && pattern.get(at + 2).is_some_and(|c| *c != ']');
        if ranged {
            found |= (low..=pattern[at + 2]).contains(&c);
            at += 3;
        } else {
            found |= low == c;
            at += 1;
        }
    }
    (found != negated).then_some(at + 1)
}
