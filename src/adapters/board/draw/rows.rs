//! The rows of the lists.

use ratatui::{
    style::Style,
    text::{Line, Span},
};

use crate::{
    adapters::board::{
        lists::{self, RuleRow},
        model::{Model, StateLine, View},
        source::Loaded,
        theme::Theme,
    },
    domain::{Decision, StepRole, format_duration},
    history::{Entry, Proof},
    workspace::{Attempts, StepOverview},
};

/// How wide the time of an entry is: `2026-11-16 08:00:00`.
const TIME: usize = 19;

/// What the columns of a list are.
pub(super) fn heading(model: &Model, width: usize) -> String {
    match model.view {
        View::Steps => "  no step".to_owned(),
        View::Board => String::new(),
        View::Graph => match model.loaded.as_ref() {
            Some(loaded) => format!("  no step{:>1$}", "", width.min(loaded.rails.len())),
            None => String::new(),
        },
        View::Timeline => "ended               step".to_owned(),
        View::History => "time                what".to_owned(),
        View::Operations => "time                who: what".to_owned(),
        View::Rules => "rules, directives, what fired, modifiers and limits".to_owned(),
        View::Reviews => "questions to a person".to_owned(),
    }
    .trim_end()
    .to_owned()
}

/// What an empty list says.
pub(super) fn nothing(view: View) -> &'static str {
    match view {
        View::Steps | View::Board | View::Graph => "the plan has no steps yet",
        View::Timeline => "no attempt has finished yet",
        View::History => "nothing has happened yet",
        View::Operations => "the log is empty",
        View::Rules => "nothing is constrained",
        View::Reviews => "no reviews yet",
    }
}

/// What the rows of the current list are drawn from.
pub(super) struct Rows<'m> {
    model: &'m Model,
    loaded: Option<&'m Loaded>,
    theme: Theme,
    width: usize,
    attempts: Option<Attempts<'m>>,
}

impl<'m> Rows<'m> {
    pub(super) fn new(model: &'m Model, theme: Theme, width: usize) -> Self {
        let loaded = model.loaded.as_deref();
        let attempts = loaded
            .filter(|_| model.view == View::Timeline)
            .map(|loaded| loaded.dashboard.attempts(lists::ATTEMPTS));
        Self { model, loaded, theme, width, attempts }
    }

