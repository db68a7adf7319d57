//! Writes the seeds in `fuzz/corpus`: the hex examples of `docs/format`, small files of `testdata`, and inputs made
//! here for cases that neither has. Run it in `fuzz`: `cargo run --package terrace-fuzz --bin terrace-fuzz-seeds`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_engine::env::pooled::Handles;
use terrace_engine::env::simulated::SimulatedHandles;
use terrace_engine::env::{Env, MemoryEnv, PooledEnv};
use terrace_engine::{Compression, TableFileOptions, TableFileWriter};
use terrace_format::log::{LogEvent, LogReader};

const MAX_SEED_SIZE_BYTES: usize = 4096;
const MAX_RECORDS_FROM_A_FILE: usize = 3;

/// The target for the examples whose name begins like this. Other examples are not the whole input of a decoder.
const TARGETS_BY_EXAMPLE: &[(&str, &str)] = &[
    ("internal-key-", "table_parts"),
    ("batch-", "batch"),
    ("block-handle", "table_parts"),
    ("block-trailer", "table_parts"),
    ("block", "block"),
    ("empty-block", "block"),
    ("damaged-block", "block"),
    ("snappy", "decompress"),
    ("zstd", "decompress"),
    ("zlib", "decompress"),
    ("lz4-of-basho", "decompress"),
    ("raw-deflate", "decompress"),
    ("bloom-filter", "filter"),
    ("filter-block-", "filter"),
    ("log-", "log_reader"),
    ("manifest-", "log_reader"),
    ("footer", "table_parts"),
    ("table-counts", "table_parts"),
    ("whole-table", "table_file"),
    ("edit-", "version_edit"),
    ("current", "current"),
];

const TABLES: &[&str] = &["leveldb-1.23-snappy-bloom/000017.ldb", "leveldb-sst/000017.sst"];
const MANIFESTS: &[&str] = &["leveldb-1.20-snappy/MANIFEST-000002", "bedrock-zlib/MANIFEST-000004"];
const LOGS: &[&str] = &[
    "chromium/visit1-closed/session-storage/000003.log",
    "chromium/visit1-closed/shared-proto-db-metadata/000003.log",
];

const NAMES: &[&str] = &[
    "000005.ldb",
    "000007.sst",
    "000003.log",
    "000009.dbtmp",
    "MANIFEST-000002",
    "LOG.old",
    "18446744073709551615.log",
];

fn main() -> io::Result<()> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let seeds = Seeds { corpus: fuzz.join("corpus") };
    seeds.write_examples(&fuzz.join("../docs/format"))?;
    seeds.write_files(&fuzz.join("../testdata"))?;
    seeds.write_made()
}

struct Seeds {
    corpus: PathBuf,
}

impl Seeds {
    fn write(&self, target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        assert!(bytes.len() <= MAX_SEED_SIZE_BYTES, "{target}/{name} has {} bytes", bytes.len());
        let directory = self.corpus.join(target);
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(name), bytes)
    }

    fn write_examples(&self, docs: &Path) -> io::Result<()> {
        let mut keys = Vec::new();
        for entry in fs::read_dir(docs)? {
            for (name, bytes) in examples(&fs::read_to_string(entry?.path())?) {
                if name.starts_with("idb-") {
                    keys.push((name, bytes));
                } else if let Some((_, target)) =
                    TARGETS_BY_EXAMPLE.iter().find(|(prefix, _)| name.starts_with(prefix))
                {
                    let is_log = *target == "log_reader";
                    let seed = if is_log { log_at_start(&bytes) } else { bytes };
                    // Some examples show at full length how a record continues beyond a block.
                    if seed.len() <= MAX_SEED_SIZE_BYTES {
                        self.write(target, &name, &seed)?;
                    }
                }
            }
        }
        keys.sort();
        for keys in keys.windows(3) {
            if let [(name, first), (_, second), (_, third)] = keys {
                self.write("idb_order", name, &three_keys(first, second, third))?;
            }
        }
        Ok(())
    }

    fn write_files(&self, testdata: &Path) -> io::Result<()> {
        for path in TABLES {
            self.write("table_file", &path.replace('/', "-"), &fs::read(testdata.join(path))?)?;
        }
        for (paths, record_target) in [(MANIFESTS, "version_edit"), (LOGS, "batch")] {
            for path in paths {
                let name = path.replace('/', "-");
                let file = fs::read(testdata.join(path))?;
                self.write("log_reader", &name, &log_at_start(&file))?;
                let mut reader = LogReader::new(&file[..]);
                for number in 0..MAX_RECORDS_FROM_A_FILE {
                    let Ok(LogEvent::Record { payload, .. }) = reader.next() else { break };
                    self.write(record_target, &format!("{name}-{number}"), payload)?;
                }
            }
        }
        Ok(())
    }

    fn write_made(&self) -> io::Result<()> {
        for name in NAMES {
            self.write("file_name", name, name.as_bytes())?;
        }
        for (name, compression, block_size_bytes) in [
            ("one-block", Compression::None, 4096),
            ("many-blocks", Compression::None, 64),
            ("snappy-blocks", Compression::Snappy, 256),
            ("zstd-blocks", Compression::Zstd { level: 1 }, 256),
        ] {
            self.write("table_file", name, &table(compression, block_size_bytes))?;
        }
        // Records around the ends of blocks: where the log begins, and their lengths.
        for (name, numbers) in [
            ("lengths-around-a-block", [0, 32_761, 0, 32_760, 1, 7]),
            ("lengths-at-the-end-of-a-block", [32_755, 6, 0, 65_535, 32_761, 32_754]),
        ] {
            self.write("log_reader", name, &numbers.map(u16::to_le_bytes).concat())?;
        }
        let copy = pool_map();
        self.write("pool_map", "first-copy", &[&[0], &copy[..]].concat())?;
        // The target makes a copy of a generation and names.
        let (magic, generation, length, checksum) = (8, 8, 4, 4);
        let names = &copy[magic + generation + length..copy.len() - checksum];
        self.write("pool_map", "names", &[&[1], &copy[magic..magic + generation], names].concat())?;
        for (seed, size_bytes) in [(1, 60), (2, 120), (3, 240), (4, 480)] {
            self.write("history", &format!("drawn-{seed}"), &drawn_bytes(seed, size_bytes))?;
        }
        Ok(())
    }
}

