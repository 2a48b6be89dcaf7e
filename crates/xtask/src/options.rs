//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::prelude::*;

use crate::c_api::What;

/// The text of `cargo xtask help`.
pub(crate) const HELP: &str = "\
cargo xtask COMMAND

  check                 formatter, clippy and the quick tests: before each commit
  full                  everything that must pass before a merge; what .ci/run runs
  tidy [RULE..]         the rules of the repository; a named rule shows what is exempt, too
  fuzz [COUNT] [--seed N] [--mode MODE]
                        generated programs, compared with PUC Lua
  arm [--suite DIR]     the corpus, and PUC's suite, as programs for aarch64 that qemu executes
  bench [ARGUMENTS]     the benchmark runner, as in docs/benchmarks.md
  bless [NAME..]        rewrites golden files (listings, clif, lang): read the difference
  coverage [ARGUMENTS]  which lines the tests reach; arguments are those of cargo test
  docs                  documentation of all crates, private items included
  generate              the files that are generated from the definitions of opcodes
  order [--binary PATH] the order of the functions of the command, from what programs execute
  liblua                the C API as liblua5.4.so.0, for programs that are linked with PUC's
  c-api clients|mlua|testc DIR|luv DIR|module|speed
                        the C API with programs of Debian, mlua's tests, PUC's tests of the API
                        (from a checkout of Lua 5.4.8), the newest luv (from a checkout), a
                        module in Rust, and how fast it is beside lua5.4; luv, module and
                        speed take --binary PATH
  nightly [STEP..|all]  sanitizers, Miri, loom and long runs; without a step, lists them
  suite DIR [--binary PATH] [-- OPTIONS]
                        PUC's own test suite, from the folder `testes` of a checkout of Lua";

/// The command to run.
#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Help,
    Arm { suite: Option<PathBuf> },
    Check,
    Full,
    Tidy,
    Fuzz { programs: u64, seed: u64, mode: Option<String> },
    Bench { arguments: Vec<OsString> },
    Bless,
    CApi { what: What },
    Coverage { arguments: Vec<OsString> },
    Docs,
    Generate,
    Liblua,
    Nightly,
    Order { binary: Option<PathBuf> },
    Suite { checkout: PathBuf, binary: Option<PathBuf>, arguments: Vec<OsString> },
}

/// The command line.
#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// The command to run.
    pub(crate) command: Command,
    /// The steps or rules that were named.
    pub(crate) names: Vec<String>,
}

impl Options {
    /// Parses the command line.
    ///
    /// # Errors
    /// Returns an error for an unknown command or option, and for a value that is not a number.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Options, lexopt::Error> {
        let name = match parser.next()? {
            Some(Value(name)) => name.string()?,
            Some(Long("help") | Short('h')) | None => "help".to_owned(),
            Some(other) => return Err(other.unexpected()),
        };
        let rest = |parser: &mut lexopt::Parser| -> Result<Vec<OsString>, lexopt::Error> {
            Ok(parser.raw_args()?.collect())
        };
        let mut names = Vec::new();
        let command = match name.as_str() {
            "help" => Command::Help,
            "arm" => arm(&mut parser)?,
            "check" => Command::Check,
            "full" => Command::Full,
            "docs" => Command::Docs,
            "generate" => Command::Generate,
            "liblua" => Command::Liblua,
            "order" => order(&mut parser)?,
            "bench" => Command::Bench { arguments: rest(&mut parser)? },
            "coverage" => Command::Coverage { arguments: rest(&mut parser)? },
            "c-api" => Command::CApi { what: c_api(&mut parser)? },
            "fuzz" => fuzz(&mut parser)?,
            "suite" => suite(&mut parser)?,
            "tidy" | "bless" | "nightly" => {
                while let Some(argument) = parser.next()? {
                    let Value(name) = argument else { return Err(argument.unexpected()) };
                    names.push(name.string()?);
                }
                match name.as_str() {
                    "tidy" => Command::Tidy,
                    "bless" => Command::Bless,
                    _ => Command::Nightly,
                }
            }
            other => return Err(format!("unknown command '{other}'").into()),
        };
        if let Some(argument) = parser.next()? {
            return Err(argument.unexpected());
        }
        check_names(&command, &names)?;
        Ok(Options { command, names })
    }
}

