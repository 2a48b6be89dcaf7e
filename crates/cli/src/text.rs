//! The texts that the command prints about itself, and how it prints them.

use std::io::Write;

use crate::jit_options::DEFAULT_TIER;
use crate::options::Bad;

/// The command's name if it was started without one.
pub(crate) const NAME: &str = "perilune";

/// The text that `-v` prints. It begins and ends like PUC's line, for programs that check for it.
pub(crate) const BANNER: &str = concat!(
    "Lua 5.4 (Perilune ",
    env!("CARGO_PKG_VERSION"),
    "), compatible with Lua 5.4.8 of Lua.org, PUC-Rio\n"
);

/// The text that `--version` prints.
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

const LONG_OPTIONS: &str = "  --dump=KIND[:FUNCTION],..
            bytecode: list the bytecode of what would be run, and do not run
            it; feedback, why, ssa, exits, clif, clif-opt, vcode, stencils, asm (and with
            them bytecode): run, and show these stages of what is compiled to
            machine code, of all functions or of those of a name or place
            (asm:fib, clif:fib.lua:3)
  --explain show errors with their source line, and mark what is wrong
  --gdb     make machine code known to debuggers
  --interpreter=generated|portable
            run bytecode by handlers generated for the processor (the default on
            Linux on x86-64 and aarch64), or by a loop in Rust
  --jit=off|baseline|on
            interpret only; compile by the baseline compiler alone; also optimize
            what is hot (DEFAULT; machine code for aarch64 has been run by an
            emulator only, so it has to be asked for there)
  --jit-budget=BYTES
            room for machine code (64m)
  --jit-no-inlining
            inline no functions
  --jit-partition-max-bytes=BYTES
            estimated size of what is compiled together (256k)
  --jit-partition-max-funcs=N
            functions that are compiled together, at most (1 when they are
            hot, 100 by --jit-precompile)
  --jit-precompile
            compile whole programs before they run
  --jit-share=PERCENT
            use this much processor time for compiling, in percent of what
            the program itself uses (15; 0 for any)
  --jit-stats
            show metrics of the compiler at the end
  --jit-sync
            compile on the thread that runs the program, which waits
  --jit-threshold=N
            compile functions after N entries (512; with --jit=baseline 256),
            loops after 4 N rounds
  --jit-verify
            run Cranelift's verifier on all that is compiled
  --jit-verify-values
            check while code runs that it holds what is in frame and heap
  --jit-why=FUNCTION
            show what makes the code of a function slow, each time it is
            compiled (as --dump=why:FUNCTION)
  --jit-workers=N
            compile on N threads (as the machine has cores)
  --mode=off|portable|baseline-sync|baseline-chaos|unprofiled|tier2-sync
  --mode=check-values|exit-stress|background|chaos|gc-stress|gc-phases
  --mode=small-stack|tier2-gc-stress|tier2-gc-phases|mixed-tiers
            for tests: --jit=off; the same with --interpreter=portable;
            --jit=baseline with thresholds of 1, and with code evicted at
            random; --jit=on --jit-sync with
            thresholds of 1, with low ones, with those and
            --jit-verify-values, and with those and guards that fail at random;
            --jit=on with low thresholds; that and all of the rest at random
            (by the variable PERILUNE_CHAOS_SEED); collect garbage after every
            allocation, or in tiny steps and random phases; move the stack
            often; some of them together; --jit=on --jit-sync with functions
            that stay in one tier (by the same variable)
  --perf[=map|jitdump]
            make machine code known to Linux perf, by /tmp/perf-PID.map or
            by jit-PID.dump
  --help    show this help
  --version
            show the version of Perilune
";

fn usage(name: &[u8]) -> Vec<u8> {
    [b"usage: ", name, b" [options] [script [args]]\nAvailable options are:\n", OPTIONS.as_bytes()]
        .concat()
}

/// Returns the text that `--help` prints.
pub(crate) fn help(name: &[u8]) -> Vec<u8> {
    let long = LONG_OPTIONS.replace("DEFAULT", DEFAULT_TIER.name());
    [&usage(name)[..], long.as_bytes()].concat()
}

/// Returns the message about an invalid command line.
pub(crate) fn bad_option(name: &[u8], args: &[Vec<u8>], bad: &Bad) -> Vec<u8> {
    match bad {
        Bad::Option(word) => {
            let option = &args[*word];
            let what = match option.get(1) {
                Some(b'e' | b'l') => [b"'", &option[..], b"' needs argument\n"].concat(),
                _ => [b"unrecognized option '", &option[..], b"'\n"].concat(),
            };
            [name, b": ", &what, &usage(name)].concat()
        }
        Bad::Value(word, why) => {
            [name, b": '", &args[*word], b"': ", why.as_bytes(), b"\n"].concat()
        }
        Bad::Together(why) => [name, b": ", why.as_bytes(), b"\n"].concat(),
    }
}

/// Writes to standard output, after the output of the program.
pub(crate) fn write(text: &[u8]) {
    perilune::stdlib::io::flush_all();
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text).and_then(|()| out.flush());
}

/// Writes to standard error, after the output of the program.
pub(crate) fn write_error(text: &[u8]) {
    perilune::stdlib::io::write_error(text);
}

/// Writes an error message, with the command's name in front of it if there is one. The message
/// ends at the first NUL, as in PUC.
pub(crate) fn message(name: Option<&[u8]>, text: &[u8]) {
    let text = text.split(|b| *b == 0).next().unwrap_or_default();
    let line = match name {
        Some(name) => [name, b": ", text, b"\n"].concat(),
        None => [text, b"\n"].concat(),
    };
    write_error(&line);
}
