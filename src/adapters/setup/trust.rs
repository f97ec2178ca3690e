//! Whether a client trusts a folder, by what it notes in the user's home. Nothing is ever changed
//! there: trust is for the user to give.

use std::{env, fs, path::Path};

use serde_json::Value;

use super::Client;

/// The largest file that is looked into.
const LIMIT: u64 = 64 << 20;

/// Whether the client trusts the folder; `None` where it asks for no trust or does not tell.
pub(super) fn is_trusted(client: Client, folder: &Path) -> Option<bool> {
    let home = env::var_os("HOME").filter(|home| !home.is_empty())?;
    let home = Path::new(&home);
    let folder = fs::canonicalize(folder).ok()?;
    let read = |name: &str| {
        let path = home.join(name);
        let meta = fs::metadata(&path).ok().filter(|meta| meta.is_file() && meta.len() <= LIMIT)?;
        (meta.len() <= LIMIT).then(|| fs::read_to_string(path).ok())?
    };
    let json = |name: &str| serde_json::from_str::<Value>(&read(name)?).ok();
    // Trust of a folder counts for those below it.
    let above = || folder.ancestors().filter_map(Path::to_str);
    Some(match client {
        Client::Claude => json(".claude.json").is_some_and(|known| {
            above().any(|dir| known["projects"][dir]["hasTrustDialogAccepted"] == true)
        }),
        Client::Codex => read(".codex/config.toml").is_some_and(|text| {
            let known = projects_trusted_by_codex(&text);
            above().any(|dir| known.iter().any(|project| project == dir))
        }),
        Client::Gemini => json(".gemini/trustedFolders.json").is_some_and(|known| {
            above().any(|dir| matches!(known[dir].as_str(), Some("TRUST_FOLDER" | "TRUST_PARENT")))
        }),
        _ => return None,
    })
}

/// The folders of `[projects."…"]` with `trust_level = "trusted"`.
fn projects_trusted_by_codex(text: &str) -> Vec<String> {
    let mut trusted = Vec::new();
    let mut project = None;
    for line in text.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            let name = table.strip_prefix("projects.").and_then(|name| name.strip_suffix(']'));
            project = name.map(|name| name.trim_matches(['"', '\'']).to_owned());
        } else if let (Some(name), Some((key, value))) = (&project, line.split_once('='))
            && key.trim() == "trust_level"
            && value.trim().trim_matches(['"', '\'']) == "trusted"
        {
            trusted.push(name.clone());
        }
    }
    trusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codex_notes_whom_it_trusts() {
        let text = "model = \"x\"\n[projects.\"/a b\"]\ntrust_level = \"trusted\"\n[projects.'/c']\n\
                    trust_level = \"untrusted\"\n[other]\ntrust_level = \"trusted\"\n";
        assert_eq!(projects_trusted_by_codex(text), ["/a b"]);
    }
}
