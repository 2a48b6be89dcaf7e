//! Compiled modules for PUC Lua in the command.
//!
//! The folder `c_modules` has a program for each of Debian's packages with such modules, whose
//! output must be that of `lua5.4`. Packages that are not installed are skipped, with a message
//! that names them. `api.c` is compiled by `cc`, and checked by the program next to it.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

/// The modes besides the default one.
const MODES: [&str; 8] = [
    "gc-stress",
    "gc-phases",
    "chaos",
    "unprofiled",
    "small-stack",
    "portable",
    "baseline-sync",
    "baseline-chaos",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c_modules")
}

fn run(command: &mut Command) -> Option<Output> {
    command.stdin(Stdio::null()).output().ok()
}

fn text(output: &Output) -> String {
    let streams = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&streams).into_owned()
}

/// A program of the folder, and the contents of its first lines.
struct Program {
    path: PathBuf,
    /// The modules that it requires.
    modules: Vec<String>,
    /// Debian's packages that contain the modules.
    packages: String,
}

impl Program {
    fn all() -> Vec<Program> {
        let mut programs = Vec::new();
        for entry in fs::read_dir(folder()).expect("the folder is there") {
            let path = entry.expect("its files can be listed").path();
            let source = fs::read_to_string(&path).expect("they are texts");
            let field = |name: &str| {
                let line = source.lines().find_map(|l| l.strip_prefix("-- ")?.strip_prefix(name));
                line.map(|l| l.trim().to_owned())
            };
            let (Some(needs), Some(packages)) = (field("needs:"), field("package:")) else {
                continue;
            };
            let modules = needs.split(", ").map(str::to_owned).collect();
            programs.push(Program { path, modules, packages });
        }
        programs.sort_by(|a, b| a.path.cmp(&b.path));
        programs
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the output of the program in `lua5.4`, if that has the modules.
    fn expected(&self) -> Option<String> {
        for module in &self.modules {
            let has = run(Command::new("lua5.4").args(["-e", &format!("require '{module}'")]));
            if !has.is_some_and(|o| o.status.success()) {
                return None;
            }
        }
        run(Command::new("lua5.4").arg(&self.path)).map(|o| text(&o))
    }
}

fn perilune(mode: Option<&str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perilune"));
    command.args(mode.map(|m| format!("--mode={m}")));
    command
}

/// Runs all programs whose modules are installed, and compares their output.
fn compare(modes: &[Option<&str>]) {
    let mut failures = Vec::new();
    for program in Program::all() {
        let Some(expected) = program.expected() else {
            eprintln!(
                "{} is skipped: it needs lua5.4 and {} (apt-get install lua5.4 {})",
                program.name(),
                program.modules.join(", "),
                program.packages,
            );
            continue;
        };
        for mode in modes {
            let output = run(perilune(*mode).arg(&program.path)).expect("the command runs");
            let got = text(&output);
            if got != expected {
                let mode = mode.unwrap_or("the default mode");
                failures.push(format!(
                    "{} in {mode} ({}):\n{got}instead of\n{expected}",
                    program.name(),
                    output.status,
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn modules_do_what_they_do_in_puc() {
    compare(&[None]);
}

#[test]
#[ignore = "takes minutes; `cargo xtask nightly c-modules` runs it"]
fn modules_in_every_mode() {
    compare(&MODES.map(Some));
}

/// Compiles a C library of the folder and returns the folder with the result; `None` if there is no
/// compiler.
fn compiled(library: &str) -> Option<PathBuf> {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_modules");
    fs::create_dir_all(&to).expect("the folder for temporary files can be written");
    // Tests run at the same time: a library is complete when it gets its name.
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let unfinished = to.join(format!("{library}-{}-{number}", std::process::id()));
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o"]);
    cc.arg(&unfinished).arg(folder().join(format!("{library}.c")));
    let Some(output) = run(&mut cc) else {
        eprintln!("skipped: there is no C compiler `cc`");
        return None;
    };
    assert!(output.status.success(), "{}", text(&output));
    fs::rename(unfinished, to.join(format!("{library}.so"))).expect("it can be renamed");
    Some(to)
}

/// Runs the program of a library in every mode, and checks that it prints `ok`.
fn check_library(library: &str) {
    let Some(compiled) = compiled(library) else { return };
    let cpath = format!("{}/?.so", compiled.display());
    let program = folder().join(format!("{library}.lua"));
    let check = |what: &str, command: &mut Command| {
        let Some(output) = run(command.arg(&program).env("LUA_CPATH", &cpath)) else { return };
        assert_eq!(text(&output), "ok\n", "{library} in {what}: {}", output.status);
    };
    // PUC must pass the same checks
    check("lua5.4", &mut Command::new("lua5.4"));
    check("the default mode", &mut perilune(None));
    for mode in MODES {
        check(mode, &mut perilune(Some(mode)));
    }
    check("--jit=off", perilune(None).arg("--jit=off"));
}

#[test]
fn functions_of_the_api() {
    check_library("api");
}

#[test]
fn files_of_c_code_are_files_of_the_library() {
    check_library("files");
}

#[test]
fn states_that_c_code_makes() {
    check_library("states");
}

#[test]
fn coroutines_that_do_not_run() {
    check_library("threads");
}

#[test]
fn hooks_that_signal_handlers_set() {
    check_library("signals");
}

#[test]
fn warnings_of_c_code() {
    let Some(library) = compiled("api") else { return };
    let program = "local w = require 'api'.warning
        w 'off' w '@on' w('a', 1) w('b', 1) w 'c' w('@off', 1) w 'd' w '@none'
        w '@off' w('e', 1) w '@on' w 'f'";
    let cpath = format!("{}/?.so", library.display());
    for command in [&mut Command::new("lua5.4"), &mut perilune(None)] {
        let command = command.env("LUA_CPATH", &cpath).args(["-e", program]);
        let Some(output) = run(command) else { continue };
        let shown = String::from_utf8_lossy(&output.stderr);
        assert_eq!(shown, "Lua warning: abc\nLua warning: @offd\nLua warning: f\n");
    }
}

#[test]
fn loops_of_c_code_collect_garbage() {
    let Some(library) = compiled("api") else { return };
    let program = r#"local api = require 'api'
        for name, f in pairs {
            number = function(i) tostring(i) end, native = tostring,
            failing = function(i) return nil + i end, text = function(i) return i .. 'x' end,
            loop = function(i) for j = 1, 2 do end tostring(i) end,
        } do
            collectgarbage()
            local before = collectgarbage 'count'
            print(name, api.drive(f, 400000) - before < 17000)
        end
        collectgarbage()
        local before = collectgarbage 'count'
        local function yielding() while true do coroutine.yield(tostring(0.5) .. 'x') end end
        print('coroutine', api.drive_thread(yielding, 400000) - before < 17000)"#;
    for mode in [None, Some("off"), Some("unprofiled"), Some("baseline-sync")] {
        let mut command = perilune(mode);
        command.env("LUA_CPATH", format!("{}/?.so", library.display()));
        let output = text(&run(command.args(["-e", program])).expect("it runs"));
        assert_eq!(output.matches("true").count(), 6, "{mode:?}: {output}");
    }
}

#[test]
#[cfg(debug_assertions)]
fn debug_builds_refuse_a_wrong_index() {
    let Some(library) = compiled("api") else { return };
    let mut command = perilune(None);
    command.env("LUA_CPATH", format!("{}/?.so", library.display()));
    let output = run(command.args(["-e", "require 'api'.wrong_index()"])).expect("it runs");
    assert!(!output.status.success());
    assert!(text(&output).contains("invalid index -50"), "{}", text(&output));
}

/// Programs in which the checker finds no errors of the modules and their libraries.
const WITHOUT_ERRORS: [&str; 10] =
    ["bit", "cjson", "expat", "filesystem", "lpeg", "rex", "socket", "sqlite", "yaml", "zlib"];

#[test]
#[ignore = "needs valgrind; `cargo xtask nightly c-modules` runs it"]
fn modules_under_valgrind() {
    if run(Command::new("valgrind").arg("--version")).is_none() {
        eprintln!("skipped: there is no valgrind (apt-get install valgrind)");
        return;
    }
    for program in Program::all() {
        if !WITHOUT_ERRORS.iter().any(|name| program.name() == format!("{name}.lua")) {
            continue;
        }
        let Some(expected) = program.expected() else { continue };
        for option in ["--jit=on", "--jit=off"] {
            let mut command = Command::new("valgrind");
            // machine code is freed, and its memory, which is mapped from a file, is reused
            command.args(["-q", "--smc-check=all", "--error-exitcode=99"]);
            command.args([env!("CARGO_BIN_EXE_perilune"), option]);
            let output = run(command.arg(&program.path)).expect("it runs");
            let name = program.name();
            assert_eq!(text(&output), expected, "{name} with {option}: {}", output.status);
        }
    }
}

#[test]
fn a_state_that_does_not_allow_modules_loads_none() {
    let Some(library) = compiled("api") else { return };
    let lua = perilune::Lua::new();
    let file = library.join("api.so").display().to_string();
    let loaded: (Option<bool>, String, String) = lua
        .load(format!("return package.loadlib('{file}', 'luaopen_api')"))
        .eval()
        .expect("it returns what is wrong");
    assert_eq!(loaded.0, None);
    assert_eq!(loaded.2, "absent");
    let code = format!("package.cpath = '{}/?.so' return pcall(require, 'api')", library.display());
    let (ok, message): (bool, String) = lua.load(code).eval().expect("it returns what is wrong");
    assert!(!ok && message.contains("dynamic libraries not enabled"), "{message}");
}

/// The rock that [`luarocks_installs_and_removes_a_rock`] creates: a Lua module on top of a C
/// module.
const ROCK: [(&str, &str); 3] = [
    (
        "rock-1.0-1.rockspec",
        r#"package = "rock" version = "1.0-1" source = { url = "file://rock" }
        build = { type = "builtin", modules = { ["rock"] = "rock.lua", ["rock.core"] = "core.c" } }
        "#,
    ),
    ("rock.lua", "local core = require 'rock.core' return { six = core.add(2, 4) }"),
    (
        "core.c",
        r#"
        #include "lua.h"
        #include "lauxlib.h"
        static int add(lua_State *L) {
          lua_pushinteger(L, luaL_checkinteger(L, 1) + luaL_checkinteger(L, 2));
          return 1;
        }
        static const luaL_Reg functions[] = {{"add", add}, {NULL, NULL}};
        int luaopen_rock_core(lua_State *L) {
          luaL_newlib(L, functions);
          return 1;
        }
        "#,
    ),
];

#[test]
#[ignore = "needs luarocks and PUC's headers; `cargo xtask nightly c-modules` runs it"]
fn luarocks_installs_and_removes_a_rock() {
    let script = Path::new("/usr/bin/luarocks");
    if !script.exists() || !Path::new("/usr/include/lua5.4/lua.h").exists() {
        eprintln!("skipped: it needs luarocks and the headers (apt-get install luarocks)");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rock");
    let tree = folder.join("tree");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
    for (name, text) in ROCK {
        fs::write(folder.join(name), text).expect("its files can be written");
    }
    let luarocks = |arguments: &[&str]| {
        let mut command = perilune(None);
        command.arg(script).args(["--lua-version", "5.4", "--tree"]).arg(&tree).args(arguments);
        let output = run(command.current_dir(&folder)).expect("the command runs");
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        text(&output)
    };
    luarocks(&["make", "rock-1.0-1.rockspec"]);
    assert!(luarocks(&["list"]).contains("1.0-1 (installed)"));
    let installed = |what: &str| format!("{}/{what}", tree.display());
    let mut command = perilune(None);
    command.env("LUA_PATH", installed("share/lua/5.4/?.lua"));
    command.env("LUA_CPATH", installed("lib/lua/5.4/?.so"));
    let output = run(command.args(["-e", "print(require 'rock'.six)"])).expect("it runs");
    assert_eq!(text(&output), "6\n");
    luarocks(&["remove", "rock"]);
    assert!(!luarocks(&["list"]).contains("1.0-1"));
}
