//! Failures of a device that trials of the testkit found to break a promise, each by its symptom.

use std::path::PathBuf;
use std::sync::Arc;

use terrace_engine::env::simulated::{CallKind, Failure, FaultPlan, Mode, SimulatedEnv};
use terrace_engine::{Db, ErrorKind, Options, ReadOptions, TableFileOptions, TableFileWriter, WriteOptions};

const FOLDER: &str = "/data/db";

fn options(env: &SimulatedEnv) -> Options {
    Options { env: Arc::new(env.clone()), ..Options::default() }
}

#[test]
fn an_ingest_that_found_no_room_does_not_come_back_beside_later_writes() {
    let mut env = SimulatedEnv::new(1, Mode::StrictPosix);
    let db = Db::open(FOLDER, options(&env)).unwrap();
    let path = PathBuf::from("/data/table");
    let table_options = TableFileOptions { env: Arc::new(env.clone()), ..TableFileOptions::default() };
    let mut table = TableFileWriter::create(&path, table_options).unwrap();
    table.put(b"refused", b"value").unwrap();
    table.finish().unwrap();

    // The change is in the MANIFEST by then.
    env.fail_at(FaultPlan::new(1, Failure::NoSpace).of(CallKind::Sync).on("MANIFEST"));
    assert_eq!(db.ingest(&[path]).unwrap_err().kind(), ErrorKind::DiskFull);
    db.put(b"later", b"value", &WriteOptions { sync: true }).unwrap();
    env.kill_process();

    let db = Db::open(FOLDER, options(&env)).unwrap();
    assert_eq!(db.get(b"later", &ReadOptions::default()).unwrap(), Some(b"value".to_vec()));
    assert_eq!(db.get(b"refused", &ReadOptions::default()).unwrap(), None);
}
