//! Who must be able to read what is written: in a world of Minecraft Bedrock no writer makes a block that Minecraft cannot
//! read, and nowhere else does a writer make one that LevelDB cannot read.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::get;
use crate::support::leveldb_files::{log, manifest, table, write_database};
use terrace_engine::env::default_env;
use terrace_engine::{Compression, Db, Dialect, Options, TableFileOptions, TableFileWriter};
use terrace_format::block::{Block, BlockIter};
use terrace_format::compression::{DEFLATE_ID, NONE_ID, SNAPPY_ID, ZSTD_ID};
use terrace_format::current;
use terrace_format::table::{BlockHandle, Footer, check_block};
use terrace_format::version_edit::VersionEdit;

const KEY: &str = "~local_player";

/// The player's entry, as Bedrock writes it and as any other program may.
fn players(is_nbt: bool) -> String {
    format!("{}{}", if is_nbt { "\n\0\0" } else { "" }, "minecraft ".repeat(9))
}

fn level_dat() -> Vec<u8> {
    let nbt = b"\x0a\0\0\x08\x0d\0BiomeOverride\0\0\0";
    [&10u32.to_le_bytes()[..], &(nbt.len() as u32).to_le_bytes(), nbt].concat()
}

/// Writes a LevelDB database whose entries are all in the log.
fn write_log(directory: &Path, is_nbt: bool) {
    fs::create_dir_all(directory).unwrap();
    let value = players(is_nbt);
    let filler = "filler ".repeat(15);
    fs::write(directory.join("000003.log"), log(1, &[("chunk", &filler), (KEY, &value)])).unwrap();
    let edits = [
        VersionEdit {
            comparator: Some(b"leveldb.BytewiseComparator".to_vec()),
            log_number: Some(0),
            next_file_number: Some(2),
            last_sequence: Some(0),
            ..VersionEdit::default()
        },
        VersionEdit {
            log_number: Some(3),
            previous_log_number: Some(0),
            next_file_number: Some(4),
            last_sequence: Some(0),
            ..VersionEdit::default()
        },
    ];
    fs::write(directory.join("MANIFEST-000002"), manifest(&edits)).unwrap();
    fs::write(directory.join("CURRENT"), current::encode(2)).unwrap();
}

/// A database with one table, whose blocks are not compressed.
fn write_raw_table(directory: &Path, is_nbt: bool) {
    let value = players(is_nbt);
    let (bytes, entry) = table(5, &[(b"chunk", 1, Some(b"f")), (KEY.as_bytes(), 2, Some(value.as_bytes()))]);
    write_database(&*default_env(), directory, 2, vec![(0, bytes, entry)]);
}

fn copy_testdata(name: &str, directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), directory.join(entry.file_name())).unwrap();
    }
}

/// The kinds of databases, and whether they are Bedrock's.
const CASES: [(&str, bool); 11] = [
    ("a world whose data is in the log", true),
    ("the directory of such a world alone", true),
    ("a world that another program spoilt", true),
    ("the directory of a world whose tables are not compressed", true),
    ("bedrock-deflate", true),
    ("bedrock-zlib", true),
    ("leveldb-1.23-snappy-bloom", false),
    ("leveldb-1.23-raw", false),
    ("a database beside a level.dat of Java Edition", false),
    ("a log with a key of Bedrock and another value", false),
    ("a table with a key of Bedrock and another value", false),
];

/// Makes the database of a case in `scratch`, and returns its directory.
fn make(case: &str, scratch: &Path) -> PathBuf {
    let directory = scratch.join("db");
    match case {
        "a world whose data is in the log" => {
            write_log(&directory, false);
            fs::write(scratch.join("level.dat"), level_dat()).unwrap();
        }
        "the directory of such a world alone" => write_log(&directory, true),
        "a world that another program spoilt" => {
            copy_testdata("leveldb-1.23-snappy-bloom", &directory);
            fs::write(scratch.join("level.dat"), level_dat()).unwrap();
        }
        "the directory of a world whose tables are not compressed" => write_raw_table(&directory, true),
        "a database beside a level.dat of Java Edition" => {
            write_log(&directory, false);
            fs::write(scratch.join("level.dat"), b"\x1f\x8b\x08\0\0\0\0\0\0\0compressed").unwrap();
        }
        "a log with a key of Bedrock and another value" => write_log(&directory, false),
        "a table with a key of Bedrock and another value" => write_raw_table(&directory, false),
        name => copy_testdata(name, &directory),
    }
    directory
}

