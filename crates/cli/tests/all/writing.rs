//! Commands that change a database.

use std::fs;
use std::path::Path;

use crate::support::{self, Owner, TestDirectory, file_of, snapshot, terrace, value, with_input};

#[test]
fn a_batch_is_written_whole_or_not_at_all() {
    let scratch = TestDirectory::new();
    let db = scratch.path("db");
    let lines = "put\ta\t1\r\n\nput\tb\\x00\ttwo\\nlines\n{\"type\":\"put\",\"key\":\"c\",\"value\":{\"hex\":\"ff\"}}\n\
                 del\ta\n{\"type\":\"del\",\"key\":\"nothing\"}";
    assert_eq!(with_input([&"batch", &db, &"--create"], lines.as_bytes()).ok(), "5 operations written\n");
    assert_eq!(terrace([&"scan", &db]).ok(), "b\\x00\ttwo\\nlines\nc\t\\xff\n");
    let before = snapshot(&db);
    for (wrong, line) in
        [("put\tx\t1\nput\tx", 2), ("set\tx\t1", 1), ("put\t\\q\t1", 1), ("{\"key\":\"a\"", 1)]
    {
        let error = with_input([&"batch", &db], wrong.as_bytes()).failed(2);
        assert!(error.contains(&format!("line {line}: ")), "{error}");
        assert_eq!(snapshot(&db), before, "{wrong}");
    }
}

#[test]
fn keys_and_ranges_are_removed() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(100);
    terrace([&"del", &db, &"00007", &"nothing", &"00008"]).ok();
    assert_eq!(terrace([&"count", &db]).ok(), "98\n");
    assert_eq!(terrace([&"del", &db, &"--prefix", &"0005"]).ok(), "10 removed\n");
    assert_eq!(terrace([&"count", &db]).ok(), "88\n");
    terrace([&"del", &db]).failed(2);
    terrace([&"del", &db, &"a", &"--prefix", &"b"]).failed(2);
    assert_eq!(terrace([&"del", &db, &"--prefix", &""]).ok(), "88 removed\n");
    assert_eq!(terrace([&"scan", &db]).ok(), "");
}

#[test]
fn compacting_gives_space_back() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(5000);
    let size = |db: &std::path::PathBuf| {
        terrace([&"stats", db, &"--json"]).json()[0]["table_bytes"].as_u64().unwrap()
    };
    let before = size(&db);
    terrace([&"del", &db, &"--gte", &"00500"]).ok();
    let output = terrace([&"compact", &db]).ok();
    assert!(size(&db) * 5 < before, "{output}");
    assert_eq!(terrace([&"count", &db]).ok(), "500\n");
    assert_eq!(terrace([&"get", &db, &"00499"]).ok(), format!("{}\n", value(499)));
}

#[test]
fn copies_checkpoints_and_ingested_tables_hold_the_same() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(300);
    let (copy, checkpoint, ingested) =
        (scratch.path("copy"), scratch.path("checkpoint"), scratch.path("ingested"));
    terrace([&"copy", &db, &copy, &"--compression=zstd"]).ok();
    terrace([&"checkpoint", &db, &checkpoint]).ok();
    terrace([&"ingest", &ingested, &file_of(&db, ".ldb"), &"--create"]).ok();
    for other in [&copy, &checkpoint, &ingested] {
        assert_eq!(terrace([&"diff", &db, other]).ok(), "");
        terrace([&"verify", other]).ok();
    }
    terrace([&"copy", &db, &copy]).failed(3);
    terrace([&"checkpoint", &db, &copy]).failed(3);
    let part = scratch.path("part");
    assert!(terrace([&"copy", &db, &part, &"--prefix", &"0001"]).ok().starts_with("10 entries"));
}

#[test]
fn differences_are_printed_and_told_by_the_exit_code() {
    let scratch = TestDirectory::new();
    let (a, b) = (scratch.path("a"), scratch.path("b"));
    with_input([&"batch", &a, &"--create"], b"put\tboth\t1\nput\tfirst\t2\nput\tother\t3\n").ok();
    with_input([&"batch", &b, &"--create"], b"put\tboth\t1\nput\tother\t4\nput\tsecond\t5\n").ok();
    let run = terrace([&"diff", &a, &b]);
    assert_eq!((run.code, &*run.out), (1, "- first\t2\n~ other\t3\t4\n+ second\t5\n"));
    let json = terrace([&"diff", &a, &b, &"--json", &"--limit=2"]).json();
    assert_eq!(json[0], serde_json::json!({"difference": "first", "key": "first", "first": "2"}));
    assert_eq!(
        json[1],
        serde_json::json!({"difference": "value", "key": "other", "first": "3", "second": "4"})
    );
    assert_eq!(json.len(), 2);
    let quiet = terrace([&"diff", &a, &b, &"--quiet"]);
    assert_eq!((quiet.code, &*quiet.out), (1, ""));
    assert_eq!(terrace([&"diff", &a, &b, &"--lte", &"both"]).ok(), "");
}

