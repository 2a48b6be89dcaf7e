//! `perilune-bench`: runs Lua programs in turn on Perilune and on other Lua engines, and reports
//! times, memory, and whether all engines printed the same output.
#![forbid(unsafe_code)]

mod args;
mod boundary;
mod endurance;
mod engine;
mod json;
mod locate;
mod measure;
mod pauses;
mod process;
mod report;
mod soak;
mod startup;
mod stats;
mod stitch;
mod suite;
mod swarm;
mod table;
mod threads;
mod unstable;
mod workload;

use std::path::Path;
use std::process::ExitCode;

use args::{Command, Options};
use engine::Engine;
use measure::Measured;
use workload::Workload;

/// A result whose error is a message, which the command prints before it fails.
type Result<T> = std::result::Result<T, String>;

fn main() -> ExitCode {
    let outcome = Options::from_command_line().and_then(|options| run(&options));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("perilune-bench: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs one command. Returns false when an engine failed or two engines disagreed.
fn run(options: &Options) -> Result<bool> {
    match options.command {
        Command::Help => print!("{}", args::HELP),
        Command::List => {
            for workload in workloads(options)? {
                println!("{:<28} {}", workload.name, workload.covers);
            }
        }
        Command::Soak => return soak::run(options),
        Command::Unstable => return unstable::run(options),
        Command::Swarm => return swarm::run(options),
        Command::Threads => return threads::run(options),
        Command::ThreadsWorker => return threads::worker(),
        Command::Pauses => return pauses::run(options),
        Command::Boundary => return boundary::run(options),
        Command::Stitch => return stitch::run(options),
        Command::Startup => return startup::run(options, &engines(options)?),
        Command::Compare | Command::Memory => {
            let workloads = workloads(options)?;
            let engines = engines(options)?;
            let measured = measure::measure_all(&engines, &workloads, options);
            return finish(options, &engines, &measured);
        }
    }
    Ok(true)
}

fn finish(options: &Options, engines: &[Engine], measured: &[Measured]) -> Result<bool> {
    let memory_only = options.command == Command::Memory;
    if !memory_only {
        print!("{}", report::speed(engines, measured));
    }
    if memory_only || options.memory {
        print!("{}", report::memory(engines, measured));
    }
    if let Some(path) = &options.json {
        write_json(path, &json::comparison(options, engines, measured))?;
    }
    let failures = report::failures(engines, measured);
    eprint!("{failures}");
    Ok(failures.is_empty())
}

fn write_json(path: &Path, value: &serde_json::Value) -> Result<()> {
    std::fs::write(path, format!("{value:#}\n"))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Returns the programs that the options select.
fn workloads(options: &Options) -> Result<Vec<Workload>> {
    let mut workloads = match &options.suite {
        Some(directory) => suite::are_we_fast_yet(directory)?,
        None => workload::own_programs(options.folder, options.scale.as_deref())?,
    };
    for name in &options.only {
        if !workloads.iter().any(|workload| workload.is_named(name)) {
            return Err(format!("no program is named '{name}' (see the command 'list')"));
        }
    }
    if !options.only.is_empty() {
        workloads.retain(|workload| options.only.iter().any(|name| workload.is_named(name)));
    } else if options.command == Command::Memory {
        workloads.retain(|workload| workload.allocates);
    }
    Ok(workloads)
}

/// Returns the engines to run: those of `--vs` in their order, with the baseline first, and after
/// the baseline Perilune with its compiler and, if requested, without it.
fn engines(options: &Options) -> Result<Vec<Engine>> {
    let mut engines = Vec::new();
    for command in &options.versus {
        engines.push(Engine::other(command)?);
    }
    let perilune = locate::perilune(options.perilune.as_deref())?;
    let own = Engine::perilune(&perilune, &options.perilune_args)?;
    let at = engines.len().min(1);
    engines.insert(at, own);
    let measures = matches!(options.command, Command::Compare | Command::Memory);
    if options.interpreter && measures {
        let mut arguments = options.perilune_args.clone();
        arguments.push("--jit=off".to_string());
        engines.insert(at + 1, Engine::perilune(&perilune, &arguments)?);
    }
    Ok(engines)
}
