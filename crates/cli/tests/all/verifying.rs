//! Damage: what verify finds, what reading commands report, what repair keeps.

use std::fs;

use crate::support::{TestDirectory, damage, file_of, snapshot, terrace, value};

#[test]
fn every_damaged_place_is_listed() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(2000);
    let table = file_of(&db, ".ldb");
    assert!(terrace([&"verify", &db]).ok().starts_with("sound: "));
    for at in [100, 6000] {
        damage(&table, at);
    }
    let before = snapshot(&db);
    let run = terrace([&"verify", &db]);
    assert_eq!(run.code, 1);
    let name = table.file_name().unwrap().to_str().unwrap();
    let lines = run.lines();
    assert_eq!(lines.len(), 3, "{}", run.out);
    assert!(lines[0].starts_with(&format!("{name} at byte 0: ")), "{}", lines[0]);
    assert!(lines[2].contains("terrace repair"), "{}", lines[2]);
    let json = terrace([&"verify", &db, &"--json"]).json();
    assert_eq!((json.len(), &json[2]["damaged_places"]), (3, &2.into()));
    assert_eq!(snapshot(&db), before);
}

#[test]
fn a_read_that_meets_damage_says_where_and_what_to_do() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(2000);
    let table = file_of(&db, ".ldb");
    damage(&table, 6000);
    let run = terrace([&"scan", &db]);
    let printed = run.lines().len();
    assert!(printed > 10 && printed < 2000, "what came before is printed: {printed}");
    let error = run.failed(5);
    let advice = format!("terrace inspect {}", table.display());
    assert!(
        error.contains("at byte") && error.contains(&advice) && error.contains("terrace repair"),
        "{error}"
    );
    assert_eq!(terrace([&"get", &db, &"00001"]).ok(), format!("{}\n", value(1)));
    terrace([&"count", &db, &"--threads=2"]).failed(5);
}

#[test]
fn a_database_that_does_not_open_is_verified_file_by_file() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit2-killed/indexeddb");
    let (log, table) = (file_of(&db, ".log"), file_of(&db, "000016.ldb"));
    damage(&log, 1000);
    damage(&table, 5000);
    terrace([&"scan", &db]).failed(5);
    let run = terrace([&"verify", &db]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("000014.log at byte") && run.out.contains("000016.ldb at byte"), "{}", run.out);

    let other = scratch.copy("leveldb-1.23-raw");
    let is_found = |position: &str| {
        terrace([&"scan", &other]).failed(5);
        let run = terrace([&"verify", &other]);
        assert!(
            run.code == 1 && run.lines().len() == 2 && run.out.contains(position),
            "{position} in {}",
            run.out
        );
    };
    let manifest = other.join("MANIFEST-000002");
    let sound = fs::read(&manifest).unwrap();
    damage(&manifest, 100);
    is_found("MANIFEST-000002 at byte 50: a checksum");
    fs::write(&manifest, sound).unwrap();
    fs::write(other.join("CURRENT"), "").unwrap();
    is_found("CURRENT at byte 0: the file is empty");
    fs::write(other.join("CURRENT"), "MANIFEST-000002\n").unwrap();
    fs::rename(other.join("000007.ldb"), other.join("away")).unwrap();
    is_found("000007.ldb: MANIFEST-000002 names a table that is missing");
    fs::rename(other.join("away"), other.join("000007.ldb")).unwrap();
    terrace([&"verify", &other]).ok();
    fs::remove_file(other.join("CURRENT")).unwrap();
    is_found("the file CURRENT is missing");
}

#[test]
fn a_presumed_loss_of_power_is_told_before_and_after_the_open_that_leaves_it_out() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit2-killed/indexeddb");
    let log = file_of(&db, ".log");
    let mut bytes = fs::read(&log).unwrap();
    bytes[1024..1536].fill(0);
    fs::write(&log, bytes).unwrap();
    let run = terrace([&"verify", &db]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("000014.log at byte") && run.out.contains("a loss of power"), "{}", run.out);
    let json = terrace([&"verify", &db, &"--json"]).json();
    assert_eq!((&json[0]["file"], json[1]["in_lost"].as_array().unwrap().len()), (&"000014.log".into(), 0));

    terrace([&"compact", &db]).ok();
    let out = terrace([&"verify", &db]).ok();
    assert!(
        out.starts_with("sound: ") && out.contains("directory lost") && out.contains("000014.log"),
        "{out}"
    );
    let out = terrace([&"repair", &db]).ok();
    assert!(out.contains("lost from before, by an earlier open or repair: 000014.log"), "{out}");
    let json = &terrace([&"repair", &db, &"--json"]).json()[0];
    assert_eq!(json["in_lost_before"][0], "000014.log");
}

#[test]
fn repair_keeps_what_is_intact_and_tells_what_is_lost() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(2000);
    assert!(terrace([&"repair", &db]).ok().starts_with("Nothing is lost: 2000 entries."));
    damage(&file_of(&db, ".ldb"), 6000);
    let run = terrace([&"repair", &db]);
    assert!(run.code == 1 && run.out.contains("damaged, ") && run.out.contains("lost/"), "{}", run.out);
    terrace([&"verify", &db]).ok();
    let left: usize = terrace([&"count", &db]).ok().trim().parse().unwrap();
    assert!(left > 1800 && left < 2000, "{left}");

    let broken = scratch.copy("leveldb-1.20-snappy");
    fs::remove_file(broken.join("CURRENT")).unwrap();
    fs::remove_file(file_of(&broken, "MANIFEST-000002")).unwrap();
    let json = &terrace([&"repair", &broken, &"--json"]).json()[0];
    assert_eq!(json["levels_from"], "merge");
    assert_eq!(terrace([&"count", &broken]).ok(), "2403\n");
}