/// The target's input is the place in a block where the log begins, and then the log.
fn log_at_start(log: &[u8]) -> Vec<u8> {
    [&[0, 0], log].concat()
}

fn three_keys(first: &[u8], second: &[u8], third: &[u8]) -> Vec<u8> {
    [&[0, first.len() as u8], first, &[second.len() as u8], second, third].concat()
}

fn table(compression: Compression, block_size_bytes: usize) -> Vec<u8> {
    let env = Arc::new(MemoryEnv::with_steps());
    let options = TableFileOptions {
        env: Arc::<MemoryEnv>::clone(&env),
        compression,
        block_size_bytes,
        block_restart_interval: 3,
        ..TableFileOptions::default()
    };
    let entries: BTreeMap<String, String> =
        (0..24).map(|number| (format!("key{number:04}"), "value ".repeat(number))).collect();
    let mut writer = TableFileWriter::create("/table.ldb", options).expect("memory has room");
    for (key, value) in &entries {
        let written = if value.len() == 6 {
            writer.delete(key.as_bytes())
        } else {
            writer.put(key.as_bytes(), value.as_bytes())
        };
        written.expect("the keys ascend");
    }
    writer.finish().expect("memory has room");
    env.read_file(Path::new("/table.ldb")).expect("it was written just now")
}

/// A copy of the map of a pool with files and directories.
fn pool_map() -> Vec<u8> {
    let handles = SimulatedHandles::new(0, 4);
    let env = PooledEnv::open(Arc::new(handles.clone())).expect("it is new");
    env.create_directory_all(Path::new("lost/more")).expect("the map has room");
    env.create(Path::new("lost/000003.log")).expect("a file is free");
    env.replace_file(Path::new("CURRENT"), b"MANIFEST-000002\n", Path::new("000002.dbtmp"))
        .expect("a file is free");
    let mut copy = vec![0; MAX_SEED_SIZE_BYTES];
    handles.read_at(0, 0, &mut copy).expect("it was written just now");
    let end = copy.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    copy.truncate(end);
    copy
}

/// The same bytes for the same seed, from the generator splitmix64.
fn drawn_bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as u8
    };
    (0..count).map(|_| draw()).collect()
}

/// Name and bytes of each hex example in a document of `docs/format`, whose README describes the notation.
fn examples(document: &str) -> Vec<(String, Vec<u8>)> {
    let mut examples = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("```hex name=") else { continue };
        let body = lines.by_ref().take_while(|line| !line.starts_with("```"));
        let bytes = body.flat_map(|line| {
            line.split('#').next().unwrap_or_default().split_whitespace().flat_map(|word| {
                let (digits, count) = word.split_once('*').unwrap_or((word, "1"));
                let byte = u8::from_str_radix(digits, 16).expect("two hex digits");
                std::iter::repeat_n(byte, count.parse().expect("a count"))
            })
        });
        examples.push((name.trim().to_owned(), bytes.collect()));
    }
    examples
}
