//! Passes linker options that shorten the start-up time and reduce the resident memory, and exports
//! the C API.
//!
//! - C modules resolve the functions of the API in the command itself, and those of the
//!   mathematical library as well, which is why the command is linked with it.
//! - The command is linked at fixed addresses, since relocating it at each start would take an
//!   eighth of the time that it needs to start and print a line. Programs that embed the engine are
//!   not affected.
//! - The unwinder of GCC is linked statically, so that the loader need not map and relocate another
//!   library, which would take another eighth.
//! - The system maps 64 KB around each page that a process touches, and all of it becomes resident.
//!   By default, the functions that run are spread over the whole text section; `order.ld` groups
//!   them. Each begins a cache line: the interpreter's loop is up to a tenth slower at some other
//!   addresses, and any change elsewhere would move it.

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
    // In debug builds the order would only take time.
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

/// Returns whether the compiler that runs the linker has the unwinder as a static library, as GCC
/// does.
fn has_static_unwinder() -> bool {
    let Ok(answer) = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output() else {
        return false;
    };
    // compilers that do not find the file answer with its bare name
    let path = String::from_utf8_lossy(&answer.stdout);
    Path::new(path.trim()).is_absolute()
}

/// Writes a linker script named like `gcc_s`, which the standard library asks for. The linker finds
/// it in this folder first, and it names the static libraries instead.
fn link_unwinder_statically(folder: &Path) {
    let script = folder.join("libgcc_s.so");
    if fs::write(script, "INPUT(-lgcc_eh -lgcc)\n").is_ok() {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
}
