use proptest::prelude::*;

use super::*;
use crate::error::FormatErrorKind;

#[test]
fn the_filter_entry_is_named_after_the_filter() {
    assert_eq!(filter_metaindex_key(), format!("filter.{}", crate::filter::FILTER_NAME).as_bytes());
    assert!(filter_metaindex_key() < COUNTS_METAINDEX_KEY, "the order in which a builder adds them");
    assert!(
        filter_metaindex_key() < NO_FILTER_METAINDEX_KEY,
        "or else it is not found in place of the filter"
    );
    assert!(NO_FILTER_METAINDEX_KEY < COUNTS_METAINDEX_KEY, "the order in which a builder adds them");
}

#[test]
fn a_handle_is_two_varints_and_leaves_the_rest() {
    let handle = BlockHandle { offset: 300, size: 5 };
    let mut bytes = Vec::new();
    handle.encode_to(&mut bytes);
    assert_eq!(bytes, [0xac, 0x02, 0x05]);
    assert_eq!(BlockHandle::decode(b"\xac\x02\x05more").unwrap(), (handle, &b"more"[..]));
}

#[test]
fn a_handle_that_is_cut_off_is_refused() {
    assert_eq!(BlockHandle::decode(b"").unwrap_err().offset, 0);
    assert_eq!(BlockHandle::decode(b"\x80").unwrap_err().offset, 0);
    assert_eq!(BlockHandle::decode(b"\x07").unwrap_err().offset, 1);
    assert!(BlockHandle::decode(&[0xff; 20]).is_err());
}

#[test]
fn a_sealed_block_must_end_before_the_limit() {
    let range = |offset, size, limit| BlockHandle { offset, size }.sealed_range(limit).ok();
    assert_eq!(range(10, 20, 35), Some(10..35));
    assert_eq!(range(10, 20, 34), None);
    assert_eq!(range(0, 0, 5), Some(0..5));
    assert_eq!(range(0, 0, 4), None);
    assert_eq!(range(u64::MAX, 1, u64::MAX), None);
    assert_eq!(range(1, u64::MAX - 3, u64::MAX), None);
}

#[test]
fn the_longest_footer_fits() {
    let longest = BlockHandle { offset: u64::MAX, size: u64::MAX };
    let footer = Footer { metaindex: longest, index: longest };
    assert_eq!(Footer::decode(&footer.encode()), Ok(footer));
    let mut bytes = Vec::new();
    longest.encode_to(&mut bytes);
    assert_eq!(bytes.len(), BlockHandle::MAX_ENCODED_SIZE_BYTES);
}

#[test]
fn what_is_no_footer_is_refused() {
    let footer = Footer::default().encode();
    assert_eq!(Footer::decode(&footer[1..]).unwrap_err().problem, "47 bytes where 48 are needed");
    let mut other_magic = footer;
    other_magic[40] ^= 1;
    let error = Footer::decode(&other_magic).unwrap_err();
    assert_eq!((error.kind, error.offset), (FormatErrorKind::Corrupt, 40));
    let mut bad_index = footer;
    bad_index[2..13].fill(0xff);
    let error = Footer::decode(&bad_index).unwrap_err();
    assert_eq!(error.offset, 2);
    assert!(error.problem.starts_with("index: offset"), "{error}");
    let mut bad_metaindex = footer;
    bad_metaindex[1..12].fill(0xff);
    let error = Footer::decode(&bad_metaindex).unwrap_err();
    assert_eq!(error.offset, 1);
    assert!(error.problem.starts_with("metaindex: size"), "{error}");
}

#[test]
fn a_sealed_block_is_checked() {
    let mut sealed = b"contents".to_vec();
    sealed.extend(seal_block(b"contents", 1));
    assert_eq!(check_block(&sealed), Ok((1, &b"contents"[..])));
    assert_eq!(split_block(&sealed), Ok((1, &b"contents"[..])));
    for position in 0..sealed.len() {
        let mut damaged = sealed.clone();
        damaged[position] ^= 0x10;
        assert_eq!(check_block(&damaged).unwrap_err().structure, "block trailer", "byte {position}");
    }
    assert!(split_block(&sealed[..4]).is_err());
    assert!(check_block(&sealed[..4]).is_err());
    assert!(check_block(&sealed[1..]).is_err());
}

#[test]
fn the_smallest_block_is_its_trailer() {
    assert_eq!(check_block(&seal_block(b"", 0)), Ok((0, &b""[..])));
}

#[test]
fn counts_allow_for_later_fields() {
    let counts = TableCounts {
        entries: 300,
        deletions: 2,
        raw_key_bytes: 5,
        raw_value_bytes: 0,
        newest_sequence: Some(301),
    };
    let mut bytes = counts.encode();
    assert_eq!(bytes, [0xac, 0x02, 0x02, 0x05, 0x00, 0xad, 0x02]);
    bytes.extend(b"later");
    assert_eq!(TableCounts::decode(&bytes), Ok(counts));
    let earlier = TableCounts { newest_sequence: None, ..counts };
    assert_eq!(TableCounts::decode(&bytes[..5]).map(|counts| counts.newest_sequence), Ok(None));
    assert_eq!(TableCounts::decode(&earlier.encode()), Ok(earlier));
}

#[test]
fn counts_that_contradict_themselves_are_refused() {
    assert_eq!(TableCounts::decode(&[1, 2, 0, 0]).unwrap_err().problem, "more deletions than entries");
    for length in 0..4 {
        assert_eq!(TableCounts::decode(&[1, 1, 1, 1][..length]).unwrap_err().offset, length as u64);
    }
}

fn handle() -> impl Strategy<Value = BlockHandle> {
    (any::<u64>(), any::<u64>()).prop_map(|(offset, size)| BlockHandle { offset, size })
}

proptest! {
    #[test]
    fn footers_are_read_back(metaindex in handle(), index in handle()) {
        let footer = Footer { metaindex, index };
        prop_assert_eq!(Footer::decode(&footer.encode()), Ok(footer));
    }

    #[test]
    fn counts_are_read_back(
        entries: u64,
        deletions: u64,
        raw_key_bytes: u64,
        raw_value_bytes: u64,
        newest_sequence: Option<u64>,
    ) {
        let deletions = deletions.min(entries);
        let counts = TableCounts { entries, deletions, raw_key_bytes, raw_value_bytes, newest_sequence };
        prop_assert_eq!(TableCounts::decode(&counts.encode()), Ok(counts));
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 48),
        length in 0usize..48,
    ) {
        let _ = BlockHandle::decode(&bytes[..length]).map(|(handle, _)| handle.sealed_range(1 << 20));
        let _ = TableCounts::decode(&bytes[..length]);
        let _ = check_block(&bytes[..length]);
        let _ = Footer::decode(&bytes[..length]);
        bytes[40..].copy_from_slice(&TABLE_MAGIC.to_le_bytes());
        let _ = Footer::decode(&bytes);
    }
}
