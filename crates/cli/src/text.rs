//! What the command says of itself, and how.

use std::io::Write;

/// The command's name where it was started without one.
pub(crate) const NAME: &str = "perilune";

/// What `-v` prints. It begins and ends as PUC's line does, for programs that look for that.
pub(crate) const BANNER: &str = concat!(
    "Lua 5.4 (Perilune ",
    env!("CARGO_PKG_VERSION"),
    "), compatible with Lua 5.4.8 of Lua.org, PUC-Rio\n"
);

/// What `--version` prints.
pub(crate) const VERSION: &str = concat!("Perilune ", env!("CARGO_PKG_VERSION"), " (Lua 5.4)\n");

const OPTIONS: &str = "  -e stat   execute string 'stat'
  -i        enter interactive mode after executing 'script'
  -l mod    require library 'mod' into global 'mod'
  -l g=mod  require library 'mod' into global 'g'
  -v        show version information
  -E        ignore environment variables
  -W        turn warnings on
  --        stop handling options
  -         stop handling options and execute stdin
";

const LONG_OPTIONS: &str = "  --dump=bytecode
            list the bytecode of what would be run, and do not run it
  --explain show errors with their source line, and mark what is wrong
  --mode=off|tier1-sync|background|gc-stress|small-stack
            plain interpreter (the default); compile every method before it
            runs on; compile hot methods on other threads; collect garbage
            after every allocation; move the stack often (for tests)
  --help    show this help
  --version
            show the version of Perilune
";

fn usage(name: &[u8]) -> Vec<u8> {
    [b"usage: ", name, b" [options] [script [args]]\nAvailable options are:\n", OPTIONS.as_bytes()]
        .concat()
}

/// What `--help` prints.
pub(crate) fn help(name: &[u8]) -> Vec<u8> {
    [&usage(name)[..], LONG_OPTIONS.as_bytes()].concat()
}

/// The message about an option that is unknown or lacks its argument.
pub(crate) fn bad_option(name: &[u8], option: &[u8]) -> Vec<u8> {
    let what = match option.get(1) {
        Some(b'e' | b'l') => [b"'", option, b"' needs argument\n"].concat(),
        _ => [b"unrecognized option '", option, b"'\n"].concat(),
    };
    [name, b": ", &what, &usage(name)].concat()
}

/// Writes to the standard output, behind what the program has printed.
pub(crate) fn write(text: &[u8]) {
    perilune::stdlib::io::flush_all();
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text).and_then(|()| out.flush());
}

/// Writes to the standard error, behind what the program has printed.
pub(crate) fn write_error(text: &[u8]) {
    perilune::stdlib::io::write_error(text);
}

/// An error message, with the command's name in front of it if there is one. It ends at the first zero, as in PUC.
pub(crate) fn message(name: Option<&[u8]>, text: &[u8]) {
    let text = text.split(|b| *b == 0).next().unwrap_or_default();
    let line = match name {
        Some(name) => [name, b": ", text, b"\n"].concat(),
        None => [text, b"\n"].concat(),
    };
    write_error(&line);
}
