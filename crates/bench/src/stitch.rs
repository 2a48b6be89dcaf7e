//! `stitch`: measures how fast the baseline compiler is, on one thread and on several.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use perilune::{Engine, Function, JitOptions, Lua};

use crate::Result;
use crate::args::Options;
use crate::endurance::{Verdict, drained, metric};
use crate::stats::median;

/// The number of functions that each thread has at a time.
const FUNCTIONS: usize = 2000;
/// The number of functions in a chunk, as the constants of a function are limited.
const CHUNK: usize = 500;
/// The number of times that an engine's threads load the functions again, in memory that earlier
/// ones have left.
const TIMES: usize = 10;

/// Returns a chunk of functions that have 20 bytecodes each.
fn chunk(first: usize) -> String {
    let functions: String = (first..first + CHUNK)
        .map(|n| {
            format!(
                "f[#f + 1] = function(a, b) local s = a + b * {} for i = 1, 2 do s = s + i \
                 if s > {n} then s = s - t.x end end s = s - 1 return s, a end\n",
                n % 100 + 1
            )
        })
        .collect();
    let call = "return function() for i = 1, #f do f[i](i, 2) end end";
    format!("local f, t = {{}}, {{x = 1}}\n{functions}{call}")
}

/// The speed of stitching, in bytecodes per microsecond.
#[derive(Default)]
struct Speed {
    /// From the request to the exchange of the address, on all threads together.
    whole: Vec<f64>,
    /// Until the code is placed, on one thread.
    alone: Vec<f64>,
}

/// The functions of a thread.
struct Functions(Vec<Function>);

impl Functions {
    fn load(lua: &Lua, thread: usize) -> perilune::Result<Functions> {
        let mut all = Vec::new();
        for n in 0..FUNCTIONS / CHUNK {
            let source = chunk(thread * FUNCTIONS + n * CHUNK);
            all.push(lua.load(&source).set_name("=bench").call::<Function>(())?);
        }
        Ok(Functions(all))
    }

    /// Executes each function as often as it takes to be stitched.
    fn run(&self) -> perilune::Result<()> {
        (0..3).try_for_each(|_| self.0.iter().try_for_each(|run| run.call::<()>(())))
    }

    fn drop(self, lua: &Lua) -> perilune::Result<()> {
        drop(self.0);
        lua.gc_collect()?;
        lua.gc_collect()
    }
}

/// Measures a fresh engine. Returns the number of bytes a bytecode.
fn measure(threads: usize, first: &mut Speed, later: &mut Speed) -> Result<f64> {
    let engine = Engine::with_jit(JitOptions::eager_baseline());
    let barrier = Barrier::new(threads + 1);
    let count = || {
        let metrics = ["bytecodes stitched", "stitch ns: plan and fill", "code bytes stitched"];
        metrics.map(|name| metric(&engine, name))
    };
    let work = |n: usize| {
        let lua = Lua::with_engine(&engine);
        (0..=TIMES).try_for_each(|_| {
            let functions = Functions::load(&lua, n);
            barrier.wait();
            let stitched = functions.as_ref().map_or(Ok(()), Functions::run);
            barrier.wait();
            let done = functions.as_ref().map_or(Ok(()), Functions::run);
            barrier.wait();
            stitched.and(done).and(functions?.drop(&lua))
        })
    };
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|n| scope.spawn(move || work(n))).collect();
        for time in 0..=TIMES {
            barrier.wait();
            let (before, start) = (count(), Instant::now());
            barrier.wait();
            let (stitching, start) = (start.elapsed(), Instant::now());
            barrier.wait();
            let taken = stitching.saturating_sub(start.elapsed());
            let after = count();
            let [bytecodes, alone, _] = [0, 1, 2].map(|n| (after[n] - before[n]) as f64);
            let speed = if time == 0 { &mut *first } else { &mut *later };
            speed.whole.push(bytecodes / taken.as_secs_f64() / 1e6);
            speed.alone.push(bytecodes * 1e3 / alone);
        }
        for worker in workers {
            worker.join().expect("no panic").map_err(|e| e.to_string())?;
        }
        Ok::<_, String>(())
    })?;
    let [bytecodes, _, bytes] = count();
    if !drained(&engine, Duration::from_secs(10)) {
        return Err("code is left".into());
    }
    Ok(bytes as f64 / bytecodes as f64)
}

/// Runs the command. Returns false when a bound was missed.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut verdict = Verdict::default();
    for threads in [1, options.threads.unwrap_or(8)] {
        let (mut first, mut later, mut bytes) = (Speed::default(), Speed::default(), 0.0);
        for _ in 0..options.rounds {
            bytes = measure(threads, &mut first, &mut later)?;
        }
        let of = |speeds: &[f64]| median(speeds).ok_or("no rounds");
        let (whole, touching, alone) = (of(&later.whole)?, of(&first.whole)?, of(&later.alone)?);
        println!("{threads} threads, million bytecodes a second, {bytes:.0} bytes a bytecode:");
        verdict.check(whole >= 5.0, &format!("{whole:.1} from request to exchange"));
        verdict.check(touching >= 2.0, &format!("{touching:.1} in memory that was never used"));
        if threads == 1 {
            verdict.check(alone >= 15.0, &format!("{alone:.1} until the code is placed"));
        }
    }
    Ok(verdict.is_good())
}
