//! What inspect prints for every kind of file, sound and damaged.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{TestDirectory, damage, file_of, terrace};
use serde_json::Value;

fn items(path: &PathBuf) -> (i32, Vec<Value>) {
    let run = terrace([&"inspect", path, &"--json"]);
    (run.code, run.json())
}

fn of_kind<'a>(items: &'a [Value], kind: &str) -> Vec<&'a Value> {
    items.iter().filter(|item| item["kind"] == kind).collect()
}

/// Keys of the printed puts.
fn keys(items: &[Value]) -> Vec<String> {
    of_kind(items, "put").iter().map(|put| put["key"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_entry_of_a_table_is_printed() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(2000);
    let (code, items) = items(&file_of(&db, ".ldb"));
    assert_eq!(code, 0);
    assert_eq!(keys(&items), (0..2000).map(|n| format!("{n:05}")).collect::<Vec<_>>());
    for kind in ["file", "footer", "index", "metaindex", "counts", "filter", "summary"] {
        assert_eq!(of_kind(&items, kind).len(), 1, "{kind}");
    }
    let blocks = of_kind(&items, "block");
    assert_eq!(blocks.iter().map(|block| block["entries"].as_u64().unwrap()).sum::<u64>(), 2000);
    assert!(blocks.is_sorted_by_key(|block| block["offset"].as_u64().unwrap()));

    let raw = scratch.path("raw");
    terrace([&"copy", &db, &raw, &"--compression=none"]).ok();
    assert!(
        terrace([&"inspect", &file_of(&raw, ".ldb")])
            .ok()
            .contains("terrace.hash-index: Terrace's hash index")
    );
}

#[test]
fn every_record_of_a_log_is_printed_with_its_offset() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit2-killed/indexeddb");
    let log = file_of(&db, ".log");
    let (code, items) = items(&log);
    assert_eq!(code, 0);
    let records = of_kind(&items, "record");
    assert_eq!(records.len(), 1001);
    let bytes = fs::read(&log).unwrap();
    for record in records {
        let offset = record["offset"].as_u64().unwrap() as usize;
        assert!(matches!(bytes[offset + 6], 1 | 2), "a full or a first fragment at {offset}");
    }
    let summary = of_kind(&items, "summary")[0];
    assert_eq!((&summary["puts"], &summary["deletions"]), (&3002.into(), &1501.into()));
    assert_eq!((of_kind(&items, "put").len(), of_kind(&items, "del").len()), (3002, 1501));
}

#[test]
fn a_manifest_adds_up_to_the_tables_in_the_directory() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("leveldb-1.23-raw");
    let (code, items) = items(&file_of(&db, "MANIFEST-000002"));
    assert_eq!(code, 0);
    let mut listed: Vec<_> =
        of_kind(&items, "table").iter().map(|table| table["number"].as_u64().unwrap()).collect();
    listed.sort();
    let names = fs::read_dir(&db).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut there: Vec<u64> =
        names.filter_map(|name| name.strip_suffix(".ldb").map(|number| number.parse().unwrap())).collect();
    there.sort();
    assert_eq!(listed, there);
    assert_eq!(of_kind(&items, "summary")[0]["last_sequence"], 4003);
}

#[test]
fn a_directory_is_explained_file_by_file() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit1-closed/local-storage");
    let text = terrace([&"inspect", &db]).ok();
    for part in [
        "CURRENT, which names the current MANIFEST: MANIFEST-000001\\n",
        "MANIFEST-000001: a MANIFEST of 41 bytes",
        "000003.log: a log of 665327 bytes",
        "LOCK, which a process locks",
        "LOG: the database's info log",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let log = terrace([&"inspect", &file_of(&db, "LOG")]).ok();
    assert!(log.contains("Creating DB"), "{log}");
}

#[test]
fn reading_goes_on_after_a_damaged_block() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(2000);
    let table = file_of(&db, ".ldb");
    let (_, sound) = items(&table);
    let blocks = of_kind(&sound, "block");
    let (at, entries) = (blocks[3]["offset"].as_u64().unwrap(), blocks[3]["entries"].as_u64().unwrap());
    damage(&table, at as usize + 10);
    let (code, damaged) = items(&table);
    assert_eq!(code, 1);
    let found = of_kind(&damaged, "damage");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["offset"], at);
    assert!(found[0]["problem"].as_str().unwrap().contains("checksum"), "{}", found[0]);
    assert_eq!(keys(&damaged).len() as u64, 2000 - entries);
    let lost: Vec<_> = keys(&sound).into_iter().filter(|key| !keys(&damaged).contains(key)).collect();
    let problem = found[0]["problem"].as_str().unwrap();
    let before = format!("{:05}", lost[0].parse::<u64>().unwrap() - 1);
    assert!(problem.contains(&format!("after {before}")), "{problem}");
    let text = terrace([&"inspect", &table]).out;
    assert!(text.contains(&format!("{at:>10}  DAMAGE: ")) && text.contains("1 of them damaged"), "{text}");
}

