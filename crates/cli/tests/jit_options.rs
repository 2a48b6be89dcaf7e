//! The options of the compiler, and the output about it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const FIB: &str = "local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end
local sum = 0
for i = 1, 15 do
  sum = sum + fib(i)
end
print(sum)
";

/// Creates a folder with one program in it.
fn folder(name: &str, program: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jit-options").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    std::fs::write(folder.join("p.lua"), program).expect("a file");
    folder
}

/// Runs the command on the program in a folder. Returns the id of its process, and its output.
fn start(folder: &Path, options: &[&str]) -> (u32, Output) {
    let child = Command::new(env!("CARGO_BIN_EXE_perilune"))
        .args(options)
        .arg("p.lua")
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    (child.id(), child.wait_with_output().expect("the command ends"))
}

/// Runs a program. Returns its output, its messages and its exit code.
fn run(name: &str, program: &str, options: &str) -> (String, String, Option<i32>) {
    let options: Vec<&str> = options.split_whitespace().collect();
    let (_, output) = start(&folder(name, program), &options);
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// Returns the value of a metric in a report.
fn figure(report: &str, name: &str) -> u64 {
    let line =
        report.lines().find(|l| l.trim_start().split_once("  ").is_some_and(|(_, n)| n == name));
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{report}"));
    line.split_whitespace().next().expect("a number").parse().expect("a number")
}

#[test]
fn metrics_at_the_end() {
    for (options, compiles) in [
        ("--jit=on --jit-sync --jit-stats", true),
        ("--jit=on --jit-sync --jit-threshold=1 --jit-workers=2 --jit-verify --jit-stats", true),
        ("--mode=unprofiled --jit-stats --jit-budget=1m", true),
        ("--mode=gc-stress --jit=on --jit-sync --jit-stats", true),
        ("--jit=on --jit-sync --jit-threshold=1000000 --jit-stats", false),
        ("--mode=unprofiled --jit-budget=0 --jit-stats", false),
    ] {
        let (output, report, code) = run("metrics", FIB, options);
        assert_eq!((output.as_str(), code), ("1596\n", Some(0)), "{options}\n{report}");
        assert_eq!(figure(&report, "versions installed") > 0, compiles, "{options}\n{report}");
    }
    let (_, report, _) = run("metrics", FIB, "--jit=off --jit-stats");
    assert_eq!(report, "there is no compiler\n");
    let exits = format!("{FIB} os.exit(3)");
    let (_, report, code) = run("metrics", &exits, "--jit=on --jit-sync --jit-stats");
    assert_eq!((figure(&report, "functions compiled"), code), (1, Some(3)));
    let (_, report, _) = run("metrics", FIB, "--mode=unprofiled --jit-budget=0 --jit-stats");
    let refused = "\nrefused fib@p.lua:1: code memory exhausted\n";
    assert!(report.contains(refused), "{report}");
}

#[test]
fn thresholds_are_exact() {
    let compiled = |program: &str| {
        let options = "--jit=on --jit-sync --jit-threshold=3 --jit-stats";
        let (_, report, code) = run("threshold", program, options);
        assert_eq!(code, Some(0), "{report}");
        (figure(&report, "functions compiled"), figure(&report, "loops compiled"))
    };
    let calls = |n| compiled(&format!("local function f() end for i = 1, {n} do f() end"));
    assert_eq!((calls(2), calls(3)), ((0, 0), (1, 0)));
    // a loop takes its back-edge once less than it runs
    let rounds = |n| compiled(&format!("local t = {{}} for i = 1, {n} do t[i] = i end"));
    assert_eq!((rounds(3 * 4), rounds(3 * 4 + 1)), ((0, 0), (0, 1)));
}

/// Code that exits for reasons that are not in the feedback is replaced by code that does not.
#[test]
fn no_place_exits_forever() {
    for (name, setting) in
        [("plain", "{}"), ("with a metatable", "setmetatable({}, {__mode = 'k'})")]
    {
        let program = format!(
            "local seen
             local function f(b)
               if seen and seen[b] then return 1 end
               if seen then seen[b] = true end
               return 2
             end
             local n = 0
             for i = 1, 1000 do n = n + f({{}}) end
             seen = {setting}
             for i = 1, 200000 do n = n + f({{}}) end
             print(n)"
        );
        let options = "--jit=on --jit-sync --jit-threshold=10 --jit-stats";
        let (output, report, code) = run("exits", &program, options);
        assert_eq!((output.as_str(), code), ("402000\n", Some(0)), "{name}\n{report}");
        let exits = exits(&report);
        assert!(!exits.is_empty() && exits.iter().all(|&n| n < 100_000), "{name}\n{report}");
    }
}

/// A function that is first called often after its caller was compiled is inlined all the same.
#[test]
fn functions_that_become_hot_are_inlined_later() {
    let program = "
        local function late(n) return n * 3 end
        local function outer(n, calls)
          if calls then return n + 1 + late(n) end
          return n
        end
        local s = 0
        for i = 1, 40 do s = s + outer(i, i <= 20 and i % 2 == 0) end
        for i = 1, 5000 do s = s + outer(i, false) end
        for i = 1, 50000 do s = s + outer(i, true) end
        print(s)";
    let (output, report, code) = run("late", program, "--jit=on --jit-sync --jit-why=outer");
    assert_eq!((output.as_str(), code), ("5012653660\n", Some(0)), "{report}");
    let versions: Vec<&str> = report.split("-- why of outer").skip(1).collect();
    assert_eq!(versions.len(), 2, "{report}");
    assert!(versions[0].contains("the function is called too rarely"), "{report}");
    assert!(versions[1].contains("nothing is known that makes it slow"), "{report}");
}

/// Returns the numbers of exits in a report, of all places that have exited.
fn exits(report: &str) -> Vec<u32> {
    let exits = |line: &str| line.trim().split_once("  exits at ")?.0.parse().ok();
    report.lines().filter_map(exits).collect()
}

/// The first iteration of the loop leaves an integer in `sum`, and all others a float.
#[test]
fn variables_may_become_floats_in_later_iterations() {
    let program = "local function digits(n)
                     local sum = 0
                     while n > 0 do
                       local digit = n % 10
                       sum = sum + digit
                       n = (n - digit) / 10
                     end
                     return sum
                   end
                   local function run(limit)
                     local total = 0
                     for n = 10, limit do total = total + digits(n) end
                     return total
                   end
                   local total = 0
                   for i = 1, 300 do total = total + run(300) end
                   print(total)";
    let (output, report, code) = run("kinds", program, "--jit=on --jit-sync --jit-stats");
    assert_eq!((output.as_str(), code), ("887400.0\n", Some(0)), "{report}");
    assert_eq!(exits(&report), [], "{report}");
}

/// A function that makes a class.
const MAKE: &str = "local function make(k)
                      local class = {}
                      class.__index = class
                      function class:get() return self.v * k end
                      return class
                    end ";

/// The runtime replaces the cache entry of a class by that of the next.
#[test]
fn classes_may_be_made_again() {
    let program = "local function sum(o, n)
                     local s = 0
                     for i = 1, n do s = s + o:get() end
                     return s
                   end
                   local total = 0
                   for k = 1, 2000 do total = total + sum(setmetatable({v = 1}, make(k)), 10) end
                   print(total)";
    let (output, report, code) =
        run("classes", &(MAKE.to_owned() + program), "--jit=on --jit-sync --jit-stats");
    assert_eq!((output.as_str(), code), ("20010000\n", Some(0)), "{report}");
    assert_eq!(exits(&report), [], "{report}");
    assert!(report.contains(" 0  field caches megamorphic"), "{report}");
}

/// An entry is not replaced for a class that comes back.
#[test]
fn classes_in_turn_have_entries_of_their_own() {
    let program = "local objects = {}
                   for k = 1, 2 do objects[k] = setmetatable({v = 1}, make(k)) end
                   local total = 0
                   for i = 1, 20000 do total = total + objects[i % 2 + 1]:get() end
                   print(total)";
    let (output, report, code) =
        run("turns", &(MAKE.to_owned() + program), "--jit=on --jit-sync --jit-stats");
    assert_eq!((output.as_str(), code), ("30000\n", Some(0)), "{report}");
    assert!(report.contains(" 1  field caches polymorphic"), "{report}");
}

/// New keys that nothing looks up along a chain invalidate no caches.
#[test]
fn classes_may_gain_keys() {
    let program = "local Class = {}
                   Class.__index = Class
                   function Class:get() return self.v end
                   local function sum(o, n)
                     local s = 0
                     for i = 1, n do s = s + o:get() end
                     return s
                   end
                   local total, o = 0, setmetatable({v = 1}, Class)
                   for k = 1, 2000 do
                     Class['name' .. k] = k
                     total = total + sum(o, 10)
                   end
                   print(total)";
    let (output, report, code) = run("keys", program, "--jit=on --jit-sync --jit-stats");
    assert_eq!((output.as_str(), code), ("20000\n", Some(0)), "{report}");
    assert_eq!(exits(&report), [], "{report}");
}

#[test]
fn wrong_values() {
    for (options, message) in [
        ("--jit=maybe", "'--jit=maybe': 'maybe' is none of 'off', 'baseline' and 'on'"),
        (
            "--jit-budget=64q",
            "'--jit-budget=64q': '64q' is no number of bytes up to 2g (such as 65536, 512k or 64m)",
        ),
        ("--jit-threshold=0", "'--jit-threshold=0': '0' is no number from 1 to 1073741824"),
        ("--jit-workers=-1", "'--jit-workers=-1': '-1' is no number from 1 to 1024"),
        ("--jit-stats=yes", "'--jit-stats=yes': it takes no value"),
        ("--jit-threshold", "'--jit-threshold': it needs a value: '='"),
        ("--perf=top", "'--perf=top': 'top' is neither 'map' nor 'jitdump'"),
        (
            "--jit=on --dump=clif,code:f",
            "'--dump=clif,code:f': there is no dump 'code' (there are bytecode, feedback, why, \
             ssa, exits, clif, clif-opt, vcode, stencils, asm)",
        ),
        ("--jit-why", "'--jit-why': it needs a value: '='"),
        ("--jit-why=", "'--jit-why=': 'why:' names no function"),
        ("--jit=on --dump=asm:", "'--dump=asm:': 'asm:' names no function"),
        ("--jit=off --dump=asm", "--dump shows machine code, and there is none: add --jit=on"),
        ("--mode=off --perf", "--perf shows machine code, and there is none: add --jit=on"),
    ] {
        let (output, messages, code) = run("wrong", FIB, options);
        let name = env!("CARGO_BIN_EXE_perilune");
        let expect = format!("{name}: {message}\n");
        assert_eq!((output.as_str(), messages, code), ("", expect, Some(1)), "{options}");
    }
}

#[test]
fn dumps_of_each_stage() {
    let options = "--jit=on --jit-sync --jit-threshold=64 \
                   --dump=bytecode:fib,feedback:fib,exits:fib,clif:p.lua:1,clif-opt:fib,vcode:fib,\
                   asm:fib";
    let (output, dump, code) = run("dumps", FIB, options);
    assert_eq!((output.as_str(), code), ("1596\n", Some(0)));
    let heads: Vec<&str> = dump.lines().filter(|l| l.starts_with("-- ")).collect();
    let stages = ["bytecode", "feedback", "exits", "clif", "clif-opt", "vcode", "asm"];
    let expect = stages.map(|s| format!("-- {s} of fib@p.lua:1"));
    assert_eq!(heads, expect, "{dump}");
    let part = |stage: &str| {
        let head = format!("-- {stage} of fib@p.lua:1\n");
        let rest = &dump[dump.find(&head).expect("it is there") + head.len()..];
        &rest[..rest.find("\n-- ").unwrap_or(rest.len())]
    };
    assert!(part("bytecode").starts_with("function fib <p.lua:1,4>\n"));
    assert!(part("bytecode").contains("ADD        1 1 2"));
    assert!(part("feedback").contains("LTI        0 2 0                # integers"));
    assert!(part("exits").starts_with("exit 0: before pc"), "{}", part("exits"));
    for stage in ["clif", "clif-opt"] {
        assert!(part(stage).starts_with("function u0:0(i64, i64, i64)"), "{}", part(stage));
    }
    assert_ne!(part("clif"), part("clif-opt"));
    assert!(part("vcode").contains("block0:"));
    let asm = part("asm");
    if cfg!(target_arch = "x86_64") {
        assert!(asm.contains("\n      0000  push    rbp\n"), "{asm}");
        // the listing contains the bytecode, and names in place of addresses
        for line in
            ["   9 [3] ADD        1 1 2\n", "  - entry and exit\n", "runtime.poll", "; state POLL"]
        {
            assert!(asm.contains(line), "{line} in\n{asm}");
        }
    }
}

/// The disassembly of stitched code begins again after the offsets that it contains.
#[test]
fn dump_of_stitched_code() {
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux"))) {
        return;
    }
    let (_, dump, _) = run("stitched", FIB, "--mode=baseline-sync --dump=asm:fib");
    let head = "-- asm of fib@p.lua:1, stitched\n";
    let asm = &dump[dump.find(head).expect("it is there") + head.len()..];
    let offsets = asm.find(" offsets of instructions\n").expect("they are there");
    let begin = &asm[offsets..];
    let first = begin.lines().nth(1).expect("an instruction");
    assert!(first.contains("   0 [2] LTI "), "{asm}");
    assert!(begin.lines().nth(2).expect("its code").contains("[rdi"), "{asm}");
    assert!(!asm.contains("(bad)"), "{asm}");
}

