//! Damaged, truncated and missing tables.

use std::path::Path;

use terrace_engine::LevelSource;

use terrace_format::block::{Block, BlockIter};
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::{BlockHandle, Footer, split_block};

use super::fixture::{
    DIRECTORY, Fixture, PLAIN, SNAPPY, assert_stale_are_reported, compare, contents, place, repair,
};
use crate::support::{Random, distance};

/// More entries than a block of 256 bytes holds.
const MAX_ENTRIES_A_BLOCK: usize = 16;

#[test]
fn a_flipped_byte_in_a_table_costs_at_most_its_block() {
    for fixture in [&*PLAIN, &*SNAPPY] {
        for name in fixture.names(".ldb") {
            let size = fixture.files[&name].len();
            for position in
                (0..size).step_by(distance(211)).chain((size.saturating_sub(400)..size).step_by(distance(7)))
            {
                let mut damaged = fixture.files[&name].clone();
                damaged[position] ^= 0x40;
                check_table_damage(fixture, &name, damaged, MAX_ENTRIES_A_BLOCK, position);
            }
        }
    }
}

#[test]
fn zeros_in_a_table_cost_at_most_the_blocks_they_touch() {
    let mut random = Random(3);
    for name in PLAIN.names(".ldb") {
        let size = PLAIN.files[&name].len();
        for _ in 0..10 {
            let start = random.below(size as u64) as usize;
            let end = (start + 1 + random.below(1500) as usize).min(size);
            let mut damaged = PLAIN.files[&name].clone();
            damaged[start..end].fill(0);
            let blocks = (end - start) / 200 + 2;
            check_table_damage(&PLAIN, &name, damaged, blocks * MAX_ENTRIES_A_BLOCK, start);
        }
    }
}

#[test]
fn bytes_missing_from_a_table_bring_in_nothing_that_nobody_wrote() {
    let mut random = Random(41);
    for fixture in [&*PLAIN, &*SNAPPY] {
        for name in fixture.names(".ldb") {
            let table = &fixture.files[&name];
            let size = table.len() as u64;
            let data_end =
                Footer::decode(&table[table.len() - FOOTER_SIZE_BYTES..]).unwrap().metaindex.offset;
            for round in 0..6 {
                let length = 1 + random.below(size / 2);
                // Every other time, the last data blocks are among the missing bytes.
                let latest = if round % 2 == 0 { size - length } else { data_end.saturating_sub(1) };
                let start = latest - random.below(latest.min(length) + 1);
                let mut damaged = table.clone();
                damaged.drain(start as usize..(start + length).min(size) as usize);
                let env = place(&fixture.with(&name, Some(damaged)));
                let report = repair(&env);
                let found = contents(&env);
                for (key, value) in &found {
                    let is_written = key.starts_with(b"key") && value.starts_with(b"value ");
                    assert!(is_written, "{name} without {length} bytes at {start}: {key:?}\n{report}");
                }
                let difference = compare(&found, &fixture.model);
                assert_stale_are_reported(&difference, &report);
                assert!(difference.gone.is_empty() || !report.nothing_lost(), "{name}: {report}");
            }
        }
    }
}

#[test]
fn a_truncated_table_keeps_all_blocks_before_the_cut() {
    for fixture in [&*PLAIN, &*SNAPPY] {
        for name in fixture.names(".ldb") {
            let size = fixture.files[&name].len();
            for cut in (0..size).step_by(distance(311)).chain([1, size - 1, size - 48]) {
                let damaged = fixture.files[&name][..cut].to_vec();
                // An entry takes at least 16 bytes, or perhaps 6 if it is compressed.
                let bound = (size - cut) / 6 + MAX_ENTRIES_A_BLOCK;
                check_table_damage(fixture, &name, damaged, bound, cut);
            }
        }
    }
}

/// Repairs the database with this table damaged.
fn check_table_damage(fixture: &Fixture, name: &str, damaged: Vec<u8>, max_lost: usize, position: usize) {
    if damaged == fixture.files[name] {
        return;
    }
    let env = place(&fixture.with(name, Some(damaged.clone())));
    let report = repair(&env);
    assert_eq!(report.levels_from, LevelSource::Manifest);
    let size = fixture.files[name].len();
    if (size - 48..size - 8).contains(&position) && report.tables_salvaged.is_empty() {
        // The damage hit the footer's padding, which means nothing.
        assert_eq!(contents(&env), fixture.model);
        return;
    }
    let difference = compare(&contents(&env), &fixture.model);
    let lost = difference.gone.len() + difference.stale.len();
    assert!(lost <= max_lost, "{name} at {position}: {difference:?}\n{report}");
    assert_stale_are_reported(&difference, &report);
    assert_eq!(report.tables_salvaged.len(), 1, "{name} at {position}: {report}");
    assert!(lost == 0 || report.lost_bytes() > 0, "{name} at {position}: {report}");
    assert_eq!(report.tables_salvaged[0].name, name);
    let kept = env.read_file(&Path::new(DIRECTORY).join("lost").join(name)).unwrap();
    assert_eq!(kept, damaged, "the damaged table is set aside");
    let again = repair(&env);
    assert!(again.nothing_lost(), "{again}");
    assert_eq!(compare(&contents(&env), &fixture.model).gone, difference.gone);
}

