//! The tables that `compare` and `memory` print.

use std::collections::BTreeMap;

use crate::engine::Engine;
use crate::measure::{Measured, Outcome, cpu, peak, wall};
use crate::process;
use crate::stats;
use crate::table::{Table, number, times};
use crate::workload::file_of;

/// An engine's ratios over all programs that it and the baseline ran.
pub(crate) struct Summary {
    pub(crate) programs: usize,
    /// How many times as fast as the baseline it is, by wall time.
    pub(crate) speed: Option<f64>,
    /// The program with the lowest speed, and that speed.
    pub(crate) slowest: Option<(String, f64)>,
    /// How many times as fast as the baseline it is, by CPU time.
    pub(crate) cpu_speed: Option<f64>,
    /// The program with the lowest speed by CPU time, and that speed.
    pub(crate) cpu_slowest: Option<(String, f64)>,
    /// Its peak memory divided by the baseline's.
    pub(crate) memory: Option<f64>,
    /// The program with the highest peak memory ratio, and that ratio.
    pub(crate) hungriest: Option<(String, f64)>,
}

impl Summary {
    pub(crate) fn of(measured: &[Measured], engine: usize) -> Summary {
        let shared: Vec<&Measured> =
            measured.iter().filter(|program| program.ratio(engine, wall).is_some()).collect();
        let ratios = |metric| -> Vec<f64> {
            shared.iter().filter_map(|program| program.ratio(engine, metric)).collect()
        };
        let inverse = |ratios: Vec<f64>| -> Vec<f64> { ratios.iter().map(|r| 1.0 / r).collect() };
        let named = |(index, value): (usize, f64)| (shared[index].name.clone(), value);
        let speeds = inverse(ratios(wall));
        let cpu_speeds = inverse(ratios(cpu));
        let memory = ratios(peak);
        Summary {
            programs: shared.len(),
            speed: mean_of_files(&shared, &speeds),
            slowest: stats::minimum(&speeds).map(named),
            cpu_speed: mean_of_files(&shared, &cpu_speeds),
            cpu_slowest: stats::minimum(&cpu_speeds).map(named),
            memory: mean_of_files(&shared, &memory),
            hungriest: stats::maximum(&memory).map(named),
        }
    }
}

/// Returns the geometric mean of the programs' ratios. All variants of one file together have the
/// weight of one program.
fn mean_of_files(programs: &[&Measured], ratios: &[f64]) -> Option<f64> {
    let mut files: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (program, ratio) in programs.iter().zip(ratios) {
        files.entry(file_of(&program.name)).or_default().push(*ratio);
    }
    let means: Option<Vec<f64>> = files.values().map(|all| stats::geometric_mean(all)).collect();
    stats::geometric_mean(&means?)
}

/// Returns a table of median wall times, and of how many times as fast as the baseline each engine
/// is, by wall time and by CPU time.
pub(crate) fn speed(engines: &[Engine], measured: &[Measured]) -> String {
    let mut table = Table::default();
    let mut heading = vec!["program".to_string()];
    for (index, engine) in engines.iter().enumerate() {
        heading.extend([format!("{} s", engine.name), "±%".to_string(), "CPU s".to_string()]);
        if index > 0 {
            heading.extend(["speed".to_string(), "by CPU".to_string()]);
        }
    }
    table.row(heading);
    table.rule();
    for program in measured {
        let mut row = vec![program.name.clone()];
        for (index, outcome) in program.outcomes.iter().enumerate() {
            let noise = stats::relative_deviation(&outcome.values(wall));
            row.extend([cell(outcome, wall, 3), number(noise.map(|share| share * 100.0), 1)]);
            row.push(number(outcome.median(cpu), 3));
            if index > 0 {
                for metric in [wall, cpu] {
                    row.push(times(program.ratio(index, metric).map(|ratio| 1.0 / ratio)));
                }
            }
        }
        table.row(row);
    }
    let mut text = format!("\n{}\n", table.render());
    for (index, engine) in engines.iter().enumerate().skip(1) {
        let summary = Summary::of(measured, index);
        let Some((slowest, least)) = summary.slowest else { continue };
        let Some((cpu_slowest, cpu_least)) = summary.cpu_slowest else { continue };
        text.push_str(&format!(
            "{} against {}: geometric mean {} over {} programs, minimum {} ({slowest}), \
             by CPU time {}, minimum {} ({cpu_slowest})\n",
            engine.name,
            engines[0].name,
            times(summary.speed),
            summary.programs,
            times(Some(least)),
            times(summary.cpu_speed),
            times(Some(cpu_least)),
        ));
    }
    text
}

