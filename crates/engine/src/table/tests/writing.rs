//! What the builder refuses, what it writes, and what it does when the file fails.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use terrace_env::{EnvError, WritableFile};
use terrace_format::compression::Compression;
use terrace_format::internal_key::ValueKind;
use terrace_format::limits::{BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES};
use terrace_format::table::{BlockHandle, Footer, filter_metaindex_key};

use super::support::*;
use crate::error::ErrorKind;
use crate::table::{TableBuilder, TableBuilderOptions};

/// A file on which one call fails. The calls after it succeed, so that no later call reports the failure.
#[derive(Default)]
struct FailingFile {
    calls: Arc<AtomicUsize>,
    failing_call: Option<usize>,
}

impl FailingFile {
    fn call(&mut self) -> terrace_env::Result<()> {
        if self.failing_call == Some(self.calls.fetch_add(1, Ordering::Relaxed)) {
            return Err(EnvError::new("write", "/test.ldb", std::io::Error::other("the cable is cut")));
        }
        Ok(())
    }
}

impl WritableFile for FailingFile {
    fn append(&mut self, _bytes: &[u8]) -> terrace_env::Result<()> {
        self.call()
    }

    fn flush(&mut self) -> terrace_env::Result<()> {
        self.call()
    }

    fn sync(&mut self) -> terrace_env::Result<()> {
        self.call()
    }

    fn size_bytes(&self) -> u64 {
        0
    }

    fn close(mut self: Box<Self>) -> terrace_env::Result<()> {
        self.call()
    }
}

fn builder(file: FailingFile) -> TableBuilder {
    TableBuilder::new(Box::new(file), PathBuf::from("/test.ldb"), bytewise(), options())
}

#[test]
fn every_failure_of_the_file_reaches_the_caller() {
    let entries = bytewise_entries(8, 30);
    let write = |failing_call| {
        let calls = Arc::new(AtomicUsize::new(0));
        let mut builder = builder(FailingFile { calls: calls.clone(), failing_call });
        for (key, value) in &entries {
            if let Err(error) = builder.add(key, value) {
                // The file has a hole: nothing may succeed from now on.
                assert!(builder.add(&key_after(&entries), b"").is_err());
                assert!(builder.finish().is_err());
                return Err(error);
            }
        }
        builder.finish().map(|_| calls.load(Ordering::Relaxed))
    };
    // Each block takes two appends; then footer, sync and close.
    let all_calls = write(None).unwrap();
    assert!(all_calls > 20);
    for call in 0..all_calls {
        let error = write(Some(call)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("the cable is cut"), "{error}");
    }
}

fn key_after(entries: &Entries) -> Vec<u8> {
    [&entries.last().unwrap().0[..], b"zzzzzzzz\x01\0\0\0\0\0\0\0"].concat()
}

