//! The five files and the merged state, for reading.

use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents};
use serde_json::{Value, json};

use super::worker::Work;
use crate::{
    adapters::cli::{
        commands::show,
        in_process::{CommandAnswer, Request, defaults},
    },
    domain::{ErrorCode, StateFile},
};

const FILES: &str = "statedir://state/";
const MERGED: &str = "statedir://state";

/// What can be read.
pub(super) fn list() -> Vec<Resource> {
    let about = |file| match file {
        StateFile::Plan => "the execution plan and its steps",
        StateFile::Context => "knowledge, findings, decisions",
        StateFile::Variables => "data passed between steps",
        StateFile::History => "the append-only execution log",
        _ => "modifiers, limits, directives, adaptation rules",
    };
    let files = StateFile::FIVE.into_iter().map(|file| {
        Resource::new(format!("{FILES}{}", file.name()), file.name())
            .with_description(about(file))
            .with_mime_type(mime(file))
    });
    let merged = Resource::new(MERGED, "state")
        .with_description("everything, merged into one document")
        .with_mime_type("application/json");
    files.chain([merged]).collect()
}

fn mime(file: StateFile) -> &'static str {
    if file == StateFile::Variables { "application/json" } else { "text/markdown" }
}

/// How a resource is read.
pub(super) fn work(uri: &str) -> Result<Work, ErrorData> {
    if uri == MERGED {
        return Ok(Work::Run(Request::State(defaults())));
    }
    match file_of(uri) {
        Some(file) => {
            let show = show::Args { file: file.name().to_owned(), section: None };
            Ok(Work::Run(Request::Show(show)))
        }
        None => {
            let message = format!("there is no resource `{uri}`");
            Err(ErrorData::resource_not_found(message, Some(json!({ "uri": uri }))))
        }
    }
}

/// The resource that was read.
pub(super) fn contents(
    uri: String,
    answer: CommandAnswer,
) -> Result<ReadResourceResult, ErrorData> {
    if answer.document["ok"] != true {
        let error = answer.document["error"].clone();
        let message = error["message"].as_str().unwrap_or("it cannot be read").to_owned();
        let is_absent = [ErrorCode::NoState, ErrorCode::FileMissing]
            .iter()
            .any(|code| error["code"] == code.as_str());
        return Err(match is_absent {
            true => {
                let mut data = error;
                data["uri"] = json!(uri);
                ErrorData::resource_not_found(message, Some(data))
            }
            false => ErrorData::internal_error(message, Some(error)),
        });
    }
    let (text, mime) = match file_of(&uri) {
        Some(file) => {
            let text = answer.document["text"].as_str().unwrap_or_default().to_owned();
            (text, mime(file))
        }
        None => (merged(answer.document), "application/json"),
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(mime);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The document as `statedir state` prints it, which `statedir import` takes.
fn merged(mut document: Value) -> String {
    if let Some(members) = document.as_object_mut() {
        members.shift_remove("ok");
    }
    format!("{document:#}")
}

fn file_of(uri: &str) -> Option<StateFile> {
    let name = uri.strip_prefix(FILES)?;
    StateFile::FIVE.into_iter().find(|file| file.name() == name)
}
