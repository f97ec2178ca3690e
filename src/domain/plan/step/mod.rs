//! One step of the plan.

pub(crate) mod claim;
mod description;
pub(crate) mod details;
pub(crate) mod edit;
pub(crate) mod heading;
pub(crate) mod outcome;
pub(crate) mod read;

use std::{
    fmt,
    ops::{Deref, RangeInclusive},
    str::FromStr,
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::SerializeStruct as _,
};

use self::{
    details::{LazyDetails, StepDetails},
    heading::{Heading, HeadingForm},
};
use crate::{
    domain::{
        ModelError, Money,
        nearest::same_name,
        plan::dependencies::{self, StepLabels},
    },
    text::{
        ShortText,
        markdown::{ItemId, SectionId},
    },
};

/// The short name of a step that never changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct StepId(ShortText);

impl StepId {
    // No vowels that spell words by accident, no characters that look alike.
    const LETTERS: &[u8] = b"bcdfghjkmnpqrstvwxz";
    const ALPHABET: &[u8] = b"bcdfghjkmnpqrstvwxz23456789";

    /// Takes `text` if it can be an id: `k3f9`, `T001`, and those of other people's checklists, such
    /// as `1.2` and `login/17-01`; but never a whole number.
    pub fn parse(text: &str) -> Option<Self> {
        let is_inside = |c: char| matches!(c, '_' | '-' | '.' | '/');
        let starts_with_digit = text.starts_with(|c: char| c.is_ascii_digit());
        let fits = text.len() <= 120
            && text.chars().all(|c| c.is_ascii_alphanumeric() || is_inside(c))
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && (text.len() <= 40 && !starts_with_digit && !text.contains(['.', '/'])
                || text.contains(is_inside) && !text.ends_with(is_inside));
        fits.then(|| Self(text.into()))
    }

    /// A new id from 64 random bits, different from all `taken` ones.
    pub(crate) fn generate(mut random: u64, taken: impl Fn(&str) -> bool) -> Self {
        for length in 4.. {
            let mut bits = random;
            let mut text = String::with_capacity(length);
            for at in 0..length {
                let alphabet = if at == 0 { Self::LETTERS } else { Self::ALPHABET };
                text.push(char::from(alphabet[(bits % alphabet.len() as u64) as usize]));
                bits /= alphabet.len() as u64;
            }
            if !taken(&text) {
                return Self(text.as_str().into());
            }
            random = random.rotate_left(17).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        unreachable!("some length has a free id")
    }

    /// An id that was one when it was kept.
    pub(in crate::domain) fn kept(text: &str) -> Self {
        Self(text.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How people and commands name a step: by number or by id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum StepRef {
    /// Its number in the plan, which may change.
    Number(u32),
    /// Its id, which does not.
    Id(StepId),
    /// A number that is not whole, as its heading has it: `2.1`.
    Label(String),
}

impl StepRef {
    /// Reads `3`, `#3`, `Step 3`, `2.1` or an id.
    ///
    /// # Errors
    /// Anything else is a bad value.
    pub(crate) fn parse(text: &str) -> Result<Self, ModelError> {
        let text = text.trim();
        let bare =
            text.strip_prefix("Step ").or_else(|| text.strip_prefix("step ")).unwrap_or(text);
        let bare = bare.strip_prefix('#').unwrap_or(bare);
        if let Ok(number) = bare.parse() {
            return Ok(Self::Number(number));
        }
        let bare = &*bare.replace('–', "-");
        let is_label = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if bare.len() <= 40 && bare.contains('.') && bare.split('.').all(is_label) {
            return Ok(Self::Label(bare.to_owned()));
        }
        StepId::parse(bare).map(Self::Id).ok_or_else(|| ModelError::BadValue {
            message: format!("`{text}` is neither the number nor the id of a step"),
            hint: Some("`statedir step list` shows both".to_owned()),
        })
    }
}

impl StepRef {
    /// The numbers that `1-3` or `1..3` stands for where no step is called so.
    pub(crate) fn range(&self) -> Option<RangeInclusive<u32>> {
        let Self::Id(id) = self else { return None };
        let (first, last) = id.as_str().split_once("..").or_else(|| id.as_str().split_once('-'))?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some(first..=last)
    }

    /// Reads a list such as `1, k3f9`, `1-3` or `[Step 4]`; `none` is an empty one.
    ///
    /// # Errors
    /// Something in it is not a step.
    pub(crate) fn parse_list(list: &str) -> Result<Vec<Self>, ModelError> {
        Ok(dependencies::parse(list, &StepLabels::default())?
            .into_iter()
            .map(|found| found.step)
            .collect())
    }
}

impl FromStr for StepRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|error| error.to_string())
    }
}

/// A number or text.
impl<'de> Deserialize<'de> for StepRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text.parse(),
            serde_json::Value::Number(number) => number.to_string().parse(),
            other => Err(format!("expected text or a number, found `{other}`")),
        }
        .map_err(D::Error::custom)
    }
}

