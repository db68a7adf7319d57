//! What every step of a repair works with: the directory, unused file numbers, and the tables that the repair writes.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use terrace_env::{Env, RandomAccessFile};
use terrace_format::compression::CompressionIds;
use terrace_format::file_name;
use terrace_format::internal_key::InternalKeyComparator;
use terrace_format::version_edit::FileEntry;

use crate::cache::working_set::WorkingSet;
use crate::dialect::Dialect;
use crate::error::Result;
use crate::options::Options;
use crate::table::{BlockReadOptions, TableBuilder, TableReadContext};
use crate::version::recover::FILE_NUMBER_LIMIT;

pub(super) struct Repairer {
    pub(super) env: Arc<dyn Env>,
    pub(super) directory: PathBuf,
    pub(super) options: Options,
    pub(super) comparator: InternalKeyComparator,
    pub(super) context: Arc<TableReadContext>,
    /// Whether a MANIFEST confirmed the comparator.
    pub(super) comparator_is_known: Cell<bool>,
    next_number: Cell<u64>,
    /// The dialect of the tables that the repair writes; empty until [`dialect`](super::dialect) has decided.
    pub(super) dialect: OnceLock<Dialect>,
    /// Tables made by this repair.
    written: RefCell<Vec<u64>>,
}

impl Repairer {
    pub(super) fn new(directory: &Path, options: &Options) -> Self {
        let comparator = InternalKeyComparator::new(options.comparator.clone());
        let context = Arc::new(TableReadContext {
            comparator: comparator.clone(),
            block_cache: None,
            compression_ids: CompressionIds::LevelDb,
            use_filters: true,
            filter_policy: options.filter_policy.clone(),
            map_files: false,
            fit: WorkingSet::always(),
        });
        Self {
            env: Arc::clone(&options.env),
            directory: directory.to_owned(),
            options: options.clone(),
            comparator,
            context,
            comparator_is_known: Cell::new(false),
            next_number: Cell::new(1),
            dialect: options.dialect.decided(),
            written: RefCell::default(),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Makes sure that [`new_number`](Self::new_number) returns only larger numbers.
    pub(super) fn mark_number_used(&self, number: u64) {
        if number < FILE_NUMBER_LIMIT {
            self.next_number.set(self.next_number.get().max(number + 1));
        }
    }

    pub(super) fn new_number(&self) -> u64 {
        self.next_number.replace(self.next_number.get() + 1)
    }

    pub(super) fn next_number(&self) -> u64 {
        self.next_number.get()
    }

    pub(super) fn open(&self, name: &str) -> Result<(Arc<dyn RandomAccessFile>, u64)> {
        let file = self.env.open_random(&self.path(name))?;
        let size_bytes = file.size_bytes()?;
        Ok((file, size_bytes))
    }

    /// Begins a table, whose file is created with the first entry.
    pub(super) fn begin_table(&self) -> NewTable<'_> {
        NewTable { repairer: self, open: None }
    }

    /// Gives the intact table `name` another number, because the files of level 0 are ordered by number.
    pub(super) fn renumber(&self, name: &str) -> Result<u64> {
        let number = self.new_number();
        // The number is noted first, because a failed copy may leave the file.
        self.written.borrow_mut().push(number);
        self.env.link_or_copy(&self.path(name), &self.path(&file_name::table_name(number)))?;
        Ok(number)
    }

    /// Removes tables made by this repair, except those that `is_kept` names.
    pub(super) fn remove_written(&self, is_kept: impl Fn(u64) -> bool) {
        for number in self.written.take().into_iter().filter(|number| !is_kept(*number)) {
            // If the table stays, it is unused, and the next open removes it.
            let _ = self.env.remove_file(&self.path(&file_name::table_name(number)));
        }
    }
}

/// Each block is read from the file, and its checksum is verified.
pub(super) fn read_options() -> BlockReadOptions {
    BlockReadOptions { fill_cache: false, ..BlockReadOptions::default() }
}

/// A finished table of this repair.
#[derive(Clone, Debug)]
pub(super) struct WrittenTable {
    pub(super) file: FileEntry,
    pub(super) entries: u64,
}

/// A table under construction.
pub(super) struct NewTable<'a> {
    repairer: &'a Repairer,
    open: Option<(u64, TableBuilder)>,
}

impl NewTable<'_> {
    pub(super) fn add(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        let (_, builder) = match &mut self.open {
            Some(open) => open,
            none => none.insert(create(self.repairer)?),
        };
        builder.add(internal_key, value)
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.open.as_ref().map_or(0, |(_, builder)| builder.estimated_size_bytes())
    }

    /// Makes the table and its name durable. Returns `None` if nothing was added. A later [`add`](Self::add) begins
    /// another table.
    pub(super) fn finish(&mut self) -> Result<Option<WrittenTable>> {
        let Some((number, builder)) = self.open.take() else { return Ok(None) };
        let finished = builder.finish()?;
        let entries = finished.counts.entries;
        Ok(Some(WrittenTable { file: finished.into_entry(number), entries }))
    }
}

fn create(repairer: &Repairer) -> Result<(u64, TableBuilder)> {
    let number = repairer.new_number();
    let path = repairer.path(&file_name::table_name(number));
    // The number is noted first, because a failed creation may leave the file.
    repairer.written.borrow_mut().push(number);
    let file = repairer.env.create(&path)?;
    let mut options = repairer.options.table_builder();
    options.compression =
        repairer.dialect.get().copied().unwrap_or_default().compression(options.compression);
    let builder = TableBuilder::new(file, path, repairer.comparator.clone(), options);
    Ok((number, builder))
}
