//! Reads every intact entry from a table, damaged or not. Predecessors: [`plan`](super::plan), the steps. Successor: a
//! new table.
//!
//! 1. The index gives the places of the blocks. If the footer or the index is damaged, the blocks are found by their
//!    checksums ([`block_scan`](super::block_scan)). No checksum covers the footer, so the block that it leads to
//!    counts as the index only if it can be one.
//! 2. A block counts if its checksum matches, every entry decodes and every key is an internal key.
//! 3. Its entries are passed on if they ascend, within the block and from block to block, and lie within the table's
//!    bounds.
//!
//! For each block that does not count, the repair notes the range of keys that its entries must lie in: from the last
//! key before the block to the separator after it.

use std::path::Path;
use std::sync::Arc;

use terrace_env::RandomAccessFile;
use terrace_format::FormatError;
use terrace_format::block::{Block, BlockIter};
use terrace_format::internal_key::{KeyCompare, user_key};
use terrace_format::limits::{BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES};
use terrace_format::table::{BlockHandle, Footer};
use terrace_format::version_edit::FileEntry;

use crate::error::{Error, ErrorKind, Result};
use crate::repair::block_scan::{FoundBlock, Role, check_entries, scan};
use crate::repair::repairer::{Repairer, read_options};
use crate::repair::report::{Damage, KeyRange};
use crate::table::block_fetch::BlockSource;

/// What the walk over a damaged table found.
#[derive(Debug, Default)]
pub(super) struct Salvaged {
    pub(super) entries: u64,
    pub(super) damage: Vec<Damage>,
    /// The ranges in which entries are missing, in order.
    pub(super) lost_keys: Vec<KeyRange>,
}

/// Receives an internal key and its value.
pub(super) type TakeEntry<'a> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'a;

/// Hands each intact entry of the table `name` to `take`, in order. `bounds`, if known, are what the MANIFEST says of
/// the table.
///
/// # Errors
/// - The errors of `take` and of reading the file.
/// - `Unsupported` for a compression that this build does not know.
/// - `InvalidArgument` if the table is sound but in another order, and nothing confirmed the comparator.
pub(super) fn read_table(
    repairer: &Repairer,
    name: &str,
    bounds: Option<&FileEntry>,
    take: &mut TakeEntry<'_>,
) -> Result<Salvaged> {
    let (file, size_bytes) = repairer.open(name)?;
    let path = repairer.path(name);
    let context = Arc::clone(&repairer.context);
    // If a table is cut off, blocks may lie where the footer should be.
    let block_limit = size_bytes + FOOTER_SIZE_BYTES as u64;
    let source = BlockSource::new(Arc::clone(&file), path, block_limit, context);
    let mut walk = Walk {
        repairer,
        source: &source,
        size_bytes,
        bounds,
        take,
        salvaged: Salvaged::default(),
        last: None,
        gap: None,
    };
    match index(&file, size_bytes, &source)? {
        Ok(blocks) => walk.listed(&blocks)?,
        Err(problem) => {
            let reason =
                format!("{}; blocks were found by their checksums", problem_of(&problem, &source.path));
            walk.note(problem.offset().unwrap_or(0), 0, &reason);
            let blocks = scan(&file, size_bytes, &source)?;
            if blocks.first().is_some_and(|block| block.separator.is_some()) {
                walk.listed(&blocks)?;
            } else {
                walk.found(&blocks)?;
            }
        }
    }
    let mut salvaged = walk.salvaged;
    salvaged.damage.sort_by_key(|damage| damage.offset);
    Ok(salvaged)
}

/// The blocks that the index lists, or else an error with the reason why there is no index.
fn index(
    file: &Arc<dyn RandomAccessFile>,
    size_bytes: u64,
    source: &BlockSource,
) -> Result<std::result::Result<Vec<FoundBlock>, Error>> {
    let read = || {
        let Some(footer_offset) = size_bytes.checked_sub(FOOTER_SIZE_BYTES as u64) else {
            return Err(Error::corruption(&source.path, 0, "the file is too short for a table"));
        };
        let mut footer = [0; FOOTER_SIZE_BYTES];
        file.read_exact_at(footer_offset, &mut footer)?;
        let footer =
            Footer::decode(&footer).map_err(|error| Error::format(&source.path, footer_offset, error))?;
        let block = source.read_block(footer.index, &read_options())?;
        listed_blocks(&block, footer.index).map_err(|error| source.block_error(footer.index, error))
    };
    match read() {
        Err(error) if error.kind() == ErrorKind::Corruption => Ok(Err(error)),
        result => result.map(Ok),
    }
}

