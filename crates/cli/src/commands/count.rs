//! `terrace count`: the number of entries. Several threads count parts of the key space.

use std::io::Write;
use std::ops::Bound;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::Args;
use terrace_engine::{Bounds, Db, UserComparator};

use super::Failure;
use crate::database::{Directory, left_out_member};
use crate::failure::Answer;
use crate::progress::{Progress, Unit};
use crate::range::{RangeArguments, Selection, iterate};
use crate::text::{FormatArguments, Json};

const EXAMPLES: &str = r#"Examples:
  terrace count fruit
  terrace count fruit --prefix 'users/'
  terrace count fruit --json                       with the sizes of keys and values"#;

/// Count entries.
///
/// Every entry is read, so the count is exact, and damage is found.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Count {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    what: What,
}

/// The arguments of a count.
#[derive(Args)]
pub(crate) struct What {
    #[command(flatten)]
    range: RangeArguments,
    /// Count with this many threads [default: one per core].
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
    /// Print {"entries":…,"key_bytes":…,"value_bytes":…,"left_out":[…]}.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    formats: FormatArguments,
}

/// The result of a count.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    entries: u64,
    key_bytes: u64,
    value_bytes: u64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.key_bytes += other.key_bytes;
        self.value_bytes += other.value_bytes;
    }
}

impl Count {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        self.what.run(&self.directory.read()?, out)
    }
}

impl What {
    /// Counts in `db`, which must not change in the meantime: it is open for reading only.
    pub(crate) fn run(&self, db: &Db, out: &mut dyn Write) -> Result<Answer, Failure> {
        let selection = self.range.selection(self.formats, &db.options().comparator)?;
        let threads =
            self.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, Into::into)).max(1);
        let tally = count(db, &selection, threads, self.json)?;
        if self.json {
            let json = Json::Object(vec![
                ("entries", tally.entries.into()),
                ("key_bytes", tally.key_bytes.into()),
                ("value_bytes", tally.value_bytes.into()),
                left_out_member(db),
            ]);
            writeln!(out, "{json}")?;
        } else {
            writeln!(out, "{}", tally.entries)?;
        }
        Ok(Answer::Yes)
    }
}

fn count(db: &Db, selection: &Selection, threads: usize, with_sizes: bool) -> Result<Tally, Failure> {
    let progress = Progress::new("counting", Unit::Pieces, None);
    // A database that is open for writing may change between two parts.
    let threads = if db.options().read_only { threads } else { 1 };
    let mut parts = if threads > 1 { parts(db, selection)? } else { vec![selection.clone()] };
    let threads = threads.min(parts.len());
    if threads <= 1 {
        let mut total = Tally::default();
        for part in &parts {
            total.add(count_part(db, part, with_sizes, &progress, &AtomicBool::new(false))?);
        }
        return Ok(total);
    }
    // The threads take parts from the end.
    parts.reverse();
    let parts = Mutex::new(parts);
    let is_over = AtomicBool::new(false);
    let work = || -> Result<Tally, Failure> {
        let mut total = Tally::default();
        loop {
            let part = parts.lock().expect("no thread panics with the lock").pop();
            let Some(part) = part else { return Ok(total) };
            let counted = count_part(db, &part, with_sizes, &progress, &is_over);
            if counted.is_err() {
                is_over.store(true, Ordering::Relaxed);
            }
            total.add(counted?);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut total = Tally::default();
        for thread in threads {
            total.add(thread.join().expect("counting does not panic")?);
        }
        Ok(total)
    })
}

/// Splits the selection into pieces of about one table of the database's largest level each.
fn parts(db: &Db, selection: &Selection) -> Result<Vec<Selection>, Failure> {
    let tables = db.tables()?;
    let mut sizes = [0; 7];
    tables.iter().for_each(|table| sizes[table.level] += table.size_bytes);
    let largest = (0..sizes.len()).max_by_key(|level| sizes[*level]);
    let comparator = &db.options().comparator;
    let is_after = |key: &Vec<u8>, bound: &Bound<Vec<u8>>| match bound {
        Bound::Unbounded => true,
        Bound::Included(bound) | Bound::Excluded(bound) => comparator.compare(key, bound).is_gt(),
    };
    let is_before = |key: &Vec<u8>, bound: &Bound<Vec<u8>>| match bound {
        Bound::Unbounded => true,
        Bound::Included(bound) | Bound::Excluded(bound) => comparator.compare(key, bound).is_lt(),
    };
    let mut cuts: Vec<Vec<u8>> = tables
        .into_iter()
        .filter(|table| Some(table.level) == largest)
        .map(|table| table.smallest)
        .filter(|key| is_after(key, &selection.bounds.lower) && is_before(key, &selection.bounds.upper))
        .collect();
    cuts.sort_by(|a, b| comparator.compare(a, b));
    cuts.dedup_by(|a, b| comparator.compare(a, b).is_eq());
    let mut parts = Vec::with_capacity(cuts.len() + 1);
    let mut lower = selection.bounds.lower.clone();
    for cut in cuts {
        let bounds = Bounds { lower, upper: Bound::Excluded(cut.clone()) };
        parts.push(Selection { bounds, prefix: selection.prefix.clone() });
        lower = Bound::Included(cut);
    }
    let bounds = Bounds { lower, upper: selection.bounds.upper.clone() };
    parts.push(Selection { bounds, prefix: selection.prefix.clone() });
    Ok(parts)
}

/// Counts one part; stops early when another thread has failed.
fn count_part(
    db: &Db,
    part: &Selection,
    with_sizes: bool,
    progress: &Progress,
    is_over: &AtomicBool,
) -> Result<Tally, Failure> {
    /// Number of entries between two checks for failures of other threads.
    const STRIDE: u64 = 1 << 14;
    // A cursor with an upper bound compares each key again. In bytewise order it is cheaper to do that here.
    let mut bounds = part.bounds.clone();
    let end = match (&db.options().comparator, &part.bounds.upper) {
        (UserComparator::Bytewise, Bound::Excluded(end)) => {
            bounds.upper = Bound::Unbounded;
            Some(end.as_slice())
        }
        _ => None,
    };
    let mut entries = iterate(db, bounds)?;
    entries.seek_to_first()?;
    let mut tally = Tally::default();
    let mut passed = 0u64;
    while entries.valid() && end.is_none_or(|end| entries.key() < end) {
        if part.admits(entries.key()) {
            tally.entries += 1;
            if with_sizes {
                tally.key_bytes += entries.key().len() as u64;
                tally.value_bytes += entries.value().len() as u64;
            }
        }
        passed += 1;
        if passed.is_multiple_of(STRIDE) {
            progress.advance(STRIDE);
            if is_over.load(Ordering::Relaxed) {
                break;
            }
        }
        entries.next()?;
    }
    progress.advance(passed % STRIDE);
    Ok(tally)
}
