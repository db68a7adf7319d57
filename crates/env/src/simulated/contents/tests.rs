use std::collections::BTreeSet;

use super::*;

const STRICT: Mode = Mode::StrictPosix;
const EXT4: Mode = Mode::Ext4Ordered;

fn cut(mode: Mode, sector_size_bytes: usize) -> Cut {
    Cut { mode, sector_size_bytes, maps_logs: true }
}

/// What cuts by many seeds leave of `contents`.
fn outcomes(contents: &Contents, cut: Cut) -> BTreeSet<Vec<u8>> {
    (0..2000).map(|seed| contents.after_power_cut(cut, &mut Random::new(seed)).0.bytes().to_vec()).collect()
}

/// The first byte of each sector, as text, with `.` for 0.
fn heads(bytes: &[u8], sector_size_bytes: usize) -> String {
    bytes
        .chunks(sector_size_bytes)
        .map(|sector| if sector[0] == 0 { '.' } else { sector[0] as char })
        .collect()
}

fn head_outcomes(contents: &Contents, cut: Cut) -> BTreeSet<String> {
    outcomes(contents, cut).iter().map(|bytes| heads(bytes, cut.sector_size_bytes)).collect()
}

fn texts<const N: usize>(texts: [&str; N]) -> BTreeSet<String> {
    texts.map(str::to_owned).into()
}

/// Two sectors of `o`, synced.
fn two_old_sectors(sector_size_bytes: usize) -> Contents {
    let mut contents = Contents::default();
    contents.write(0, &vec![b'o'; 2 * sector_size_bytes]);
    contents.sync();
    contents
}

#[test]
fn what_was_synced_stays() {
    let mut contents = Contents::default();
    contents.write(0, b"synced");
    contents.sync();
    for mode in [STRICT, EXT4] {
        assert_eq!(outcomes(&contents, cut(mode, 512)), BTreeSet::from([b"synced".to_vec()]));
    }
    // Bytes written after them harm neither other sectors nor the synced bytes of the same sector.
    contents.write(6, &[b'n'; 5000]);
    for mode in [STRICT, EXT4] {
        assert!(outcomes(&contents, cut(mode, 512)).iter().all(|bytes| bytes.starts_with(b"synced")));
    }
}

#[test]
fn a_write_is_lost_kept_or_torn_at_sectors() {
    for sector in [512, 4096] {
        for mode in [STRICT, EXT4] {
            let mut contents = two_old_sectors(sector);
            contents.write(0, &vec![b'n'; 2 * sector]);
            let found = head_outcomes(&contents, cut(mode, sector));
            assert_eq!(found, texts(["oo", "on", "no", "nn"]), "{mode:?}");
            // Writes are not torn within a sector.
            for bytes in outcomes(&contents, cut(mode, sector)) {
                assert!(bytes.chunks(sector).all(|sector| sector.iter().all(|byte| *byte == sector[0])));
            }
        }
    }
}

#[test]
fn writes_reach_the_disk_in_any_order() {
    let mut contents = two_old_sectors(512);
    contents.write(0, &[b'1'; 512]);
    contents.write(512, &[b'2'; 512]);
    for mode in [STRICT, EXT4] {
        assert_eq!(head_outcomes(&contents, cut(mode, 512)), texts(["oo", "1o", "o2", "12"]), "{mode:?}");
    }
}

#[test]
fn writes_to_one_sector_reach_it_in_order() {
    let mut contents = Contents::default();
    contents.write(0, b"....");
    contents.sync();
    contents.write(0, b"1");
    contents.write(1, b"2");
    let expected = [b"....", b"1...", b"12.."].map(|bytes| bytes.to_vec());
    assert_eq!(outcomes(&contents, cut(STRICT, 512)), BTreeSet::from(expected));
}

#[test]
fn strictly_a_file_may_have_grown_without_its_bytes() {
    let mut contents = Contents::default();
    contents.write(0, &[b'n'; 1024]);
    assert_eq!(head_outcomes(&contents, cut(STRICT, 512)), texts(["", "..", ".n", "n.", "nn"]));
    // In ordered mode the bytes came first.
    assert_eq!(head_outcomes(&contents, cut(EXT4, 512)), texts(["", "nn"]));
}

#[test]
fn ordered_bytes_come_before_the_size_write_by_write() {
    let mut contents = Contents::default();
    for byte in [b'1', b'2', b'3'] {
        contents.write(contents.bytes().len(), &[byte; 700]);
    }
    for bytes in outcomes(&contents, cut(EXT4, 512)) {
        assert_eq!(bytes, contents.bytes()[..bytes.len()], "a prefix");
        assert!(bytes.len() % 700 == 0);
    }
}

