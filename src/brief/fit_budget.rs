//! Fitting the parts into a budget, from the most precious stage to the least.

use serde::Serialize;

use super::{
    BriefItem, BriefPart, Budget, Format, Stage,
    budget::Size,
    render::{self, fixed},
    sections::BriefSection,
};

/// Fewer lines of an item that does not fit are not worth showing.
const FEWEST_LINES: usize = 2;

/// What was left out, and how to see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LeftOut {
    /// Which stage.
    pub stage: Stage,
    /// How many items were left out whole.
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
    pub(crate) parts: Vec<BriefPart>,
    /// What is not.
    pub(crate) left_out: Vec<LeftOut>,
    /// What would do for the essential parts, in tokens, if they do not fit.
    pub essentials_need: Option<usize>,
    /// Whether there is no room to list what was left out.
    pub(crate) in_short: bool,
    /// The text, in the format asked for.
    pub text: String,
}

/// Chooses what to show of `parts`, of which each has its most precious items first.
///
/// The result is never larger than the budget, and the same parts give the same bytes. The
/// essentials are whole if they fit; if not, the brief says so and what would do: what comes first
/// (goal, next move, open reviews) then has all the room it needs, and the rest of them what is left.
pub(crate) fn fit_budget(
    parts: &[BriefPart],
    revision: &str,
    budget: Budget,
    format: Format,
) -> Brief {
    let allowed = Size::allowed(&budget);
    // What is left out has to be told, and telling it takes room from what is shown. A sum of
    // costs is never below the cost of the whole; should it be, one more turn mends it.
    let (mut room, mut footer) = (allowed, Size::default());
    let costs = costs(parts, format);
    loop {
        let mut brief = attempt(parts, &costs, revision, budget, format, (room, footer));
        let told = render::footer_cost(&brief, format);
        if !told.fits(footer) && !brief.in_short {
            footer = footer.max(told);
            continue;
        }
        brief.text = render::write(&brief, format, room);
        let cost = Size::of(&brief.text);
        if cost.fits(allowed) || room.tokens == 0 || room.bytes == 0 {
            return brief;
        }
        let over = cost.minus(allowed);
        room = room.minus(Size { tokens: over.tokens.max(8), bytes: over.bytes.max(32) });
    }
}

/// For each part and item, what it costs whole and in short.
type Costs = Vec<Vec<(Size, Option<Size>)>>;

fn costs(parts: &[BriefPart], format: Format) -> Costs {
    let cost = |lines: &Vec<String>| lines.iter().map(|line| format.line(line)).sum::<Size>();
    let both = |item: &BriefItem| (cost(&item.lines), item.short.as_ref().map(cost));
    parts.iter().map(|part| part.items.iter().map(both).collect()).collect()
}

/// One way to fit them, without its text.
fn attempt(
    parts: &[BriefPart],
    costs: &Costs,
    revision: &str,
    budget: Budget,
    format: Format,
    (allowed, footer): (Size, Size),
) -> Brief {
    let mut chosen = Chosen::new(parts, costs, format, allowed.minus(fixed(format, revision)));
    let need: Size = chosen.costs_of(|stage| stage <= Stage::Essential);
    let mut brief = Brief {
        budget,
        revision: revision.to_owned(),
        parts: Vec::new(),
        left_out: Vec::new(),
        essentials_need: None,
        in_short: false,
        text: String::new(),
    };
    if (need + footer).fits(chosen.room) {
        chosen.room = chosen.room.minus(footer);
        chosen.take_all(|stage| stage <= Stage::Essential);
        // Notes and rules have what nothing else can use: a heading of theirs is worth an open step.
        let (shared, last) = Stage::OPTIONAL.split_at(Stage::OPTIONAL.len() - 2);
        for stages in [shared, last] {
            stages.iter().for_each(|stage| chosen.take_share(*stage));
            stages.iter().for_each(|stage| chosen.take_rest(*stage));
        }
        brief.left_out = chosen.left_out();
    } else {
        let short = render::short_footer(format);
        brief.in_short = true;
        if (need + short).fits(chosen.room) {
            chosen.room = chosen.room.minus(short);
            chosen.take_all(|stage| stage <= Stage::Essential);
        } else {
            brief.essentials_need = Some((fixed(format, revision) + need + short).tokens);
            chosen.room = chosen.room.minus(short);
            for first in [true, false] {
                let is_meant = |stage: Stage| match first {
                    true => stage == Stage::First,
                    false => stage == Stage::Essential,
                };
                if chosen.costs_of(is_meant).fits(chosen.room) {
                    chosen.take_all(is_meant);
                } else {
                    chosen.cut_to_shares(is_meant);
                }
                // Nothing is shown in the place of the goal.
                if first && !chosen.begin_in_order(is_meant) {
                    break;
                }
            }
        }
        brief.left_out = chosen.left_out();
    }
    brief.parts = chosen.into_parts();
    brief
}

/// How much of an item is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    Short,
    Whole,
    Cut(Vec<String>),
}

