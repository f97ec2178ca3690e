//! Reviews: boxes in plan.md that a person ticks before the plan continues.

use std::borrow::Cow;

use serde::Serialize;

use crate::{
    domain::{ModelError, Plan, StateFile, StepId},
    text::display,
    text::markdown::{Document, Edit, ItemId},
};

pub(in crate::domain) const SECTION: &str = "Reviews";

/// The state of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Nobody has decided yet.
    Open,
    /// The box is ticked.
    Approved,
    /// It was refused.
    Rejected,
    /// It no longer needs a decision.
    Closed,
}

impl Decision {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Closed => "closed",
        }
    }
}

/// A question to a person.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Review {
    /// Its name, such as `r1`.
    pub id: String,
    /// The question.
    pub text: String,
    /// Whether and how it was decided.
    pub decision: Decision,
    /// Whether its approval has been used: it is valid for one move.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub used: bool,
    /// The line in the document.
    #[serde(skip)]
    pub item: ItemId,
}

impl Review {
    const REJECTED: &str = " — rejected by ";
    const APPROVED: &str = " — approved by ";
    const CLOSED: &str = " — closed by ";
    const USED: &str = " — carried out";

    /// The gate that it belongs to, if any.
    pub(crate) fn gate(&self) -> Option<&str> {
        let name = self.text.strip_prefix("gate ")?;
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let end = name.find(|c: char| !is_name(c))?;
        (name[end..].starts_with(": ") || name[end..].starts_with(" of step "))
            .then_some(&name[..end])
    }

    /// What was asked, without what was decided.
    pub(crate) fn question(&self) -> &str {
        let end = Self::first_mark(&self.text).map(|(at, _)| at);
        &self.text[..end.unwrap_or(self.text.len())]
    }

    /// The first mark of a decision in a text, and where it is.
    fn first_mark(text: &str) -> Option<(usize, &'static str)> {
        let marks = [Self::REJECTED, Self::APPROVED, Self::CLOSED, Self::USED];
        marks.into_iter().filter_map(|mark| Some((text.find(mark)?, mark))).min()
    }

    /// Refuses a question or a reason that would be read as a decision.
    ///
    /// # Errors
    /// It contains the mark of a decision.
    pub(crate) fn refuse_decision(text: &str) -> Result<(), ModelError> {
        let Some((_, mark)) = Self::first_mark(text) else { return Ok(()) };
        let mark = mark.trim();
        Err(ModelError::BadValue {
            message: format!("the text contains `{mark}`, which notes a decision in plan.md"),
            hint: Some("write it with a hyphen instead of the dash".to_owned()),
        })
    }

    /// A text changed so that it cannot be read as a decision.
    fn undecided(text: &str) -> Cow<'_, str> {
        match Self::first_mark(text) {
            Some(_) => Cow::Owned(text.replace(" — ", " - ")),
            None => Cow::Borrowed(text),
        }
    }

    /// Whether it is about that step.
    pub(crate) fn is_about(&self, step: &StepId) -> bool {
        let word = |c: char| !c.is_alphanumeric() && c != '_' && c != '-';
        self.question().split(word).any(|part| part == step.as_str())
    }

    /// Merges two decisions of the same review, if both approve or both close it. The alphabetically
    /// first one is kept.
    pub(crate) fn united(ours: &str, theirs: &str) -> Option<String> {
        let [(our_end, mark), (their_end, other)] =
            [Self::first_mark(ours)?, Self::first_mark(theirs)?];
        let is_same = ours[..our_end] == theirs[..their_end] && mark == other;
        if !is_same || !matches!(mark, Self::APPROVED | Self::CLOSED) {
            return None;
        }
        let bare = |text: &'_ str| text.strip_suffix(Self::USED).unwrap_or(text).to_owned();
        let is_used = ours.ends_with(Self::USED) || theirs.ends_with(Self::USED);
        let text = bare(ours).min(bare(theirs));
        Some(if is_used { text + Self::USED } else { text })
    }

    /// Whether it asks for more attempts at a step that failed too often. It blocks only that step.
    pub(crate) fn asks_for_attempts(&self) -> bool {
        self.text.contains(" attempts")
    }
}

