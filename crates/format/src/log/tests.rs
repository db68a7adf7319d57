use std::convert::Infallible;

use proptest::prelude::*;

use super::*;
use crate::limits::{LOG_BLOCK_SIZE_BYTES as BLOCK, LOG_HEADER_SIZE_BYTES as HEADER};

/// An event that owns its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Record(Vec<u8>, u64),
    Damage(u64, u64, &'static str),
    Torn(u64, u64),
}

fn read<S: LogSource<Error = Infallible>>(source: S) -> Vec<Seen> {
    let mut reader = LogReader::new(source);
    let mut seen = Vec::new();
    loop {
        let Ok(event) = reader.next();
        seen.push(match event {
            LogEvent::Record { payload, offset } => Seen::Record(payload.to_vec(), offset),
            LogEvent::Damage { offset, dropped_bytes, reason } => Seen::Damage(offset, dropped_bytes, reason),
            LogEvent::TornTail { offset, dropped_bytes } => Seen::Torn(offset, dropped_bytes),
            LogEvent::End => {
                assert_eq!(reader.next(), Ok(LogEvent::End));
                return seen;
            }
        });
    }
}

fn standard(payloads: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = LogEncoder::new();
    for payload in payloads {
        let size_bytes = encoder.encoded_size_bytes(payload.as_ref().len());
        let before = file.len();
        encoder.encode_into(payload.as_ref(), &mut file);
        assert_eq!(file.len() - before, size_bytes);
    }
    file
}

fn payloads(seen: &[Seen]) -> Vec<&[u8]> {
    seen.iter()
        .filter_map(|seen| match seen {
            Seen::Record(payload, _) => Some(&payload[..]),
            _ => None,
        })
        .collect()
}

/// Bytes that differ from place to place.
fn filler(size_bytes: usize) -> Vec<u8> {
    (0..size_bytes).map(|index| (index % 251) as u8 + 1).collect()
}

fn record(payload: &[u8], offset: usize) -> Seen {
    Seen::Record(payload.to_vec(), offset as u64)
}

#[test]
fn an_empty_file_and_an_empty_record_are_fine() {
    assert_eq!(read(&b""[..]), []);
    let file = standard(&[b"", b""]);
    assert_eq!(file.len(), 2 * HEADER);
    assert_eq!(read(&file[..]), [record(b"", 0), record(b"", 7)]);
}

#[test]
fn a_record_is_split_at_the_block_boundary() {
    let large = filler(3 * BLOCK);
    let file = standard(&[&b"small"[..], &large, b"after"]);
    let kinds: Vec<u8> =
        [6, 18, BLOCK + 6, 2 * BLOCK + 6, 3 * BLOCK + 6].iter().map(|&at| file[at]).collect();
    assert_eq!(kinds, [1, 2, 3, 3, 4]);
    assert_eq!(file.len(), 5 + large.len() + 5 + 6 * HEADER);
    assert_eq!(payloads(&read(&file[..])), [&b"small"[..], &large, b"after"]);
    assert_eq!(read(&file[..])[1], record(&large, 12));
}

#[test]
fn the_last_bytes_of_a_block_are_zeros_or_an_empty_first_fragment() {
    let second = filler(20);
    for left in 0..2 * HEADER {
        let first = filler(BLOCK - HEADER - left);
        let file = standard(&[&first, &second]);
        assert_eq!(payloads(&read(&file[..])), [&first, &second], "{left} bytes left");
        if left < HEADER {
            assert_eq!(file.len(), BLOCK + HEADER + 20);
            assert!(file[BLOCK - left..BLOCK].iter().all(|&byte| byte == 0));
        } else {
            assert_eq!(file.len(), BLOCK - left + 2 * HEADER + 20);
            assert_eq!(file[BLOCK - left + 6], FragmentKind::First as u8, "{left} bytes left");
        }
    }
}

#[test]
fn a_file_can_be_continued_where_it_ends() {
    let mut file = standard(&[filler(BLOCK - 20)]);
    LogEncoder::at_offset(file.len() as u64).encode_into(b"appended in another run", &mut file);
    assert_eq!(file, standard(&[&filler(BLOCK - 20)[..], b"appended in another run"]));
}