impl fmt::Display for StepRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Id(id) => write!(f, "{id}"),
            Self::Label(label) => f.write_str(label),
        }
    }
}

/// Where a step keeps its attempts and its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BookkeepingForm {
    /// In one line with the id, the last of the fields.
    Line,
    /// In fields of their own, as older states have them.
    Fields,
}

/// A step as written in plan.md. Texts are as written; typed readings are methods.
///
/// Its title and what else one asks of single steps is part of it, too, but may have to be read first:
/// see [`StepDetails`].
#[derive(Clone, Debug)]
pub struct Step {
    /// The number in the heading.
    pub number: u32,
    /// The id, once it has one.
    pub id: Option<StepId>,
    /// The steps that come before it.
    pub depends_on: Vec<StepRef>,
    /// How often it was started.
    pub attempts: u32,
    /// How often it failed, where that does not follow from the attempts.
    pub failures: Option<u32>,
    /// The title and the other fields.
    pub(crate) details: LazyDetails,
    /// How its heading is written.
    pub(crate) heading: HeadingForm,
    pub(crate) bookkeeping: BookkeepingForm,
    /// The byte at which its heading begins.
    pub offset: usize,
    /// The section in the document; that of the list if the step is a box in it.
    pub section: SectionId,
    /// The box in a list that the step is, if it has no heading.
    pub(crate) item: Option<ItemId>,
}

impl Deref for Step {
    type Target = StepDetails;

    fn deref(&self) -> &StepDetails {
        self.details.get()
    }
}

/// What it says, in the order of the file.
impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let details = self.details();
        let mut fields = serializer.serialize_struct("Step", 19)?;
        fields.serialize_field("number", &self.number)?;
        fields.serialize_field("id", &self.id)?;
        fields.serialize_field("title", &self.title)?;
        fields.serialize_field("status", &self.status)?;
        fields.serialize_field("component", &details.component)?;
        fields.serialize_field("tool_mapping", &details.tool_mapping)?;
        fields.serialize_field("inputs", &details.inputs)?;
        fields.serialize_field("expected_outputs", &details.expected_outputs)?;
        fields.serialize_field("estimated_cost", &details.estimated_cost)?;
        fields.serialize_field("estimated_time", &details.estimated_time)?;
        fields.serialize_field("side_effects", &details.side_effects)?;
        fields.serialize_field("depends_on", &self.depends_on)?;
        fields.serialize_field("attempts", &self.attempts)?;
        fields.serialize_field("failures", &self.failures)?;
        fields.serialize_field("claimed_by", &self.claimed_by)?;
        fields.serialize_field("started_at", &self.started_at)?;
        fields.serialize_field("result", &details.result)?;
        fields.serialize_field("description", &details.description)?;
        fields.serialize_field("other", &details.other)?;
        fields.end()
    }
}

impl Step {
    /// How it is to be done, and its result.
    pub fn details(&self) -> &StepDetails {
        self.details.get()
    }

    /// Its heading, or the text after its box.
    pub(crate) fn written_heading(&self) -> Heading {
        let HeadingForm { number, mark, is_mark_first, has_unknown_mark } = self.heading;
        let (prefix, title) = (self.heading_prefix.clone(), self.title.clone());
        Heading { prefix, number, title, mark, is_mark_first, has_unknown_mark }
    }