/// The tables in the directory, by name.
fn tables(directory: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.extension().is_some_and(|kind| kind == "ldb" || kind == "sst")).collect()
}

/// The compression ids of a table's blocks: index, metaindex and data.
fn ids(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let footer_at = bytes.len() - 48;
    let footer = Footer::decode(&bytes[footer_at..]).unwrap();
    let id_of = |handle: BlockHandle| {
        let range = handle.sealed_range(footer_at as u64).unwrap();
        let (id, contents) = check_block(&bytes[range.start as usize..range.end as usize]).unwrap();
        (id, contents.to_vec())
    };
    let (id, index) = id_of(footer.index);
    let mut found = vec![id, id_of(footer.metaindex).0];
    if id == NONE_ID {
        let index = Block::new(index).unwrap();
        let mut entries = BlockIter::new(&index);
        entries.seek_to_first().unwrap();
        while entries.valid() {
            found.push(id_of(BlockHandle::decode(entries.value()).unwrap().0).0);
            entries.next().unwrap();
        }
    }
    found
}

fn options(compression: Compression) -> Options {
    Options { create_if_missing: false, compression, ..Options::default() }
}

type Door = (&'static str, fn(&Path, &Path, Compression));

const DOORS: [Door; 7] = [
    ("open and close", |db, _, compression| {
        Db::open(db, options(compression)).unwrap().close().unwrap();
    }),
    ("write and flush", |db, _, compression| {
        let db = Db::open(db, options(compression)).unwrap();
        db.put(b"new", &b"new ".repeat(200), &Default::default()).unwrap();
        db.flush().unwrap();
    }),
    ("two sessions", |db, _, compression| {
        for key in [b"new 1", b"new 2"] {
            let db = Db::open(db, options(compression)).unwrap();
            db.put(key, &b"new ".repeat(200), &Default::default()).unwrap();
            db.flush().unwrap();
        }
    }),
    ("compact_range", |db, _, compression| {
        let db = Db::open(db, options(compression)).unwrap();
        db.put(b"\0new", &b"new ".repeat(200), &Default::default()).unwrap();
        db.put(b"\xffnew", &b"new ".repeat(200), &Default::default()).unwrap();
        db.compact_range(None, None).unwrap();
    }),
    ("checkpoint", |db, scratch, compression| {
        let db = Db::open(db, options(compression)).unwrap();
        db.put(b"new", &b"new ".repeat(200), &Default::default()).unwrap();
        db.checkpoint(scratch.join("checkpoint")).unwrap();
    }),
    ("ingest", |db, scratch, compression| {
        let path = scratch.join("given.table");
        let mut writer =
            TableFileWriter::create(&path, TableFileOptions { compression, ..TableFileOptions::default() })
                .unwrap();
        writer.put(b"ingested", &b"new ".repeat(200)).unwrap();
        writer.finish().unwrap();
        Db::open(db, options(compression)).unwrap().ingest(&[path]).unwrap();
    }),
    ("repair", |db, _, compression| {
        // Without a MANIFEST, every table is written again.
        for entry in fs::read_dir(db).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_string_lossy().starts_with("MANIFEST") {
                fs::remove_file(path).unwrap();
            }
        }
        Db::repair(db, &options(compression)).unwrap();
    }),
];

