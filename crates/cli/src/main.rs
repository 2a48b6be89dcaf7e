//! The `perilune` command: implements the command line of PUC's `lua` (manual 7) with Perilune.
//!
//! **Invariant:** the command uses the engine only through the crates `perilune` and
//! `perilune-capi`, and contains no unsafe code except for the call that allows C modules and the
//! module that lends the state.

#![deny(unsafe_code)]

mod call;
mod explain;
mod jit_options;
mod mode;
#[allow(unsafe_code)]
mod native;
mod options;
mod repl;
mod session;
mod style;
mod text;

use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use options::Action;

/// Turns exhausted memory into a Lua error, also where Rust's collections cannot report it.
#[global_allocator]
static ALLOCATOR: perilune::alloc::Reserve = perilune::alloc::Reserve::new(std::alloc::System);

fn main() -> ExitCode {
    perilune::end_on_broken_pipe();
    perilune::alloc::save_memory();
    let args: Vec<Vec<u8>> = std::env::args_os().map(OsStringExt::into_vec).collect();
    let name = match args.first() {
        Some(name) if !name.is_empty() => name.clone(),
        _ => text::NAME.into(),
    };
    let ok = match options::parse(&args) {
        Err(bad) => {
            text::write_error(&text::bad_option(&name, &args, &bad));
            false
        }
        Ok(options) => match options.action {
            Action::Help => {
                text::write(&text::help(&name));
                true
            }
            Action::Version => {
                text::write(text::VERSION.as_bytes());
                true
            }
            Action::Run | Action::Dump => session::run(&args, &options, &name),
        },
    };
    perilune::stdlib::io::finish_all();
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