#[test]
fn a_block_whose_end_was_filled_with_zeros_is_read() {
    let (first, second) = (filler(30_000), filler(5_000));
    let mut file = standard(&[&first]);
    file.resize(BLOCK, 0);
    LogEncoder::at_offset(BLOCK as u64).encode_into(&second, &mut file);
    assert_eq!(read(&file[..]), [record(&first, 0), record(&second, BLOCK)]);
}

#[test]
fn a_first_fragment_and_the_rest_are_the_record() {
    for (before, size) in [(0, 0), (10, 40_000), (BLOCK - 2 * HEADER, 5), (BLOCK - HEADER - 3, 5), (5, 5)] {
        let mut whole = standard(&[filler(before)]);
        let mut parts = whole.clone();
        let payload = filler(size);
        LogEncoder::at_offset(whole.len() as u64).encode_into(&payload, &mut whole);
        let mut encoder = LogEncoder::at_offset(parts.len() as u64);
        let FirstFragment { padding_bytes, header, fragment } = encoder.encode_first(&payload);
        parts.resize(parts.len() + padding_bytes, 0);
        parts.extend([&header[..], fragment].concat());
        assert!(
            fragment.len() == size || parts.len().is_multiple_of(BLOCK),
            "a first fragment fills its block"
        );
        for (header, fragment) in encoder.encode_rest(&payload[fragment.len()..]) {
            parts.extend_from_slice(&header);
            parts.extend_from_slice(fragment);
        }
        assert!(parts == whole, "{size} bytes behind {before}");
    }
}

// The states of a write-ahead log, and how LevelDB treats them; see docs/format/log.md.

#[test]
fn zeros_at_the_end_are_no_record_whatever_their_length() {
    let file = standard(&[b"one", b"two"]);
    for zeros in [1, 6, 7, 8, 100, BLOCK - file.len(), BLOCK, BLOCK + 5, 3 * BLOCK] {
        let padded = [&file[..], &vec![0; zeros]].concat();
        assert_eq!(read(&padded[..]), [record(b"one", 0), record(b"two", 10)], "{zeros} zeros");
    }
}

#[test]
fn what_is_appended_after_whole_blocks_of_zeros_is_found() {
    let mut file = standard(&[b"one"]);
    file.resize(2 * BLOCK, 0);
    LogEncoder::at_offset(file.len() as u64).encode_into(b"two", &mut file);
    assert_eq!(read(&file[..]), [record(b"one", 0), record(b"two", 2 * BLOCK)]);
}

#[test]
fn what_is_appended_after_zeros_within_a_block_is_lost() {
    let mut file = standard(&[b"one"]);
    file.resize(1000, 0);
    LogEncoder::at_offset(file.len() as u64).encode_into(b"two", &mut file);
    assert_eq!(read(&file[..]), [record(b"one", 0)], "why a log is cut before it is continued");
}

#[test]
fn a_payload_without_header_is_dropped_in_silence() {
    let mut file = standard(&[&b"one"[..], &filler(100)]);
    file[10..17].fill(0);
    assert_eq!(read(&file[..]), [record(b"one", 0)]);
}

#[test]
fn a_header_without_payload_is_damage() {
    let mut file = standard(&[&b"one"[..], &filler(100)]);
    file[17..].fill(0);
    assert_eq!(read(&file[..]), [record(b"one", 0), Seen::Damage(10, 107, "a checksum that does not match")]);
}

#[test]
fn a_zeroed_page_hides_its_block_and_later_blocks_are_read() {
    let records: Vec<Vec<u8>> = (0..100).map(|index| vec![index as u8 + 1; 993]).collect();
    let mut file = standard(&records);
    file[8192..12288].fill(0);
    let seen = read(&file[..]);
    assert_eq!(seen[8], Seen::Damage(8000, 32768 - 8000, "a checksum that does not match"));
    assert_eq!(
        seen[9],
        Seen::Damage(32768, 239, "a fragment without its first one"),
        "the record that began in the damaged block"
    );
    assert_eq!(payloads(&seen).len(), 8 + 100 - 33);
    assert_eq!(payloads(&seen)[8], records[33]);
}

#[test]
fn a_zeroed_page_at_record_boundaries_hides_the_rest_of_its_block_in_silence() {
    let records: Vec<Vec<u8>> = (0..32).map(|index| vec![index as u8 + 1; 1017]).collect();
    let mut file = standard(&records);
    assert_eq!(file.len(), BLOCK);
    file[4096..8192].fill(0);
    LogEncoder::new().encode_into(b"next block", &mut file);
    let seen = read(&file[..]);
    assert_eq!(payloads(&seen).len(), 5);
    assert_eq!(seen[4], record(b"next block", BLOCK));
}

