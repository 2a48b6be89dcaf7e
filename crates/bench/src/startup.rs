//! The `startup` command: the cost of `print("hi")` from spawn to exit.

use std::process::Stdio;
use std::time::Duration;

use crate::args::Options;
use crate::engine::Engine;
use crate::measure::{Outcome, wall};
use crate::stats;
use crate::table::{Table, number, times};
use crate::{Result, json, process, write_json};

const SCRIPT: [&str; 2] = ["-e", "print(\"hi\")"];

/// The same script followed by the process's own peak in kilobytes. The peak of a child as its
/// parent sees it is never below the parent's own, which is larger than that of a small engine.
const PEAK_SCRIPT: [&str; 2] = [
    "-e",
    "print(\"hi\") for line in io.lines(\"/proc/self/status\") do \
     local peak = line:match(\"^VmHWM:%s*(%d+)\") if peak then print(peak) end end",
];

/// Peaks hardly vary, so fewer runs are enough.
const PEAK_ROUNDS: usize = 11;

/// Measures all engines in turn and prints the table. Returns false when one failed.
pub(crate) fn run(options: &Options, engines: &[Engine]) -> Result<bool> {
    let mut outcomes: Vec<Outcome> = engines.iter().map(check).collect();
    for round in 0..options.rounds {
        if round % 20 == 0 {
            eprint!("\rround {round} of {}", options.rounds);
        }
        for (engine, outcome) in engines.iter().zip(&mut outcomes) {
            let Outcome::Ran(samples) = outcome else { continue };
            match process::run_silent(engine.command().args(SCRIPT)) {
                Ok(usage) => samples.push(usage),
                Err(message) => *outcome = Outcome::Failed(message),
            }
        }
    }
    eprintln!("\r{} rounds        ", options.rounds);
    let peaks: Vec<Option<f64>> = engines.iter().map(median_peak).collect();
    print!("{}", table(engines, &outcomes, &peaks));
    if let Some(path) = &options.json {
        write_json(path, &json::startup(options, engines, &outcomes, &peaks))?;
    }
    let mut good = true;
    for (engine, outcome) in engines.iter().zip(&outcomes) {
        if let Outcome::Failed(message) = outcome {
            eprintln!("FAILED {}: {message}", engine.name);
            good = false;
        }
    }
    Ok(good)
}

/// Performs one run whose output is checked, which also warms the file cache.
fn check(engine: &Engine) -> Outcome {
    match process::run(engine.command().args(SCRIPT), Duration::from_secs(20)) {
        Ok(finished) if finished.output == b"hi\n" => Outcome::Ran(Vec::new()),
        Ok(_) => Outcome::Failed("did not print hi".to_string()),
        Err(message) => Outcome::Failed(message),
    }
}

/// Returns the median peak in bytes; `None` where the system does not report it.
fn median_peak(engine: &Engine) -> Option<f64> {
    let peaks: Vec<f64> = (0..PEAK_ROUNDS).filter_map(|_| own_peak(engine)).collect();
    stats::median(&peaks)
}

fn own_peak(engine: &Engine) -> Option<f64> {
    let mut command = engine.command();
    // Without /proc the script fails, which is not worth a message each time.
    command.args(PEAK_SCRIPT).stderr(Stdio::null());
    let finished = process::run(&mut command, Duration::from_secs(20)).ok()?;
    let output = String::from_utf8(finished.output).ok()?;
    Some(output.lines().nth(1)?.parse::<f64>().ok()? * 1024.0)
}

fn table(engines: &[Engine], outcomes: &[Outcome], peaks: &[Option<f64>]) -> String {
    let mut table = Table::default();
    let heading = ["engine", "median ms", "±%", "minimum ms", "ratio", "peak MB", "ratio"];
    table.row(heading.map(String::from).to_vec());
    table.rule();
    for ((engine, outcome), peak) in engines.iter().zip(outcomes).zip(peaks) {
        let times_taken = outcome.values(wall);
        let ratio = |own: Option<f64>, baseline: Option<f64>| Some(own? / baseline?);
        table.row(vec![
            engine.name.clone(),
            number(outcome.median(wall).map(|seconds| seconds * 1e3), 3),
            number(stats::relative_deviation(&times_taken).map(|share| share * 100.0), 1),
            number(stats::minimum(&times_taken).map(|(_, seconds)| seconds * 1e3), 3),
            times(ratio(outcome.median(wall), outcomes[0].median(wall))),
            number(peak.map(|bytes| bytes / 1e6), 2),
            times(ratio(*peak, peaks[0])),
        ]);
    }
    format!("\n{}", table.render())
}