/// The dump says which loops are entered in the middle, and bytecode alone is listed without
/// running the program.
#[test]
fn selections() {
    let (_, dump, _) = run("selections", FIB, "--mode=unprofiled --dump=feedback:main");
    assert!(dump.contains("-- feedback of main@p.lua/loop:7\n"), "{dump}");
    assert!(!dump.contains("fib"), "{dump}");
    let (listing, messages, _) = run("selections", FIB, "--dump=bytecode:fib");
    assert_eq!((messages.as_str(), listing.matches("params,").count()), ("", 1), "{listing}");
    assert!(listing.starts_with("function fib <p.lua:1,4>\n"), "{listing}");
    let (listing, _, _) = run("selections", FIB, "--dump=bytecode");
    assert_eq!(listing.matches("params,").count(), 2, "{listing}");
}

/// The map for `perf` names one function per line, with its address and size in hexadecimal.
#[test]
fn the_perf_map_names_functions() {
    let folder = folder("map", FIB);
    let (process, output) = start(&folder, &["--mode=unprofiled", "--perf"]);
    assert!(output.status.success() && output.stderr.is_empty());
    let path = format!("/tmp/perf-{process}.map");
    let map = std::fs::read_to_string(&path).expect("a map");
    std::fs::remove_file(path).expect("it is ours");
    let mut names = Vec::new();
    for line in map.lines() {
        let (start, rest) = line.split_once(' ').expect("a field");
        let (size, name) = rest.split_once(' ').expect("a field");
        let number = |s| u64::from_str_radix(s, 16).expect("a number");
        assert!(number(start) > 0 && number(size) > 0);
        names.push(name);
    }
    assert_eq!(names, ["main@p.lua", "fib@p.lua:1", "main@p.lua/loop:7"], "{map}");
}