    /// One row.
    pub(super) fn line(&self, at: usize) -> Line<'static> {
        let line = self.loaded.and_then(|loaded| match self.model.view {
            View::Steps | View::Board => {
                loaded.dashboard.overview.steps.get(at).map(|step| self.step(step))
            }
            View::Graph => self.node(loaded, at),
            View::Timeline => self.attempt(at),
            View::History => {
                lists::entry(loaded, self.model.found.as_ref(), at).map(|entry| self.entry(entry))
            }
            View::Operations => self.operation(loaded, at),
            View::Rules => self.rule(loaded, at),
            View::Reviews => self.review(loaded, at),
        });
        line.unwrap_or_default()
    }

    fn step(&self, step: &StepOverview) -> Line<'static> {
        let charset = self.theme.charset;
        let style = self.theme.role(step.role);
        let (facts, facts_style) = facts(self.theme, step);
        let facts = charset.line(&facts, self.width / 2);
        let start = format!("{} {:>3} ", self.theme.mark(step.role, step.is_ready), step.number);
        let room = self.width.saturating_sub(start.chars().count() + facts.chars().count() + 2);
        Line::from(vec![
            Span::styled(start, style),
            Span::styled(charset.cell(&step.title, room), title_style(step.role, self.theme)),
            Span::raw("  "),
            Span::styled(facts, facts_style),
        ])
    }

    fn node(&self, loaded: &Loaded, row: usize) -> Option<Line<'static>> {
        let node = loaded.dashboard.graph.nodes.get(lists::node(loaded, row)?)?;
        let charset = self.theme.charset;
        let rail = self.theme.rail(loaded.rails.get(row)?);
        let time = node.time_ms.map(format_duration).unwrap_or_default();
        let mut end = time;
        if node.unblocks > 1 && !node.is_finished() {
            end = format!("unblocks {}  {end}", node.unblocks);
        }
        let is_critical = node.is_critical && loaded.dashboard.graph.critical_path.len() > 1;
        let mark = self.theme.mark(node.role, node.is_ready());
        let start = format!(" {mark} {:>3}{} ", node.number, if is_critical { '*' } else { ' ' });
        let used = rail.chars().count() + start.chars().count() + end.chars().count() + 2;
        let rail_style = if is_critical { self.theme.notice() } else { self.theme.quiet() };
        Some(Line::from(vec![
            Span::styled(rail, rail_style),
            Span::styled(start, self.theme.role(node.role)),
            Span::styled(
                charset.cell(&node.title, self.width.saturating_sub(used)),
                title_style(node.role, self.theme),
            ),
            Span::raw("  "),
            Span::styled(end, self.theme.quiet()),
        ]))
    }

    fn attempt(&self, at: usize) -> Option<Line<'static>> {
        let attempts = self.attempts.as_ref()?;
        let attempt = attempts.list.get(at)?;
        let (charset, entry) = (self.theme.charset, attempt.entry);
        let role = Theme::role_of(attempt.outcome);
        let scale = (self.width / 4).clamp(10, 60);
        let title = entry.field("title").unwrap_or(&entry.title);
        let number = entry.step_number().map(|number| number.to_string()).unwrap_or_default();
        let again = attempt.repeated().map(|nth| format!(" (attempt {nth})")).unwrap_or_default();
        let took = attempt.took.map(format_duration).unwrap_or_default();
        let cost = entry.field("actual_cost").unwrap_or_default();
        let what = format!("{number:>3} {title}{again}");
        let end = charset.line(&format!("{took:>7} {cost:>6}"), 16);
        let fixed = 2 + TIME + 1 + 1 + end.chars().count() + 1 + scale;
        let bar = attempts.place(attempt, scale as i64 - 1).map(|(from, to)| {
            let (from, to) = (from as usize, (to as usize).max(from as usize));
            let full = charset.choose("█", "#").repeat(to - from + 1);
            format!("{}{full}", " ".repeat(from))
        });
        Some(Line::from(vec![
            Span::styled(
                format!("{} ", self.theme.mark(Some(role), false)),
                self.theme.role(Some(role)),
            ),
            Span::styled(time(self.theme, entry), self.theme.quiet()),
            Span::raw(" "),
            Span::raw(charset.cell(&what, self.width.saturating_sub(fixed))),
            Span::raw(" "),
            Span::styled(end, self.theme.quiet()),
            Span::raw(" "),
            Span::styled(
                charset.line(&bar.unwrap_or_default(), scale),
                self.theme.role(Some(role)),
            ),
        ]))
    }

    fn entry(&self, entry: &Entry) -> Line<'static> {
        let proof = entry.proof();
        let (mark, style) = proof_mark(self.theme, proof);
        let summary = entry.summary();
        let room = self.width.saturating_sub(TIME + 3);
        let text = match summary.byline.is_empty() {
            true => summary.heading,
            false => format!("{}  {}", summary.heading, summary.byline),
        };
        Line::from(vec![
            Span::styled(format!("{mark} "), style),
            Span::styled(time(self.theme, entry), self.theme.quiet()),
            Span::raw(" "),
            Span::raw(self.theme.charset.line(&text, room)),
        ])
    }

    fn operation(&self, loaded: &Loaded, at: usize) -> Option<Line<'static>> {
        let operation = loaded.dashboard.operations.get(at)?;
        let charset = self.theme.charset;
        let what = operation.message.lines().next().unwrap_or(&operation.kind);
        let room = self.width.saturating_sub(TIME + 1);
        let style = match operation.kind.as_str() {
            "undo" | "redo" | "restore" => self.theme.notice(),
            _ => Style::new(),
        };
        Some(Line::from(vec![
            Span::styled(moment(self.theme, &operation.time), self.theme.quiet()),
            Span::raw(" "),
            Span::styled(charset.line(&format!("{}: {what}", operation.actor), room), style),
        ]))
    }

    fn rule(&self, loaded: &Loaded, at: usize) -> Option<Line<'static>> {
        let constraints = &loaded.dashboard.state.constraints;
        let (kind, text, style) = match lists::rule_row(loaded, at) {
            RuleRow::Setting(nth) => {
                let setting = &constraints.settings.get(nth)?.written;
                let value = setting.text.as_deref().unwrap_or("-");
                ("setting", format!("{}: {value}", setting.name), Style::new())
            }
            RuleRow::Directive(nth) => {
                ("directive", constraints.directives.get(nth)?.text.clone(), Style::new())
            }
            RuleRow::Rule(nth) => {
                let is_wrong =
                    rule_line(loaded, "rule", nth).is_some_and(|line| line.error.is_some());
                let style = if is_wrong { self.theme.warning() } else { Style::new() };
                ("rule", constraints.rules.get(nth)?.text.clone(), style)
            }
            RuleRow::Fired(nth) => {
                let fired = loaded.dashboard.fired_rules().nth(nth)?;
                ("fired", format!("{}  {}", fired.time, fired.rule), self.theme.notice())
            }
        };
        Some(Line::from(vec![
            Span::styled(format!("{kind:<10}"), self.theme.label()),
            Span::styled(self.theme.charset.line(&text, self.width.saturating_sub(10)), style),
        ]))
    }

    fn review(&self, loaded: &Loaded, at: usize) -> Option<Line<'static>> {
        let reviews = loaded.dashboard.reviews();
        let review = reviews.get(at)?;
        let (mark, style) = match review.decision {
            Decision::Open => ("[ ]", self.theme.notice()),
            Decision::Approved => ("[x]", self.theme.good()),
            Decision::Rejected => ("[-]", self.theme.warning()),
            Decision::Closed => ("[-]", self.theme.quiet()),
        };
        let text = format!("{}: {}", review.id, review.text);
        Some(Line::from(vec![
            Span::styled(format!("{mark} "), style),
            Span::raw(self.theme.charset.line(&text, self.width.saturating_sub(4))),
        ]))
    }
}

