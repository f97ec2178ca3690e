//! What a plan about a ticket has besides its steps: approvals and artefacts.

use serde::Serialize;
use serde_json::Value;

use crate::domain::{Decision, Plan, Review, Variables};

/// A ticket, who has approved what, and the results so far.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TicketOverview {
    /// As people say it: `#7` or `PROJ-123`.
    pub id: String,
    /// Where it is kept.
    pub platform: Option<String>,
    /// Its address.
    pub url: Option<String>,
    /// The branch that was proposed for it.
    pub branch: Option<String>,
    /// Reviews that a person has decided, and those that nobody has.
    pub approvals: Vec<Review>,
    /// What steps gave, by name; the newest of several.
    pub artefacts: Vec<Artefact>,
}

/// Something that a step gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Artefact {
    /// The number of the step.
    pub step: u32,
    /// What it is called.
    pub name: String,
    /// Where it is, or what it says.
    pub value: String,
}

impl TicketOverview {
    /// What is known, if the plan is about a ticket.
    pub(super) fn of(plan: &Plan, variables: Option<&Variables>) -> Option<Self> {
        let named = |name: &str| {
            let found = plan.metadata.other.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.clone())
        };
        let mut artefacts = Vec::new();
        let id = named("ticket")?;
        for step in &plan.steps {
            let Some(id) = &step.id else { continue };
            let outputs = variables.and_then(|read| read.get(&format!("step_data.outputs.{id}")));
            let Some(Value::Object(outputs)) = outputs else { continue };
            for (name, value) in outputs {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                artefacts.push(Artefact { step: step.number, name, value });
            }
        }
        Some(Self {
            id,
            platform: named("platform"),
            url: named("url"),
            branch: named("branch"),
            approvals: plan.reviews.clone(),
            artefacts,
        })
    }

    /// How many reviews were approved, and how many there are.
    pub(crate) fn approved(&self) -> (usize, usize) {
        let approved = |review: &&Review| review.decision == Decision::Approved;
        (self.approvals.iter().filter(approved).count(), self.approvals.len())
    }
}
