//! Runs one process to completion and measures its time and peak memory.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use wait4::{ResUse, Wait4};

/// The cost of one run of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// From before the spawn until the process was reaped, in seconds.
    pub(crate) wall: f64,
    /// CPU time in user mode of all its threads, in seconds.
    pub(crate) user: f64,
    /// CPU time in the kernel of all its threads, in seconds.
    pub(crate) system: f64,
    /// Peak resident set, in bytes. The kernel also counts the time before `exec`, so no peak is
    /// below the runner's own (see [`own_peak`]).
    pub(crate) peak: u64,
}

/// A finished run: its cost and its standard output.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) usage: Usage,
    pub(crate) output: Vec<u8>,
}

/// Runs `command` and captures its output; standard error passes through.
///
/// # Errors
/// Returns an error when the process cannot start, runs longer than `timeout` (it is then killed),
/// or ends with an exit status other than 0.
pub(crate) fn run(command: &mut Command, timeout: Duration) -> Result<Finished, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| cannot_start(command, &error))?;
    let mut pipe = child.stdout.take().expect("standard output is piped");

    // A wait on a channel with a timeout replaces a wait on the process with one. The reader only
    // waits for the end of the process and does not reap it, so what is killed after a timeout
    // still is that process.
    let (sender, receiver) = mpsc::channel();
    let process = WaitId::Pid(Pid::from_child(&child));
    let reader = std::thread::spawn(move || {
        let mut output = Vec::new();
        let result = pipe.read_to_end(&mut output).map(|_| output);
        let wait = || waitid(process.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        // If it fails, so does the wait below.
        let _ = retry_on_intr(wait);
        // The receiver is only gone after a timeout, when the output is no longer needed.
        let _ = sender.send(result);
    });
    let Ok(output) = receiver.recv_timeout(timeout) else {
        child.kill().map_err(|error| error.to_string())?;
        child.wait().map_err(|error| error.to_string())?;
        return Err(format!("no end after {} s", timeout.as_secs()));
    };
    let usage = reap(child.wait4(), start)?;
    reader.join().map_err(|_| "the reader of the output panicked".to_string())?;
    Ok(Finished { usage, output: output.map_err(|error| error.to_string())? })
}

/// Runs `command` with its output discarded and without a time limit, so that no pipe and no thread
/// disturb the measurement, which matters for runs of a millisecond.
///
/// # Errors
/// Returns an error when the process cannot start or ends with an exit status other than 0.
pub(crate) fn run_silent(command: &mut Command) -> Result<Usage, String> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let child = command.spawn().map_err(|error| cannot_start(command, &error))?;
    reap(child.wait4(), start)
}

/// Returns the runner's own peak resident set in bytes: the floor of every measured peak.
pub(crate) fn own_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn reap(waited: std::io::Result<ResUse>, start: Instant) -> Result<Usage, String> {
    let wall = start.elapsed().as_secs_f64();
    let ResUse { status, rusage } = waited.map_err(|error| error.to_string())?;
    check(status)?;
    let (user, system) = (rusage.utime.as_secs_f64(), rusage.stime.as_secs_f64());
    Ok(Usage { wall, user, system, peak: rusage.maxrss })
}

fn check(status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("ended with {status}")) }
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start {}: {error}", command.get_program().display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_usage_are_kept() {
        let finished = run(&mut shell("echo moon"), Duration::from_secs(20)).unwrap();
        assert_eq!(finished.output, b"moon\n");
        assert!(finished.usage.wall > 0.0);
        assert!(finished.usage.peak > 0);
    }

    #[test]
    fn failure_and_timeout_are_errors() {
        assert!(run(&mut shell("exit 3"), Duration::from_secs(20)).unwrap_err().contains('3'));
        assert!(run_silent(&mut shell("exit 3")).is_err());
        for script in ["exec sleep 30", "exec sleep 30 >&-"] {
            let error = run(&mut shell(script), Duration::from_millis(50)).unwrap_err();
            assert!(error.contains("no end"), "{script}: {error}");
        }
        let mut missing = Command::new("/nonexistent/engine");
        assert!(run_silent(&mut missing).unwrap_err().contains("cannot start"));
    }
}