#[test]
fn a_size_may_stop_within_a_large_write() {
    let mut contents = Contents::default();
    contents.write(0, &[b'n'; 3 * 4096 + 100]);
    for mode in [STRICT, EXT4] {
        let sizes: BTreeSet<_> = outcomes(&contents, cut(mode, 512)).iter().map(Vec::len).collect();
        assert_eq!(sizes, BTreeSet::from([0, 4096, 8192, 12_288, 12_388]), "{mode:?}");
    }
}

#[test]
fn a_truncation_may_be_lost() {
    let mut contents = two_old_sectors(512);
    contents.truncate(512);
    for mode in [STRICT, EXT4] {
        // The system clears the rest of a sector or page that it truncates; in strict mode that may reach the disk
        // alone.
        let found = head_outcomes(&contents, cut(mode, 512));
        assert!(found.contains("oo") && found.contains("o"), "{found:?}");
        assert!(found.is_subset(&texts(["oo", "o", "o."])), "{found:?}");
    }
}

#[test]
fn after_a_truncation_the_order_of_bytes_and_size_holds_too() {
    let mut contents = two_old_sectors(512);
    contents.truncate(0);
    contents.write(0, &[b'n'; 600]);
    for bytes in outcomes(&contents, cut(EXT4, 512)) {
        if bytes.len() == 600 {
            assert!(bytes.iter().all(|byte| *byte == b'n'), "{}", heads(&bytes, 512));
        }
    }
}

#[test]
fn pages_of_a_mapped_log_reach_the_disk_in_any_order_and_half_copied() {
    let mut log = Contents::default();
    log.begin_log();
    log.write_log(0, &[b'1'; 4096], Some(0));
    log.write_log(4096, &[b'2'; 4096], Some(0));
    let found = outcomes(&log, cut(EXT4, 512));
    let holes = found.iter().filter(|bytes| bytes.starts_with(&[0; 4096]) && bytes[4096..].starts_with(b"2"));
    assert!(holes.count() > 0, "the second page without the first, also where a plain file keeps the order");
    let longer = found.iter().filter(|bytes| bytes.len() == 32 << 10);
    assert!(longer.count() > 0, "it is longer than what was written");
    let headless = |bytes: &&Vec<u8>| bytes.len() >= 4096 && bytes.starts_with(&[0; 8]) && bytes[8] == b'1';
    let (whole, halves): (Vec<_>, Vec<_>) = found.iter().filter(headless).partition(|bytes| bytes[4095] != 0);
    assert!(!whole.is_empty(), "the header is stored last");
    assert!(!halves.is_empty());
    for bytes in halves {
        let copied = 8 + bytes[8..].iter().take_while(|byte| **byte == b'1').count();
        assert!(copied % 8 == 0 && bytes[copied..4096].iter().all(|byte| *byte == 0), "{copied}");
    }
}

#[test]
fn a_killed_process_leaves_what_it_wrote_and_its_log_perhaps_longer() {
    let mut sizes = BTreeSet::new();
    for seed in 0..20 {
        let mut log = Contents::default();
        log.begin_log();
        log.write_log(0, b"record", Some(0));
        log.lose_process(&mut Random::new(seed));
        assert!(log.bytes().starts_with(b"record") && log.bytes()[6..].iter().all(|byte| *byte == 0));
        sizes.insert(log.bytes().len());

        let mut closed = Contents::default();
        closed.begin_log();
        closed.write_log(0, b"record", Some(0));
        closed.close_log();
        closed.lose_process(&mut Random::new(seed));
        assert_eq!(closed.bytes(), b"record");

        let mut cut = Contents::default();
        cut.begin_log();
        cut.write(0, b"pieces of a record");
        cut.truncate(6);
        cut.lose_process(&mut Random::new(seed));
        assert_eq!(cut.bytes(), b"pieces", "nothing is ready after a log that was cut");
    }
    assert_eq!(sizes, BTreeSet::from([6, 32 << 10]));
}

#[test]
fn a_process_killed_amid_a_write_leaves_a_beginning_or_a_record_without_its_header() {
    let (mut beginnings, mut headless) = (0, 0);
    for seed in 0..100 {
        let mut log = Contents::default();
        log.begin_log();
        log.write_log(0, &[b'1'; 100], Some(0));
        log.note_underway(100, &[b'2'; 200], Some(0));
        log.lose_process(&mut Random::new(seed));
        let rest = &log.bytes()[100..];
        if rest.len() <= 200 {
            assert!(rest.iter().all(|byte| *byte == b'2'));
            beginnings += 1;
        } else {
            assert_eq!(log.bytes().len(), 32 << 10, "the zeros end with the block");
            assert!(rest[..8] == [0; 8] && rest[200..].iter().all(|byte| *byte == 0));
            headless += u64::from(rest[8] == b'2');
        }

        let mut log = Contents::default();
        log.begin_log();
        log.write_log(0, &[b'1'; 32 << 10], Some(0));
        log.note_underway(32 << 10, &[b'2'; 20_000], None);
        log.lose_process(&mut Random::new(seed));
        assert!(
            log.bytes()[32 << 10..].iter().all(|byte| *byte == b'2'),
            "the end of the file comes after it"
        );
    }
    assert!(beginnings > 10 && headless > 10, "{beginnings} and {headless}");
}

