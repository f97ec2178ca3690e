//! Fitting the parts into a budget, from the most precious stage to the least.

use serde::Serialize;

use super::{
    Budget, Format, Part, Stage,
    budget::Cost,
    part::Section,
    render::{self, fixed},
};

/// Fewer lines of a part that does not fit are not worth showing.
const FEWEST_LINES: usize = 2;

/// What was left out, and how to see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LeftOut {
    /// Which stage.
    pub stage: Stage,
    /// How many parts were left out whole.
    pub count: usize,
    /// How many were shortened or cut.
    pub shortened: usize,
    /// The command that shows them.
    pub command: &'static str,
}

/// A brief that fits its budget.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Brief {
    /// What was asked for.
    pub budget: Budget,
    /// The revision of the state.
    pub revision: String,
    /// The parts that are shown, in order.
    pub(crate) parts: Vec<Part>,
    /// What is not.
    pub(crate) left_out: Vec<LeftOut>,
    /// What the essential parts would cost in tokens, if they do not fit.
    pub essentials_need: Option<usize>,
    /// Whether there is no room to list what was left out.
    pub(crate) in_short: bool,
    /// The text, in the format asked for.
    pub text: String,
}

/// Chooses what to show of `parts`, which are in the order of their worth within each stage.
///
/// The result is never larger than the budget, and the same parts give the same bytes. What must
/// stay is whole if it fits; if not, the brief says so, and each essential section gets an equal
/// share, cut at the end of a line.
pub(crate) fn fit(parts: &[Part], revision: &str, budget: Budget, format: Format) -> Brief {
    // A sum of costs is never below the cost of the whole; should it be, one more turn mends it.
    let mut room = Cost::allowed(&budget);
    loop {
        let brief = attempt(parts, revision, budget, format, room);
        let cost = Cost::of(&brief.text);
        let allowed = Cost::allowed(&budget);
        if cost.fits(allowed) || room.tokens == 0 || room.bytes == 0 {
            return brief;
        }
        let over = cost.minus(allowed);
        room = room.minus(Cost { tokens: over.tokens.max(8), bytes: over.bytes.max(32) });
    }
}

fn attempt(parts: &[Part], revision: &str, budget: Budget, format: Format, allowed: Cost) -> Brief {
    let essential: Vec<&Part> = of_stage(parts, Stage::Essential).collect();
    let costs: Vec<Cost> = essential.iter().map(|part| part_cost(part, format)).collect();
    let need: Cost = costs.iter().copied().sum();
    let room = allowed.minus(fixed(format, revision));
    let footer = render::footer_at_most(parts, format);
    let mut chosen = Chosen { format, room, parts: Vec::new() };
    let mut brief = Brief {
        budget,
        revision: revision.to_owned(),
        parts: Vec::new(),
        left_out: Vec::new(),
        essentials_need: None,
        in_short: false,
        text: String::new(),
    };
    if (need + footer).fits(room) {
        chosen.room = room.minus(footer);
        chosen.take_all(&essential, &costs);
        for stage in Stage::OPTIONAL {
            brief.left_out.extend(chosen.fill(of_stage(parts, stage), stage));
        }
    } else {
        let short = render::short_footer(format);
        let whole = (need + short).fits(room);
        if !whole {
            brief.essentials_need = Some((fixed(format, revision) + need + short).tokens);
        }
        brief.in_short = true;
        chosen.room = room.minus(short);
        if whole {
            chosen.take_all(&essential, &costs);
        } else {
            chosen.cut_to_shares(&essential);
        }
        for stage in Stage::OPTIONAL {
            let count = of_stage(parts, stage).count();
            if count > 0 {
                let command = stage.command();
                brief.left_out.push(LeftOut { stage, count, shortened: 0, command });
            }
        }
    }
    brief.parts = chosen.into_parts();
    brief.text = render::write(&brief, format, allowed);
    brief
}

fn of_stage(parts: &[Part], stage: Stage) -> impl Iterator<Item = &Part> {
    parts.iter().filter(move |part| part.stage == stage)
}

/// A part with its heading, whether or not another part of the section has one already.
fn part_cost(part: &Part, format: Format) -> Cost {
    let note = part.note.iter().map(|note| format.note(note)).sum::<Cost>();
    let lines: Cost = part.lines.iter().map(|line| format.line(line)).sum();
    format.heading(part.section, part.source) + note + lines
}

/// The parts chosen so far, and the room that is left.
struct Chosen {
    format: Format,
    room: Cost,
    parts: Vec<(usize, Part)>,
}

impl Chosen {
    fn take_all(&mut self, parts: &[&Part], costs: &[Cost]) {
        parts.iter().zip(costs).for_each(|(part, cost)| self.take((*part).clone(), *cost));
    }

    fn take(&mut self, part: Part, cost: Cost) {
        self.room = self.room.minus(cost);
        self.parts.push((self.parts.len(), part));
    }

