//! Decides which program must be able to read the tables of a database. Minecraft Bedrock uses LevelDB's format, but its
//! blocks are compressed with deflate (older versions: zlib), and it cannot read snappy.
//!
//! Predecessors: [`files`](crate::files) and [`repair`](crate::repair), before they write the first table. Nothing is
//! stored: the evidence stays in the database, because every writer obeys it.
//!
//! 1. The file `level.dat` of a world lies beside the directory.
//! 2. The oldest tables have compressed blocks, and show how they are compressed.
//! 3. The database has a key of Bedrock, with a value in Bedrock's format. This covers a world whose data is in the log
//!    only, without its `level.dat`.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use terrace_env::{Env, RandomAccessFile};
use terrace_format::block::{Block, BlockIter};
use terrace_format::compression::{Compression, NONE_ID, is_bedrocks};
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::{BlockHandle, Footer, check_block};

/// Which program must be able to read the tables that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// The program that the database belongs to: Minecraft Bedrock if the tables, the keys or a `level.dat` beside the
    /// directory show it, otherwise LevelDB.
    #[default]
    Auto,
    /// LevelDB.
    LevelDb,
    /// Minecraft Bedrock: whatever would be compressed otherwise is compressed with deflate.
    Bedrock,
}

impl Dialect {
    /// Empty if the dialect is still to be decided.
    pub(crate) fn decided(self) -> OnceLock<Self> {
        if self == Self::Auto { OnceLock::new() } else { OnceLock::from(self) }
    }

    /// The compression to use instead of `wanted`.
    pub(crate) fn compression(self, wanted: Compression) -> Compression {
        match (self, wanted) {
            (Self::Bedrock, Compression::Snappy | Compression::Zstd { .. }) => Compression::Deflate,
            _ => wanted,
        }
    }
}

/// No more tables are examined.
const MAX_TABLES: usize = 8;

/// No more data blocks of a table are examined.
const MAX_BLOCKS: usize = 4;

/// Keys that every world has some of. The list is not complete, and need not be.
pub(crate) const KEYS: [&[u8]; 9] = [
    b"~local_player",
    b"AutonomousEntities",
    b"BiomeData",
    b"Nether",
    b"Overworld",
    b"TheEnd",
    b"mobevents",
    b"schedulerWT",
    b"scoreboard",
];

/// How the values of these keys begin: a compound of NBT without a name.
const NBT_COMPOUND: [u8; 3] = [0x0a, 0, 0];

/// Whether an entry can only be Bedrock's.
pub(crate) fn is_entry_of_bedrock(key: &[u8], value: &[u8]) -> bool {
    KEYS.contains(&key) && value.starts_with(&NBT_COMPOUND)
}

/// Decides the dialect of the database in `directory`. `tables` are its tables, oldest first. `has_entry` tells whether
/// the database has an [entry of Bedrock](is_entry_of_bedrock).
///
/// Whatever cannot be read is no evidence.
pub(crate) fn decide(
    env: &dyn Env,
    directory: &Path,
    tables: impl IntoIterator<Item = PathBuf>,
    has_entry: impl FnOnce() -> bool,
) -> Dialect {
    if is_in_world(env, directory).unwrap_or(false) {
        return Dialect::Bedrock;
    }
    let in_tables = tables.into_iter().take(MAX_TABLES).find_map(|table| in_table(env, &table));
    in_tables.unwrap_or_else(|| if has_entry() { Dialect::Bedrock } else { Dialect::LevelDb })
}

/// Whether a world's `level.dat` lies beside the directory: the version of its format, the size of the rest, then NBT.
/// Java Edition compresses its own.
fn is_in_world(env: &dyn Env, directory: &Path) -> Option<bool> {
    const HEADER_SIZE_BYTES: usize = 8;
    let file = env.open_random(&directory.join("..").join("level.dat")).ok()?;
    let mut header = [0; HEADER_SIZE_BYTES + NBT_COMPOUND.len()];
    file.read_exact_at(0, &mut header).ok()?;
    let rest_bytes = u32::from_le_bytes(header[4..8].try_into().ok()?);
    let is_whole = file.size_bytes().ok()? == HEADER_SIZE_BYTES as u64 + u64::from(rest_bytes);
    Some(is_whole && header.ends_with(&NBT_COMPOUND))
}

/// The dialect that the first compressed block of a table shows; `None` if there is none among those examined.
fn in_table(env: &dyn Env, path: &Path) -> Option<Dialect> {
    let file = env.open_random(path).ok()?;
    let footer_at = file.size_bytes().ok()?.checked_sub(FOOTER_SIZE_BYTES as u64)?;
    let mut footer = [0; FOOTER_SIZE_BYTES];
    file.read_exact_at(footer_at, &mut footer).ok()?;
    let (id, index) = read(&*file, footer_at, Footer::decode(&footer).ok()?.index)?;
    if let Some(dialect) = of_block(id, &index) {
        return Some(dialect);
    }
    let index = Block::new(index).ok()?;
    let mut entries = BlockIter::new(&index);
    entries.seek_to_first().ok()?;
    for _ in 0..MAX_BLOCKS {
        if !entries.valid() {
            break;
        }
        let (handle, _) = BlockHandle::decode(entries.value()).ok()?;
        let (id, contents) = read(&*file, footer_at, handle)?;
        if let Some(dialect) = of_block(id, &contents) {
            return Some(dialect);
        }
        entries.next().ok()?;
    }
    None
}

/// The compression id of a block, and its contents as stored.
fn read(file: &dyn RandomAccessFile, footer_at: u64, handle: BlockHandle) -> Option<(u8, Vec<u8>)> {
    const MAX_SIZE_BYTES: u64 = 16 << 20;
    let range = handle.sealed_range(footer_at).ok()?;
    let size_bytes = Some(range.end - range.start).filter(|size_bytes| *size_bytes <= MAX_SIZE_BYTES)?;
    let mut bytes = vec![0; size_bytes as usize];
    file.read_exact_at(range.start, &mut bytes).ok()?;
    let (id, contents) = check_block(&bytes).ok()?;
    Some((id, contents.to_vec()))
}

fn of_block(id: u8, contents: &[u8]) -> Option<Dialect> {
    match id {
        NONE_ID => None,
        _ if is_bedrocks(id, contents) => Some(Dialect::Bedrock),
        _ => Some(Dialect::LevelDb),
    }
}
