//! Damage: what verify finds, what reading commands report, what repair keeps.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::support::{AsArgument, Run, TestDirectory, damage, file_of, program, snapshot, terrace, value};

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

    let run = terrace([&"compact", &db]);
    assert_eq!((run.code, run.err.lines().count()), (0, 1), "{}", run.err);
    assert!(
        run.err.starts_with("terrace: writes are left out: ") && run.err.contains("000014.log"),
        "{}",
        run.err
    );
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

/// Changes a database's files.
type Damage = fn(&Path);

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

#[test]
fn verify_reports_whatever_repair_loses_something_of() {
    // What verify and repair exit with. A repair finds all blocks of a table without its footer, and all tables without the
    // MANIFEST, so it loses nothing, but they are damaged.
    let damages: [(&str, (i32, i32), Damage); 9] = [
        ("nothing", (0, 0), |_| {}),
        ("the log is missing", (1, 1), |db| fs::remove_file(db.join("000022.log")).unwrap()),
        ("the log is cut off", (0, 0), |db| {
            change(&db.join("000022.log"), |bytes| bytes.truncate(bytes.len() - 5));
        }),
        ("a bit of the log", (1, 1), |db| change(&db.join("000022.log"), |bytes| bytes[100] ^= 1)),
        ("a bit of a table", (1, 1), |db| change(&db.join("000025.ldb"), |bytes| bytes[100] ^= 1)),
        ("the footer of a table", (1, 0), |db| {
            change(&db.join("000025.ldb"), |bytes| {
                let end = bytes.len();
                bytes[end - 48..].fill(7);
            });
        }),
        ("a missing table", (1, 1), |db| fs::remove_file(db.join("000025.ldb")).unwrap()),
        ("a bit of the MANIFEST", (1, 0), |db| change(&db.join("MANIFEST-000002"), |bytes| bytes[40] ^= 1)),
        ("a table that nothing refers to", (0, 0), |db| {
            fs::copy(db.join("000025.ldb"), db.join("000001.ldb")).unwrap();
        }),
    ];
    for name in ["leveldb-1.20-snappy", "bedrock-deflate"] {
        for (what, codes, damage) in &damages {
            let scratch = TestDirectory::new();
            let db = scratch.copy(name);
            damage(&db);
            let verified = terrace([&"verify", &db]);
            let repaired = terrace([&"repair", &db]);
            assert_eq!(
                (verified.code, repaired.code),
                *codes,
                "{name}, {what}: {}{}",
                verified.out,
                repaired.out
            );
        }
    }
}

#[test]
fn every_command_says_on_standard_error_that_writes_are_missing() {
    let missing = "terrace: writes are missing: MANIFEST-000002 needs a log that is missing";
    let scratch = TestDirectory::new();
    let (target, import) = (scratch.path("target"), scratch.path("import.jsonl"));
    fs::write(&import, "").unwrap();
    let sound = scratch.copy("leveldb-1.23-raw");
    let commands: [(&str, &[&dyn AsArgument]); 13] = [
        ("get", &[&"apple"]),
        ("scan", &[&"--limit=1"]),
        ("count", &[]),
        ("stats", &[]),
        ("export", &[]),
        ("copy", &[&target]),
        ("diff", &[&sound, &"--quiet"]),
        ("put", &[&"key", &"value"]),
        ("del", &[&"key"]),
        ("batch", &[]),
        ("compact", &[]),
        ("checkpoint", &[&target]),
        ("import", &[&import]),
    ];
    for (command, arguments) in commands {
        let scratch = TestDirectory::new();
        let db = scratch.copy("leveldb-1.20-snappy");
        fs::remove_file(db.join("000022.log")).unwrap();
        drop(fs::remove_dir_all(&target));
        let run = run_in(command, &db, arguments);
        let lines: Vec<_> = run.err.lines().filter(|line| line.starts_with("terrace: ")).collect();
        assert_eq!(lines.len(), 1, "{command}: {}", run.err);
        assert!(lines[0].starts_with(missing) && lines[0].contains("000022.log"), "{command}: {}", lines[0]);
        let run = run_in(command, &sound, arguments);
        assert!(!run.err.contains("missing"), "{command}: {}", run.err);
    }
}

