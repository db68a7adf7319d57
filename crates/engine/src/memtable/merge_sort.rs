//! The sort for orders that the program supplies. Predecessor: [`sort`](super::sort).
//!
//! Such an order may be inconsistent: it may call each of two keys the smaller. The standard library's sorts may then panic.
//! This sort ends for any answers, with the same items in some order. The table builder, which needs ascending keys, then
//! reports what is wrong.

/// The number of items that insertion sorts before runs are merged.
const RUN: usize = 8;

/// Sorts `items`. Two items keep their order if neither comes after the other.
pub(super) fn merge_sort<T: Copy>(items: &mut Vec<T>, comes_after: impl Fn(&T, &T) -> bool) {
    for run in items.chunks_mut(RUN) {
        sort_by_insertion(run, &comes_after);
    }
    let mut merged = items.clone();
    let mut width = RUN;
    while width < items.len() {
        for (pair, place) in items.chunks(2 * width).zip(merged.chunks_mut(2 * width)) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(left, right, place, &comes_after);
        }
        std::mem::swap(items, &mut merged);
        width *= 2;
    }
}

fn sort_by_insertion<T>(run: &mut [T], comes_after: &impl Fn(&T, &T) -> bool) {
    for end in 1..run.len() {
        let mut place = end;
        while place > 0 && comes_after(&run[place - 1], &run[place]) {
            run.swap(place - 1, place);
            place -= 1;
        }
    }
}

/// Merges two runs into `place`, which is as long as both.
fn merge<T: Copy>(left: &[T], right: &[T], place: &mut [T], comes_after: &impl Fn(&T, &T) -> bool) {
    // Entries often come in order. Then one comparison is enough.
    let is_ordered = match (left.last(), right.first()) {
        (Some(last), Some(first)) => !comes_after(last, first),
        _ => true,
    };
    if is_ordered {
        let (first, second) = place.split_at_mut(left.len());
        first.copy_from_slice(left);
        second.copy_from_slice(right);
        return;
    }
    let (mut from_left, mut from_right) = (0, 0);
    for item in place {
        let takes_right = match (left.get(from_left), right.get(from_right)) {
            (Some(left), Some(right)) => comes_after(left, right),
            (left, _) => left.is_none(),
        };
        if takes_right {
            *item = right[from_right];
            from_right += 1;
        } else {
            *item = left[from_left];
            from_left += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::merging_iterator::test_support::Random;

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        let mut random = Random(3);
        for length in [0, 1, 2, 7, 8, 9, 16, 17, 31, 64, 100, 1000] {
            for values in [2, 10, 1_000_000] {
                let mut items: Vec<(usize, usize)> =
                    (0..length).map(|place| (random.below(values), place)).collect();
                let mut expected = items.clone();
                expected.sort_by_key(|item| item.0);
                merge_sort(&mut items, |a, b| a.0 > b.0);
                assert_eq!(items, expected);
            }
        }
    }

    #[test]
    fn an_inconsistent_order_loses_no_item_and_does_not_panic() {
        let answers: [fn(&u32, &u32) -> bool; 4] =
            [|_, _| true, |_, _| false, |a, b| (a + 1) % 3 == b % 3, |a, b| (a ^ b).count_ones() % 2 == 1];
        for answer in answers {
            let mut items: Vec<u32> = (0..1000).map(|number| number * 7 % 1000).collect();
            merge_sort(&mut items, answer);
            items.sort_unstable();
            assert!(items.into_iter().eq(0..1000));
        }
    }
}
