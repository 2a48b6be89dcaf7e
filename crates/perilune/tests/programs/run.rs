//! Running a program under PUC Lua and under Perilune.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use mlua::{Lua as Puc, LuaOptions, StdLib};
use perilune::{Engine, Function, Interrupt, JitOptions, Lua, LuaString, Program};

use crate::host;

/// The harness around every program.
const HARNESS: &str = include_str!("harness.lua");

/// A program within the harness, as text or as a function of the harness's own chunk. States of one
/// engine share a chunk, so they share the code of such a function.
#[derive(Clone)]
pub(crate) struct Source {
    text: String,
    /// The configurations of the states that run the program: which metatables, globals and
    /// functions of the library they have.
    configurations: Vec<u8>,
    shared: bool,
}

/// The number of iterations after which another state runs.
const SLICE: u32 = 5;

/// The number of configurations that the harness has.
const CONFIGURATIONS: u8 = 4;

impl Source {
    /// Creates the source that a mode runs.
    pub(crate) fn new(program: &str, mode: Mode) -> Source {
        let first = mode.configuration % CONFIGURATIONS;
        match mode.states {
            States::One => {
                let end = format!("return harness([=======[\n{program}]=======], ...)\n");
                let text = format!("{HARNESS}{end}");
                Source { text, configurations: vec![first], shared: false }
            }
            States::Interleaved | States::Threads => {
                let end = format!("return sliced(function(...)\n{program}end, ...)\n");
                let text = format!("{HARNESS}{end}");
                let count = if mode.states == States::Threads { 2 } else { 3 };
                let configurations = (0..count).map(|n| (first + n) % CONFIGURATIONS).collect();
                Source { text, configurations, shared: true }
            }
        }
    }
}

/// Returns a file for the command, to examine a difference by hand.
pub(crate) fn standalone(program: &str, configuration: u8) -> String {
    let configuration = configuration % CONFIGURATIONS;
    format!("{HARNESS}print(harness([=======[\n{program}]=======], {configuration}))\n")
}

/// Returns the output for an error that leaves the harness: a program's hook may raise it anywhere,
/// and the crates show different tracebacks.
fn failed(error: &dyn std::fmt::Display) -> String {
    let message = error.to_string();
    format!("the harness fails: {}", message.lines().next().unwrap_or_default())
}

/// Returns the outputs of the states, one after the other, without the level of the host at the end
/// of tracebacks. Perilune shows that level, as PUC's command does; mlua does not, as it does not
/// call from a C function.
fn joined(shown: &[String]) -> String {
    shown.join("\n--- next state\n").replace("\\10\\9[C]: in ?\"", "\"")
}

/// How long a program may run under PUC.
const LIMIT_OF_PUC: Duration = Duration::from_secs(60);

/// Returns the output of the program under PUC; `None` if it takes too much memory or time. States
/// run one after the other, since no state of PUC can affect another.
///
/// A hook that counted would make PUC several times slower, and programs can see it. So the program
/// runs on its own thread, which stays until the process ends if the program takes too long. The
/// harness's functions keep nearly all programs short.
pub(crate) fn puc(source: &Source) -> Option<String> {
    let source = source.clone();
    let (send, receive) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(16 << 20);
    thread.spawn(move || send.send(puc_at_length(&source))).expect("there is room for a thread");
    receive.recv_timeout(LIMIT_OF_PUC).ok()?
}

fn puc_at_length(source: &Source) -> Option<String> {
    let mut shown = Vec::new();
    for configuration in &source.configurations {
        // SAFETY: generated programs load no native modules, and binary chunks only fresh from
        // `string.dump`.
        let lua = unsafe { Puc::unsafe_new_with(StdLib::ALL, LuaOptions::new()) };
        lua.set_memory_limit(200 << 20).ok()?;
        host::mlua::open(&lua).ok()?;
        let chunk = lua.load(&source.text).set_name("=harness");
        let text = if source.shared {
            chunk.call::<mlua::Function>((*configuration, SLICE)).and_then(|step| {
                loop {
                    if let Some(text) = step.call::<Option<mlua::LuaString>>(())? {
                        return Ok(text);
                    }
                }
            })
        } else {
            chunk.call::<mlua::LuaString>(*configuration)
        };
        match text {
            Ok(text) => shown.push(String::from_utf8_lossy(&text.as_bytes()).into_owned()),
            Err(error) if error.to_string().contains("not enough memory") => return None,
            // the program is a function of the harness's chunk
            Err(mlua::Error::SyntaxError { .. }) => return Some(NO_PROGRAM.to_owned()),
            Err(error) => shown.push(failed(&error)),
        }
    }
    Some(joined(&shown))
}

/// The output for programs that do not compile.
pub(crate) const NO_PROGRAM: &str = "\"does not compile\"";

