//! The part of a large plan that a picture has room for.

use super::Graph;

/// Some of the steps.
pub(super) struct Focus {
    /// Their positions, in the order of the plan.
    pub(super) shown: Vec<usize>,
    /// Which steps are shown, by position.
    pub(super) is_shown: Vec<bool>,
}

impl Focus {
    /// At most so many steps: those on the critical path and those that run, failed or can be
    /// started first, then what waits for them, then finished ones from the newest back.
    pub(super) fn new(graph: &Graph, most: usize) -> Self {
        let count = graph.nodes.len();
        let mut is_shown = vec![count <= most; count];
        if count > most {
            let mut ranked: Vec<usize> = (0..count).collect();
            let mut place = vec![0; count];
            for (bit, &at) in graph.order.iter().enumerate() {
                place[at] = bit;
            }
            ranked.sort_by_key(|&at| {
                let node = &graph.nodes[at];
                match node.is_finished() {
                    false => (u8::from(!node.is_free), u8::from(!node.is_critical), place[at]),
                    true => (2, 0, count - place[at]),
                }
            });
            for at in ranked.into_iter().take(most) {
                is_shown[at] = true;
            }
        }
        let shown = (0..count).filter(|at| is_shown[*at]).collect();
        Self { shown, is_shown }
    }

    /// How many steps are not shown.
    pub(super) fn left_out(&self) -> usize {
        self.is_shown.len() - self.shown.len()
    }

    /// The dependencies between steps that are shown: before, after, whether they go in a circle.
    pub(super) fn arrows<'g>(
        &'g self,
        graph: &'g Graph,
    ) -> impl Iterator<Item = (usize, usize, bool)> + 'g {
        self.shown.iter().flat_map(move |&at| {
            let node = &graph.nodes[at];
            let plain = node.depends_on.iter().map(move |&before| (before, at, false));
            let round = node.circular.iter().map(move |&before| (before, at, true));
            plain.chain(round).filter(|(before, _, _)| self.is_shown[*before])
        })
    }
}
