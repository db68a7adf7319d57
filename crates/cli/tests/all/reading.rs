//! What get, scan, count and stats print for databases of other writers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{self, TestDirectory, terrace, value, with_input};
use serde_json::Value;

/// What the page saw at its second visit.
fn seen() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/chromium/seen-by-the-page.json");
    let all: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    all["seen"]["2"].clone()
}

#[test]
fn local_storage_is_what_the_page_saw() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit2-killed/local-storage");
    let scan =
        terrace([&"scan", &db, &"--json", &"--key-format=localstorage", &"--value-format=localstorage"]);
    let mut found = BTreeMap::new();
    for entry in scan.json() {
        if entry["key"]["kind"] == "entry" {
            assert_eq!(entry["key"]["origin"], "http://127.0.0.1:18765");
            found.insert(entry["key"]["key"].as_str().unwrap().to_owned(), entry["value"].clone());
        }
    }
    let expected: BTreeMap<String, Value> = serde_json::from_value(seen()["local"].clone()).unwrap();
    assert_eq!(found.len(), 2003);
    assert_eq!(found, expected);
}

#[test]
fn indexed_db_has_the_records_that_the_page_saw() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit2-killed/indexeddb");
    let scan = terrace([&"scan", &db, &"--json", &"--key-format=idb", &"--value-format=idb"]).json();
    let of = |entry: &Value, name: &str| entry["key"][name].as_u64().unwrap_or_default();
    let mut stores: BTreeMap<u64, String> = BTreeMap::new();
    let mut indexes: BTreeMap<(u64, u64), String> = BTreeMap::new();
    let (mut records, mut index_entries) = (BTreeMap::new(), BTreeMap::new());
    let mut kinds = Vec::new();
    // When Chromium changes or removes a record, it leaves index entries with an older version.
    let record = |entry: &Value, key: &Value| (of(entry, "store"), key.to_string());
    let exists = scan.iter().filter(|entry| entry["key"]["kind"] == "exists");
    let versions: BTreeMap<_, _> =
        exists.map(|entry| (record(entry, &entry["key"]["key"]), entry["value"].as_u64().unwrap())).collect();
    for entry in &scan {
        assert!(entry["key"]["undecoded"].is_null(), "{entry}");
        let text = || entry["value"].as_str().unwrap().to_owned();
        match entry["key"]["kind"].as_str().unwrap() {
            "object store name" => drop(stores.insert(of(entry, "store"), text())),
            "index name" => drop(indexes.insert((of(entry, "store"), of(entry, "index")), text())),
            "record" => {
                *records.entry(of(entry, "store")).or_insert(0) += 1;
                let value = &entry["value"]["value"];
                assert!(!value.is_null(), "{entry}");
                if stores[&of(entry, "store")] == "kinds" {
                    kinds.push(value.clone());
                }
            }
            "index entry" => {
                let version = versions.get(&record(entry, &entry["value"]["primary_key"]));
                if version == entry["value"]["version"].as_u64().as_ref() {
                    *index_entries.entry((of(entry, "store"), of(entry, "index"))).or_insert(0) += 1;
                }
            }
            _ => {}
        }
    }
    let seen = seen();
    assert_eq!(Value::Array(kinds), seen["idb"]["kindsInOrder"]);
    for (store, count) in seen["idb"]["counts"].as_object().unwrap() {
        let id = stores.iter().find(|(_, name)| *name == store).unwrap().0;
        assert_eq!(records[id], count.as_u64().unwrap(), "{store}");
    }
    for (index, count) in seen["idb"]["byIndex"].as_object().unwrap() {
        let id =
            indexes.iter().find(|((store, _), name)| stores[store] == "rows" && *name == index).unwrap().0;
        assert_eq!(index_entries[id], count.as_u64().unwrap(), "{index}");
    }
    assert_eq!(terrace([&"count", &db]).ok().trim(), scan.len().to_string());
}

