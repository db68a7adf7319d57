//! Gives the shared library its name, which programs record when they are linked with it, and on Windows the list of what it
//! exports. The number in the name counts changes that break such programs.

use std::env;
use std::fs;
use std::path::PathBuf;

const HEADERS: [&str; 2] = ["include/leveldb/c.h", "include/terrace.h"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    match (system.as_str(), env::var("CARGO_CFG_TARGET_ABI").as_deref()) {
        ("linux", _) => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libterrace.so.0"),
        ("macos", _) => println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libterrace.0.dylib"),
        // zig as the linker exports every symbol unless it gets a list.
        ("windows", Ok("llvm")) => println!("cargo::rustc-cdylib-link-arg={}", write_exports().display()),
        _ => {}
    }
}

/// Writes a module definition file with the functions of the headers. Returns its path.
fn write_exports() -> PathBuf {
    let file = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("terrace.def");
    let functions: Vec<String> = HEADERS
        .iter()
        .flat_map(|header| {
            println!("cargo::rerun-if-changed={header}");
            functions_of(&fs::read_to_string(header).expect("the headers are beside this file"))
        })
        .collect();
    fs::write(&file, format!("LIBRARY terrace.dll\nEXPORTS\n{}\n", functions.join("\n")))
        .expect("cargo made the directory");
    file
}

/// The names in a header that parentheses follow, outside comments.
fn functions_of(header: &str) -> Vec<String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let code: String =
        header.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, code)| code)).collect();
    code.split('(')
        .filter_map(|before| before.trim_end().rsplit(|c| !is_of_name(c)).next())
        .filter(|name| name.starts_with("leveldb_") || name.starts_with("terrace_"))
        .map(str::to_owned)
        .collect()
}
