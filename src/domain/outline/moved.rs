//! Finds what moved between two orders of the same things.

/// The smallest set of positions in `places` whose move explains the new order.
///
/// `places` has for each thing, in the old order, its new place; all are distinct. The result is the
/// same in both directions.
pub(crate) fn moved(places: &[usize]) -> Vec<usize> {
    if places.is_sorted() {
        return Vec::new();
    }
    let mut now: Vec<usize> = (0..places.len()).collect();
    now.sort_by_key(|at| places[*at]);
    // The ranks of the places, and their inverse.
    let mut there = vec![0; places.len()];
    for (rank, at) in now.iter().enumerate() {
        there[*at] = rank;
    }
    let stays = if there <= now { longest_rise(&there) } else { image(&longest_rise(&now), &now) };
    let mut stay = vec![false; places.len()];
    for at in stays {
        stay[at] = true;
    }
    // If the order is its own inverse, both of two swapped things moved.
    let both = there == now;
    (0..places.len()).filter(|at| !stay[*at] || both && !stay[there[*at]]).collect()
}

fn image(positions: &[usize], map: &[usize]) -> Vec<usize> {
    positions.iter().map(|at| map[*at]).collect()
}

/// The positions of a longest rising subsequence.
fn longest_rise(values: &[usize]) -> Vec<usize> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; values.len()];
    for (at, value) in values.iter().enumerate() {
        let length = tails.partition_point(|tail| values[*tail] < *value);
        before[at] = length.checked_sub(1).map(|last| tails[last]);
        if length == tails.len() {
            tails.push(at);
        } else {
            tails[length] = at;
        }
    }
    let mut rise: Vec<usize> =
        std::iter::successors(tails.last().copied(), |at| before[*at]).collect();
    rise.reverse();
    rise
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_that_went_to_the_front_is_all_that_moved() {
        assert_eq!(moved(&[1, 2, 3, 0]), [3]);
        assert_eq!(moved(&[3, 0, 1, 2]), [0]);
        assert!(moved(&[0, 5, 9]).is_empty());
    }

    #[test]
    fn two_things_that_changed_places_are_told_alike_from_both_sides() {
        for places in [vec![1, 0], vec![2, 0, 1, 4, 3], vec![4, 3, 2, 1, 0], vec![1, 0, 3, 2]] {
            let mut back = vec![0; places.len()];
            for (at, place) in places.iter().enumerate() {
                back[*place] = at;
            }
            let mut mirrored: Vec<usize> =
                moved(&places).into_iter().map(|at| places[at]).collect();
            mirrored.sort_unstable();
            assert_eq!(moved(&back), mirrored, "{places:?}");
        }
    }
}