fn run_in(command: &str, db: &Path, arguments: &[&dyn AsArgument]) -> Run {
    let mut program = program();
    program.arg(command).arg(db).args(arguments.iter().map(|argument| argument.as_argument()));
    let output = program.stdin(Stdio::null()).output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn every_json_says_what_is_left_out() {
    let scratch = TestDirectory::new();
    let sound = scratch.copy("leveldb-1.23-raw");
    let db = scratch.copy("leveldb-1.20-snappy");
    fs::remove_file(db.join("000022.log")).unwrap();
    let key = terrace([&"scan", &db, &"--limit=1", &"--keys"]).out;
    let commands: [(&str, &[&dyn AsArgument]); 6] = [
        ("count", &[]),
        ("stats", &[]),
        ("verify", &[]),
        ("get", &[&key.trim_end()]),
        ("scan", &[&"--limit=3"]),
        ("diff", &[&sound, &"--limit=3"]),
    ];
    for (command, arguments) in commands {
        let arguments: Vec<_> = [&"--json" as &dyn AsArgument].iter().chain(arguments).copied().collect();
        let run = run_in(command, &db, &arguments);
        let lines = run.json();
        let with = lines.iter().filter(|line| {
            let left_out = &line["left_out"][0];
            left_out["file"] == "000022.log"
                && left_out["bytes"] == 0
                && left_out["problem"].as_str().unwrap().contains("a log that is missing")
        });
        // verify has a line for each piece of damage, and then the summary.
        let expected = if command == "verify" { 1 } else { lines.len() };
        assert!(expected > 0 && with.count() == expected, "{command}: {}", run.out);
        let is_summary = ["count", "stats", "verify"].contains(&command);
        for line in run_in(command, &sound, &arguments).json() {
            let left_out = line.get("left_out");
            assert_eq!(left_out.is_some(), is_summary, "{command}: {line}");
            assert!(left_out.is_none_or(|left_out| left_out.as_array().unwrap().is_empty()), "{line}");
        }
    }
}

#[test]
fn a_database_of_a_relative_is_named_and_no_command_calls_it_damaged_or_advises_a_repair() {
    let layouts: [(&str, &[&str]); 3] = [
        (
            "Pebble",
            &["marker.format-version.000012.013", "marker.manifest.000002.MANIFEST-000006", "OPTIONS-000007"],
        ),
        ("RocksDB", &["IDENTITY", "OPTIONS-000007"]),
        ("Basho", &["sst_0"]),
    ];
    let commands: [(&str, &[&dyn AsArgument]); 10] = [
        ("get", &[&"key"]),
        ("scan", &[]),
        ("count", &[]),
        ("stats", &[]),
        ("verify", &[]),
        ("export", &[]),
        ("put", &[&"key", &"value"]),
        ("compact", &[]),
        ("repair", &[]),
        ("checkpoint", &[&"nowhere"]),
    ];
    for (writer, names) in layouts {
        let scratch = TestDirectory::new();
        let db = scratch.copy("leveldb-1.20-snappy");
        names.iter().for_each(|name| fs::write(db.join(name), "").unwrap());
        // Pebble's is a dummy.
        fs::write(db.join("CURRENT"), "MANIFEST-000001\n").unwrap();
        let before = snapshot(&db);
        for (command, arguments) in commands {
            let message = run_in(command, &db, arguments).failed(3);
            assert!(message.contains(writer) && !message.contains("terrace repair"), "{command}: {message}");
        }
        assert_eq!(snapshot(&db), before, "{writer}");
    }
}

#[test]
fn a_file_of_a_relative_is_named_and_not_called_damaged() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("leveldb-1.20-snappy");
    let table = db.join("000025.ldb");
    for (magic, writer) in [(0x88e2_41b7_85f4_cff7u64, "RocksDB"), (0xf09f_aab3_f09f_aab3, "Pebble")] {
        change(&table, |bytes| {
            let end = bytes.len();
            bytes[end - 8..].copy_from_slice(&magic.to_le_bytes());
        });
        for run in [terrace([&"inspect", &table]), terrace([&"inspect", &db]), terrace([&"count", &db])] {
            let message = run.failed(3);
            assert!(message.contains(writer) && !message.contains("terrace repair"), "{message}");
        }
        let message = terrace([&"verify", &db]).failed(3);
        assert!(message.contains(writer) && !message.contains("terrace repair"), "{message}");
    }
}

