//! Chromium's *scopes* in IndexedDB databases: undo information of transactions that became too large for memory.
//!
//! Such a transaction changes the database at once. It stores what it has locked and, under a sequence number that
//! counts down from the largest one, how to undo each change. When it commits, its locks are released, and its records
//! are deleted afterwards.
//!
//! ```text
//! 00                            the version of these records
//! 01 scope                      a transaction: what it has locked
//! 02 scope 00 sequence          how a change is undone
//! 02 scope 01 sequence          work that remains after the commit (not decoded)
//! ```
//!
//! A scope is a varint, a sequence number is eight bytes in big-endian order, values are protocol buffers. Source:
//! Chromium's `leveldb_scopes_coding.h` and `scopes_metadata.proto`, and databases that Chromium has written.

use super::fields::Fields;
use super::json::Json;
use super::protobuf::{Content, message};

/// What a record of scopes is about, and so the encoding of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Version,
    Scope,
    UndoTask,
    CleanupTask,
}

/// A key of such a record.
pub(crate) struct Key {
    pub(crate) record: Record,
    /// Its name, to be printed.
    pub(crate) kind: &'static str,
    pub(crate) members: Vec<(&'static str, Json)>,
}

/// The key's part after the prefix of scopes; `None` if it is no such key.
pub(crate) fn parse(key: &[u8]) -> Option<Key> {
    let mut fields = Fields(key);
    let (record, kind, members) = match fields.byte()? {
        0 => (Record::Version, "scopes version", vec![]),
        1 => (Record::Scope, "scope", vec![("scope", fields.varint()?.into())]),
        2 => {
            let scope = fields.varint()?;
            let (record, kind) = match fields.byte()? {
                0 => (Record::UndoTask, "undo task"),
                1 => (Record::CleanupTask, "cleanup task"),
                _ => return None,
            };
            let sequence = u64::from_be_bytes(fields.bytes(8)?.try_into().ok()?);
            (record, kind, vec![("scope", scope.into()), ("sequence", sequence.into())])
        }
        _ => return None,
    };
    fields.0.is_empty().then_some(Key { record, kind, members })
}

/// The version of the records.
pub(crate) fn version(value: &[u8]) -> Option<Json> {
    match message(value)?.as_slice() {
        [(1, Content::Number(version))] => Some(Json::from(*version)),
        _ => None,
    }
}

/// What a transaction has locked, and whether its cleanup tasks are void.
pub(crate) fn scope(value: &[u8]) -> Option<Json> {
    let (mut locks, mut ignores_cleanup_tasks) = (Vec::new(), false);
    for field in message(value)? {
        match field {
            (1, Content::Bytes(bytes)) => locks.push(lock(bytes)?),
            (2, Content::Number(number)) => ignores_cleanup_tasks = number != 0,
            _ => return None,
        }
    }
    let mut members = vec![("locks", Json::Array(locks))];
    if ignores_cleanup_tasks {
        members.push(("ignores_cleanup_tasks", Json::Bool(true)));
    }
    Some(Json::Object(members))
}

/// How a change is undone.
pub(crate) enum Undo<'a> {
    Put { key: &'a [u8], value: &'a [u8] },
    Del { key: &'a [u8] },
}

/// How a change is undone. Of ranges, which are undone in a third way, no example was at hand: they are not decoded.
pub(crate) fn undo_task(value: &[u8]) -> Option<Undo<'_>> {
    let [(operation, Content::Bytes(bytes))] = message(value)?[..] else { return None };
    match (operation, &message(bytes)?[..]) {
        (1, &[(1, Content::Bytes(key)), (2, Content::Bytes(value))]) => Some(Undo::Put { key, value }),
        // What is empty is left out.
        (1, &[(1, Content::Bytes(key))]) => Some(Undo::Put { key, value: &[] }),
        (2, &[(1, Content::Bytes(key))]) => Some(Undo::Del { key }),
        _ => None,
    }
}

/// What is locked: in partition 0 the name of a database, in partition 1 the ids of a database and an object store, eight bytes each.
fn lock(bytes: &[u8]) -> Option<Json> {
    let (mut partition, mut locked) = (0, &[][..]);
    for field in message(bytes)? {
        match field {
            (1, Content::Number(number)) => partition = number,
            (2, Content::Bytes(range)) => {
                // Until version 108 of Chromium, the end of a range followed.
                locked = match message(range)?.first()? {
                    (1, Content::Bytes(key)) => *key,
                    _ => return None,
                };
            }
            _ => return None,
        }
    }
    let members = match (partition, locked.as_chunks::<8>()) {
        (0, _) => vec![("database", Json::bytes(locked))],
        (1, ([database, store], [])) => vec![
            ("database", u64::from_be_bytes(*database).into()),
            ("store", u64::from_be_bytes(*store).into()),
        ],
        _ => vec![("partition", partition.into()), ("key", Json::hex(locked))],
    };
    Some(Json::Object(members))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that Chromium has written.
    #[test]
    fn what_a_transaction_has_locked() {
        let shown = |value: &[u8]| scope(value).map(|json| json.to_string());
        assert_eq!(shown(b"").unwrap(), "{\"locks\":[]}");
        assert_eq!(shown(b"\n\x08\x12\x06\n\x04shop").unwrap(), "{\"locks\":[{\"database\":\"shop\"}]}");
        assert_eq!(
            shown(
                b"\n\x08\x12\x06\n\x04shop\n\x16\x08\x01\x12\x12\n\x10\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x03\x10\x01"
            )
            .unwrap(),
            "{\"locks\":[{\"database\":\"shop\"},{\"database\":1,\"store\":3}],\"ignores_cleanup_tasks\":true}"
        );
        assert_eq!(
            shown(b"\n\x07\x08\x02\x12\x03\n\x01k").unwrap(),
            "{\"locks\":[{\"partition\":2,\"key\":{\"hex\":\"6b\"}}]}"
        );
        for other in [&b"\n"[..], b"\n\x09\x12\x06\n\x04shop", b"\x18\x01", b"\n\x02\x12\0", b"\x09"] {
            assert_eq!(shown(other), None, "{other:?}");
        }
    }

    #[test]
    fn keys_end_where_they_should() {
        for other in [
            &b""[..],
            b"\x03",
            b"\0\0",
            b"\x01",
            b"\x01\x01\x01",
            b"\x02\x01",
            b"\x02\x01\x02\0\0\0\0\0\0\0\0",
        ] {
            assert!(parse(other).is_none(), "{other:?}");
        }
    }

    #[test]
    fn other_tasks_are_not_decoded() {
        for other in [
            &b""[..],
            b"\n",
            b"\n\0",
            b"\x12\0",
            b"\x1a\x03\n\x01a",
            b"\n\x03\n\x01a\x12\x03\n\x01a",
            b"\x08\x01",
        ] {
            assert!(undo_task(other).is_none(), "{other:?}");
        }
    }
}
