//! Writes of batches, which are repeated once there are files for them.

use terrace_engine::{Bounds, Condition, Db, Error, ErrorKind, WriteBatch, WriteOptions};
use terrace_wasm_abi as abi;
use terrace_wasm_abi::{Failure, Outcome, conditions};

use crate::database::{Database, RESERVED_FILES, reserving};
use crate::failures::failed;

impl Database {
    /// Writes a batch in LevelDB's form. Where there are no files for it, jobs in the background may free some.
    pub(crate) fn write(&mut self, batch: &[u8], sync: bool) -> Outcome<()> {
        let options = WriteOptions { sync };
        self.write_by(batch, |db, operations| db.write(operations, &options))?.map_err(failed)
    }

    /// Writes a batch in LevelDB's form, if all conditions hold. Returns the indices of those that do not.
    pub(crate) fn write_if(&mut self, given: &[u8], batch: &[u8], sync: bool) -> Outcome<Vec<usize>> {
        let given = conditions(given).into_iter().map(|condition| self.condition(condition));
        let conditions = given.collect::<Outcome<Vec<_>>>()?;
        let options = WriteOptions { sync };
        let write = |db: &Db, operations| db.write_if(operations, &conditions, &options);
        match self.write_by(batch, write)? {
            Ok(()) => Ok(Vec::new()),
            Err(error) if error.kind() == ErrorKind::Conflict => Ok(error.failed_conditions().to_vec()),
            Err(error) => Err(failed(error)),
        }
    }

    fn condition(&mut self, given: abi::Condition<'_>) -> Outcome<Condition> {
        Ok(match given {
            abi::Condition::Absent(key) => Condition::Absent(copy_of(key)?),
            abi::Condition::Present(key) => Condition::Present(copy_of(key)?),
            abi::Condition::Equals(key, value) => Condition::Equals(copy_of(key)?, copy_of(value)?),
            abi::Condition::Unchanged((lower, upper), snapshot) => {
                Condition::UnchangedSince(Bounds { lower, upper }, self.snapshot_at(snapshot)?)
            }
            abi::Condition::Version(key, version) => Condition::Version(copy_of(key)?, version),
            abi::Condition::UnchangedSinceVersion((lower, upper), version) => {
                Condition::UnchangedSinceVersion(Bounds { lower, upper }, version)
            }
        })
    }

    /// Writes a batch in LevelDB's form by this call, which is repeated once there are files for it. Without operations, it needs none.
    fn write_by(
        &mut self,
        batch: &[u8],
        write: impl Fn(&Db, WriteBatch) -> Result<(), Error>,
    ) -> Outcome<Result<(), Error>> {
        let parse = || {
            let operations = WriteBatch::from_bytes(copy_of(batch)?);
            operations.map_err(|error| Failure::new("InvalidArgument", error.to_string()))
        };
        let mut operations = parse()?;
        while !operations.is_empty() && self.lacks_files() {
            if !self.step() {
                return Err(Failure::new(
                    "Io",
                    "all files of the pool are in use. compactRange() may free some",
                ));
            }
        }
        loop {
            match reserving(RESERVED_FILES, self.pool.as_ref(), || write(&self.db, operations)) {
                Err(error) if error.kind() == ErrorKind::DiskFull && self.step() => operations = parse()?,
                written => return Ok(written),
            }
        }
    }

    /// Whether an open has taken of the files that it needs the next time, too. What is written could not be opened again.
    fn lacks_files(&self) -> bool {
        self.pool.as_ref().is_some_and(|pool| reserving(RESERVED_FILES, Some(pool), || pool.lacks_reserve()))
    }
}

/// A copy of a batch, or of a part of a condition.
fn copy_of(bytes: &[u8]) -> Outcome<Vec<u8>> {
    let mut copy = Vec::new();
    let has_room = copy.try_reserve_exact(bytes.len()).is_ok();
    if !has_room {
        let message = format!("there is no memory for a write of {} bytes", bytes.len());
        return Err(Failure::new("InvalidArgument", message));
    }
    copy.extend_from_slice(bytes);
    Ok(copy)
}
