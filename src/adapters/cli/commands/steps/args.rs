//! The arguments that step commands share.

use crate::{
    adapters::cli::{Failure, pairs},
    domain::StepRef,
    workspace::{Cost, Span, StepMove, StepResult, StepShape},
};

// The fields of a step. (A doc comment would replace the help of the commands that take it.)
#[derive(Clone, Debug, clap::Args)]
pub(in crate::adapters) struct ShapeArgs {
    /// The component that does it
    #[arg(long, value_name = "NAME")]
    component: Option<String>,
    /// The tool it maps to
    #[arg(long, visible_alias = "tool-mapping", value_name = "NAME")]
    tool: Option<String>,
    /// A parameter; the value may be a {{variable}}
    #[arg(long, value_name = "KEY=VALUE", value_parser = pairs::pair)]
    input: Vec<(String, String)>,
    /// An expected result
    #[arg(long, value_name = "KEY=TEXT", value_parser = pairs::pair)]
    output: Vec<(String, String)>,
    /// The estimated cost, such as 0.02
    #[arg(long, value_name = "AMOUNT")]
    cost: Option<Cost>,
    /// The estimated time, such as 30s or 2m
    #[arg(long, value_name = "TIME")]
    time: Option<Span>,
    /// Details, in markdown; - reads standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    /// What it changes in the world
    #[arg(long, visible_alias = "side-effects", value_name = "TEXT")]
    effects: Option<String>,
    /// The steps it depends on, by number or id, such as 1-3,5
    #[arg(long, value_name = "STEP,…", value_delimiter = ',')]
    depends_on: Option<Vec<String>>,
}

impl ShapeArgs {
    pub(super) fn shape(self) -> Result<StepShape, Failure> {
        let depends_on = match self.depends_on {
            Some(names) => Some(
                names
                    .iter()
                    .filter(|name| !name.trim().is_empty())
                    .map(|name| select(name))
                    .collect::<Result<Vec<_>, _>>()?,
            ),
            None => None,
        };
        Ok(StepShape {
            component: self.component,
            tool: self.tool,
            input: pairs::texts(&self.input)?,
            output: pairs::texts(&self.output)?,
            cost: self.cost,
            time: self.time,
            effects: pairs::optional_text(self.effects)?,
            description: pairs::optional_text(self.description)?,
            depends_on,
            ..StepShape::default()
        })
    }
}

// What came of a step.
#[derive(Clone, Debug, clap::Args)]
struct OutcomeArgs {
    /// A result, kept in variables.json under step_data.outputs
    #[arg(long, value_name = "KEY=VALUE", value_parser = pairs::pair)]
    output: Vec<(String, String)>,
    /// What it cost, such as 0.02
    #[arg(long, value_name = "AMOUNT")]
    cost: Option<Cost>,
    /// How long it took; since its start if absent
    #[arg(long, value_name = "TIME")]
    time: Option<Span>,
    /// What went wrong; - reads standard input
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// An observation; - reads standard input
    #[arg(long, value_name = "TEXT", visible_alias = "why")]
    note: Option<String>,
    /// The tool that was actually used
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Even if somebody else holds the step; prefer `step take`
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Debug, clap::Args)]
pub(in crate::adapters) struct ResultArgs {
    /// Number or id; the running step if absent
    step: Option<String>,
    /// Further steps, by number: all of them end in one operation
    #[arg(value_name = "NUMBER", value_parser = step_number)]
    further: Vec<u32>,
    #[command(flatten)]
    outcome: OutcomeArgs,
}

impl ResultArgs {
    /// The result of each step; that of the running step if none is named.
    pub(super) fn results(self) -> Result<Vec<StepResult>, Failure> {
        let outcome = &self.outcome;
        let of_one = [
            ("--output", !outcome.output.is_empty()),
            ("--cost", outcome.cost.is_some()),
            ("--time", outcome.time.is_some()),
        ];
        if !self.further.is_empty()
            && let Some((option, _)) = of_one.iter().find(|(_, is_given)| *is_given)
        {
            let message = format!("`{option}` belongs to one step, and several are named");
            return Err(Failure::usage(message)
                .hint("give each step a command of its own; `statedir apply --help` shows how to make several changes in one operation"));
        }
        let steps = each(self.step.as_deref(), &self.further)?;
        let result = self.outcome.result()?;
        Ok(steps.into_iter().map(|step| StepResult { step, ..result.clone() }).collect())
    }
}

impl OutcomeArgs {
    fn result(self) -> Result<StepResult, Failure> {
        let Self { output, cost, time, error, note, tool, force } = self;
        Ok(StepResult {
            output: pairs::values(&output)?,
            error: pairs::optional_text(error)?,
            note: pairs::optional_text(note)?,
            ..StepResult { cost, time, tool, force, ..StepResult::default() }
        })
    }
}

// A move to a status.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::adapters) struct MoveArgs {
    /// Number or id
    step: String,
    /// The status, by its name or an alias
    status: String,
    #[command(flatten)]
    outcome: OutcomeArgs,
}

impl MoveArgs {
    pub(super) fn step_move(self) -> Result<Box<StepMove>, Failure> {
        let step = select(&self.step)?;
        let result = self.outcome.result()?;
        Ok(Box::new(StepMove::with_result(step, self.status, result)))
    }
}

/// A step that is named after another one.
pub(super) fn step_number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not the number of a step"))
}

/// The steps that arguments name; without any, the one that the command chooses.
pub(super) fn each(step: Option<&str>, further: &[u32]) -> Result<Vec<Option<StepRef>>, Failure> {
    let further = further.iter().map(|number| Some(StepRef::Number(*number)));
    Ok(std::iter::once(selected(step)?).chain(further).collect())
}

/// The step that an argument names.
pub(super) fn selected(step: Option<&str>) -> Result<Option<StepRef>, Failure> {
    step.map(select).transpose()
}

pub(in crate::adapters::cli) fn select(step: &str) -> Result<StepRef, Failure> {
    StepRef::parse(step).map_err(|error| Failure::from(crate::workspace::Error::from(error)))
}