#[test]
fn blocks_are_found_without_footer_and_without_index() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(2000);
    let table = file_of(&db, ".ldb");
    let sound = fs::read(&table).unwrap();
    let (_, intact) = items(&table);
    let index_at = of_kind(&intact, "index")[0]["offset"].as_u64().unwrap() as usize;
    let third = of_kind(&intact, "block")[2];
    let third_at = third["offset"].as_u64().unwrap() as usize;
    let all = keys(&intact);

    damage(&table, sound.len() - 3);
    let (code, found) = items(&table);
    assert_eq!((code, keys(&found)), (1, all.clone()), "no footer");
    fs::write(&table, &sound).unwrap();

    damage(&table, index_at + 3);
    let (code, found) = items(&table);
    assert_eq!((code, keys(&found)), (1, all.clone()), "no index");

    damage(&table, third_at + 7);
    let (_, found) = items(&table);
    assert_eq!(
        keys(&found).len() as u64,
        2000 - third["entries"].as_u64().unwrap(),
        "neither index nor third block"
    );
    fs::write(&table, &sound[..sound.len() / 2]).unwrap();

    let (code, found) = items(&table);
    assert_eq!(code, 1);
    assert!(keys(&found).len() > 800 && all.starts_with(&keys(&found)), "cut off");
}

#[test]
fn reading_goes_on_after_damage_in_a_log() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit2-killed/indexeddb");
    let log = file_of(&db, ".log");
    let (_, sound) = items(&log);
    let offsets: Vec<u64> =
        of_kind(&sound, "record").iter().map(|record| record["offset"].as_u64().unwrap()).collect();
    damage(&log, offsets[10] as usize + 20);
    let (code, damaged) = items(&log);
    assert_eq!(code, 1);
    let found = of_kind(&damaged, "damage");
    assert_eq!(found[0]["offset"], offsets[10]);
    // The record that continues in the next block has lost its beginning.
    assert!(
        found[1..].iter().all(|damage| damage["problem"].as_str().unwrap().contains("without its first"))
    );
    let after: Vec<u64> =
        of_kind(&damaged, "record").iter().map(|record| record["offset"].as_u64().unwrap()).collect();
    // What follows the record in its block of 32 KiB is found by what batches look like, as a repair finds it.
    let mut expected = offsets.clone();
    expected.remove(10);
    assert_eq!(after, expected);
    assert_eq!(of_kind(&damaged, "sequence gap").len(), 1);

    let bytes = fs::read(&log).unwrap();
    let end = *offsets.last().unwrap() as usize + 9;
    fs::write(&log, &bytes[..end]).unwrap();
    let (_, torn) = items(&log);
    assert_eq!(of_kind(&torn, "unfinished")[0]["offset"], *offsets.last().unwrap());
}

#[test]
fn files_are_known_by_their_content_or_by_what_the_caller_says() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("leveldb-1.20-snappy");
    for (name, kind) in
        [(".ldb", "table"), (".log", "log"), ("MANIFEST-000002", "manifest"), ("CURRENT", "current")]
    {
        let other = scratch.path(&format!("renamed-{kind}"));
        fs::copy(file_of(&db, name), &other).unwrap();
        let (_, items) = items(&other);
        assert_eq!(items[0]["type"], kind);
    }
    let nothing = scratch.path("nothing");
    fs::write(&nothing, "no database").unwrap();
    let error = terrace([&"inspect", &nothing]).failed(2);
    assert!(error.contains("--as"), "{error}");
    let run = terrace([&"inspect", &nothing, &"--as=table"]);
    assert!(run.code == 1 && run.out.contains("DAMAGE"), "{}", run.out);
}

/// Whatever a file contains, inspect explains it and ends properly.
#[test]
fn no_damage_ends_it() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("leveldb-1.20-snappy");
    for name in ["000022.log", "000025.ldb", "MANIFEST-000002", "CURRENT", "LOCK"] {
        let path = db.join(name);
        let sound = fs::read(&path).unwrap();
        let step = (sound.len() / 40).max(1);
        for at in (0..sound.len()).step_by(step) {
            let mut bytes = sound.clone();
            match at / step % 3 {
                0 => bytes[at] ^= 0xff,
                1 => bytes.truncate(at),
                _ => bytes[at..(at + 100).min(sound.len())].fill(0),
            }
            check(&path, &bytes);
        }
        check(&path, b"");
        fs::write(&path, &sound).unwrap();
    }
}

fn check(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    let run = terrace([&"inspect", &path.to_owned(), &"--json"]);
    assert!(run.code <= 1 && run.err.is_empty(), "{}: {}", path.display(), run.err);
    run.json();
}
