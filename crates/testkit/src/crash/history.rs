//! What was written, in order, and which states of the database that allows.

use std::collections::BTreeMap;

/// What a database holds.
pub type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Every batch sets this key to the batch's number, so that the newest batch that is there can be told.
pub const MARK: &[u8] = b"~newest batch";

/// One batch: keys, with their value or as deleted.
pub type Batch = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// The batches since the database was made, and what is known of their fate.
#[derive(Default)]
pub struct History {
    batches: Vec<Batch>,
    /// So many batches were acknowledged, or seen in the database, by the process that lives or lived last.
    acknowledged: usize,
    /// So many must survive a power cut.
    durable: usize,
    /// So many must be there when the database is opened next.
    required: usize,
    /// Whether the power was cut since the database was last seen: what is there then came from the disk.
    from_disk: bool,
}

impl History {
    /// The number of the batch that comes next; the first is 1.
    pub fn next_number(&self) -> u64 {
        self.batches.len() as u64 + 1
    }

    /// A batch that is about to be written.
    pub fn begin(&mut self, batch: Batch) {
        self.batches.push(batch);
    }

    /// All batches so far were acknowledged.
    pub fn acknowledge(&mut self, durably: bool) {
        self.acknowledged = self.batches.len();
        if durably {
            self.durable = self.acknowledged;
        }
        self.required = self.acknowledged;
    }

    /// The database said that all acknowledged batches are durable now.
    pub fn all_durable(&mut self) {
        self.durable = self.acknowledged;
    }

    /// The power was cut.
    pub fn power_cut(&mut self) {
        self.required = self.durable;
        self.from_disk = true;
    }

    /// What the database must hold while it is open.
    pub fn model(&self) -> Model {
        self.model_at(self.batches.len())
    }

    pub fn model_at(&self, count: usize) -> Model {
        let mut model = Model::new();
        for (key, value) in self.batches[..count].iter().flatten() {
            match value {
                Some(value) => model.insert(key.clone(), value.clone()),
                None => model.remove(key),
            };
        }
        model
    }

    /// The database was opened and holds `found`. Batches that are not in it are forgotten.
    pub fn opened(&mut self, found: &Model) -> Result<(), String> {
        let count = match found.get(MARK) {
            Some(mark) => u64::from_le_bytes(mark.as_slice().try_into().map_err(|_| "the mark is damaged")?),
            None => 0,
        } as usize;
        if count > self.batches.len() {
            return Err(format!("batch {count} was never written, only {}", self.batches.len()));
        }
        if count < self.required {
            let Self { acknowledged, durable, required, .. } = self;
            return Err(format!(
                "only {count} of {required} batches are there ({acknowledged} acknowledged, {durable} durably)"
            ));
        }
        compare(found, &self.model_at(count))
            .map_err(|problem| format!("after {count} batches: {problem}"))?;
        self.batches.truncate(count);
        self.acknowledged = count;
        self.required = count;
        if self.from_disk {
            self.durable = count;
            self.from_disk = false;
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.batches.len()
    }
}

/// An error that names the first difference.
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