    /// The title alone, for which the other details need not be read.
    pub(crate) fn title(&self) -> &str {
        self.details.title()
    }

    /// The status alone.
    pub(crate) fn status(&self) -> Option<&str> {
        self.details.status()
    }

    /// When it was started last, alone.
    pub(crate) fn started_at(&self) -> Option<&str> {
        self.details.started_at()
    }

    /// Whether some text under it is no field.
    pub(crate) fn has_description(&self) -> bool {
        self.details.has_description()
    }

    /// Replaces what the details say.
    pub(crate) fn set_details(&mut self, details: StepDetails) {
        self.details = details.into();
    }

    /// The estimated cost as an amount.
    pub fn cost(&self) -> Option<Money> {
        self.details().estimated_cost.as_deref().and_then(Money::parse)
    }

    /// Whether a line for its result belongs to it; steps of older states have none.
    pub(crate) fn has_result_line(&self) -> bool {
        self.bookkeeping == BookkeepingForm::Line || self.details().result.is_some()
    }

    /// Whether `step` means this one.
    pub fn is(&self, step: &StepRef) -> bool {
        match step {
            StepRef::Number(number) => self.number == *number,
            StepRef::Id(id) => self.id.as_ref() == Some(id),
            StepRef::Label(label) => {
                let rest = self.title.strip_prefix(label.as_str());
                let goes_on = |c: char| c.is_alphanumeric() || c == '.';
                let is_heading = self.heading.number.is_none()
                    && rest.is_some_and(|rest| !rest.starts_with(goes_on));
                is_heading || self.id.as_ref().is_some_and(|id| id.as_str() == label)
            }
        }
    }

    /// The value of a field that is one line of text, by its name in any spelling: one of this
    /// tool's, such as `component`, or one of the user's own.
    pub fn field(&self, name: &str) -> Option<&str> {
        if let Some(value) = self.details.other(|key| same_name(key, name)) {
            return Some(value);
        }
        let known = [
            ("id", self.id.as_ref().map(StepId::as_str)),
            ("title", Some(self.title.as_str())),
            ("status", self.status.as_deref()),
            ("component", self.details().component.as_deref()),
            ("tool", self.details().tool_mapping.as_deref()),
            ("tool_mapping", self.details().tool_mapping.as_deref()),
            ("estimated_cost", self.details().estimated_cost.as_deref()),
            ("estimated_time", self.details().estimated_time.as_deref()),
            ("side_effects", self.details().side_effects.as_deref()),
            ("started_at", self.started_at.as_deref()),
            ("completed_at", self.completed_at.as_deref()),
            ("result", self.details().result.as_deref()),
        ];
        known.into_iter().find(|(known, _)| same_name(known, name)).and_then(|(_, value)| value)
    }

    /// `step 3 (k3f9)`.
    pub fn name(&self) -> String {
        match &self.id {
            Some(id) => format!("step {} ({id})", self.number),
            None => format!("step {}", self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_id_is_short_and_never_a_number() {
        for random in 0..2000u64 {
            let id = StepId::generate(random.wrapping_mul(0x1234_5678_9ABC_DEF1), |_| false);
            assert_eq!(id.as_str().len(), 4);
            assert!(matches!(StepRef::parse(id.as_str()), Ok(StepRef::Id(_))));
        }
    }

    #[test]
    fn a_taken_id_is_not_given_again() {
        let first = StepId::generate(7, |_| false);
        assert_ne!(StepId::generate(7, |text| text == first.as_str()), first);
    }

    #[test]
    fn a_step_is_named_by_number_or_id() {
        assert_eq!(StepRef::parse(" Step 12 ").unwrap(), StepRef::Number(12));
        assert!(matches!(StepRef::parse("k3f9").unwrap(), StepRef::Id(_)));
        assert_eq!(StepRef::parse("2.1").unwrap(), StepRef::Label("2.1".to_owned()));
        assert!(StepRef::parse("2.").is_err());
        assert!(StepRef::parse("a b").is_err());
        assert!(StepRef::parse("-1").is_err());
    }
}
