//! Order, dependencies that follow from others, and the path that takes longest.

use std::ops::ControlFlow;

use super::Node;

/// Up to how many steps implied dependencies are looked for: the memory grows with the square.
const MOST: usize = 12_000;

/// The steps, each after those that it waits for, and for each step the dependencies that close a
/// circle.
pub(super) fn order(named: &[Vec<usize>]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut circular = vec![Vec::new(); named.len()];
    let edge = |at: usize, nth: usize| named[at].get(nth).map(|before| Some(*before));
    let order = depth_first(named.len(), edge, |path, before| {
        circular[path[path.len() - 1].0].push(before);
        ControlFlow::Continue(())
    });
    (order, circular)
}

/// The first circle of dependencies, in order. `edge` gives the nth dependency of a step, which may
/// be missing, or `None` after the last.
pub(crate) fn first_circle(
    count: usize,
    edge: impl Fn(usize, usize) -> Option<Option<usize>>,
) -> Option<Vec<usize>> {
    let mut circle = None;
    depth_first(count, edge, |path, before| {
        let from = path.iter().position(|(at, _)| *at == before).unwrap_or(0);
        circle = Some(path[from..].iter().map(|(at, _)| *at).collect());
        ControlFlow::Break(())
    });
    circle
}

/// Visits all steps, each after those that it depends on. `close` is told of every dependency on a
/// step on the way to the current one, with that way.
fn depth_first(
    count: usize,
    edge: impl Fn(usize, usize) -> Option<Option<usize>>,
    mut close: impl FnMut(&[(usize, usize)], usize) -> ControlFlow<()>,
) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Closed,
    }
    let mut marks = vec![Mark::New; count];
    let mut order = Vec::with_capacity(count);
    for start in 0..count {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        // An explicit stack: a chain of ten thousand steps must not exhaust the real one.
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.last_mut() {
            let (at, before) = (*at, edge(*at, *next));
            *next += 1;
            match before {
                None => {
                    marks[at] = Mark::Closed;
                    order.push(at);
                    path.pop();
                }
                Some(Some(before)) if marks[before] == Mark::Open => {
                    if close(&path, before).is_break() {
                        return order;
                    }
                }
                Some(Some(before)) if marks[before] == Mark::New => {
                    marks[before] = Mark::Open;
                    path.push((before, 0));
                }
                Some(_) => {}
            }
        }
    }
    order
}

/// Separates the dependencies that follow from others and counts what waits for each step; returns
/// whether the plan is small enough for that.
pub(super) fn mark_implied(nodes: &mut [Node], order: &[usize]) -> bool {
    if nodes.len() > MOST {
        for at in 0..nodes.len() {
            if !nodes[at].is_finished() {
                for before in nodes[at].depends_on.clone() {
                    nodes[before].unblocks += 1;
                }
            }
        }
        return false;
    }
    // Bits are places in the order, so that a step's set ends at its own place.
    let mut place = vec![0; nodes.len()];
    for (bit, &at) in order.iter().enumerate() {
        place[at] = bit;
    }
    let mut before_all: Vec<Vec<u64>> = Vec::with_capacity(order.len());
    for (bit, &at) in order.iter().enumerate() {
        let mut all = vec![0u64; bit / 64 + 1];
        let mut named = std::mem::take(&mut nodes[at].depends_on);
        // The latest first: whatever it waits for itself need not be named.
        named.sort_unstable_by_key(|before| std::cmp::Reverse(place[*before]));
        let (mut direct, mut implied) = (Vec::new(), Vec::new());
        for before in named {
            let place = place[before];
            if all[place / 64] >> (place % 64) & 1 == 1 {
                implied.push(before);
                continue;
            }
            for (word, more) in all.iter_mut().zip(&before_all[place]) {
                *word |= more;
            }
            all[place / 64] |= 1 << (place % 64);
            direct.push(before);
        }
        direct.sort_unstable();
        implied.sort_unstable();
        if !nodes[at].is_finished() {
            for (word, bits) in all.iter().enumerate() {
                let mut bits = *bits;
                while bits != 0 {
                    let found = word * 64 + bits.trailing_zeros() as usize;
                    nodes[order[found]].unblocks += 1;
                    bits &= bits - 1;
                }
            }
        }
        (nodes[at].depends_on, nodes[at].implied) = (direct, implied);
        before_all.push(all);
    }
    true
}

/// The chain that takes longest, of what is not finished; of everything where all is. Where times
/// are equal or unknown, the one with the most steps.
pub(super) fn critical_path(nodes: &[Node], order: &[usize]) -> Vec<usize> {
    let all_finished = nodes.iter().all(Node::is_finished);
    let counts = |at: usize| all_finished || !nodes[at].is_finished();
    let mut best: Vec<((u64, u32), Option<usize>)> = vec![((0, 0), None); nodes.len()];
    for &at in order.iter().filter(|at| counts(**at)) {
        let mut longest = ((0, 0), None);
        for &before in nodes[at].depends_on.iter().filter(|before| counts(**before)) {
            if best[before].0 > longest.0 {
                longest = (best[before].0, Some(before));
            }
        }
        let ((time, steps), before) = longest;
        let own = nodes[at].time_ms.unwrap_or(0);
        best[at] = ((time.saturating_add(own), steps + 1), before);
    }
    let ends = order.iter().copied().filter(|at| counts(*at));
    let mut last = ends.max_by_key(|at| (best[*at].0, std::cmp::Reverse(*at)));
    let mut path = Vec::new();
    while let Some(at) = last {
        path.push(at);
        last = best[at].1;
    }
    path.reverse();
    path
}
