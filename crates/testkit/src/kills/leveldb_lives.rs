//! Databases that LevelDB 1.23 writes, whose writer is killed, and which LevelDB's repair restores.
//!
//! Terrace opens the rest, read-only and then for writing, before and after compactions. Every get, of present and
//! absent keys, must agree with the scan and with what was acknowledged. LevelDB's repair restores keys whose deletion
//! was compacted away while an older table was still in the directory; those may show any value they had. A truncated
//! MANIFEST is rejected unless it still states everything. The next life continues with what LevelDB left, or with what
//! Terrace made of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use terrace_engine::{Db, ErrorKind, IterOptions, Options, ReadOptions};

use super::directory::copy;
use super::leveldb::{PYTHON, is_there};
use crate::campaign::{Tally, TrialResult};
use crate::random::Random;

const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interop/drivers/plyvel_lives.py");
/// The number of keys that the driver writes.
const KEYS: usize = 6_000;
const LIVES: u64 = 3;

/// The newest write of each key: its number, and whether it was a put.
type Writes = BTreeMap<String, (u64, bool)>;

struct Trial {
    random: Random,
    seed: u64,
    directory: PathBuf,
    writes: Writes,
    /// The number of the last acknowledged write. One more may have been in progress.
    last: u64,
    /// Whether LevelDB's repair may have brought back deleted keys.
    is_repaired: bool,
    tally: Tally,
}

/// Runs the trial of `seed`; does nothing if LevelDB is missing.
///
/// # Errors
///
/// What differed, and where the directory is.
pub fn run(seed: u64) -> TrialResult {
    if !is_there() {
        return Ok(Tally::default());
    }
    let directory =
        tempfile::Builder::new().prefix("terrace-leveldb-").tempdir().map_err(|error| error.to_string())?;
    let mut trial = Trial {
        random: Random::new(seed),
        seed,
        directory: directory.path().to_owned(),
        writes: Writes::new(),
        last: 0,
        is_repaired: false,
        tally: Tally::default(),
    };
    match (0..LIVES)
        .try_for_each(|life| trial.life(life).map_err(|problem| format!("life {life}: {problem}")))
    {
        Ok(()) => Ok(trial.tally),
        Err(problem) => Err(format!("{problem}\nthe directory is kept: {}", directory.keep().display())),
    }
}

impl Trial {
    fn life(&mut self, life: u64) -> Result<(), String> {
        let (left, ours) = (self.directory.join("db"), self.directory.join("ours"));
        self.write_until_killed(&left, life)?;
        self.is_repaired = !self.random.one_in(3);
        if self.is_repaired {
            repair(&left)?;
            self.tally.one("LevelDB repairs");
        } else {
            self.check_cut_manifest(&left)?;
        }
        let found = self.check(&left, true)?;
        copy(&left, &ours).map_err(|error| error.to_string())?;
        self.check(&ours, false)?;
        self.check(&ours, true)?;
        self.last += 1;
        carry_over(&mut self.writes, &found, self.last);
        let abandoned = if self.random.one_in(2) { ours } else { self.take_over(&left, &ours)? };
        fs::remove_dir_all(abandoned).map_err(|error| error.to_string())
    }

    /// Puts `ours` in the place and under the name of `left`.
    fn take_over(&mut self, left: &Path, ours: &Path) -> Result<PathBuf, String> {
        let aside = self.directory.join("aside");
        fs::rename(left, &aside).and_then(|()| fs::rename(ours, left)).map_err(|error| error.to_string())?;
        self.tally.one("databases given back to LevelDB");
        Ok(aside)
    }

    fn write_until_killed(&mut self, directory: &Path, life: u64) -> Result<(), String> {
        let first = self.last + 1;
        let wanted = self.random.between(1_000, 50_000);
        let mut command = Command::new(PYTHON);
        command
            .args([DRIVER, "write"])
            .arg(directory)
            .args([(self.seed ^ life).to_string(), first.to_string()]);
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{PYTHON}: {error}"))?;
        let output = BufReader::new(process.stdout.take().ok_or("no pipe from LevelDB")?);
        let mut heard = 0;
        for line in output.lines() {
            let line = line.map_err(|error| error.to_string())?;
            let [kind, number, key] = line.split(' ').collect::<Vec<_>>()[..] else {
                // The last line may be cut off.
                break;
            };
            let Ok(number) = number.parse() else { break };
            if key.len() == "key00000".len() {
                self.writes.insert(key.to_owned(), (number, kind == "put"));
                self.last = number;
            }
            heard += 1;
            if heard == wanted {
                process.kill().map_err(|error| error.to_string())?;
            }
        }
        process.wait().map_err(|error| error.to_string())?;
        self.tally.one("kills of LevelDB");
        if heard < wanted { Err(format!("LevelDB ended by itself after {heard} writes")) } else { Ok(()) }
    }

    /// Opens the database and compares every get with the scan and with what was acknowledged; if opened for writing,
    /// also after a compaction. Returns its contents.
    fn check(&mut self, directory: &Path, read_only: bool) -> Result<Writes, String> {
        let mode = if read_only { "read-only" } else { "for writing" };
        let transcript = |error: terrace_engine::Error| format!("{mode}: {error}");
        let db = Db::open(directory, options(read_only)).map_err(transcript)?;
        let found = self.compare(&db).map_err(|problem| format!("{mode}: {problem}"))?;
        if !read_only {
            db.compact_range(None, None).map_err(transcript)?;
            if self.compare(&db).map_err(|problem| format!("compacted: {problem}"))? != found {
                return Err("compacted: it holds something else".to_owned());
            }
        }
        db.verify().and_then(|()| db.close()).map_err(transcript)?;
        Ok(found)
    }

