//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use crate::Result;
use crate::workload::Folder;

pub(crate) const HELP: &str = "\
usage: perilune-bench COMMAND [options]

commands:
  compare            run every program on every engine in turn and compare speed
  memory             compare peak memory on the programs that allocate much
  startup            compare time and peak memory of print(\"hi\")
  soak               load, make hot, run and drop many programs; nothing may be left
  unstable           calls whose argument types keep changing: bounded compiles, and
                     never slower than the interpreter
  swarm              many threads run one program while it is recompiled
  threads            states of one engine on threads, against processes
  pauses             for how long the collector stops a program with a large heap
  stitch             the speed of the baseline compiler, on one thread and on several
  boundary           calls, tables, userdata and states of the crate against mlua's
  list               list the programs and what they cover

options:
  --vs COMMAND       another engine, such as lua5.4 or \"luajit -joff\"; repeatable,
                     the first is the baseline of all ratios
  --rounds N         runs of each program on each engine (compare 5, memory 3,
                     startup 200, boundary 21)
  --only NAME        only this program or workload, or lines with this in their names;
                     repeatable
  --real             the large programs instead
  --library          the programs for single library functions instead
  --suite DIR        are-we-fast-yet's Lua programs in DIR instead of the own ones
  --scale X          work relative to the default, for the own programs
  --memory           with compare: print the table of peak memory too
  --json FILE        write every sample and the summary as JSON
  --timeout SECONDS  give up on one run after this long (120)
  --programs N       of soak: programs (100 000)
  --baseline         of soak: the baseline compiler, with little room for code
  --threads N        of soak (1), stitch (8) and swarm (16): threads
  --calls N          of unstable: calls (100 000 000)
  --recompiles N     of swarm: versions to be replaced (10 000)
  --megabytes N      of pauses: how much is live (250)
  --seconds N        of pauses: how long each workload runs (5)
  --frames N         of swarm: frames on the stacks the second time (10 000)
  --self PATH        the perilune binary; default: beside this one, built if needed
  --self-args ARGS   arguments for perilune before the script, split at blanks
  --interpreter      with compare and memory: measure perilune --jit=off too
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Compare,
    Memory,
    Startup,
    Soak,
    Unstable,
    Swarm,
    Boundary,
    Stitch,
    Threads,
    Pauses,
    ThreadsWorker,
    List,
    Help,
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) command: Command,
    pub(crate) versus: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) only: Vec<String>,
    pub(crate) folder: Folder,
    pub(crate) suite: Option<PathBuf>,
    pub(crate) scale: Option<String>,
    pub(crate) memory: bool,
    pub(crate) json: Option<PathBuf>,
    pub(crate) timeout: Duration,
    pub(crate) perilune: Option<PathBuf>,
    pub(crate) perilune_args: Vec<String>,
    pub(crate) interpreter: bool,
    pub(crate) programs: Option<usize>,
    pub(crate) baseline: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) calls: Option<usize>,
    pub(crate) recompiles: Option<u64>,
    pub(crate) frames: Option<usize>,
    pub(crate) megabytes: Option<usize>,
    pub(crate) seconds: Option<f64>,
}

impl Options {
    /// Parses the command line. Errors name the offending argument.
    pub(crate) fn from_command_line() -> Result<Options> {
        Options::parse(lexopt::Parser::from_env()).map_err(|error| error.to_string())
    }

