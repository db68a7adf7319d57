//! The small parts of a table: footer, block handles, block trailers, counts, internal keys.

use terrace_format::block_scan::scan_bytes;
use terrace_format::internal_key::{append_internal_key, parse_internal_key, tag, user_key};
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::{
    BlockHandle, Footer, TABLE_MAGIC, TableCounts, check_block, seal_block, split_block,
};

/// The input is each of the parts in turn.
pub fn run(bytes: &[u8]) {
    check_footer(bytes);
    // The same without having to guess the magic number.
    let handles = &bytes[..bytes.len().min(FOOTER_SIZE_BYTES - 8)];
    let mut footer = [0; FOOTER_SIZE_BYTES];
    footer[..handles.len()].copy_from_slice(handles);
    footer[FOOTER_SIZE_BYTES - 8..].copy_from_slice(&TABLE_MAGIC.to_le_bytes());
    check_footer(&footer);

    if let Ok((handle, rest)) = BlockHandle::decode(bytes) {
        let mut encoded = Vec::new();
        handle.encode_to(&mut encoded);
        assert!(encoded.len() + rest.len() <= bytes.len());
        assert_eq!(BlockHandle::decode(&encoded), Ok((handle, &[][..])));
        for limit in [0, 5, bytes.len() as u64, 1 << 32, u64::MAX] {
            if let Ok(range) = handle.sealed_range(limit) {
                assert!(range.start == handle.offset && range.start < range.end && range.end <= limit);
            }
        }
    }
    if let Ok(counts) = TableCounts::decode(bytes) {
        assert!(counts.deletions <= counts.entries);
        assert_eq!(TableCounts::decode(&counts.encode()), Ok(counts));
    }
    check_trailer(bytes);
    check_internal_key(bytes);
    check_scan(bytes);
}

/// Blocks that are found lie within the file, one after the other.
fn check_scan(bytes: &[u8]) {
    let (before, contents) = bytes.split_at(bytes.len() / 4);
    let file = [before, contents, &seal_block(contents, 0)].concat();
    let mut scan = scan_bytes(&file);
    let mut end = 0;
    while let Ok(Some(found)) = scan.next() {
        assert!(found.handle.offset >= end);
        end = found.handle.sealed_range(file.len() as u64).expect("a block within the file").end;
    }
}

fn check_footer(bytes: &[u8]) {
    if let Ok(footer) = Footer::decode(bytes) {
        assert_eq!(Footer::decode(&footer.encode()), Ok(footer));
    }
}

fn check_trailer(bytes: &[u8]) {
    if let Ok((id, contents)) = check_block(bytes) {
        assert_eq!(split_block(bytes), Ok((id, contents)));
        assert_eq!([contents, &seal_block(contents, id)].concat(), bytes);
    }
    let mut sealed = [bytes, &seal_block(bytes, 1)].concat();
    assert_eq!(check_block(&sealed), Ok((1, bytes)));
    let changed = bytes.first().map_or(0, |&byte| usize::from(byte) % sealed.len());
    sealed[changed] ^= 0x10;
    assert!(check_block(&sealed).is_err(), "a change of one bit is not noticed");
}

fn check_internal_key(bytes: &[u8]) {
    // Neither may panic, whatever the length.
    let (key, packed) = (user_key(bytes), tag(bytes));
    if let Ok(parsed) = parse_internal_key(bytes) {
        assert_eq!((parsed.user_key, key.len() + 8), (key, bytes.len()));
        let mut encoded = Vec::new();
        append_internal_key(&mut encoded, parsed.user_key, parsed.sequence, parsed.kind);
        assert_eq!((encoded.as_slice(), tag(&encoded)), (bytes, packed));
    }
}
