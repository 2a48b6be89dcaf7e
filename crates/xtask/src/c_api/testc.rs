//! PUC's tests of the C API, from a checkout of Lua 5.4.8: the functions of its `ltests.c` that can
//! be compiled with the public headers are built into a program, which runs the files that use
//! them.

use std::path::Path;
use std::process::Command;

use xtask::task;

use super::{inputs, output, scratch, text, with_library};

/// The first lines of the functions in `ltests.c` that do not need its state.
const FUNCTIONS: [&str; 8] = [
    "static void setnameval",
    "static void badexit",
    "static int tpanic",
    "static void warnf",
    "static void printstack",
    "static int mem_query",
    "static int alloc_count",
    "static int alloc_failnext",
];

/// Lines of the files that are left out: the file, the beginning of the first line, and the number
/// of lines.
const CUTS: [(&str, &str, usize); 8] = [
    // the state of PUC's collector and of its strings and stack
    ("api.lua", "  T.gcstate(\"atomic\")", 2),
    ("api.lua", "  T.gcstate(\"pause\")", 1),
    ("api.lua", "    local stsize, stuse = T.querystr()", 2),
    ("api.lua", "    local _, stksize = T.stacklevel()", 2),
    ("api.lua", "    assert(select(2, T.stacklevel()) == stksize)", 2),
    // a smaller stack than that of the public header
    ("api.lua", "  local res = T.testC([[rawcheckstack 500000; return 1]])", 2),
    // a state in 10 000 bytes
    ("api.lua", "  assert(T.checkpanic(\"newuserdata 20000\") == MEMERRMSG)", 1),
    // memory in steps of 7 bytes, while the engine allocates a megabyte at a time
    ("api.lua", "  testalloc(s, f)", 1),
];

/// Lines that are replaced by others.
const REPLACED: [(&str, &str); 1] = [("  return testbytes(s, f)", "  return testalloc(s, f)")];

const FILES: [&str; 3] = ["api.lua", "coroutine.lua", "strings.lua"];

/// Appends the lines from the one that begins with `first` to the one that begins with `last`.
fn append(to: &mut String, source: &str, first: &str, last: &str) -> Option<()> {
    let mut lines = source.lines().skip_while(|line| !line.starts_with(first));
    to.push_str(lines.next()?);
    to.push('\n');
    for line in lines {
        if line.starts_with(last) {
            if last == "}" {
                to.push_str("}\n");
            }
            return Some(());
        }
        to.push_str(line);
        to.push('\n');
    }
    None
}

/// Returns the source text of the program.
fn program(root: &Path, checkout: &Path) -> Option<String> {
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).ok();
    let tests = read(checkout.join("ltests.c"))?;
    let mut all = read(inputs(root).join("testc_head.c"))?;
    for function in &FUNCTIONS[..4] {
        append(&mut all, &tests, function, "}")?;
    }
    append(&mut all, &tests, "#define MARK\t", "/* }=====")?;
    all.push_str("static int runC (lua_State *L, lua_State *L1, const char *pc);\n");
    for function in &FUNCTIONS[4..] {
        append(&mut all, &tests, function, "}")?;
    }
    append(&mut all, &tests, "static int tref", "static const struct luaL_Reg tests_funcs")?;
    all.push_str(&read(inputs(root).join("testc_tail.c"))?);
    Some(all)
}

/// Returns a file of the suite without the lines that are cut, and the number of those lines.
fn cut(name: &str, source: &str) -> (String, usize) {
    let (mut all, mut left_out, mut skip) = (String::new(), 0, 0);
    for line in source.lines() {
        let cuts = CUTS.iter().filter(|(file, first, _)| *file == name && line.starts_with(first));
        skip = cuts.map(|(_, _, n)| *n).next().unwrap_or(skip);
        if skip > 0 {
            (skip, left_out) = (skip - 1, left_out + 1);
            continue;
        }
        let other = REPLACED.iter().find(|(old, _)| line == *old);
        all.push_str(other.map_or(line, |(_, new)| new));
        all.push('\n');
    }
    (all, left_out)
}

/// Compiles the program, and runs the files.
pub(super) fn run(root: &Path, checkout: &Path) -> bool {
    let folder = scratch(root, "testc");
    let Some(program) = program(root, checkout) else {
        println!("{}: no ltests.c of Lua 5.4.8", checkout.display());
        return false;
    };
    let (source, binary) = (folder.join("testc.c"), folder.join("testc"));
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-w", "-I"]).arg(checkout).arg("-o").arg(&binary).arg(&source);
    cc.arg(task::target(root).join("release/liblua5.4.so.0"));
    let built = std::fs::write(&source, program).ok().and_then(|()| output(&mut cc));
    match built {
        Some(built) if built.status.success() => {}
        built => {
            println!("{}", built.map_or("there is no `cc`".to_owned(), |b| text(&b)));
            return false;
        }
    }
    let mut passed = true;
    for name in FILES {
        let Ok(source) = std::fs::read(checkout.join("testes").join(name)) else { return false };
        let (source, left_out) = cut(name, &String::from_utf8_lossy(&source));
        let path = folder.join(name);
        let mut command = Command::new(&binary);
        command.current_dir(checkout.join("testes")).arg(&path);
        let run = std::fs::write(&path, source).ok();
        let run = run.and_then(|()| output(with_library(root, &mut command)));
        let succeeded = run.as_ref().is_some_and(|o| o.status.success());
        let how = if succeeded { "passed" } else { "FAILED" };
        println!("{name:<14} {how}, {left_out} lines cut");
        if let Some(run) = run.filter(|_| !succeeded) {
            println!("{}", text(&run));
        }
        passed &= succeeded;
    }
    passed
}
