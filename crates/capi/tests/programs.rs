//! Programs in C that use the library: compiled, run, and compared with the LevelDB library if that is installed.
//!
//! `transcript` calls every function in LevelDB's interface and writes the results; `beyond` tries cases that LevelDB
//! leaves undefined; `exchange` writes databases for the other library to read.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use support::{Library, Tool, compile, has_leveldb, library_directory, output, run};

const TRANSCRIPT: &[&str] = &[
    "transcript.c",
    "support.c",
    "basics.c",
    "iterators.c",
    "settings.c",
    "callbacks.c",
    "maintenance.c",
    "walks.c",
];
const BEYOND: &[&str] = &["beyond.c", "lifetimes.c", "misuse.c", "functions.c"];
const EXCHANGE: &[&str] = &["exchange.c"];

/// The transcript with Terrace's library, run under `tool`.
fn transcript_of_terrace(library: Library, tool: Tool) -> String {
    run(&compile("transcript", TRANSCRIPT, library, tool), tool, &[], &[])
}

/// The transcript with the shared library, as it is without a tool.
fn plain_transcript() -> &'static str {
    static TRANSCRIPT: OnceLock<String> = OnceLock::new();
    TRANSCRIPT.get_or_init(|| transcript_of_terrace(Library::Shared, Tool::None))
}

/// The transcript with LevelDB's library.
fn transcript_of_leveldb() -> &'static str {
    static THEIRS: OnceLock<String> = OnceLock::new();
    THEIRS.get_or_init(|| {
        run(&compile("transcript", TRANSCRIPT, Library::LevelDb, Tool::None), Tool::None, &[], &[])
    })
}

fn assert_same(ours: &str, theirs: &str) {
    for (number, (our_line, their_line)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(our_line, their_line, "line {} of the transcripts, Terrace's and LevelDB's", number + 1);
    }
    assert_eq!(ours, theirs);
}

#[test]
fn the_transcript_is_that_of_leveldb() {
    let shared = plain_transcript();
    assert!(shared.ends_with("destroyed: ok\n") && shared.lines().count() > 400, "{shared}");
    // That an archive links is tried with the documentation's example too.
    if !support::is_short() {
        assert_same(&transcript_of_terrace(Library::Static, Tool::None), shared);
    }
    if has_leveldb() {
        assert_same(shared, transcript_of_leveldb());
    }
}

#[test]
fn a_program_linked_with_leveldb_runs_with_terrace_in_its_place() {
    if !has_leveldb() {
        return;
    }
    let program = compile("transcript", TRANSCRIPT, Library::LevelDb, Tool::None);
    // Databases are exchanged in both ways in the short form too.
    let places = if support::is_short() { &support::IN_ITS_PLACE[..1] } else { &support::IN_ITS_PLACE };
    for place in places {
        assert_same(&run(&program, Tool::None, &place.variables(), &[]), transcript_of_leveldb());
    }
}

#[test]
fn the_transcript_has_no_error_of_memory() {
    assert_same(&transcript_of_terrace(Library::Shared, Tool::Sanitizers), plain_transcript());
    if support::runs_valgrind() {
        assert_same(&transcript_of_terrace(Library::Shared, Tool::Valgrind), plain_transcript());
    }
}

#[test]
fn what_leveldb_leaves_undefined_is_answered() {
    for tool in [Tool::None, Tool::Sanitizers, Tool::Valgrind] {
        if tool == Tool::Valgrind && !support::runs_valgrind() {
            continue;
        }
        let output = run(&compile("beyond", BEYOND, Library::Shared, tool), tool, &[], &[]);
        assert!(output.ends_with("all done\n"), "{output}");
    }
}

/// The program that wrote a database says so in its file LOG.
fn writer_of(directory: &Path) -> &'static str {
    let log = fs::read_to_string(directory.join("bloom/LOG")).expect("the database has a LOG");
    if log.contains("Terrace") { "Terrace" } else { "LevelDB" }
}

#[test]
fn filters_and_orders_of_a_program_are_read_by_the_other_library() {
    if !has_leveldb() {
        return;
    }
    let program = compile("exchange", EXCHANGE, Library::LevelDb, Tool::None);
    for place in support::IN_ITS_PLACE {
        let terrace = place.variables();
        for (writer, name) in [(&[][..], "LevelDB"), (&terrace[..], "Terrace")] {
            let directory = tempfile::tempdir().unwrap();
            let arguments = |mode: &'static str| [mode.to_owned(), directory.path().display().to_string()];
            run(&program, Tool::None, writer, &arguments("write"));
            assert_eq!(writer_of(directory.path()), name);
            let theirs = run(&program, Tool::None, &[], &arguments("read"));
            assert_eq!(writer_of(directory.path()), "LevelDB");
            let ours = run(&program, Tool::None, &terrace, &arguments("read"));
            assert_eq!(writer_of(directory.path()), "Terrace");
            assert_same(&ours, &theirs);
            assert!(ours.ends_with("done\n"), "{ours}");
        }
    }
}

/// The functions that a header declares.
fn declared(header: &str) -> BTreeSet<String> {
    let words = header.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let is_function = |word: &&str| {
        (word.starts_with("leveldb_") || word.starts_with("terrace_"))
            && !word.ends_with("_t")
            && header.contains(&format!("{word}("))
    };
    words.filter(is_function).map(str::to_owned).collect()
}

