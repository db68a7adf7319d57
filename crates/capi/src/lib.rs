//! Terrace through LevelDB's C interface: the functions of `include/leveldb/c.h` and `include/terrace.h`. They call
//! only the engine's public API.
//!
//! ```text
//! leveldb_put ─► barrier (no panic crosses) ─► memory (pointers to slices) ─► engine's Db
//!                    └── error ──► a malloc'ed string in *errptr
//! ```
//!
//! Rules:
//! 1. Every exported function runs its work within [`barrier`], even if nothing in it is known to panic.
//! 2. A pointer that a program gets is a `Box` or an `Arc` of a type of this crate. Functions take such pointers as
//!    `Option<&T>`, which is the same to C: a program that passes anything but NULL or a living object of ours breaks
//!    the header's rules. Nothing else about a call is trusted.
//! 3. A database's object lives until it is closed *and* its iterators and snapshots are gone. They may be destroyed
//!    in any order; using one after the close returns an error.
//! 4. Callbacks of the program (comparators, filter policies) are called only while a database that uses them is
//!    open, and the destructor runs once the program has destroyed the object and no open database uses it; see
//!    [`callbacks`].

mod barrier;
mod batch;
mod cache;
mod callbacks;
mod comparator;
mod database;
mod env;
mod extensions;
mod failure;
mod filter_policy;
mod iterator;
mod maintenance;
mod memory;
mod options;
mod read_write_options;
mod snapshot;