#[test]
fn minecraft_reads_what_any_writer_makes_of_its_world_and_leveldb_reads_all_else() {
    for (case, is_bedrocks) in CASES {
        for (door, enter) in DOORS {
            for compression in [Compression::Snappy, Compression::Zstd { level: 1 }, Compression::None] {
                let scratch = tempfile::tempdir().unwrap();
                let directory = make(case, scratch.path());
                let before: Vec<_> = tables(&directory).iter().map(|path| fs::read(path).unwrap()).collect();
                enter(&directory, scratch.path(), compression);
                let context = format!("{case}, {door}, {compression:?}");
                let checkpoint = scratch.path().join("checkpoint");
                let at_end = if checkpoint.exists() { &checkpoint } else { &directory };
                let new: Vec<_> = tables(&directory)
                    .into_iter()
                    .chain(tables(at_end))
                    .filter(|path| !before.contains(&fs::read(path).unwrap()))
                    .collect();
                let found: Vec<u8> = new.iter().flat_map(|path| ids(path)).collect();
                let allowed: &[u8] = match compression {
                    Compression::None => &[NONE_ID],
                    _ if is_bedrocks => &[NONE_ID, DEFLATE_ID],
                    Compression::Snappy => &[NONE_ID, SNAPPY_ID],
                    _ => &[NONE_ID, ZSTD_ID],
                };
                assert!(found.iter().all(|id| allowed.contains(id)), "{context}: {found:?}");
                let is_compressed = found.iter().any(|id| *id != NONE_ID);
                // Elsewhere, tables that are merged soon are not compressed.
                let must_compress = is_bedrocks && compression != Compression::None && !new.is_empty();
                assert!(is_compressed || !must_compress, "{context}: {found:?}");
                assert!(door == "open and close" || !new.is_empty(), "{context}");
                let db = Db::open(at_end, Options { read_only: true, ..options(compression) }).unwrap();
                db.verify().unwrap();
                if compression != Compression::None {
                    assert_eq!(db.dialect() == Dialect::Bedrock, is_bedrocks, "{context}");
                }
                if !case.contains("leveldb-") && !case.contains("bedrock-") && !case.contains("spoilt") {
                    let value = get(&db, KEY).unwrap();
                    assert!(value.ends_with("minecraft "), "{context}");
                }
            }
        }
    }
}

#[test]
fn the_dialect_of_the_options_counts_and_not_what_the_database_shows() {
    for (case, dialect, id) in [
        ("a world whose data is in the log", Dialect::LevelDb, SNAPPY_ID),
        ("a log with a key of Bedrock and another value", Dialect::Bedrock, DEFLATE_ID),
    ] {
        for repairs in [false, true] {
            let scratch = tempfile::tempdir().unwrap();
            let directory = make(case, scratch.path());
            let options = Options { dialect, ..options(Compression::Snappy) };
            if repairs {
                Db::repair(&directory, &options).unwrap();
            } else {
                Db::open(&directory, options).unwrap().close().unwrap();
            }
            let found: Vec<u8> = tables(&directory).iter().flat_map(|path| ids(path)).collect();
            assert!(found.contains(&id), "{case}, {found:?}");
        }
    }
}

#[test]
fn a_large_value_that_minecraft_compressed_moves_on_as_it_is() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("db");
    let options = Options { dialect: Dialect::Bedrock, ..options(Compression::Snappy) };
    let db = Db::open(&directory, Options { create_if_missing: true, ..options }).unwrap();
    let value: Vec<u8> = (0..200_000u32).map(|n| (n / 9) as u8).collect();
    for key in [b"a", b"b", b"c"] {
        db.put(key, &value, &Default::default()).unwrap();
        db.flush().unwrap();
    }
    db.compact_range(None, None).unwrap();
    let found: Vec<u8> = tables(&directory).iter().flat_map(|path| ids(path)).collect();
    assert_eq!(found.iter().filter(|id| **id == DEFLATE_ID).count(), 3, "{found:?}");
    for key in ["a", "b", "c"] {
        assert_eq!(db.get(key.as_bytes(), &Default::default()).unwrap().as_deref(), Some(&value[..]));
    }
}