/// What a line of constraints.md means to the engine.
pub(super) fn rule_line<'l>(
    loaded: &'l Loaded,
    list: &str,
    nth: usize,
) -> Option<&'l crate::workspace::RuleLine> {
    loaded.rules.iter().find(|line| line.list == list && line.number == nth + 1)
}

/// The sign for an entry's proof.
pub(super) fn proof_mark(theme: Theme, proof: Proof) -> (char, Style) {
    match proof {
        Proof::Proven => (theme.charset.choose('✓', '+'), theme.good()),
        Proof::Unsigned => (theme.charset.choose('·', ' '), theme.quiet()),
        Proof::Changed => ('!', theme.warning()),
    }
}

fn title_style(role: Option<StepRole>, theme: Theme) -> Style {
    match role {
        Some(StepRole::Done | StepRole::Skipped) => theme.quiet(),
        Some(StepRole::Active) => theme.title(),
        _ => Style::new(),
    }
}

/// When, without the zone.
fn time(theme: Theme, entry: &Entry) -> String {
    moment(theme, entry.time.as_deref().unwrap_or("-"))
}

/// A time to the second, without the zone, which is always UTC.
fn moment(theme: Theme, text: &str) -> String {
    let text = text.replacen('T', " ", 1);
    theme.charset.cell(text.get(..TIME).unwrap_or(&text), TIME)
}