#[test]
fn session_storage_has_its_maps_and_their_entries() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit2-killed/session-storage");
    let scan =
        terrace([&"scan", &db, &"--json", &"--key-format=sessionstorage", &"--value-format=sessionstorage"]);
    let entries = scan.json();
    let of = |kind: &str| entries.iter().find(|entry| entry["key"]["kind"] == kind).unwrap();
    assert_eq!(of("namespace")["key"]["origin"], "http://127.0.0.1:18765/");
    assert_eq!(of("namespace")["value"], of("entry")["key"]["map"]);
    assert_eq!(of("entry")["key"]["key"], "s");
    assert!(of("entry")["value"].as_str().unwrap().starts_with("alpha Ωμέγα iota beta"), "{}", of("entry"));
    assert_eq!((entries.len(), &of("version")["value"]), (3, &"1".into()));
}

#[test]
fn databases_of_every_writer_have_their_entries() {
    let scratch = TestDirectory::new();
    for (name, count) in [
        ("bedrock-deflate", 2402),
        ("bedrock-zlib", 2403),
        ("leveldb-1.20-snappy", 2403),
        ("leveldb-1.23-raw", 2403),
        ("leveldb-1.23-snappy-bloom", 2403),
        ("leveldb-sst", 2403),
    ] {
        let db = scratch.copy(name);
        assert_eq!(terrace([&"count", &db]).ok().trim(), count.to_string(), "{name}");
        assert_eq!(terrace([&"scan", &db, &"--keys"]).ok().lines().count(), count, "{name}");
        assert_eq!(terrace([&"verify", &db]).code, 0, "{name}");
    }
}

#[test]
fn ranges_limits_and_directions() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(1000);
    let scan = |options: &[&str]| {
        let output = support::program().arg("scan").arg(&db).args(options).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let keys = |options: &[&str]| scan(&[options, &["--keys"]].concat());
    assert_eq!(keys(&["--prefix", "0012"]), (120..130).map(|n| format!("{n:05}")).collect::<Vec<_>>());
    assert_eq!(keys(&["--gt", "00997"]), ["00998", "00999"]);
    assert_eq!(keys(&["--from", "00998"]), ["00998", "00999"]);
    assert_eq!(keys(&["--lt", "00002"]), ["00000", "00001"]);
    assert_eq!(keys(&["--lte", "00001"]), ["00000", "00001"]);
    assert_eq!(keys(&["--gte", "00500", "--to", "00502"]), ["00500", "00501"]);
    assert_eq!(keys(&["--reverse", "-n", "2"]), ["00999", "00998"]);
    assert_eq!(keys(&["--prefix", "001", "--reverse", "--limit", "1"]), ["00199"]);
    assert_eq!(keys(&["--gt", "5"]), Vec::<String>::new());
    assert_eq!(scan(&["--limit", "1"]), [format!("00000\t{}", value(0))]);
    assert_eq!(scan(&["--limit", "1", "--values"]), [value(0)]);
    assert_eq!(
        scan(&["--key-format", "hex", "--gte", "3030393939"]),
        [format!("3030393939\t{}", value(999))]
    );
    assert_eq!(
        scan(&["--prefix", "00049", "--cut", "10"]),
        [format!("00049\tvalue 49 x… ({} bytes)", value(49).len())]
    );
    for threads in ["1", "2", "7"] {
        assert_eq!(terrace([&"count", &db, &"--threads", &threads]).ok(), "1000\n");
        assert_eq!(
            terrace([&"count", &db, &"--threads", &threads, &"--gte", &"00123", &"--lt", &"00500"]).ok(),
            "377\n"
        );
    }
    let sizes = terrace([&"count", &db, &"--json"]).json();
    let value_bytes: usize = (0..1000).map(|n| value(n).len()).sum();
    assert_eq!(
        sizes,
        [serde_json::json!({"entries": 1000, "key_bytes": 5000, "value_bytes": value_bytes, "left_out": []})]
    );
}

