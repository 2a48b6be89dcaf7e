//! `pauses`: measures for how long the collector stops a program with a large heap, and its share
//! of the processor time.

use std::time::{Duration, Instant};

use perilune::{Engine, Function, GcGenParams, GcIncParams, GcMode, GcPart, GcPause, Lua, Table};

use crate::Result;
use crate::args::Options;
use crate::boundary::thread_time;
use crate::endurance::Verdict;
use crate::table::Table as Text;
use crate::workload::{Folder, own_programs};

const WORKLOADS: &str = include_str!("pauses/workloads.lua");

/// The limit for the duration of 99 in 100 stops, and the limit for all stops.
const MOST_OF_99: Duration = Duration::from_millis(2);
const MOST: Duration = Duration::from_millis(5);

/// The number of stops below which a workload runs longer than requested.
const ENOUGH: usize = 300;

/// The programs in which the collector's share is measured, and what they represent.
const PROGRAMS: [(&str, &str); 3] =
    [("trees", "trees"), ("records", "objects"), ("string_build", "strings")];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Incremental,
    Generational,
}

impl Mode {
    const ALL: [Mode; 2] = [Mode::Incremental, Mode::Generational];

    fn name(self) -> &'static str {
        match self {
            Mode::Incremental => "incremental",
            Mode::Generational => "generational",
        }
    }

    fn enter(self, lua: &Lua) {
        lua.gc_set_mode(match self {
            Mode::Incremental => GcMode::Incremental(GcIncParams::default()),
            Mode::Generational => GcMode::Generational(GcGenParams::default()),
        });
    }
}

/// The measurements of one workload.
struct Measured {
    /// The number of bytes in use at the beginning.
    live: usize,
    /// The processor time of the thread.
    total: Duration,
    /// The stops, the longest last.
    pauses: Vec<GcPause>,
}

impl Measured {
    fn of(live: usize, total: Duration, mut pauses: Vec<GcPause>) -> Measured {
        pauses.sort_by_key(|pause| pause.time);
        Measured { live, total, pauses }
    }

    /// Returns the duration that `thousandths` out of a thousand stops do not exceed.
    fn quantile(&self, thousandths: usize) -> Duration {
        let at = (self.pauses.len() * thousandths).div_ceil(1000).max(1) - 1;
        self.pauses.get(at).map_or(Duration::ZERO, |pause| Duration::from_nanos(pause.time))
    }

    fn longest(&self) -> Duration {
        self.quantile(1000)
    }

    /// Returns the part of the work that took the most time in the longest stop.
    fn cause(&self) -> &'static str {
        let part = |pause: &GcPause| {
            GcPart::ALL.into_iter().max_by_key(|part| pause.parts[*part as usize])
        };
        match self.pauses.last().and_then(part) {
            Some(GcPart::Mark) => "mark",
            Some(GcPart::Atomic) => "atomic",
            Some(GcPart::Purge) => "purge",
            Some(GcPart::Sweep) => "sweep",
            None => "-",
        }
    }

    /// Returns the stops' share of the processor time.
    fn share(&self) -> f64 {
        let stopped = self.pauses.iter().map(|pause| pause.time).sum::<u64>();
        stopped as f64 / 1e9 / self.total.as_secs_f64()
    }

    /// Returns the share of the processor time that one part of the work took.
    fn share_of(&self, part: GcPart) -> f64 {
        let stopped = self.pauses.iter().map(|pause| pause.parts[part as usize]).sum::<u64>();
        stopped as f64 / 1e9 / self.total.as_secs_f64()
    }
}

fn load(lua: &Lua) -> Result<Table> {
    lua.load(WORKLOADS).set_name("=workloads").call(()).map_err(|e| e.to_string())
}

/// Runs one workload for `time` of processor time.
fn measure(mode: Mode, name: &str, megabytes: usize, time: Duration) -> Result<Measured> {
    let engine = Engine::new();
    let lua = Lua::with_engine(&engine);
    let module = load(&lua)?;
    let make: Function = module.get("make").map_err(|e| e.to_string())?;
    let (step, _live): (Function, Table) =
        make.call((name, megabytes)).map_err(|e| e.to_string())?;
    lua.gc_collect().map_err(|e| e.to_string())?;
    let live = lua.used_memory();
    mode.enter(&lua);
    lua.gc_record_pauses(true);
    let start = thread_time();
    let mut pauses = Vec::new();
    // The next cycle only begins when the heap has grown enough, and the machine may be busy, so
    // this may take longer.
    let patience = Instant::now() + 20 * time + Duration::from_secs(10);
    let total = loop {
        step.call::<()>(()).map_err(|e| e.to_string())?;
        pauses.append(&mut lua.gc_take_pauses());
        let total = thread_time() - start;
        let enough =
            total >= time && pauses.len() >= ENOUGH || total >= 8 * time && !pauses.is_empty();
        if enough || Instant::now() > patience {
            break total;
        }
    };
    if pauses.is_empty() {
        return Err(format!("{name}: the collector has not stopped the program"));
    }
    Ok(Measured::of(live, total, pauses))
}

