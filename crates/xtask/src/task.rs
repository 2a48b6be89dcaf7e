//! The commands that maintainers run, as lists of steps.
//!
//! Each list is defined only here: `.ci/run` runs [`FULL`] through `cargo xtask full`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// One command line, which must succeed when it runs in the root of the repository.
#[derive(Clone, Copy)]
pub struct Step {
    /// The step's name, for steps that can be chosen one by one.
    pub name: &'static str,
    /// The program and its arguments, separated by spaces.
    pub command: &'static str,
    /// Environment variables.
    pub variables: &'static [(&'static str, &'static str)],
    /// The step's purpose, and its duration if it takes more than minutes.
    pub what: &'static str,
}

const fn step(name: &'static str, command: &'static str, what: &'static str) -> Step {
    Step { name, command, variables: &[], what }
}

impl Step {
    const fn with(mut self, variables: &'static [(&'static str, &'static str)]) -> Step {
        self.variables = variables;
        self
    }

    /// Returns the step as it would be typed.
    pub fn line(&self) -> String {
        let mut line = String::new();
        for (name, value) in self.variables {
            line.push_str(&format!("{name}=\"{value}\" "));
        }
        line + self.command
    }
}

const FORMAT: Step = step("format", "cargo fmt --check", "the formatter");
const CLIPPY: Step = step(
    "clippy",
    "cargo clippy --workspace --all-targets --locked -- -D warnings",
    "clippy and the compiler's warnings",
);

/// The steps to run before each commit, which take seconds to a few minutes.
pub const CHECK: &[Step] = &[
    FORMAT,
    CLIPPY,
    step(
        "parts",
        "cargo test --locked -p xtask -p perilune-syntax -p perilune-bytecode -p perilune-runtime",
        "the rules of the repository, and the tests of the parts that are quick",
    ),
    step(
        "interpreter",
        "cargo test --locked -p perilune-cli --test lang -- lang/off",
        "the corpus in the interpreter",
    ),
    step(
        "compiler",
        "cargo test --locked -p perilune-cli --test lang -- lang/unprofiled",
        "the corpus with every method compiled before it runs",
    ),
];

/// All steps that must pass before a change is merged.
///
/// Most steps name the whole workspace although they concern one crate: the features of
/// dependencies depend on which crates are built together, and a different selection would
/// recompile Cranelift.
pub const FULL: &[Step] = &[
    FORMAT,
    CLIPPY,
    step(
        "clippy-features",
        "cargo clippy --workspace --all-targets --all-features --locked -- -D warnings",
        "the same with every feature of the public crate",
    ),
    step(
        "no-features",
        "cargo check --workspace --exclude perilune-bench --locked",
        "the public crate without features, some of which all tests and the benchmarks enable",
    ),
    step(
        "docs-public",
        "cargo doc -p perilune -p perilune-derive --no-deps --all-features --locked",
        "the documentation of the public crates as users see it",
    )
    .with(&[("RUSTDOCFLAGS", "-D warnings")]),
    step(
        "docs-private",
        "cargo doc --workspace --no-deps --document-private-items --locked",
        "the documentation of everything, private items included",
    )
    .with(&[("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links")]),
    step("test", "cargo test --workspace --locked", "all tests"),
    step(
        "all-features",
        "cargo test --workspace --all-features --locked --test api --test examples \
         --test futures --test hostile --test interrupt --test macros --test panics --test send \
         --test serde --test states",
        "the interface of the public crate with every feature: `send` takes other paths",
    )
    // Hostile scripts take minutes and run without these features; some are enough here. Limits and
    // failing allocations are below the public crate.
    .with(&[("PERILUNE_HOSTILE", "pcall")]),
    step(
        "all-features-doc",
        "cargo test --workspace --all-features --locked --doc",
        "the examples of the documentation",
    ),
    LOOM,
];

const LOOM: Step = step(
    "loom",
    "cargo test -p perilune-code --test loom --locked --target-dir target/loom",
    "the model of how code is reclaimed, and mutants that must make it fail; seconds",
)
.with(&[("RUSTFLAGS", "--cfg loom")]);

/// Builds the documentation, private items included.
pub const DOCS: &[Step] = &[step(
    "docs",
    "cargo doc --workspace --no-deps --document-private-items --locked",
    "target/doc",
)];

