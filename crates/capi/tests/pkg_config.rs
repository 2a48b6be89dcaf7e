//! Checks the output of `pkg-config` for `lua5.4.pc`: the version is that of the library, and
//! programs are linked with the library in the same directory.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

/// Returns what `pkg-config` prints about the file; `None` if the program is not installed.
fn ask(arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", env!("CARGO_MANIFEST_DIR")).args(arguments).arg("lua5.4");
    let Ok(output) = command.output() else {
        eprintln!("skipped: pkg-config is not installed");
        return None;
    };
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}{errors}");
    Some(printed)
}

#[test]
fn the_file_is_valid_and_has_the_version_of_the_library() {
    if ask(&["--validate"]).is_none() {
        return;
    }
    let life = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/life.rs");
    let life = std::fs::read_to_string(life).expect("the source of `lua_ident`");
    let version = ask(&["--modversion"]).expect("it was there");
    assert!(life.contains(&format!("$LuaVersion: Lua {version} ")), "{version}");
}

#[test]
fn programs_are_linked_with_the_library_beside_the_file() {
    let Some(flags) = ask(&["--cflags", "--libs"]) else { return };
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let folder = format!("-L{}", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(flags, ["-I/usr/include/lua5.4", &folder, "-llua5.4"]);
    let headers = ["--define-variable=includedir=/opt/lua/include", "--cflags"];
    assert_eq!(ask(&headers).as_deref(), Some("-I/opt/lua/include"));
}
