//! Attributes that say how state files are merged: a block of our own between two marks in a file that
//! belongs to someone else, and a file beside the state for whoever merges without the driver.

use std::{fs::OpenOptions, io::Write as _, path::Path};

use crate::adapters::git::{GitError, discovery, install::failed};

const BEGIN: &str = "# begin statedir (made by `statedir git install`)";
const END: &str = "# end statedir";
/// The beginning of a block above which a line end was added.
const GLUED: &str = "# begin statedir (made by `statedir git install`, with the line end above)";

/// `text` with our lines as its last block, replacing an earlier block of ours.
pub(crate) fn with_block(text: &str, lines: &[String]) -> String {
    let mut out = without_block(text);
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let is_glued = !out.is_empty() && !out.ends_with('\n');
    if is_glued {
        out.push_str(newline);
    }
    let begin = if is_glued { GLUED } else { BEGIN };
    for line in [begin].into_iter().chain(lines.iter().map(String::as_str)).chain([END]) {
        out.push_str(line);
        out.push_str(newline);
    }
    out
}

/// `text` without our block.
pub(crate) fn without_block(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        match line.trim_end() {
            BEGIN => inside = true,
            GLUED => {
                inside = true;
                let kept = out.strip_suffix('\n').map_or(out.len(), str::len);
                out.truncate(kept);
                let kept = out.strip_suffix('\r').map_or(out.len(), str::len);
                out.truncate(kept);
            }
            END if inside => inside = false,
            _ if inside => {}
            _ => out.push_str(line),
        }
    }
    out
}

/// The lines of our block.
pub(crate) fn block_lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim_end);
    let inside = lines.skip_while(|line| !matches!(*line, BEGIN | GLUED)).skip(1);
    inside.take_while(|line| *line != END).map(str::to_owned).collect()
}

/// The pattern that a line of ours begins with.
pub(crate) fn pattern_of(line: &str) -> &str {
    line.rsplit_once(" merge=").map_or(line, |(pattern, _)| pattern)
}

/// The path that a pattern of ours was made from.
pub(crate) fn path_of(pattern: &str) -> String {
    let quoted = pattern.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let plain = |text: &str| {
        let mut out = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c == '\\' {
                out.extend(chars.next());
            } else {
                out.push(c);
            }
        }
        out
    };
    let inner = match quoted {
        // Within quotes everything is escaped once more.
        Some(inner) => plain(&inner.replace("\\t", "\t").replace("\\n", "\n")),
        None => pattern.to_owned(),
    };
    plain(&inner).trim_start_matches('/').to_owned()
}

/// A path as a pattern of `.gitattributes`: nothing in it is special.
pub(crate) fn pattern(path: &str) -> String {
    let mut escaped = String::from("/");
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '!' | '#') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    if escaped.contains(|c: char| c.is_whitespace() || c == '"' || c.is_control()) {
        let inner = escaped.replace('\\', "\\\\").replace('"', "\\\"");
        let inner = inner.replace('\t', "\\t").replace('\n', "\\n");
        return format!("\"{inner}\"");
    }
    escaped
}

/// The file in the state directory.
pub(crate) const ATTRIBUTES: &str = ".gitattributes";

/// Only where keeping both sides is right: whole entries and findings at the end of what is there.
const TEXT: &str = "\
# Where git merges without statedir, what both sides added is kept. On a clone where
# `statedir git install` was run, the state files are merged by meaning instead.
history.md merge=union
context.md merge=union
";

/// Writes them beside a new state in a working tree of git; existing ones are kept.
pub(crate) fn write_attributes(dir: &Path) -> Result<bool, GitError> {
    if discovery::top(&discovery::resolve(dir)).is_none() {
        return Ok(false);
    }
    let path = dir.join(ATTRIBUTES);
    // A link that came with a clone is not followed.
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(TEXT.as_bytes()).map_err(failed).map(|()| true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_and_goes_without_a_trace() {
        for text in ["", "* text=auto\n", "*.md diff\r\n", "a b\n\n# c\n", "no end"] {
            let with = with_block(text, &["x y".to_owned()]);
            assert_eq!((block_lines(&with), block_lines(text)), (vec!["x y".to_owned()], vec![]));
            assert_eq!(with_block(&with, &["x y".to_owned()]), with);
            assert_eq!(without_block(&with), text);
        }
    }

    #[test]
    fn a_path_is_taken_literally() {
        assert_eq!(pattern("a/plan.md"), "/a/plan.md");
        assert_eq!(pattern("a b/[x]/plan.md"), "\"/a b/\\\\[x\\\\]/plan.md\"");
        for path in ["a/plan.md", "a b/[x]/plan.md", "it's \"q\" #!*?/p.md", "tab\there"] {
            let line = format!("{} merge=statedir diff=statedir", pattern(path));
            assert_eq!(path_of(pattern_of(&line)), path, "{line}");
        }
    }
}
