//! `soak`: loads many distinct programs, runs them until they are hot, drops them, and checks that
//! none of their data remains.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use perilune::{Engine, JitOptions, Lua};

use crate::Result;
use crate::args::Options;
use crate::endurance::{Verdict, drained, eval, metric, resident};

/// The number of programs of each thread before memory is first measured.
///
/// Resident memory rises until about this point, although nothing of a program remains: the heap of
/// each state and the arenas of the allocator grow to their largest extent (one for each thread; up
/// to nine tenths of them are free), the compiler's buffers to the size that the largest function
/// needs, and the touched pages of the code region to the most code that is alive at a time.
const WARM_UP: usize = 5000;
/// The largest growth of resident memory that is allowed after that.
const MOST_GROWTH: i64 = 2 << 20;

/// The compiler that is tested.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tier {
    Optimizing,
    /// The baseline compiler, with so little room that code is evicted before its program is
    /// collected.
    Baseline,
}

impl Tier {
    fn engine(self) -> Engine {
        Engine::with_jit(match self {
            Tier::Optimizing => JitOptions::eager(),
            Tier::Baseline => {
                JitOptions { budget: 32 << 10, share: None, ..JitOptions::eager_baseline() }
            }
        })
    }

    /// Returns the name of the metric that counts the compiled methods.
    fn compiled(self) -> &'static str {
        match self {
            Tier::Optimizing => "versions installed",
            Tier::Baseline => "functions stitched",
        }
    }

    /// Returns the name of the metric that gives the compile time.
    fn time(self) -> &'static str {
        match self {
            Tier::Optimizing => "compile ns",
            Tier::Baseline => "stitch ns",
        }
    }
}

/// Returns a program that differs from all others in its names, constants and fields.
fn program(n: usize) -> String {
    format!(
        "local P{n} = {{}}
P{n}.__index = P{n}
function P{n}.new(x) return setmetatable({{x{n} = x, y = {n}}}, P{n}) end
function P{n}:move(d) self.x{n} = self.x{n} + d self.y = self.y - 1 return self end
local function mix(a, b) return (a * 31 + b) % {modulus} end
local function run(rounds)
  local p, h = P{n}.new(1), {n}
  for i = 1, rounds do
    p:move(i % 3)
    h = mix(h, p.x{n})
  end
  return h + p.y
end
return run",
        modulus = 100_003 + n % 89,
    )
}

/// Returns the expected result of the function of [`program`].
fn expected(n: usize, rounds: i64) -> i64 {
    let (mut x, mut h) = (1, n as i64);
    for i in 1..=rounds {
        x += i % 3;
        h = (h * 31 + x) % (100_003 + n as i64 % 89);
    }
    h + n as i64 - rounds
}

const WARM_ROUNDS: i64 = 100;
const HOT_ROUNDS: i64 = 1500;

fn one_program(engine: &Engine, lua: &Lua, n: usize) -> Result<()> {
    let source = format!("run = (function() {} end)()", program(n));
    eval(lua, &source)?;
    let run = |rounds: i64| -> Result<()> {
        let result = eval(lua, &format!("return run({rounds})"))?;
        let wanted = expected(n, rounds).to_string();
        if result == wanted { Ok(()) } else { Err(format!("program {n}: {result}, not {wanted}")) }
    };
    run(WARM_ROUNDS)?;
    engine.wait_for_compiler();
    run(HOT_ROUNDS)?;
    engine.wait_for_compiler();
    run(HOT_ROUNDS)?;
    eval(lua, "run = nil")?;
    Ok(())
}

/// The measurements of a run of many programs on several threads.
struct Soaked {
    growth: i64,
    /// The time to compile a program in nanoseconds, in a fresh engine and in the one that has run
    /// all programs.
    compile: (u64, u64),
    compiled: u64,
    /// The number of stitched functions that were evicted.
    evicted: u64,
    is_empty: bool,
    seconds: f64,
    left: (usize, usize),
}

/// Returns the median compile times of further programs in a fresh engine and in `soaked`. The
/// engines take turns, as the speed of the machine varies over time.
fn compile_times(tier: Tier, soaked: &Engine, first: usize) -> Result<(u64, u64)> {
    const ROUNDS: usize = 21;
    const PROGRAMS: usize = 10;
    let fresh = tier.engine();
    let states = [(&fresh, Lua::with_engine(&fresh)), (soaked, Lua::with_engine(soaked))];
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        for ((engine, lua), times) in states.iter().zip(&mut times) {
            let before = metric(engine, tier.time());
            for n in 0..PROGRAMS {
                one_program(engine, lua, first + round * PROGRAMS + n)?;
            }
            times.push((metric(engine, tier.time()) - before) / PROGRAMS as u64);
        }
    }
    let [fresh, soaked] = times.map(|mut times| {
        times.sort_unstable();
        times[ROUNDS / 2]
    });
    Ok((fresh, soaked))
}

/// Returns the number of programs before memory is first measured.
fn warm_up(programs: usize, threads: usize) -> usize {
    (WARM_UP * threads).min(programs / 2)
}

