//! Link arguments of a Node-API addon.

use std::env;

fn main() {
    // Among other things, keeps the library loaded when a worker thread that loaded it ends, because background
    // threads of a database may still run.
    napi_build::setup();

    // Debug information would make the published file six times as large. Function names stay.
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        match env::var("CARGO_CFG_TARGET_OS").as_deref() {
            Ok("linux" | "freebsd" | "android") => println!("cargo:rustc-cdylib-link-arg=-Wl,--strip-debug"),
            Ok("macos") => println!("cargo:rustc-cdylib-link-arg=-Wl,-S"),
            _ => {}
        }
    }
}
