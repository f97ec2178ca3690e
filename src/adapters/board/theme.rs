//! Colours and signs. Without colours, signs, bold and reverse carry the meaning.

use ratatui::style::{Color, Modifier, Style};

use super::{model::Settings, text::Charset};
use crate::domain::{StepOutcome, StepRole};

/// How things look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    pub(super) charset: Charset,
    has_colour: bool,
}

impl Theme {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { charset: settings.charset, has_colour: settings.has_colour }
    }

    fn coloured(self, colour: Color) -> Style {
        if self.has_colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// A step's sign, by what its status means.
    pub(super) fn mark(self, role: Option<StepRole>, is_ready: bool) -> char {
        let (unicode, ascii) = match role {
            Some(StepRole::Active) => ('▶', '>'),
            Some(StepRole::Waiting) => ('⏸', '='),
            Some(StepRole::Done) => ('✓', 'x'),
            Some(StepRole::Failed) => ('✗', '!'),
            Some(StepRole::Skipped) => ('–', '-'),
            Some(StepRole::Open) if is_ready => ('○', 'o'),
            Some(StepRole::Open) => ('·', '.'),
            None => ('?', '?'),
        };
        self.charset.choose(unicode, ascii)
    }

    /// The colour of what a status means.
    pub(super) fn role(self, role: Option<StepRole>) -> Style {
        match role {
            Some(StepRole::Active) => self.coloured(Color::Cyan).add_modifier(Modifier::BOLD),
            Some(StepRole::Waiting) => self.coloured(Color::Yellow),
            Some(StepRole::Done) => self.coloured(Color::Green),
            Some(StepRole::Failed) => self.coloured(Color::Red).add_modifier(Modifier::BOLD),
            Some(StepRole::Skipped) => self.quiet(),
            Some(StepRole::Open) | None => Style::new(),
        }
    }

    /// The role that an outcome leads to.
    pub(super) fn role_of(outcome: StepOutcome) -> StepRole {
        match outcome {
            StepOutcome::Done => StepRole::Done,
            StepOutcome::Failed => StepRole::Failed,
            StepOutcome::Skipped => StepRole::Skipped,
        }
    }

    pub(super) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn quiet(self) -> Style {
        if self.has_colour { Style::new().fg(Color::DarkGray) } else { Style::new() }
    }

    pub(super) fn label(self) -> Style {
        self.coloured(Color::Blue)
    }

    pub(super) fn warning(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(super) fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    pub(super) fn notice(self) -> Style {
        self.coloured(Color::Yellow)
    }

    pub(super) fn selected(self, has_focus: bool) -> Style {
        match has_focus {
            true => Style::new().add_modifier(Modifier::REVERSED),
            false => Style::new().add_modifier(Modifier::UNDERLINED),
        }
    }

    /// A line across.
    pub(super) fn horizontal(self) -> &'static str {
        self.charset.choose("─", "-")
    }

    /// A line down.
    pub(super) fn vertical(self) -> &'static str {
        self.charset.choose("│", "|")
    }

    /// A bar with some of its cells filled.
    pub(super) fn bar(self, full: usize, width: usize) -> String {
        let (on, off) = self.charset.choose(("█", "░"), ("#", "."));
        on.repeat(full.min(width)) + &off.repeat(width.saturating_sub(full))
    }

    /// Signs of the graph as the terminal can show them.
    pub(super) fn rail(self, rail: &str) -> String {
        if self.charset == Charset::Unicode {
            return rail.to_owned();
        }
        let ascii = |c| match c {
            '│' => '|',
            '─' => '-',
            '●' => '*',
            ' ' => ' ',
            _ => '+',
        };
        rail.chars().map(ascii).collect()
    }
}