/// The items chosen so far, and the room that is left.
struct Chosen<'p> {
    parts: &'p [BriefPart],
    format: Format,
    room: Size,
    costs: &'p Costs,
    /// For each part and item, how much of it is shown.
    shown: Vec<Vec<Shown>>,
    /// Whether a part has its heading already.
    begun: Vec<bool>,
}

impl<'p> Chosen<'p> {
    fn new(parts: &'p [BriefPart], costs: &'p Costs, format: Format, room: Size) -> Self {
        Self {
            parts,
            format,
            room,
            costs,
            shown: parts.iter().map(|part| vec![Shown::Nothing; part.items.len()]).collect(),
            begun: vec![false; parts.len()],
        }
    }

    fn of(&self, is_meant: impl Fn(Stage) -> bool) -> Vec<usize> {
        (0..self.parts.len()).filter(|at| is_meant(self.parts[*at].stage)).collect()
    }

    /// What it costs to begin a part: our own line, and its heading unless it is there already.
    fn head(&self, part: usize) -> Size {
        if self.begun[part] {
            return Size::default();
        }
        let own = &self.parts[part];
        let note = own.note.iter().map(|note| self.format.note(note)).sum::<Size>();
        let same = |other: &usize| self.parts[*other].place() == own.place();
        match (0..self.parts.len()).filter(|other| self.begun[*other]).any(|other| same(&other)) {
            true => note,
            false => self.format.heading(own.section, own.source_name()) + note,
        }
    }

    fn whole(&self, part: usize) -> Size {
        self.head(part) + self.costs[part].iter().map(|(whole, _)| *whole).sum()
    }

    fn costs_of(&self, is_meant: impl Fn(Stage) -> bool) -> Size {
        let mut places = Vec::new();
        let mut sum = Size::default();
        for part in self.of(is_meant) {
            let own = &self.parts[part];
            sum = sum + self.whole(part);
            if places.contains(&own.place()) {
                sum = sum.minus(self.format.heading(own.section, own.source_name()));
            }
            places.push(own.place());
        }
        sum
    }

    fn take_all(&mut self, is_meant: impl Fn(Stage) -> bool) {
        for part in self.of(is_meant) {
            self.room = self.room.minus(self.whole(part));
            self.begun[part] = true;
            self.shown[part].fill(Shown::Whole);
        }
    }

    /// Shows an item if that fits, and gives what it cost.
    fn take(
        &mut self,
        part: usize,
        item: usize,
        cost: Size,
        how: Shown,
        room: Size,
    ) -> Option<Size> {
        let cost = cost + self.head(part);
        if !cost.fits(room) || !cost.fits(self.room) {
            return None;
        }
        self.begun[part] = true;
        self.shown[part][item] = how;
        self.room = self.room.minus(cost);
        Some(cost)
    }

    /// How many of its items may be shown.
    fn most(&self, part: usize) -> usize {
        self.costs[part].len().min(self.parts[part].most)
    }

    /// The items of a stage in short, as far as its share of the room goes.
    fn take_share(&mut self, stage: Stage) {
        let mut room = self.room.percent(stage.share());
        for part in self.of(|one| one == stage) {
            for item in 0..self.most(part) {
                let (whole, short) = self.costs[part][item];
                let (cost, how) = match short {
                    Some(short) => (short, Shown::Short),
                    None => (whole, Shown::Whole),
                };
                if let Some(cost) = self.take(part, item, cost, how, room) {
                    room = room.minus(cost);
                }
            }
        }
    }