#[test]
fn damage_in_the_last_part_of_a_table_loses_no_entry() {
    // The last part is filter, metaindex, index and footer. The data blocks are found without them.
    for fixture in [&*PLAIN, &*SNAPPY] {
        for name in fixture.names(".ldb") {
            let size = fixture.files[&name].len();
            for position in (size - 48..size).step_by(distance(3)) {
                let mut damaged = fixture.files[&name].clone();
                damaged[position] ^= 1;
                let env = place(&fixture.with(&name, Some(damaged)));
                let report = repair(&env);
                assert!(report.nothing_lost(), "{name} at {position}: {report}");
                assert_eq!(contents(&env), fixture.model, "{name} at {position}");
            }
        }
    }
}

#[test]
fn a_footer_that_leads_to_another_block_loses_no_entry() {
    let mut misled = 0;
    for name in PLAIN.names(".ldb") {
        let table = &PLAIN.files[&name];
        let footer_offset = table.len() - FOOTER_SIZE_BYTES;
        let footer = Footer::decode(&table[footer_offset..]).unwrap();
        let data = handles(table, footer.index);
        for index in data.into_iter().chain(handles(table, footer.metaindex)).chain([footer.metaindex]) {
            let mut damaged = table.clone();
            damaged[footer_offset..].copy_from_slice(&Footer { index, ..footer }.encode());
            for index_is_damaged in [false, true] {
                damaged[footer.index.offset as usize] ^= u8::from(index_is_damaged);
                let env = place(&PLAIN.with(&name, Some(damaged.clone())));
                let report = repair(&env);
                assert!(contents(&env) == PLAIN.model, "{name}, {index:?}: {report}");
                misled += 1;
            }
        }
    }
    assert!(misled > 100, "{misled} cases are too few for a test");
}

/// The handles in an uncompressed block of a table: all of its values, except values too short for a handle.
fn handles(table: &[u8], block: BlockHandle) -> Vec<BlockHandle> {
    let range = block.sealed_range(table.len() as u64).unwrap();
    let (_, contents) = split_block(&table[range.start as usize..range.end as usize]).unwrap();
    let block = Block::new(contents.to_vec()).unwrap();
    let mut entries = BlockIter::new(&block);
    let mut handles = Vec::new();
    entries.seek_to_first().unwrap();
    while entries.valid() {
        handles.extend(BlockHandle::decode(entries.value()).map(|(handle, _)| handle));
        entries.next().unwrap();
    }
    handles
}

#[test]
fn a_missing_table_costs_its_own_entries_only() {
    for name in PLAIN.names(".ldb") {
        let env = place(&PLAIN.with(&name, None));
        let report = repair(&env);
        assert_eq!(report.tables_missing, std::slice::from_ref(&name));
        assert!(!report.nothing_lost());
        let difference = compare(&contents(&env), &PLAIN.model);
        assert_stale_are_reported(&difference, &report);
        let mut table = PLAIN.files.clone();
        table.retain(|other, _| *other == name);
        // If the table is alone, it is merged unchanged, which shows its keys.
        let alone = place(&table);
        repair(&alone);
        let keys = contents(&alone);
        for key in &difference.gone {
            assert!(keys.contains_key(key), "{} was in another table", key.escape_ascii());
        }
    }
}

#[test]
fn a_file_of_noise_costs_only_itself() {
    let mut random = Random(17);
    for name in PLAIN.names(".ldb").into_iter().take(4).chain([PLAIN.name(".log")]) {
        let noise = random.bytes(PLAIN.files[&name].len());
        let env = place(&PLAIN.with(&name, Some(noise)));
        let report = repair(&env);
        assert!(!report.nothing_lost(), "{report}");
        let difference = compare(&contents(&env), &PLAIN.model);
        if name.ends_with(".ldb") {
            assert_stale_are_reported(&difference, &report);
        }
    }
}