/// The reviews of a plan, in order.
pub(in crate::domain) fn read(document: &Document) -> Vec<Review> {
    let Some(section) = document.section_titled(SECTION) else { return Vec::new() };
    let mut reviews = Vec::new();
    for &item in document.items(section) {
        let Some(ticked) = document.item(item).checkbox else { continue };
        let text = document.text(item);
        let (id, rest) = match text.split_once(':') {
            Some((id, rest)) if is_id(id.trim()) => {
                (id.trim().to_owned(), rest.strip_prefix(' ').unwrap_or(rest))
            }
            _ => (format!("r{}", reviews.len() + 1), text.as_str()),
        };
        let decision = match (Review::first_mark(rest), ticked) {
            (Some((_, Review::REJECTED)), _) => Decision::Rejected,
            (Some((_, Review::CLOSED)), _) => Decision::Closed,
            (_, true) => Decision::Approved,
            (_, false) => Decision::Open,
        };
        let used = rest.ends_with(Review::USED);
        reviews.push(Review { id, text: rest.to_owned(), decision, used, item });
    }
    reviews
}

fn is_id(text: &str) -> bool {
    text.strip_prefix('r').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

impl Plan {
    /// The reviews that nobody has decided yet.
    pub fn open_reviews(&self) -> impl Iterator<Item = &Review> {
        self.reviews.iter().filter(|review| review.decision == Decision::Open)
    }

    /// The review of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn review(&self, id: &str) -> Result<&Review, ModelError> {
        let of = |wanted: &str| self.reviews.iter().find(|review| review.id == wanted);
        of(id.trim()).ok_or_else(|| {
            let near = of(&format!("r{}", id.trim()));
            let near = near.map(|near| format!("did you mean `{}`? ", near.id)).unwrap_or_default();
            ModelError::NotFound {
                file: StateFile::Plan,
                message: format!("there is no review `{id}`"),
                hint: Some(format!("{near}`statedir review list` shows them")),
            }
        })
    }

    /// Adds a review and gives its name. The text is kept word for word.
    ///
    /// # Errors
    /// The text cannot be written.
    pub fn open_review(&self, edit: &mut Edit<'_>, text: &str) -> Result<String, ModelError> {
        let numbers = self.reviews.iter().filter_map(|review| review.id.get(1..)?.parse().ok());
        let id = format!("r{}", numbers.max().unwrap_or(0u64) + 1);
        let line = format!("{id}: {}", Review::undecided(text));
        let document = &self.document;
        match document.section_titled(SECTION) {
            Some(section) => edit.append_checkbox(section, false, &line),
            None => {
                let parent = document.title_section().unwrap_or_else(|| document.root());
                let boxed = first_box(&line)?.replace('\n', document.newline());
                edit.insert_section(parent, None, 2, SECTION, &boxed)
            }
        };
        Ok(id)
    }

    /// Decides a review and notes who did.
    pub fn decide_review(
        &self,
        edit: &mut Edit<'_>,
        review: &Review,
        approve: bool,
        actor: &str,
        why: Option<&str>,
    ) {
        let verdict = if approve { Review::APPROVED } else { Review::REJECTED };
        let why = why.map(|why| format!(": {}", Review::undecided(why))).unwrap_or_default();
        let text = format!("{}: {}{verdict}{}{why}", review.id, review.text, one_line(actor));
        edit.set_item_text(review.item, &text).set_checkbox(review.item, true);
    }

    /// Notes that the approval of a review was used.
    pub(crate) fn use_review(&self, edit: &mut Edit<'_>, review: &Review) {
        let text = format!("{}: {}{}", review.id, review.text, Review::USED);
        edit.set_item_text(review.item, &text);
    }

    /// Closes a review that no longer needs a decision.
    pub(crate) fn close_review(&self, edit: &mut Edit<'_>, review: &Review, actor: &str) {
        let (asked, by) = (review.question(), one_line(actor));
        let text = format!("{}: {asked}{}{by}", review.id, Review::CLOSED);
        edit.set_item_text(review.item, &text).set_checkbox(review.item, true);
    }
}

/// A list with one review, as it is written in a new section.
fn first_box(line: &str) -> Result<String, ModelError> {
    let document = Document::empty();
    let mut edit = document.edit();
    edit.append_checkbox(document.root(), false, line);
    let edited = edit.finish().map_err(|error| ModelError::edit(StateFile::Plan, &error))?;
    Ok(edited.document.into_source())
}

/// A name on one line that cannot be read as a decision.
fn one_line(name: &str) -> String {
    display::one_line(name).replace(" — ", " - ")
}
