//! The graph as lines beside a list of steps, as version control draws its history: every step
//! below those that it waits for.

use super::Graph;

/// The most lines side by side; what is beyond is not drawn.
const MOST: usize = 12;

/// What meets in a cell, and in which directions it leads on.
#[derive(Clone, Copy, Default)]
struct Cell {
    up: bool,
    down: bool,
    left: bool,
    right: bool,
}

impl Cell {
    fn glyph(self) -> char {
        match (self.up, self.down, self.left, self.right) {
            (true, true, false, false) => '│',
            (true, true, true, false) => '┤',
            (true, true, false, true) => '├',
            (true, true, true, true) => '┼',
            (true, false, true, false) => '╯',
            (true, false, true, true) => '┴',
            (false, true, true, false) => '╮',
            (false, true, true, true) => '┬',
            (true, false, false, _) => '╰',
            (false, true, false, _) => '╭',
            (false, false, false, false) => ' ',
            (false, false, _, _) => '─',
        }
    }
}

/// For each step in the graph's order: the lines that pass it, with `●` for the step itself.
pub(crate) fn rails(graph: &Graph) -> Vec<String> {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    let mut place = vec![0; graph.nodes.len()];
    for (row, &at) in graph.order.iter().enumerate() {
        place[at] = row;
        for &before in &graph.nodes[at].depends_on {
            followers[before].push(at);
        }
    }
    for list in &mut followers {
        list.sort_by_key(|at| place[*at]);
    }
    // Each lane leads to the next step on it.
    let mut lanes: Vec<Option<usize>> = Vec::new();
    graph.order.iter().map(|&at| row(&mut lanes, at, &followers[at])).collect()
}

/// Draws a step, ends the lanes that lead to it and begins those that lead on.
fn row(lanes: &mut Vec<Option<usize>>, at: usize, followers: &[usize]) -> String {
    let arriving: Vec<usize> = (0..lanes.len()).filter(|lane| lanes[*lane] == Some(at)).collect();
    let own = match arriving.first() {
        Some(first) => *first,
        None => free_lane(lanes),
    };
    let mut cells: Vec<Cell> = lanes
        .iter()
        .map(|lane| Cell { up: lane.is_some(), down: lane.is_some(), ..Cell::default() })
        .collect();
    for &lane in &arriving {
        cells[lane].down = false;
        lanes[lane] = None;
    }
    // A lane for each step that waits for this one; the first goes straight on.
    let mut leaving = Vec::new();
    for (nth, &next) in followers.iter().enumerate() {
        let lane = match nth {
            0 => own,
            _ => free_lane(lanes),
        };
        if lane >= MOST {
            break;
        }
        lanes[lane] = Some(next);
        leaving.push(lane);
    }
    cells.resize(lanes.len().max(own + 1), Cell::default());
    for &lane in &leaving {
        cells[lane].down = true;
    }
    for &other in arriving.iter().chain(&leaving).filter(|lane| **lane != own) {
        let (first, last) = (own.min(other), own.max(other));
        cells[first].right = true;
        cells[last].left = true;
        for cell in &mut cells[first + 1..last] {
            (cell.left, cell.right) = (true, true);
        }
    }
    while lanes.last().is_some_and(Option::is_none) {
        lanes.pop();
    }
    let mut out = String::new();
    for (lane, cell) in cells.iter().enumerate() {
        out.push(if lane == own { '●' } else { cell.glyph() });
        out.push(if cell.right { '─' } else { ' ' });
    }
    out.trim_end().to_owned()
}

/// A lane that nothing is on.
fn free_lane(lanes: &mut Vec<Option<usize>>) -> usize {
    if let Some(lane) = lanes.iter().position(Option::is_none) {
        return lane;
    }
    lanes.push(None);
    lanes.len() - 1
}
