//! What a read of the database works on, and how it continues if that is gone.

use std::sync::{Arc, Weak};

use terrace_env::ProcessMark;

use crate::db::inner::DbInner;
use crate::db::read_only::MOST_ATTEMPTS;
use crate::error::{Error, ErrorKind, Result};
use crate::read::get::{Found, get_with, prefetch};
use crate::read::lookup::{ReadView, Renewal, View};
use crate::read::options::ReadOptions;
use crate::read::snapshot::Snapshot;
use crate::read::super_version::SuperVersion;
use crate::read_tier::ReadTier;
use crate::table::BlockReadOptions;

/// What an iterator keeps alive. Tables that only the iterator still held are deleted soon after it drops.
struct ViewPin {
    view: Option<Arc<SuperVersion>>,
    _snapshot: Option<Snapshot>,
    db: Weak<DbInner>,
    process: ProcessMark,
}

impl Drop for ViewPin {
    fn drop(&mut self) {
        if !self.process.is_here() {
            // Releasing tables takes a lock, and their files belong to the parent.
            std::mem::forget(self.view.take());
            return;
        }
        self.view = None;
        if let Some(inner) = self.db.upgrade() {
            inner.remove_obsolete_tables_soon();
        }
    }
}

impl DbInner {
    /// Removes, in the background, the tables that no version lists and no reader pins any more, if there are any.
    fn remove_obsolete_tables_soon(&self) {
        if !self.files.obsolete.is_empty() {
            let files = Arc::clone(&self.files);
            self.background.run_chore(move || files.remove_obsolete_tables());
        }
    }

    /// The snapshot to read from, which must be of this database.
    #[inline]
    pub(crate) fn own_snapshot<'a>(&self, options: &'a ReadOptions) -> Result<Option<&'a Snapshot>> {
        match &options.snapshot {
            Some(snapshot) if !self.published.owns(snapshot) => {
                Err(Error::new(ErrorKind::InvalidArgument, "the snapshot belongs to another database"))
            }
            snapshot => Ok(snapshot.as_ref()),
        }
    }

    /// See [`Db::get_with`](crate::Db::get_with). Calls `found` if there is a value.
    #[inline]
    pub(crate) fn get<R, F: FnOnce(Found<'_>) -> R>(
        &self,
        key: &[u8],
        options: &ReadOptions,
        found: &mut Option<F>,
    ) -> Result<Option<R>> {
        let (view, sequence) = self.published.for_read(self.own_snapshot(options)?);
        self.health.check_open()?;
        get_with(&view, &self.files.tables, key, sequence, &block_read_options(options), found)
    }

    /// See [`Db::get_many_with`](crate::Db::get_many_with).
    pub(crate) fn get_many<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        options: &ReadOptions,
        mut found: impl FnMut(Option<&[u8]>),
    ) -> Result<()> {
        /// How many keys ahead of its get the place of a key is prefetched.
        const AHEAD: usize = 3;
        let (view, sequence) = self.published.for_read(self.own_snapshot(options)?);
        self.health.check_open()?;
        let block_options = block_read_options(options);
        if options.tier == ReadTier::Disk && self.files.tables.fit().is_outgrown() {
            // A read that may not wait begins what it would wait for, so the device works on all keys at the same time.
            let hasty = BlockReadOptions { tier: ReadTier::MemoryOnly, ..block_options };
            for key in keys {
                let ignored = &mut None::<fn(Found<'_>)>;
                let _ = get_with(&view, &self.files.tables, key.as_ref(), sequence, &hasty, ignored);
            }
        }
        for (index, key) in keys.iter().enumerate() {
            if let Some(later) = keys.get(index + AHEAD) {
                prefetch(&view, &self.files.tables, later.as_ref(), sequence);
            }
            let mut hand_over = Some(|value: Found<'_>| found(Some(value.bytes())));
            let answer =
                get_with(&view, &self.files.tables, key.as_ref(), sequence, &block_options, &mut hand_over)?;
            if answer.is_none() {
                found(None);
            }
        }
        Ok(())
    }

    /// What an iterator reads.
    pub(crate) fn view(self: &Arc<Self>, options: &ReadOptions) -> Result<View> {
        let (super_version, sequence) = self.published.for_read(self.own_snapshot(options)?);
        self.health.check_open()?;
        let super_version = Arc::clone(&super_version);
        let pin = ViewPin {
            view: Some(Arc::clone(&super_version)),
            _snapshot: options.snapshot.clone(),
            db: Arc::downgrade(self),
            process: self.health.process(),
        };
        let read = ReadView {
            super_version,
            tables: Arc::clone(&self.files.tables),
            options: block_read_options(options),
            forecast: Arc::clone(&self.seek_forecast),
        };
        Ok(View { read, sequence, pin: Box::new(pin) })
    }

    /// Makes a newer view for an iterator whose own view is gone from the disk. `None` if that is impossible, or if the
    /// reader wants exactly the state of its snapshot.
    pub(crate) fn renewal(self: &Arc<Self>, options: &ReadOptions) -> Option<Renewal> {
        if !self.options.read_only || options.snapshot.is_some() {
            return None;
        }
        let (db, options) = (Arc::downgrade(self), options.clone());
        Some(Box::new(move |outdated| {
            let inner = db.upgrade().ok_or_else(Error::closed)?;
            inner.move_on(outdated)?;
            inner.view(&options)
        }))
    }

    /// Runs `work`, which needs the database's files. If the database is closed meanwhile, they stay reachable but may
    /// belong to another owner, so an I/O error becomes `Closed`.
    pub(crate) fn while_open<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        // Holds the directory.
        let _view = Arc::clone(&self.published.super_version());
        self.health.check_open()?;
        work().map_err(|error| match error.kind() {
            ErrorKind::Io => self.health.check_open().err().unwrap_or(error),
            _ => error,
        })
    }

    /// Calls `read` on the state in force, and again on the newest state if the former is gone from the disk.
    #[cold]
    pub(crate) fn read_moving_on<R>(&self, mut read: impl FnMut() -> Result<R>) -> Result<R> {
        let mut attempts = 1;
        loop {
            let view = Arc::clone(&self.published.super_version());
            self.health.check_open()?;
            match read() {
                Err(error) if error.kind() == ErrorKind::Outdated && attempts < MOST_ATTEMPTS => {
                    self.move_on(&view)?;
                    attempts += 1;
                }
                result => return result,
            }
        }
    }
}

pub(crate) fn block_read_options(options: &ReadOptions) -> BlockReadOptions {
    BlockReadOptions {
        verify_checksums: options.verify_checksums,
        fill_cache: options.fill_cache,
        tier: options.tier,
        ..BlockReadOptions::default()
    }
}
