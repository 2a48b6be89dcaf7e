//! PUC Lua as the oracle: the test binary runs itself again as a child that
//! behaves like the `lua` program, so that output, error text, exit code and
//! the closing of the state are those of a real process.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, ExitCode};

use libtest_mimic::Failed;
use mlua::{Function, Lua, LuaOptions, StdLib, Value};

use crate::case::Case;
use crate::outcome::Outcome;
use crate::run;

/// The option with which this binary acts as the child.
const CHILD: &str = "--puc-child";

/// Loads and runs the script as `lua` does. Returns nothing when the script ended normally,
/// otherwise the message to report.
const DRIVER: &[u8] = br#"
local function report(message)
  local kind = type(message)
  if kind ~= "string" and kind ~= "number" then
    local meta = getmetatable(message)
    if meta and meta.__tostring then return tostring(message) end
    message = "(error object is a " .. kind .. " value)"
  end
  return debug.traceback(tostring(message), 2)
end
local script = ...
arg = { [0] = script, select(2, ...) }
local chunk, message = loadfile(script)
if not chunk then return message end
local ok, message = xpcall(chunk, report, select(2, ...))
if not ok then return message end
"#;

/// Runs the case under PUC Lua.
pub(crate) fn run(case: &Case) -> Result<Outcome, Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(CHILD);
    run::run(&mut command, case, "lua: ")
}

/// Returns the script and its arguments if this process was started as the child.
pub(crate) fn child_arguments() -> Option<Vec<OsString>> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == CHILD).then(|| arguments.collect())
}

/// Runs the script. Returns the exit code that `lua` would have.
pub(crate) fn run_child(arguments: &[OsString]) -> ExitCode {
    let arguments: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    // SAFETY: the only code that runs is the corpus, which is part of this
    // repository and loads no native module.
    let lua = unsafe { Lua::unsafe_new_with(StdLib::ALL, LuaOptions::new()) };
    let message = lua
        .load(DRIVER)
        .set_name("=driver")
        .into_function()
        .and_then(|driver: Function| driver.call::<Value>(mlua::Variadic::from(arguments)));
    let message = match message {
        Ok(Value::Nil) => None,
        Ok(Value::String(message)) => Some(message.as_bytes().to_vec()),
        Ok(other) => Some(format!("the driver returned a {}", other.type_name()).into_bytes()),
        Err(error) => Some(format!("the driver failed: {error}").into_bytes()),
    };
    if let Some(message) = &message {
        let mut stderr = std::io::stderr().lock();
        // If standard error is closed, the message cannot be reported.
        let _ = stderr.write_all(&[b"lua: ", message.as_slice(), b"\n"].concat());
    }
    // Closing the state runs the pending finalizers, which may print.
    drop(lua);
    if message.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
