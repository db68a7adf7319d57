use std::path::Path;

use terrace_env::{Env, MemoryEnv};
use terrace_format::batch::WriteBatch;
use terrace_format::log::{Fragmentation, LogEncoder};

use super::*;

/// A log of records with the sequences from 1 on, one for each size of a value; and where each begins, the last entry
/// being the end.
fn log(value_sizes: &[usize]) -> (Vec<u8>, Vec<usize>) {
    let mut encoder = LogEncoder::new(Fragmentation::KeepWhole);
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    for (sequence, size) in (1..).zip(value_sizes) {
        let mut batch = WriteBatch::new();
        let value: Vec<u8> = (0..*size).map(|index| (index % 250) as u8 + 1).collect();
        batch.put(b"key", &value).unwrap();
        batch.set_sequence(sequence);
        let end = bytes.len();
        encoder.encode_into(batch.as_bytes(), &mut bytes);
        let padding = bytes[end..].iter().position(|byte| *byte != 0).unwrap();
        starts.push(end + padding);
    }
    starts.push(bytes.len());
    (bytes, starts)
}

fn end_of_record(bytes: &[u8], start: usize) -> usize {
    start + LOG_HEADER_SIZE_BYTES + length(bytes[start..].first_chunk().unwrap())
}

/// As a mapped log leaves it.
fn with_space(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize((bytes.len() + SPARE_BYTES).next_multiple_of(64 << 10), 0);
    bytes
}

/// What is said of the log `bytes` if its first `sound` records, which end at `end`, are sound.
fn verdict(bytes: &[u8], sound: u64, end: usize, trouble: Trouble) -> Verdict {
    let (env, path) = (MemoryEnv::new(), Path::new("/log"));
    let mut file = env.create(path).unwrap();
    file.append(bytes).unwrap();
    file.close().unwrap();
    LogRest::read(&env, path, end as u64, sound, true).unwrap().judge(trouble)
}

fn damage(offset: usize) -> Trouble {
    Trouble::Damage(offset as u64)
}

#[test]
fn a_record_whose_header_was_not_stored_is_unfinished() {
    let (bytes, starts) = log(&[100, 100, 3000]);
    let mut bytes = with_space(bytes);
    bytes[starts[2]..starts[2] + 8].fill(0);
    assert_eq!(verdict(&bytes, 2, starts[2], Trouble::Zeros), Verdict::Unfinished);
    // A log that was closed has no space behind its end, so somebody else was at it.
    assert_eq!(verdict(&bytes[..starts[3]], 2, starts[2], Trouble::Zeros), Verdict::Damage);
    // Only the end of the payload was copied.
    bytes[starts[2]..starts[2] + 1000].fill(0);
    assert_eq!(verdict(&bytes, 2, starts[2], Trouble::Zeros), Verdict::Unfinished);
}

#[test]
fn an_unfinished_record_may_follow_the_end_of_a_block() {
    let (bytes, starts) = log(&[20_000, 20_000]);
    assert_eq!(starts[1], 32 << 10);
    let mut bytes = with_space(bytes);
    bytes[starts[1]..starts[1] + 8].fill(0);
    assert_eq!(verdict(&bytes, 1, end_of_record(&bytes, 0), Trouble::Zeros), Verdict::Unfinished);
}

#[test]
fn a_zeroed_header_amid_others_is_damage() {
    let (bytes, starts) = log(&[100; 10]);
    for mut bytes in [with_space(bytes.clone()), bytes] {
        bytes[starts[5]..starts[5] + 7].fill(0);
        assert_eq!(verdict(&bytes, 5, starts[5], Trouble::Zeros), Verdict::Damage);
        bytes[starts[5]..starts[5] + 50].fill(0);
        assert_eq!(verdict(&bytes, 5, starts[5], Trouble::Zeros), Verdict::Damage);
    }
}

