//! Bits of the poll word ([`super::State::poll`]).

/// The heap requests a safepoint.
pub const GC: u32 = 1;
/// A hook is set on the running coroutine.
pub const HOOK: u32 = 2;
/// The script is requested to stop.
pub const INTERRUPT: u32 = 4;
/// An announcement of the code in use is requested (`docs/code-life.md`).
pub const QUIESCENCE: u32 = 8;
/// Random events are enabled (a test mode).
pub const CHAOS: u32 = 16;
/// Some frames of machine code must continue in the interpreter, since a debugger has written to
/// their registers, or a variable or global on which they rely has changed. Set as long as such
/// frames exist.
pub const LEAVE: u32 = 32;
/// Together with INTERRUPT: library functions that take long may continue for
/// [`PATIENCE`](crate::interrupt::PATIENCE).
pub const PATIENCE: u32 = 64;
/// Together with INTERRUPT: the time that the host has granted the script is over. Set until
/// the host grants more.
pub const OUT_OF_TIME: u32 = 128;
/// Together with INTERRUPT: the instructions that the host has granted the script are used up.
/// Set until the host grants more.
pub const OUT_OF_FUEL: u32 = 256;
/// The host has something to do at a safepoint ([`super::State::host_poll`]).
pub const HOST: u32 = 512;
