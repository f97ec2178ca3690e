//! Templates by name: the built-in ones, a user's own, or any directory.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::Failure;
use crate::{
    adapters::config_directory,
    domain::{ErrorCode, StateFile, nearest},
    store::Directory,
    workspace::{BUILTIN_TEMPLATES, TemplateSet},
};

/// The largest file of a directory of templates that is read.
const MOST_TEMPLATE: u64 = 1 << 20;

/// A template that has a name.
#[derive(Debug, Serialize)]
pub(in crate::adapters::cli) struct Named {
    /// What `init --template` takes.
    pub(in crate::adapters::cli) name: String,
    /// What a built-in one is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::adapters::cli) summary: Option<&'static str>,
    /// Where one of the user's own is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::adapters::cli) directory: Option<PathBuf>,
}

/// Every template that has a name: the built-in ones, then the user's own.
pub(in crate::adapters::cli) fn list() -> Result<Vec<Named>, Failure> {
    let builtin = BUILTIN_TEMPLATES.iter().map(|template| Named {
        name: template.name.to_owned(),
        summary: Some(template.summary),
        directory: None,
    });
    let mut known: Vec<Named> = builtin.collect();
    let Some(home) = user_directory().filter(|dir| dir.is_dir()) else { return Ok(known) };
    let mut own = Vec::new();
    for entry in fs_err::read_dir(&home).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_new = known.iter().all(|template| template.name != name);
        if is_new && is_name(&name) && entry.path().is_dir() {
            own.push(Named { name, summary: None, directory: Some(entry.path()) });
        }
    }
    own.sort_by(|one, other| one.name.cmp(&other.name));
    known.extend(own);
    Ok(known)
}

/// The templates that a name or a directory means; the default ones without either.
///
/// A built-in name comes first, then the user's own folders, then the directory of that path.
pub(in crate::adapters::cli) fn find(template: Option<&str>) -> Result<TemplateSet, Failure> {
    let Some(name) = template else { return Ok(TemplateSet::default()) };
    if let Some(builtin) = TemplateSet::named(name) {
        return Ok(builtin);
    }
    let own = user_directory().filter(|_| is_name(name)).map(|dir| dir.join(name));
    let places = own.into_iter().chain([PathBuf::from(name)]);
    match places.into_iter().find(|dir| dir.is_dir()) {
        Some(dir) => read(&dir),
        None => {
            let message = format!("`{name}` is neither the name of a template nor a directory");
            let names: Vec<String> = list()?.into_iter().map(|known| known.name).collect();
            let hint = match nearest(name, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`? `statedir init --list-templates`"),
                None => "`statedir init --list-templates` lists those that have a name".to_owned(),
            };
            Err(Failure::new(ErrorCode::NotFound, message).hint(hint))
        }
    }
}

/// Where a user keeps templates of their own.
fn user_directory() -> Option<PathBuf> {
    config_directory().map(|config| config.join("templates"))
}

/// Whether a word can be a name: one folder, and not a hidden one.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

fn read(dir: &Path) -> Result<TemplateSet, Failure> {
    // A link in it could bring any file of this machine into the state.
    let directory = Directory::open(dir).map_err(unreadable)?;
    let read = |name: &str| -> Result<Option<String>, Failure> {
        let Some(bytes) = directory.read(name, MOST_TEMPLATE).map_err(unreadable)? else {
            return Ok(None);
        };
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let path = dir.join(name);
            let message = format!("{} is not valid UTF-8 at byte {at}", path.display());
            Failure::new(ErrorCode::NotUtf8, message)
        })
    };
    let mut set = TemplateSet::default();
    for file in StateFile::FIVE {
        if let Some(text) = read(&format!("{}.hbs", file.name()))? {
            set.replace(file, text);
        }
    }
    set.workflow = read(StateFile::Workflow.name())?;
    if let Some(error) = set.workflow_error() {
        let path = dir.join(StateFile::Workflow.name());
        let message = format!("`{}` cannot be used: {error}", path.display());
        return Err(Failure::new(ErrorCode::BadTemplate, message).hint("correct it, or remove it"));
    }
    if !set.is_custom() && set.workflow.is_none() {
        let message = format!("`{}` holds no template such as plan.md.hbs", dir.display());
        return Err(Failure::new(ErrorCode::NotFound, message));
    }
    Ok(set)
}

fn unreadable(error: io::Error) -> Failure {
    Failure::new(ErrorCode::UnreadableInput, error.to_string())
}
