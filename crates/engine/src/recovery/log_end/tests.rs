use std::path::Path;

use terrace_env::{Env, MemoryEnv};
use terrace_format::batch::WriteBatch;
use terrace_format::log::{Fragment, LogEncoder, LogEvent, LogReader};

use super::*;

/// A log of records with ascending sequences from 1, one for each value, and where each record begins. The last entry
/// is the end.
fn log_of(values: &[Vec<u8>]) -> (Vec<u8>, Vec<usize>) {
    let mut encoder = LogEncoder::new();
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    for (sequence, value) in (1..).zip(values) {
        let mut batch = WriteBatch::new();
        batch.put(b"key", value).unwrap();
        batch.set_sequence(sequence);
        let end = bytes.len();
        encoder.encode_into(batch.as_bytes(), &mut bytes);
        let padding = bytes[end..].iter().position(|byte| *byte != 0).unwrap();
        starts.push(end + padding);
    }
    starts.push(bytes.len());
    (bytes, starts)
}

/// A log of values of these sizes, without zeros.
fn log(value_sizes: &[usize]) -> (Vec<u8>, Vec<usize>) {
    let value = |size: &usize| (0..*size).map(|index| (index % 250) as u8 + 1).collect();
    log_of(&value_sizes.iter().map(value).collect::<Vec<_>>())
}

fn end_of_record(bytes: &[u8], start: usize) -> usize {
    start + Fragment::parse(&bytes[start..]).unwrap().size_bytes()
}

/// Pads the log with zeros, as a mapped log does.
fn with_space(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(LOG_BLOCK_SIZE_BYTES), 0);
    bytes
}

/// The log_end on the log `bytes` if its first `sound` records, which end at `end`, are sound.
fn log_end(bytes: &[u8], sound: u64, end: usize, trouble: Trouble) -> LogEnd {
    let (env, path) = (MemoryEnv::new(), Path::new("/log"));
    let mut file = env.create(path).unwrap();
    file.append(bytes).unwrap();
    file.close().unwrap();
    let file = env.open_random(path).unwrap();
    let sequences = Sequences { last: sound, are_contiguous: true };
    LogRest { file: &*file, sound_end: end as u64, sequences }.judge(trouble).unwrap()
}

/// The log_end on whatever a reader meets after the first `sound` records.
fn verdict_of(bytes: &[u8], sound: u64) -> LogEnd {
    let mut reader = LogReader::new(bytes);
    let mut end = 0;
    for _ in 0..sound {
        assert!(matches!(reader.next().unwrap(), LogEvent::Record { .. }));
        end = reader.end_of_last_record();
    }
    let trouble = match reader.next().unwrap() {
        LogEvent::Damage { offset, .. } => Trouble::Damage { record: offset, at: reader.damaged_at() },
        LogEvent::End | LogEvent::Record { .. } => Trouble::Zeros,
        LogEvent::TornTail { .. } => panic!("the file ends within a record"),
    };
    log_end(bytes, sound, end as usize, trouble)
}

fn damage(offset: usize) -> Trouble {
    Trouble::Damage { record: offset as u64, at: offset as u64 }
}

#[test]
fn a_record_whose_header_was_not_stored_is_unfinished() {
    let (bytes, starts) = log(&[100, 100, 3000]);
    let mut bytes = with_space(bytes);
    bytes[starts[2]..starts[2] + 8].fill(0);
    assert_eq!(log_end(&bytes, 2, starts[2], Trouble::Zeros), LogEnd::Unfinished);
    // A process always leaves space after the end of the log. A loss of power may not, because the log's size and its
    // pages reach the disk separately.
    assert_eq!(log_end(&bytes[..starts[3]], 2, starts[2], Trouble::Zeros), LogEnd::PowerLoss);
    // Only the end of the payload was copied.
    bytes[starts[2]..starts[2] + 1000].fill(0);
    assert_eq!(log_end(&bytes, 2, starts[2], Trouble::Zeros), LogEnd::Unfinished);
}

#[test]
fn an_unfinished_record_may_follow_the_end_of_a_block() {
    let (bytes, starts) = log(&[32_768 - 7 - 12 - 1 - 4 - 3 - 4, 20_000]);
    assert_eq!((starts[1], end_of_record(&bytes, 0)), (32 << 10, (32 << 10) - 4));
    let mut bytes = with_space(bytes);
    bytes[starts[1]..starts[1] + 8].fill(0);
    assert_eq!(log_end(&bytes, 1, end_of_record(&bytes, 0), Trouble::Zeros), LogEnd::Unfinished);
}

#[test]
fn a_zeroed_header_amid_others_is_damage() {
    let (bytes, starts) = log(&[100; 10]);
    for mut bytes in [with_space(bytes.clone()), bytes] {
        bytes[starts[5]..starts[5] + 7].fill(0);
        assert_eq!(log_end(&bytes, 5, starts[5], Trouble::Zeros), LogEnd::Damage);
        bytes[starts[5]..starts[5] + 50].fill(0);
        assert_eq!(log_end(&bytes, 5, starts[5], Trouble::Zeros), LogEnd::Damage);
    }
}