#[test]
fn a_power_cut_adds_no_zeros_to_a_write_that_a_kill_cut_off() {
    for (start, header) in [(100, Some(0)), (32 << 10, None)] {
        let mut sizes = BTreeSet::new();
        for seed in 0..100 {
            let mut log = Contents::default();
            log.begin_log();
            log.write_log(0, &vec![b'1'; start], Some(0));
            log.note_underway(start, &[b'2'; 20_000], header);
            log.lose_process(&mut Random::new(seed));
            let is_plain = log.bytes().len() <= start + 20_000 && log.bytes().last() != Some(&0);
            if is_plain && log.bytes().len() > start {
                let size = log.bytes().len();
                sizes.insert(size);
                for seed in 0..50 {
                    let (after, _) = log.after_power_cut(cut(STRICT, 512), &mut Random::new(seed));
                    assert!(after.bytes().len() <= size, "a kill left {size} bytes");
                }
            }
        }
        assert!(sizes.len() > 10, "{sizes:?}");
    }
}

#[test]
fn a_power_cut_shows_no_page_that_a_call_has_half_written() {
    let mut log = Contents::default();
    log.begin_log();
    log.write_log(0, &vec![b'1'; 32 << 10], Some(0));
    log.sync();
    log.write_log(32 << 10, &[b'2'; 8192], None);
    for bytes in outcomes(&log, cut(STRICT, 4096)) {
        let pages = bytes[32 << 10..].chunks(4096);
        assert!(
            pages.map(|page| (page[0], page)).all(|(first, page)| page.iter().all(|byte| *byte == first))
        );
    }
}

#[test]
fn a_failed_sync_drops_pages_that_no_later_sync_writes() {
    let (mut lost, mut written_again, mut lost_for_good) = (0, 0, 0);
    for seed in 0..200 {
        let mut contents = Contents::default();
        contents.write(0, &[b'1'; 8192]);
        contents.fail_write_back(&mut Random::new(seed));
        contents.sync();
        assert_eq!(contents.bytes(), [b'1'; 8192], "readers see it as long as the power stays");
        let found = outcomes(&contents, cut(STRICT, 512));
        assert_eq!(found.len(), 1, "nothing waits any more");
        let after = found.first().unwrap();
        assert_eq!(after.len(), 8192);
        lost += u64::from(after.contains(&0));
        let was_dropped = after[..4096].contains(&0);

        // A page that is written again goes to the disk as a whole, or never does.
        contents.write(100, b"again");
        contents.sync();
        let after = outcomes(&contents, cut(STRICT, 512)).pop_first().unwrap();
        if after[..4096] == [0; 4096] {
            assert!(was_dropped);
            lost_for_good += 1;
            // Truncated and written again, the file behaves like a new one.
            contents.truncate(0);
            contents.write(0, &[b'1'; 8192]);
            contents.sync();
            assert_eq!(outcomes(&contents, cut(STRICT, 512)), BTreeSet::from([vec![b'1'; 8192]]));
        } else {
            assert_eq!(after[..4096], contents.bytes()[..4096]);
            written_again += u64::from(was_dropped);
        }
    }
    assert!(lost > 40 && written_again > 20 && lost_for_good > 20, "{lost} {written_again} {lost_for_good}");
}

#[test]
fn a_page_that_the_disk_held_before_a_failure_is_never_lost_for_good() {
    for seed in 0..200 {
        let mut contents = Contents::default();
        contents.write(0, b"synced");
        contents.sync();
        contents.write(6, &[b'1'; 4090]);
        contents.fail_write_back(&mut Random::new(seed));
        contents.write(4000, b"again");
        contents.sync();
        let after = outcomes(&contents, cut(STRICT, 512)).pop_first().unwrap();
        assert_eq!(after, contents.bytes());
    }
}

#[test]
fn counts_what_became_of_sectors() {
    let mut contents = Contents::default();
    contents.write(0, &[b'1'; 1024]);
    contents.write(0, &[b'2'; 1024]);
    let mut seen = Sectors::default();
    for seed in 0..200 {
        let (_, sectors) = contents.after_power_cut(cut(STRICT, 512), &mut Random::new(seed));
        assert_eq!((sectors.waiting, sectors.kept + sectors.older + sectors.lost), (2, 2));
        seen.kept += sectors.kept;
        seen.older += sectors.older;
        seen.lost += sectors.lost;
    }
    assert!(seen.kept > 50 && seen.older > 20 && seen.lost > 50, "{seen:?}");
}
