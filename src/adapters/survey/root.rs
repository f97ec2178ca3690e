//! Which directory a state is about.

use std::path::{Path, PathBuf};

use super::real;

/// The project of a state directory: the one above `workspace/state`, else the git work tree it is
/// in, else the working directory if that is above it, else its parent.
///
/// A directory that holds everybody's files is no project; then there is none.
pub(crate) fn project_root(state: &Path) -> Option<PathBuf> {
    let state = real(state);
    let mut above = state.ancestors().skip(1);
    let parent = above.next()?;
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|found| found == name);
    if named(&state, "state") && named(parent, "workspace") {
        return parent.parent().map(Path::to_owned);
    }
    if let Some(tree) = state.ancestors().find(|dir| dir.join(".git").exists()) {
        return Some(tree.to_owned());
    }
    let here = std::env::current_dir().map(|dir| real(&dir)).ok();
    if let Some(here) = here.filter(|here| state.starts_with(here) && !is_common(here)) {
        return Some(here);
    }
    (!is_common(parent)).then(|| parent.to_owned())
}

/// Whether a directory holds everybody's files.
fn is_common(dir: &Path) -> bool {
    let home = std::env::var_os("HOME").map(|home| real(Path::new(&home)));
    dir.parent().is_none() || home.as_deref() == Some(dir) || real(&std::env::temp_dir()) == dir
}