#[test]
fn a_database_in_use_is_not_changed_and_its_user_is_named() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(10);
    let mut owner = Owner::of(&db);
    owner.put("a", "b");
    let before = snapshot(&db);
    let target = scratch.path("target");
    for run in [
        terrace([&"put", &db, &"a", &"c"]),
        terrace([&"put", &db, &"a", &"c", &"--create"]),
        terrace([&"del", &db, &"a"]),
        with_input([&"batch", &db], b"put\ta\tc\n"),
        with_input([&"import", &db], b"{\"key\":\"a\",\"value\":\"c\"}\n"),
        terrace([&"compact", &db]),
        terrace([&"repair", &db]),
        terrace([&"destroy", &db, &"--yes"]),
        terrace([&"checkpoint", &db, &target]),
        terrace([&"shell", &db, &"--write"]),
    ] {
        let error = run.failed(4);
        let process = format!("process {}", owner.process());
        // Only Linux tells more than the number.
        let is_named = !cfg!(target_os = "linux") || error.contains("terrace)");
        assert!(error.contains(&process) && is_named, "{error}");
    }
    assert_eq!(snapshot(&db), before);
    assert!(!target.exists());
}

#[test]
fn a_database_is_destroyed_only_when_told_so() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(10);
    fs::write(db.join("notes.txt"), "mine").unwrap();
    let error = terrace([&"destroy", &db]).failed(2);
    assert!(error.contains("--yes"), "{error}");
    assert_eq!(terrace([&"count", &db]).ok(), "10\n");
    terrace([&"destroy", &db, &"--yes"]).ok();
    assert_eq!(fs::read_dir(&db).unwrap().count(), 1, "only what is not the database's stays");
}

#[test]
fn a_directory_that_never_held_a_database_is_not_destroyed() {
    let scratch = TestDirectory::new();
    let db = scratch.path("logs");
    fs::create_dir(&db).unwrap();
    for name in ["2024.log", "20241231.log"] {
        fs::write(db.join(name), "an application's").unwrap();
    }
    let error = terrace([&"destroy", &db, &"--yes"]).failed(3);
    assert!(error.contains("there is no database"), "{error}");
    assert_eq!(fs::read_dir(&db).unwrap().count(), 2);
}

#[test]
fn a_bedrock_world_gets_no_block_that_minecraft_cannot_read() {
    let scratch = TestDirectory::new();
    let table_bytes = |db: &Path| {
        let sizes = fs::read_dir(db).unwrap().map(|entry| entry.unwrap());
        let tables = sizes.filter(|entry| entry.path().extension().is_some_and(|kind| kind == "ldb"));
        tables.map(|entry| entry.metadata().unwrap().len()).sum::<u64>()
    };
    for name in ["bedrock-deflate", "bedrock-zlib"] {
        for command in ["compact", "copy", "checkpoint", "repair"] {
            let scratch = TestDirectory::new();
            let db = scratch.copy(name);
            let before = table_bytes(&db);
            terrace([&"put", &db, &"new", &"x".repeat(10_000)]).ok();
            let mut changed = db.clone();
            match command {
                "copy" | "checkpoint" => {
                    changed = scratch.path("target");
                    terrace([&command, &db, &changed]).ok();
                }
                "repair" => {
                    fs::remove_file(db.join("CURRENT")).unwrap();
                    terrace([&command, &db]);
                }
                _ => drop(terrace([&command, &db]).ok()),
            }
            let blocks = terrace([&"inspect", &changed, &"--detail=parts", &"--json"]).json();
            let blocks: Vec<_> = blocks.iter().filter(|item| item["kind"] == "block").collect();
            let is = |block: &serde_json::Value, kind: &str| {
                block["compression"].as_str().unwrap().starts_with(kind)
            };
            assert!(blocks.len() > 10);
            assert!(!blocks.iter().any(|block| is(block, "snappy")), "{name}, {command}");
            assert!(blocks.iter().any(|block| is(block, "deflate")), "{name}, {command}");
            let after = table_bytes(&changed);
            assert!(after < before * 3 / 2, "{name}, {command}: {before} bytes became {after}");
        }
    }
    let db = scratch.copy("leveldb-1.20-snappy");
    terrace([&"put", &db, &"new", &"x".repeat(10_000), &"--dialect=bedrock"]).ok();
    terrace([&"compact", &db]).ok();
    assert!(terrace([&"inspect", &db, &"--detail=parts"]).ok().contains("snappy"));
}

#[test]
fn an_indexed_db_keeps_its_order_when_it_is_written() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit1-closed/indexeddb");
    let count: u64 = terrace([&"count", &db]).ok().trim().parse().unwrap();
    // A record of database 9, object store 1: number 10, which comes after 2 by value and before it by bytes.
    for (key, value) in [("0009010103000000000000 2440", "ten"), ("00090101030000000000000040", "two")] {
        terrace([&"put", &db, &key, &value, &"--key-format=hex"]).ok();
    }
    let options: [&dyn support::AsArgument; 5] =
        [&"scan", &db, &"--key-format=hex", &"--prefix=00090101", &"--values"];
    assert_eq!(terrace(options).ok(), "two\nten\n");
    assert_eq!(terrace([&"count", &db]).ok().trim().parse(), Ok(count + 2));
    terrace([&"verify", &db]).ok();
    let made = scratch.path("made");
    terrace([&"put", &made, &"\\x00\\x00\\x00\\x00\\x00", &"1", &"--create", &"--comparator=idb_cmp1"]).ok();
    assert!(terrace([&"stats", &made]).ok().contains("idb_cmp1"));
}