/// The blocks that the index at `handle` leads to.
///
/// # Errors
/// The block cannot be an index. The keys of an index are internal keys, unlike those of the metaindex. The blocks that
/// it lists start at the beginning of the file and follow each other up to the index. If the values of a data block,
/// text for example, are read as handles, they hardly ever do.
fn listed_blocks(index: &Block, handle: BlockHandle) -> terrace_format::Result<Vec<FoundBlock>> {
    check_entries(index)?;
    let mut blocks: Vec<FoundBlock> = Vec::new();
    let mut entries = BlockIter::new(index);
    entries.seek_to_first()?;
    while entries.valid() {
        let (listed, _) = BlockHandle::decode(entries.value())?;
        listed.sealed_range(handle.offset)?;
        let follows = blocks.last().map_or(listed.offset == 0, |last| last.end() <= listed.offset);
        if !follows {
            let problem = "the blocks that it lists do not follow each other from the file's beginning on";
            return Err(FormatError::corrupt("index", problem, 0));
        }
        blocks.push(FoundBlock::listed(listed, entries.key()));
        entries.next()?;
    }
    Ok(blocks)
}

struct Walk<'a> {
    repairer: &'a Repairer,
    source: &'a BlockSource,
    size_bytes: u64,
    bounds: Option<&'a FileEntry>,
    take: &'a mut TakeEntry<'a>,
    salvaged: Salvaged,
    /// The last key handed on.
    last: Option<Vec<u8>>,
    /// Entries are missing since this user key, or since the table's beginning if the inner value is `None`.
    gap: Option<Option<Vec<u8>>>,
}

