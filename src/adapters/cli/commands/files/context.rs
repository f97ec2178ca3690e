use serde_json::json;

use crate::{
    adapters::cli::{
        CliResult, Failure, Session, pairs,
        section_text::{self, SectionText},
    },
    domain::{Context, StateFile},
    workspace::{Change, ContextText},
};

/// Add to, replace or show sections of context.md
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir context add \"Qdrant is fastest below 1M vectors\"
  statedir context add --section \"Decision Rationale\" \"Chose qdrant: latency\"
  statedir context set --section \"Current Understanding\" - < understanding.md
  statedir context show --section \"Key Findings\""
)]
pub(in crate::adapters) enum Verb {
    /// Append text to a section; nothing is replaced
    #[command(
        after_help = "Examples:\n  statedir context add --section \"Key Findings\" \"It works\"\n  echo text | statedir context add -"
    )]
    Add(TextArgs),
    /// Replace the text of a section; its subsections are kept
    #[command(
        after_help = "Examples:\n  statedir context set --section \"Current Understanding\" \"We know that …\""
    )]
    Set(TextArgs),
    /// Show the sections
    #[command(
        after_help = "Examples:\n  statedir context show\n  statedir context show --section \"Key Findings\""
    )]
    Show {
        /// A heading, or a path such as Knowledge Accumulation/Key Findings
        #[arg(long, value_name = "SECTION")]
        section: Option<String>,
    },
}

#[derive(Clone, Debug, clap::Args)]
pub(in crate::adapters) struct TextArgs {
    /// A heading, or a path of headings; Key Findings if absent
    #[arg(long, value_name = "SECTION")]
    section: Option<String>,
    /// Add the section if it does not exist
    #[arg(long)]
    create: bool,
    /// Any markdown; - reads standard input
    text: String,
}

impl TextArgs {
    fn text(self) -> Result<ContextText, Failure> {
        Ok(ContextText {
            text: pairs::text(self.text)?,
            section: self.section,
            create: self.create,
        })
    }
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    match verb {
        Verb::Add(text) => session.apply(&[Change::ContextAdd(text.text()?)]),
        Verb::Set(text) => session.apply(&[Change::ContextSet(text.text()?)]),
        Verb::Show { section } => show(session, section.as_deref()),
    }
}

fn show(session: &mut Session<'_>, section: Option<&str>) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let context = snapshot.context()?;
    let mut parts = Vec::new();
    let text = match section {
        Some(name) => {
            let document = &context.document;
            let found = context.sections_named(name);
            let found =
                found.map_err(|error| section_text::not_found(StateFile::Context, error))?;
            for section in found {
                let start = document.section(section).heading.start;
                let (file, line) =
                    session.workspace()?.source_at(StateFile::Context, document, start);
                let text = Context::shown(document, section).into_owned();
                parts.push(SectionText { file, line, text });
            }
            section_text::joined(&parts)
        }
        None => context.document.source().trim_end().to_owned(),
    };
    session.output.value(|| {
        let mut answer = json!({ "section": section, "text": text,
            "revision": snapshot.revision().as_str() });
        if section.is_none() {
            answer["sections"] = json!(context.sections);
        }
        if parts.len() > 1 {
            answer["matches"] = json!(parts);
        }
        answer
    });
    session.output.verbatim(text);
    Ok(0)
}