/// Builds the C API as a shared library, for programs that are linked with PUC's.
pub const LIBRARY: &[Step] = &[
    step(
        "archive",
        "cargo rustc --release --locked -p perilune-capi --lib --crate-type staticlib",
        "the API and the engine as an archive; minutes",
    ),
    step(
        "library",
        "cc -shared -o target/release/liblua5.4.so.0 -Wl,-soname,liblua5.4.so.0 \
         -Wl,--version-script=crates/capi/liblua5.4.map -Wl,--gc-sections -Wl,-u,lua_newstate \
         target/release/libperilune_capi.a -lm -lpthread -ldl -lgcc_s",
        "target/release/liblua5.4.so.0, whose symbols have the version that Debian gives them",
    ),
    step(
        "link",
        "ln -sf liblua5.4.so.0 target/release/liblua5.4.so",
        "the name by which the linker finds it",
    ),
    step(
        "pkg-config",
        "cp crates/capi/lua5.4.pc target/release/lua5.4.pc",
        "what pkg-config says of the library and of PUC's headers",
    ),
];

/// Rewrites the generated files that are checked in.
pub const GENERATE: &[Step] = &[step(
    "handlers",
    "cargo run --locked -p perilune-stencil-gen",
    "the handlers of the interpreter, crates/interp/src/handlers",
)];

/// Rewrites every golden file from the current output.
pub const BLESS: &[Step] = &[
    step(
        "listings",
        "cargo test --locked -p perilune-bytecode --test listings",
        "bytecode listings, crates/bytecode/tests/listings",
    )
    .with(&[("PERILUNE_BLESS", "1")]),
    step(
        "passes",
        "cargo test --locked -p perilune-jit --lib golden",
        "functions before and after passes of tier 2, crates/jit/tests/passes",
    )
    .with(&[("PERILUNE_BLESS", "1")]),
    step(
        "clif",
        "cargo test --locked -p perilune-cli --test clif",
        "Cranelift IR of small functions, crates/cli/tests/clif",
    )
    .with(&[("PERILUNE_BLESS", "1")]),
    step(
        "documents",
        "cargo test --locked -p perilune-cli --test documents",
        "what commands print, in docs/call-path.md and docs/jit-debugging.md",
    )
    .with(&[("PERILUNE_BLESS", "1")]),
    step(
        "lang",
        "cargo test --locked -p perilune-cli --test lang -- puc/",
        "expectations of lang-tests, from what PUC Lua prints",
    )
    .with(&[("UPDATE_EXPECT", "1")]),
];