/// How a program is run.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Mode {
    /// Whether the collector runs at every safepoint.
    pub(crate) gc_stress: bool,
    /// The seed for tiny increments of the collector's work.
    pub(crate) gc_phases: Option<u64>,
    /// Whether stacks have no spare room.
    pub(crate) small_stack: bool,
    /// The code that executes the program.
    pub(crate) code: Code,
    /// The configuration of the first state.
    pub(crate) configuration: u8,
    /// The states that run the program.
    pub(crate) states: States,
}

/// The code that executes a program.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) enum Code {
    /// The portable loop of the interpreter.
    #[default]
    Interpreter,
    /// The generated handlers of the interpreter.
    Handlers,
    /// Machine code: functions are compiled after this many entries, and loops after this many
    /// iterations, before they continue.
    Sync(u32, u32),
    /// Stitched code, after this many entries and iterations.
    Baseline(u32, u32),
    /// Stitched code after this many entries and iterations, and machine code that other threads
    /// compile after twice as many.
    Tiers(u32, u32),
    /// Like [`Code::Sync`], with functions that stay in one tier, determined by the seed.
    Mixed(u32, u32, u64),
    /// Like [`Code::Sync`], with code that compares its values with frame and heap.
    CheckValues(u32, u32),
    /// As [`Code::Sync`], with guards that fail although their conditions hold, determined by the
    /// seed.
    ExitStress(u32, u32, u64),
    /// As [`Code::Sync`], with functions that are compiled later than the loops that call them, so
    /// that they are inlined there.
    Inlining(u32),
    /// Machine code that other threads compile after this many entries and iterations.
    Background(u32, u32),
    /// Like [`Code::Sync`] after the first entry, with so little room that code is continuously
    /// evicted.
    Evicted,
    /// Random behavior at safepoints, determined by the seed.
    Chaos(u64),
    /// The same with stitched code alone.
    BaselineChaos(u64),
}

/// The states that run a program.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) enum States {
    /// One state.
    #[default]
    One,
    /// States of one engine with different configurations, which run slices of the program in turn.
    Interleaved,
    /// States of one engine with different configurations, each on its own thread.
    Threads,
}

impl Mode {
    /// Returns the name by which `PERILUNE_PROGRAMS_MODE` selects the mode.
    pub(crate) fn name(self) -> &'static str {
        match (self.states, self.code) {
            (States::Interleaved, _) => "interleaved",
            (States::Threads, _) => "threads",
            (_, Code::Interpreter) => "off",
            (_, Code::Handlers) => "generated",
            (_, Code::Sync(..)) => "sync",
            (_, Code::Baseline(..)) => "baseline",
            (_, Code::Tiers(..)) => "tiers",
            (_, Code::Mixed(..)) => "mixed",
            (_, Code::CheckValues(..)) => "check-values",
            (_, Code::ExitStress(..)) => "exit-stress",
            (_, Code::Inlining(_)) => "inlining",
            (_, Code::Background(..)) => "background",
            (_, Code::Evicted) => "evicted",
            (_, Code::Chaos(_)) => "chaos",
            (_, Code::BaselineChaos(_)) => "baseline-chaos",
        }
    }

    fn engine(self) -> Engine {
        // only some modes have stitched code as well
        let of = |threshold, loop_threshold, sync| JitOptions {
            threshold,
            loop_threshold,
            sync,
            stitch_threshold: if sync { u32::MAX } else { threshold },
            workers: 1,
            ..JitOptions::eager()
        };
        Engine::with_jit(match self.code {
            Code::Interpreter | Code::Handlers => return Engine::interpreter(),
            Code::Sync(threshold, loop_threshold) => of(threshold, loop_threshold, true),
            Code::Baseline(stitch_threshold, loop_threshold) => {
                // The first entry has no feedback to choose stencils by.
                let speculate_unseen = stitch_threshold == 1;
                JitOptions {
                    stitch_threshold,
                    stitch_footprint: usize::MAX,
                    loop_threshold,
                    speculate_unseen,
                    ..JitOptions::baseline()
                }
            }
            Code::Tiers(threshold, loop_threshold) => JitOptions {
                stitch_threshold: threshold,
                ..of(2 * threshold, 2 * loop_threshold, false)
            },
            Code::Mixed(threshold, loop_threshold, seed) => JitOptions {
                stitch_threshold: threshold,
                mix: Some(seed),
                ..of(threshold, loop_threshold, true)
            },
            Code::CheckValues(threshold, loop_threshold) => JitOptions {
                miss_threshold: 1 + threshold,
                verify: true,
                verify_values: true,
                ..of(threshold, loop_threshold, true)
            },
            Code::ExitStress(threshold, loop_threshold, _) => JitOptions {
                verify: true,
                stress_exits: true,
                ..of(threshold, loop_threshold, true)
            },
            Code::Inlining(loop_threshold) => of(100, loop_threshold, true),
            Code::Background(threshold, loop_threshold) => of(threshold, loop_threshold, false),
            Code::Evicted => JitOptions { budget: 96 << 10, ..of(1, 1, true) },
            Code::Chaos(seed) => JitOptions::chaos(seed),
            Code::BaselineChaos(seed) => JitOptions::baseline_chaos(seed),
        })
    }

    fn state(self, engine: &Engine) -> Lua {
        let lua = Lua::with_engine(engine);
        lua.set_gc_stress(self.gc_stress);
        if let Some(seed) = self.gc_phases {
            lua.set_gc_phases(seed);
        }
        lua.set_small_stack(self.small_stack);
        match self.code {
            Code::Interpreter => lua.set_portable_interpreter(true),
            Code::Handlers => lua.set_portable_interpreter(false),
            _ => {}
        }
        match self.code {
            Code::Chaos(seed) | Code::BaselineChaos(seed) => lua.set_chaos(seed),
            Code::ExitStress(.., seed) => lua.set_exit_stress(seed),
            _ => {}
        }
        host::perilune::open(&lua).expect("there is memory");
        lua
    }
}

