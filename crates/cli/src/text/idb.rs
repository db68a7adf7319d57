//! Keys and values in Chromium's IndexedDB databases. `docs/format/comparators.md` specifies the keys, Chromium's
//! `leveldb_coding_scheme.md` the values.
//!
//! Values of records are JavaScript values in V8's own serialisation.

use terrace_format::limits::MAX_IDB_KEY_DEPTH;

use super::bytewise::date;
use super::date::windows_time;
use super::fields::{Fields, utf16};
use super::idb_scopes as scopes;
use super::json::Json;
use super::v8;

/// The encoding of the value under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Integer,
    Varint,
    Text,
    Bool,
    /// Version of the record, then its primary key.
    PrimaryKey,
    /// Version of the record, then a JavaScript value.
    Record,
    KeyPath,
    /// Files beside the database.
    Blobs,
    /// Files beside the database that are to be removed, or are in use.
    BlobJournal,
    Scopes(scopes::Record),
    /// A version as varint, and nothing else.
    Opaque,
}

struct Key {
    members: Vec<(&'static str, Json)>,
    value: Value,
}

/// The key as JSON; `None` if it cannot be decoded from end to end.
pub(crate) fn decode_key(key: &[u8]) -> Option<Json> {
    parse(key).map(|key| Json::Object(key.members))
}

/// The value under `key` as JSON; `None` if it is not decoded here.
pub(crate) fn decode_value(key: &[u8], value: &[u8]) -> Option<Json> {
    let mut fields = Fields(value);
    let json = match parse(key)?.value {
        Value::Integer => {
            let width = (1..=8).contains(&value.len()).then_some(value.len())?;
            Json::Integer(fields.integer(width)?.into())
        }
        Value::Varint => Json::from(fields.varint()?),
        Value::Text if value.len().is_multiple_of(2) => {
            Json::String(utf16(std::mem::take(&mut fields.0), u16::from_be_bytes))
        }
        Value::Bool => Json::Bool(fields.byte()? != 0),
        Value::PrimaryKey => {
            let version = fields.varint()?;
            Json::Object(vec![("version", version.into()), ("primary_key", idb_key(&mut fields, 0)?)])
        }
        Value::Record => {
            let version = fields.varint()?;
            let value = v8::decode(std::mem::take(&mut fields.0))?;
            Json::Object(vec![("version", version.into()), ("value", value)])
        }
        Value::KeyPath => key_path(&mut fields)?,
        Value::Blobs => blobs(&mut fields)?,
        Value::BlobJournal => {
            let mut entries = Vec::new();
            while !fields.0.is_empty() {
                let (database, number) = (fields.varint()?, fields.varint()?);
                entries.push(Json::Object(vec![("database", database.into()), ("number", number.into())]));
            }
            Json::Array(entries)
        }
        Value::Scopes(record) => return scopes_value(record, value),
        Value::Text | Value::Opaque => return None,
    };
    fields.0.is_empty().then_some(json)
}

fn parse(key: &[u8]) -> Option<Key> {
    let mut fields = Fields(key);
    let widths = usize::from(fields.byte()?);
    let database = fields.integer((widths >> 5) + 1)?;
    let store = fields.integer((widths >> 2 & 7) + 1)?;
    let index = fields.integer((widths & 3) + 1)?;
    let key = match (database, store, index) {
        (0, _, _) => global(&mut fields)?,
        (_, 0, _) => of_database(&mut fields, database)?,
        _ => of_store(&mut fields, database, store, index)?,
    };
    fields.0.is_empty().then_some(key)
}

fn key(kind: &str, rest: Vec<(&'static str, Json)>, value: Value) -> Option<Key> {
    let mut members = vec![("kind", Json::from(kind))];
    members.extend(rest);
    Some(Key { members, value })
}

fn global(fields: &mut Fields<'_>) -> Option<Key> {
    match fields.byte()? {
        0 => key("schema version", vec![], Value::Integer),
        1 => key("largest database id", vec![], Value::Integer),
        2 => key("data version", vec![], Value::Integer),
        3 => key("recovery blob journal", vec![], Value::BlobJournal),
        4 => key("active blob journal", vec![], Value::BlobJournal),
        5 => key("earliest sweep", vec![], Value::Integer),
        6 => key("earliest compaction", vec![], Value::Integer),
        50 => {
            let rest = std::mem::take(&mut fields.0);
            match scopes::parse(rest) {
                Some(scopes) => key(scopes.kind, scopes.members, Value::Scopes(scopes.record)),
                None => key("scopes", vec![("key", Json::hex(rest))], Value::Opaque),
            }
        }
        100 => key("free database id", vec![("database", fields.varint()?.into())], Value::Opaque),
        201 => {
            let origin = fields.counted_utf16_be()?;
            let name = fields.counted_utf16_be()?;
            key("database name", vec![("origin", origin.into()), ("name", name.into())], Value::Integer)
        }
        _ => None,
    }
}

fn of_database(fields: &mut Fields<'_>, database: i64) -> Option<Key> {
    let mut members = vec![("database", Json::Integer(database.into()))];
    let (kind, value) = match fields.byte()? {
        0 => ("origin", Value::Text),
        1 => ("name", Value::Text),
        2 => ("old version", Value::Text),
        3 => ("largest object store id", Value::Integer),
        4 => ("version", Value::Varint),
        5 => ("next blob number", Value::Varint),
        50 => {
            members.push(("store", fields.varint()?.into()));
            match fields.byte()? {
                0 => ("object store name", Value::Text),
                1 => ("object store key path", Value::KeyPath),
                2 => ("object store auto increment", Value::Bool),
                3 => ("object store evictable", Value::Bool),
                4 => ("object store last version", Value::Integer),
                5 => ("object store largest index id", Value::Integer),
                6 => ("object store has key path", Value::Bool),
                7 => ("object store next key", Value::Integer),
                _ => return None,
            }
        }
        100 => {
            members.push(("store", fields.varint()?.into()));
            members.push(("index", fields.varint()?.into()));
            match fields.byte()? {
                0 => ("index name", Value::Text),
                1 => ("index unique", Value::Bool),
                2 => ("index key path", Value::KeyPath),
                3 => ("index multi-entry", Value::Bool),
                _ => return None,
            }
        }
        150 => {
            members.push(("store", fields.varint()?.into()));
            ("free object store id", Value::Opaque)
        }
        151 => {
            members.push(("store", fields.varint()?.into()));
            members.push(("index", fields.varint()?.into()));
            ("free index id", Value::Opaque)
        }
        200 => {
            members.push(("name", fields.counted_utf16_be()?.into()));
            ("id of object store", Value::Integer)
        }
        201 => {
            members.push(("store", fields.varint()?.into()));
            members.push(("name", fields.counted_utf16_be()?.into()));
            ("id of index", Value::Integer)
        }
        _ => return None,
    };
    key(kind, members, value)
}

fn of_store(fields: &mut Fields<'_>, database: i64, store: i64, index: i64) -> Option<Key> {
    let mut members =
        vec![("database", Json::Integer(database.into())), ("store", Json::Integer(store.into()))];
    let (kind, value) = match index {
        1 => ("record", Value::Record),
        2 => ("exists", Value::Integer),
        3 => ("blobs", Value::Blobs),
        30.. => ("index entry", Value::PrimaryKey),
        _ => return None,
    };
    if index >= 30 {
        members.push(("index", Json::Integer(index.into())));
    }
    if !fields.0.is_empty() {
        members.push(("key", idb_key(fields, 0)?));
    }
    if index >= 30 && !fields.0.is_empty() {
        members.push(("sequence", fields.varint()?.into()));
        if !fields.0.is_empty() {
            members.push(("primary_key", idb_key(fields, 0)?));
        }
    }
    key(kind, members, value)
}

fn scopes_value(record: scopes::Record, value: &[u8]) -> Option<Json> {
    let key_json = |key| decode_key(key).unwrap_or_else(|| Json::hex(key));
    match record {
        scopes::Record::Version => scopes::version(value),
        scopes::Record::Scope => scopes::scope(value),
        scopes::Record::CleanupTask => None,
        scopes::Record::UndoTask => Some(Json::Object(match scopes::undo_task(value)? {
            scopes::Undo::Del { key } => vec![("del", key_json(key))],
            scopes::Undo::Put { key, value } => {
                // Records of scopes are not undone themselves, so that the depth of what is decoded has a limit.
                let is_scopes = matches!(parse(key), Some(Key { value: Value::Scopes(_), .. }));
                let decoded = if is_scopes { None } else { decode_value(key, value) };
                vec![("put", key_json(key)), ("value", decoded.unwrap_or_else(|| Json::hex(value)))]
            }
        })),
    }
}

/// Blobs, files and handles of the File System Access API, one after the other, as the record's value numbers them.
fn blobs(fields: &mut Fields<'_>) -> Option<Json> {
    let mut objects = Vec::new();
    while !fields.0.is_empty() {
        let kind = fields.byte()?;
        objects.push(Json::Object(if kind == 2 {
            vec![("kind", "handle".into()), ("token", Json::hex(fields.counted_bytes()?))]
        } else {
            let name = ["blob", "file"].get(usize::from(kind))?;
            let mut members = vec![
                ("kind", Json::from(*name)),
                ("number", fields.varint()?.into()),
                ("type", fields.counted_utf16_be()?.into()),
                ("size_bytes", fields.varint()?.into()),
            ];
            if kind == 1 {
                members.push(("name", fields.counted_utf16_be()?.into()));
                members.push(("modified", windows_time(fields.varint()?)));
            }
            members
        }));
    }
    Some(Json::Array(objects))
}

/// Two zeros, a type byte, and a name, several of them, or nothing. Without the zeros, as old versions have it: a name.
fn key_path(fields: &mut Fields<'_>) -> Option<Json> {
    let Some(rest) = fields.0.strip_prefix(&[0, 0]) else {
        let name = std::mem::take(&mut fields.0);
        return name.len().is_multiple_of(2).then(|| utf16(name, u16::from_be_bytes).into());
    };
    fields.0 = rest;
    Some(match fields.byte()? {
        0 => Json::Null,
        1 => Json::String(fields.counted_utf16_be()?),
        2 => {
            let mut names = Vec::new();
            for _ in 0..fields.count()? {
                names.push(Json::String(fields.counted_utf16_be()?));
            }
            Json::Array(names)
        }
        _ => return None,
    })
}

/// An IndexedDB key: a type byte and its payload.
fn idb_key(fields: &mut Fields<'_>, depth: usize) -> Option<Json> {
    Some(match fields.byte()? {
        0 => Json::Null,
        1 => Json::String(fields.counted_utf16_be()?),
        2 => date(fields.double(f64::from_le_bytes)?),
        3 => Json::number(fields.double(f64::from_le_bytes)?),
        4 => {
            let count = fields.count()?;
            if depth >= MAX_IDB_KEY_DEPTH {
                return None;
            }
            // Each element takes at least a byte, so that a false count ends soon.
            let mut items = Vec::new();
            for _ in 0..count {
                items.push(idb_key(fields, depth + 1)?);
            }
            Json::Array(items)
        }
        5 => Json::Object(vec![("minimum", Json::Bool(true))]),
        6 => Json::hex(fields.counted_bytes()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::escape::unhex;

    fn shown(hex: &str) -> Option<String> {
        decode_key(&unhex(hex).unwrap()).map(|json| json.to_string())
    }

    /// The examples of docs/format/comparators.md.
    #[test]
    fn the_specifications_examples() {
        for (hex, text) in [
            ("00000000 00", "{\"kind\":\"schema version\"}"),
            (
                "00000000 c9 01006f 0200640062",
                "{\"kind\":\"database name\",\"origin\":\"o\",\"name\":\"db\"}",
            ),
            (
                "00010000 c8 040063006100740073",
                "{\"kind\":\"id of object store\",\"database\":1,\"name\":\"cats\"}",
            ),
            ("00010101 03 0000000000000040", "{\"kind\":\"record\",\"database\":1,\"store\":1,\"key\":2}"),
            (
                "00010101 02 000000000000f0bf",
                "{\"kind\":\"record\",\"database\":1,\"store\":1,\"key\":{\"date\":\"1969-12-31T23:59:59.999Z\"}}",
            ),
            ("00010101 01 02006100e9", "{\"kind\":\"record\",\"database\":1,\"store\":1,\"key\":\"aé\"}"),
            (
                "00010101 06 0200ff",
                "{\"kind\":\"record\",\"database\":1,\"store\":1,\"key\":{\"hex\":\"00ff\"}}",
            ),
            (
                "00010101 04 02 01010061 03000000000000f03f",
                "{\"kind\":\"record\",\"database\":1,\"store\":1,\"key\":[\"a\",1]}",
            ),
            ("00010102 03 0000000000000040", "{\"kind\":\"exists\",\"database\":1,\"store\":1,\"key\":2}"),
            (
                "0001011e 01010061 09 03000000000000f03f",
                "{\"kind\":\"index entry\",\"database\":1,\"store\":1,\"index\":30,\"key\":\"a\",\"sequence\":9,\
                 \"primary_key\":1}",
            ),
        ] {
            assert_eq!(shown(hex).as_deref(), Some(text), "{hex}");
        }
    }

    #[test]
    fn metadata_has_values_of_its_type() {
        let value = |key: &str, value: &str| {
            decode_value(&unhex(key).unwrap(), &unhex(value).unwrap()).map(|json| json.to_string())
        };
        assert_eq!(value("00000000 00", "05").as_deref(), Some("5"));
        assert_eq!(value("00010000 32 01 00", "00630061").as_deref(), Some("\"ca\""));
        assert_eq!(value("00010000 04", "8001").as_deref(), Some("128"));
        assert_eq!(value("00010000 64 01 1e 01", "01").as_deref(), Some("true"));
        assert_eq!(
            value("0001011e 01010061 09", "0103000000000000f03f").as_deref(),
            Some("{\"version\":1,\"primary_key\":1}")
        );
        assert_eq!(value("00010101 03 0000000000000040", "01ff15"), None);
        assert_eq!(
            value(
                "00010101 03 0000000000000040",
                "ba17 ff15 fe000000000000000000000000 ff10 6f 2201 61 4904 7b01"
            )
            .as_deref(),
            Some("{\"version\":3002,\"value\":{\"a\":2}}")
        );
        let path = "00010000 32 01 01";
        assert_eq!(value(path, "0000 00").as_deref(), Some("null"));
        assert_eq!(value(path, "0000 01 02 0069 0064").as_deref(), Some("\"id\""));
        assert_eq!(value(path, "0000 02 02 01 0061 01 0062").as_deref(), Some("[\"a\",\"b\"]"));
        assert_eq!(value(path, "0069 0064").as_deref(), Some("\"id\""));
        assert_eq!(value(path, "0000 01 09 0069"), None);
        assert_eq!(value("00000000 00", ""), None);
    }

    /// Keys and values of scopes as Chromium has written them, and of blobs and journals.
    #[test]
    fn records_of_scopes_and_blobs() {
        for (key, key_text, value, text) in [
            ("00000000 32 00", "{\"kind\":\"scopes version\"}", "0801", "1"),
            ("00000000 32 01 0e", "{\"kind\":\"scope\",\"scope\":14}", "", "{\"locks\":[]}"),
            (
                "00000000 32 02 0e 00 7ffffffffffffb7c",
                "{\"kind\":\"undo task\",\"scope\":14,\"sequence\":9223372036854774652}",
                "0a0d 0a07 00010000320307 1202 2101",
                "{\"put\":{\"kind\":\"object store next key\",\"database\":1,\"store\":3},\"value\":289}",
            ),
            (
                "00000000 32 02 0e 00 7ffffffffffffffd",
                "{\"kind\":\"undo task\",\"scope\":14,\"sequence\":9223372036854775805}",
                "120f 0a0d 00010301 030000000000107240",
                "{\"del\":{\"kind\":\"record\",\"database\":1,\"store\":3,\"key\":289}}",
            ),
            (
                "00000000 03",
                "{\"kind\":\"recovery blob journal\"}",
                "01 8001",
                "[{\"database\":1,\"number\":128}]",
            ),
            ("00000000 04", "{\"kind\":\"active blob journal\"}", "", "[]"),
            (
                "00010103 03 0000000000000040",
                "{\"kind\":\"blobs\",\"database\":1,\"store\":1,\"key\":2}",
                "00 02 01 0074 05 01 03 00 06 01 0061 808099c4e4d2d714 02 01 ff",
                "[{\"kind\":\"blob\",\"number\":2,\"type\":\"t\",\"size_bytes\":5},\
                 {\"kind\":\"file\",\"number\":3,\"type\":\"\",\"size_bytes\":6,\"name\":\"a\",\
                 \"modified\":\"1970-01-01T00:00:00.000Z\"},{\"kind\":\"handle\",\"token\":{\"hex\":\"ff\"}}]",
            ),
        ] {
            assert_eq!(shown(key).as_deref(), Some(key_text), "{key}");
            let value = decode_value(&unhex(key).unwrap(), &unhex(value).unwrap());
            assert_eq!(value.map(|json| json.to_string()).as_deref(), Some(text), "{key}");
        }
    }

    #[test]
    fn an_undo_task_in_an_undo_task_is_not_decoded() {
        let key = unhex("00000000 32 02 00 00 7fffffffffffffff").unwrap();
        let mut task = Vec::new();
        for _ in 0..3 {
            let mut put = vec![0x0a, key.len() as u8];
            put.extend_from_slice(&key);
            put.extend([0x12, task.len() as u8]);
            put.append(&mut task);
            task = vec![0x0a, put.len() as u8];
            task.append(&mut put);
        }
        let text = decode_value(&key, &task).unwrap().to_string();
        assert!(text.contains("\"value\":{\"hex\":"), "{text}");
    }

    #[test]
    fn other_bytes_are_refused() {
        for hex in [
            "",
            "00",
            "000000",
            "ff",
            "00000000",
            "00000000 07",
            "00000000 00 00",
            "00010104 00",
            "00010101 07",
            "00010101 04 ffffffffffffffffff01",
            "00010101 01 ffffffffffffffff7f",
        ] {
            assert_eq!(shown(hex), None, "{hex}");
        }
        let mut deep = unhex("00010101").unwrap();
        deep.extend([4, 1].repeat(100_000));
        assert_eq!(decode_key(&deep), None);
    }
}
