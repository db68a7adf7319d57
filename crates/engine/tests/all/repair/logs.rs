//! Damaged, truncated and missing logs.

use std::path::Path;
use std::sync::Arc;

use terrace_engine::{Db, IterOptions, Options, WriteBatch};
use terrace_format::coding::put_varint32;
use terrace_format::limits::MAX_KEY_SIZE_BYTES;
use terrace_format::log::LogEncoder;

use super::fixture::{DIRECTORY, PLAIN, compare, contents, files, in_lost, place, records, repair, replayed};
use crate::support::{Model, Random, distance, entries, get, memory, put};

#[test]
fn a_flipped_byte_in_a_log_costs_at_most_its_record() {
    let name = PLAIN.name(".log");
    let log = &PLAIN.files[&name];
    let all = records(log);
    for position in (0..log.len()).step_by(distance(1)) {
        let mut damaged = log.clone();
        damaged[position] ^= if position % 2 == 0 { 0x01 } else { 0x80 };
        let env = place(&PLAIN.with(&name, Some(damaged)));
        let report = repair(&env);
        let found = contents(&env);
        let is_hit = |index: &usize| all[*index].start <= position && position < all[*index].end;
        let hit = (0..all.len()).find(is_hit).unwrap();
        if report.logs[0].records_kept == all.len() as u64 {
            // Only a field of a header was hit, and the checksum shows its value.
            assert!(report.nothing_lost(), "position {position}: {report}");
            assert_eq!(found, PLAIN.model, "position {position}: {report}");
        } else {
            assert!(!report.nothing_lost(), "position {position}: {report}");
            let others = all.iter().enumerate().filter(|(index, _)| *index != hit).map(|(_, record)| record);
            assert_eq!(found, replayed(&PLAIN.in_tables, others), "position {position}: {report}");
        }
        assert!(in_lost(&*env).contains(&name), "position {position}: {report}");
    }
}

#[test]
fn a_truncated_log_keeps_the_records_before_the_cut() {
    let name = PLAIN.name(".log");
    let log = &PLAIN.files[&name];
    let all = records(log);
    for cut in (0..log.len()).step_by(distance(3)) {
        let env = place(&PLAIN.with(&name, Some(log[..cut].to_vec())));
        let report = repair(&env);
        let expected = replayed(&PLAIN.in_tables, all.iter().filter(|record| record.end <= cut));
        assert_eq!(contents(&env), expected, "cut {cut}: {report}");
    }
}

#[test]
fn zeros_in_a_log_cost_the_records_they_touch() {
    let name = PLAIN.name(".log");
    let log = &PLAIN.files[&name];
    let all = records(log);
    let mut random = Random(5);
    for _ in 0..200 {
        let start = random.below(log.len() as u64) as usize;
        let end = (start + 1 + random.below(800) as usize).min(log.len());
        let mut damaged = log.clone();
        damaged[start..end].fill(0);
        if damaged == *log {
            continue;
        }
        let env = place(&PLAIN.with(&name, Some(damaged)));
        let report = repair(&env);
        let found = contents(&env);
        let untouched = all.iter().filter(|record| record.end <= start || record.start >= end);
        let expected = replayed(&PLAIN.in_tables, untouched);
        // If only a length or a type was zeroed, the record is found again.
        let is_recovered = report.logs[0].damage.iter().any(|damage| damage.lost_bytes == 0);
        assert!(found == expected || is_recovered, "{start}..{end}: {report}");
        assert!(start == 0 || found != PLAIN.in_tables || all[0].end > start, "{start}..{end}: {report}");
    }
}

#[test]
fn a_missing_log_is_survived() {
    let name = PLAIN.name(".log");
    let env = place(&PLAIN.with(&name, None));
    repair(&env);
    assert_eq!(contents(&env), PLAIN.in_tables);
}