#[test]
fn keys_out_of_order_are_refused_without_harm() {
    let mut builder = builder(FailingFile::default());
    let version = |sequence, kind| internal_key(b"k", sequence, kind);
    builder.add(&version(5, ValueKind::Value), b"").unwrap();
    let refused = [
        version(5, ValueKind::Value),
        version(6, ValueKind::Deletion),
        internal_key(b"j", 1, ValueKind::Value),
        b"short".to_vec(),
        b"unknown kind\x07\0\0\0\0\0\0\0".to_vec(),
    ];
    for key in refused {
        let error = builder.add(&key, b"").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
    builder.add(&version(5, ValueKind::Deletion), b"").unwrap();
    builder.add(&version(4, ValueKind::Value), b"x").unwrap();
    assert_eq!(builder.entries(), 3);
    let finished = builder.finish().unwrap();
    assert_eq!((finished.counts.entries, finished.counts.deletions), (3, 1));
    assert_eq!((finished.counts.raw_key_bytes, finished.counts.raw_value_bytes), (27, 1));
}

#[test]
fn the_estimate_grows_to_about_the_size_of_the_file() {
    let mut builder = builder(FailingFile::default());
    let mut last = builder.estimated_size_bytes();
    assert_eq!(last, 0);
    for number in 0..500 {
        builder.add(&key(format!("{number:05}").as_bytes()), &[b'v'; 50]).unwrap();
        let estimate = builder.estimated_size_bytes();
        assert!(estimate >= last);
        last = estimate;
    }
    let size_bytes = builder.finish().unwrap().size_bytes;
    assert!(last < size_bytes && last > size_bytes / 2, "{last} estimated, {size_bytes} written");
}

#[test]
fn the_file_is_laid_out_as_leveldb_expects() {
    let entries = bytewise_entries(9, 80);
    let (bytes, _) = build(&entries, &bytewise(), options());
    let footer = Footer::decode(&bytes[bytes.len() - FOOTER_SIZE_BYTES..]).unwrap();

    let index = block_at(&bytes, footer.index);
    let separators = entries_of(&index);
    // LevelDB's index has a restart point for every entry.
    let restart_count = u32::from_le_bytes(*index.contents().last_chunk().unwrap());
    assert_eq!(restart_count as usize, separators.len());
    assert!(separators.len() > 5);

    // Blocks lie back to back from the start, and each separator lies between its blocks.
    let mut offset = 0;
    let mut rest = &entries[..];
    for (separator, value) in &separators {
        let (handle, after) = BlockHandle::decode(value).unwrap();
        assert_eq!((handle.offset, after.len()), (offset, 0));
        offset += handle.size + BLOCK_TRAILER_SIZE_BYTES as u64;
        let block = entries_of(&block_at(&bytes, handle));
        assert_eq!(block, rest[..block.len()]);
        rest = &rest[block.len()..];
        assert!(bytewise().compare(separator, &block.last().unwrap().0).is_ge());
        assert!(rest.is_empty() || bytewise().compare(separator, &rest[0].0).is_lt());
    }
    assert!(rest.is_empty());

    let names: Vec<_> =
        entries_of(&block_at(&bytes, footer.metaindex)).into_iter().map(|(name, _)| name).collect();
    let expected = [&b"filter.leveldb.BuiltinBloomFilter2"[..], b"terrace.counts", b"terrace.hash-index"];
    assert_eq!(names, expected);
    assert!(names.is_sorted());
}

#[test]
fn a_table_without_a_filter_says_so_to_readers_that_take_the_next_entry_for_one() {
    let options = TableBuilderOptions { filter_bits_per_key: 0, ..options() };
    let entries: Entries = [(key(b"key"), b"value".to_vec())].into();
    let (bytes, _) = build(&entries, &bytewise(), options);
    let footer = Footer::decode(&bytes[bytes.len() - FOOTER_SIZE_BYTES..]).unwrap();
    let metaindex = entries_of(&block_at(&bytes, footer.metaindex));
    let next = metaindex.iter().find(|(name, _)| &name[..] >= filter_metaindex_key()).unwrap();
    assert_eq!(next, &(b"filter.terrace.none".to_vec(), vec![0, 0]));
    assert!(metaindex.is_sorted());
}

#[test]
fn separators_are_shortened() {
    let options = TableBuilderOptions { block_size_bytes: 1, ..options() };
    let entries: Entries = [&b"the quick brown fox"[..], b"the slow brown bear", b"unicorn"]
        .map(|user_key| (key(user_key), Vec::new()))
        .into();
    let (bytes, _) = build(&entries, &bytewise(), options);
    let footer = Footer::decode(&bytes[bytes.len() - FOOTER_SIZE_BYTES..]).unwrap();
    let separators = entries_of(&block_at(&bytes, footer.index));
    let lengths: Vec<_> = separators.iter().map(|(separator, _)| separator.len() - 8).collect();
    assert_eq!(lengths, [5, 19, 1], "{separators:?}");
}

#[test]
fn a_block_that_does_not_compress_is_stored_uncompressed() {
    let random = &mut Random::new(4);
    let noise: Vec<u8> = (0..5_000).map(|_| random.below(256) as u8).collect();
    let entries = vec![(key(b"a"), noise.clone()), (key(b"b"), vec![0; 5_000])];
    let options =
        TableBuilderOptions { compression: Compression::Snappy, filter_bits_per_key: 0, ..options() };
    let (bytes, _) = build(&entries, &bytewise(), options);
    assert!(bytes.len() > 5_000 && bytes.len() < 6_000, "{}", bytes.len());
    assert!(bytes.windows(noise.len()).any(|window| window == noise));
}