/// Parses the option `--binary PATH`, if it is present.
fn binary(parser: &mut lexopt::Parser) -> Result<Option<PathBuf>, lexopt::Error> {
    match parser.next()? {
        Some(Long("binary")) => Ok(Some(parser.value()?.into())),
        Some(other) => Err(other.unexpected()),
        None => Ok(None),
    }
}

fn arm(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    match parser.next()? {
        Some(Long("suite")) => Ok(Command::Arm { suite: Some(parser.value()?.into()) }),
        Some(other) => Err(other.unexpected()),
        None => Ok(Command::Arm { suite: None }),
    }
}

fn c_api(parser: &mut lexopt::Parser) -> Result<What, lexopt::Error> {
    let what: String = parser.value()?.string()?;
    match what.as_str() {
        "clients" => Ok(What::Clients),
        "mlua" => Ok(What::Mlua),
        "luv" => {
            let checkout = parser.value()?.into();
            Ok(What::Luv(checkout, binary(parser)?))
        }
        "testc" => Ok(What::Testc(parser.value()?.into())),
        "module" => binary(parser).map(What::Module),
        "speed" => binary(parser).map(What::Speed),
        other => Err(format!("unknown measurement '{other}'").into()),
    }
}

fn fuzz(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    let (mut programs, mut seed, mut mode) = (1000, 1, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Value(count) => programs = count.parse()?,
            Long("seed") => seed = parser.value()?.parse()?,
            Long("mode") => mode = Some(parser.value()?.string()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Fuzz { programs, seed, mode })
}

fn suite(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    let (mut checkout, mut binary, mut arguments) = (None, None, Vec::new());
    while let Some(argument) = parser.next()? {
        match argument {
            Value(folder) if checkout.is_none() => checkout = Some(PathBuf::from(folder)),
            Value(option) => arguments.push(option),
            Long("binary") => binary = Some(PathBuf::from(parser.value()?)),
            other => return Err(other.unexpected()),
        }
    }
    let checkout = checkout.ok_or("the folder `testes` is not given")?;
    Ok(Command::Suite { checkout, binary, arguments })
}

fn order(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    Ok(Command::Order { binary: binary(parser)? })
}

/// Returns an error for names that are not rules or steps of the command.
fn check_names(command: &Command, names: &[String]) -> Result<(), lexopt::Error> {
    use xtask::{task, tidy};
    let known: Vec<&str> = match command {
        Command::Tidy => tidy::RULES.iter().map(|rule| rule.name).collect(),
        Command::Bless => task::BLESS.iter().map(|step| step.name).collect(),
        Command::Nightly => task::NIGHTLY.iter().map(|step| step.name).chain(["all"]).collect(),
        _ => return Ok(()),
    };
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("no '{name}' here, but {}", known.join(", ")).into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Command, lexopt::Error> {
        Options::parse(lexopt::Parser::from_args(words)).map(|options| options.command)
    }

    #[test]
    fn commands() {
        assert_eq!(parse(&[]).unwrap(), Command::Help);
        assert_eq!(parse(&["check"]).unwrap(), Command::Check);
        let fuzz = parse(&["fuzz", "50", "--seed=7"]).unwrap();
        assert_eq!(fuzz, Command::Fuzz { programs: 50, seed: 7, mode: None });
        let bench = parse(&["bench", "compare", "--vs", "luajit"]).unwrap();
        let arguments = ["compare", "--vs", "luajit"].map(OsString::from).to_vec();
        assert_eq!(bench, Command::Bench { arguments });
        let arm = parse(&["arm", "--suite", "../testes"]).unwrap();
        assert_eq!(arm, Command::Arm { suite: Some("../testes".into()) });
        let suite = parse(&["suite", "../testes", "--", "--jit=off"]).unwrap();
        let arguments = vec![OsString::from("--jit=off")];
        assert_eq!(suite, Command::Suite { checkout: "../testes".into(), binary: None, arguments });
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(parse(&["fly"]).is_err());
        assert!(parse(&["check", "again"]).is_err());
        assert!(parse(&["tidy", "nothing"]).is_err());
        assert!(parse(&["nightly", "nothing"]).is_err());
        assert!(parse(&["fuzz", "many"]).is_err());
        assert!(parse(&["suite"]).is_err());
    }
}
