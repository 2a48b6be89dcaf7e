//! Damaged programs: arbitrary bytes, mutated source text, and binary chunks with flipped bits
//! either fail with an error or run, but never cause a panic, a crash or a hang. Programs that load
//! are run for a short time, with few functions available.
//!
//! `PERILUNE_DAMAGED` sets the number of cases (10 000 000 is the long run),
//! `PERILUNE_DAMAGED_SEED` the first seed; `PERILUNE_DAMAGED_SAVE` names a file that receives each
//! case before it runs.

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fastrand::Rng;
use perilune::{Engine, Interrupt, JitOptions, Lua};

/// Time in milliseconds after which a case is interrupted.
const PATIENCE: u64 = 15;

/// `try(text, mode)` returns "refused", "raised" or "ran"; `dump(source)` returns the binary chunks
/// of a source's functions.
const DRIVER: &str = r#"
local load, create, resume, setmetatable = load, coroutine.create, coroutine.resume, setmetatable
local string_metatable = debug.getmetatable('')
local dump, pcall, xpcall, error, type, find = string.dump, pcall, xpcall, error, type, string.find
-- A program that tries again whatever failed would not end: an interrupt passes through all that
-- catches errors.
local function is_interrupt(m) return type(m) == 'string' and find(m, 'interrupted!', 1, true) end
local function caught(ok, m, ...)
  if not ok and is_interrupt(m) then error(m, 0) end
  return ok, m, ...
end
local function catching(f) return function(...) return caught(f(...)) end end
local function handled(f, h, ...)
  if type(h) ~= 'function' then return xpcall(f, h, ...) end
  return caught(xpcall(f, function(m, ...) if is_interrupt(m) then return m end return h(m,
    ...) end, ...))
end
-- Nothing that waits, writes, or takes time or memory without a bound.
local few = {
  type = type, select = select, pcall = catching(pcall), xpcall = handled, error = error,
    assert = assert, next = next, pairs = pairs, ipairs = ipairs,
  setmetatable = setmetatable, getmetatable = getmetatable, rawget = rawget, rawset = rawset,
    rawequal = rawequal, rawlen = rawlen,
  tostring = tostring, tonumber = tonumber,
  math = { floor = math.floor, type = math.type, max = math.max, huge = math.huge,
    maxinteger = math.maxinteger, mininteger = math.mininteger },
  string = { sub = string.sub, byte = string.byte, char = string.char, len = string.len },
  table = { insert = table.insert, remove = table.remove, pack = table.pack,
    unpack = table.unpack },
  coroutine = { create = create, resume = catching(resume), wrap = coroutine.wrap,
    yield = coroutine.yield, status = coroutine.status, close = coroutine.close },
}
function try(text, mode)
  string_metatable.__index = few.string
  local env = setmetatable({}, { __index = few })
  env._G = env
  local f = load(text, "=damaged", mode, env)
  if not f then return "refused" end
  local ok = resume(create(f), 1, "x", {})
  return ok and "ran" or "raised"
end
function dumped(source, strip)
  local f = load(source, "=whole")
  return f and dump(f, strip) or nil
end
"#;

/// Random choices: a seed gives the same cases everywhere.
struct Random(Rng);

impl Random {
    fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit.max(1))
    }
}

/// The start of the running case, in milliseconds since the start of the test; 0 when none runs.
static STARTED: AtomicU64 = AtomicU64::new(0);
/// The seed of the case.
static SEED: AtomicU64 = AtomicU64::new(0);
/// The interrupt handle of the state that runs the case.
static HANDLE: Mutex<Option<Interrupt>> = Mutex::new(None);

/// Interrupts long cases until the process ends; a case that cannot be interrupted ends the
/// process.
fn watch(start: Instant) {
    loop {
        std::thread::sleep(Duration::from_millis(5));
        let since = STARTED.load(Ordering::Relaxed);
        if since == 0 {
            continue;
        }
        let spent = (start.elapsed().as_millis() as u64).saturating_sub(since);
        if spent > 20_000 {
            let seed = SEED.load(Ordering::Relaxed);
            let _ = writeln!(std::io::stderr(), "seed {seed} hangs");
            std::process::abort();
        }
        if spent > PATIENCE
            && let Some(handle) = HANDLE.lock().unwrap_or_else(PoisonError::into_inner).as_ref()
        {
            handle.request();
        }
    }
}

fn lua_files(dir: &Path, found: &mut Vec<Vec<u8>>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            lua_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "lua") {
            found.extend(std::fs::read(&path).ok().filter(|text| text.len() < 6_000));
        }
    }
}

