use std::io::Read as _;

use serde_json::json;

use crate::{
    adapters::cli::{
        CliResult, Failure, Session,
        section_text::{self, SectionText},
    },
    domain::{ErrorCode, ModelError, StateFile, StepRef},
    text::markdown::Document,
    workspace::{Error, Snapshot},
};

/// Print a state file, or one section of it, as it is
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir show plan
  statedir show context --section \"Key Findings\"
  statedir show constraints --section \"Adaptation Rules\"")]
pub(in crate::adapters) struct Args {
    /// plan, context, variables, history or constraints
    pub(in crate::adapters) file: String,
    /// A heading or a path of headings, or for variables a path
    #[arg(long, value_name = "SECTION")]
    pub(in crate::adapters) section: Option<String>,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    let Some(file) = StateFile::from_name(&args.file) else {
        let message = format!("there is no state file `{}`", args.file);
        let hint = match args.file.parse::<StepRef>() {
            Ok(StepRef::Number(number)) => format!("`statedir step show {number}` shows a step"),
            _ => "one of plan, context, variables, history, constraints".to_owned(),
        };
        return Err(Failure::new(ErrorCode::NotFound, message).hint(hint));
    };
    let snapshot = session.workspace()?.read()?;
    if file == StateFile::History && args.section.is_none() && !session.output.is_json() {
        return stream_history(session, &snapshot);
    }
    let (text, parts) = text(session, &snapshot, file, args.section.as_deref())?;
    session.output.value(|| {
        let mut answer = json!({ "file": file.name(), "section": args.section, "text": text,
            "revision": snapshot.revision().as_str() });
        if parts.len() > 1 {
            answer["matches"] = json!(parts);
        }
        answer
    });
    session.output.raw(&text);
    if !text.is_empty() && !text.ends_with('\n') {
        session.output.raw("\n");
    }
    Ok(0)
}

/// The text, and the sections that it is made of.
fn text(
    session: &Session<'_>,
    snapshot: &Snapshot,
    file: StateFile,
    section: Option<&str>,
) -> Result<(String, Vec<SectionText>), Failure> {
    let whole = match file {
        StateFile::History => {
            let mut bytes = Vec::new();
            let size = snapshot.view().appended().len();
            const MOST: u64 = 64 << 20;
            if size > MOST {
                let message = format!("history.md has {size} bytes");
                let hint =
                    "`statedir history list` reads parts of it, and so does `history search`";
                return Err(Failure::new(ErrorCode::TooLarge, message).hint(hint));
            }
            let read = snapshot.history()?.read_to_end(&mut bytes);
            read.map_err(|error| Failure::new(ErrorCode::Io, error.to_string()))?;
            bytes
        }
        file => snapshot
            .view()
            .bytes(file.name())
            .ok_or(Error::from(ModelError::Missing { file }))?
            .to_vec(),
    };
    let Some(section) = section else {
        return Ok((String::from_utf8_lossy(&whole).into_owned(), Vec::new()));
    };
    if file == StateFile::Variables {
        let variables = snapshot.variables()?;
        let found = variables.get(section).map(|value| format!("{value:#}"));
        let message = format!("`{section}` is not in `{file}`");
        let found = found.ok_or_else(|| Failure::new(ErrorCode::NotFound, message))?;
        return Ok((found, Vec::new()));
    }
    let document = Document::from_bytes(whole)
        .map_err(|error| Error::from(ModelError::markdown(file, &error)))?;
    let found = document.find_named(section);
    let mut parts = Vec::new();
    let found = found.map_err(|error| ModelError::lookup(file, error));
    for found in found.map_err(|error| section_text::not_found(file, error))? {
        let found = document.section(found);
        let (file, line) = session.workspace()?.source_at(file, &document, found.heading.start);
        let text = document.source()[found.extent.clone()].to_owned();
        parts.push(SectionText { file, line, text });
    }
    Ok((section_text::joined(&parts), parts))
}

fn stream_history(session: &mut Session<'_>, snapshot: &Snapshot) -> CliResult {
    let mut reader = snapshot.history()?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(0),
            Ok(count) if session.output.stream(&buffer[..count]) => {}
            Ok(_) => return Ok(0),
            Err(error) => return Err(Failure::new(ErrorCode::Io, error.to_string())),
        }
    }
}