/// The jitdump has a header, and then for each function its lines followed by its code.
#[test]
fn the_jitdump_holds_code_and_lines() {
    let folder = folder("jitdump", FIB);
    let (process, output) = start(&folder, &["--mode=unprofiled", "--perf=jitdump"]);
    assert!(output.status.success() && output.stderr.is_empty());
    let dump = std::fs::read(folder.join(format!("jit-{process}.dump"))).expect("a dump");
    let word = |at: usize| u32::from_ne_bytes(dump[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| u64::from_ne_bytes(dump[at..at + 8].try_into().expect("eight bytes"));
    assert_eq!((word(0), word(4), word(8), word(20)), (0x4A69_5444, 1, 40, process));
    let name = |at: usize| dump[at..].split(|b| *b == 0).next().expect("a name").to_owned();
    let (mut at, mut functions, mut last_time) = (40, Vec::new(), long(24));
    while at < dump.len() {
        let (kind, size, time) = (word(at), word(at + 4) as usize, long(at + 8));
        assert!(time >= last_time);
        last_time = time;
        let own = at + 16;
        match kind {
            2 => {
                let mut lines = Vec::new();
                let mut entry = own + 16;
                for _ in 0..long(own + 8) {
                    assert!(long(entry) >= long(own));
                    lines.push(word(entry + 8));
                    assert_eq!(name(entry + 16), b"p.lua");
                    entry += 16 + b"p.lua".len() + 1;
                }
                assert_eq!(entry, at + size, "the record is full");
                functions.push((long(own), lines));
            }
            0 => {
                let (address, code_size) = (long(own + 16), long(own + 24) as usize);
                assert_eq!(functions.last().expect("lines come first").0, address);
                let label = name(own + 40);
                assert_eq!(own + 40 + label.len() + 1 + code_size, at + size);
                if label == b"fib@p.lua:1" {
                    let lines = &functions.last().expect("as before").1;
                    assert!([1, 2, 3].iter().all(|l| lines.contains(l)), "{lines:?}");
                }
            }
            other => panic!("record {other}"),
        }
        at += size;
    }
    assert_eq!(functions.len(), 3);
}

/// A program behaves the same while its code is registered with debuggers.
#[test]
fn code_is_registered_and_taken_back() {
    let program = "for i = 1, 50 do
        local f = load('local n = ... for i = 1, 10 do n = n + i end return n')
        for _ = 1, 3 do assert(f(i) == 55 + i) end
        if i % 10 == 0 then collectgarbage() end
    end";
    let (_, report, code) = run("gdb", program, "--mode=unprofiled --gdb --jit-stats");
    assert_eq!(code, Some(0), "{report}");
    assert!(figure(&report, "retired: program dropped") > 0, "{report}");
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        let options = "--jit=baseline --jit-threshold=2 --jit-budget=8k --jit-share=0 --gdb \
                       --jit-stats";
        let (_, report, code) = run("gdb-baseline", program, options);
        assert_eq!(code, Some(0), "{report}");
        assert!(figure(&report, "placements freed") > 20, "{report}");
    }
}

/// GDB shows where stitched functions are, as long as their code exists.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn gdb_knows_stitched_code() {
    let program = "local function hot(n)
  local s = 0
  for i = 1, n do
    s = s + i
  end
  return s
end
for i = 1, 20 do hot(i) end
do
  local gone = load('local function gone(n) return n end for i = 1, 20 do gone(i) end', '@gone.lua')
  gone()
end
collectgarbage()
os.exit(0)
";
    let folder = folder("gdb-names", program);
    let shown = Command::new("gdb")
        .args(["-q", "-batch", "-nx", "-ex", "set debuginfod enabled off"])
        .args(["-ex", "catch syscall exit_group", "-ex", "run"])
        .args(["-ex", "info line hot", "-ex", "info line gone"])
        .args(["--args", env!("CARGO_BIN_EXE_perilune"), "--jit=baseline", "--jit-threshold=2"])
        .args(["--gdb", "p.lua"])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .output();
    let Ok(output) = shown else {
        eprintln!("there is no gdb on this machine");
        return;
    };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    if !text.contains("call to syscall exit_group") {
        eprintln!("gdb cannot run programs on this machine: {text}");
        return;
    }
    assert!(text.contains("Line 1 of \"p.lua\" starts at address"), "{text}");
    assert!(text.contains("Function \"gone\" not defined"), "{text}");
}