/// The steps that take too long for every change, or need a nightly toolchain.
pub const NIGHTLY: &[Step] = &[
    step(
        "asan",
        "cargo +nightly test --locked --target x86_64-unknown-linux-gnu --target-dir target/asan \
         -p perilune-syntax -p perilune-bytecode -p perilune-runtime -p perilune-interp -- \
         --skip populated_memory",
        "AddressSanitizer, which causes page faults itself, below the compiler; six minutes",
    )
    .with(&[("RUSTFLAGS", "-Zsanitizer=address"), ("RUSTDOCFLAGS", "-Zsanitizer=address")]),
    step(
        "tsan",
        "cargo +nightly test --locked -Zbuild-std --target x86_64-unknown-linux-gnu \
         --target-dir target/tsan -p perilune-code --lib --test life --test stress -- \
         --skip pauses_are_short",
        "ThreadSanitizer on the life of code, but for its bounds of time; two minutes",
    )
    .with(&[("RUSTFLAGS", "-Zsanitizer=thread"), ("RUSTDOCFLAGS", "-Zsanitizer=thread")]),
    step(
        "miri-runtime",
        "cargo +nightly miri test -p perilune-runtime --lib -- \
         --skip fuzz --skip model --skip strings_found",
        "the heap, tables and shapes under Miri; two to three hours",
    )
    .with(&[(
        "MIRIFLAGS",
        "-Zmiri-permissive-provenance -Zmiri-disable-isolation -Zmiri-ignore-leaks",
    )]),
    step(
        "miri-code",
        "cargo +nightly miri test -p perilune-code --lib",
        "the life of code under Miri; ten minutes",
    )
    .with(&[("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks")]),
    step(
        "miri-api",
        "cargo +nightly miri test -p perilune --test api",
        "the embedding interface under Miri; an hour and a half",
    )
    .with(&[(
        "MIRIFLAGS",
        "-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-disable-isolation \
         -Zmiri-ignore-leaks",
    )]),
    LOOM,
    step(
        "hostile",
        "cargo test --release --locked -p perilune --test hostile",
        "hostile scripts, which a release build stops within 10 ms",
    ),
    step(
        "soak",
        "cargo run --release --locked -p perilune-bench -- soak --programs 100000",
        "100 000 programs are loaded, made hot and dropped; memory must stay flat",
    ),
    step(
        "soak-baseline",
        "cargo run --release --locked -p perilune-bench -- soak --baseline --programs 100000",
        "the same with stitched code, which is evicted meanwhile",
    ),
    step(
        "swarm",
        "cargo run --release --locked -p perilune-bench -- swarm",
        "many threads share, replace and free code",
    ),
    step(
        "unstable",
        "cargo run --release --locked -p perilune-bench -- unstable",
        "programs whose types change all the time; recompiles must be bounded",
    ),
    step(
        "c-modules",
        "cargo test --locked -p perilune-cli --test c_modules -- --include-ignored --nocapture",
        "Debian's compiled modules in every mode, a minute or two; for none to be skipped: apt-get \
         install lua5.4 lua-lpeg lua-filesystem lua-cjson lua-bitop lua-term lua-system lua-socket \
         lua-sql-sqlite3 lua-expat lua-zlib lua-luaossl lua-sec lua-yaml lua-cqueues lua-luv \
         lua-dbi-sqlite3 lua-readline lua-rex-pcre2 lua-rex-posix lua-rex-onig lua-rex-gnu \
         lua-rex-tre luarocks valgrind",
    ),
    step(
        "programs",
        "cargo test --release --locked -p perilune --test programs",
        "100 000 generated programs in every mode",
    )
    .with(&[("PERILUNE_PROGRAMS", "100000")]),
];

/// Runs the steps one after another and stops at the first that fails; returns whether all passed.
pub fn run(root: &Path, steps: &[Step]) -> bool {
    steps.iter().all(|step| {
        eprintln!("== {}: {}\n   {}", step.name, step.what, step.line());
        let target = format!("{}/", target(root).display());
        let words: Vec<_> =
            step.command.split_whitespace().map(|word| word.replace("target/", &target)).collect();
        let mut command = command(root, words.iter().map(String::as_str));
        command.envs(step.variables.iter().copied());
        finish(step.name, command)
    })
}

/// Returns the folder in which cargo builds; the commands of this file call it `target`.
pub fn target(root: &Path) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root.join(folder),
        None => root.join("target"),
    }
}

/// Returns a command that runs in the repository.
///
/// # Panics
/// Panics if the command has no words.
pub fn command<'a>(root: &Path, mut words: impl Iterator<Item = &'a str>) -> Command {
    let mut command = Command::new(words.next().expect("a program"));
    // The variables of the toolchain that runs this program would override `cargo +nightly`.
    command.current_dir(root).env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").args(words);
    command
}

/// Runs a command to its end and prints how long it took; returns whether it succeeded.
pub fn finish(name: &str, mut command: Command) -> bool {
    let start = Instant::now();
    match command.status() {
        Ok(status) => {
            let seconds = start.elapsed().as_secs_f64();
            let how = if status.success() { "passed" } else { "FAILED" };
            eprintln!("== {name} {how} after {seconds:.0} s");
            status.success()
        }
        Err(error) => {
            eprintln!("== {name}: {error}");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_list_have_names_of_their_own() {
        for list in [CHECK, FULL, DOCS, GENERATE, BLESS, NIGHTLY] {
            let mut names: Vec<&str> = list.iter().map(|s| s.name).collect();
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert_eq!(all, names.len(), "a name occurs twice: {names:?}");
        }
    }

    #[test]
    fn the_continuous_integration_runs_the_full_list() {
        let script = include_str!("../../../.ci/run");
        assert!(script.contains("cargo xtask full"), "{script}");
    }
}
