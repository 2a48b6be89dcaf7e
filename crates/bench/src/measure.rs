//! Runs the programs on the engines in turn and keeps every sample.

use crate::args::Options;
use crate::engine::Engine;
use crate::process::{self, Usage};
use crate::stats;
use crate::workload::Workload;

/// The samples of one program on one engine.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The engine's dialect cannot express the program.
    Skipped,
    /// A run failed, or its output differs from that of the baseline.
    Failed(String),
    Ran(Vec<Usage>),
}

impl Outcome {
    /// Returns the samples; empty if there are none.
    pub(crate) fn samples(&self) -> &[Usage] {
        match self {
            Outcome::Ran(samples) => samples,
            Outcome::Skipped | Outcome::Failed(_) => &[],
        }
    }

    /// Returns the median of `metric` over the samples.
    pub(crate) fn median(&self, metric: fn(&Usage) -> f64) -> Option<f64> {
        stats::median(&self.values(metric))
    }

    /// Returns the value of `metric` for each sample.
    pub(crate) fn values(&self, metric: fn(&Usage) -> f64) -> Vec<f64> {
        self.samples().iter().map(metric).collect()
    }
}

/// One program's outcomes, in the order of the engines.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Measured {
    /// Returns the engine's median divided by the baseline's; the baseline is the first engine.
    pub(crate) fn ratio(&self, engine: usize, metric: fn(&Usage) -> f64) -> Option<f64> {
        Some(self.outcomes[engine].median(metric)? / self.outcomes[0].median(metric)?)
    }
}

/// Returns the wall time in seconds.
pub(crate) fn wall(usage: &Usage) -> f64 {
    usage.wall
}

/// Returns the CPU time of all threads in seconds, in user mode and in the kernel. The kernel may
/// account 0 for a short run; a microsecond in its place keeps ratios finite.
pub(crate) fn cpu(usage: &Usage) -> f64 {
    (usage.user + usage.system).max(1e-6)
}

/// Returns the peak resident set in megabytes.
pub(crate) fn peak(usage: &Usage) -> f64 {
    usage.peak as f64 / 1e6
}

/// Measures every program, with progress on standard error.
pub(crate) fn measure_all(
    engines: &[Engine],
    workloads: &[Workload],
    options: &Options,
) -> Vec<Measured> {
    let mut measured = Vec::new();
    for (number, workload) in workloads.iter().enumerate() {
        eprint!("[{:2}/{}] {:<28} ", number + 1, workloads.len(), workload.name);
        let program = measure(engines, workload, options);
        for outcome in &program.outcomes {
            match (outcome, outcome.median(wall)) {
                (_, Some(seconds)) => eprint!(" {seconds:8.3} s"),
                (Outcome::Failed(_), _) => eprint!("     FAILED"),
                _ => eprint!("    skipped"),
            }
        }
        eprintln!();
        measured.push(program);
    }
    measured
}

/// Measures one program on all engines in turns, A B C A B C, so that a machine that slows down or
/// speeds up affects every engine alike.
fn measure(engines: &[Engine], workload: &Workload, options: &Options) -> Measured {
    let mut outcomes: Vec<Outcome> = engines
        .iter()
        .map(|engine| match workload.runs_on(engine) {
            true => Outcome::Ran(Vec::new()),
            false => Outcome::Skipped,
        })
        .collect();
    let mut expected: Option<Vec<u8>> = None;
    for _ in 0..options.rounds {
        for (engine, outcome) in engines.iter().zip(&mut outcomes) {
            let Outcome::Ran(samples) = outcome else { continue };
            eprint!(".");
            match process::run(&mut workload.command(engine), options.timeout) {
                Err(message) => *outcome = Outcome::Failed(message),
                Ok(finished) => {
                    let expected = expected.get_or_insert_with(|| finished.output.clone());
                    if workload.compares_output && *expected != finished.output {
                        *outcome = Outcome::Failed(difference(expected, &finished.output));
                    } else {
                        samples.push(finished.usage);
                    }
                }
            }
        }
    }
    Measured { name: workload.name.clone(), outcomes }
}

/// Describes where two outputs differ first.
fn difference(expected: &[u8], found: &[u8]) -> String {
    let expected = String::from_utf8_lossy(expected);
    let found = String::from_utf8_lossy(found);
    let same = expected.lines().zip(found.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(nothing)").to_string();
    format!("line {}: expected '{}', printed '{}'", same + 1, line(&expected), line(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(wall: f64) -> Usage {
        Usage { wall, user: 0.0, system: 0.0, peak: 3_000_000 }
    }

    #[test]
    fn ratios_are_against_the_first_engine() {
        let measured = Measured {
            name: String::new(),
            outcomes: vec![
                Outcome::Ran(vec![usage(2.0), usage(4.0), usage(2.0)]),
                Outcome::Ran(vec![usage(1.0)]),
                Outcome::Skipped,
            ],
        };
        assert_eq!(measured.ratio(0, wall), Some(1.0));
        assert_eq!(measured.ratio(1, wall), Some(0.5));
        assert_eq!(measured.ratio(1, cpu), Some(1.0));
        assert_eq!(measured.ratio(2, wall), None);
    }

    #[test]
    fn cpu_time_includes_the_kernel_s() {
        let usage = Usage { wall: 1.0, user: 1.5, system: 0.25, peak: 0 };
        assert_eq!(cpu(&usage), 1.75);
    }

    #[test]
    fn difference_names_the_first_line_that_parts() {
        assert_eq!(difference(b"a\nb\n", b"a\nc\n"), "line 2: expected 'b', printed 'c'");
        assert_eq!(difference(b"a\n", b""), "line 1: expected 'a', printed '(nothing)'");
    }
}