#[test]
fn writes_in_several_blocks_of_a_log_survive_damage_of_one() {
    let env = memory();
    let db = Db::open(DIRECTORY, Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
    let mut random = Random(11);
    let mut expected = Model::new();
    for index in 0..200u32 {
        let (key, value) =
            (format!("{index:04}").into_bytes(), random.bytes(3_000 + (index as usize * 37) % 5_000));
        db.put(&key, &value, &Default::default()).unwrap();
        expected.insert(key, value);
    }
    drop(db);
    let whole = files(&*env, "");
    let name = whole.keys().find(|name| name.ends_with(".log")).unwrap();
    for position in (0..whole[name].len()).step_by(16_007) {
        let mut damaged = whole.clone();
        damaged.get_mut(name).unwrap()[position] ^= 0x10;
        let env = place(&damaged);
        let report = repair(&env);
        let difference = compare(&contents(&env), &expected);
        assert!(
            difference.gone.len() <= 1 && difference.stale.is_empty(),
            "{position}: {difference:?} {report}"
        );
        let end_of_block = (position / (32 << 10) + 1) * (32 << 10);
        let rest_of_block = &whole[name][position..end_of_block.min(whole[name].len())];
        if rest_of_block.iter().all(|byte| *byte == 0) {
            // The position is the end that the writer left. What was there before cannot be known.
            assert!(difference.gone.is_empty() && !report.nothing_lost(), "{position}: {report}");
        } else {
            assert_eq!(report.nothing_lost(), difference.gone.is_empty(), "{position}: {report}");
        }
    }
}

#[test]
fn a_log_inside_a_value_is_not_taken_for_records() {
    let env = memory();
    let options = Options { env: Arc::clone(&env), ..Options::default() };
    let db = Db::open(DIRECTORY, options.clone()).unwrap();
    put(&db, "a", "old");
    put(&db, "a", "older than this");
    let inner = files(&*env, ".log").into_values().next().unwrap();
    put(&db, "a", "new");
    db.put(b"log", &inner, &Default::default()).unwrap();
    put(&db, "z", "last");
    drop(db);
    let mut damaged = files(&*env, "");
    let name = damaged.keys().find(|name| name.ends_with(".log")).unwrap().clone();
    let records = records(&damaged[&name]);
    let header = records[3].start;
    // Damages length and checksum, so that the end of the record cannot be known.
    damaged.get_mut(&name).unwrap()[header..header + 6].fill(0xee);
    let env = place(&damaged);
    let report = repair(&env);
    let db = Db::open(DIRECTORY, Options { env, ..options }).unwrap();
    assert_eq!(get(&db, "a").as_deref(), Some("new"), "{report}");
    assert_eq!(get(&db, "log"), None);
    assert_eq!(get(&db, "z").as_deref(), Some("last"), "{report}");
}

/// Earlier builds for browsers acknowledged such keys, which no table can hold.
#[test]
fn a_log_with_a_key_that_is_too_large_keeps_all_other_entries_and_the_report_names_that_key() {
    for has_manifest in [true, false] {
        let env = memory();
        let options = || Options { env: Arc::clone(&env), ..Options::default() };
        let db = Db::open(DIRECTORY, options()).unwrap();
        put(&db, "in a table", "1");
        db.flush().unwrap();
        db.close().unwrap();
        let db = Db::open(DIRECTORY, options()).unwrap();
        put(&db, "before", "2");
        db.close().unwrap();
        let path =
            env.list(Path::new(DIRECTORY)).unwrap().into_iter().filter(|name| name.ends_with(".log")).max();
        let path = Path::new(DIRECTORY).join(path.unwrap());

        let too_long = [b"user:".as_slice(), &vec![b'k'; MAX_KEY_SIZE_BYTES]].concat();
        let mut log = env.read_file(&path).unwrap();
        let mut encoder = LogEncoder::at_offset(log.len() as u64);
        let mut batch = WriteBatch::new();
        batch.put(b"beside", b"3").unwrap();
        batch.set_sequence(100);
        let mut bytes = batch.as_bytes().to_vec();
        for (kind, parts) in
            [(1, vec![&too_long[..], b"v"]), (0, vec![&too_long[..]]), (1, vec![b"last", b"4"])]
        {
            bytes.push(kind);
            for part in parts {
                put_varint32(&mut bytes, part.len() as u32);
                bytes.extend_from_slice(part);
            }
        }
        bytes[8..12].copy_from_slice(&4_u32.to_le_bytes());
        encoder.encode_into(&bytes, &mut log);
        let mut file = env.create(&path).unwrap();
        file.append(&log).unwrap();
        file.close().unwrap();
        if !has_manifest {
            env.remove_file(&Path::new(DIRECTORY).join("CURRENT")).unwrap();
        }

        let report = Db::repair(DIRECTORY, &options()).unwrap();
        let text = report.to_string();
        assert!(!report.nothing_lost(), "{text}");
        assert_eq!(text.matches("a write whose key has 67108869 bytes").count(), 2, "{text}");
        assert!(text.contains("user:kkkk") && text.len() < 4000, "{text}");
        let db = Db::open(DIRECTORY, options()).unwrap();
        for (key, value) in [("in a table", "1"), ("before", "2"), ("beside", "3"), ("last", "4")] {
            assert_eq!(get(&db, key).as_deref(), Some(value), "{key}: {text}");
        }
        assert_eq!(entries(&db, IterOptions::default()).len(), 4);
        put(&db, "after", "5");
        db.flush().unwrap();
        db.verify().unwrap();
    }
}
