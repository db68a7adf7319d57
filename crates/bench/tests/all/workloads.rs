//! Every workload on a small database: the checks in each run pass, and it reports what was done.

use std::path::Path;
use std::sync::Arc;

use terrace_bench::medians::medians;
use terrace_bench::meter::Interval;
use terrace_bench::workload::{Step, WORKLOADS};
use terrace_bench::{Bench, NothingEngine, Report, Settings, Silent, TerraceEngine, nothing, table};
use terrace_engine::env::MemoryEnv;
use terrace_engine::{Db, Options, WriteOptions};

const NUM: u64 = 2000;

fn settings() -> Settings {
    // A buffer this small causes tables, flushes and compactions.
    Settings { num: NUM, write_buffer_size: Some(64 << 10), ..Settings::default() }
}

/// Runs the named workloads in memory.
fn run(settings: &Settings, names: &[&str]) -> Vec<Report> {
    let directory = tempfile::tempdir().unwrap();
    let options = Options { env: Arc::new(MemoryEnv::new()), ..Options::default() };
    let engine = TerraceEngine::with_options(options, settings);
    let mut bench = Bench::new(Box::new(engine), settings.clone(), directory.path(), &Silent).unwrap();
    let reports = names.iter().map(|name| bench.run(name).unwrap().expect("nothing is left out")).collect();
    bench.destroy().unwrap();
    reports
}

#[test]
fn every_workload_passes_its_own_checks() {
    // recover copies files, which must be on a disk: it has its own test.
    let names: Vec<_> =
        WORKLOADS.iter().map(|workload| workload.name).filter(|name| *name != "recover").collect();
    let on_all_keys = [&["fillseq"], &names[..]].concat();
    // YCSB needs all keys, which the deletes before it in the list would have removed.
    let (ycsb, others): (Vec<_>, Vec<_>) = on_all_keys.into_iter().partition(|name| name.starts_with("ycsb"));
    assert_eq!(ycsb.len(), 6);
    for report in
        run(&settings(), &others).iter().chain(&run(&settings(), &[&["fillseq"], &ycsb[..]].concat()))
    {
        assert!(report.ops > 0 && report.line().starts_with(&report.workload), "{}", report.line());
    }
}

#[test]
fn workloads_do_as_many_operations_as_db_bench() {
    let names =
        ["fillseq", "fillsync", "fill100K", "overwrite", "readseq", "readrandom", "deleteseq", "open"];
    let ops: Vec<_> = run(&settings(), &names).iter().map(|report| report.ops).collect();
    // Half of the keys are missing after fill100K and overwrite, and the scan sees the rest.
    assert_eq!([&ops[..4], &ops[5..]].concat(), [NUM, 2, 2, NUM, NUM, NUM, 1]);
    assert!((NUM / 2..NUM).contains(&ops[4]), "{}", ops[4]);
}

#[test]
fn threads_do_the_work_each() {
    let settings = Settings { threads: 3, batch_size: 7, histogram: true, ..settings() };
    let names = ["fillseq", "readseq", "ycsbd", "ycsbe", "readwhilewriting", "fillrandom", "readrandom"];
    for report in run(&settings, &names) {
        assert_eq!((report.threads, report.ops), (3, 3 * NUM), "{}", report.workload);
        assert!(report.latency_micros.is_some());
    }
}

#[test]
fn two_runs_with_one_seed_find_the_same() {
    let names = ["fillrandom", "readrandom", "seekordered"];
    let messages = || run(&settings(), &names).into_iter().map(|report| report.message).collect::<Vec<_>>();
    assert_eq!(messages(), messages());
}

/// What `workload` reports for a database that was tampered with.
fn tampered(tamper: impl FnOnce(&Db), workload: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let env = Arc::new(MemoryEnv::new());
    let options = Options { env, ..Options::default() };
    let open = || Db::open(directory.path(), options.clone()).unwrap();
    // So many reads that every key is drawn.
    let first = Settings { reads: Some(10 * NUM), ..settings() };
    let engine = || Box::new(TerraceEngine::with_options(options.clone(), &first));
    let mut bench = Bench::new(engine(), first.clone(), directory.path(), &Silent).unwrap();
    bench.run("fillseq").unwrap();
    bench.close().unwrap();
    let db = open();
    tamper(&db);
    db.close().unwrap();
    drop(db);
    bench.reopen().unwrap();
    bench.run(workload).unwrap_err().to_string()
}

