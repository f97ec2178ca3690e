//! Opens reviews, and finds who opened them.

use serde_json::Value;

use crate::{
    domain::{Claim, ErrorCode, Plan, Review, StateFile, StepRef},
    history::last_entries_within,
    text::markdown::Document,
    workspace::{
        Answer, Change, Draft, Error,
        snapshot::{buffered, markdown},
    },
};

/// How many bytes of the history are searched for the entry that opened a review.
pub(in super::super) const OPENING_BYTES: u64 = 16 << 20;

/// The field of a history entry with the move that waits for a review.
const WAITING: &str = "waiting_move";

/// Opens a review and notes it in the history, with the move that waits for it.
pub(in super::super) fn open_review(
    draft: &mut Draft<'_>,
    text: &str,
    waiting: Option<&Change>,
) -> Result<String, Error> {
    let asking = draft.on_behalf_of.clone().unwrap_or_else(|| draft.env.identity().claim());
    let plan = draft.plan()?;
    let mut edit = plan.document.edit();
    let id = plan.open_review(&mut edit, text)?;
    draft.put(StateFile::Plan, Plan::finish(edit)?);
    let mut fields = vec![
        ("kind".to_owned(), "review".to_owned()),
        ("review".to_owned(), id.clone()),
        ("decision".to_owned(), "open".to_owned()),
        ("notes".to_owned(), text.to_owned()),
        ("actor".to_owned(), asking.actor),
    ];
    fields.extend(asking.session.map(|session| ("session".to_owned(), session)));
    fields.extend(waiting.map(|change| (WAITING.to_owned(), compact(change))));
    draft.log(format!("Review {id} Opened"), fields)?;
    Ok(id)
}

/// Opens a review with a question.
pub(super) fn open(draft: &mut Draft<'_>, text: &str) -> Result<Answer, Error> {
    if text.trim().is_empty() {
        return Err(Error::refused(ErrorCode::BadValue, "a review needs a question"));
    }
    Review::refuse_decision(text)?;
    let id = open_review(draft, text, None)?;
    Ok(Answer::new(format!("review {id} is open: {}", text.trim())).with("review", id))
}

/// Refuses a change while a review is open.
pub(in super::super) fn refuse_while_open(plan: &Plan) -> Result<(), Error> {
    let open: Vec<String> =
        plan.open_reviews().map(|review| format!("{} ({})", review.id, review.text)).collect();
    let Some(first) = plan.open_reviews().next() else { return Ok(()) };
    Err(Error::refused_with(
        ErrorCode::ReviewOpen,
        format!("the plan is waiting for a review: {}", open.join(", ")),
        format!(
            "a person decides with `statedir review approve {id}` or `statedir review reject {id}`, \
             or ticks its box below *Reviews*",
            id = first.id
        ),
    ))
}

/// Refuses to let whoever opened the review decide or withdraw it. A person at a terminal is always
/// allowed: agents have a session or no terminal.
pub(super) fn refuse_own(draft: &Draft<'_>, review: &Review) -> Result<(), Error> {
    let me = draft.env.identity();
    let is_person = me.session.is_none() && me.is_at_terminal;
    if draft.workflow().allows_self_review() || is_person {
        return Ok(());
    }
    let opener = opening(draft, review)?.and_then(|opening| opening.by);
    let is_own = match &opener {
        Some(opener) => {
            let session = me.session.as_deref();
            opener.actor == me.actor || session == Some(opener.session_name())
        }
        // A review typed into plan.md was opened by a person.
        None => me.session.is_some(),
    };
    if !is_own {
        return Ok(());
    }
    let by = opener.map(|opener| format!(" (opened by {opener})")).unwrap_or_default();
    let message =
        format!("review {} is for a person to decide, not for whoever opened it{by}", review.id);
    let hint = "tell the person you work for that it is open; what runs can be finished, and nothing new starts until it is decided";
    Err(Error::refused_with(ErrorCode::OwnReview, message, hint))
}

/// Refuses to go back to the plan `after` if that withdraws an open review, for the session of an agent
/// that may not decide it. A plan that cannot be read has no reviews.
pub(in super::super) fn refuse_withdrawing(
    draft: &Draft<'_>,
    after: impl FnOnce() -> Result<Option<Vec<u8>>, Error>,
) -> Result<(), Error> {
    let (Some(_), Ok(now)) = (&draft.env.identity().session, draft.plan()) else { return Ok(()) };
    let mut open = now.open_reviews().peekable();
    if open.peek().is_none() {
        return Ok(());
    }
    let after = after()?.and_then(|bytes| Document::from_bytes(bytes).ok()).map(Plan::read);
    let stays = |review: &&Review| {
        let mut kept = after.iter().flat_map(Plan::open_reviews);
        kept.any(|kept| kept.id == review.id && kept.text == review.text)
    };
    open.filter(|review| !stays(review)).try_for_each(|review| refuse_own(draft, review))
}

/// How a review was opened.
pub(super) struct Opening {
    /// By whom.
    pub(super) by: Option<Claim>,
    /// The move that is made when it is approved.
    pub(super) waiting: Option<Change>,
}

/// How a review was opened, according to the history; by the actor if in this operation.
pub(super) fn opening(draft: &Draft<'_>, review: &Review) -> Result<Option<Opening>, Error> {
    let id = review.id.as_str();
    let before = markdown(draft.view(), StateFile::Plan).map(Plan::read)?;
    if !before.reviews.iter().any(|review| review.id == id) {
        return Ok(Some(Opening { by: Some(draft.env.identity().claim()), waiting: None }));
    }
    if !draft.view().appended().exists() {
        return Ok(None);
    }
    let mut history = buffered(draft.view().appended())?;
    let found =
        last_entries_within(&mut history, 1, OPENING_BYTES, |entry| entry.opens_review(id))?;
    Ok(found.first().map(|entry| {
        let session = entry.field("session").map(str::to_owned);
        let by = entry.field("actor").map(|actor| Claim { session, ..Claim::bare(actor) });
        let waiting = entry.field(WAITING).and_then(|text| serde_json::from_str(text).ok());
        Opening { by, waiting: waiting.filter(|change| is_move(change, review)) }
    }))
}

/// A change as JSON without empty members.
fn compact(change: &Change) -> String {
    let mut value = serde_json::to_value(change).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
        members.retain(|_, value| !value.is_null() && !is_empty(value));
    }
    value.to_string()
}

/// Whether a change is the move that a review is about. No other change is made from the history.
fn is_move(change: &Change, review: &Review) -> bool {
    let is_its = |step: &StepRef| matches!(step, StepRef::Id(id) if review.is_about(id));
    match change {
        Change::StepDone(result) => result.step.as_ref().is_some_and(is_its),
        Change::StepMove(wanted) => is_its(&wanted.step),
        Change::PlanSet { set } => set.contains_key("status"),
        _ => false,
    }
}