#[test]
fn the_library_exports_what_the_headers_declare_and_nothing_else() {
    let read = |name: &str| fs::read_to_string(support::include_directory().join(name)).unwrap();
    let leveldb = declared(&read("leveldb/c.h"));
    let mut all = declared(&read("terrace.h"));
    all.extend(leveldb.iter().cloned());
    let symbols = output(
        Command::new("nm").args(["-D", "--defined-only"]).arg(library_directory().join("libterrace.so.0")),
    );
    let exported: BTreeSet<String> =
        symbols.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned).collect();
    assert_eq!(exported, all);
    if has_leveldb() {
        assert_eq!(leveldb, declared(&fs::read_to_string(support::LEVELDB_HEADER).unwrap()));
    }
}

#[test]
fn the_headers_are_c_and_cxx() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [("cc", "c", "-std=c99"), ("c++", "cc", "-std=c++11")];
    for (compiler, ending, standard) in cases {
        let source = directory.path().join(format!("includes.{ending}"));
        fs::write(&source, "#include <terrace.h>\n#include <leveldb/c.h>\nint main(void) { return 0; }\n")
            .unwrap();
        let mut command = Command::new(compiler);
        command.args([standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"]);
        output(command.arg(support::include_directory()).arg(&source));
    }
}

#[test]
fn the_soname_is_the_librarys_own() {
    let dynamic = output(Command::new("readelf").arg("-d").arg(library_directory().join("libterrace.so.0")));
    assert!(dynamic.contains("soname: [libterrace.so.0]"), "{dynamic}");
}

/// The first code block in `language` of the documentation page about the library.
fn of_the_page(language: &str) -> String {
    let page = fs::read_to_string(support::root().join("docs/c-library.md")).unwrap();
    let part = page.split(&format!("```{language}\n")).nth(1).and_then(|rest| rest.split("```").next());
    part.unwrap_or_else(|| panic!("the page has nothing in {language}")).to_owned()
}

#[test]
fn the_example_of_the_documentation_runs() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("example.c");
    fs::write(&source, of_the_page("c")).unwrap();
    let program = support::compile_file(&source, directory.path(), Library::Shared, Tool::Sanitizers);
    assert_eq!(support::run_in(&program, directory.path(), Tool::Sanitizers, &[], &[]), of_the_page("text"));
}

#[test]
fn an_installed_library_is_found_by_pkg_config() {
    let directory = tempfile::tempdir().unwrap();
    let (prefix, source) = (directory.path().join("usr"), directory.path().join("example.c"));
    fs::write(&source, of_the_page("c")).unwrap();
    let mut install = Command::new(support::root().join("scripts/install-capi"));
    output(install.env("PREFIX", &prefix).env("BUILT", support::built_directory()).env_remove("DESTDIR"));
    let flags = |static_or_not: &[&str]| {
        let mut command = Command::new("pkg-config");
        command.args(static_or_not).args(["--cflags", "--libs", "terrace"]);
        output(command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")))
    };
    let compile = |name: &str, flags: &str| {
        let program = directory.path().join(name);
        let mut command = Command::new("cc");
        output(command.arg(&source).arg("-o").arg(&program).args(flags.split_whitespace()));
        program
    };
    let shared = compile("shared", &flags(&[]));
    // The linker takes the archive even where it could take the shared library.
    let held = flags(&["--static"]).replace("-lterrace", "-l:libterrace.a");
    let held = compile("held", &held);
    let variables = [("LD_LIBRARY_PATH", prefix.join("lib"))];
    for program in [&shared, &held] {
        assert_eq!(
            support::run_in(program, directory.path(), Tool::None, &variables, &[]),
            of_the_page("text")
        );
    }
    let needed =
        |program: &Path| output(Command::new("readelf").arg("-d").arg(program)).contains("[libterrace.so.0]");
    assert!(needed(&shared) && !needed(&held));
    let private = fs::canonicalize(prefix.join("lib/terrace/leveldb/libleveldb.so.1d")).unwrap();
    assert_eq!(private, fs::canonicalize(prefix.join("lib/libterrace.so")).unwrap());
    for licences in ["LICENSE", "THIRD-PARTY-LICENSES.txt"] {
        assert!(prefix.join("share/doc/terrace").join(licences).exists(), "{licences}");
    }
}

#[test]
fn an_installed_library_is_found_by_cmake() {
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    fs::create_dir(at("source")).unwrap();
    fs::write(at("source/example.c"), of_the_page("c")).unwrap();
    fs::write(
        at("source/CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.15)
         project(example C)
         find_package(terrace 0.1 REQUIRED)
         add_executable(shared example.c)
         target_link_libraries(shared PRIVATE terrace::terrace)
         add_executable(held example.c)
         target_link_libraries(held PRIVATE terrace::terrace_static)",
    )
    .unwrap();

    // As on systems that keep libraries of several processors. The headers are elsewhere then.
    let mut install = Command::new(support::root().join("scripts/install-capi"));
    install.env("PREFIX", at("usr")).env("LIBDIR", at("usr/lib/processor")).env_remove("DESTDIR");
    output(install.env("BUILT", support::built_directory()));
    let place = format!("-Dterrace_DIR={}", at("usr/lib/processor/cmake/terrace").display());
    output(Command::new("cmake").arg("-S").arg(at("source")).arg("-B").arg(at("build")).arg(place));
    output(Command::new("cmake").arg("--build").arg(at("build")));
    for program in ["build/shared", "build/held"] {
        assert_eq!(
            support::run_in(&at(program), directory.path(), Tool::None, &[], &[]),
            of_the_page("text"),
            "{program}"
        );
    }
}
