//! Tests of limits that the system sets. Most run the command with little address space
//! (`ulimit -v`): in every kind of program, running out of memory is a Lua error and the program
//! can continue.

#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

/// The kilobytes of address space for each program.
const ADDRESS_SPACE: usize = 200_000;

/// Runs `program` with little memory. Returns its output, its messages and its exit code.
fn run(program: &str, options: &[&str]) -> (String, String, Option<i32>) {
    run_below(&format!("-v {ADDRESS_SPACE}"), program, options)
}

/// Runs `program` with a limit of the shell's `ulimit`.
fn run_below(limit: &str, program: &str, options: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_perilune"))
        .args(options)
        .args(["-e", program])
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// Returns whether the shell can limit memory; if not, prints that the test is skipped.
fn can_limit() -> bool {
    let status = Command::new("sh").args(["-c", &format!("ulimit -v {ADDRESS_SPACE}")]).status();
    let can = status.is_ok_and(|s| s.success());
    if !can {
        eprintln!("skipped: the shell has no `ulimit -v`");
    }
    can
}

/// Checks that `body` runs out of memory in a protected call, twice, and that the program
/// continues.
fn check(body: &str) {
    if !can_limit() {
        return;
    }
    let program = format!(
        "local function body() {body} end
        for _ = 1, 2 do
            local ok, message = pcall(body)
            print(ok, (tostring(message):gsub('^.*: ', '')))
        end
        local t = {{}}
        for i = 1, 1000 do t[i] = 'string ' .. i end
        print(#table.concat(t), load('return 6 * 7')())"
    );
    for options in [&["--jit=off"][..], &[]] {
        let (output, messages, code) = run(&program, options);
        let expect = "false\tnot enough memory\nfalse\tnot enough memory\n9893\t42\n";
        assert_eq!((&*output, code), (expect, Some(0)), "{options:?} {body}\n{messages}");
    }
}

/// A program that has filled memory with objects that it still refers to can continue after the
/// error, and free them.
#[test]
fn the_program_frees_memory_after_the_error() {
    if !can_limit() {
        return;
    }
    for (element, limit) in [
        ("{i}", ADDRESS_SPACE),
        ("{i}", 201_000),
        ("{i}", 300_000),
        ("load('local a = ' .. i .. ' return function() return a end')", ADDRESS_SPACE),
        ("coroutine.wrap(function() end)", ADDRESS_SPACE),
    ] {
        let program = format!(
            "local t = {{}}
            print(pcall(function() for i = 1, math.huge do t[#t + 1] = {element} end end))
            local count = 0
            for i = 1, 10000 do count = count + select('#', i) end
            print(count, #t > 1000)
            t = nil
            collectgarbage()
            t = {{}}
            for i = 1, 10000 do t[i] = {{'string ' .. i}} end
            print(#t)"
        );
        for options in [&["--jit=off"][..], &[]] {
            let (output, messages, code) = run_below(&format!("-v {limit}"), &program, options);
            let expect = "false\tnot enough memory\n10000\ttrue\n10000\n";
            let case = || format!("{options:?} {limit} {element}\n{messages}");
            assert_eq!((&*output, code), (expect, Some(0)), "{}", case());
        }
    }
}

/// A program that keeps catching errors does not spend its time on useless collections.
#[test]
fn errors_without_collections() {
    if !can_limit() {
        return;
    }
    let program = "
        local t, errors, cycles = {}, 0, 0
        local weak = setmetatable({}, {__mode = 'k'})
        pcall(function() for i = 1, math.huge do t[i] = {} end end)
        for _ = 1, 300 do
            local ok = pcall(function() for i = 1, 100 do t[#t + 1] = {i} end end)
            if not ok then errors = errors + 1 end
            pcall(function()
                if not next(weak) then cycles = cycles + 1 weak[{}] = true end
            end)
        end
        print(errors > 250, cycles * 4 < errors or errors .. ' ' .. cycles)
        t = nil
        local function again() t = {} for i = 1, 100000 do t[i] = {i} end end
        for _ = 1, 200 do if pcall(again) then break end end
        print(#t)";
    let (output, messages, code) = run(program, &["--jit=off"]);
    assert_eq!((&*output, code), ("true\ttrue\n100000\n", Some(0)), "{messages}");
}

/// Checks that `body`, which uses the long string `s`, needs more memory than is left.
fn check_with_long_string(body: &str) {
    check(&format!(
        "local s, junk = ('x'):rep(20000000), {{}}
        for _, size in ipairs {{ 1000000, 100000 }} do
            pcall(function() for i = 1, 1e9 do junk[#junk + 1] = ('y'):rep(size) end end)
        end
        {body}"
    ));
}

/// An error whose long message cannot get its position is a memory error.
#[test]
fn long_messages() {
    check_with_long_string("error(s)");
}

/// Functions that copy a long string, for the system or for a message, raise memory errors.
#[test]
fn long_arguments() {
    let bodies = [
        "os.getenv(s)",
        "os.remove(s)",
        "os.rename('a', s)",
        "os.execute(s)",
        "os.date(s)",
        "io.open(s)",
        "io.popen(s)",
        "dofile(s)",
        "assert(loadfile(s))",
        "assert(load('return 1', s))",
        "assert(load('return 1', 'chunk', s))",
        "assert(load(s))",
        "require(s)",
        "package.searchpath(s, s)",
        "package.loadlib(s, s)",
        "package.searchers = { function() return s end } require 'module'",
        "s:match(s)",
        "s:gsub(('%a?'):rep(300000), 'y')",
    ];
    bodies.iter().for_each(|body| check_with_long_string(body));
}

/// An error about a value whose type has a long name is a memory error.
#[test]
fn long_names_of_types() {
    for body in ["v + 1", "v < 1", "v()", "tostring(v)", "math.floor(v)", "coroutine.close(v)"] {
        let body = format!("local v = setmetatable({{}}, {{ __name = s }}) return {body}");
        check_with_long_string(&body);
    }
    check_with_long_string("for i = setmetatable({}, { __name = s }), 1 do end");
}

/// Lists are sorted in place if there is no memory for merging.
#[test]
fn sorted_lists() {
    if !can_limit() {
        return;
    }
    let program = "local floats, integers, strings = {}, {}, {}
        for i = 1, 2^20 do floats[i] = i * 7919 % 2^20 + 0.5 end
        for i = 1, 1 << 20 do integers[i] = i * 7919 % (1 << 20) end
        for i = 1, 1 << 18 do strings[i] = 'key ' .. i * 7919 % (1 << 18) end
        local junk = {}
        for _, size in ipairs { 1000000, 100000 } do
            pcall(function() for i = 1, 1e9 do junk[#junk + 1] = ('x'):rep(size) end end)
        end
        for _, list in ipairs { floats, integers, strings } do
            print(pcall(table.sort, list))
            for i = 2, #list do assert(list[i - 1] < list[i]) end
        end
        print(junk[1] ~= nil)";
    for options in [&["--jit=off"][..], &[]] {
        let (output, messages, code) = run(program, options);
        assert_eq!(output, "true\ntrue\ntrue\ntrue\n", "{options:?}: {messages}");
        assert_eq!((messages.as_str(), code), ("", Some(0)), "{options:?}");
    }
}

#[test]
fn tables() {
    check("local t = {} for i = 1, math.huge do t[i] = {} end");
}

#[test]
fn arrays_of_numbers() {
    check("local t = {} for i = 1, math.huge do t[i] = i end");
}

#[test]
fn keys() {
    check("local t = {} for i = 1, math.huge do t[i + 0.5] = i end");
}

#[test]
fn inserted_elements() {
    check("local t = {} while true do table.insert(t, 'x') end");
}

#[test]
fn doubled_strings() {
    check("local s = 'x' while true do s = s .. s end");
}

#[test]
fn endless_files() {
    for read in ["f:read('a')", "f:read('l')", "f:read('L')", "f:read(1 << 32)", "f:lines()()"] {
        check(&format!("local f <close> = io.open('/dev/zero') {read}"));
    }
    check("error((select(2, loadfile('/dev/zero'))))");
}

#[test]
fn long_names_in_messages() {
    for call in ["collectgarbage(s)", "io.lines(s)", "io.input(s)", "debug.traceback(s)"] {
        check(&format!("local s = ('x'):rep(80 << 20) {call}"));
    }
}

#[test]
fn many_strings() {
    check("local t = {} for i = 1, math.huge do t[i] = 'text ' .. i end");
}

#[test]
fn coroutines() {
    check(
        "local t = {}
        while true do
            local co = coroutine.wrap(function() coroutine.yield() end)
            co()
            t[#t + 1] = co
        end",
    );
}

#[test]
fn closures() {
    check("local t = {} for i = 1, math.huge do t[i] = function() return t, i end end");
}

#[test]
fn linked_lists() {
    check("local t while true do t = {next = t, value = {}} end");
}

#[test]
fn loaded_chunks() {
    check(
        "local text = 'return {' .. ('{1, 2, a = 3},'):rep(20000) .. '}'
        local t = {}
        while true do t[#t + 1] = assert(load(text)) end",
    );
}

#[test]
fn a_large_chunk() {
    check("assert(load('return ' .. ('{1},'):rep(4000000)))");
}

#[test]
fn buffers_of_the_library() {
    check(
        "local s = ('x'):rep(40 * 1000 * 1000)
        local t = {}
        while true do t[#t + 1] = s:gsub('x', 'yy') end",
    );
}

#[test]
fn nested_protected_calls() {
    check(
        "local t = {}
        local function f(n)
            if n > 0 then
                pcall(f, n - 1)
                t[#t + 1] = {}
                return
            end
            while true do t[#t + 1] = {} end
        end
        f(100)
        error('not enough memory')",
    );
}

#[test]
fn an_error_that_is_not_caught() {
    if !can_limit() {
        return;
    }
    let (output, messages, code) = run("local t = {} for i = 1, math.huge do t[i] = {} end", &[]);
    assert_eq!((&*output, code), ("", Some(1)));
    assert!(messages.contains(": not enough memory\n"), "{messages}");
}

/// Where files must be small, code is not written through a memory file, whose size would exceed
/// the limit.
#[test]
fn small_files() {
    let program = "local s = 0 for i = 1, 1000 do s = s + i end print(s)";
    let (output, messages, code) = run_below("-f 100", program, &["--jit-sync", "--jit-stats"]);
    assert_eq!((&*output, code), ("500500\n", Some(0)), "{messages}");
}

/// Each standard stream is opened when it is needed, so one that is not used takes no descriptor.
#[test]
fn few_descriptors() {
    let program = "print(1) print(pcall(io.read)) print(io.open('/dev/null'))";
    let (output, messages, code) = run_below("-n 4", program, &[]);
    let expect = "1\ntrue\tnil\tToo many open files\t24\nnil\t/dev/null: Too many open files\t24\n";
    assert_eq!((&*output, code), (expect, Some(0)), "{messages}");
}