/// Calls a function of the driver with strings; returns its result as bytes.
fn call(lua: &Lua, name: &str, arguments: &[&[u8]]) -> Option<Vec<u8>> {
    // SAFETY: there is one state, and the function asks nothing of its caller.
    unsafe {
        lua.with(|cx| {
            let f = cx.globals().get_name(cx, name);
            cx.push_callee(f);
            for argument in arguments {
                let s = cx.str(argument).val();
                cx.push(s);
            }
            match cx.call_protected(arguments.len()) {
                Ok(n) if n > 0 => cx.get(cx.top() - n).as_str().map(|s| s.bytes().to_vec()),
                _ => None,
            }
        })
    }
}

/// Returns a state of one of several kinds in turn: interpreted, compiled from the first or third
/// entry on, and chaotic.
fn state(number: u64) -> Lua {
    let sync = |threshold| JitOptions {
        threshold,
        loop_threshold: threshold,
        sync: true,
        ..JitOptions::default()
    };
    let engine = match number / 2 % 4 {
        0 | 1 => Engine::interpreter(),
        2 => Engine::with_jit(sync(1 << (number % 3))),
        _ => Engine::with_jit(JitOptions::chaos(number)),
    };
    let lua = Lua::with_engine(&engine);
    if number / 2 % 4 == 3 {
        lua.set_chaos(number);
    }
    lua.load(DRIVER).set_name("=driver").exec().expect("the driver is a program");
    lua.set_small_stack(number % 4 == 1);
    lua.set_gc_stress(number % 40 == 3);
    lua
}

/// Makes this state the one that is interrupted.
fn watched(lua: &Lua) {
    *HANDLE.lock().unwrap_or_else(PoisonError::into_inner) = Some(lua.interrupt_handle());
}

/// Words that make arbitrary bytes look like Lua.
const WORDS: &[&str] = &[
    "and ",
    "break ",
    "do ",
    "else ",
    "elseif ",
    "end ",
    "false ",
    "for ",
    "function ",
    "goto ",
    "if ",
    "in ",
    "local ",
    "nil ",
    "not ",
    "or ",
    "repeat ",
    "return ",
    "then ",
    "true ",
    "until ",
    "while ",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "^",
    "#",
    "&",
    "~",
    "|",
    "<<",
    ">>",
    "==",
    "<=",
    "=",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "::",
    ";",
    ":",
    ",",
    "..",
    "...",
    "a ",
    "x ",
    "1 ",
    "2.5 ",
    "'s'",
    "[[",
    "]]",
    "--",
    "\n",
    "\"",
    "0x",
    "1e",
    "<close>",
    "<const>",
    "\\",
    "\x1bLua",
];

