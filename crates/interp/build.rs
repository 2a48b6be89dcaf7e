//! Defines `cfg(handlers)` for the targets that have generated handlers and machine code.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(handlers)");
    let target = |name: &str| env::var(format!("CARGO_CFG_{name}"));
    let is_known = matches!(target("TARGET_ARCH").as_deref(), Ok("x86_64" | "aarch64"))
        && target("TARGET_OS").as_deref() == Ok("linux");
    // Miri does not execute assembly
    if is_known && target("MIRI").is_err() {
        println!("cargo:rustc-cfg=handlers");
    }
}
