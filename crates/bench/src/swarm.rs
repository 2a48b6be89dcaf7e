//! `swarm`: many states run one program while its methods are recompiled continuously.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use perilune::{Engine, JitOptions, Lua};

use crate::Result;
use crate::args::Options;
use crate::endurance::{Verdict, drained, eval, metric};

/// The longest pause that is allowed in 99 of 100 cases, in nanoseconds.
const LONGEST_PAUSE: u64 = 1_000_000;

/// The name of the metric for the method that was compiled most often.
const VERSIONS: &str = "most versions of one method";

/// `go(depth, n)` does its work below that many frames.
const PROGRAM: &str = "
local function step(x, k) return (x * 3 + k) % 1000003 end
local function work(n) local x = 1 for i = 1, n do x = step(x, i) end return x end
local function deep(d, n) if d == 0 then return work(n) end local r = deep(d - 1, n) return r end
function go(d, n) return deep(d, n) end";

fn expected(n: i64) -> i64 {
    (1..=n).fold(1, |x, k| (x * 3 + k) % 1_000_003)
}

/// The observations of a run.
struct Seen {
    /// The number of versions that were replaced, over all methods.
    swapped: u64,
    /// The largest number of versions of one method.
    versions: u64,
    runs: u64,
    announcements: u64,
    pause: (u64, u64),
    retired_is_freed: bool,
    is_empty: bool,
    seconds: f64,
}

fn swarm(threads: usize, recompiles: u64, frames: usize) -> Result<Seen> {
    let engine = Engine::with_jit(JitOptions { threshold: 8, ..JitOptions::eager() });
    let program = engine.compile(PROGRAM, "=swarm").map_err(|e| e.to_string())?;
    let (stop, runs) = (AtomicBool::new(false), AtomicU64::new(0));
    let rounds = 20_000;
    let wanted = expected(rounds).to_string();
    let begun = Instant::now();
    let outcome: Result<()> = thread::scope(|scope| {
        let work = || -> Result<()> {
            let lua = Lua::with_engine(&engine);
            lua.load_program(&program).exec().map_err(|e| e.to_string())?;
            let call = format!("return go({frames}, {rounds})");
            while !stop.load(Relaxed) {
                let result = eval(&lua, &call)?;
                if result != wanted {
                    return Err(format!("{result}, not {wanted}"));
                }
                runs.fetch_add(1, Relaxed);
            }
            Ok(())
        };
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                let thread = thread::Builder::new().stack_size(16 << 20);
                thread.spawn_scoped(scope, work).map_err(|e| e.to_string())
            })
            .collect();
        while metric(&engine, VERSIONS) <= recompiles
            && !threads.iter().any(|t| t.as_ref().is_ok_and(|t| t.is_finished()))
        {
            if engine.recompile_all() == 0 {
                thread::sleep(Duration::from_micros(200));
            }
            engine.wait_for_compiler();
        }
        stop.store(true, Relaxed);
        for thread in threads {
            thread?.join().map_err(|_| "a thread panicked".to_owned())??;
        }
        Ok(())
    });
    outcome?;
    let end = Instant::now() + Duration::from_secs(10);
    while metric(&engine, "bytes retired") > 0 && Instant::now() < end {
        thread::sleep(Duration::from_millis(2));
    }
    let retired_is_freed = metric(&engine, "bytes retired") == 0;
    drop(program);
    Ok(Seen {
        swapped: metric(&engine, "versions swapped"),
        versions: metric(&engine, VERSIONS),
        runs: runs.into_inner(),
        announcements: metric(&engine, "announcements"),
        pause: (metric(&engine, "pause ns, 99th percentile"), metric(&engine, "pause ns, maximum")),
        retired_is_freed,
        is_empty: drained(&engine, Duration::from_secs(10)),
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Runs the command. Returns false when a bound was exceeded.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let threads = options.threads.unwrap_or(16);
    let recompiles = options.recompiles.unwrap_or(10_000);
    let mut verdict = Verdict::default();
    for frames in [0, options.frames.unwrap_or(10_000)] {
        let seen = swarm(threads, recompiles, frames)?;
        println!(
            "{threads} threads, {frames} frames on each stack: one method compiled {} times, {} \
             versions of all replaced, during {} runs with right results in {:.1} s",
            seen.versions, seen.swapped, seen.runs, seen.seconds
        );
        verdict.check(
            seen.retired_is_freed,
            "all retired versions are freed once the threads have left them",
        );
        verdict.check(seen.is_empty, "all versions are freed with the program");
        verdict.check(
            seen.pause.0 < LONGEST_PAUSE,
            &format!(
                "pauses of {} announcements, in thread CPU time: 99 in 100 at most {} us, the \
                 longest {} us",
                seen.announcements,
                seen.pause.0 / 1000,
                seen.pause.1 / 1000
            ),
        );
    }
    Ok(verdict.is_good())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_states_run_what_is_recompiled() {
        for frames in [0, 2_000] {
            let seen = swarm(16, 60, frames).expect("right results");
            assert!(seen.versions > 60 && seen.swapped >= 60 && seen.runs >= 16);
            assert!(seen.retired_is_freed && seen.is_empty);
        }
    }
}
