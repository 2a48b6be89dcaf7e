//! Passes options for a short start and a small process to the linker, and exports the C API.
//!
//! - C modules find the functions of the API in the command itself, and so they do those of the
//!   mathematical library, which the command is linked with for that reason.
//! - The command is linked for fixed addresses: relocating it at each start takes an eighth of the
//!   time in which it prints a line. Programs that embed the engine are not affected.
//! - The unwinder of GCC is linked statically, so that the loader has a library less to map and to
//!   relocate, which takes another eighth.
//! - A process has resident what the system maps around each page that it touches, 64 KB at a time.
//!   In the order of the linker the functions that run are spread over all of the text; `order.ld`
//!   puts them together. Each begins a cache line: the interpreter's loop is up to a tenth slower
//!   at some other addresses, and any change elsewhere would move it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=layout/order.ld");
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|v| v == value);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is_linux && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        for names in ["lua_*", "luaL_*", "luaopen_*"] {
            println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={names}");
        }
        println!("cargo:rustc-link-arg-bins=-Wl,--no-as-needed,-lm,--as-needed");
    }
    // In debug builds it would only take time.
    if is_linux && is("CARGO_CFG_TARGET_ARCH", "x86_64") && is("PROFILE", "release") {
        let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        println!("cargo:rustc-link-arg-bins=-no-pie");
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{manifest}/layout/order.ld");
        if has_static_unwinder() {
            let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
            link_unwinder_statically(&folder);
        }
    }
}

/// Returns whether the compiler that links has the unwinder as a static library; that of GCC has.
fn has_static_unwinder() -> bool {
    let Ok(answer) = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output() else {
        return false;
    };
    // the bare name is what compilers answer that do not find it
    let path = String::from_utf8_lossy(&answer.stdout);
    Path::new(path.trim()).is_absolute()
}

/// The standard library asks for `gcc_s`, which the linker finds in this folder first: a script
/// that names the static libraries instead.
fn link_unwinder_statically(folder: &Path) {
    let script = folder.join("libgcc_s.so");
    if fs::write(script, "INPUT(-lgcc_eh -lgcc)\n").is_ok() {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
}
