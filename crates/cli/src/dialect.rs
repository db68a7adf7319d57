//! Which program must be able to read what is written. Minecraft Bedrock's LevelDB compresses blocks with zlib or
//! deflate and does not know snappy; it reads uncompressed blocks.

use std::fs;
use std::path::Path;

use clap::ValueEnum;
use terrace_engine::Compression;
use terrace_engine::env::default_env;
use terrace_format::block::{Block, BlockIter};
use terrace_format::compression::{DEFLATE_ID, NONE_ID, ZSTD_ID};
use terrace_format::file_name::{self, FileKind};
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::{BlockHandle, Footer, check_block};

/// Whose dialect to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArgument {
    /// Decide by the existing tables, or by a Minecraft world around the directory.
    #[default]
    Auto,
    /// LevelDB: blocks are compressed with snappy.
    Leveldb,
    /// Minecraft Bedrock: blocks are not compressed.
    Bedrock,
}

impl DialectArgument {
    /// The compression for the database in `directory`.
    pub(crate) fn compression(self, directory: &Path) -> Compression {
        let is_bedrock = match self {
            Self::Auto => is_bedrock(directory),
            Self::Leveldb => false,
            Self::Bedrock => true,
        };
        if is_bedrock { Compression::None } else { Compression::Snappy }
    }
}

/// Whether the database in `directory` is Minecraft Bedrock's: a table has a block that only Bedrock writes, or the
/// directory lies in a world.
pub(crate) fn is_bedrock(directory: &Path) -> bool {
    /// No more tables are examined; another program's database shows it by its first compressed block.
    const MOST_TABLES: usize = 100;
    let is_in_world = directory.file_name().is_some_and(|name| name == "db")
        && directory.parent().is_some_and(|world| world.join("level.dat").is_file());
    let Ok(entries) = fs::read_dir(directory) else { return false };
    let tables = entries.flatten().filter(|entry| {
        let kind = entry.file_name().to_str().and_then(file_name::parse);
        matches!(kind, Some(FileKind::Table(_) | FileKind::LegacyTable(_)))
    });
    is_in_world || tables.take(MOST_TABLES).find_map(|table| blocks_say(&table.path())).unwrap_or(false)
}

/// Whether the table's index or first block is compressed with zlib or deflate, or otherwise; `None` if neither is
/// compressed or readable.
fn blocks_say(path: &Path) -> Option<bool> {
    const LARGEST_READ_BYTES: u64 = 16 << 20;
    let file = default_env().open_random(path).ok()?;
    let size_bytes = file.size_bytes().ok()?;
    let footer_at = size_bytes.checked_sub(FOOTER_SIZE_BYTES as u64)?;
    let mut footer = [0; FOOTER_SIZE_BYTES];
    file.read_exact_at(footer_at, &mut footer).ok()?;
    let read = |handle: BlockHandle| {
        let range = handle.sealed_range(footer_at).ok()?;
        let length = Some(range.end - range.start).filter(|length| *length <= LARGEST_READ_BYTES)?;
        let mut bytes = vec![0; length as usize];
        file.read_exact_at(range.start, &mut bytes).ok()?;
        let (id, contents) = check_block(&bytes).ok()?;
        Some((id, contents.to_vec()))
    };
    let (id, index) = read(Footer::decode(&footer).ok()?.index)?;
    if id != NONE_ID {
        return Some(is_bedrocks(id, &index));
    }
    let index = Block::new(index).ok()?;
    let mut entries = BlockIter::new(&index);
    entries.seek_to_first().ok()?;
    let (handle, _) = BlockHandle::decode(entries.valid().then(|| entries.value())?).ok()?;
    let (id, first) = read(handle)?;
    (id != NONE_ID).then(|| is_bedrocks(id, &first))
}

fn is_bedrocks(id: u8, contents: &[u8]) -> bool {
    /// The first bytes of a zstd frame.
    const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    id == DEFLATE_ID || (id == ZSTD_ID && !contents.starts_with(&ZSTD))
}
