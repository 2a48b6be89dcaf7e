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
            bytecode: list the bytecode without running the program; feedback,
            why, ssa, exits, clif, clif-opt, vcode, stencils, asm (and with them
            bytecode): run the program and show these stages of compilation, for
            all functions or for those selected by name or place (asm:fib,
            clif:fib.lua:3)
  --explain show errors with their source line, and mark the place
  --gdb     register machine code with debuggers
  --interpreter=generated|portable
            run bytecode by handlers generated for the processor (the default on
            Linux on x86-64 and aarch64), or by a loop in Rust
  --jit=off|baseline|on
            only interpret; use the baseline compiler alone; also optimize hot
            code (DEFAULT; off by default on aarch64, where machine code has
            been run by an emulator only)
  --jit-budget=BYTES
            limit on the size of machine code (64m), at most 2g
  --jit-no-inlining
            do not inline functions
  --jit-partition-max-bytes=BYTES
            limit on the estimated size of functions compiled together (256k)
  --jit-partition-max-funcs=N
            limit on the number of functions compiled together (1 for hot
            functions, 100 with --jit-precompile)
  --jit-precompile
            compile whole programs before they run
  --jit-share=PERCENT
            limit on the processor time for compiling, in percent of what the
            program itself uses (15; 0: no limit)
  --jit-stats
            show the metrics of the compiler at the end
  --jit-sync
            compile synchronously; the program waits
  --jit-threshold=N
            compile functions after N entries (512; with --jit=baseline 256),
            loops after 4 N iterations
  --jit-verify
            run Cranelift's verifier on all generated IR
  --jit-verify-values
            check at run time that compiled code agrees with frames and heap
  --jit-why=FUNCTION
            show what makes the code of a function slow, each time it is
            compiled (as --dump=why:FUNCTION)
  --jit-workers=N
            compile on N threads (by default, by the number of cores)
  --mode=MODE
            for tests; PERILUNE_CHAOS_SEED is the seed of what is random:
              off              --jit=off
              portable         --jit=off --interpreter=portable
              baseline-sync    --jit=baseline with thresholds of 1
              unprofiled       --jit=on --jit-sync with thresholds of 1
              tier2-sync       --jit=on --jit-sync with low thresholds
              check-values     tier2-sync with --jit-verify-values
              exit-stress      tier2-sync with guards that fail at random
              mixed-tiers      tier2-sync with each function in one tier
              background       --jit=on with low thresholds
              gc-stress        collect garbage after every allocation
              gc-phases        collect in tiny steps, in random phases
              small-stack      move the stack often
              tier2-gc-stress  tier2-sync, gc-stress and small-stack
              tier2-gc-phases  tier2-sync and gc-phases
              chaos            background, with random events at safepoints;
                               programs can take 100 times as long
              baseline-chaos   the same with --jit=baseline
  --perf[=map|jitdump]
            provide symbols of machine code to Linux perf, by /tmp/perf-PID.map
            or by jit-PID.dump
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
