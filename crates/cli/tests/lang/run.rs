//! Running one program as a process, with a time limit.

use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

use crate::case::Case;
use crate::outcome::Outcome;

/// How long one trial may take.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How long one trial may take under a checker, which makes everything slower.
const CHECKED_TIME_LIMIT: Duration = Duration::from_secs(600);

fn time_limit() -> Duration {
    let checked = std::env::var_os("PERILUNE_LANG_UNDER").is_some();
    if checked { CHECKED_TIME_LIMIT } else { TIME_LIMIT }
}

/// Runs `command` on the case's file in the file's folder; `prefix` is the text that the command
/// prints before the message of an uncaught error.
///
/// # Errors
/// Returns an error when the process takes too long, is killed by a signal, exits with a code other
/// than 0 and 1, or reports an error in another form.
pub(crate) fn run(command: &mut Command, case: &Case, prefix: &str) -> Result<Outcome, Failed> {
    command
        .arg(case.file_name())
        .args(&case.args)
        .current_dir(case.folder())
        .env_remove("LUA_INIT")
        .env_remove("LUA_INIT_5_4")
        .env_remove("LUA_PATH")
        .env_remove("LUA_PATH_5_4")
        .env_remove("LUA_CPATH")
        .env_remove("LUA_CPATH_5_4")
        .env("LANG_TEST", "a value")
        .env("TZ", "UTC")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stdout = collect(child.stdout.take().expect("standard output is piped"));
    let stderr = collect(child.stderr.take().expect("standard error is piped"));
    let status = wait(&mut child)?;
    let stdout = stdout.join().expect("the reading thread does not panic")?;
    let stderr = stderr.join().expect("the reading thread does not panic")?;

    let complaint = |what: String| {
        Failed::from(format!(
            "{what}\nstandard error:\n{}\nstandard output:\n{}",
            String::from_utf8_lossy(&stderr),
            String::from_utf8_lossy(&stdout)
        ))
    };
    let Some(status) = status else {
        return Err(complaint(format!("no end within {} s", time_limit().as_secs())));
    };
    let error = match status.code() {
        Some(0) => None,
        Some(1) => match message(&stderr, prefix) {
            Some(message) => Some(message.to_vec()),
            None => return Err(complaint(format!("the error does not begin with '{prefix}'"))),
        },
        Some(code) => return Err(complaint(format!("exit code {code}"))),
        None => {
            let signal = status.signal().unwrap_or(0);
            return Err(complaint(format!("killed by signal {signal}")));
        }
    };
    // if there is an error, standard error contains only its message
    let compared = error.is_none() && !case.ignores_stderr;
    let stderr = if compared { stderr } else { Vec::new() };
    Ok(Outcome { stdout, stderr, error })
}

/// Returns the error message between the prefix and the traceback, if there is one.
fn message<'a>(stderr: &'a [u8], prefix: &str) -> Option<&'a [u8]> {
    const TRACEBACK: &[u8] = b"\nstack traceback:\n";
    let text = stderr.strip_prefix(prefix.as_bytes())?;
    let end = text.windows(TRACEBACK.len()).position(|window| window == TRACEBACK);
    Some(match end {
        Some(end) => &text[..end],
        None => text.strip_suffix(b"\n").unwrap_or(text),
    })
}

/// Reads a pipe to its end on its own thread, so that neither pipe fills up.
fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<io::Result<Vec<u8>>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes)?;
        Ok(bytes)
    })
}

/// Waits for the end of the process, and kills it after the time limit.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let (start, limit) = (Instant::now(), time_limit());
    let mut pause = Duration::from_micros(500);
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}