#[test]
fn a_first_fragment_then_zeros_is_damage_and_then_nothing_a_torn_tail() {
    let whole = standard(&[&b"one"[..], &filler(2 * BLOCK)]);
    let mut zeroed = whole.clone();
    zeroed[BLOCK..].fill(0);
    assert_eq!(
        read(&zeroed[..]),
        [record(b"one", 0), Seen::Damage(10, 2 * BLOCK as u64 - 10, "zeros within a fragmented record")]
    );
    assert_eq!(read(&whole[..BLOCK]), [record(b"one", 0), Seen::Torn(10, BLOCK as u64 - 10)]);
}

#[test]
fn a_cut_file_has_a_torn_tail_at_any_cut_but_a_boundary() {
    let file = standard(&[&b"one"[..], b"two", &filler(BLOCK), b"four"]);
    let ends = [0, 10, 20, 20 + BLOCK + 2 * HEADER, file.len()];
    for cut in (0..60).chain(BLOCK - 10..BLOCK + 20).chain(BLOCK + 30..=file.len()) {
        let seen = read(&file[..cut]);
        let whole = ends.iter().filter(|&&end| end <= cut && end > 0).count();
        let start = ends[whole];
        assert_eq!(payloads(&seen).len(), whole, "cut at {cut}");
        let tail: Vec<Seen> = seen.into_iter().skip(whole).collect();
        let torn = if cut == start { vec![] } else { vec![Seen::Torn(start as u64, (cut - start) as u64)] };
        assert_eq!(tail, torn, "cut at {cut}");
    }
}

#[test]
fn a_flipped_bit_drops_the_rest_of_its_block() {
    let mut file = standard(&[&b"one"[..], b"two", &filler(BLOCK), b"four"]);
    file[8] ^= 1;
    let seen = read(&file[..]);
    assert_eq!(seen[0], Seen::Damage(0, BLOCK as u64, "a checksum that does not match"));
    assert_eq!(seen[1], Seen::Damage(BLOCK as u64, 34, "a fragment without its first one"));
    assert_eq!(payloads(&seen), [b"four"]);
}

#[test]
fn a_length_beyond_the_block_is_damage_within_the_file_and_torn_at_its_end() {
    let beyond = |size: usize| Seen::Damage(0, size as u64, "a length beyond the end of the block");
    let mut file = standard(&[&filler(100)[..], &filler(BLOCK)]);
    file[5] = 0xff;
    for size in [file.len(), BLOCK] {
        assert_eq!(read(&file[..size])[0], beyond(BLOCK));
    }
    assert_eq!(read(&file[..200]), [beyond(200)], "nobody writes such a length");
    file[5] = 0x10;
    assert_eq!(read(&file[..200]), [Seen::Torn(0, 200)]);
}

#[test]
fn a_header_that_no_writer_stores_at_its_place_is_damage_and_no_torn_tail() {
    let before = standard(&[filler(BLOCK - 1000 - HEADER)]);
    // The place in its block, the length, the kind.
    for (start, length, kind, may_stand) in [
        (BLOCK - 1000, 500, 1, true),
        (BLOCK - 1000, 1000 - HEADER, 1, true),
        (BLOCK - 1000, 1001 - HEADER, 1, false),
        (BLOCK - 1000, 1000 - HEADER, 2, true),
        (BLOCK - 1000, 500, 2, false),
        (BLOCK - 1000, 1000 - HEADER, 3, false),
        (BLOCK - 1000, 500, 4, false),
        (BLOCK - 1000, 500, 0, false),
        (BLOCK - 1000, 500, 5, false),
        (0, BLOCK - HEADER, 3, true),
        (0, BLOCK - HEADER - 1, 3, false),
        (0, 500, 4, true),
        (0, BLOCK - HEADER + 1, 4, false),
    ] {
        let header = FragmentHeader { masked_crc: 7, length_bytes: length, kind };
        assert_eq!(header.may_stand_at(start), may_stand, "{header:?}");
        assert_eq!(FragmentHeader::decode(&header.encode()), header);
        let file = [&before[..start], &header.encode(), b"some bytes"].concat();
        let tail = if may_stand {
            Seen::Torn(start as u64, 17)
        } else {
            Seen::Damage(start as u64, 17, "a length beyond the end of the block")
        };
        assert_eq!(read(&file[..]).last(), Some(&tail), "{header:?} at {start}");
    }
}

