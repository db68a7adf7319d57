//! Export and import, in both forms, whole and interrupted.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::support::{TestDirectory, damage, program, terrace, with_input};
use terrace_engine::env::conformance::eventually;

#[test]
fn what_is_exported_is_imported_in_both_forms() {
    let scratch = TestDirectory::new();
    for name in ["chromium/visit2-killed/local-storage", "leveldb-1.23-raw"] {
        let db = scratch.copy(name);
        for form in ["jsonl", "binary"] {
            let file = scratch.path(&format!("{}-{form}", name.replace('/', "-")));
            let copy = scratch.path(&format!("{}-{form}-db", name.replace('/', "-")));
            let exported = terrace([&"export", &db, &"--form", &form, &"--output", &file]).ok();
            let imported = terrace([&"import", &copy, &file, &"--create"]).ok();
            assert_eq!(exported.split(' ').next(), imported.split(' ').next());
            assert_eq!(terrace([&"diff", &db, &copy]).ok(), "");
        }
    }
    let db = scratch.copy("leveldb-sst");
    let piped = terrace([&"export", &db]).ok();
    let copy = scratch.path("piped");
    with_input([&"import", &copy, &"--create"], piped.as_bytes()).ok();
    assert_eq!(terrace([&"diff", &db, &copy]).ok(), "");
}

#[test]
fn an_indexed_db_is_imported_in_its_order() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("chromium/visit1-closed/indexeddb");
    let (file, copy) = (scratch.path("file"), scratch.path("copy"));
    terrace([&"export", &db, &"--form=binary", &"--output", &file]).ok();
    terrace([&"import", &copy, &file, &"--create", &"--comparator=idb_cmp1"]).ok();
    assert_eq!(terrace([&"diff", &db, &copy]).ok(), "");
}

#[test]
fn an_interrupted_export_goes_on() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(3000);
    for form in ["jsonl", "binary"] {
        let file = scratch.path(form);
        terrace([&"export", &db, &"--form", &form, &"--output", &file]).ok();
        let whole = fs::read(&file).unwrap();
        let again = terrace([&"export", &db, &"--form", &form, &"--output", &file]).failed(2);
        assert!(again.contains("--resume"), "{again}");
        for end in [0, 5, 16, whole.len() / 3, whole.len() - 20, whole.len() - 1, whole.len()] {
            fs::write(&file, &whole[..end]).unwrap();
            terrace([&"export", &db, &"--form", &form, &"--output", &file, &"--resume"]).ok();
            if form == "jsonl" {
                assert!(fs::read(&file).unwrap() == whole, "{form} cut at {end}");
            }
            let copy = scratch.path(&format!("{form}-{end}"));
            terrace([&"import", &copy, &file, &"--create"]).ok();
            assert_eq!(terrace([&"diff", &db, &copy]).ok(), "", "{form} cut at {end}");
        }
        fs::write(&file, "something else\n").unwrap();
        terrace([&"export", &db, &"--form", &form, &"--output", &file, &"--resume"]).failed(2);
        assert_eq!(fs::read(&file).unwrap(), b"something else\n");
        terrace([&"export", &db, &"--form", &form, &"--output", &file, &"--force"]).ok();
        assert!(fs::read(&file).unwrap() == whole);
    }
}

#[test]
fn an_import_that_was_killed_goes_on_where_it_stopped() {
    let scratch = TestDirectory::new();
    let (db, state) = (scratch.path("db"), scratch.path("state"));
    let lines: Vec<String> = (0..20_000)
        .map(|n| format!("{{\"key\":\"{n:05}\",\"value\":\"{}\"}}\n", "v".repeat(n % 100)))
        .collect();
    let mut command = program();
    command.arg("import").arg(&db).args(["-", "--create", "--state"]).arg(&state);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut sent = 0;
    // Sends more until it has recorded its state, which it does with the first entry after a second. The lines last longer.
    eventually("it notes how far it is", || {
        for line in lines.iter().take(lines.len() / 2).skip(sent).take(5) {
            input.write_all(line.as_bytes()).unwrap();
            sent += 1;
        }
        state.exists()
    });
    child.kill().unwrap();
    child.wait().unwrap();

    let all = lines.concat();
    let run = with_input([&"import", &db, &"--state", &state], all.as_bytes()).ok();
    let going_on = run.strip_prefix("continuing after ").unwrap();
    let done: usize = going_on.split(' ').next().unwrap().parse().unwrap();
    assert!(done > 0 && done <= sent, "{run}");
    assert!(run.contains(&format!("{} entries imported", lines.len() - done)), "{run}");
    assert!(!state.exists());
    let exported = terrace([&"export", &db]).ok();
    assert!(exported == all);

    fs::write(&state, "{\"offset\":10,\"lines\":1,\"entries\":1,\"beginning\":1,\"beginning_bytes\":10}")
        .unwrap();
    let other = with_input([&"import", &db, &"--state", &state], all.as_bytes()).failed(2);
    assert!(other.contains("another file"), "{other}");
}

#[test]
fn wrong_input_is_told_with_its_place_and_what_came_before_is_kept() {
    let scratch = TestDirectory::new();
    let db = scratch.path("db");
    let lines = b"{\"key\":\"a\",\"value\":\"1\"}\n\n{\"key\":\"b\"}\n{\"key\":\"c\",\"value\":\"3\"}\n";
    let error = with_input([&"import", &db, &"--create"], lines).failed(2);
    assert!(error.contains("line 3: there is no \"value\""), "{error}");
    assert_eq!(terrace([&"scan", &db]).ok(), "a\t1\n");

    let numbers = scratch.numbers(3000);
    let file = scratch.path("export");
    terrace([&"export", &numbers, &"--form=binary", &"--output", &file]).ok();
    let whole = fs::read(&file).unwrap();
    let copy = scratch.path("copy");
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    let error = terrace([&"import", &copy, &file, &"--create"]).failed(2);
    assert!(error.contains("cut off"), "{error}");
    assert_eq!(terrace([&"count", &copy]).ok(), "3000\n");
    fs::write(&file, &whole).unwrap();
    damage(&file, whole.len() / 2);
    let error = terrace([&"import", &scratch.path("other"), &file, &"--create"]).failed(2);
    assert!(error.contains("checksum"), "{error}");
}
