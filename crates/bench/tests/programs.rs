//! Runs every benchmark program at a small scale and compares what it prints with PUC Lua.
//!
//! A benchmark whose output differs from the oracle's measures nothing useful, and one that is
//! never run may break unnoticed. Each program runs in the interpreter and with the compiler: the
//! small ones with every function compiled before it runs, the large ones with the default options
//! of the command.

use std::path::{Path, PathBuf};

use perilune::{Engine, JitOptions, Lua};

/// The share of a benchmark's normal size. Programs that ignore it for a part of their work take
/// the longest.
const SCALE: &str = "0.005";

/// Collects what the program prints; the value of the chunk is a function that returns it.
const CAPTURE: &str = "
local scale, path = ...
local out = {}
local function line(...)
  local parts = table.pack(...)
  for i = 1, parts.n do parts[i] = tostring(parts[i]) end
  out[#out + 1] = table.concat(parts, '\\t')
end
print = line
arg = {[0] = path, scale}
return function() return table.concat(out, '\\n') end";

/// Returns the programs of a folder of this crate, in order.
fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder is part of the crate");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "lua"));
    found.sort();
    assert!(!found.is_empty(), "{} holds no programs", folder.display());
    found
}

/// Returns what the program prints under PUC Lua, or its error.
fn puc(source: &str, name: &str, path: &str) -> String {
    let run = || {
        // SAFETY: the programs are part of this crate; none loads a native module or a binary
        // chunk, or uses more of `debug` than `traceback`.
        let lua = unsafe { mlua::Lua::unsafe_new() };
        let shown: mlua::Function = lua.load(CAPTURE).call((SCALE, path))?;
        lua.load(source).set_name(name).exec()?;
        shown.call::<String>(())
    };
    run().unwrap_or_else(|error| format!("error: {error}"))
}

/// Returns what the program prints under Perilune, or its error.
fn perilune(source: &str, name: &str, path: &str, engine: &Engine) -> String {
    let run = || {
        let lua = Lua::with_engine(engine);
        let shown: perilune::Function = lua.load(CAPTURE).call((SCALE, path))?;
        lua.load(source).set_name(name).exec()?;
        shown.call::<String>(())
    };
    run().unwrap_or_else(|error| format!("error: {error}"))
}

/// Compares all programs of a folder, in the interpreter and with a compiler.
fn check(folder: &str, options: &JitOptions) {
    let mut wrong = Vec::new();
    for path in programs(folder) {
        let source = std::fs::read_to_string(&path).expect("it is text");
        let name = format!("={}", path.file_name().expect("it has a name").display());
        let path = path.to_str().expect("the path is Unicode");
        let expected = puc(&source, &name, path);
        if expected.is_empty() || expected.starts_with("error") {
            wrong.push(format!("{name}: PUC shows '{expected}'"));
        }
        let engines = [
            ("in the interpreter", Engine::interpreter()),
            ("in machine code", Engine::with_jit(options.clone())),
        ];
        for (how, engine) in engines {
            let shown = perilune(&source, &name, path, &engine);
            if shown != expected {
                wrong.push(format!("{name} {how}: '{shown}', expected '{expected}'"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Returns options with which every function is compiled before it runs.
fn everything_compiled() -> JitOptions {
    JitOptions { threshold: 1, loop_threshold: 1, sync: true, ..JitOptions::default() }
}

#[test]
fn benchmark_programs_print_what_puc_prints() {
    check("programs", &everything_compiled());
}

#[test]
fn library_benchmarks_print_what_puc_prints() {
    check("library", &everything_compiled());
}

#[test]
fn large_programs_print_what_puc_prints() {
    check("real", &JitOptions::default());
}
