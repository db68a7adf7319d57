//! Every limit and fixed size of the format, each as one named constant.
//!
//! There are two kinds: sizes that LevelDB's format fixes (changing one makes another format), and limits of our own
//! that are well within what LevelDB reads. Exceeding a limit is an error, never a silent truncation.

/// Largest user key, in bytes (64 MiB). A limit of ours, which keeps a key and its neighbours well within a 32-bit
/// length.
pub const MAX_KEY_SIZE_BYTES: usize = 64 << 20;

/// Largest value that can be written, in bytes: 1 GiB on 64-bit machines, 256 MiB on 32-bit ones and in WebAssembly. A limit of
/// ours. A compaction has several copies of a value in memory, and 32 bits address 4 GiB.
pub const MAX_VALUE_SIZE_BYTES: usize =
    if usize::BITS >= 64 { MAX_STORED_VALUE_SIZE_BYTES } else { 256 << 20 };

/// Largest value that a table may hold, in bytes (1 GiB). A limit of ours, for the same reason as for keys.
pub const MAX_STORED_VALUE_SIZE_BYTES: usize = 1 << 30;

/// Largest write batch, in bytes, header included (3 GiB on 64-bit machines, 512 MiB on 32-bit ones and in WebAssembly). A limit
/// of ours, so that offsets into a batch fit 32 bits.
pub const MAX_BATCH_SIZE_BYTES: usize = if usize::BITS >= 64 { 0xc000_0000 } else { 512 << 20 };

/// Number of levels of a database. LevelDB fixes it at 7 and refuses a manifest that names any other level.
pub const LEVEL_COUNT: usize = 7;

/// Size of a block of a log file, in bytes. Fixed by the format.
pub const LOG_BLOCK_SIZE_BYTES: usize = 32 << 10;

/// Size of the header of a physical log record, in bytes: checksum 4, length 2, type 1. Fixed by the format.
pub const LOG_HEADER_SIZE_BYTES: usize = 7;

/// Size of a write batch's header, in bytes: sequence 8, count 4. Fixed by the format.
pub const BATCH_HEADER_SIZE_BYTES: usize = 12;

/// Size of the tag that an internal key adds to its user key, in bytes. Fixed by the format.
pub const INTERNAL_KEY_TAG_SIZE_BYTES: usize = 8;

/// Size of the trailer of a table's block, in bytes: compression id 1, checksum 4. Fixed by the format.
pub const BLOCK_TRAILER_SIZE_BYTES: usize = 5;

/// Size of the pages in which a device is read and memory is mapped, in bytes. Blocks are laid out for it; nothing is wrong
/// where pages are larger.
pub const PAGE_SIZE_BYTES: usize = 4096;

/// Most unused bytes that Terrace leaves before a block so that it begins with a page. Less than a sector of a device, so that
/// damage that turns a sector into zeros never looks like them: it takes the end of the block before, too.
pub const MAX_BLOCK_PADDING_BYTES: usize = 256;

/// Size of a table's footer, in bytes. Fixed by the format.
pub const FOOTER_SIZE_BYTES: usize = 48;

/// Largest size of a block after decompression, in bytes: one entry with the largest key and value, and room for the
/// restart points. A limit of ours, so that a damaged or hostile block cannot make us allocate more.
pub const MAX_DECOMPRESSED_BLOCK_SIZE_BYTES: usize =
    MAX_STORED_VALUE_SIZE_BYTES + MAX_KEY_SIZE_BYTES + (1 << 20);

/// Longest encoding of a 32-bit varint, in bytes.
pub const MAX_VARINT32_SIZE_BYTES: usize = 5;

/// Longest encoding of a 64-bit varint, in bytes.
pub const MAX_VARINT64_SIZE_BYTES: usize = 10;

/// Deepest nesting of arrays within one IndexedDB key. Chromium refuses to store a deeper one; the comparator
/// `idb_cmp1` treats a deeper one as undecodable, so that it does not need an unbounded stack.
pub const MAX_IDB_KEY_DEPTH: usize = 2000;
