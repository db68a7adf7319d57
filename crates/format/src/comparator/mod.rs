//! The order of user keys. A database is created with an order, and bound to it by name.
//!
//! LevelDB stores the comparator's name in the manifest and refuses to open the database with another one. The default,
//! bytewise, is a separate enum variant, so that comparing two keys is a virtual call only if the program brings its
//! own order.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;

mod idb;

pub use idb::{IDB_NAME, IdbComparator};

/// The name that LevelDB stores for the bytewise order.
pub const BYTEWISE_NAME: &str = "leveldb.BytewiseComparator";

/// An order of user keys.
///
/// # Rules
///
/// `compare` is a total order over all byte strings and never changes: files on disk are sorted by it. Two keys that
/// compare as equal are one key to the database. No method panics, whatever the bytes.
pub trait Comparator: Send + Sync + Debug {
    /// The name stored in the database; any bytes. Another order needs another name.
    fn name(&self) -> &[u8];

    /// Compares `a` with `b`.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering;

    /// May shorten `start` to a key that is not below it and is below `limit`. Leaving it unchanged is always
    /// correct.
    fn find_shortest_separator(&self, start: &mut Vec<u8>, limit: &[u8]);

    /// May shorten `key` to a key that is not below it. Leaving it unchanged is always correct.
    fn find_short_successor(&self, key: &mut Vec<u8>);
}

/// The order of a database's user keys.
#[derive(Clone, Debug, Default)]
pub enum UserComparator {
    /// Byte by byte; a prefix comes before any longer key. The default of LevelDB and of Terrace.
    #[default]
    Bytewise,
    /// Any other order, which the program provides.
    Custom(Arc<dyn Comparator>),
}

impl UserComparator {
    /// The order for a comparator name that this crate knows: [`BYTEWISE_NAME`] or [`IDB_NAME`].
    pub fn by_name(name: impl AsRef<[u8]>) -> Option<Self> {
        let name = name.as_ref();
        if name == BYTEWISE_NAME.as_bytes() {
            Some(Self::Bytewise)
        } else if name == IDB_NAME.as_bytes() {
            Some(Self::Custom(Arc::new(IdbComparator)))
        } else {
            None
        }
    }

    /// The name stored in the database. [`name_text`] makes it readable.
    #[inline]
    pub fn name(&self) -> &[u8] {
        match self {
            Self::Bytewise => BYTEWISE_NAME.as_bytes(),
            Self::Custom(comparator) => comparator.name(),
        }
    }

    /// The name as [`name_text`] shows it.
    pub fn name_text(&self) -> Cow<'_, str> {
        name_text(self.name())
    }

    /// Compares `a` with `b`.
    #[inline]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Self::Bytewise => a.cmp(b),
            Self::Custom(comparator) => comparator.compare(a, b),
        }
    }

    /// May shorten `start` to a key that is not below it and is below `limit`.
    #[inline]
    pub fn find_shortest_separator(&self, start: &mut Vec<u8>, limit: &[u8]) {
        match self {
            Self::Bytewise => bytewise_shortest_separator(start, limit),
            Self::Custom(comparator) => comparator.find_shortest_separator(start, limit),
        }
    }

    /// May shorten `key` to a key that is not below it.
    #[inline]
    pub fn find_short_successor(&self, key: &mut Vec<u8>) {
        match self {
            Self::Bytewise => bytewise_short_successor(key),
            Self::Custom(comparator) => comparator.find_short_successor(key),
        }
    }
}

/// The name of a comparator or a filter policy as readable text. The name may be any bytes; those that are not text
/// appear as `\xff`.
pub fn name_text(name: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(name) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(name.escape_ascii().to_string()),
    }
}

/// Shortens as LevelDB does, so that our index blocks hold the same separators: raise the first byte that differs, if
/// the result stays below `limit`, and drop what follows.
fn bytewise_shortest_separator(start: &mut Vec<u8>, limit: &[u8]) {
    let Some(index) = start.iter().zip(limit).position(|(a, b)| a != b) else {
        return;
    };
    if u16::from(start[index]) + 1 < u16::from(limit[index]) {
        start[index] += 1;
        start.truncate(index + 1);
    }
}

/// Shortens as LevelDB does: raise the first byte that can be raised and drop what follows.
fn bytewise_short_successor(key: &mut Vec<u8>) {
    if let Some(index) = key.iter().position(|&byte| byte != 0xff) {
        key[index] += 1;
        key.truncate(index + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparators_are_found_by_the_name_in_the_manifest() {
        for name in [BYTEWISE_NAME, IDB_NAME] {
            assert_eq!(UserComparator::by_name(name).unwrap().name(), name.as_bytes());
        }
        assert!(UserComparator::by_name("leveldb.bytewisecomparator").is_none());
        assert!(UserComparator::by_name([0xff]).is_none());
        assert!(matches!(UserComparator::default(), UserComparator::Bytewise));
    }

    #[test]
    fn a_name_that_is_no_text_can_be_shown() {
        assert_eq!(name_text("Ordnung für alle".as_bytes()), "Ordnung für alle");
        assert_eq!(name_text(b"order \xff\xfe"), "order \\xff\\xfe");
    }

    #[test]
    fn bytewise_order_is_unsigned_and_puts_a_prefix_first() {
        let ascending: [&[u8]; 6] = [b"", b"\0", b"a", b"a\0", b"b", b"\xff"];
        for (index, a) in ascending.iter().enumerate() {
            for (other, b) in ascending.iter().enumerate() {
                assert_eq!(UserComparator::Bytewise.compare(a, b), index.cmp(&other));
            }
        }
    }

    #[test]
    fn separators_and_successors_are_leveldbs() {
        let separator = |start: &[u8], limit: &[u8]| {
            let mut key = start.to_vec();
            UserComparator::Bytewise.find_shortest_separator(&mut key, limit);
            key
        };
        assert_eq!(separator(b"abcd", b"abzz"), b"abd");
        assert_eq!(separator(b"abcd", b"abdz"), b"abcd", "no byte fits between c and d");
        assert_eq!(separator(b"ab", b"abc"), b"ab");
        assert_eq!(separator(b"a\xff", b"b"), b"a\xff");
        let successor = |key: &[u8]| {
            let mut key = key.to_vec();
            UserComparator::Bytewise.find_short_successor(&mut key);
            key
        };
        assert_eq!(successor(b"abc"), b"b");
        assert_eq!(successor(b"\xff\xffab"), b"\xff\xffb");
        assert_eq!(successor(b"\xff"), b"\xff");
        assert_eq!(successor(b""), b"");
    }
}
