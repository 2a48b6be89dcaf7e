//! The options of the command line.
//!
//! PUC's rules: an option is one letter, an argument of `-e` and `-l` follows in the same word or the next, everything is
//! checked before anything runs. Options of Perilune's own are long.

/// What the command is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Action {
    /// Run code.
    #[default]
    Run,
    /// List the bytecode of what would be run.
    Dump,
    /// Show the options.
    Help,
    /// Show the version.
    Version,
}

/// How the state is to behave; for tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Mode {
    /// As always.
    #[default]
    Off,
    /// Collect after every allocation.
    GcStress,
    /// Stacks grow by what is needed only.
    SmallStack,
    /// Every method is compiled at its first call.
    Tier1Sync,
    /// Hot methods are compiled by other threads.
    Background,
}

/// What the words before the script say. `-e`, `-l` and `-W` are looked at again when they are carried out, in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Options {
    pub(crate) action: Action,
    pub(crate) mode: Mode,
    /// `-i`
    pub(crate) interactive: bool,
    /// `-v`, also by `-i`
    pub(crate) banner: bool,
    /// There is an `-e`.
    pub(crate) executes: bool,
    /// `-E`
    pub(crate) ignore_environment: bool,
    /// `--explain`
    pub(crate) explain: bool,
    /// Number of the word that is the script; 0: there is none.
    pub(crate) script: usize,
}

/// Reads the words of a command line, the first of which names the command.
///
/// # Errors
/// The number of the word that is not understood.
pub(crate) fn parse(args: &[Vec<u8>]) -> Result<Options, usize> {
    let mut o = Options::default();
    let mut i = 1;
    while let Some(word) = args.get(i) {
        if word.first() != Some(&b'-') {
            o.script = i;
            return Ok(o);
        }
        let alone = word.len() == 2;
        match word.get(1) {
            None => {
                o.script = i;
                return Ok(o);
            }
            Some(b'-') if alone => {
                if i + 1 < args.len() {
                    o.script = i + 1;
                }
                return Ok(o);
            }
            Some(b'-') => long(&mut o, word).ok_or(i)?,
            Some(b'E') if alone => o.ignore_environment = true,
            Some(b'W') if alone => {}
            Some(b'i') if alone => (o.interactive, o.banner) = (true, true),
            Some(b'v') if alone => o.banner = true,
            Some(b'e' | b'l') => {
                o.executes |= word[1] == b'e';
                if alone {
                    if args.get(i + 1).is_none_or(|a| a.first() == Some(&b'-')) {
                        return Err(i);
                    }
                    i += 1;
                }
            }
            _ => return Err(i),
        }
        i += 1;
    }
    Ok(o)
}

fn long(o: &mut Options, word: &[u8]) -> Option<()> {
    match word {
        b"--help" => o.action = Action::Help,
        b"--version" => o.action = Action::Version,
        b"--dump=bytecode" => o.action = Action::Dump,
        b"--explain" => o.explain = true,
        b"--mode=off" => o.mode = Mode::Off,
        b"--mode=tier1-sync" => o.mode = Mode::Tier1Sync,
        b"--mode=background" => o.mode = Mode::Background,
        b"--mode=gc-stress" => o.mode = Mode::GcStress,
        b"--mode=small-stack" => o.mode = Mode::SmallStack,
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{Action, Mode, Options, parse};

    fn check(line: &str, expect: Result<Options, usize>) {
        let args: Vec<Vec<u8>> = line.split(' ').map(|w| w.as_bytes().to_vec()).collect();
        assert_eq!(parse(&args), expect, "{line}");
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
        check("p --dump=bytecode s", Ok(Options { action: Action::Dump, script: 2, ..o() }));
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
        check("p -x s", Err(1));
    }
}