/// What matters about a step now: who works on it, what it waits for, how many attempts it had.
fn facts(theme: Theme, step: &StepOverview) -> (String, Style) {
    if let Some(holder) = step.holder.as_ref().filter(|_| step.is_running()) {
        let actor = step.claimed_by.as_ref().map_or("nobody", |claim| claim.actor.as_str());
        let held = holder.held_ms.map(|ms| format!(" {}", format_duration(ms))).unwrap_or_default();
        return match holder.stale {
            true => (format!("{actor}{held} stale"), theme.warning()),
            false => (format!("{actor}{held}"), theme.role(step.role)),
        };
    }
    if let Some(group) = step.held_by.as_ref() {
        return (format!("held by {group}"), theme.quiet());
    }
    if !step.waits_for.is_empty() && !step.is_finished() {
        return (format!("waits for {}", step.waits_for.join(", ")), theme.quiet());
    }
    if step.is_ready {
        return ("ready".to_owned(), theme.good());
    }
    let status = match step.attempts {
        0 | 1 => step.status.clone(),
        many => format!("{} (attempt {many})", step.status),
    };
    (status, theme.role(step.role))
}

/// A step on the board.
pub(super) fn card(
    theme: Theme,
    step: &StepOverview,
    width: usize,
    by_group: bool,
) -> Line<'static> {
    let start = match by_group {
        true => format!("{} {:>3} ", theme.mark(step.role, step.is_ready), step.number),
        false => format!("{:>3} ", step.number),
    };
    let end = match (&step.claimed_by, step.is_running()) {
        (Some(claim), true) => format!(" {}", theme.charset.line(&claim.actor, 10)),
        _ if step.attempts > 1 => format!(" {}x", step.attempts),
        _ if step.is_ready && !by_group => theme.charset.choose(" ○", " o").to_owned(),
        _ => String::new(),
    };
    let room = width.saturating_sub(start.chars().count() + end.chars().count());
    Line::from(vec![
        Span::styled(start, theme.role(step.role)),
        Span::raw(theme.charset.cell(&step.title, room)),
        Span::styled(end, theme.quiet()),
    ])
}

/// The widths of name, title and status in the list of states.
fn state_widths(width: usize) -> (usize, usize, usize) {
    let left = width.saturating_sub(18 + 12 + 22);
    (left * 2 / 5, left - left * 2 / 5 - 1, 18)
}

/// What the columns of the list of states are.
pub(super) fn states_heading(width: usize) -> String {
    let (name, title, status) = state_widths(width);
    format!("{:<name$} {:<title$} {:<status$} {:<10}", "state", "goal", "status", "done")
}

/// A state among others.
pub(super) fn state(theme: Theme, state: &StateLine, width: usize) -> Line<'static> {
    let charset = theme.charset;
    let (name, title, status) = state_widths(width);
    let overview = match &state.overview {
        Ok(overview) => overview,
        Err(why) => {
            return Line::from(vec![
                Span::styled(format!("{} ", charset.cell(&state.name, name)), theme.title()),
                Span::styled(charset.line(why, width - name - 1), theme.warning()),
            ]);
        }
    };
    let counts = &overview.counts;
    let mut news = Vec::new();
    for (count, what, style) in [
        (overview.open_reviews.len(), "review", theme.notice()),
        (counts.running, "run", theme.role(Some(StepRole::Active))),
        (counts.failed, "fail", theme.warning()),
    ] {
        if count > 0 {
            news.push(Span::styled(format!(" {count} {what}"), style));
        }
    }
    let mut spans = vec![
        Span::styled(charset.cell(&state.name, name), theme.title()),
        Span::raw(" "),
        Span::raw(charset.cell(&overview.title, title)),
        Span::raw(" "),
        Span::raw(charset.cell(&overview.status, status)),
        Span::raw(" "),
        Span::styled(
            format!("{:>9}", format!("{}/{}", counts.finished(), counts.total)),
            theme.good(),
        ),
    ];
    spans.extend(news);
    Line::from(spans)
}