    /// Takes of one stage what fits: whole, shorter, or some lines of it.
    fn fill<'p>(&mut self, parts: impl Iterator<Item = &'p Part>, stage: Stage) -> Option<LeftOut> {
        let (mut count, mut shortened) = (0, 0);
        for part in parts {
            let cost = part_cost(part, self.format);
            if cost.fits(self.room) {
                self.take(part.clone(), cost);
                continue;
            }
            let short = part.short.as_ref().map(|lines| Part {
                lines: lines.clone(),
                short: None,
                ..part.clone()
            });
            let short = short.filter(|part| part_cost(part, self.format).fits(self.room));
            let cut = || self.cut(part, self.room).filter(|cut| cut.lines.len() > FEWEST_LINES);
            match short.or_else(cut) {
                Some(part) => {
                    shortened += 1;
                    let cost = part_cost(&part, self.format);
                    self.take(part, cost);
                }
                None => count += 1,
            }
        }
        let command = stage.command();
        (count + shortened > 0).then_some(LeftOut { stage, count, shortened, command })
    }

    /// Gives each part an equal share of the room; what the small ones leave, the large ones get.
    fn cut_to_shares(&mut self, parts: &[&Part]) {
        let mut order: Vec<(Cost, usize)> =
            parts.iter().enumerate().map(|(at, part)| (part_cost(part, self.format), at)).collect();
        order.sort_by_key(|(cost, at)| (cost.tokens, *at));
        for (turn, (cost, at)) in order.iter().enumerate() {
            let share = self.room.share(order.len() - turn);
            let part = parts[*at];
            let kept = if cost.fits(share) { Some(part.clone()) } else { self.cut(part, share) };
            if let Some(kept) = kept {
                self.room = self.room.minus(part_cost(&kept, self.format));
                self.parts.push((*at, kept));
            }
        }
    }

    /// As many lines as fit into the room; the first one may be cut itself if it is all there is.
    fn cut(&self, part: &Part, room: Cost) -> Option<Part> {
        let mark = "…".to_owned();
        let mut cut = Part { lines: vec![mark.clone()], short: None, ..part.clone() };
        if !part_cost(&cut, self.format).fits(room) {
            cut.note = None;
        }
        let mut left = room.minus(part_cost(&cut, self.format));
        if !part_cost(&cut, self.format).fits(room) || part.lines.is_empty() {
            return None;
        }
        let mut kept: Vec<String> = Vec::new();
        let count = part.lines.len();
        for at in 0..count {
            let line = &part.lines[if part.newest_last { count - 1 - at } else { at }];
            let cost = self.format.line(line);
            if !cost.fits(left) {
                break;
            }
            left = left.minus(cost);
            kept.push(line.clone());
        }
        if kept.is_empty() {
            let first = part.lines.first()?;
            kept.push(self.beginning(first, room.minus(part_cost(&cut, self.format)))?);
            cut.lines = kept;
            return Some(cut);
        }
        if part.newest_last {
            kept.push(mark);
            kept.reverse();
        } else {
            kept.push(mark);
        }
        cut.lines = kept;
        Some(cut)
    }

    /// The longest beginning of a line that fits, with `…` behind it.
    fn beginning(&self, line: &str, room: Cost) -> Option<String> {
        let ends: Vec<usize> = line.char_indices().map(|(at, _)| at).skip(1).collect();
        let fits = |end: &usize| self.format.line(&format!("{}…", &line[..*end])).fits(room);
        let count = ends.partition_point(fits);
        let end = *ends.get(count.checked_sub(1)?)?;
        Some(format!("{}…", &line[..end]))
    }

    /// In the order in which they are shown: turns and entries of the history oldest first.
    fn into_parts(mut self) -> Vec<Part> {
        self.parts.sort_by_key(|(at, part)| {
            let newest_first = matches!(part.section, Section::RecentTurns | Section::OlderHistory);
            let order = isize::try_from(*at).unwrap_or(isize::MAX);
            (part.section, if newest_first { -order } else { order })
        });
        self.parts.into_iter().map(|(_, part)| part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::StateFile;

    fn parts() -> Vec<Part> {
        let part = |section, stage, text: &str| Part::new(section, StateFile::Plan, stage, text);
        vec![
            part(Section::Goal, Stage::Essential, "the goal"),
            part(Section::RecentTurns, Stage::Turns, &"new turn\n".repeat(5)),
            part(Section::RecentTurns, Stage::Turns, &"old turn\n".repeat(5)),
            part(Section::KeyFindings, Stage::Context, &"finding\n".repeat(5)),
            part(Section::OlderHistory, Stage::History, "long ago"),
        ]
    }

    fn text(max_tokens: usize) -> String {
        let budget = Budget { max_tokens, max_bytes: None };
        fit(&parts(), "0123", budget, Format::Md).text
    }

    #[test]
    fn stages_go_from_the_least_precious_on() {
        let marks = ["the goal", "new turn", "old turn", "finding", "long ago"];
        let mut shown = marks.len();
        for budget in (0..400).rev() {
            let text = text(budget);
            assert!(Cost::of(&text).tokens <= budget, "{budget}: {text}");
            let now = marks.iter().filter(|mark| text.contains(*mark)).count();
            assert!(now <= shown + 1, "{budget}: {text}");
            shown = now;
        }
        assert_eq!(marks.iter().filter(|mark| text(400).contains(*mark)).count(), 5);
        assert!(text(400).find("old turn") < text(400).find("new turn"), "oldest first");
    }

    #[test]
    fn a_goal_that_is_too_long_is_cut_and_the_brief_says_so() {
        let goal =
            Part::new(Section::Goal, StateFile::Plan, Stage::Essential, &"word ".repeat(999));
        let budget = Budget { max_tokens: 120, max_bytes: None };
        let brief = fit(&[goal], "0123", budget, Format::Md);
        assert!(brief.essentials_need.is_some_and(|need| need > 900));
        assert!(brief.text.contains("> word word") && brief.text.contains("Too small"));
    }
}
