//! Gives the shared library its soname, which programs record when they are linked with it. Its number counts changes
//! that break such programs.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system == "linux" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libterrace.so.0");
    }
}