/// Generates a damaged program and its loading mode.
fn case(random: &mut Random, sources: &[Vec<u8>], chunks: &[Vec<u8>]) -> (Vec<u8>, &'static str) {
    match random.below(10) {
        0 => {
            let n = random.below(60);
            ((0..n).map(|_| random.next() as u8).collect(), "bt")
        }
        1 => {
            let n = random.below(40);
            ((0..n).flat_map(|_| WORDS[random.below(WORDS.len())].bytes()).collect(), "t")
        }
        2..=4 => {
            // A piece of a source, with bytes changed and pieces moved.
            let source = &sources[random.below(sources.len())];
            let from = if random.below(3) == 0 { random.below(source.len()) } else { 0 };
            let to = (from + 20 + random.below(700)).min(source.len());
            let mut text = source[from.min(to)..to].to_vec();
            for _ in 0..random.below(6) {
                let at = random.below(text.len());
                match random.below(4) {
                    0 if at < text.len() => text[at] = random.next() as u8,
                    1 if at < text.len() => _ = text.remove(at),
                    2 => {
                        let end = (at + random.below(60)).min(text.len());
                        let piece = text[at..end].to_vec();
                        let to = random.below(text.len() + 1);
                        text.splice(to..to, piece);
                    }
                    _ => {
                        let word = WORDS[random.below(WORDS.len())];
                        text.splice(at..at, word.bytes());
                    }
                }
            }
            (text, "t")
        }
        _ => {
            let mut chunk = chunks[random.below(chunks.len())].clone();
            for _ in 0..=random.below(4) {
                let at = random.below(chunk.len());
                match random.below(12) {
                    0 => chunk.truncate(at.max(1)),
                    1 => chunk[at] = random.next() as u8,
                    2 => {
                        let word = random.next() as u32;
                        let end = (at + 4).min(chunk.len());
                        chunk[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
                    }
                    3 => {
                        let from = random.below(chunk.len());
                        let n = random.below(16).min(chunk.len() - from).min(chunk.len() - at);
                        chunk.copy_within(from..from + n, at);
                    }
                    _ => chunk[at] ^= 1 << random.below(8),
                }
            }
            (chunk, "b")
        }
    }
}

#[test]
fn damaged_programs_end_in_errors() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let count = variable("PERILUNE_DAMAGED");
    let first = variable("PERILUNE_DAMAGED_SEED").unwrap_or(1);
    let start = Instant::now();
    let mut sources = Vec::new();
    lua_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lang-tests"), &mut sources);
    assert!(!sources.is_empty(), "the corpus is there");
    let mut lua = state(0);
    let mut chunks = Vec::new();
    for source in &sources {
        // Sequences of a few lines that compile, so that a flipped bit often hits code.
        let lines: Vec<&[u8]> = source.split_inclusive(|&b| b == b'\n').collect();
        for from in (0..lines.len()).step_by(4) {
            let part = (2..24).rev().find_map(|n| {
                let part = lines.get(from..from + n)?.concat();
                call(&lua, "dumped", &[&part]).map(|chunk| (part, chunk))
            });
            if let Some((part, chunk)) = part {
                chunks.push(chunk);
                chunks.extend(call(&lua, "dumped", &[&part, b"strip"]));
            }
        }
    }
    chunks.retain(|chunk| (100..4_000).contains(&chunk.len()));
    assert!(chunks.len() > sources.len() / 2, "only {} chunks", chunks.len());

    watched(&lua);
    std::thread::spawn(move || watch(start));
    let crumb = std::fs::File::create(concat!(env!("CARGO_TARGET_TMPDIR"), "/damaged-seed"));
    let crumb = crumb.expect("a file can be made");
    let mut ends = std::collections::BTreeMap::<String, u64>::new();
    let mut ran = 0;
    for seed in first..first + count.unwrap_or(200_000) {
        if count.is_none() && start.elapsed() > Duration::from_secs(8) {
            break;
        }
        let _ = crumb.write_at(format!("{seed:20}\n").as_bytes(), 0);
        if seed % 500 == 0 {
            lua = state(seed / 500);
            watched(&lua);
        }
        let (text, mode) = case(&mut Random(Rng::with_seed(seed)), &sources, &chunks);
        if let Some(path) = std::env::var_os("PERILUNE_DAMAGED_SAVE") {
            std::fs::write(path, &text).expect("the case can be saved");
        }
        SEED.store(seed, Ordering::Relaxed);
        STARTED.store((start.elapsed().as_millis() as u64).max(1), Ordering::Relaxed);
        let end = catch_unwind(AssertUnwindSafe(|| call(&lua, "try", &[&text, mode.as_bytes()])));
        STARTED.store(0, Ordering::Relaxed);
        let end = match end {
            Ok(end) => end
                .map_or("interrupted".to_owned(), |end| String::from_utf8_lossy(&end).into_owned()),
            Err(_) => {
                let shown = String::from_utf8_lossy(&text).into_owned();
                panic!("seed {seed}, mode {mode}: panics on {} bytes: {shown:?}", text.len());
            }
        };
        *ends.entry(format!("{mode} {end}")).or_default() += 1;
        ran += 1;
        if ran % 200_000 == 0 {
            let rate = ran as f64 / start.elapsed().as_secs_f64();
            let _ = writeln!(std::io::stderr(), "{ran} cases, {rate:.0} a second, {ends:?}");
        }
    }
    let rate = ran as f64 / start.elapsed().as_secs_f64();
    let _ = writeln!(std::io::stderr(), "{ran} cases, {rate:.0} a second, {ends:?}");
    // Enough damaged programs must still load.
    let accepted = ends.get("b ran").unwrap_or(&0) + ends.get("b raised").unwrap_or(&0);
    assert!(accepted * 50 > ran, "only {accepted} damaged chunks were accepted");
}

/// Replaces one byte of a small chunk by a possible opcode or register: nearly all ways to damage
/// one instruction.
#[test]
fn chunks_with_any_byte_replaced_end_in_errors() {
    let sources = [
        "local a, b = ... local t = {a, b, x = 1, 'y'} t.z = #t .. a return t[1] + b",
        "local function f(n) local c <close> = nil for i = 1, n do n = i end for k in next, {1} do \
         n = k end return n end return f(2)",
    ];
    let lua = state(0);
    let mut accepted = 0;
    for source in sources {
        let chunk = call(&lua, "dumped", &[source.as_bytes(), b"strip"]).expect("it compiles");
        for at in 0..chunk.len() {
            for value in (0..90).chain([127, 128, 255]) {
                let mut damaged = chunk.clone();
                damaged[at] = value;
                let end = call(&lua, "try", &[&damaged, b"b"]);
                accepted += u64::from(end.is_some_and(|end| end != b"refused"));
            }
        }
    }
    assert!(accepted > 1000, "only {accepted} were accepted");
}
