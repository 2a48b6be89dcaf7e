//! Defines `cfg(machine_code)` for the targets whose machine code the engine generates and runs.
//! The interpreter enters that code through assembly of its own, which exists for the same targets.
//! To test a build for another target, set `RUSTFLAGS="--cfg perilune_no_machine_code"`.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(machine_code)");
    let target = |name: &str| env::var(format!("CARGO_CFG_{name}"));
    let is_known = matches!(target("TARGET_ARCH").as_deref(), Ok("x86_64" | "aarch64"))
        && target("TARGET_OS").as_deref() == Ok("linux");
    // Miri executes no machine code
    let is_excluded = target("MIRI").is_ok() || target("PERILUNE_NO_MACHINE_CODE").is_ok();
    if is_known && !is_excluded {
        println!("cargo:rustc-cfg=machine_code");
    }
}
