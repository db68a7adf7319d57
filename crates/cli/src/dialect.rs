//! Who else must be able to read what is written. Minecraft Bedrock's LevelDB compresses blocks by zlib or deflate and knows
//! no snappy; it reads blocks that are not compressed.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use clap::ValueEnum;
use terrace_engine::Compression;
use terrace_format::block::{Block, BlockIter};
use terrace_format::compression::{DEFLATE_ID, NONE_ID, ZSTD_ID};
use terrace_format::file_name::{self, FileKind};
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::{BlockHandle, Footer, check_block};

/// Whose database it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArgument {
    /// As the tables that are there show it, or a world around the directory.
    #[default]
    Auto,
    /// LevelDB's: blocks are compressed by snappy.
    Leveldb,
    /// Minecraft Bedrock's: blocks are not compressed.
    Bedrock,
}

impl DialectArgument {
    /// How blocks are to be compressed in the database in `directory`.
    pub(crate) fn compression(self, directory: &Path) -> Compression {
        let is_bedrock = match self {
            Self::Auto => is_bedrock(directory),
            Self::Leveldb => false,
            Self::Bedrock => true,
        };
        if is_bedrock { Compression::None } else { Compression::Snappy }
    }
}

/// Whether the database in `directory` is of Minecraft Bedrock: a table has a block as only that writes it, or the directory lies in
/// a world.
pub(crate) fn is_bedrock(directory: &Path) -> bool {
    /// More are not looked at; a database of others shows it by the first that is compressed.
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

/// Whether the table's index or first block is compressed by zlib or deflate, or by something else; `None` if neither is
/// compressed or can be read.
fn blocks_say(path: &Path) -> Option<bool> {
    const LARGEST_READ_BYTES: u64 = 16 << 20;
    let file = File::open(path).ok()?;
    let size_bytes = file.metadata().ok()?.len();
    let footer_at = size_bytes.checked_sub(FOOTER_SIZE_BYTES as u64)?;
    let mut footer = [0; FOOTER_SIZE_BYTES];
    file.read_exact_at(&mut footer, footer_at).ok()?;
    let read = |handle: BlockHandle| {
        let range = handle.sealed_range(footer_at).ok()?;
        let length = Some(range.end - range.start).filter(|length| *length <= LARGEST_READ_BYTES)?;
        let mut bytes = vec![0; length as usize];
        file.read_exact_at(&mut bytes, range.start).ok()?;
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