/// Runs one of the crate's programs, and measures the collector's share.
fn measure_program(name: &str, scale: &str, mode: Mode) -> Result<Measured> {
    let programs = own_programs(Folder::Programs, None)?;
    let program = programs
        .iter()
        .find(|program| program.name == name)
        .ok_or(format!("there is no program '{name}'"))?;
    let source = std::fs::read_to_string(&program.arguments[0]).map_err(|e| e.to_string())?;
    let lua = Lua::with_engine(&Engine::new());
    mode.enter(&lua);
    let arguments = lua.create_table().map_err(|e| e.to_string())?;
    arguments.set(1, scale).map_err(|e| e.to_string())?;
    lua.globals().set("arg", arguments).map_err(|e| e.to_string())?;
    // The output is not needed here.
    lua.load("function print() end").exec().map_err(|e| e.to_string())?;
    lua.gc_record_pauses(true);
    let start = thread_time();
    lua.load(source).set_name("=program").exec().map_err(|e| e.to_string())?;
    Ok(Measured::of(0, thread_time() - start, lua.gc_take_pauses()))
}

fn milliseconds(d: Duration) -> String {
    format!("{:.2}", d.as_secs_f64() * 1e3)
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// Runs the command. Returns false when a stop was too long.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let megabytes = options.megabytes.unwrap_or(250);
    let time = Duration::from_secs_f64(options.seconds.unwrap_or(5.0).max(0.01));
    let mut names: Vec<String> =
        load(&Lua::new())?.get("names").map_err(|e: perilune::Error| e.to_string())?;
    let programs = || {
        PROGRAMS.iter().filter(|p| options.only.is_empty() || options.only.iter().any(|n| n == p.0))
    };
    if !options.only.is_empty() {
        names.retain(|name| options.only.contains(name));
    }
    if names.is_empty() && programs().next().is_none() {
        return Err("no workload has this name".into());
    }
    let mut verdict = Verdict::default();
    for mode in Mode::ALL {
        let mut text = Text::default();
        let heading = ["workload", "MB", "stops", "p50 ms", "p99 ms", "longest ms", "in", "% CPU"];
        text.row(heading.map(String::from).to_vec());
        text.rule();
        let (mut p99, mut longest) = (Duration::ZERO, Duration::ZERO);
        for name in &names {
            let measured = measure(mode, name, megabytes, time)?;
            p99 = p99.max(measured.quantile(990));
            longest = longest.max(measured.longest());
            text.row(vec![
                name.clone(),
                (measured.live >> 20).to_string(),
                measured.pauses.len().to_string(),
                milliseconds(measured.quantile(500)),
                milliseconds(measured.quantile(990)),
                milliseconds(measured.longest()),
                measured.cause().into(),
                percent(measured.share()),
            ]);
        }
        if !names.is_empty() {
            println!("{}:\n{}", mode.name(), text.render());
            verdict.check(
                p99 <= MOST_OF_99,
                &format!("{}: 99 of 100 stops last up to {} ms", mode.name(), milliseconds(p99)),
            );
            verdict.check(
                longest <= MOST,
                &format!("{}: the longest lasts {} ms\n", mode.name(), milliseconds(longest)),
            );
        }
        let mut text = Text::default();
        let heading =
            ["program", "stops", "longest ms", "mark %", "atomic %", "purge %", "sweep %"];
        text.row(heading.map(String::from).to_vec());
        text.rule();
        for (name, kind) in programs() {
            let measured = measure_program(name, options.scale.as_deref().unwrap_or("1"), mode)?;
            let mut row = vec![
                format!("{name} ({kind})"),
                measured.pauses.len().to_string(),
                milliseconds(measured.longest()),
            ];
            row.extend(GcPart::ALL.map(|part| percent(measured.share_of(part))));
            text.row(row);
        }
        if programs().next().is_some() {
            println!(
                "the collector's share of processor time, {}:\n{}",
                mode.name(),
                text.render()
            );
        }
    }
    Ok(verdict.is_good())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_workload_is_stopped_in_each_mode() {
        let names: Vec<String> = load(&Lua::new()).unwrap().get("names").unwrap();
        for mode in Mode::ALL {
            for name in &names {
                let measured = measure(mode, name, 5, Duration::from_millis(60)).unwrap();
                assert!((3 << 20..12 << 20).contains(&measured.live), "{name}: {}", measured.live);
                assert!(!measured.pauses.is_empty(), "{name}, {}", mode.name());
                assert!(measured.pauses.is_sorted_by_key(|pause| pause.time));
                for pause in &measured.pauses {
                    assert_eq!(pause.parts.iter().sum::<u64>(), pause.time);
                }
                let share = measured.share();
                assert!(share > 0.0 && share < 1.0, "{name}: {share}");
            }
        }
    }

    #[test]
    fn programs_have_a_share() {
        for (name, _) in PROGRAMS {
            let measured = measure_program(name, "0.05", Mode::Incremental).unwrap();
            assert!(measured.share() < 1.0 && measured.longest() >= measured.quantile(500));
        }
    }

    #[test]
    fn quantiles_count_stops() {
        let pause = |time| GcPause { time, ..GcPause::default() };
        let measured =
            Measured::of(0, Duration::from_secs(1), (1..=100).rev().map(pause).collect());
        assert_eq!(measured.quantile(500), Duration::from_nanos(50));
        assert_eq!(measured.quantile(990), Duration::from_nanos(99));
        assert_eq!(measured.longest(), Duration::from_nanos(100));
    }
}
