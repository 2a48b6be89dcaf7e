//! The options of the command line.
//!
//! The rules are those of PUC: an option is a single letter, the argument of `-e` and `-l` follows
//! in the same word or in the next one, and all options are checked before anything runs. Options
//! that only Perilune has are long.

use crate::jit_options::JitChoices;
use crate::mode::Mode;

/// The action of the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Action {
    /// Runs code.
    #[default]
    Run,
    /// Lists bytecode in place of running code.
    Dump,
    /// Shows the options.
    Help,
    /// Shows the version.
    Version,
}

/// The options, from the words before the script. `-e`, `-l` and `-W` are read again when they are
/// carried out, in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Options {
    pub(crate) action: Action,
    pub(crate) mode: Mode,
    /// `-i`
    pub(crate) interactive: bool,
    /// `-v`, also set by `-i`
    pub(crate) banner: bool,
    /// Whether there is an `-e`.
    pub(crate) executes: bool,
    /// `-E`
    pub(crate) ignore_environment: bool,
    /// `--explain`
    pub(crate) explain: bool,
    /// `--interpreter`: whether the portable interpreter was chosen.
    pub(crate) portable: Option<bool>,
    /// `--jit` and related options.
    pub(crate) jit: JitChoices,
    /// The number of the word that names the script; 0 if there is none.
    pub(crate) script: usize,
}

/// The reason why a command line is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Bad {
    /// The word with this number is not an option, or lacks its argument.
    Option(usize),
    /// The option in the word with this number has an invalid value, for this reason.
    Value(usize, String),
    /// Options contradict each other.
    Together(String),
}

/// Reads the words of a command line, the first of which names the command.
///
/// # Errors
/// Returns the invalid part.
pub(crate) fn parse(args: &[Vec<u8>]) -> Result<Options, Bad> {
    let mut o = Options::default();
    words(args, &mut o)?;
    o.jit.check(o.mode).map_err(Bad::Together)?;
    if !o.jit.dump.is_empty() && !o.jit.needs_code() && o.action == Action::Run {
        o.action = Action::Dump;
    }
    Ok(o)
}

fn words(args: &[Vec<u8>], o: &mut Options) -> Result<(), Bad> {
    let mut i = 1;
    while let Some(word) = args.get(i) {
        if word.first() != Some(&b'-') {
            o.script = i;
            return Ok(());
        }
        let alone = word.len() == 2;
        match word.get(1) {
            None => {
                o.script = i;
                return Ok(());
            }
            Some(b'-') if alone => {
                if i + 1 < args.len() {
                    o.script = i + 1;
                }
                return Ok(());
            }
            Some(b'-') => match long(o, word) {
                Ok(true) => {}
                Ok(false) => return Err(Bad::Option(i)),
                Err(why) => return Err(Bad::Value(i, why)),
            },
            Some(b'E') if alone => o.ignore_environment = true,
            Some(b'W') if alone => {}
            Some(b'i') if alone => (o.interactive, o.banner) = (true, true),
            Some(b'v') if alone => o.banner = true,
            Some(b'e' | b'l') => {
                o.executes |= word[1] == b'e';
                if alone {
                    if args.get(i + 1).is_none_or(|a| a.first() == Some(&b'-')) {
                        return Err(Bad::Option(i));
                    }
                    i += 1;
                }
            }
            _ => return Err(Bad::Option(i)),
        }
        i += 1;
    }
    Ok(())
}

/// Reads a long option. Returns whether it exists.
fn long(o: &mut Options, word: &[u8]) -> Result<bool, String> {
    match word {
        b"--help" => o.action = Action::Help,
        b"--version" => o.action = Action::Version,
        b"--explain" => o.explain = true,
        b"--interpreter=generated" => o.portable = Some(false),
        b"--interpreter=portable" => o.portable = Some(true),
        _ => {
            let Ok(word) = std::str::from_utf8(word) else { return Ok(false) };
            let Some(name) = word.strip_prefix("--mode=") else { return o.jit.option(word) };
            let found = Mode::ALL.iter().find(|(mode, _)| *mode == name);
            let Some((_, mode)) = found else {
                return Err(format!("there is no mode '{name}'; --help lists them"));
            };
            o.mode = *mode;
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{Action, Bad, Mode, Options, parse};
    use crate::text;

    fn check(line: &str, expect: Result<Options, usize>) {
        let args: Vec<Vec<u8>> = line.split(' ').map(|w| w.as_bytes().to_vec()).collect();
        let found = parse(&args).map_err(|bad| match bad {
            Bad::Option(word) | Bad::Value(word, _) => word,
            Bad::Together(_) => 0,
        });
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn script_and_options() {
        let o = Options::default;
        check("p", Ok(o()));
        check("p s -i", Ok(Options { script: 1, ..o() }));
        check("p -", Ok(Options { script: 1, ..o() }));
        check("p -- -x", Ok(Options { script: 2, ..o() }));
        check("p --", Ok(o()));
        check("p -i", Ok(Options { interactive: true, banner: true, ..o() }));
        check("p -e 1 -l=x s", Ok(Options { executes: true, script: 4, ..o() }));
        check("p -e1 -W -E", Ok(Options { executes: true, ignore_environment: true, ..o() }));
        let listed = parse(&[b"p"[..].into(), b"--dump=bytecode"[..].into(), b"s"[..].into()]);
        assert_eq!(listed.map(|o| (o.action, o.script)), Ok((Action::Dump, 2)));
        check("p --explain s", Ok(Options { explain: true, script: 2, ..o() }));
        check("p --mode=gc-stress", Ok(Options { mode: Mode::GcStress, ..o() }));
    }

    #[test]
    fn errors() {
        check("p -e", Err(1));
        check("p -e -i", Err(1));
        check("p -W -vv", Err(2));
        check("p ---", Err(1));
        check("p --dump=x", Err(1));
        check("p -i --jit=maybe", Err(2));
        check("p --jit=off --perf s", Err(0));
        check("p -x s", Err(1));
    }

    #[test]
    fn modes_are_documented() {
        let help = text::help(b"perilune");
        let help = String::from_utf8_lossy(&help);
        let list = help.lines().skip_while(|line| !line.contains("--mode=")).skip(2);
        let list = list.take_while(|line| !line.starts_with("  --"));
        // lines that continue a text are indented further
        let words = list.filter_map(|line| line.strip_prefix(&" ".repeat(14))?.split(' ').next());
        let mut in_help: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let page = include_str!("../../../docs/testing.md");
        let list = page.lines().skip_while(|line| !line.starts_with("- `off`"));
        let list = list.take_while(|line| !line.is_empty()).filter(|line| line.starts_with("- `"));
        let heads = list.filter_map(|line| Some(line.split_once(':')?.0));
        let mut on_page: Vec<&str> =
            heads.flat_map(|head| head.split('`').skip(1).step_by(2)).collect();
        let mut modes: Vec<&str> = Mode::ALL.iter().map(|(word, _)| *word).collect();
        for words in [&mut in_help, &mut on_page, &mut modes] {
            words.sort_unstable();
        }
        assert_eq!(in_help, modes);
        assert_eq!(on_page, modes);
    }
}