#[test]
fn a_lost_entry_is_noticed() {
    let lose = |db: &Db| db.delete(b"0000000000000064", &WriteOptions::default()).unwrap();
    assert_eq!(tampered(lose, "readseq"), "readseq: 1999 entries instead of 2000");
    assert!(tampered(lose, "readrandom").contains("keys found instead of 20000"));
}

#[test]
fn a_wrong_value_is_noticed() {
    let change = |db: &Db| db.put(b"0000000000000064", b"wrong", &WriteOptions::default()).unwrap();
    assert_eq!(tampered(change, "readseq"), "readseq: the value of key 64 is not what was written");
}

#[test]
fn a_key_too_many_is_noticed() {
    let add = |db: &Db| db.put(b"000000000000064x", b"", &WriteOptions::default()).unwrap();
    assert_eq!(tampered(add, "readreverse"), "readreverse: 2001 entries instead of 2000");
}

#[test]
fn an_existing_database_is_kept_and_known() {
    let directory = tempfile::tempdir().unwrap();
    let fill = |settings: &Settings, names: &[&str]| {
        let engine = Box::new(TerraceEngine::new(settings));
        let mut bench = Bench::new(engine, settings.clone(), directory.path(), &Silent).unwrap();
        let reports: Vec<_> = names.iter().map(|name| bench.run(name).unwrap()).collect();
        bench.close().unwrap();
        reports
    };
    fill(&settings(), &["fillseq"]);
    let kept = Settings { use_existing_db: true, ..settings() };
    let reports = fill(&kept, &["fillrandom", "readseq", "readrandom", "recover"]);
    assert!(reports[0].is_none());
    assert_eq!(reports[1].as_ref().unwrap().ops, NUM);
    assert_eq!(reports[2].as_ref().unwrap().message, "(2000 of 2000 found)");
    assert_eq!(reports[3].as_ref().unwrap().ops, 1);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |settings: Settings| {
        let engine = Box::new(TerraceEngine::new(&settings));
        Bench::new(engine, settings, Path::new("never-made"), &Silent)
            .err()
            .expect("it is refused")
            .to_string()
    };
    assert!(refused(Settings { num: 0, ..settings() }).contains("--num"));
    assert!(refused(Settings { threads: 0, ..settings() }).contains("--threads"));
    assert!(refused(Settings { value_size: 2 << 20, ..settings() }).contains("--value_size"));
    assert!(!Path::new("never-made").exists());
}

#[test]
fn a_run_that_would_fill_the_disk_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let settings = Settings { num: i32::MAX as u64, value_size: 1 << 20, ..settings() };
    let engine = Box::new(TerraceEngine::new(&settings));
    let refused = Bench::new(engine, settings, directory.path(), &Silent).err().unwrap().to_string();
    assert!(refused.contains("choose a smaller --num"), "{refused}");
}

#[test]
fn results_are_written_read_back_and_drawn() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("results/run.jsonl");
    let settings = Settings { histogram: true, ..settings() };
    for mut report in run(&settings, &["fillrandom", "readrandom", "compact", "readrandom"]) {
        // So short a run has one interval, which does not make a line.
        report.timeline =
            [0.1, 0.2].map(|at_seconds| Interval { at_seconds, ..Interval::default() }).to_vec();
        report.append_to(&file).unwrap();
    }
    let reports = Report::read_all(&file).unwrap();
    assert_eq!(reports.iter().map(|report| report.step).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(reports[0].written_bytes.by_user == NUM * 116 && reports[0].settings.num == NUM);
    let drawn = terrace_bench::plot::draw(&file).unwrap();
    let names: Vec<_> = drawn.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["run.svg", "run.png", "run-latency.svg", "run-latency.png"]);
    let svg = std::fs::read_to_string(&drawn[0]).unwrap();
    assert!(svg.contains("readrandom 2") && svg.contains("terrace") && svg.contains("Time per operation"));
    let table = table::rivals(&reports);
    assert!(table.contains(&format!("- measured on {}, commit ", reports[0].machine)), "{table}");
    assert!(table.contains("| workload | terrace |") && table.contains("| readrandom 2 | "), "{table}");
}

