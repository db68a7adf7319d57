use proptest::prelude::*;
use terrace_env::MemoryEnv;
use terrace_format::log::LogEncoder;

use super::*;

/// Finds every payload plausible that begins with an `r`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Collected {
    records: Vec<Vec<u8>>,
    /// The offset and the lost bytes of each.
    damage: Vec<(u64, u64)>,
    zeros: Vec<(u64, u64)>,
    tail: Option<(u64, u64)>,
}

impl LogVisitor for Collected {
    fn take(&mut self, piece: LogPiece<'_>) -> Result<()> {
        match piece {
            LogPiece::Record { payload, .. } => self.records.push(payload.to_vec()),
            LogPiece::Damage { offset, lost_bytes, .. } => self.damage.push((offset, lost_bytes)),
            LogPiece::Zeros { offset, size_bytes } => self.zeros.push((offset, size_bytes)),
            LogPiece::UnfinishedTail { offset, lost_bytes } => self.tail = Some((offset, lost_bytes)),
        }
        Ok(())
    }

    fn is_plausible(&self, payload: &[u8], _: bool) -> bool {
        payload.first() == Some(&b'r')
    }
}

fn read(bytes: &[u8]) -> Collected {
    let (env, path) = (MemoryEnv::new(), Path::new("/log"));
    let mut file = env.create(path).unwrap();
    file.append(bytes).unwrap();
    file.close().unwrap();
    let mut collected = Collected::default();
    read_log(&env, path, &mut collected).unwrap();
    collected
}

/// A log of records of these sizes, and where each begins.
fn log(sizes: &[usize]) -> (Vec<u8>, Vec<Vec<u8>>, Vec<usize>) {
    let mut encoder = LogEncoder::new();
    let (mut bytes, mut records, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    for (index, size) in sizes.iter().enumerate() {
        let mut record = vec![b'r'];
        record.extend((0..*size).map(|at| (at * 7 + index * 31) as u8 | 1));
        starts.push(bytes.len());
        encoder.encode_into(&record, &mut bytes);
        records.push(record);
    }
    (bytes, records, starts)
}

#[test]
fn a_sound_log_is_read_whole() {
    let (bytes, records, _) = log(&[0, 10, 40_000, 3, 100_000, 7]);
    assert_eq!(read(&bytes), Collected { records, ..Collected::default() });
    assert_eq!(read(&[]), Collected::default());
}

#[test]
fn a_damaged_payload_costs_its_record_and_a_damaged_length_or_type_nothing() {
    let (bytes, records, starts) = log(&[20, 30, 40]);
    let mut damaged = bytes.clone();
    damaged[starts[1] + 12] ^= 1;
    let collected = read(&damaged);
    assert_eq!(collected.records, [records[0].clone(), records[2].clone()]);
    assert_eq!(collected.damage, [(starts[1] as u64, (starts[2] - starts[1]) as u64)]);
    for place in [4, 5, 6] {
        let mut damaged = bytes.clone();
        damaged[starts[1] + place] ^= 2;
        let collected = read(&damaged);
        assert_eq!((collected.records, collected.damage), (records.clone(), vec![(starts[1] as u64, 0)]));
    }
}

#[test]
fn zeros_within_a_block_are_damage_and_zeros_at_its_end_are_remarked() {
    let (bytes, records, starts) = log(&[20, 30, 40, 50]);
    let mut damaged = bytes.clone();
    damaged[starts[1]..starts[2]].fill(0);
    let collected = read(&damaged);
    assert_eq!(collected.records, [records[0].clone(), records[2].clone(), records[3].clone()]);
    assert_eq!(collected.damage, [(starts[1] as u64, (starts[2] - starts[1]) as u64)]);

    let mut padded = bytes.clone();
    padded.resize(LOG_BLOCK_SIZE_BYTES, 0);
    assert_eq!(read(&padded), Collected { records: records.clone(), ..Collected::default() });
    LogEncoder::new().encode_into(b"rest", &mut padded);
    let collected = read(&padded);
    assert_eq!(collected.records.len(), 5);
    let zeros = (bytes.len() as u64, (LOG_BLOCK_SIZE_BYTES - bytes.len()) as u64);
    assert_eq!((collected.zeros, collected.damage), (vec![zeros], vec![]));
}

#[test]
fn a_log_that_is_cut_off_has_an_unfinished_tail_and_no_damage() {
    let (bytes, records, starts) = log(&[20, 40_000, 30]);
    for cut in (0..bytes.len()).step_by(13) {
        let collected = read(&bytes[..cut]);
        let whole = (0..3).filter(|index| starts.get(index + 1).unwrap_or(&bytes.len()) <= &cut).count();
        assert_eq!(collected.records, records[..whole], "cut {cut}");
        assert_eq!(collected.damage, [], "cut {cut}");
    }
}

proptest! {
    #[test]
    fn every_record_that_is_not_hit_is_found(
        sizes in proptest::collection::vec(0..20_000usize, 1..12),
        places in proptest::collection::vec((any::<proptest::sample::Index>(), 1..=255u8), 1..4),
    ) {
        let (mut bytes, records, starts) = log(&sizes);
        let mut hit = vec![false; records.len()];
        for (place, change) in places {
            let at = place.index(bytes.len());
            bytes[at] ^= change;
            let first = starts.iter().rposition(|start| *start <= at).unwrap();
            hit[first] = true;
            // The rest of a record that began in an earlier block is not searched for other records.
            let block = at / LOG_BLOCK_SIZE_BYTES;
            if starts[first] / LOG_BLOCK_SIZE_BYTES < block {
                let is_there = |start: &usize| *start > at && *start / LOG_BLOCK_SIZE_BYTES == block;
                starts.iter().zip(&mut hit).filter(|(start, _)| is_there(start)).for_each(|(_, hit)| *hit = true);
            }
        }
        let collected = read(&bytes);
        let mut found = collected.records.iter();
        for (record, hit) in records.iter().zip(hit) {
            let is_found = found.as_slice().first() == Some(record);
            if is_found {
                found.next();
            }
            prop_assert!(is_found || hit, "{:?}", (collected.damage, collected.tail));
        }
        prop_assert_eq!(found.len(), 0, "nothing that was never written");
    }

    #[test]
    fn any_bytes_are_read_to_the_end(bytes in proptest::collection::vec(any::<u8>(), 0..70_000)) {
        read(&bytes);
    }
}
