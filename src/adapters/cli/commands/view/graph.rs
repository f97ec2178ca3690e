use serde_json::json;

use crate::{
    adapters::cli::{CliResult, Session},
    graph::{Tracks, dot, mermaid, svg, text},
};

/// How many steps and tracks are listed for people.
const MOST: usize = 100;

/// Show the plan as a graph: what comes before what, what takes longest, what can start now
///
/// Dependencies implied by others are left out. The critical path is the chain of unfinished steps
/// that takes longest, by estimated or measured time; a bottleneck is a step that most others wait
/// for.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir plan graph
  statedir plan graph --format mermaid      # for a comment on GitHub
  statedir plan graph --format svg > plan.svg
  statedir plan graph --group-by component --format dot | dot -Tpdf -o plan.pdf")]
pub(in crate::adapters) struct GraphArgs {
    /// How to draw it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The field of a step that says which group it belongs to [default: group]
    #[arg(long, value_name = "KEY")]
    group_by: Option<String>,
    /// How many steps the text lists at most [default: 100]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Format {
    Text,
    Mermaid,
    Dot,
    Svg,
    Json,
}

/// Show independent lines of work, and what could be started next in each
///
/// Each track begins with a step that is running, has failed or can be started, and continues with
/// the steps that wait for this track alone. What needs several tracks is listed after them.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  statedir plan tracks\n  statedir plan tracks --json")]
pub(in crate::adapters) struct TracksArgs {}

pub(in crate::adapters::cli) fn graph(session: &mut Session<'_>, args: &GraphArgs) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let graph = snapshot.graph(args.group_by.as_deref())?;
    let drawn = match args.format {
        Format::Json => format!("{}\n", graph.json()),
        Format::Text => text(&graph, args.limit.unwrap_or(MOST)).join("\n") + "\n",
        Format::Mermaid => mermaid(&graph),
        Format::Dot => dot(&graph),
        Format::Svg => svg(&graph, true),
    };
    session.output.raw(&drawn);
    session.output.value(|| match args.format {
        Format::Json | Format::Text => {
            let mut answer = graph.json();
            answer["revision"] = json!(snapshot.revision().as_str());
            answer
        }
        Format::Mermaid | Format::Dot | Format::Svg => json!({ "text": drawn }),
    });
    Ok(0)
}

pub(in crate::adapters::cli) fn tracks(session: &mut Session<'_>, _: &TracksArgs) -> CliResult {
    let snapshot = session.workspace()?.read()?;
    let graph = snapshot.graph(None)?;
    let tracks = Tracks::new(&graph);
    session.output.value(|| {
        let mut answer = tracks.json(&graph);
        answer["revision"] = json!(snapshot.revision().as_str());
        answer
    });
    for line in tracks.text(&graph, 20) {
        session.output.line(line);
    }
    Ok(0)
}