#[test]
fn a_step_may_have_threads_of_its_own() {
    let reports = run(&settings(), &["fillsync:4", "readseq"]);
    assert_eq!(reports.iter().map(|report| report.threads).collect::<Vec<_>>(), [4, 1]);
    assert_eq!(
        (reports[0].label().as_str(), reports[1].label().as_str()),
        ("fillsync, 4 threads", "readseq")
    );
    assert!(Step::parse("fillsync:0").is_err() && Step::parse("fillsync:x").is_err());
}

#[test]
fn a_step_may_have_a_number_of_operations() {
    let reports =
        run(&settings(), &["fillonce", "readrandom:2@30", "overwrite@70", "readseq@500", "rangerandom@10"]);
    assert_eq!(reports.iter().map(|report| report.ops).collect::<Vec<_>>(), [NUM, 2 * 30, 70, 500, 10]);
    let refused = Step::parse("readrandom@x").err().unwrap().to_string();
    assert!(refused.contains("the @ must be followed by a number of operations"), "{refused}");
    assert!(Step::parse("readrandom:2@0").is_err());
}

#[test]
fn each_configuration_has_a_table_and_a_picture() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.jsonl");
    for configuration in ["equal", "defaults"] {
        for mut report in run(&settings(), &["fillseq", "readseq"]) {
            configuration.clone_into(&mut report.configuration);
            report.append_to(&file).unwrap();
        }
    }
    assert_eq!(terrace_bench::plot::draw(&file).unwrap().len(), 4);
    let table = table::rivals(&Report::read_all(&file).unwrap());
    assert!(table.contains("**equal**") && table.contains("**defaults**"), "{table}");
}

#[test]
fn beside_leveldb_ratios_are_drawn() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.jsonl");
    for (engine, ops_per_second) in [("terrace", 4.0), ("leveldb", 1.0), ("lmdb", 400.0)] {
        for mut report in run(&settings(), &["fillseq", "readseq"]) {
            engine.clone_into(&mut report.engine);
            report.ops_per_second = ops_per_second;
            report.append_to(&file).unwrap();
        }
    }
    let reports = Report::read_all(&file).unwrap();
    let ratios = |name: &str| {
        let medians = medians(&reports).into_iter().filter(|median| median.series == name);
        medians.map(|median| median.times_as_fast.map(|ratio| ratio.median)).collect::<Vec<_>>()
    };
    assert_eq!(ratios("terrace"), [Some(4.0), Some(4.0)]);
    assert_eq!(ratios("leveldb"), [None, None]);
    let drawn = terrace_bench::plot::draw(&file).unwrap();
    let svg = std::fs::read_to_string(&drawn[0]).unwrap();
    assert!(svg.contains("Times as fast as leveldb"), "{svg}");
    // Beyond the scale, so its number stands beside it.
    assert_eq!(svg.matches("400×").count(), 2, "{svg}");
    // Each dot has an edge in the colour of the ground; two dots are in the legend.
    assert_eq!(svg.matches("<circle").count(), 2 * (2 * 2 + 2), "{svg}");
    let style = svg.split("</style>").next().unwrap();
    for fill in svg.split(" fill=\"").skip(1).filter(|rest| rest.starts_with('#')) {
        let colour = &fill[.."#rrggbb".len()];
        assert!(style.contains(&format!("[fill=\"{colour}\"]")), "{colour} has no other in a dark scheme");
    }
}

#[test]
fn costs_at_two_sizes_stand_side_by_side() {
    let names = ["fillrandom", "compact", "readrandom"];
    let more = Settings { num: 2 * NUM, ..settings() };
    let table = table::scale(&[run(&settings(), &names), run(&more, &names)].concat());
    assert!(table.contains("2000 entries") && table.contains("4000 entries"), "{table}");
    assert_eq!(table.lines().filter(|line| line.starts_with("| ")).count(), 1 + names.len(), "{table}");
}

#[test]
fn a_database_that_stores_nothing_answers_rightly_after_fillseq() {
    let directory = tempfile::tempdir().unwrap();
    let settings = settings();
    let engine = Box::new(NothingEngine::new(&settings));
    let mut bench = Bench::new(engine, settings, directory.path(), &Silent).unwrap();
    for name in nothing::WORKLOADS.split(',') {
        assert_eq!(bench.run(name).unwrap().unwrap().ops, NUM, "{name}");
    }
}
