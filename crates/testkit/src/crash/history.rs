//! What was written, in order, and which states of the database that allows.

use std::collections::BTreeMap;

/// What a database holds.
pub type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Every batch sets this key to the batch's number, which shows the newest batch in the database.
pub const MARK: &[u8] = b"~newest batch";

/// Every batch sets one of this many keys to its number, which shows whether each of the newest batches is there.
const TAGS: u64 = 64;

/// Largest number of batches at stake in a power cut: fewer than there are tags.
const MOST_AT_STAKE: usize = 60;

/// One batch: keys with their value, or `None` if deleted.
pub type Batch = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// The end of every batch, which tells it from the others.
pub fn signature(number: u64) -> Batch {
    let value = Some(number.to_le_bytes().to_vec());
    vec![(MARK.to_vec(), value.clone()), (tag(number), value)]
}

fn tag(number: u64) -> Vec<u8> {
    format!("~tag {:02}", number % TAGS).into_bytes()
}

fn number_at(model: &Model, key: &[u8]) -> Result<u64, String> {
    let Some(value) = model.get(key) else { return Ok(0) };
    let bytes = value.as_slice().try_into().map_err(|_| "the number of a batch is damaged")?;
    Ok(u64::from_le_bytes(bytes))
}

struct Written {
    number: u64,
    changes: Batch,
    /// Whether it was answered with an error and readers did not see it. If it is there, it is the newest batch: what
    /// was written after it took its place.
    refused: bool,
}

/// The batches since the database was created, and what is known of their fate.
#[derive(Default)]
pub struct History {
    written: Vec<Written>,
    last_number: u64,
    /// Number of batches that the current or last process acknowledged or saw in the database, including refused ones
    /// between them.
    acknowledged: usize,
    /// Number of batches that must survive a power cut.
    durable: usize,
    /// Number of batches that must be there at the next open.
    required: usize,
    /// Whether the power was cut since the database was last seen: its contents then came from the disk.
    from_disk: bool,
    /// Whether a repair was begun since: more than a prefix may be there.
    repaired: bool,
}

impl History {
    /// The number of the next batch; the first is 1.
    pub fn next_number(&self) -> u64 {
        self.last_number + 1
    }

    /// Whether the next batch should be durable, so that not too many are at stake.
    pub fn wants_sync(&self) -> bool {
        self.written.len() - self.durable >= MOST_AT_STAKE
    }

    /// Adds a batch that is about to be written. It has the next number.
    pub fn begin(&mut self, changes: Batch) {
        self.last_number += 1;
        self.written.push(Written { number: self.last_number, changes, refused: false });
    }

    /// Records that all batches so far were acknowledged, or refused before.
    pub fn acknowledge(&mut self, durably: bool) {
        self.acknowledged = self.written.len();
        if durably {
            self.durable = self.acknowledged;
        }
        self.required = self.acknowledged;
    }

    /// Records that the last batch was refused because nothing is written any more.
    pub fn never_tried(&mut self) {
        self.written.pop();
    }

    /// Records that the last batch was refused with another error. Readers see its number as the newest, or an
    /// earlier one.
    pub fn refuse(&mut self, newest: u64) {
        if newest == self.last_number {
            self.acknowledge(false);
        } else if let Some(last) = self.written.last_mut() {
            last.refused = true;
        }
    }

    /// Records that the database declared all acknowledged batches durable.
    pub fn all_durable(&mut self) {
        self.durable = self.acknowledged;
    }

    /// Records that the power was cut.
    pub fn power_cut(&mut self) {
        self.required = self.durable;
        self.from_disk = true;
    }

    /// What the database must hold while it is open.
    pub fn model(&self) -> Model {
        replay(self.written.iter().filter(|written| !written.refused))
    }

    /// The number of the newest batch in the entries `found`.
    pub fn newest_in(found: &Model) -> Result<u64, String> {
        number_at(found, MARK)
    }

    /// Records that the database is about to be repaired.
    pub fn repair(&mut self) {
        self.repaired = true;
    }

    /// Records that the database was opened and holds `found`. That must be a prefix of what was written or, after a
    /// repair, also later batches that were intact. Batches that are not in it are forgotten.
    pub fn opened(&mut self, found: &Model) -> Result<(), String> {
        let there = if self.repaired { self.tagged(found)? } else { self.prefix(found)? };
        let count = there.iter().rposition(|there| *there).map_or(0, |last| last + 1);
        // Refused batches at the end were never promised.
        let promised = self.written[..self.required].iter().rposition(|written| !written.refused);
        if count < promised.map_or(0, |last| last + 1) {
            let Self { acknowledged, durable, required, .. } = self;
            return Err(format!(
                "only {count} of {required} batches are there ({acknowledged} acknowledged, {durable} durably)"
            ));
        }
        let durable = there[..self.durable].iter().filter(|there| **there).count();
        let mut each = there.iter();
        self.written.retain(|_| each.next() == Some(&true));
        compare(found, &replay(&self.written))
            .map_err(|problem| format!("with {count} batches: {problem}"))?;
        self.written.iter_mut().for_each(|written| written.refused = false);
        self.acknowledged = self.written.len();
        self.required = self.acknowledged;
        self.durable = if self.from_disk { self.acknowledged } else { durable };
        self.from_disk = false;
        self.repaired = false;
        Ok(())
    }

    /// Which batches are there, if they are a prefix that ends with the newest.
    fn prefix(&self, found: &Model) -> Result<Vec<bool>, String> {
        let newest = number_at(found, MARK)?;
        let position = self.written.iter().position(|written| written.number == newest);
        let count = match (newest, position) {
            (0, _) => 0,
            (_, Some(position)) => position + 1,
            (_, None) => return Err(format!("batch {newest} should not be there")),
        };
        let is_there =
            |(index, written): (usize, &Written)| index < count && (!written.refused || index + 1 == count);
        Ok(self.written.iter().enumerate().map(is_there).collect())
    }

    /// Which batches are there: the required ones, and those whose tags say so.
    fn tagged(&self, found: &Model) -> Result<Vec<bool>, String> {
        let is_there = |(index, written): (usize, &Written)| {
            let tagged = number_at(found, &tag(written.number))? == written.number;
            Ok(tagged || (index < self.required && !written.refused))
        };
        self.written.iter().enumerate().map(is_there).collect()
    }

    pub fn len(&self) -> usize {
        self.written.len()
    }
}

fn replay<'a>(batches: impl IntoIterator<Item = &'a Written>) -> Model {
    let mut model = Model::new();
    for (key, value) in batches.into_iter().flat_map(|written| &written.changes) {
        match value {
            Some(value) => model.insert(key.clone(), value.clone()),
            None => model.remove(key),
        };
    }
    model
}

/// Returns an error that names the first difference.
pub fn compare(found: &Model, expected: &Model) -> Result<(), String> {
    let show = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
    for (key, value) in expected {
        match found.get(key) {
            None => return Err(format!("the key {:?} is missing", show(key))),
            Some(other) if other != value => {
                return Err(format!("the key {:?} has another value ({} bytes)", show(key), other.len()));
            }
            Some(_) => {}
        }
    }
    match found.keys().find(|key| !expected.contains_key(*key)) {
        Some(key) => Err(format!("the key {:?} should not be there", show(key))),
        None => Ok(()),
    }
}
