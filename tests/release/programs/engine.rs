// Uses the crate terrace-engine as a small program would: writes, reads, closes, opens again. Prints `ok`.

use terrace_engine::{Db, Options, ReadOptions, WriteOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: engine DIRECTORY")?;
    let db = Db::open(&path, Options::default())?;
    db.put(b"apple", b"red", &WriteOptions { sync: true })?;
    assert_eq!(db.get(b"apple", &ReadOptions::default())?.as_deref(), Some(&b"red"[..]));
    db.close()?;

    let again = Db::open(&path, Options { create_if_missing: false, ..Options::default() })?;
    assert_eq!(again.get(b"apple", &ReadOptions::default())?.as_deref(), Some(&b"red"[..]));
    assert_eq!(again.get(b"pear", &ReadOptions::default())?, None);
    again.close()?;
    println!("ok {}", env!("CARGO_PKG_VERSION"));
    Ok(())
}