#[test]
fn a_page_from_before_a_header_was_stored_is_a_loss_of_power() {
    let (bytes, starts) = log(&[1000; 10]);
    let bytes = with_space(bytes);
    // The fourth record continues in the second page; the fifth is whole.
    assert!(starts[3] < 4096 && starts[4] > 4096);
    for copied in [8, 500, 4096 - starts[3]] {
        let mut bytes = bytes.clone();
        bytes[starts[3]..starts[3] + 8].fill(0);
        bytes[starts[3] + copied..4096].fill(0);
        assert_eq!(log_end(&bytes, 3, starts[3], Trouble::Zeros), LogEnd::PowerLoss, "{copied}");
    }
    // The record is wholly within a page that was written before the others came.
    let mut bytes = bytes.clone();
    bytes[starts[1]..starts[1] + 8].fill(0);
    bytes[starts[2]..4096].fill(0);
    assert_eq!(log_end(&bytes, 1, starts[1], Trouble::Zeros), LogEnd::PowerLoss);
}

#[test]
fn a_payload_in_a_lost_or_old_page_is_a_loss_of_power() {
    let (bytes, starts) = log(&[3000, 3000, 3000, 100]);
    let bytes = with_space(bytes);
    assert!(starts[1] < 4096 && starts[2] > 4096);
    for (copied, end) in [(0, 8192), (1000, 8192), (starts[2] - 4096 - 1, 8192), (1000, 32_768)] {
        let mut bytes = bytes.clone();
        bytes[4096 + copied..end].fill(0);
        assert_eq!(log_end(&bytes, 1, starts[1], damage(starts[1])), LogEnd::PowerLoss, "{copied}");
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
                assert_eq!(log_end(&bytes, record as u64, starts[record], trouble), LogEnd::Damage);
            }
        }
    }
}

#[test]
fn a_split_record_that_lost_its_middle_is_a_loss_of_power() {
    let (mut bytes, _) = log(&[100, 100_000, 100]);
    bytes[32 << 10..36 << 10].fill(0);
    assert_eq!(verdict_of(&bytes, 1), LogEnd::PowerLoss);
    let (mut bytes, _) = log(&[100, 100_000, 100]);
    bytes[40_000] ^= 1;
    assert_eq!(verdict_of(&bytes, 1), LogEnd::Damage);
}

#[test]
fn a_record_that_lost_its_first_fragment_is_a_loss_of_power() {
    let (mut bytes, starts) = log(&[28_000, 20_000, 100]);
    assert!(starts[1] < 32 << 10 && starts[2] > 32 << 10);
    bytes[starts[1]..32 << 10].fill(0);
    assert_eq!(verdict_of(&bytes, 1), LogEnd::PowerLoss);
}

#[test]
fn a_flipped_bit_is_damage_though_the_value_holds_sectors_of_zeros() {
    let (bytes, starts) = log_of(&vec![vec![0; 1500]; 30]);
    for bytes in [with_space(bytes.clone()), bytes] {
        for at in (starts[5]..starts[6]).step_by(11).chain(starts[5]..starts[5] + 40) {
            for bit in [0, 5] {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                assert_eq!(verdict_of(&bytes, 5), LogEnd::Damage, "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn a_record_whose_header_was_not_stored_may_hold_a_log() {
    // The records of the inner log continue the sequences where the record that holds them begins.
    let inner = |first: u64, count: u64| {
        let mut encoder = LogEncoder::new();
        let mut bytes = Vec::new();
        for sequence in first..first + count {
            let mut batch = WriteBatch::new();
            batch.put(b"inner", &[7; 300]).unwrap();
            batch.set_sequence(sequence);
            encoder.encode_into(batch.as_bytes(), &mut bytes);
        }
        bytes
    };
    for first in [1, 2, 3, 4] {
        let (bytes, starts) = log_of(&[vec![1; 100], inner(first, 40)]);
        let mut bytes = with_space(bytes);
        bytes[starts[1]..starts[1] + 8].fill(0);
        assert_eq!(verdict_of(&bytes, 1), LogEnd::Unfinished, "from sequence {first} on");
        // The record continues in the next block, which was never written.
        let (bytes, starts) = log_of(&[vec![1; 100], inner(first, 100), vec![2; 100]]);
        let mut bytes = bytes[..32 << 10].to_vec();
        bytes[starts[1]..starts[1] + 8].fill(0);
        assert_eq!(verdict_of(&bytes, 1), LogEnd::Unfinished, "from sequence {first} on");
        // The page that holds its header is older than the others.
        let (mut bytes, starts) = log_of(&[vec![1; 100], inner(first, 100), vec![2; 100]]);
        bytes[starts[1]..starts[1] + 8].fill(0);
        assert_eq!(verdict_of(&bytes, 1), LogEnd::PowerLoss, "from sequence {first} on");
    }
}

#[test]
fn a_record_that_is_there_by_now_was_written_meanwhile() {
    let (bytes, starts) = log(&[100, 100]);
    let bytes = with_space(bytes);
    for trouble in [Trouble::Zeros, damage(starts[1])] {
        assert_eq!(log_end(&bytes, 1, starts[1], trouble), LogEnd::Growing);
    }
}