    /// What the stages before and after it have left: items that were shortened become whole,
    /// items that were left out are cut.
    fn take_rest(&mut self, stage: Stage) {
        for part in self.of(|one| one == stage) {
            for item in 0..self.most(part) {
                let (whole, short) = self.costs[part][item];
                match (&self.shown[part][item], short) {
                    (Shown::Short, Some(short)) if whole.fits(self.room + short) => {
                        self.room = (self.room + short).minus(whole);
                        self.shown[part][item] = Shown::Whole;
                    }
                    (Shown::Nothing, short) => {
                        let how = self.take(part, item, whole, Shown::Whole, self.room);
                        let how =
                            how.or_else(|| self.take(part, item, short?, Shown::Short, self.room));
                        if how.is_none() && self.parts[part].items[item].lines.len() > FEWEST_LINES
                        {
                            self.take_lines(part, item, FEWEST_LINES);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// As many lines of an item as fit, if they are more than `fewest`.
    fn take_lines(&mut self, part: usize, item: usize, fewest: usize) {
        let room = self.room.minus(self.head(part));
        let cut = self.cut(&self.parts[part].items[item].lines, room);
        let Some(lines) = cut.filter(|lines| lines.len() > fewest) else { return };
        let cost = lines.iter().map(|line| self.format.line(line)).sum();
        self.take(part, item, cost, Shown::Cut(lines), self.room);
    }

    /// Gives each part an equal share of the room; what the small ones leave, the large ones get.
    fn cut_to_shares(&mut self, is_meant: impl Fn(Stage) -> bool) {
        let mut order = self.of(is_meant);
        order.sort_by_key(|part| (self.whole(*part).tokens, *part));
        for (turn, part) in order.iter().copied().enumerate() {
            let mut share = self.room.share(order.len() - turn);
            for item in 0..self.costs[part].len() {
                let (whole, _) = self.costs[part][item];
                if let Some(cost) = self.take(part, item, whole, Shown::Whole, share) {
                    share = share.minus(cost);
                    continue;
                }
                let head = self.head(part);
                let lines = &self.parts[part].items[item].lines;
                let room = share.minus(head);
                let cut = self
                    .cut(lines, room)
                    .or_else(|| Some(vec![self.beginning(lines.first()?, room)?]));
                if let (Some(lines), true) = (cut, head.fits(share)) {
                    let cost = lines.iter().map(|line| self.format.line(line)).sum();
                    self.take(part, item, cost, Shown::Cut(lines), share);
                }
                break;
            }
            // The next move is worth its line even where nothing else of the step fits.
            if self.parts[part].note.is_some() {
                let head = self.head(part);
                if !self.begun[part] && head.fits(self.room) {
                    self.begun[part] = true;
                    self.room = self.room.minus(head);
                }
            }
        }
    }

    /// Begins the parts for which a share was too little, in order and as far as the room goes;
    /// false if the first of all does not fit.
    fn begin_in_order(&mut self, is_meant: impl Fn(Stage) -> bool) -> bool {
        let order = self.of(is_meant);
        for &part in &order {
            if self.begun[part] || self.costs[part].is_empty() {
                continue;
            }
            let (whole, _) = self.costs[part][0];
            if self.take(part, 0, whole, Shown::Whole, self.room).is_none() {
                let room = self.room.minus(self.head(part));
                let line = self.parts[part].items[0].lines.first();
                let Some(line) = line.and_then(|line| self.beginning(line, room)) else { continue };
                let cost = self.format.line(&line);
                self.take(part, 0, cost, Shown::Cut(vec![line]), self.room);
            }
        }
        order.first().is_none_or(|part| self.begun[*part])
    }

    /// The first lines, as many as fit, and a mark that there are more.
    fn cut(&self, lines: &[String], room: Size) -> Option<Vec<String>> {
        let mark = "…".to_owned();
        let mut left = room.minus(self.format.line(&mark));
        let mut kept: Vec<String> = Vec::new();
        for line in lines {
            let cost = self.format.line(line);
            if !cost.fits(left) {
                break;
            }
            left = left.minus(cost);
            kept.push(line.clone());
        }
        (!kept.is_empty()).then(|| {
            kept.push(mark);
            kept
        })
    }

    /// The longest beginning of a line that fits, with `…` after it.
    fn beginning(&self, line: &str, room: Size) -> Option<String> {
        let ends: Vec<usize> = line.char_indices().map(|(at, _)| at).skip(1).collect();
        let fits = |end: &usize| self.format.line(&format!("{}…", &line[..*end])).fits(room);
        let count = ends.partition_point(fits);
        let end = *ends.get(count.checked_sub(1)?)?;
        Some(format!("{}…", &line[..end]))
    }

    /// What is not shown, by the command that shows it.
    fn left_out(&self) -> Vec<LeftOut> {
        let mut all = Vec::new();
        for stage in Stage::OPTIONAL {
            let shown = self.of(|one| one == stage).into_iter().flat_map(|part| &self.shown[part]);
            let of_stage = self.parts.iter().filter(|part| part.stage == stage);
            let (mut count, mut shortened) = (of_stage.map(|part| part.more).sum(), 0);
            for shown in shown {
                match shown {
                    Shown::Whole => {}
                    Shown::Nothing => count += 1,
                    Shown::Short | Shown::Cut(_) => shortened += 1,
                }
            }
            if count + shortened > 0 {
                all.push(LeftOut { stage, count, shortened, command: stage.command() });
            }
        }
        all
    }

    /// In the order in which they are shown: turns oldest first.
    fn into_parts(self) -> Vec<BriefPart> {
        let mut all: Vec<BriefPart> = Vec::new();
        for (at, part) in self.parts.iter().enumerate().filter(|(at, _)| self.begun[*at]) {
            let items = part.items.iter().zip(&self.shown[at]).filter_map(|(item, shown)| {
                let lines = match shown {
                    Shown::Nothing => return None,
                    Shown::Short => item.short.clone()?,
                    Shown::Whole => item.lines.clone(),
                    Shown::Cut(lines) => lines.clone(),
                };
                Some(BriefItem { lines, short: None })
            });
            let mut items: Vec<BriefItem> = items.collect();
            if part.section == BriefSection::RecentTurns {
                items.reverse();
            }
            let (note, sources) = (part.note.clone(), part.sources.clone());
            all.push(BriefPart { note, sources, items, ..*part });
        }
        all.sort_by_key(|part| part.section);
        all.dedup_by(|part, before| {
            let joins = part.place() == before.place() && part.note.is_none();
            if joins {
                before.items.append(&mut part.items);
            }
            joins
        });
        all
    }
}

#[cfg(test)]
mod tests;