fn soak(tier: Tier, programs: usize, threads: usize) -> Result<Soaked> {
    let engine = tier.engine();
    // the names of the library remain
    drop(Lua::with_engine(&engine));
    let fresh = (engine.symbols(), engine.shapes());
    let warm_up = warm_up(programs, threads);
    let (next, start) = (AtomicUsize::new(0), AtomicU64::new(0));
    let barrier = Barrier::new(threads);
    let failure: Mutex<Option<String>> = Mutex::default();
    let begun = Instant::now();
    let run = |limit: usize, lua: &Lua| {
        loop {
            let n = next.fetch_add(1, Relaxed);
            if n >= limit || failure.lock().is_ok_and(|f| f.is_some()) {
                return;
            }
            if let Err(e) = one_program(&engine, lua, n) {
                *failure.lock().expect("no panic") = Some(e);
            }
        }
    };
    let end = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (run, barrier, next, engine, start, end) =
                (&run, &barrier, &next, &engine, &start, &end);
            scope.spawn(move || {
                let lua = Lua::with_engine(engine);
                run(warm_up, &lua);
                let settle = |at: &AtomicU64| {
                    let _ = eval(&lua, "collectgarbage() collectgarbage()");
                    if barrier.wait().is_leader() {
                        // data of the last programs is still being freed
                        thread::sleep(Duration::from_millis(100));
                        at.store(resident().unwrap_or(0), Relaxed);
                        next.store(warm_up, Relaxed);
                    }
                    barrier.wait();
                };
                settle(start);
                run(programs, &lua);
                settle(end);
                drop(lua);
            });
        }
    });
    if let Some(e) = failure.into_inner().expect("no panic") {
        return Err(e);
    }
    let (compiled, evicted) =
        (metric(&engine, tier.compiled()), metric(&engine, "placements evicted"));
    let compile = compile_times(tier, &engine, programs)?;
    let is_empty = drained(&engine, Duration::from_secs(10));
    // a compile of one of the last programs that nothing waits for may still hold shapes
    let left = || (engine.symbols() - fresh.0, engine.shapes() - fresh.1);
    let patience = Instant::now();
    while left() != (0, 0) && patience.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(10));
    }
    let left = left();
    Ok(Soaked {
        growth: end.into_inner() as i64 - start.into_inner() as i64,
        compile,
        compiled,
        evicted,
        is_empty,
        seconds: begun.elapsed().as_secs_f64(),
        left,
    })
}

/// Runs the command. Returns false when data remained.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let programs = options.programs.unwrap_or(100_000);
    let threads = options.threads.unwrap_or(1);
    let tier = if options.baseline { Tier::Baseline } else { Tier::Optimizing };
    let soaked = soak(tier, programs, threads)?;
    println!(
        "{programs} programs on {threads} threads in {:.1} s, {} compiled",
        soaked.seconds, soaked.compiled
    );
    let mut verdict = Verdict::default();
    let compiled = soaked.compiled as f64 / programs as f64;
    // States on several threads wait for each other before they find room to stitch again.
    let least = if tier == Tier::Baseline { 1.0 } else { 3.0 };
    verdict.check(compiled >= least, &format!("{compiled:.2} compiled for each program"));
    if tier == Tier::Baseline {
        let evicted = soaked.evicted as f64 / programs as f64;
        verdict.check(evicted >= 0.5, &format!("{evicted:.2} functions evicted for each program"));
    }
    let text = format!(
        "resident memory grew by {} kB after the first {}",
        soaked.growth / 1024,
        warm_up(programs, threads)
    );
    verdict.check(soaked.growth < MOST_GROWTH, &text);
    verdict
        .check(soaked.is_empty, "versions, and bytes of code, live and retired, are 0 as before");
    verdict.check(
        soaked.left == (0, 0),
        &format!("{} field names and {} shapes are left", soaked.left.0, soaked.left.1),
    );
    let (fresh, soaked) = soaked.compile;
    // repetitions differ by a tenth
    verdict.check(
        soaked <= fresh + fresh / 10,
        &format!(
            "compile time of a program: {} us after all these, {} us in a fresh engine",
            soaked / 1000,
            fresh / 1000
        ),
    );
    Ok(verdict.is_good())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_programs() {
        for (tier, threads) in
            [(Tier::Optimizing, 1), (Tier::Optimizing, 4), (Tier::Baseline, 1), (Tier::Baseline, 4)]
        {
            let soaked = soak(tier, 120, threads).expect("it runs");
            assert!(soaked.is_empty);
            assert_eq!(soaked.left, (0, 0), "names and shapes");
            let least = match (tier, threads) {
                (Tier::Optimizing, _) => 300,
                (Tier::Baseline, 1) => 100,
                // room is free once all threads were quiescent, which takes long on a busy machine
                (Tier::Baseline, _) => 20,
            };
            assert!(soaked.compiled >= least, "{} compiled", soaked.compiled);
        }
    }
}
