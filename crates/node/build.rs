//! Link arguments of a Node-API addon.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // For Windows, `napi-sys` finds Node's functions when the addon is loaded, and there is nothing to link with.
    let system = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system != "windows" {
        // Among other things, keeps the library loaded when a worker thread that loaded it ends, because background
        // threads of a database may still run.
        napi_build::setup();
    }

    match (system.as_str(), env::var("CARGO_CFG_TARGET_ABI").as_deref()) {
        // Without it the file would name the directory that it was built in.
        ("macos", _) => println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/terrace.node"),
        // zig as the linker exports every symbol unless it gets a list.
        ("windows", Ok("llvm")) => {
            let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
            println!("cargo:rerun-if-changed=exports.def");
            println!("cargo:rustc-cdylib-link-arg={root}/exports.def");
        }
        _ => {}
    }

    // Debug information would make the published file six times as large. Function names stay.
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        match system.as_str() {
            "linux" | "freebsd" | "android" => println!("cargo:rustc-cdylib-link-arg=-Wl,--strip-debug"),
            "macos" => println!("cargo:rustc-cdylib-link-arg=-Wl,-S"),
            _ => {}
        }
    }
}
