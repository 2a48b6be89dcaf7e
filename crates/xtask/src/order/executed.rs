//! Finds the functions that a program executes, with breakpoints.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::libc::PTRACE_EVENT_EXEC;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::Symbols;

/// The instruction INT3.
const BREAKPOINT: [u8; 1] = [0xCC];

/// A shell script that stops itself, and becomes the program once it is traced.
const LAUNCHER: &str = r#"kill -STOP $$; exec "$@""#;

/// Runs a program and returns the functions that it executes, in the order of their first
/// execution.
///
/// Each function gets a breakpoint, which is removed when it is hit, so the program runs nearly as
/// fast as without them.
///
/// # Errors
/// Returns an error if the program does not start, cannot be traced, or fails.
pub(super) fn functions<'a>(
    program: &Path,
    arguments: &[&Path],
    symbols: &'a Symbols,
) -> io::Result<Vec<&'a str>> {
    let process = Process::start(program, arguments)?;
    let mut original = Vec::with_capacity(symbols.len());
    for &address in symbols.keys() {
        original.push((address, process.exchange(address, BREAKPOINT)?));
    }
    let mut executed = Vec::new();
    ptrace::cont(process.id, None)?;
    loop {
        match waitpid(None, Some(WaitPidFlag::__WALL))? {
            WaitStatus::Exited(id, 0) if id == process.id => return Ok(executed),
            WaitStatus::Exited(id, _) | WaitStatus::Signaled(id, ..) if id == process.id => {
                return Err(io::Error::other("the program failed"));
            }
            WaitStatus::Stopped(thread, Signal::SIGTRAP) => {
                executed.extend(process.pass(thread, &original, symbols)?);
                ptrace::cont(thread, None)?;
            }
            WaitStatus::Stopped(thread, signal) => ptrace::cont(thread, signal)?,
            WaitStatus::PtraceEvent(thread, ..) => ptrace::cont(thread, None)?,
            _ => {}
        }
    }
}

/// A traced process, and its memory.
struct Process {
    id: Pid,
    memory: File,
    /// The address at which its binary begins.
    base: u64,
}

impl Process {
    /// Starts a program that is stopped before its first instruction.
    fn start(program: &Path, arguments: &[&Path]) -> io::Result<Process> {
        let launcher = ["-c", LAUNCHER, "sh"];
        let mut command = Command::new("sh");
        command.args(launcher).arg(program).args(arguments).stdout(Stdio::null());
        let id = Pid::from_raw(command.spawn()?.id().cast_signed());
        waitpid(id, Some(WaitPidFlag::WUNTRACED))?;
        let options =
            Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL;
        ptrace::seize(id, options)?;
        kill(id, Signal::SIGCONT)?;
        loop {
            match waitpid(id, Some(WaitPidFlag::__WALL))? {
                WaitStatus::PtraceEvent(_, _, PTRACE_EVENT_EXEC) => break,
                WaitStatus::PtraceEvent(..) => ptrace::cont(id, None)?,
                WaitStatus::Stopped(_, signal) => ptrace::cont(id, signal)?,
                _ => return Err(io::Error::other("the program does not start")),
            }
        }
        let maps = fs::read_to_string(format!("/proc/{id}/maps"))?;
        let base = maps.split('-').next().and_then(|first| u64::from_str_radix(first, 16).ok());
        let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{id}/mem"))?;
        Ok(Process { id, memory, base: base.ok_or(io::ErrorKind::InvalidData)? })
    }

    /// Replaces a byte of the code and returns the previous one.
    fn exchange(&self, address: u64, new: [u8; 1]) -> io::Result<[u8; 1]> {
        let mut old = [0];
        self.memory.read_exact_at(&mut old, self.base + address)?;
        self.memory.write_all_at(&new, self.base + address)?;
        Ok(old)
    }

    /// Moves a thread back to the start of the function whose breakpoint it has hit, removes the
    /// breakpoint, and returns the function.
    fn pass<'a>(
        &self,
        thread: Pid,
        original: &[(u64, [u8; 1])],
        symbols: &'a Symbols,
    ) -> io::Result<Option<&'a str>> {
        let mut registers = ptrace::getregs(thread)?;
        let at = (registers.rip - 1).wrapping_sub(self.base);
        let Ok(found) = original.binary_search_by_key(&at, |o| o.0) else { return Ok(None) };
        // Other threads may have hit the same breakpoint.
        self.exchange(at, original[found].1)?;
        registers.rip -= 1;
        ptrace::setregs(thread, registers)?;
        Ok(symbols.get(&at).map(String::as_str))
    }
}