/// A state of Perilune that runs a program.
struct Run {
    _guard: Watchdog,
    step: perilune::Result<Function>,
    shown: Option<String>,
    _lua: Lua,
}

impl Run {
    /// Creates a state that is about to run the shared program.
    fn new(engine: &Engine, program: &Program, configuration: u8, mode: Mode) -> Run {
        let lua = mode.state(engine);
        let guard = Watchdog::start(&lua, mode.limit());
        let step = lua.load_program(program).call::<Function>((configuration, SLICE));
        Run { _guard: guard, step, shown: None, _lua: lua }
    }

    /// Runs a slice. Returns whether the program has ended.
    fn advance(&mut self) -> bool {
        if self.shown.is_none() {
            self.shown = match &self.step {
                Ok(step) => match step.call::<Option<LuaString>>(()) {
                    Ok(text) => text.map(|text| text.to_string_lossy()),
                    Err(error) => Some(failed(&error)),
                },
                Err(error) => Some(failed(error)),
            };
        }
        self.shown.is_some()
    }

    fn run_to_end(mut self) -> String {
        while !self.advance() {}
        self.shown.unwrap_or_default()
    }
}

impl Mode {
    /// Returns how long a program may run.
    fn limit(self) -> Duration {
        Duration::from_secs(if self.gc_stress { 600 } else { 120 })
    }

    /// Runs the program in all states and returns their output.
    fn run(self, source: &Source) -> String {
        let engine = self.engine();
        if !source.shared {
            let lua = self.state(&engine);
            let _guard = Watchdog::start(&lua, self.limit());
            let chunk = lua.load(&source.text).set_name("=harness");
            return match chunk.call::<String>(source.configurations[0]) {
                Ok(text) => joined(&[text]),
                Err(error) => failed(&error),
            };
        }
        let program = match engine.compile(&source.text, "=harness") {
            Ok(program) => program,
            Err(_) => return NO_PROGRAM.to_owned(),
        };
        let run = |configuration: &u8| Run::new(&engine, &program, *configuration, self);
        if self.states == States::Threads {
            return std::thread::scope(|scope| {
                let shown = |c| catching(move || run(c).run_to_end());
                let threads: Vec<_> =
                    source.configurations.iter().map(|c| scope.spawn(move || shown(c))).collect();
                let shown = threads.into_iter().map(|t| t.join().expect("panics are caught"));
                joined(&shown.collect::<Vec<_>>())
            });
        }
        let mut runs: Vec<Run> = source.configurations.iter().map(run).collect();
        while !runs.iter_mut().fold(true, |all, run| run.advance() & all) {}
        joined(&runs.into_iter().map(|run| run.run_to_end()).collect::<Vec<_>>())
    }
}

/// Returns the output of the program under Perilune.
pub(crate) fn perilune(source: &Source, mode: Mode) -> String {
    catching(|| mode.run(source))
}

/// Returns the result of `f`, or the message of its panic.
fn catching(f: impl FnOnce() -> String) -> String {
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
        catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| format!("panic: {}", PANIC.take()));
    EXPECTED.set(false);
    shown
}

/// Interrupts a state when it runs for too long: one thread watches all states.
pub(crate) struct Watchdog {
    run: u64,
}

/// The interrupt handle of a running state, with the number of its run.
struct Watched {
    run: u64,
    handle: Interrupt,
    limit: Duration,
    since: std::time::Instant,
}

// SAFETY: the handle is only used with `WATCHED` locked, and removed before its state ends
// (`Watchdog::drop`).
unsafe impl Send for Watched {}

static WATCHED: std::sync::Mutex<Vec<Watched>> = std::sync::Mutex::new(Vec::new());
static RUNS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether panics are part of the output and not printed.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
    static PANIC: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
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
        let handle = lua.interrupt_handle();
        let watched = Watched { run, handle, limit, since: std::time::Instant::now() };
        WATCHED.lock().unwrap_or_else(|e| e.into_inner()).push(watched);
        Watchdog { run }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let run = self.run;
        WATCHED.lock().unwrap_or_else(|e| e.into_inner()).retain(|watched| watched.run != run);
    }
}
