//! Where keys lie relative to the bounds of a range, in the comparator's order.

use std::ops::Bound;

use terrace_format::comparator::UserComparator;

use crate::read::options::Bounds;

/// Whether `key` lies before the range that begins at `lower`.
#[inline]
pub(in crate::read) fn is_below(key: &[u8], lower: &Bound<Vec<u8>>, comparator: &UserComparator) -> bool {
    match lower {
        Bound::Unbounded => false,
        Bound::Included(lower) => comparator.compare(key, lower).is_lt(),
        Bound::Excluded(lower) => comparator.compare(key, lower).is_le(),
    }
}

/// Whether `key` lies beyond the range that ends at `upper`.
#[inline]
pub(in crate::read) fn is_above(key: &[u8], upper: &Bound<Vec<u8>>, comparator: &UserComparator) -> bool {
    match upper {
        Bound::Unbounded => false,
        Bound::Included(upper) => comparator.compare(key, upper).is_gt(),
        Bound::Excluded(upper) => comparator.compare(key, upper).is_ge(),
    }
}

/// Whether no key can lie within `bounds`, because they are inverted or one excludes the key that the other names.
pub(in crate::read) fn are_empty(bounds: &Bounds, comparator: &UserComparator) -> bool {
    match &bounds.lower {
        Bound::Unbounded => false,
        Bound::Included(lower) => is_above(lower, &bounds.upper, comparator),
        Bound::Excluded(lower) => match &bounds.upper {
            Bound::Unbounded => false,
            Bound::Included(upper) | Bound::Excluded(upper) => comparator.compare(lower, upper).is_ge(),
        },
    }
}

impl Bounds {
    /// Whether `key` lies within the bounds.
    pub(crate) fn contain(&self, key: &[u8], comparator: &UserComparator) -> bool {
        !is_below(key, &self.lower, comparator) && !is_above(key, &self.upper, comparator)
    }
}