#[test]
fn a_page_from_before_a_header_was_stored_is_a_loss_of_power() {
    let (bytes, starts) = log(&[1000; 10]);
    let bytes = with_space(bytes);
    // The fourth record goes on in the second page; the fifth is whole.
    assert!(starts[3] < 4096 && starts[4] > 4096);
    for copied in [8, 500, 4096 - starts[3]] {
        let mut bytes = bytes.clone();
        bytes[starts[3]..starts[3] + 8].fill(0);
        bytes[starts[3] + copied..4096].fill(0);
        assert_eq!(verdict(&bytes, 3, starts[3], Trouble::Zeros), Verdict::PowerLoss, "{copied}");
    }
    // The record is wholly within a page that was written before the others came.
    let mut bytes = bytes.clone();
    bytes[starts[1]..starts[1] + 8].fill(0);
    bytes[starts[2]..4096].fill(0);
    assert_eq!(verdict(&bytes, 1, starts[1], Trouble::Zeros), Verdict::PowerLoss);
}

#[test]
fn a_payload_in_a_lost_or_old_page_is_a_loss_of_power() {
    let (bytes, starts) = log(&[3000, 3000, 3000, 100]);
    let bytes = with_space(bytes);
    assert!(starts[1] < 4096 && starts[2] > 4096);
    for (copied, end) in [(0, 8192), (1000, 8192), (starts[2] - 4096 - 1, 8192), (1000, 65_536)] {
        let mut bytes = bytes.clone();
        bytes[4096 + copied..end].fill(0);
        assert_eq!(verdict(&bytes, 1, starts[1], damage(starts[1])), Verdict::PowerLoss, "{copied}");
    }
}

#[test]
fn a_flipped_bit_is_damage_also_before_space() {
    let (bytes, starts) = log(&[100, 5000, 100, 100]);
    for bytes in [with_space(bytes.clone()), bytes] {
        for record in 0..4 {
            for at in [0, 4, 5, 20, starts[record + 1] - starts[record] - 1] {
                let mut bytes = bytes.clone();
                bytes[starts[record] + at] ^= 0x40;
                let trouble = damage(starts[record]);
                assert_eq!(verdict(&bytes, record as u64, starts[record], trouble), Verdict::Damage);
            }
        }
    }
}

#[test]
fn the_end_that_a_writer_leaves_in_a_block_shows_nothing() {
    let (bytes, starts) = log(&[10_000, 10_000, 20_000, 100]);
    assert_eq!(starts[2], 32 << 10);
    let mut damaged = bytes.clone();
    damaged[starts[1] + 50] ^= 1;
    assert_eq!(verdict(&damaged, 1, starts[1], damage(starts[1])), Verdict::Damage);
    let end = end_of_record(&bytes, starts[1]);
    let mut damaged = bytes.clone();
    damaged[starts[2] + 50] ^= 1;
    assert_eq!(verdict(&damaged, 2, end, damage(starts[2])), Verdict::Damage);
    let mut damaged = bytes;
    damaged[starts[2]..starts[2] + 30].fill(0);
    assert_eq!(verdict(&damaged, 2, end, Trouble::Zeros), Verdict::Damage);
}

#[test]
fn a_split_record_that_lost_its_middle_is_a_loss_of_power() {
    let (mut bytes, starts) = log(&[100, 100_000, 100]);
    bytes[32 << 10..36 << 10].fill(0);
    assert_eq!(verdict(&bytes, 1, starts[1], damage(starts[1])), Verdict::PowerLoss);
    let (mut bytes, starts) = log(&[100, 100_000, 100]);
    bytes[40_000] ^= 1;
    assert_eq!(verdict(&bytes, 1, starts[1], damage(starts[1])), Verdict::Damage);
}

#[test]
fn a_record_that_is_there_by_now_was_written_meanwhile() {
    let (bytes, starts) = log(&[100, 100]);
    let bytes = with_space(bytes);
    for trouble in [Trouble::Zeros, damage(starts[1])] {
        assert_eq!(verdict(&bytes, 1, starts[1], trouble), Verdict::Growing);
    }
}