#[test]
fn a_table_in_another_order_is_not_called_damaged_when_it_is_ingested() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit2-killed/indexeddb");
    let before = snapshot(&db);
    let (table, target) = (file_of(&db, "000016.ldb"), scratch.path("new"));
    let message = terrace([&"ingest", &target, &table, &"--create"]).failed(3);
    assert!(message.contains("--comparator idb_cmp1") && !message.contains("terrace repair"), "{message}");
    assert!(!target.exists(), "no empty database stays");
    assert_eq!(snapshot(&db), before);
    terrace([&"ingest", &target, &table, &"--create", &"--comparator=idb_cmp1"]).ok();

    // Without a MANIFEST beside it, its keys show it, if the orders differ for them.
    let alone = scratch.path("alone.ldb");
    fs::copy(&table, &alone).unwrap();
    let run = terrace([&"ingest", &scratch.path("other"), &alone, &"--create"]);
    assert!(!run.err.contains("terrace repair"), "{}", run.err);
    if run.code != 0 {
        assert!(run.failed(3).contains("--comparator idb_cmp1"));
    }
}

#[test]
fn inspect_shows_the_writes_that_repair_keeps_after_damage_in_a_log() {
    let scratch = TestDirectory::new();
    // A log of small records, as another program leaves it.
    let log = scratch.copy("leveldb-1.20-snappy").join("000022.log");
    for at in [700, 9_000, 14_000] {
        let directory = TestDirectory::new();
        let damaged = directory.copy("leveldb-1.20-snappy");
        fs::copy(&log, damaged.join("000022.log")).unwrap();
        change(&damaged.join("000022.log"), |bytes| bytes[at] ^= 0x10);
        let shown = terrace([&"inspect", &damaged.join("000022.log"), &"--detail=summary", &"--json"]).json();
        let summary = shown.iter().find(|item| item["kind"] == "summary").unwrap();
        let (puts, deletions) = (summary["puts"].as_u64().unwrap(), summary["deletions"].as_u64().unwrap());
        let repaired = &terrace([&"repair", &damaged, &"--json"]).json()[0]["logs"][0];
        assert_eq!(Some(puts + deletions), repaired["writes_kept"].as_u64(), "damage at {at}");
        assert!(repaired["writes_kept"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_file_with_many_damaged_places_is_shown_in_a_few_lines() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("leveldb-1.23-raw");
    let table = db.join("000024.ldb");
    change(&table, |bytes| {
        // The index stays intact.
        let blocks = bytes.len() - 3_000;
        (100..blocks).step_by(1_000).for_each(|at| bytes[at] ^= 1);
    });
    let all = terrace([&"inspect", &table, &"--detail=parts"]);
    let damaged = all.lines().iter().filter(|line| line.contains("DAMAGE")).count();
    assert!(damaged > 20, "{}", all.out);
    let summary = terrace([&"inspect", &table, &"--detail=summary"]);
    assert!(summary.lines().len() <= 20, "{}", summary.out);
    assert!(summary.out.contains(&format!("and {} damaged places more", damaged - 10)), "{}", summary.out);
    let verified = terrace([&"verify", &db]);
    assert!(verified.lines().len() <= 20 && verified.out.contains("damaged places more"), "{}", verified.out);
    let json = terrace([&"verify", &db, &"--json"]).json();
    assert_eq!(json.last().unwrap()["damaged_places"].as_u64(), Some(json.len() as u64 - 1));
}

/// As a shell of this system reads a path with blanks as one word.
fn quoted(path: &Path) -> String {
    let path = path.display();
    if cfg!(windows) {
        format!("\"{path}\"")
    } else {
        format!("'{}'", path.to_string().replace('\'', "'\\''"))
    }
}

#[test]
fn an_advised_command_is_one_that_a_shell_can_run() {
    let scratch = TestDirectory::new();
    let db = scratch.path("it's my db");
    fs::rename(scratch.copy("leveldb-1.20-snappy"), &db).unwrap();
    fs::write(db.join("CURRENT"), "").unwrap();
    let quoted = quoted(&db);
    let message = terrace([&"count", &db]).failed(5);
    assert!(message.contains(&format!("`terrace repair {quoted}`")), "{message}");
    let run = terrace([&"verify", &db]);
    assert!(run.out.contains(&format!("`terrace repair {quoted}`")), "{}", run.out);
}

#[test]
fn a_directory_that_is_one_level_too_high_is_recognised() {
    let scratch = TestDirectory::new();
    let world = scratch.path("my world");
    fs::create_dir(&world).unwrap();
    fs::rename(scratch.copy("bedrock-deflate"), world.join("db")).unwrap();
    let db = quoted(&world.join("db"));
    for command in ["count", "verify", "inspect", "repair", "compact"] {
        let message = terrace([&command, &world]).failed(3);
        assert!(message.contains(&db), "{command}: {message}");
    }
}

/// The program as a user who may not read what others may not: as root, everything could be read.
#[cfg(unix)]
#[test]
fn verify_goes_on_after_a_file_that_may_not_be_read_and_no_advice_is_to_copy_it() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let scratch = TestDirectory::new();
    let db = scratch.copy("leveldb-1.23-raw");
    let directory = db.parent().unwrap();
    let copied = scratch.path("terrace");
    fs::copy(program().get_program(), &copied).unwrap();
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(directory, 0o755);
    allow(&copied, 0o755);
    allow(&db, 0o755);
    let is_root = fs::metadata(&db).unwrap().uid() == 0;
    let run = |command: &str| {
        let mut program = std::process::Command::new(&copied);
        program.arg(command).arg(&db).stdin(Stdio::null());
        if is_root {
            program.uid(65_534).gid(65_534);
        }
        let output = program.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    };
    for name in fs::read_dir(&db).unwrap() {
        allow(&name.unwrap().path(), 0o644);
    }
    run("verify").ok();
    damage(&db.join("000024.ldb"), 5_000);
    allow(&db.join("000005.ldb"), 0);
    allow(&db.join("000007.ldb"), 0);
    let verified = run("verify");
    assert_eq!(verified.code, 1);
    for part in [
        "000005.ldb: cannot be read",
        "000007.ldb: cannot be read",
        "000024.ldb at byte",
        "2 files could not be read",
    ] {
        assert!(verified.out.contains(part), "{part}: {}", verified.out);
    }
    let message = run("count").failed(3);
    assert!(message.contains("ls -l") && !message.contains("Copy the directory"), "{message}");
    allow(&db.join("MANIFEST-000002"), 0);
    let verified = run("verify");
    assert_eq!(verified.code, 1, "{}", verified.err);
    assert!(verified.out.contains("MANIFEST-000002: cannot be read"), "{}", verified.out);
    assert!(verified.out.contains("3 files could not be read"), "{}", verified.out);
}

/// Reading one of these files from end to end takes many minutes.
#[cfg(unix)]
#[test]
fn sparse_files_of_200_gb_are_verified_inspected_and_repaired_by_what_is_in_them() {
    for name in ["000022.log", "000025.ldb", "MANIFEST-000002", "000099.ldb", "000099.log"] {
        let scratch = TestDirectory::new();
        let db = scratch.copy("leveldb-1.20-snappy");
        let count = terrace([&"count", &db]).ok();
        let file =
            fs::OpenOptions::new().create(true).truncate(false).write(true).open(db.join(name)).unwrap();
        file.set_len(200 << 30).unwrap();
        assert!(terrace([&"verify", &db]).ok().starts_with("sound: "), "{name}");
        if name.contains("log") || name.contains("MANIFEST") {
            terrace([&"inspect", &db.join(name), &"--detail=summary"]).ok();
        }
        // Without CURRENT, every file is checked.
        fs::rename(db.join("CURRENT"), db.join("away")).unwrap();
        assert_eq!(terrace([&"verify", &db]).code, 1, "{name}");
        fs::rename(db.join("away"), db.join("CURRENT")).unwrap();
        terrace([&"repair", &db]);
        assert_eq!(terrace([&"count", &db]).ok(), count, "{name}");
    }
}