/// Returns a table of median peak memory and its ratio to the baseline's.
pub(crate) fn memory(engines: &[Engine], measured: &[Measured]) -> String {
    let mut table = Table::default();
    let mut heading = vec!["peak memory".to_string()];
    for (index, engine) in engines.iter().enumerate() {
        heading.push(format!("{} MB", engine.name));
        if index > 0 {
            heading.push("ratio".to_string());
        }
    }
    table.row(heading);
    table.rule();
    for program in measured {
        let mut row = vec![program.name.clone()];
        for (index, outcome) in program.outcomes.iter().enumerate() {
            row.push(cell(outcome, peak, 1));
            if index > 0 {
                row.push(times(program.ratio(index, peak)));
            }
        }
        table.row(row);
    }
    let mut text = format!("\n{}\n", table.render());
    for (index, engine) in engines.iter().enumerate().skip(1) {
        let summary = Summary::of(measured, index);
        let Some((hungriest, most)) = summary.hungriest else { continue };
        text.push_str(&format!(
            "{} against {}: peak memory {} (geometric mean of {} programs), \
             maximum {} ({hungriest})\n",
            engine.name,
            engines[0].name,
            times(summary.memory),
            summary.programs,
            times(Some(most)),
        ));
    }
    text.push_str(&floor_remark());
    text
}

/// Returns a remark about the smallest peak memory that can be measured.
fn floor_remark() -> String {
    process::own_peak().map_or_else(String::new, |floor| {
        format!("(peaks below the runner's own {:.1} MB cannot be seen)\n", floor as f64 / 1e6)
    })
}

/// Returns a line for each program that failed on an engine.
pub(crate) fn failures(engines: &[Engine], measured: &[Measured]) -> String {
    let mut text = String::new();
    for program in measured {
        for (engine, outcome) in engines.iter().zip(&program.outcomes) {
            if let Outcome::Failed(message) = outcome {
                text.push_str(&format!("FAILED {} on {}: {message}\n", program.name, engine.name));
            }
        }
    }
    text
}

fn cell(outcome: &Outcome, take: fn(&process::Usage) -> f64, decimals: usize) -> String {
    match outcome {
        Outcome::Failed(_) => "FAILED".to_string(),
        Outcome::Skipped => "skipped".to_string(),
        Outcome::Ran(_) => number(outcome.median(take), decimals),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Usage;

    fn program(name: &str, baseline: f64, other: f64) -> Measured {
        let ran = |wall| {
            Outcome::Ran(vec![Usage { wall, user: wall, system: 0.0, peak: (wall * 1e6) as u64 }])
        };
        Measured { name: name.to_string(), outcomes: vec![ran(baseline), ran(other)] }
    }

    #[test]
    fn summary_names_the_extremes_and_leaves_out_failures() {
        let mut broken = program("broken", 1.0, 1.0);
        broken.outcomes[1] = Outcome::Failed("crashed".to_string());
        let measured = [program("fast", 4.0, 1.0), broken, program("slow", 1.0, 4.0)];
        let summary = Summary::of(&measured, 1);
        assert_eq!(summary.programs, 2);
        assert!((summary.speed.unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(summary.slowest, Some(("slow".to_string(), 0.25)));
        assert_eq!(summary.hungriest, Some(("slow".to_string(), 4.0)));
    }
    #[test]
    fn variants_weigh_as_much_as_one_program() {
        let measured =
            [program("alone", 1.0, 4.0), program("file:a", 4.0, 1.0), program("file:b", 4.0, 1.0)];
        let summary = Summary::of(&measured, 1);
        assert_eq!(summary.programs, 3);
        assert!((summary.speed.unwrap() - 1.0).abs() < 1e-9);
    }
}
