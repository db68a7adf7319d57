//! Tests of the engine against a reference model.
//!
//! [`generator`] draws [`operation`]s from a seed. [`trial`] applies each to a database and to a [`model`], a
//! `BTreeMap` that is simple enough to trust, and compares everything observable. [`crash`] ends databases in the
//! middle of anything and examines what remains; [`kills`] does so with processes; [`damage`] damages their files;
//! [`stress`] uses one database from many threads. A [`campaign`] is many trials of one kind, counted. The tests are in
//! `tests/`; `terrace-soak` runs all campaigns for a given time; the program `terrace-interop` is our engine's side of
//! the interop matrix in `tests/interop/`.

pub mod campaign;
pub mod crash;
pub mod damage;
pub mod digest;
pub mod form;
pub mod generator;
pub mod keys;
pub mod kills;
pub mod model;
pub mod operation;
pub mod operations_file;
pub mod random;
pub mod stress;
pub mod trial;