    fn parse(mut parser: lexopt::Parser) -> std::result::Result<Options, lexopt::Error> {
        let mut command = None;
        let mut rounds = None;
        let mut folders = Vec::new();
        let mut options = Options {
            command: Command::Help,
            versus: Vec::new(),
            rounds: 0,
            only: Vec::new(),
            folder: Folder::Programs,
            suite: None,
            scale: None,
            memory: false,
            json: None,
            timeout: Duration::from_secs(120),
            perilune: None,
            perilune_args: Vec::new(),
            interpreter: false,
            programs: None,
            baseline: false,
            threads: None,
            calls: None,
            recompiles: None,
            frames: None,
            megabytes: None,
            seconds: None,
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Value(word) if command.is_none() => {
                    command = Some(match word.string()?.as_str() {
                        "compare" => Command::Compare,
                        "memory" => Command::Memory,
                        "startup" => Command::Startup,
                        "soak" => Command::Soak,
                        "unstable" => Command::Unstable,
                        "swarm" => Command::Swarm,
                        "boundary" => Command::Boundary,
                        "stitch" => Command::Stitch,
                        "threads" => Command::Threads,
                        "pauses" => Command::Pauses,
                        "threads-worker" => Command::ThreadsWorker,
                        "list" => Command::List,
                        "help" => Command::Help,
                        other => return Err(format!("unknown command '{other}'").into()),
                    });
                }
                Long("vs") => options.versus.push(parser.value()?.string()?),
                Long("rounds") => rounds = Some(parser.value()?.parse::<usize>()?),
                Long("only") => options.only.push(parser.value()?.string()?),
                Long("library") => folders.push(Folder::Library),
                Long("real") => folders.push(Folder::Real),
                Long("baseline") => options.baseline = true,
                Long("interpreter") => options.interpreter = true,
                Long("suite") => options.suite = Some(parser.value()?.into()),
                Long("scale") => {
                    let scale = parser.value()?;
                    scale.parse::<f64>()?;
                    options.scale = Some(scale.string()?);
                }
                Long("memory") => options.memory = true,
                Long("json") => options.json = Some(parser.value()?.into()),
                Long("timeout") => {
                    options.timeout = Duration::from_secs(parser.value()?.parse()?);
                }
                Long("programs") => options.programs = Some(parser.value()?.parse()?),
                Long("threads") => options.threads = Some(parser.value()?.parse()?),
                Long("calls") => options.calls = Some(parser.value()?.parse()?),
                Long("recompiles") => options.recompiles = Some(parser.value()?.parse()?),
                Long("frames") => options.frames = Some(parser.value()?.parse()?),
                Long("megabytes") => options.megabytes = Some(parser.value()?.parse()?),
                Long("seconds") => options.seconds = Some(parser.value()?.parse()?),
                Long("self") => options.perilune = Some(parser.value()?.into()),
                Long("self-args") => {
                    let words = parser.value()?.string()?;
                    options.perilune_args.extend(words.split_whitespace().map(String::from));
                }
                Short('h') | Long("help") => command = Some(Command::Help),
                _ => return Err(argument.unexpected()),
            }
        }
        options.command = command.unwrap_or(Command::Help);
        options.rounds = rounds.unwrap_or(match options.command {
            Command::Startup => 200,
            Command::Memory => 3,
            Command::Boundary => 21,
            _ => 5,
        });
        if folders.len() + usize::from(options.suite.is_some()) > 1 {
            return Err("--real, --library and --suite exclude each other".into());
        }
        options.folder = folders.pop().unwrap_or(Folder::Programs);
        if options.rounds == 0 {
            return Err("--rounds must be at least 1".into());
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> std::result::Result<Options, lexopt::Error> {
        Options::parse(lexopt::Parser::from_args(words))
    }

    #[test]
    fn engines_keep_their_order_and_arguments_split() {
        let options = parse(&[
            "compare",
            "--vs",
            "lua5.4",
            "--vs",
            "luajit -joff",
            "--self-args",
            "--jit=off -x",
        ])
        .unwrap();
        assert_eq!(options.versus, ["lua5.4", "luajit -joff"]);
        assert_eq!(options.perilune_args, ["--jit=off", "-x"]);
    }

    #[test]
    fn rounds_depend_on_the_command() {
        assert_eq!(parse(&["startup"]).unwrap().rounds, 200);
        assert_eq!(parse(&["compare"]).unwrap().rounds, 5);
        assert_eq!(parse(&["--rounds", "7", "memory"]).unwrap().rounds, 7);
        assert!(parse(&["compare", "--rounds", "0"]).is_err());
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(parse(&["race"]).is_err());
        assert!(parse(&["compare", "again"]).is_err());
        assert!(parse(&["compare", "--scale", "much"]).is_err());
        assert!(parse(&["compare", "--library", "--suite", "x"]).is_err());
        assert!(parse(&["compare", "--library", "--real"]).is_err());
    }

    #[test]
    fn folders_are_options() {
        assert_eq!(parse(&["compare"]).unwrap().folder, Folder::Programs);
        assert_eq!(parse(&["compare", "--library"]).unwrap().folder, Folder::Library);
        assert_eq!(parse(&["compare", "--real"]).unwrap().folder, Folder::Real);
    }
}
