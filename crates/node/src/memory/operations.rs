//! Operations that were passed and are not carried out yet, so that a bad argument or a limit leaves nothing behind.

use terrace_memory::Map;

use crate::error::{Failure, Fallible};
use crate::value::{Env, Value};

/// Puts and deletions, in their order.
#[derive(Default)]
pub struct Operations {
    /// The keys and values, end to end.
    bytes: Vec<u8>,
    /// The length of each key, and of its value unless it is to be deleted.
    lengths: Vec<(usize, Option<usize>)>,
}

impl Operations {
    pub fn put(&mut self, env: Env, key: Value, value: Value) -> Fallible<()> {
        self.push(env, key, Some(value))
    }

    pub fn del(&mut self, env: Env, key: Value) -> Fallible<()> {
        self.push(env, key, None)
    }

    /// Adds operations as JavaScript passes them: keys and values alternating, with null for the value of a key to
    /// delete.
    pub fn append(&mut self, env: Env, operations: &[Value]) -> Fallible<()> {
        for operation in operations.chunks_exact(2) {
            let value = (!env.is_null(operation[1])?).then_some(operation[1]);
            self.push(env, operation[0], value)?;
        }
        Ok(())
    }

    /// Adds an operation whole or not at all.
    fn push(&mut self, env: Env, key: Value, value: Option<Value>) -> Fallible<()> {
        let start = self.bytes.len();
        let pushed = self.push_bytes(env, key, value);
        match pushed {
            Ok(lengths) => self.lengths.push(lengths),
            Err(_) => self.bytes.truncate(start),
        }
        pushed.map(|_| ())
    }

    fn push_bytes(&mut self, env: Env, key: Value, value: Option<Value>) -> Fallible<(usize, Option<usize>)> {
        let start = self.bytes.len();
        env.append_bytes(key, &mut self.bytes)?;
        let key_length = self.bytes.len() - start;
        check_key(key_length)?;
        let Some(value) = value else { return Ok((key_length, None)) };
        env.append_bytes(value, &mut self.bytes)?;
        Ok((key_length, Some(self.bytes.len() - start - key_length)))
    }

    fn each(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        let mut rest = &self.bytes[..];
        let mut take = move |length| {
            let (taken, following) = rest.split_at(length);
            rest = following;
            taken
        };
        self.lengths.iter().map(move |&(key, value)| {
            let key = take(key);
            (key, value.map(&mut take))
        })
    }

    /// Carries all of them out, or none if the map would then be larger than it is, and than the limit.
    pub fn apply(&self, map: &mut Map, limit_bytes: usize) -> Fallible<()> {
        Ok(map.write_within(limit_bytes, || self.each())?)
    }
}

/// Stores one value, unless the map would then be larger than it is, and than the limit.
#[inline]
pub fn put(map: &mut Map, limit_bytes: usize, key: &[u8], value: &[u8]) -> Fallible<()> {
    check_key(key.len())?;
    Ok(map.put_within(limit_bytes, key, value)?)
}

fn check_key(length: usize) -> Fallible<()> {
    if length <= Map::LONGEST_KEY_BYTES {
        Ok(())
    } else {
        Err(Failure::Argument("a key is longer than 1 GiB"))
    }
}