/// Errors in compiled code report the same lines as in the interpreter, through all kinds of
/// frames.
#[test]
fn tracebacks_are_line_accurate() {
    let program = "local function deep(n)
  if n == 0 then
    local t = nil

    return t.x
  end
  local r =
    deep(n - 1)
  return r
end
local Class = {}
Class.__index = Class
function Class:method(n)
  for i = 1, 3 do
    if i == 2 then
      deep(n)
    end
  end
end
local object = setmetatable({}, Class)
local function iterate(n)
  for _, v in ipairs({1, 2}) do

    object:method(n)
  end
end
local meta = setmetatable({}, {
  __add = function(a, n)
    iterate(n)
    return 1
  end,
})
local function protected(n)
  return pcall(function()
    return meta + n
  end)
end
local co = coroutine.wrap(function(n)
  coroutine.yield(debug.traceback('in a coroutine'))
  iterate(n)
end)
for i = 1, 3 do print(protected(i)) end
print(co(2))
print(select(2, xpcall(iterate, debug.traceback, 3)))
print(select(2, pcall(co)))
local sum = 0
for i = 1, 5 do
  sum = sum + i
  if i == 4 then
    local x = meta + i
  end
end
";
    let (output, messages, code) = run("traceback", program, "--jit=off");
    assert_eq!(code, Some(1));
    assert!(messages.contains("p.lua:5: attempt to index a nil value (local 't')"), "{messages}");
    assert!(messages.contains("p.lua:50: in main chunk"), "{messages}");
    for options in ["--mode=unprofiled", "--jit=on --jit-sync --jit-threshold=2"] {
        let found = run("traceback", program, &format!("{options} --jit-stats"));
        assert!(figure(&found.1, "versions installed") > 5, "{}", found.1);
        let found = run("traceback", program, options);
        assert_eq!(found, (output.clone(), messages.clone(), code), "{options}");
    }
}
