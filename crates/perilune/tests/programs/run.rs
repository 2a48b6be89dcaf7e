//! Running a program under PUC Lua and under Perilune.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mlua::{Lua as Puc, LuaOptions, StdLib};
use perilune::{Engine, Interrupt, JitOptions, Lua};

use crate::host;

/// What surrounds every program.
const HARNESS: &str = include_str!("harness.lua");

/// The program within the harness: a file that shows everything when `print(...)` surrounds the last line.
pub(crate) fn with_harness(program: &str) -> String {
    format!("{HARNESS}return harness([=======[\n{program}]=======])\n")
}

/// A file for the command, to look at a difference by hand.
pub(crate) fn standalone(program: &str) -> String {
    format!("{HARNESS}print(harness([=======[\n{program}]=======]))\n")
}

/// What the program shows under PUC; `None` if it takes too much memory. Nothing stops it: the harness's functions keep programs
/// short, and a hook that counted would make PUC several times slower.
pub(crate) fn puc(program: &str) -> Option<String> {
    // SAFETY: generated programs load no native modules, and binary chunks only fresh from `string.dump`.
    let lua = unsafe { Puc::unsafe_new_with(StdLib::ALL, LuaOptions::new()) };
    lua.set_memory_limit(200 << 20).ok()?;
    host::mlua::open(&lua).ok()?;
    let shown: Result<mlua::LuaString, _> =
        lua.load(with_harness(program)).set_name("=harness").eval();
    match shown {
        Ok(text) => Some(String::from_utf8_lossy(&text.as_bytes()).into_owned()),
        Err(error) if error.to_string().contains("not enough memory") => None,
        Err(error) => Some(format!("the harness fails: {error}")),
    }
}

/// The mode of the state.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Mode {
    /// A collection at every safepoint.
    pub(crate) gc_stress: bool,
    /// Stacks without spare room.
    pub(crate) small_stack: bool,
    /// Who runs it.
    pub(crate) code: Code,
}

/// Who runs a program.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) enum Code {
    /// The interpreter.
    #[default]
    Interpreter,
    /// Functions are compiled after so many entries, and loops after so many rounds, before they go on.
    Sync(u32, u32),
    /// As `Sync`, with code that checks what it holds.
    CheckValues(u32, u32),
    /// As the seed says.
    Chaos(u64),
}

impl Mode {
    /// Is this what the binary calls it?
    pub(crate) fn is_named(self, name: &str) -> bool {
        match self.code {
            Code::Interpreter => name == "off",
            Code::Sync(..) => name == "tier1-sync",
            Code::CheckValues(..) => name == "check-values",
            Code::Chaos(_) => name == "chaos",
        }
    }

    fn state(self) -> Lua {
        let options = match self.code {
            Code::Interpreter => None,
            Code::Sync(threshold, loop_threshold) => {
                Some(JitOptions { threshold, loop_threshold, sync: true, ..JitOptions::default() })
            }
            Code::CheckValues(threshold, loop_threshold) => Some(JitOptions {
                threshold,
                loop_threshold,
                miss_threshold: 1 + threshold,
                sync: true,
                verify: true,
                verify_values: true,
                ..JitOptions::default()
            }),
            Code::Chaos(seed) => Some(JitOptions::chaos(seed)),
        };
        let lua = Lua::with_engine(&options.map_or_else(Engine::interpreter, Engine::with_jit));
        lua.set_gc_stress(self.gc_stress);
        lua.set_small_stack(self.small_stack);
        if let Code::Chaos(seed) = self.code {
            lua.set_chaos(seed);
        }
        lua
    }
}

/// What the program shows under Perilune.
pub(crate) fn perilune(program: &str, mode: Mode) -> String {
    let source = with_harness(program);
    let run = || {
        let lua = mode.state();
        host::perilune::open(&lua).expect("there is memory");
        let seconds = if mode.gc_stress { 600 } else { 120 };
        let _guard = Watchdog::start(&lua, Duration::from_secs(seconds));
        match lua.load(&source).set_name("=harness").call::<String>(()) {
            Ok(text) => text,
            Err(error) => format!("the harness fails: {error}"),
        }
    };
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if EXPECTED.get() {
                PANIC.set(info.to_string());
            } else {
                usual(info);
            }
        }));
    });
    EXPECTED.set(true);
    let shown =
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| format!("panic: {}", PANIC.take()));
    EXPECTED.set(false);
    shown
}

/// Interrupts the state when it runs for too long: one thread watches for all.
pub(crate) struct Watchdog;

/// The interrupt handle of the state that runs, by the number of its run.
struct Watched {
    run: u64,
    handle: Interrupt,
    limit: Duration,
    since: std::time::Instant,
}

// SAFETY: the handle is used under the lock of `WATCHED` only, and taken out before its state dies (`Watchdog::drop`).
unsafe impl Send for Watched {}

static WATCHED: std::sync::Mutex<Vec<Watched>> = std::sync::Mutex::new(Vec::new());
static RUNS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Panics are part of what is shown, not printed.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
    static PANIC: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
    static RUN: Cell<u64> = const { Cell::new(0) };
}

impl Watchdog {
    /// Watches `lua` until the guard is dropped, which must be before the state.
    pub(crate) fn start(lua: &Lua, limit: Duration) -> Watchdog {
        static THREAD: std::sync::Once = std::sync::Once::new();
        THREAD.call_once(|| {
            std::thread::spawn(|| {
                loop {
                    std::thread::sleep(Duration::from_millis(200));
                    for watched in WATCHED.lock().unwrap_or_else(|e| e.into_inner()).iter() {
                        if watched.since.elapsed() > watched.limit {
                            watched.handle.request();
                        }
                    }
                }
            });
        });
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        RUN.set(run);
        let handle = lua.interrupt_handle();
        let watched = Watched { run, handle, limit, since: std::time::Instant::now() };
        WATCHED.lock().unwrap_or_else(|e| e.into_inner()).push(watched);
        Watchdog
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let run = RUN.get();
        WATCHED.lock().unwrap_or_else(|e| e.into_inner()).retain(|watched| watched.run != run);
    }
}
