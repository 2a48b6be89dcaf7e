//! Passes options for a short start to the linker.
//!
//! The command is linked for fixed addresses, as relocating it at each start takes an eighth of the
//! time in which it prints a line. Programs that embed the engine are not affected.
//!
//! A process has resident what the system maps around each page that it touches, 64 KB at a time.
//! In the order of the linker the functions that run are spread over all of the text; `order.ld`
//! puts them together.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=layout/order.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|v| v == value);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // In debug builds it would only take time.
    if is_linux && is("CARGO_CFG_TARGET_ARCH", "x86_64") && is("PROFILE", "release") {
        let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        println!("cargo:rustc-link-arg-bins=-no-pie");
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{manifest}/layout/order.ld");
    }
}