impl Walk<'_> {
    /// Walks the blocks of an index.
    fn listed(&mut self, blocks: &[FoundBlock]) -> Result<()> {
        blocks.iter().try_for_each(|block| self.block(block))?;
        self.end();
        Ok(())
    }

    /// Walks blocks that were found without an index. Other blocks may be lost between them.
    fn found(&mut self, blocks: &[FoundBlock]) -> Result<()> {
        const REASON: &str = "no intact block";
        let mut end = 0;
        for block in blocks {
            if block.handle.offset > end {
                self.note(end, block.handle.offset - end, REASON);
                self.open_gap();
            }
            end = block.end();
            match block.role {
                Role::Data => self.block(block)?,
                Role::PerhapsWithinValue => self.leave_out(
                    block,
                    "blocks behind damage: entries of the table, or a part of a value that holds a table",
                ),
                Role::PerhapsIndex => self.leave_out(block, "an entry, or the index of the table"),
                Role::Index | Role::Other => {}
            }
        }
        let full_size_bytes = self.bounds.map_or(0, |bounds| bounds.size_bytes).max(self.size_bytes);
        let is_past_data = blocks.last().is_some_and(|block| block.role != Role::Data);
        let has_last_key = self.bounds.is_some_and(|bounds| self.last.as_ref() == Some(&bounds.largest));
        if !is_past_data && !has_last_key {
            self.note(end, full_size_bytes.saturating_sub(end), REASON);
            self.open_gap();
        }
        self.end();
        Ok(())
    }

    fn block(&mut self, found: &FoundBlock) -> Result<()> {
        let handle = found.handle;
        let block = match self.source.read_block(handle, &read_options()) {
            Err(error) if error.kind() == ErrorKind::Corruption => {
                self.lose(found, &error);
                return Ok(());
            }
            block => block?,
        };
        if let Err(error) = check_entries(&block) {
            self.lose(found, &self.source.block_error(handle, error));
            return Ok(());
        }
        let in_block = |error| self.source.block_error(handle, error);
        let mut entries = BlockIter::new(&block);
        entries.seek_to_first().map_err(in_block)?;
        let mut misplaced = 0;
        while entries.valid() {
            if self.is_in_place(entries.key()) {
                self.close_gap(user_key(entries.key()));
                (self.take)(entries.key(), entries.value())?;
                self.salvaged.entries += 1;
                let last = self.last.get_or_insert_with(Vec::new);
                last.clear();
                last.extend_from_slice(entries.key());
            } else {
                misplaced += (entries.key().len() + entries.value().len()) as u64;
            }
            entries.next().map_err(in_block)?;
        }
        if misplaced > 0 {
            // Damage may leave a copy of a block after it, but it does not reorder the keys of a block whose checksum
            // matches.
            let may_be_in_other_order = !self.repairer.comparator_is_known.get() && self.bounds.is_none();
            if may_be_in_other_order
                && (self.salvaged.damage.is_empty() || !self.ascends(&block).map_err(in_block)?)
            {
                let message = format!(
                    "the table's blocks are intact, but not in the order of comparator {}; give the one that the \
                     database was made with",
                    self.repairer.comparator.user().name_text()
                );
                return Err(Error::at_path(ErrorKind::InvalidArgument, &self.source.path, message));
            }
            self.note(handle.offset, misplaced, "keys that are out of order or beyond the table's bounds");
        }
        Ok(())
    }

    /// Whether the keys of the block ascend.
    fn ascends(&self, block: &Block) -> std::result::Result<bool, FormatError> {
        let mut entries = BlockIter::new(block);
        entries.seek_to_first()?;
        let mut previous = Vec::new();
        let mut is_first = true;
        while entries.valid() {
            if !is_first && !self.repairer.comparator.compare_keys(&previous, entries.key()).is_lt() {
                return Ok(false);
            }
            is_first = false;
            previous.clear();
            previous.extend_from_slice(entries.key());
            entries.next()?;
        }
        Ok(true)
    }

    fn is_in_place(&self, key: &[u8]) -> bool {
        let comparator = &self.repairer.comparator;
        let ascends = self.last.as_ref().is_none_or(|last| comparator.compare_keys(last, key).is_lt());
        let is_within = self.bounds.is_none_or(|bounds| {
            comparator.compare_keys(&bounds.smallest, key).is_le()
                && comparator.compare_keys(key, &bounds.largest).is_le()
        });
        ascends && is_within
    }

    fn lose(&mut self, found: &FoundBlock, error: &Error) {
        let lost_bytes = found.handle.size.saturating_add(BLOCK_TRAILER_SIZE_BYTES as u64);
        let left_in_file = self.size_bytes.saturating_sub(found.handle.offset);
        let reason = problem_of(error, &self.source.path);
        self.note(found.handle.offset, lost_bytes.min(left_in_file), &reason);
        self.open_gap();
        if let Some(separator) = &found.separator {
            self.close_gap(user_key(separator));
        }
    }

    /// Skips a block that may not hold entries of the table.
    fn leave_out(&mut self, found: &FoundBlock, reason: &str) {
        self.note(found.handle.offset, found.handle.size, reason);
        self.open_gap();
    }

    fn open_gap(&mut self) {
        if self.gap.is_none() {
            self.gap = Some(self.last.as_ref().map(|last| user_key(last).to_vec()));
        }
    }

    fn close_gap(&mut self, last: &[u8]) {
        if let Some(first) = self.gap.take() {
            self.add_lost_keys(first, Some(last.to_vec()));
        }
    }

    fn end(&mut self) {
        if let Some(first) = self.gap.take() {
            self.add_lost_keys(first, None);
        }
    }

    fn add_lost_keys(&mut self, first: Option<Vec<u8>>, last: Option<Vec<u8>>) {
        let first = first.or_else(|| self.bounds.map(|bounds| user_key(&bounds.smallest).to_vec()));
        let last = last.or_else(|| self.bounds.map(|bounds| user_key(&bounds.largest).to_vec()));
        let ranges = &mut self.salvaged.lost_keys;
        match ranges.last_mut() {
            // No key was found since the last lost block.
            Some(range) if range.first == first => range.last = last,
            _ => ranges.push(KeyRange { first, last }),
        }
    }

    fn note(&mut self, offset: u64, lost_bytes: u64, reason: &str) {
        self.salvaged.damage.push(Damage { offset, lost_bytes, reason: reason.to_owned() });
    }
}

/// The text of an error about `path` without file and offset, because the report states those beside it.
pub(super) fn problem_of(error: &Error, path: &Path) -> String {
    let text = error.to_string();
    let place = format!(" in {}", path.display());
    text.split(&place).next().unwrap_or(&text).to_owned()
}
