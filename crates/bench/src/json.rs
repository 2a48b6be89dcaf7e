//! The JSON form of the results: every sample, then the summaries.

use serde_json::{Value, json};

use crate::args::{Command, Options};
use crate::engine::Engine;
use crate::measure::{Measured, Outcome, cpu, peak, wall};
use crate::process::Usage;
use crate::report::Summary;
use crate::stats;
use crate::workload::Folder;

/// Returns the output of `compare` and `memory`. Times are in seconds and memory is in bytes;
/// `speed` is the baseline's median time divided by the engine's.
pub(crate) fn comparison(options: &Options, engines: &[Engine], measured: &[Measured]) -> Value {
    let programs: Vec<Value> = measured.iter().map(|one| program(engines, one)).collect();
    let summaries: Vec<Value> = (1..engines.len())
        .map(|index| {
            let summary = Summary::of(measured, index);
            json!({
                "engine": engines[index].name,
                "programs": summary.programs,
                "speed_geometric_mean": summary.speed,
                "speed_minimum": extreme(&summary.slowest),
                "cpu_speed_geometric_mean": summary.cpu_speed,
                "cpu_speed_minimum": extreme(&summary.cpu_slowest),
                "memory_ratio_geometric_mean": summary.memory,
                "memory_ratio_maximum": extreme(&summary.hungriest),
            })
        })
        .collect();
    json!({
        "command": if options.command == Command::Memory { "memory" } else { "compare" },
        "programs_from": match (&options.suite, options.folder) {
            (Some(_), _) => "are-we-fast-yet",
            (None, Folder::Library) => "library",
            (None, Folder::Real) => "real",
            (None, Folder::Programs) => "perilune",
        },
        "scale": options.scale,
        "rounds": options.rounds,
        "host": host(),
        "engines": engines.iter().map(engine).collect::<Vec<_>>(),
        "baseline": engines[0].name,
        "programs": programs,
        "summaries": summaries,
    })
}

/// Returns the output of `startup`. The medians of `peaks` replace the peaks in the samples, which
/// are never smaller than the runner's own.
pub(crate) fn startup(
    options: &Options,
    engines: &[Engine],
    outcomes: &[Outcome],
    peaks: &[Option<f64>],
) -> Value {
    let results: Vec<Value> = engines
        .iter()
        .zip(outcomes)
        .zip(peaks)
        .map(|((engine, outcome), peak)| {
            let mut value = result(engine, outcome);
            if let Some(fields) = value.as_object_mut() {
                fields.shift_remove("peak");
                fields.insert("peak_median".to_string(), json!(peak));
            }
            value
        })
        .collect();
    json!({
        "command": "startup",
        "rounds": options.rounds,
        "host": host(),
        "engines": engines.iter().map(engine).collect::<Vec<_>>(),
        "baseline": engines[0].name,
        "results": results,
    })
}

fn host() -> Value {
    json!({
        "os": std::env::consts::OS,
        "architecture": std::env::consts::ARCH,
        "cpus": std::thread::available_parallelism().map_or(0, usize::from),
    })
}

fn engine(engine: &Engine) -> Value {
    json!({
        "name": engine.name,
        "version": engine.version,
        "command": engine.command_line(),
        "is_perilune": engine.is_perilune,
    })
}

fn program(engines: &[Engine], measured: &Measured) -> Value {
    let results: Vec<Value> = engines
        .iter()
        .enumerate()
        .map(|(index, engine)| {
            let mut value = result(engine, &measured.outcomes[index]);
            value["speed"] = json!(measured.ratio(index, wall).map(|ratio| 1.0 / ratio));
            value["cpu_speed"] = json!(measured.ratio(index, cpu).map(|ratio| 1.0 / ratio));
            value["memory_ratio"] = json!(measured.ratio(index, peak));
            value
        })
        .collect();
    json!({ "name": measured.name, "results": results })
}

fn result(engine: &Engine, outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Skipped => json!({ "engine": engine.name, "skipped": true }),
        Outcome::Failed(message) => json!({ "engine": engine.name, "error": message }),
        Outcome::Ran(samples) => json!({
            "engine": engine.name,
            "wall_median": outcome.median(wall),
            "wall_deviation": stats::relative_deviation(&outcome.values(wall)),
            "cpu_median": outcome.median(cpu),
            "peak_median": outcome.median(|usage| usage.peak as f64),
            "wall": outcome.values(wall),
            "user": outcome.values(|usage| usage.user),
            "system": outcome.values(|usage| usage.system),
            "peak": samples.iter().map(|usage: &Usage| usage.peak).collect::<Vec<_>>(),
        }),
    }
}

fn extreme(extreme: &Option<(String, f64)>) -> Value {
    match extreme {
        Some((program, value)) => json!({ "program": program, "value": value }),
        None => Value::Null,
    }
}