#[test]
fn a_torn_record_says_how_large_it_was_meant_to_be() {
    let large = filler(2 * BLOCK);
    let file = standard(&[&filler(BLOCK - 2 * HEADER)[..], &large]);
    let torn = |cut: usize| {
        let mut reader = LogReader::new(&file[..cut]);
        while !matches!(reader.next(), Ok(LogEvent::TornTail { .. } | LogEvent::End)) {}
        reader.take_torn_record().unwrap()
    };
    // Its first fragment has no bytes.
    let middle = BLOCK - HEADER;
    for (cut, size_bytes, there) in [
        (BLOCK - 3, 0..=usize::MAX, 0),
        (BLOCK, 1..=usize::MAX, 0),
        (BLOCK + 3, 1..=usize::MAX, 0),
        (BLOCK + 10, middle + 1..=usize::MAX, 3),
        (2 * BLOCK, middle + 1..=usize::MAX, middle),
        (3 * BLOCK, 2 * middle + 1..=usize::MAX, 2 * middle),
        (3 * BLOCK + HEADER, large.len()..=large.len(), 2 * middle),
        (file.len() - 1, large.len()..=large.len(), large.len() - 1),
    ] {
        assert_eq!(torn(cut), TornRecord { payload: large[..there].to_vec(), size_bytes }, "cut at {cut}");
    }
    let header = |kind, length_bytes| FragmentHeader { masked_crc: 0, length_bytes, kind }.encode();
    assert_eq!(TornRecord::new(None, &header(4, 9)), None, "the first fragment is missing");
    assert_eq!(TornRecord::new(Some(b"begun".to_vec()), &header(1, 9)), None, "another record begins");
    assert_eq!(
        TornRecord::new(Some(Vec::new()), &header(1, 9)).unwrap().size_bytes,
        9..=9,
        "as old writers did"
    );
    assert_eq!(TornRecord::new(None, &header(0, 9)), None, "an unknown kind");
}

#[test]
fn unknown_types_and_stray_fragments_are_damage() {
    let physical = |kind: u8, fragment: &[u8]| {
        let length = (fragment.len() as u16).to_le_bytes();
        [&checksum(kind, fragment).to_le_bytes()[..], &length, &[kind], fragment].concat()
    };
    let file = [physical(9, b"x"), physical(3, b"yy"), physical(4, b"z"), physical(1, b"good")].concat();
    assert_eq!(
        read(&file[..]),
        [
            Seen::Damage(0, 8, "an unknown record type"),
            Seen::Damage(8, 9, "a fragment without its first one"),
            Seen::Damage(17, 8, "a fragment without its first one"),
            record(b"good", 25)
        ]
    );
    let file = [physical(2, b"begun"), physical(1, b"good"), physical(2, b"a"), physical(9, b"x")].concat();
    assert_eq!(
        read(&file[..]),
        [
            Seen::Damage(0, 12, "a fragmented record has no end"),
            record(b"good", 12),
            Seen::Damage(23, 16, "an unknown record type")
        ]
    );
    let file =
        [physical(2, b""), physical(1, b"good"), physical(0, b"x"), physical(2, b""), physical(2, b"")]
            .concat();
    assert_eq!(
        read(&file[..]),
        [record(b"good", 7), Seen::Damage(18, 8, "an unknown record type"), Seen::Torn(33, 7)],
        "an empty first fragment, as old writers left it, is no damage"
    );
}

#[test]
fn the_end_of_the_last_record_is_known() {
    let file = [&standard(&[&b"one"[..], &filler(BLOCK)])[..], b"\x01\x02\x03"].concat();
    let mut reader = LogReader::new(&file[..]);
    let mut ends = vec![reader.end_of_last_record()];
    while reader.next() != Ok(LogEvent::End) {
        ends.push(reader.end_of_last_record());
    }
    let end = file.len() as u64 - 3;
    assert_eq!(ends, [0, 10, end, end]);
}

