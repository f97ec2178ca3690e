use crate::{
    adapters::cli::{CliResult, Session, pairs},
    brief::Turn,
    workspace::Change,
};

/// Record turns of the conversation
#[derive(Clone, Debug, clap::Subcommand)]
#[command(
    defer = true,
    after_help = "\
Examples:
  statedir turn add --user \"Which database?\" --response \"Qdrant, because it is fastest\"
  statedir turn add --user \"Deploy it\" --response - --intent deploy --outcome done < answer.txt

`statedir memory` shows what is remembered of them."
)]
pub(in crate::adapters) enum Verb {
    /// Record a turn as an entry of the history
    #[command(after_help = "\
Examples:
  statedir turn add --user \"Which database?\" --response \"Qdrant\" --intent compare \\
    --outcome \"chose qdrant\" --decision \"qdrant: lowest latency\" --lesson \"measure first\" \\
    --task 3 --file report.md --input-tokens 1200 --output-tokens 300")]
    Add(Box<AddArgs>),
}

#[derive(Clone, Debug, clap::Args)]
pub(in crate::adapters) struct AddArgs {
    /// What the user said; - reads standard input
    #[arg(long, value_name = "TEXT", visible_alias = "user-message", default_value = "")]
    user: String,
    /// What was answered; - reads standard input
    #[arg(long, value_name = "TEXT", default_value = "")]
    response: String,
    /// What the user wanted, in a few words
    #[arg(long, value_name = "TEXT")]
    intent: Option<String>,
    /// The result
    #[arg(long, value_name = "TEXT")]
    outcome: Option<String>,
    /// What went wrong; may be repeated
    #[arg(long = "error", value_name = "TEXT")]
    errors: Vec<String>,
    /// A step or task that was worked on; may be repeated
    #[arg(long = "task", value_name = "TASK")]
    tasks: Vec<String>,
    /// A file that mattered; may be repeated
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// A key decision and why; may be repeated
    #[arg(long = "decision", value_name = "TEXT")]
    decisions: Vec<String>,
    /// What was learned; may be repeated
    #[arg(long = "lesson", value_name = "TEXT")]
    lessons: Vec<String>,
    /// The conversation it belongs to, where there are several
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// What the user thinks of it, such as positive; plain words in the message are recognised
    #[arg(long, value_name = "WORD")]
    feedback: Option<String>,
    /// Tokens read
    #[arg(long, value_name = "N")]
    input_tokens: Option<u64>,
    /// Tokens written
    #[arg(long, value_name = "N")]
    output_tokens: Option<u64>,
}

pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, verb: Verb) -> CliResult {
    let Verb::Add(args) = verb;
    let turn = Turn {
        turn: None,
        time: None,
        conversation: args.conversation,
        feedback: args.feedback,
        user_message: pairs::text(args.user)?,
        response: pairs::text(args.response)?,
        intent: args.intent,
        outcome: args.outcome,
        errors: args.errors,
        tasks: args.tasks,
        files: args.files,
        decisions: args.decisions,
        lessons: args.lessons,
        input_tokens: args.input_tokens,
        output_tokens: args.output_tokens,
    };
    session.apply(&[Change::TurnAdd(Box::new(turn))])
}
