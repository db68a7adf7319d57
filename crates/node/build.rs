//! Link arguments of a Node-API addon.

use std::env;

fn main() {
    // For Windows, `napi-sys` finds Node's functions when the addon is loaded, and there is nothing to link with.
    let system = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system != "windows" {
        // Among other things, keeps the library loaded when a worker thread that loaded it ends, because background
        // threads of a database may still run.
        napi_build::setup();
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
