//! The user's own editor on a file of the state.
//!
//! The file itself is edited, not a copy: what is saved is an edit from outside like any other, and
//! the next command records it as such.

use std::{path::Path, process::Command};

use crate::adapters::split_words;

/// Opens a file at a line and waits.
///
/// # Errors
/// There is no editor, or it fails.
pub(super) fn edit(path: &Path, line: usize) -> Result<(), String> {
    let set = |name| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
    let named = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let words = command(&named, path, line)?;
    let (program, arguments) = words.split_first().ok_or("EDITOR is empty")?;
    let ended = Command::new(program).args(arguments).status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{named}` failed: {status}")),
        Err(error) => Err(format!("`{named}` cannot be started: {error}; set EDITOR")),
    }
}

/// The words that open a file at a line in an editor.
fn command(editor: &str, path: &Path, line: usize) -> Result<Vec<String>, String> {
    let mut words = split_words(editor).map_err(|_| format!("`{editor}` is not a command"))?;
    let program = words.first().and_then(|program| Path::new(program).file_name());
    let program = program.and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let path = path.display().to_string();
    match program.as_str() {
        "hx" | "helix" | "subl" | "zed" => words.push(format!("{path}:{line}")),
        "code" | "codium" => words.extend(["--goto".to_owned(), format!("{path}:{line}")]),
        _ => words.extend([format!("+{line}"), path]),
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_get_the_line_in_their_own_syntax() {
        let command_line =
            |editor: &str| command(editor, Path::new("/s/plan.md"), 7).unwrap().join(" ");
        assert_eq!(command_line("vi"), "vi +7 /s/plan.md");
        assert_eq!(command_line("/usr/bin/nano -w"), "/usr/bin/nano -w +7 /s/plan.md");
        assert_eq!(command_line("hx"), "hx /s/plan.md:7");
        assert_eq!(command_line("code --wait"), "code --wait --goto /s/plan.md:7");
    }
}