#[test]
fn reading_goes_on_after_the_source_failed() {
    /// Returns a few bytes at a time and fails before each read.
    struct Flaky<'a>(&'a [u8], bool);

    impl LogSource for Flaky<'_> {
        type Error = &'static str;

        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, &'static str> {
            self.1 = !self.1;
            if self.1 {
                return Err("not now");
            }
            let end = buffer.len().min(1000);
            let Ok(count) = self.0.read(&mut buffer[..end]);
            Ok(count)
        }
    }

    let file = standard(&[&b"one"[..], &filler(BLOCK), b"three"]);
    let mut reader = LogReader::new(Flaky(&file, false));
    let (mut sizes, mut failures) = (Vec::new(), 0);
    loop {
        match reader.next() {
            Ok(LogEvent::Record { payload, .. }) => sizes.push(payload.len()),
            Ok(LogEvent::End) => break,
            Ok(other) => panic!("{other:?}"),
            Err(_) => failures += 1,
        }
    }
    assert_eq!(sizes, [3, BLOCK, 5]);
    assert!(failures > 30);
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![0..40usize, 0..3000usize, BLOCK - 30..BLOCK + 30, 0..3 * BLOCK];
    proptest::collection::vec(size, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back_and_a_cut_leaves_a_prefix(
        sizes in sizes(), cut in any::<proptest::sample::Index>(),
    ) {
        let records: Vec<Vec<u8>> = sizes.iter().map(|&size| filler(size)).collect();
        let file = standard(&records);
        let seen = read(&file[..]);
        prop_assert_eq!(seen.len(), records.len());
        prop_assert_eq!(payloads(&seen), records.iter().map(|record| &record[..]).collect::<Vec<_>>());

        let seen = read(&file[..cut.index(file.len() + 1)]);
        let whole = payloads(&seen);
        prop_assert_eq!(&whole[..], &records[..whole.len()]);
        let rest = &seen[whole.len()..];
        prop_assert!(matches!(rest, [] | [Seen::Torn(..)]), "{:?}", rest);
    }

    #[test]
    fn any_bytes_are_read_to_the_end(
        bytes in any::<Vec<u8>>(), sizes in sizes(), flips in proptest::collection::vec(any::<(u32, u8)>(), 0..10),
    ) {
        read(&bytes[..]);
        let mut file = standard(&sizes.iter().map(|&size| filler(size)).collect::<Vec<_>>());
        for (place, byte) in flips {
            if let Some(at) = (place as usize).checked_rem(file.len()) {
                file[at] ^= byte;
            }
        }
        for seen in read(&file[..]) {
            if let Seen::Damage(offset, size, _) | Seen::Torn(offset, size) = seen {
                prop_assert!(size > 0 && offset + size <= file.len() as u64);
            }
        }
    }

    #[test]
    fn a_fragment_is_found_under_its_length_alone(
        size in 0..3000usize, after in any::<Vec<u8>>(), flip in any::<proptest::sample::Index>(), bit in 0..8u8,
    ) {
        let payload = filler(size);
        let mut bytes = standard(&[&payload]);
        bytes.extend_from_slice(&after);
        let fragment = Fragment::parse(&bytes).unwrap();
        prop_assert_eq!((fragment.kind, fragment.payload, fragment.size_bytes()), (FragmentKind::Full, &payload[..], HEADER + size));
        let (header, rest) = FragmentHeader::split(&bytes).unwrap();
        prop_assert_eq!(header, FragmentHeader::new(FragmentKind::Full, &payload));
        let other = FragmentHeader { length_bytes: 0, ..header };
        prop_assert_eq!(other.matching_lengths(rest).next(), Some(size));
        bytes.truncate(HEADER + size);
        bytes[flip.index(HEADER + size)] ^= 1 << bit;
        prop_assert_eq!(Fragment::parse(&bytes), None);
    }

    #[test]
    fn any_bytes_are_a_fragment_or_none(bytes in any::<Vec<u8>>(), gathered in any::<Option<Vec<u8>>>()) {
        if let Some(fragment) = Fragment::parse(&bytes) {
            prop_assert!(fragment.size_bytes() <= bytes.len());
        }
        let there = gathered.as_ref().map_or(0, Vec::len) + bytes.len().saturating_sub(HEADER);
        if let Some(torn) = TornRecord::new(gathered, &bytes) {
            prop_assert_eq!(torn.payload.len(), there);
        }
    }
}