    /// A MANIFEST that is cut off anywhere is refused, or what it states is complete.
    fn check_cut_manifest(&mut self, left: &Path) -> Result<(), String> {
        let io = |error: std::io::Error| error.to_string();
        let cut = self.directory.join("cut");
        copy(left, &cut).map_err(io)?;
        let manifest = cut.join(fs::read_to_string(cut.join("CURRENT")).map_err(io)?.trim_end());
        let bytes = fs::read(&manifest).map_err(io)?;
        let length = self.random.between(1, bytes.len());
        fs::write(&manifest, &bytes[..length]).map_err(io)?;
        let at = |problem: String| format!("{} cut off at byte {length}: {problem}", manifest.display());
        match Db::open(&cut, options(true)) {
            Err(error) if error.kind() == ErrorKind::Corruption => self.tally.one("cut MANIFESTs refused"),
            Err(error) => return Err(at(error.to_string())),
            Ok(db) => {
                self.compare(&db).map_err(at)?;
                self.tally.one("cut MANIFESTs that state it all");
            }
        }
        fs::remove_dir_all(cut).map_err(io)
    }

    fn compare(&mut self, db: &Db) -> Result<Writes, String> {
        let scanned = scan(db).map_err(|error| error.to_string())?;
        let mut found = Writes::new();
        let mut unfinished = 0;
        for number in 0..KEYS {
            let key = format!("key{number:05}");
            let value = db.get(key.as_bytes(), &ReadOptions::default()).map_err(|error| error.to_string())?;
            self.tally.one("gets of LevelDB's databases");
            if value.as_ref() != scanned.get(&key) {
                let (value, scanned) = (shown(value.as_ref()), shown(scanned.get(&key)));
                return Err(format!("get returns {value} for {key}, but the scan {scanned}"));
            }
            let written = value.as_ref().map(|value| number_of(value)).transpose()?;
            if let Some(written) = written {
                found.insert(key.clone(), (written, true));
            }
            match (self.writes.get(&key), written) {
                (Some((number, true)), Some(written)) if *number == written => {}
                (Some((_, false)) | None, None) => {}
                // The repair brings back deleted values, but none from before another put.
                (Some((number, false)), Some(written)) if self.is_repaired && written < *number => {
                    self.tally.one("keys that LevelDB's repair brought back");
                }
                (_, Some(written)) if written == self.last + 1 => unfinished += 1,
                (Some((_, true)), None) => unfinished += 1,
                (acknowledged, written) => {
                    return Err(format!("{key} was written last by {acknowledged:?}, and shows {written:?}"));
                }
            }
        }
        if scanned.len() != found.len() || unfinished > 1 {
            return Err(format!("{} keys, {} known, {unfinished} unfinished", scanned.len(), found.len()));
        }
        Ok(found)
    }
}

/// What is known of each key after a life that left `found`. Deletions stay known: a repair in any later life may bring
/// back what they deleted. A put that is gone was deleted by the write in progress, whose number is `unfinished`.
fn carry_over(writes: &mut Writes, found: &Writes, unfinished: u64) {
    for (key, write) in writes.iter_mut() {
        if write.1 && !found.contains_key(key) {
            *write = (unfinished, false);
        }
    }
    writes.extend(found.iter().map(|(key, write)| (key.clone(), *write)));
}

fn options(read_only: bool) -> Options {
    Options {
        create_if_missing: false,
        paranoid_checks: true,
        read_only,
        write_buffer_size_bytes: 64 << 10,
        max_file_size_bytes: 64 << 10,
        ..Options::default()
    }
}

fn repair(directory: &Path) -> Result<(), String> {
    let status = Command::new(PYTHON).args([DRIVER, "repair"]).arg(directory).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("LevelDB's repair: {other:?}")),
    }
}

fn scan(db: &Db) -> terrace_engine::Result<BTreeMap<String, Vec<u8>>> {
    let mut iterator = db.iter(IterOptions::default())?;
    let mut entries = BTreeMap::new();
    iterator.seek_to_first()?;
    while iterator.valid() {
        let key = String::from_utf8_lossy(iterator.key()).into_owned();
        entries.insert(key, iterator.value().to_vec());
        iterator.next()?;
    }
    Ok(entries)
}

/// The number of the write that stored `value`.
fn number_of(value: &[u8]) -> Result<u64, String> {
    let text = String::from_utf8_lossy(value);
    let number = text.split(' ').next().and_then(|number| number.parse().ok());
    number.ok_or_else(|| format!("nobody wrote the value {text:?}"))
}

fn shown(value: Option<&Vec<u8>>) -> String {
    value.map_or("nothing".to_owned(), |value| String::from_utf8_lossy(value).chars().take(20).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(writes: &[(&str, u64, bool)]) -> Writes {
        writes.iter().map(|&(key, number, is_put)| (key.to_owned(), (number, is_put))).collect()
    }

    #[test]
    fn what_an_earlier_life_deleted_may_come_back_in_a_later_one() {
        let mut known = writes(&[
            ("deleted", 7, false),
            ("unfinished", 6, true),
            ("restored", 5, false),
            ("put", 8, true),
        ]);
        carry_over(&mut known, &writes(&[("put", 8, true), ("restored", 3, true), ("new", 9, true)]), 9);
        let expected = [
            ("deleted", 7, false),
            ("unfinished", 9, false),
            ("restored", 3, true),
            ("put", 8, true),
            ("new", 9, true),
        ];
        assert_eq!(known, writes(&expected));
    }
}
