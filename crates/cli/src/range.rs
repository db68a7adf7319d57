//! Selects the entries that a command is about: `--prefix`, `--gt`, `--lte` and similar options.

use std::ops::Bound;

use clap::Args;
use terrace_engine::{Bounds, Db, DbIterator, IterOptions, ReadOptions, UserComparator};

use crate::failure::{Failure, Problem};
use crate::text::FormatArguments;

/// A range of keys.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RangeArguments {
    /// Only keys that begin with this.
    #[arg(long, value_name = "KEY")]
    prefix: Option<String>,
    /// Only keys after this one.
    #[arg(long, value_name = "KEY", conflicts_with = "gte")]
    gt: Option<String>,
    /// Only keys from this one on, itself included.
    #[arg(long, visible_alias = "from", value_name = "KEY")]
    gte: Option<String>,
    /// Only keys before this one.
    #[arg(long, visible_alias = "to", value_name = "KEY", conflicts_with = "lte")]
    lt: Option<String>,
    /// Only keys up to this one, itself included.
    #[arg(long, value_name = "KEY")]
    lte: Option<String>,
}

/// A key and its value.
pub(crate) type Entry<'a> = (&'a [u8], &'a [u8]);

/// The selected entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    pub(crate) bounds: Bounds,
    /// A prefix that keys must have in addition to the bounds, for orders in which such keys are not adjacent.
    pub(crate) prefix: Option<Vec<u8>>,
}

impl RangeArguments {
    /// Whether every entry is selected.
    pub(crate) fn is_all(&self) -> bool {
        [&self.prefix, &self.gt, &self.gte, &self.lt, &self.lte].iter().all(|given| given.is_none())
    }

    /// The selected entries in a database of this order.
    ///
    /// # Errors
    ///
    /// If a key cannot be parsed.
    pub(crate) fn selection(
        &self,
        formats: FormatArguments,
        comparator: &UserComparator,
    ) -> Result<Selection, Failure> {
        let parse = |text: &Option<String>| {
            text.as_deref().map(|text| formats.key_format.parse(text).map_err(Problem::usage)).transpose()
        };
        let bound = |excluded, included| -> Result<Bound<Vec<u8>>, Failure> {
            Ok(match (parse(excluded)?, parse(included)?) {
                (Some(key), _) => Bound::Excluded(key),
                (None, Some(key)) => Bound::Included(key),
                (None, None) => Bound::Unbounded,
            })
        };
        let mut bounds = Bounds { lower: bound(&self.gt, &self.gte)?, upper: bound(&self.lt, &self.lte)? };
        let mut prefix = parse(&self.prefix)?;
        if matches!(comparator, UserComparator::Bytewise)
            && let Some(prefix) = prefix.take()
        {
            narrow_to_prefix(&mut bounds, prefix);
        }
        Ok(Selection { bounds, prefix })
    }
}

/// Narrows `bounds` to the keys that begin with `prefix`, in bytewise order.
fn narrow_to_prefix(bounds: &mut Bounds, prefix: Vec<u8>) {
    let is_below = match &bounds.lower {
        Bound::Unbounded => true,
        Bound::Included(lower) | Bound::Excluded(lower) => *lower < prefix,
    };
    if let Some(after) = after_prefix(&prefix) {
        let is_above = match &bounds.upper {
            Bound::Unbounded => true,
            Bound::Included(upper) | Bound::Excluded(upper) => *upper >= after,
        };
        if is_above {
            bounds.upper = Bound::Excluded(after);
        }
    }
    if is_below {
        bounds.lower = Bound::Included(prefix);
    }
}

/// The first key after all that begin with `prefix`; `None` if there is none.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut after = prefix[..=last].to_vec();
    after[last] += 1;
    Some(after)
}

impl Selection {
    /// Whether the selection includes a key that is within the bounds.
    pub(crate) fn admits(&self, key: &[u8]) -> bool {
        self.prefix.as_ref().is_none_or(|prefix| key.starts_with(prefix))
    }

    /// Starts a walk over the selected entries of `db`.
    pub(crate) fn walk(&self, db: &Db, reverse: bool) -> Result<Walk, Failure> {
        let iterator = iterate(db, self.bounds.clone())?;
        Ok(Walk { iterator, selection: self.clone(), reverse, is_begun: false })
    }
}

/// Creates a cursor over the entries of `db` within `bounds`, for a scan.
pub(crate) fn iterate(db: &Db, bounds: Bounds) -> Result<DbIterator, Failure> {
    let read = ReadOptions { fill_cache: false, ..ReadOptions::default() };
    Ok(db.iter(IterOptions { read, bounds })?)
}

/// Walks over the entries of a selection, in either direction.
pub(crate) struct Walk {
    iterator: DbIterator,
    selection: Selection,
    reverse: bool,
    is_begun: bool,
}

impl Walk {
    /// The next key and value; `None` after the last.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Entry<'_>>, Failure> {
        loop {
            match (self.is_begun, self.reverse) {
                (false, false) => self.iterator.seek_to_first()?,
                (false, true) => self.iterator.seek_to_last()?,
                (true, false) => self.iterator.next()?,
                (true, true) => self.iterator.prev()?,
            }
            self.is_begun = true;
            if !self.iterator.valid() {
                return Ok(None);
            }
            if self.selection.admits(self.iterator.key()) {
                break;
            }
        }
        Ok(Some((self.iterator.key(), self.iterator.value())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(arguments: &RangeArguments) -> Bounds {
        arguments.selection(FormatArguments::default(), &UserComparator::Bytewise).unwrap().bounds
    }

    #[test]
    fn a_prefix_narrows_the_bounds() {
        let some = |text: &str| Some(text.to_owned());
        let bounds = selection(&RangeArguments { prefix: some("a\\xff"), ..Default::default() });
        assert_eq!(bounds.lower, Bound::Included(b"a\xff".to_vec()));
        assert_eq!(bounds.upper, Bound::Excluded(b"b".to_vec()));

        let bounds = selection(&RangeArguments { prefix: some("\\xff\\xff"), ..Default::default() });
        assert_eq!(bounds.upper, Bound::Unbounded);

        let narrower =
            RangeArguments { prefix: some("ab"), gt: some("abc"), lte: some("abd"), ..Default::default() };
        let bounds = selection(&narrower);
        assert_eq!(bounds.lower, Bound::Excluded(b"abc".to_vec()));
        assert_eq!(bounds.upper, Bound::Included(b"abd".to_vec()));

        let elsewhere = RangeArguments { prefix: some("ab"), gte: some("x"), ..Default::default() };
        let bounds = selection(&elsewhere);
        assert_eq!(bounds.lower, Bound::Included(b"x".to_vec()));
        assert_eq!(bounds.upper, Bound::Excluded(b"ac".to_vec()), "nothing lies between");
    }

    #[test]
    fn in_another_order_a_prefix_is_looked_for() {
        let arguments = RangeArguments { prefix: Some("a".into()), ..Default::default() };
        let order = UserComparator::by_name("idb_cmp1").unwrap();
        let selection = arguments.selection(FormatArguments::default(), &order).unwrap();
        assert_eq!(selection.bounds.lower, Bound::Unbounded);
        assert!(selection.admits(b"ab") && !selection.admits(b"b"));
    }
}
