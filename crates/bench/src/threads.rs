//! `threads`: states of one engine on as many threads. Measures whether later states find code
//! compiled, and how much work the states do compared with states in separate processes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use perilune::{Engine, Function, JitOptions, Lua, Program};

use crate::Result;
use crate::args::Options;
use crate::boundary::thread_time;
use crate::endurance::{Verdict, metric};
use crate::stats::median;

/// A mix of calls, fields, lists, strings, garbage.
const PROGRAM: &str = "
local Account = {}
Account.__index = Account
function Account.new(n) return setmetatable({ balance = n, log = {} }, Account) end
function Account:deposit(n) self.balance = self.balance + n self.log[#self.log + 1] = n end
local function sum(list) local s = 0 for _, v in ipairs(list) do s = s + v end return s end
return function(n)
    local total = 0
    for i = 1, n do
        local account = Account.new(i)
        for k = 1, 20 do account:deposit(k * i % 7) end
        total = total + sum(account.log) + #('account ' .. i)
    end
    return total
end";

/// The argument of the program's function, for which a call takes about a millisecond.
const SIZE: i64 = 3000;

/// The result of the program's function for [`SIZE`], as PUC computes it.
const RESULT: i64 = 196_929;

/// The number of runs before a state counts as warm.
const WARM: usize = 200;

/// The number of runs of each state that are compared.
const RUNS: usize = 200;

/// How often threads and processes are compared, and for how long each time.
const ROUNDS: usize = 7;
const PERIOD: Duration = Duration::from_millis(1000);

/// A state with the program's function.
struct Worker {
    work: Function,
    // the state lives as long as the worker
    _lua: Lua,
}

impl Worker {
    fn new(engine: &Engine, program: &Program) -> Result<Worker> {
        let lua = Lua::with_engine(engine);
        let work = lua.load_program(program).eval().map_err(|e| e.to_string())?;
        Ok(Worker { work, _lua: lua })
    }

    fn run(&self) -> Result<()> {
        match self.work.call::<i64>(SIZE) {
            Ok(RESULT) => Ok(()),
            Ok(other) => Err(format!("a state computed {other}, not {RESULT}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns the processor time of each of `runs` runs, in nanoseconds.
    fn times(&self, runs: usize) -> Result<Vec<f64>> {
        let mut times = Vec::new();
        for _ in 0..runs {
            let before = thread_time();
            self.run()?;
            times.push((thread_time() - before).as_nanos() as f64);
        }
        Ok(times)
    }

    /// Works for a period. Returns the number of runs and the processor time in seconds.
    fn work(&self, period: Duration) -> Result<(u64, f64)> {
        let (begun, before) = (Instant::now(), thread_time());
        let mut runs = 0;
        while begun.elapsed() < period {
            self.run()?;
            runs += 1;
        }
        Ok((runs, (thread_time() - before).as_secs_f64()))
    }
}

fn engine() -> Result<(Engine, Program)> {
    // Compiles early, so that a few runs make a state warm.
    let engine = Engine::with_jit(JitOptions::eager());
    let program = engine.compile(PROGRAM, "=threads").map_err(|e| e.to_string())?;
    Ok((engine, program))
}

/// The measurements of later states.
struct Later {
    /// The number of compilations after the first state was warm, and a second one had begun.
    compiles: u64,
    /// The median processor time of a run in nanoseconds: for the warm state, and for the slowest
    /// of the later states from its second run on.
    warm: f64,
    worst: f64,
}

/// Makes a state warm and begins a second one, then runs `states` more, each on its own thread.
fn later_states(states: usize) -> Result<Later> {
    let (engine, program) = engine()?;
    let first = Worker::new(&engine, &program)?;
    first.times(WARM)?;
    engine.wait_for_compiler();
    first.times(WARM)?;
    engine.wait_for_compiler();
    // The first call of a later state leaves the code where it needs what every state makes for
    // itself (a class, for one), and continues in the interpreter. So it may need code for a
    // loop that the first state, which is far into the loop when it is compiled, did not need.
    Worker::new(&engine, &program)?.run()?;
    engine.wait_for_compiler();
    let before = metric(&engine, "compiles begun");
    if before == 0 {
        return Err("nothing was compiled".to_owned());
    }
    // The first state runs at the same time, so that the machine is as busy for it as for the
    // others.
    let together = Barrier::new(states + 1);
    let (warm, results) = thread::scope(|scope| {
        let later = || {
            let worker = Worker::new(&engine, &program).and_then(|w| w.run().map(|()| w));
            together.wait();
            median(&worker?.times(RUNS)?).ok_or_else(|| "no times".to_owned())
        };
        let threads: Vec<_> = (0..states).map(|_| scope.spawn(later)).collect();
        together.wait();
        let warm = first.times(RUNS);
        let results: Vec<Result<f64>> = threads
            .into_iter()
            .map(|t| t.join().unwrap_or_else(|_| Err("a thread panicked".into())))
            .collect();
        (warm, results)
    });
    engine.wait_for_compiler();
    let compiles = metric(&engine, "compiles begun") - before;
    let warm = median(&warm?).ok_or("no times")?;
    let mut worst = 0.0f64;
    for result in results {
        worst = worst.max(result?);
    }
    Ok(Later { compiles, warm, worst })
}

/// The number of runs per second of wall time and of processor time, over all workers.
#[derive(Default)]
struct Throughput {
    by_clock: Vec<f64>,
    by_processor: Vec<f64>,
}

impl Throughput {
    fn add(&mut self, parts: &[(u64, f64)]) {
        let runs: u64 = parts.iter().map(|p| p.0).sum();
        self.by_clock.push(runs as f64 / PERIOD.as_secs_f64());
        self.by_processor.push(parts.iter().map(|p| p.0 as f64 / p.1).sum());
    }
}

/// Runs states of one engine on threads, each of which works for one period per round.
fn on_threads(workers: usize, mut round: impl FnMut(Vec<(u64, f64)>) -> Result<()>) -> Result<()> {
    let (engine, program) = engine()?;
    let (begin, end) = (Barrier::new(workers + 1), Barrier::new(workers + 1));
    let (sender, results) = std::sync::mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, engine, program) = (sender.clone(), &engine, &program);
            let (begin, end) = (&begin, &end);
            scope.spawn(move || {
                let worker = Worker::new(engine, program);
                let warm = worker.and_then(|w| w.times(WARM).map(|_| w));
                for _ in 0..ROUNDS {
                    begin.wait();
                    let part = warm.as_ref().map_err(Clone::clone).and_then(|w| w.work(PERIOD));
                    let _ = sender.send(part);
                    end.wait();
                }
            });
        }
        let mut outcome = Ok(());
        for _ in 0..ROUNDS {
            begin.wait();
            let parts: Result<Vec<_>> =
                (0..workers).map(|_| results.recv().map_err(|e| e.to_string())?).collect();
            end.wait();
            outcome = outcome.and(parts).and_then(&mut round);
        }
        outcome
    })
}

/// A process that works on request.
struct Process {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Process {
    fn new() -> Result<Process> {
        let program = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut child = Command::new(program)
            .arg("threads-worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let answers = child.stdout.take().ok_or("no output")?;
        let mut process = Process { child, answers: BufReader::new(answers) };
        process.answer()?;
        Ok(process)
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|e| e.to_string())?;
        Ok(line)
    }

    fn ask(&mut self) -> Result<()> {
        let input = self.child.stdin.as_mut().ok_or("no input")?;
        writeln!(input, "work").and_then(|()| input.flush()).map_err(|e| e.to_string())
    }

    fn part(&mut self) -> Result<(u64, f64)> {
        let line = self.answer()?;
        let mut words = line.split_whitespace();
        let runs = words.next().and_then(|w| w.parse().ok());
        let time = words.next().and_then(|w| w.parse().ok());
        runs.zip(time).ok_or_else(|| format!("a process answered '{line}'"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Runs the other side of [`Process`].
pub(crate) fn worker() -> Result<bool> {
    let (engine, program) = engine()?;
    let worker = Worker::new(&engine, &program)?;
    worker.times(WARM)?;
    engine.wait_for_compiler();
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        line.map_err(|e| e.to_string())?;
        let (runs, time) = worker.work(PERIOD)?;
        println!("{runs} {time}");
    }
    Ok(true)
}

/// Measures threads and processes in turns, a period each.
fn throughput(workers: usize) -> Result<(Throughput, Throughput)> {
    let mut processes: Vec<Process> =
        (0..workers).map(|_| Process::new()).collect::<Result<_>>()?;
    let (mut threads, mut apart) = (Throughput::default(), Throughput::default());
    on_threads(workers, |parts| {
        threads.add(&parts);
        for process in &mut processes {
            process.ask()?;
        }
        let parts: Vec<_> = processes.iter_mut().map(Process::part).collect::<Result<_>>()?;
        apart.add(&parts);
        Ok(())
    })?;
    Ok((threads, apart))
}

/// Runs the command. Returns false when a bound was exceeded.
pub(crate) fn run(_: &Options) -> Result<bool> {
    let mut verdict = Verdict::default();
    for states in [1, 2, 4] {
        let later = later_states(states)?;
        let ratio = later.worst / later.warm;
        let text = format!(
            "{states} more states on threads: {} compiles, {:.2} ms a run at worst, {:.2} ms in \
             the first state ({ratio:.2})",
            later.compiles,
            later.worst / 1e6,
            later.warm / 1e6
        );
        verdict.check(later.compiles == 0 && ratio < 1.1, &text);
    }
    let (threads, apart) = throughput(2)?;
    let ratio = |a: &[f64], b: &[f64]| Some(median(a)? / median(b)?);
    let by_clock = ratio(&threads.by_clock, &apart.by_clock).ok_or("no rounds")?;
    let by_processor = ratio(&threads.by_processor, &apart.by_processor).ok_or("no rounds")?;
    let text = format!(
        "two states on two threads do {by_clock:.3} of what two processes do in the same time, \
         {by_processor:.3} in the same processor time"
    );
    verdict.check(by_clock >= 0.95, &text);
    Ok(verdict.is_good())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_states_find_everything_compiled() {
        let later = later_states(2).expect("right results");
        assert_eq!(later.compiles, 0);
        assert!(later.warm > 0.0 && later.worst > 0.0);
    }
}
