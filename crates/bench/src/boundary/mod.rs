//! `boundary`: the cost of crossing from the host to Lua and back, compared with mlua in the same
//! process.
//!
//! Both sides run the same source (`lines.rs`) and take turns. Times are processor times of the
//! thread, so that other work of the machine is not included. The compile threads of Perilune have
//! finished before the first sample.

#[allow(clippy::duplicate_mod)] // the same lines for the other crate
mod ours;
#[allow(clippy::duplicate_mod)]
mod theirs;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

use crate::Result;
use crate::args::Options;
use crate::stats::{median, relative_deviation};
use crate::table::{Table, number};

/// The approximate duration of a sample.
const SAMPLE: Duration = Duration::from_millis(10);

/// How long each side runs before it is measured, so that hot code is compiled.
const WARM_UP: Duration = Duration::from_millis(150);

/// The share of mlua's time that a line may take.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Goal(f64);

impl Goal {
    /// At most as long as mlua.
    pub(crate) const EQUAL: Goal = Goal(1.0);
    /// At most half as long as mlua.
    pub(crate) const HALF: Goal = Goal(0.5);
}

type Run = Box<dyn FnMut(u64) -> Result<()>>;

/// An operation that is measured.
pub(crate) struct Line {
    name: &'static str,
    goal: Goal,
    /// Repeats the operation.
    run: Run,
    /// Repetitions are rounded up to multiples of this.
    multiple: u64,
}

impl Line {
    pub(crate) fn new(
        name: &'static str,
        goal: Goal,
        run: impl FnMut(u64) -> Result<()> + 'static,
    ) -> Line {
        Line { name, goal, run: Box::new(run), multiple: 1 }
    }

    /// Sets how many operations the line repeats at once.
    pub(crate) fn of(mut self, multiple: u64) -> Line {
        self.multiple = multiple;
        self
    }

    /// Returns the processor time of `n` operations in nanoseconds.
    fn time(&mut self, n: u64) -> Result<f64> {
        let before = thread_time();
        (self.run)(n).map_err(|e| format!("{}: {e}", self.name))?;
        Ok((thread_time() - before).as_nanos() as f64)
    }

    /// Runs the line for a while. Returns how many operations make a sample.
    fn warm_up(&mut self) -> Result<u64> {
        let mut n = self.multiple;
        let mut total = 0.0;
        loop {
            let time = self.time(n)?;
            total += time;
            if time < SAMPLE.as_nanos() as f64 {
                n *= 2;
            } else if total > WARM_UP.as_nanos() as f64 {
                let sample = n as f64 * SAMPLE.as_nanos() as f64 / time;
                return Ok((sample as u64).max(1).next_multiple_of(self.multiple));
            }
        }
    }
}

/// Returns the processor time of this thread.
pub(crate) fn thread_time() -> Duration {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(t.tv_sec.unsigned_abs(), u32::try_from(t.tv_nsec).unwrap_or(0))
}

/// The samples of a line: nanoseconds per operation.
struct Samples {
    name: &'static str,
    goal: Goal,
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

impl Samples {
    fn take(mut ours: Line, mut theirs: Line, rounds: usize) -> Result<Samples> {
        assert_eq!(ours.name, theirs.name);
        let n = theirs.warm_up()?.min(ours.warm_up()?);
        let mut samples =
            Samples { name: ours.name, goal: ours.goal, ours: Vec::new(), theirs: Vec::new() };
        for round in 0..rounds {
            // the sides take turns, and each goes first equally often
            if round % 2 == 0 {
                samples.ours.push(ours.time(n)? / n as f64);
                samples.theirs.push(theirs.time(n)? / n as f64);
            } else {
                samples.theirs.push(theirs.time(n)? / n as f64);
                samples.ours.push(ours.time(n)? / n as f64);
            }
        }
        Ok(samples)
    }

    /// Returns our time divided by theirs.
    fn ratio(&self) -> Option<f64> {
        Some(median(&self.ours)? / median(&self.theirs)?)
    }

    /// Returns whether the goal is reached.
    fn is_good(&self) -> bool {
        self.ratio().is_some_and(|r| r <= self.goal.0)
    }

    fn row(&self) -> Vec<String> {
        let percent = |samples: &[f64]| relative_deviation(samples).map(|d| d * 100.0);
        vec![
            self.name.to_owned(),
            number(median(&self.ours), 1),
            number(percent(&self.ours), 1),
            number(median(&self.theirs), 1),
            number(percent(&self.theirs), 1),
            number(self.ratio(), 2),
            number(Some(self.goal.0), 1),
            if self.is_good() { String::new() } else { "above".to_owned() },
        ]
    }

    fn json(&self) -> serde_json::Value {
        json!({ "line": self.name, "goal": self.goal.0, "ratio": self.ratio(),
            "perilune": self.ours, "mlua": self.theirs })
    }
}

fn measure(options: &Options) -> Result<Vec<Samples>> {
    let ours = ours::lines().map_err(|e| e.to_string())?;
    let theirs = theirs::lines().map_err(|e| e.to_string())?;
    let is_selected =
        |name: &str| options.only.is_empty() || options.only.iter().any(|o| name.contains(&**o));
    let lines = ours.into_iter().zip(theirs).filter(|(line, _)| is_selected(line.name));
    lines.map(|(ours, theirs)| Samples::take(ours, theirs, options.rounds)).collect()
}

/// Runs the command. Returns false when a goal is missed.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let measured = measure(options)?;
    let mut table = Table::default();
    let heading = ["ns per operation", "perilune", "±%", "mlua", "±%", "ratio", "goal", ""];
    table.row(heading.map(str::to_owned).to_vec());
    table.rule();
    for samples in &measured {
        table.row(samples.row());
    }
    print!("{}", table.render());
    if let Some(path) = &options.json {
        let lines: Vec<_> = measured.iter().map(Samples::json).collect();
        crate::write_json(path, &json!({ "boundary": lines, "rounds": options.rounds }))?;
    }
    Ok(measured.iter().all(Samples::is_good))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_run_on_both_sides() {
        let pairs = ours::lines().expect("ours").into_iter().zip(theirs::lines().expect("theirs"));
        for (mut ours, mut theirs) in pairs {
            assert_eq!(ours.name, theirs.name);
            assert!(ours.time(2 * ours.multiple).expect("it runs") > 0.0);
            assert!(theirs.time(2 * theirs.multiple).expect("it runs") > 0.0);
        }
    }

    #[test]
    fn a_line_above_its_goal_is_not_good() {
        let line = |ns: &[f64], goal| Samples {
            name: "line",
            goal,
            ours: ns.to_vec(),
            theirs: vec![10.0, 11.0, 12.0],
        };
        assert!(line(&[10.0, 11.0, 50.0], Goal::EQUAL).is_good());
        assert!(!line(&[10.0, 11.1, 50.0], Goal::EQUAL).is_good());
        assert!(!line(&[6.0, 6.0, 6.0], Goal::HALF).is_good());
    }
}
