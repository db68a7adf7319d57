//! The conditions of writes, as JavaScript passes them: a kind, then two arguments, for each.

use crate::error::{Failure, Fallible};
use crate::value::{Env, Value};

/// The kinds. The same constants are in `packages/terrace/src/conditions.ts`.
const ABSENT: u32 = 0;
const PRESENT: u32 = 1;
const EQUALS: u32 = 2;
const UNCHANGED: u32 = 3;
const VERSION: u32 = 4;
const UNCHANGED_SINCE_VERSION: u32 = 5;

/// The number of arguments of a condition: its kind and two more.
const ARGUMENTS: usize = 3;

/// A condition on a key or on a range.
pub enum Passed {
    Absent(Vec<u8>),
    Present(Vec<u8>),
    Equals(Vec<u8>, Vec<u8>),
    /// The range, and the snapshot.
    Unchanged(Value, Value),
    /// The key, and the version of its entry.
    Version(Vec<u8>, u64),
    /// The range, and the version of the state since which it is unchanged.
    UnchangedSinceVersion(Value, u64),
}

/// Splits arguments into those of the first `count` conditions and the rest.
pub fn split(arguments: &[Value], count: u32) -> Fallible<(&[Value], &[Value])> {
    arguments.split_at_checked(count as usize * ARGUMENTS).ok_or(Failure::Argument("missing conditions"))
}

/// Calls `add` with each of the conditions in `arguments`.
pub fn each(env: Env, arguments: &[Value], mut add: impl FnMut(Passed) -> Fallible<()>) -> Fallible<()> {
    let bytes = |value| -> Fallible<Vec<u8>> {
        let mut bytes = Vec::new();
        env.append_bytes(value, &mut bytes)?;
        Ok(bytes)
    };
    for condition in arguments.chunks_exact(ARGUMENTS) {
        let [kind, first, second] = [condition[0], condition[1], condition[2]];
        add(match env.get_u32(kind)? {
            ABSENT => Passed::Absent(bytes(first)?),
            PRESENT => Passed::Present(bytes(first)?),
            EQUALS => Passed::Equals(bytes(first)?, bytes(second)?),
            UNCHANGED => Passed::Unchanged(first, second),
            VERSION => Passed::Version(bytes(first)?, env.get_version(second)?),
            UNCHANGED_SINCE_VERSION => Passed::UnchangedSinceVersion(first, env.get_version(second)?),
            _ => return Err(Failure::Argument("unknown kind of condition")),
        })?;
    }
    Ok(())
}
