//! A Lua engine: a command that runs a script.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::{Result, process};

/// The dialect of Lua that an engine implements, as far as programs depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Lua 5.4: integers, bit operators, integer division.
    Lua54,
    /// An older dialect, such as LuaJIT's 5.1.
    Older,
}

#[derive(Debug)]
pub(crate) struct Engine {
    /// The name that the user gave it.
    pub(crate) name: String,
    /// The version that the engine prints with `-v`.
    pub(crate) version: String,
    pub(crate) dialect: Dialect,
    pub(crate) is_perilune: bool,
    words: Vec<String>,
}

impl Engine {
    /// Returns an engine for comparison, given a command of blank-separated words.
    ///
    /// # Errors
    /// Returns an error when the command does not run Lua.
    pub(crate) fn other(command: &str) -> Result<Engine> {
        let mut words: Vec<String> = command.split_whitespace().map(String::from).collect();
        let program = words.first_mut().ok_or("--vs needs a command")?;
        // A path must still work when a suite changes the directory.
        if let Some(path) = Some(Path::new(program)).filter(|path| path.components().count() > 1) {
            let path = std::path::absolute(path).map_err(|error| error.to_string())?;
            *program = path.to_string_lossy().into_owned();
        }
        let name = command.trim().to_string();
        Engine { name, is_perilune: false, ..Engine::from_words(words) }.probe()
    }

    /// Returns Perilune at `path`, with arguments that precede the script.
    ///
    /// # Errors
    /// Returns an error when the binary does not run Lua.
    pub(crate) fn perilune(path: &Path, arguments: &[String]) -> Result<Engine> {
        let path = path.to_str().ok_or("the path of perilune is not Unicode")?;
        let mut words = vec![path.to_string()];
        words.extend_from_slice(arguments);
        let name = std::iter::once("perilune")
            .chain(arguments.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ");
        Engine { name, is_perilune: true, ..Engine::from_words(words) }.probe()
    }

    /// Returns the command that starts the engine, ready for a script's path.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }

    /// Returns the command line as one text.
    pub(crate) fn command_line(&self) -> String {
        self.words.join(" ")
    }

    fn from_words(words: Vec<String>) -> Engine {
        Engine {
            name: String::new(),
            version: String::new(),
            dialect: Dialect::Lua54,
            is_perilune: false,
            words,
        }
    }

    fn probe(mut self) -> Result<Engine> {
        let answer = self.ask(&["-e", "io.write(_VERSION)"])?;
        self.dialect = match answer.as_str() {
            "Lua 5.4" => Dialect::Lua54,
            other if other.starts_with("Lua ") && !self.is_perilune => Dialect::Older,
            other => return Err(format!("{}: _VERSION is '{other}'", self.name)),
        };
        // Not every engine knows -v; its version is only a remark in the report.
        let version = self.ask(&["-v"]).unwrap_or_default();
        self.version = version.lines().next().unwrap_or_default().to_string();
        Ok(self)
    }

    fn ask(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.command();
        command.args(arguments);
        let finished = process::run(&mut command, Duration::from_secs(20))
            .map_err(|error| format!("{}: {error}", self.name))?;
        Ok(String::from_utf8_lossy(&finished.output).into_owned())
    }
}