#[test]
fn what_is_printed_is_accepted() {
    let scratch = TestDirectory::new();
    let db = scratch.path("db");
    let every_byte: Vec<u8> = (0..=255).collect();
    let file = scratch.path("value");
    fs::write(&file, &every_byte).unwrap();
    terrace([&"put", &db, &"\\x00\\xff\\\\ \\t", &"--file", &file, &"--create"]).ok();
    let scan = terrace([&"scan", &db]).ok();
    let (key, printed) = scan.trim_end_matches('\n').split_once('\t').unwrap();
    assert_eq!(terrace([&"get", &db, &key.to_owned()]).ok(), format!("{printed}\n"));
    terrace([&"put", &db, &"again", &printed.to_owned()]).ok();
    let raw = support::program().arg("get").arg(&db).args(["again", "--raw"]).output().unwrap();
    assert_eq!(raw.stdout, every_byte);
    let hex = terrace([&"get", &db, &"616761696e", &"--key-format=hex", &"--value-format=hex"]).ok();
    assert_eq!(hex.trim(), every_byte.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let from_input = with_input([&"put", &db, &"piped", &"--file", &"-"], b"\0\n");
    assert_eq!(from_input.code, 0);
    assert_eq!(terrace([&"get", &db, &"piped"]).ok(), "\\x00\\n\n");
}

#[test]
fn structured_keys_are_decoded() {
    let scratch = TestDirectory::new();
    let db = scratch.path("db");
    // ["a", 1] and 2 as npm's bytewise writes them.
    let key = "a0706100423ff000000000000000";
    terrace([&"put", &db, &key, &"\"v\"", &"--key-format=hex", &"--value-format=json", &"--create"]).ok();
    let scan = terrace([&"scan", &db, &"--key-format=bytewise", &"--value-format=json"]).ok();
    assert_eq!(scan, "[\"a\",1]\t\"v\"\n");
    let json = terrace([&"scan", &db, &"--key-format=bytewise", &"--json"]).json();
    let again = terrace([&"get", &db, &json[0]["escaped"].as_str().unwrap().to_owned()]).ok();
    assert_eq!((&json[0]["key"], &*again), (&serde_json::json!(["a", 1]), "\"v\"\n"));
    terrace([&"put", &db, &"xyz", &"text"]).ok();
    let scan = terrace([&"scan", &db, &"--key-format=bytewise", &"--prefix=x", &"--json"]).ok();
    assert_eq!(scan, "{\"key\":{\"undecoded\":\"xyz\"},\"value\":\"text\"}\n");
}

#[test]
fn a_missing_key_is_a_no() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(3);
    let run = terrace([&"get", &db, &"00001", &"nothing", &"00002"]);
    assert_eq!(run.code, 1);
    assert_eq!(run.out, format!("00001\t{}\n00002\t{}\n", value(1), value(2)));
    assert_eq!(run.err, "");
    assert_eq!(terrace([&"get", &db, &"nothing"]).failed(1), "");
    let json = terrace([&"get", &db, &"00001", &"--json"]).json();
    assert_eq!(json, [serde_json::json!({"key": "00001", "value": value(1)})]);
}

#[test]
fn stats_add_up() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(2000);
    let json = &terrace([&"stats", &db, &"--json", &"--tables"]).json()[0];
    let levels = json["levels"].as_array().unwrap();
    let sum = |name: &str| levels.iter().map(|level| level[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("entries"), sum("deletions")), (2000, 0));
    assert_eq!(sum("tables") as usize, json["tables"].as_array().unwrap().len());
    assert_eq!(sum("size_bytes"), json["table_bytes"].as_u64().unwrap());
    // Windows does not tell whether the database is unused.
    assert_eq!(json["owner"].is_null(), !cfg!(windows));
    let on_disk: u64 = fs::read_dir(&db).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert_eq!(json["size_bytes"].as_u64().unwrap(), on_disk);
    let text = terrace([&"stats", &db, &"--tables"]).ok();
    assert!(text.contains("leveldb.BytewiseComparator") && text.contains("00000 … 01999"), "{text}");
}
